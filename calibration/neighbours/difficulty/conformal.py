"""Conformal prediction sets: how many classes it takes to be right 1 − α of the time.

Least-ambiguous sets (Sadinle et al. 2019; Mickus et al. 2025, Eq. 6): with n calibration items,
t is the largest value with #{p(y') ≥ t} ≥ r, r = ⌈(n + 1)(1 − α)⌉, and the set holds every class
with p ≥ t. If r > n every class is in the set; a set can be empty.

Leave-one-out: item i is calibrated on all others. Sort the reference probabilities downwards,
s_1 ≥ s_2 ≥ …, with r from n = N − 1. The r-th largest of the others is s_{r+1} for the items with
p(y*) ≥ s_r and s_r for the rest, so there are two thresholds in all and the cost is one sort.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError
from calibration.neighbours.categorical import checked_probabilities
from calibration.neighbours.difficulty.pool import checked_pool, checked_reference

__all__ = ["conformal_set_sizes", "leave_one_out_thresholds", "mean_set_size"]

_ROUNDING = 1e-9
"""(n + 1)(1 − α) is often a whole number; its binary fraction must not lift it to the next."""


def leave_one_out_thresholds(*, probs: ArrayLike, reference: ArrayLike, alpha: float) -> FloatArray:
    """Threshold t of every item, calibrated on all others, shape (n,); −∞ where all classes are in.

    Parameters
    ----------
    probs
        One model's class probabilities, shape (n, C).
    reference
        Reference class of every item, shape (n,).
    alpha
        Tolerated share of sets without the reference class, in (0, 1).

    Raises
    ------
    CalibrationError
        If a row is not a distribution, a class is out of range, or α is not in (0, 1).
    """
    if not 0.0 < alpha < 1.0:
        msg = f"alpha {alpha}: give a share between 0 and 1."
        raise CalibrationError(msg)
    p = checked_probabilities(probs)
    n = len(p)
    own = p[np.arange(n), checked_reference(reference, items=n, classes=p.shape[1])]
    needed = math.ceil(n * (1.0 - alpha) - _ROUNDING)
    if needed > n - 1:
        return np.full(n, -np.inf)
    sorted_down = np.sort(own)[::-1]
    high, low = sorted_down[needed - 1], sorted_down[needed]
    return np.asarray(np.where(own >= high, low, high), dtype=np.float64)


def conformal_set_sizes(
    *, probs: ArrayLike, reference: ArrayLike, alpha: float = 0.1
) -> FloatArray:
    """Size of one model's leave-one-out conformal set for every item, 0 to C, shape (n,).

    Parameters
    ----------
    probs, reference, alpha
        As for :func:`leave_one_out_thresholds`.
    """
    threshold = leave_one_out_thresholds(probs=probs, reference=reference, alpha=alpha)
    sizes = np.asarray(probs, dtype=np.float64) >= threshold[:, None]
    return np.asarray(sizes.sum(axis=1), dtype=np.float64)


def mean_set_size(*, probs: ArrayLike, reference: ArrayLike, alpha: float = 0.1) -> FloatArray:
    """M_CP: set size averaged over the models of a pool (m, n, C), shape (n,)."""
    pool = checked_pool(probs)
    sizes = [conformal_set_sizes(probs=p, reference=reference, alpha=alpha) for p in pool]
    return np.asarray(np.mean(sizes, axis=0), dtype=np.float64)
