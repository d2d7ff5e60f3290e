"""A reader's line: shift and slope over his hedges, from the posterior of his rates.

The line is the answer to "what would a logistic fit on this reader's rates give?": (shift,
slope − 1) = β solves, over his cells c with n_c uses, X_c = (1, x_c) and meaning m_c,

    Σ_c n_c X_c (p_c − expit(m_c + X_c β)) = 0.

So what phrase and finding effects have in common with a line counts as the line, and the line
measures the reader against the survey (less its error, `posterior`), not against the department.
A habit is no part of it: of a habit let in with probability P the share 1 − P is left in p_c, so
that one word far off in one finding is not called a pattern. In the model's coordinates the
derivative of β is A⁻¹ G[:2, :], with A = Σ n X Xᵀ q (1 − q) at the line's rates q, which gives its
covariance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from calibration.arrays import FloatArray
from calibration.profile.design import Counts, information, linear_predictor
from calibration.profile.variances import Fitted

__all__ = ["Lines", "lines"]

_STEPS = 50
_TOLERANCE = 1e-9
_RIDGE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Every reader's line.

    Attributes
    ----------
    value, covariance
        (shift, slope − 1), shape (R, 2) and (R, 2, 2).
    usual
        x of the word each reader uses on average, weighted as the line is, shape (R,).
    """

    value: FloatArray
    covariance: FloatArray
    usual: FloatArray


def lines(fitted: Fitted, *, kept: FloatArray) -> Lines:
    """Project every reader's rates on a line.

    Parameters
    ----------
    kept
        Share of each coordinate of u_r that counts, shape (R, L): 1 but for habits.
    """
    counts, mode, own = fitted.counts, fitted.mode, fitted.deviations.phrase**2
    share = counts.survey**2 / (counts.survey**2 + own)
    rest = linear_predictor(counts, fitted.scales, mode.total - (1.0 - kept) * mode.reader)
    chance = np.asarray(expit(rest + mode.remainder))
    found = _projected(counts, chance, share * mode.theta[counts.phrases])
    return Lines(
        value=found.value,
        covariance=_covariance(counts, fitted, found, chance, kept)
        + _remainders(counts, found, chance, fitted.scales.remainder),
        usual=found.curvature[:, 0, 1] / np.maximum(found.curvature[:, 0, 0], 1e-12),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Projected:
    """β (R, 2) of every reader, A (R, 2, 2) there, and n q (1 − q) by phrase (R, K)."""

    value: FloatArray
    curvature: FloatArray
    weight: FloatArray


def _projected(counts: Counts, chance: FloatArray, error: FloatArray) -> _Projected:
    """Solve for β by Newton's method, from a line at the meaning."""
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
    return _Projected(value, np.asarray(curvature), np.asarray(weight))


def _covariance(
    counts: Counts, fitted: Fitted, found: _Projected, chance: FloatArray, kept: FloatArray
) -> FloatArray:
    """Covariance of β through the coordinates and through the survey's error."""
    mode, size, own = fitted.mode, counts.size, fitted.deviations.phrase**2
    share = counts.survey**2 / (counts.survey**2 + own)
    back = np.linalg.inv(found.curvature)
    weight = counts.n * chance * (1.0 - chance)
    held = information(counts, fitted.scales, weight / (1.0 + fitted.scales.remainder * weight))
    rates = back @ held[:, :2, :]
    meaning = back @ (counts.curve[:, :2].T * found.weight[:, None, :])
    common, single = rates[:, :, :size].copy(), rates * kept[:, None, :]
    common[:, :, counts.phrases] -= meaning * share
    through = common - single @ mode.leverage
    return np.asarray(
        through @ mode.theta_covariance @ through.transpose(0, 2, 1)
        + single @ mode.covariance @ single.transpose(0, 2, 1)
        + np.einsum("rik,k,rjk->rij", meaning, share * own, meaning)
        + _RIDGE * back @ back
    )


def _remainders(
    counts: Counts, found: _Projected, chance: FloatArray, variance: float
) -> FloatArray:
    """Covariance of β through the remainders of the cells."""
    weight = counts.n * chance * (1.0 - chance)
    known = (weight**2 * variance / (1.0 + weight * variance)).sum(axis=1)
    design = counts.curve[:, :2].T
    spread = np.einsum("rk,ik,jk->rij", known, design, design)
    back = np.linalg.inv(found.curvature)
    return np.asarray(back @ spread @ back)
