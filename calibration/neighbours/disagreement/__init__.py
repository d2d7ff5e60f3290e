"""A prediction held against several readers instead of one truth (Baan et al. 2022)."""

from calibration.neighbours.disagreement.binned import (
    classwise_ece,
    confidence_ece,
    majority_accuracy,
)
from calibration.neighbours.disagreement.control import (
    Divergence,
    error_histogram,
    histogram_divergence,
    reader_control,
    subsample_votes,
)
from calibration.neighbours.disagreement.per_item import (
    brier_of_votes,
    distribution_calibration_error,
    entropy_calibration_error,
    log_score_of_votes,
    noise_floor,
    ranking_calibration_score,
    squared_distance,
)
from calibration.neighbours.disagreement.score import BinnedScore, ItemScore, SignedScore
from calibration.neighbours.disagreement.study import Disagreement, disagreement
from calibration.neighbours.disagreement.views import CaseErrors, phrase_disagreement

__all__ = [
    "BinnedScore",
    "CaseErrors",
    "Disagreement",
    "Divergence",
    "ItemScore",
    "SignedScore",
    "brier_of_votes",
    "classwise_ece",
    "confidence_ece",
    "disagreement",
    "distribution_calibration_error",
    "entropy_calibration_error",
    "error_histogram",
    "histogram_divergence",
    "log_score_of_votes",
    "majority_accuracy",
    "noise_floor",
    "phrase_disagreement",
    "ranking_calibration_score",
    "reader_control",
    "squared_distance",
    "subsample_votes",
]
