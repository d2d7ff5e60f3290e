"""Names for the arrays every module passes around, and the digits of a number that are kept.

Sums come out differently in their last bits on processors that add in another order. What is
written down is therefore settled first: 10 decimals where a number lies between 1e-7 and 1e4 (the
estimates, which are shares, rates and errors), else 3 digits below and 12 above, and 0 for what is
smaller than 1e-13, the size to which solvers certify their results.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from calibration.errors import CalibrationError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

_ORDINARY = (1e-7, 1e4)
_DECIMALS, _DIGITS_BELOW, _DIGITS_ABOVE = 10, 3, 12
_NOTHING = 1e-13


def numbers(
    name: str, values: ArrayLike, *, error: type[CalibrationError] = CalibrationError
) -> FloatArray:
    """Return values as floats, masked and missing ones as NaN, or say that they are no numbers.

    Texts, times and complex numbers are none, though numpy would make floats of them.
    """
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    try:
        given: np.ma.MaskedArray[Any, Any] = np.ma.asarray(values)
        if given.dtype.kind in "biuf":
            return np.asarray(np.ma.filled(given.astype(np.float64), np.nan))
        missing = np.ma.getmaskarray(given) | pd.isna(given.data)
        mixed = given.dtype.kind == "O" and given.ndim > 0
        if mixed and all(isinstance(each, Real) for each in given.data[~missing]):
            return np.where(missing, np.nan, given.data).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise error(f"{name}: not an array of numbers; give one.")


def divided(
    part: FloatArray | IntArray, whole: FloatArray | IntArray, *, nothing: ArrayLike = np.nan
) -> FloatArray:
    """Divide where there is something to divide by; elsewhere it is ``nothing``.

    Examples
    --------
    >>> divided(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, nan]
    """
    out = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), nothing, np.float64)
    return np.asarray(np.divide(part, whole, out=out, where=whole > 0))


def settled(values: FloatArray) -> FloatArray:
    """Drop the digits that depend on the processor; NaN and infinities stay what they are.

    Examples
    --------
    >>> settled(np.array([0.1 + 0.2, 1.23456789e-9, 3e-16, np.nan])).tolist()
    [0.3, 1.23e-09, 0.0, nan]
    """
    given = np.asarray(values, dtype=np.float64)
    size = np.abs(given)
    low, high = _ORDINARY
    small, large = size < low, (size > high) & np.isfinite(given)
    kept = np.round(given, _DECIMALS)
    kept[small] = [float(f"{v:.{_DIGITS_BELOW}g}") for v in given[small]]
    kept[large] = [float(f"{v:.{_DIGITS_ABOVE}g}") for v in given[large]]
    kept[size < _NOTHING] = 0.0
    return np.asarray(kept)
