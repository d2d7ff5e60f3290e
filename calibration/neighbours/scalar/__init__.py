"""One judged number per item instead of many labels (Jiang et al. 2024)."""

from calibration.neighbours.scalar.ranking import RankingRisk, ranking_risk
from calibration.neighbours.scalar.regret import RankingBound, ranking_bound
from calibration.neighbours.scalar.scores import (
    ErrorBound,
    classwise_error,
    empirical_cdf,
    error_bound,
    expected_score,
    quantise,
    scalar_error,
)
from calibration.neighbours.scalar.sliders import (
    PersonalPhrase,
    SliderResult,
    personal_phrases,
    slider_calibration,
)

__all__ = [
    "ErrorBound",
    "PersonalPhrase",
    "RankingBound",
    "RankingRisk",
    "SliderResult",
    "classwise_error",
    "empirical_cdf",
    "error_bound",
    "expected_score",
    "personal_phrases",
    "quantise",
    "ranking_bound",
    "ranking_risk",
    "scalar_error",
    "slider_calibration",
]
