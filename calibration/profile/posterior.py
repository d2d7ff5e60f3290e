"""What the posterior says of the log-odds of any of a reader's cells, and of the survey's error.

Of a department's phrase effect d_k the share s²/(s² + σ²) is the survey's: it moves the meaning
m_k, not the reader.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from calibration.arrays import FloatArray
from calibration.profile.design import Counts, linear_predictor
from calibration.profile.variances import Fitted

__all__ = ["Posterior", "posterior"]


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Means and covariances of every reader's coordinates.

    Attributes
    ----------
    total, covariance
        θ + u_r with habits, shape (R, L), and its covariance (R, L, L).
    base, chance
        Log-odds of every cell without its remainder, and P(CT positive) with it, (R, F, K).
    remainder
        Variance of every cell's remainder given the rest, shape (R, F, K).
    survey_error, survey_variance
        The survey's error of each phrase's meaning and its variance, shape (K,).
    """

    total: FloatArray
    covariance: FloatArray
    base: FloatArray
    chance: FloatArray
    remainder: FloatArray
    survey_error: FloatArray
    survey_variance: FloatArray


def posterior(counts: Counts, fitted: Fitted) -> Posterior:
    """Gather what all readings of the fit need."""
    mode, size = fitted.mode, counts.size
    total = mode.total
    spread = np.eye(mode.reader.shape[1], size) - mode.leverage
    covariance = mode.covariance + spread @ mode.theta_covariance @ spread.transpose(0, 2, 1)
    survey, own = counts.survey**2, fitted.deviations.phrase**2
    share, effect = survey / (survey + own), counts.phrases
    base = linear_predictor(counts, fitted.scales, total)
    chance = np.asarray(expit(base + mode.remainder))
    return Posterior(
        total=total,
        covariance=covariance,
        base=base,
        chance=chance,
        remainder=1.0 / (counts.n * chance * (1.0 - chance) + 1.0 / fitted.scales.remainder),
        survey_error=share * mode.theta[effect],
        survey_variance=own * share + share**2 * np.diagonal(mode.theta_covariance)[effect],
    )
