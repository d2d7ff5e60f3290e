"""Linear questions to the posterior: a reader's line, and the log-odds of any of his cells.

The line answers "how would this reader's rates, cell by cell, lie on a line over the words' own
log-odds?": it projects η − m over his cells with weights n p (1 − p), the weights of a logistic
fit, on (1, x). In the coordinates of the model that projection is A⁻¹ G[:2, :], A = G[:2, :2], so
what phrase and finding effects have in common with a line counts as the line, and the line
measures the reader against the survey, not against the department. The survey's own error is
taken out: of a department's phrase effect d_k the share s²/(s² + σ²) is the survey's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from calibration.arrays import FloatArray
from calibration.profile.model import Counts, linear_predictor
from calibration.profile.variances import Fitted

__all__ = ["Posterior", "posterior"]


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Means and covariances of every reader's coordinates.

    Attributes
    ----------
    total, covariance
        θ + u_r with habits, shape (R, L), and its covariance (R, L, L).
    line, line_covariance
        (shift, slope − 1) of every reader, (R, 2) and (R, 2, 2).
    chance
        P(CT positive) of every cell at the mode, shape (R, F, K).
    survey_mean, survey_variance
        The survey's error of each phrase's meaning, shape (K,).
    """

    total: FloatArray
    covariance: FloatArray
    line: FloatArray
    line_covariance: FloatArray
    chance: FloatArray
    survey_mean: FloatArray
    survey_variance: FloatArray


def posterior(counts: Counts, fitted: Fitted) -> Posterior:
    """Gather what all readings of the fit need."""
    mode, size = fitted.mode, counts.size
    total = mode.reader.copy()
    total[:, :size] += mode.theta
    lever, width = mode.leverage, mode.reader.shape[1]
    spread = np.eye(width, size) - lever
    covariance = mode.covariance + spread @ mode.theta_covariance @ spread.transpose(0, 2, 1)
    line, line_covariance = _line(counts, fitted, lever)
    survey, own = counts.survey**2, fitted.deviations.phrase**2
    share = survey / (survey + own)
    effect = counts.phrases
    return Posterior(
        total=total,
        covariance=covariance,
        line=line,
        line_covariance=line_covariance,
        chance=np.asarray(expit(linear_predictor(counts, fitted.scales, total))),
        # A department's word effect d = own − error: the meaning lies at m − (the survey's part).
        survey_mean=share * mode.theta[effect],
        survey_variance=own * share + share**2 * np.diagonal(mode.theta_covariance)[effect],
    )


def _line(counts: Counts, fitted: Fitted, lever: FloatArray) -> tuple[FloatArray, FloatArray]:
    mode, size = fitted.mode, counts.size
    project = _projection(mode.information)
    common = project[:, :, :size].copy()
    own = fitted.deviations.phrase**2
    kept = own / (own + counts.survey**2)
    error = own * (1.0 - kept)
    noise = np.einsum(
        "rik,k,rjk->rij", common[:, :, counts.phrases], error, common[:, :, counts.phrases]
    )
    common[:, :, counts.phrases] *= kept
    value = common @ mode.theta + np.einsum("ril,rl->ri", project, mode.reader)
    through = common - project @ lever
    covariance = (
        through @ mode.theta_covariance @ through.transpose(0, 2, 1)
        + project @ mode.covariance @ project.transpose(0, 2, 1)
        + noise
    )
    return np.asarray(value), np.asarray(covariance)


def _projection(information: FloatArray) -> FloatArray:
    """A⁻¹ G[:2, :], shape (R, 2, L); the identity where a reader has no line of his own."""
    size = information.shape[2]
    corner = information[:, :2, :2]
    spread = np.linalg.det(corner)
    firm = spread > 1e-6 * np.maximum(corner[:, 0, 0] * corner[:, 1, 1], 1e-12)
    safe = np.where(firm[:, None, None], corner, np.eye(2))
    found = np.linalg.solve(safe, information[:, :2, :])
    return np.where(firm[:, None, None], found, np.eye(2, size))
