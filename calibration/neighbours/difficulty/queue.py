"""What difficulty is used for: which items a person should read, and strata for fair comparison."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray, IntArray
from calibration.errors import CalibrationError

__all__ = ["review_order", "strata"]


def review_order(*indicators: ArrayLike) -> IntArray:
    """Items from hardest to easiest, shape (n,): by the first indicator, ties by the next.

    Ties in all keep the items' own order, so that a queue is the same every time it is made.

    Examples
    --------
    >>> review_order([0.0, 0.5, 0.5], [0.1, 0.2, 0.9]).tolist()
    [2, 1, 0]
    """
    keys = [-np.asarray(values, dtype=np.float64) for values in indicators]
    if not keys or len({key.shape for key in keys}) > 1 or keys[0].ndim != 1:
        msg = "review_order: give at least one indicator, all with one value per item."
        raise CalibrationError(msg)
    return np.lexsort(keys[::-1]).astype(np.int64)


def strata(values: ArrayLike, *, count: int = 3) -> tuple[IntArray, FloatArray]:
    """Stratum of every item from 0 (easiest), shape (n,), and the cuts between strata.

    Cuts are quantiles; an item on a cut belongs below it, so items of equal difficulty are never
    parted and strata can be uneven or, where most items tie, fewer than asked for.

    Parameters
    ----------
    values
        One indicator, shape (n,).
    count
        Strata wanted.

    Raises
    ------
    CalibrationError
        If a value is missing or fewer than one stratum is wanted.

    Examples
    --------
    >>> strata([0.1, 0.2, 0.2, 0.9], count=2)
    (array([0, 0, 0, 1]), array([0.2]))
    """
    level = np.asarray(values, dtype=np.float64)
    if level.ndim != 1 or not level.size or not np.isfinite(level).all() or count < 1:
        msg = (
            f"strata: {level.size} values into {count}; give finite values and one stratum or more."
        )
        raise CalibrationError(msg)
    wanted = np.quantile(level, np.arange(1, count) / count, method="inverted_cdf")
    cuts = np.unique(wanted[wanted < level.max()])
    return np.searchsorted(cuts, level, side="left").astype(np.int64), cuts
