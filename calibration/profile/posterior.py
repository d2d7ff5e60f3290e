"""What the posterior says of a reader's line, and of the log-odds of any of his cells.

The line is the answer to "what would a logistic fit on this reader's rates give?": (shift,
slope − 1) = β solves, over his cells c with n_c uses, X_c = (1, x_c) and meaning m_c,

    Σ_c n_c X_c (p_c − expit(m_c + X_c β)) = 0.

So what phrase and finding effects have in common with a line counts as the line, and the line
measures the reader against the survey, not against the department. In the model's coordinates its
derivative is A⁻¹ G[:2, :], with A = Σ n X Xᵀ q (1 − q) at the line's rates q, which gives its
covariance. The survey's own error is taken out: of a department's phrase effect d_k the share
s²/(s² + σ²) moves the meaning m_k, not the reader.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from calibration.arrays import FloatArray
from calibration.profile.design import Counts, linear_predictor
from calibration.profile.variances import Fitted

__all__ = ["Posterior", "posterior"]

_STEPS = 50
_TOLERANCE = 1e-9
_RIDGE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Means and covariances of every reader's coordinates.

    Attributes
    ----------
    total, covariance
        θ + u_r with habits, shape (R, L), and its covariance (R, L, L).
    line, line_covariance
        (shift, slope − 1) of every reader, (R, 2) and (R, 2, 2).
    usual
        x of the word each reader uses on average, weighted as the line is, shape (R,).
    base, chance
        Log-odds of every cell without its remainder, and P(CT positive) with it, (R, F, K).
    remainder
        Variance of every cell's remainder given the rest, shape (R, F, K).
    survey_error, survey_variance
        The survey's error of each phrase's meaning and its variance, shape (K,).
    """

    total: FloatArray
    covariance: FloatArray
    line: FloatArray
    line_covariance: FloatArray
    usual: FloatArray
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
    line = _lines(counts, chance, share * mode.theta[effect])
    return Posterior(
        total=total,
        covariance=covariance,
        line=line.value,
        line_covariance=_line_covariance(counts, fitted, line, share)
        + _remainder_covariance(counts, line, chance, fitted.scales.remainder),
        usual=line.curvature[:, 0, 1] / np.maximum(line.curvature[:, 0, 0], 1e-12),
        base=base,
        chance=chance,
        remainder=1.0 / (counts.n * chance * (1.0 - chance) + 1.0 / fitted.scales.remainder),
        survey_error=share * mode.theta[effect],
        survey_variance=own * share + share**2 * np.diagonal(mode.theta_covariance)[effect],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """β (R, 2) of every reader, A (R, 2, 2) there, and n q (1 − q) by phrase (R, K)."""

    value: FloatArray
    curvature: FloatArray
    weight: FloatArray


def _lines(counts: Counts, chance: FloatArray, error: FloatArray) -> _Lines:
    """Project every reader's rates on a line by Newton's method, from a line at the meaning."""
    n, positive = counts.n.sum(axis=1), (counts.n * chance).sum(axis=1)
    design = counts.curve[:, :2]
    value = np.zeros((len(n), 2))
    for _ in range(_STEPS):
        q = expit(counts.meaning + error + value @ design.T)
        weight = n * q * (1.0 - q)
        curvature = np.einsum("rk,ki,kj->rij", weight, design, design)
        # A trace of ridge: a reader of one phrase has a line all the same, the nearest to (0, 0).
        curvature += _RIDGE * np.eye(2)
        gradient = (positive - n * q) @ design - _RIDGE * value
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True, initial=1.0)
        value = value + step / longest
        if np.abs(step).max(initial=0.0) < _TOLERANCE:
            break
    return _Lines(value, np.asarray(curvature), np.asarray(weight))


def _line_covariance(counts: Counts, fitted: Fitted, line: _Lines, share: FloatArray) -> FloatArray:
    mode, size = fitted.mode, counts.size
    back = np.linalg.inv(line.curvature)
    own = back @ mode.information[:, :2, :]
    design = counts.curve[:, :2].T
    meaning = back @ (design * line.weight[:, None, :])
    common = own[:, :, :size].copy()
    common[:, :, counts.phrases] -= meaning * share
    through = common - own @ mode.leverage
    noise = share * fitted.deviations.phrase**2
    prior = _RIDGE * back @ back
    return np.asarray(
        through @ mode.theta_covariance @ through.transpose(0, 2, 1)
        + own @ mode.covariance @ own.transpose(0, 2, 1)
        + np.einsum("rik,k,rjk->rij", meaning, noise, meaning)
        + prior
    )


def _remainder_covariance(
    counts: Counts, line: _Lines, chance: FloatArray, variance: float
) -> FloatArray:
    """Give what the remainders of the cells add to the line's covariance."""
    weight = counts.n * chance * (1.0 - chance)
    known = (weight**2 * variance / (1.0 + weight * variance)).sum(axis=1)
    design = counts.curve[:, :2].T
    spread = np.einsum("rk,ik,jk->rij", known, design, design)
    back = np.linalg.inv(line.curvature)
    return np.asarray(back @ spread @ back)
