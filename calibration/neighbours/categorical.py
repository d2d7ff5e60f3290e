"""Class probabilities and vote counts, checked once before any measure reads them.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
f       (n, C)    predicted distribution over C classes, one row per item
v       (n, C)    votes each class received: whole numbers, or their shares (see below)
π̄       (n, C)    v divided by its row sum, the frequency estimate of Baan et al.
======  ========  ==============================================================

Rows must sum to 1 within ``SUM_TOLERANCE`` and are used as given, never renormalised. Where a
prediction ties, its class is the lowest index unless the caller says otherwise. Measures that need
no number of votes also take shares of votes, as some data sets publish them: a row with fractions
must then sum to 1.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.errors import CalibrationError

SUM_TOLERANCE: Final = 1e-3
"""How far a row of probabilities may be from 1: room for three printed decimals, not for errors."""

Ties = Literal["lowest", "highest", "shared"]


def checked_probabilities(
    probs: ArrayLike, *, name: str = "probs", first_row: int = 0
) -> FloatArray:
    """Return probabilities (n, C) as floats, or say which row is not a distribution.

    Parameters
    ----------
    probs
        Shape (n, C), C ≥ 2.
    name, first_row
        What messages call the array, and the number they give its first row.

    Raises
    ------
    CalibrationError
        If the array has another shape, one class or no row, or a row holds a missing or negative
        value or does not sum to 1.
    """
    values = _matrix(probs, name)
    sums = values.sum(axis=1)
    if np.isfinite(sums).all() and (values >= 0).all():
        _refuse_rows(np.abs(sums - 1.0) > SUM_TOLERANCE, sums, name, first_row, "do not sum to 1")
        return values
    _refuse_rows(
        ~np.isfinite(values).all(axis=1), None, name, first_row, "hold a missing or infinite value"
    )
    least = values.min(axis=1)
    _refuse_rows(least < 0, least, name, first_row, "hold a negative probability")
    return values


def checked_votes(
    votes: ArrayLike, *, name: str = "votes", first_row: int = 0, shares: bool = False
) -> FloatArray:
    """Return vote counts (n, C) as floats, or say which row holds none or no counts.

    Parameters
    ----------
    votes
        Whole numbers, shape (n, C), C ≥ 2.
    name, first_row
        What messages call the array, and the number they give its first row.
    shares
        Also take rows of fractions that sum to 1.

    Raises
    ------
    CalibrationError
        If the array has another shape, one class or no row, or a row holds a missing, negative or
        fractional value that is no share, or no vote at all.
    """
    counts = _matrix(votes, name)
    finite = np.isfinite(counts)
    _refuse_rows(~finite.all(axis=1), None, name, first_row, "hold a missing or infinite value")
    least = counts.min(axis=1)
    _refuse_rows(least < 0, least, name, first_row, "hold a negative count")
    broken = (counts != np.floor(counts)).any(axis=1)
    sums = counts.sum(axis=1)
    if shares:
        broken &= np.abs(sums - 1.0) > SUM_TOLERANCE
        fault = "hold fractions that do not sum to 1, neither counts nor shares"
        _refuse_rows(broken, sums, name, first_row, fault)
    _refuse_rows(broken, None, name, first_row, "hold fractions where counts are needed")
    _refuse_rows(sums == 0, None, name, first_row, "hold no vote")
    return counts


def checked_pair(
    probs: ArrayLike, votes: ArrayLike, *, shares: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return both, checked, of one shape."""
    predictions, counts = checked_probabilities(probs), checked_votes(votes, shares=shares)
    if predictions.shape != counts.shape:
        msg = (
            f"probs has {predictions.shape[0]} rows of {predictions.shape[1]} classes but votes "
            f"has {counts.shape[0]} rows of {counts.shape[1]}; align items and classes first."
        )
        raise CalibrationError(msg)
    return predictions, counts


def frequencies(votes: FloatArray) -> FloatArray:
    """π̄: each class's share of an item's votes, shape (n, C)."""
    return np.asarray(votes / votes.sum(axis=1, keepdims=True), dtype=np.float64)


def predicted(probs: FloatArray, *, ties: Ties = "lowest") -> IntArray:
    """Most probable class of every item, shape (n,); "shared" takes the lowest of tied classes."""
    if ties == "highest":
        last = probs.shape[1] - 1
        return np.asarray(last - probs[:, ::-1].argmax(axis=1), dtype=np.int64)
    return np.asarray(probs.argmax(axis=1), dtype=np.int64)


def credit(votes: FloatArray, *, ties: Ties = "lowest") -> FloatArray:
    """Say what predicting each class earns against the majority of votes, shape (n, C).

    1 for the majority class and 0 elsewhere; where classes tie, the lowest or highest index takes
    it all, or "shared" splits it evenly.
    """
    if ties == "shared":
        top: BoolArray = votes == votes.max(axis=1, keepdims=True)
        return np.asarray(top / top.sum(axis=1, keepdims=True), dtype=np.float64)
    earned = np.zeros(votes.shape)
    earned[np.arange(len(votes)), predicted(votes, ties=ties)] = 1.0
    return earned


def _matrix(array: ArrayLike, name: str) -> FloatArray:
    try:
        values = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"{name}: not a table of numbers; give one row per item and one column per class."
        raise CalibrationError(msg) from None
    if values.ndim != 2:
        msg = f"{name}: shape {values.shape}, expected (items, classes)."
        raise CalibrationError(msg)
    if values.shape[1] < 2:
        msg = f"{name}: {values.shape[1]} class; a distribution needs at least 2."
        raise CalibrationError(msg)
    if not len(values):
        msg = f"{name}: no items; there is nothing to measure."
        raise CalibrationError(msg)
    return values


def _refuse_rows(
    wrong: ArrayLike, shown: FloatArray | None, name: str, first_row: int, fault: str
) -> None:
    rows = np.flatnonzero(wrong)
    if not rows.size:
        return
    value = "" if shown is None else f" ({shown[rows[0]]:.6g})"
    msg = (
        f"{name}: {len(rows)} of {np.size(wrong)} rows {fault}; first at row "
        f"{rows[0] + first_row}{value}. Correct or drop them before calling."
    )
    raise CalibrationError(msg)
