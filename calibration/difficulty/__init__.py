"""Which items are hard, for people and for a pool of models (Mickus et al. 2025)."""

from calibration.difficulty.conformal import (
    conformal_set_sizes,
    leave_one_out_thresholds,
    mean_set_size,
)
from calibration.difficulty.correlation import (
    SuccessSplit,
    correlations,
    spearman,
    split_by_success,
)
from calibration.difficulty.pool import (
    failure_rate,
    human_dissensus,
    human_entropy,
    majority_reference,
    mean_entropy,
    pool_dissensus,
    pool_entropy,
    pool_votes,
)
from calibration.difficulty.queue import review_order, strata
from calibration.difficulty.study import Difficulty, difficulty
from calibration.difficulty.training import average_failure, first_right, missing_probability

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
