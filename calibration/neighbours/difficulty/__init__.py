"""Which items are hard, for people and for a pool of models (Mickus et al. 2025)."""

from calibration.neighbours.difficulty.correlation import (
    SuccessSplit,
    correlations,
    spearman,
    split_by_success,
)
from calibration.neighbours.difficulty.indicators import (
    average_failure,
    conformal_set_sizes,
    failure_rate,
    first_right,
    human_dissensus,
    human_entropy,
    leave_one_out_thresholds,
    majority_reference,
    mean_entropy,
    mean_set_size,
    missing_probability,
    pool_dissensus,
    pool_entropy,
    pool_votes,
)
from calibration.neighbours.difficulty.study import Difficulty, difficulty, review_order, strata

__all__ = [
    "Difficulty",
    "SuccessSplit",
    "average_failure",
    "conformal_set_sizes",
    "correlations",
    "difficulty",
    "failure_rate",
    "first_right",
    "human_dissensus",
    "human_entropy",
    "leave_one_out_thresholds",
    "majority_reference",
    "mean_entropy",
    "mean_set_size",
    "missing_probability",
    "pool_dissensus",
    "pool_entropy",
    "pool_votes",
    "review_order",
    "spearman",
    "split_by_success",
    "strata",
]
