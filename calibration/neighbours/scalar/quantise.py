"""A distribution over the scale → shares of a few fixed points, nearest in Wasserstein-2.

Jiang et al. 2024, Theorem 2, with F the distribution function (the print says density):
Q(c_i) = F((c_{i+1} + c_i)/2) − F((c_i + c_{i−1})/2), F(−∞) = 0 and F(+∞) = 1. Every value goes to
its nearest point; a value midway goes to the lower one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError
from calibration.neighbours.scalar.ranking import checked_scalars

__all__ = ["empirical_cdf", "quantise"]


def quantise(cdf: Callable[[FloatArray], FloatArray], *, points: ArrayLike) -> FloatArray:
    """Share of every point, in the order given, shape (K,).

    Parameters
    ----------
    cdf
        F of the distribution: a ``Distribution``'s ``cdf``, or :func:`empirical_cdf` of judgements.
    points
        Fixed points, distinct, in any order, shape (K,).

    Raises
    ------
    CalibrationError
        If there is no point, one is missing, or two are equal.

    Examples
    --------
    >>> from calibration.distributions import Beta
    >>> quantise(Beta(2, 3).cdf, points=[0.05, 0.3, 0.5, 0.8]).round(6).tolist()
    [0.143689, 0.381111, 0.348719, 0.126481]
    """
    (at,) = checked_scalars(points=points)
    order = np.argsort(at)
    ordered = at[order]
    same = np.flatnonzero(np.diff(ordered) == 0)
    if same.size:
        msg = (
            f"points: {len(same)} of {len(at)} repeat another; first {ordered[same[0]]:g}. "
            "Merge points that stand at one place."
        )
        raise CalibrationError(msg)
    below = np.asarray(cdf((ordered[1:] + ordered[:-1]) / 2.0), dtype=np.float64)
    share = np.empty(len(at))
    share[order] = np.diff(below, prepend=0.0, append=1.0)
    return share


def empirical_cdf(values: ArrayLike) -> Callable[[FloatArray], FloatArray]:
    """Give F of a sample: the share of values at or below x."""
    (sample,) = checked_scalars(values=values)
    ordered = np.sort(sample)

    def cdf(x: FloatArray) -> FloatArray:
        return np.asarray(np.searchsorted(ordered, x, side="right") / len(ordered))

    return cdf
