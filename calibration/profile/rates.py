"""Rates of a reader's phrases, in one finding or over all of them, with their uncertainty.

Over all findings the rate is Σ_f w_f p_fk, weighted by the reader's own uses w_f. Its variance is
that of its gradient in the model's coordinates; it is treated as normal on its log-odds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from calibration.arrays import FloatArray, IntArray
from calibration.profile.model import Counts
from calibration.profile.posterior import Posterior
from calibration.profile.results import Interval

__all__ = ["Rates", "cell_rates", "cell_variance", "interval", "phrase_rates"]

_Z = 1.959963984540054
_EDGE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Log-odds of rates and their variances, of any common shape."""

    centre: FloatArray
    variance: FloatArray

    @property
    def value(self) -> FloatArray:
        """The rates."""
        return np.asarray(expit(self.centre))


def interval(centre: float, variance: float) -> Interval:
    """Rate with its 95 % interval."""
    half = _Z * float(np.sqrt(variance))
    return Interval(float(expit(centre)), float(expit(centre - half)), float(expit(centre + half)))


def cell_variance(counts: Counts, found: Posterior, cell: IntArray) -> FloatArray:
    """Posterior variance of every cell's log-odds without its remainder, shape (R, F, K)."""
    c, x = found.covariance, counts.x
    k, f = counts.phrases, counts.findings
    diagonal = np.diagonal(c, axis1=1, axis2=2)
    line = c[:, :1, 0] + 2.0 * x * c[:, :1, 1] + x**2 * c[:, 1:2, 1]
    own = line + diagonal[:, k] + 2.0 * (c[:, 0, k] + x * c[:, 1, k])
    with_f = diagonal[:, f, None] + 2.0 * (c[:, 0, f, None] + x * c[:, 1, f, None])
    variance = own[:, None, :] + with_f + 2.0 * c[:, f, k]
    rows, columns = np.nonzero(cell >= 0)
    finding, phrase = np.divmod(cell[rows, columns], len(x))
    at = counts.size + columns
    joint = c[rows, at, 0] + x[phrase] * c[rows, at, 1] + c[rows, at, 2 + phrase]
    joint = joint + c[rows, at, 2 + len(x) + finding]
    np.add.at(variance, (rows, finding, phrase), c[rows, at, at] + 2.0 * joint)
    return np.maximum(variance, 1e-12)


def cell_rates(counts: Counts, found: Posterior, cell: IntArray) -> Rates:
    """Rates of every cell, shape (R, F, K)."""
    centre = logit(np.clip(found.chance, _EDGE, 1.0 - _EDGE))
    free = _free(counts, found)
    return Rates(np.asarray(centre), free**2 * cell_variance(counts, found, cell) + found.remainder)


def _free(counts: Counts, found: Posterior) -> FloatArray:
    """How much a cell's log-odds follow the rest and not its remainder, shape (R, F, K)."""
    return 1.0 - counts.n * found.chance * (1.0 - found.chance) * found.remainder


def phrase_rates(
    counts: Counts, found: Posterior, cell: IntArray, *, uses: FloatArray | None = None
) -> Rates:
    """Rates over findings, shape (R, K); NaN where a reader never used the phrase.

    ``uses`` (R, F, K) are the weights, the reader's own effective uses if not given.
    """
    n = counts.n if uses is None else uses
    total = n.sum(axis=1, keepdims=True)
    weight = np.divide(n, total, out=np.zeros_like(n), where=total > 0)
    slope = weight * found.chance * (1.0 - found.chance)
    gradient = _gradient(counts, slope * _free(counts, found), cell)
    variance = np.einsum("rkl,rlm,rkm->rk", gradient, found.covariance, gradient, optimize=True)
    variance = variance + (slope**2 * found.remainder).sum(axis=1)
    rate = np.where(total[:, 0] > 0, (weight * found.chance).sum(axis=1), np.nan)
    safe = np.clip(rate, _EDGE, 1.0 - _EDGE)
    return Rates(np.asarray(logit(safe)), np.asarray(variance / (safe * (1.0 - safe)) ** 2))


def _gradient(counts: Counts, slope: FloatArray, cell: IntArray) -> FloatArray:
    """Differentiate every phrase's rate in the coordinates, shape (R, K, L)."""
    readers, _, phrases = slope.shape
    size = counts.size
    full = np.zeros((readers, phrases, size + cell.shape[1]))
    every = slope.sum(axis=1)
    full[:, :, 0], full[:, :, 1] = every, every * counts.x
    full[:, np.arange(phrases), 2 + np.arange(phrases)] = every
    full[:, :, counts.findings] = slope.transpose(0, 2, 1)
    rows, columns = np.nonzero(cell >= 0)
    finding, phrase = np.divmod(cell[rows, columns], phrases)
    full[rows, phrase, size + columns] = slope[rows, finding, phrase]
    return full
