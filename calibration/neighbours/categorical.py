"""Class probabilities and vote counts, checked once before any measure reads them.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
f       (n, C)    predicted distribution over C classes, one row per item
v       (n, C)    votes each class received, whole numbers
π̄       (n, C)    v divided by its row sum, the frequency estimate of Baan et al.
======  ========  ==============================================================

Rows must sum to 1 within ``SUM_TOLERANCE`` and are used as given, never renormalised. Where a
prediction ties, its class is the lowest index.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray, IntArray, numbers
from calibration.errors import CalibrationError, refuse

SUM_TOLERANCE: Final = 1e-3
"""How far a row of probabilities may be from 1: room for three printed decimals, not for errors."""


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
    refused = partial(refuse, name, first_row=first_row)
    sums, least = values.sum(axis=1), values.min(axis=1)
    refused(~np.isfinite(values).all(axis=1), "rows hold a missing or infinite value")
    refused(least < 0, "rows hold a negative probability", shown=least)
    refused(np.abs(sums - 1.0) > SUM_TOLERANCE, "rows do not sum to 1", shown=sums)
    return values


def checked_votes(votes: ArrayLike, *, name: str = "votes", first_row: int = 0) -> FloatArray:
    """Return vote counts (n, C) as floats, or say which row holds none or no counts.

    Parameters
    ----------
    votes
        Whole numbers, shape (n, C), C ≥ 2.
    name, first_row
        What messages call the array, and the number they give its first row.

    Raises
    ------
    CalibrationError
        If the array has another shape, one class or no row, or a row holds a missing, negative or
        fractional value, or no vote at all.
    """
    counts = _matrix(votes, name)
    refused = partial(refuse, name, first_row=first_row)
    sums, least = counts.sum(axis=1), counts.min(axis=1)
    refused(~np.isfinite(counts).all(axis=1), "rows hold a missing or infinite value")
    refused(least < 0, "rows hold a negative count", shown=least)
    refused((counts != np.floor(counts)).any(axis=1), "rows hold fractions where counts are needed")
    refused(sums == 0, "rows hold no vote")
    return counts


def checked_pair(probs: ArrayLike, votes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both, checked, of one shape."""
    predictions, counts = checked_probabilities(probs), checked_votes(votes)
    if predictions.shape != counts.shape:
        raise CalibrationError(
            f"probs has {predictions.shape[0]} rows of {predictions.shape[1]} classes but votes "
            f"has {counts.shape[0]} rows of {counts.shape[1]}; align items and classes first."
        )
    return predictions, counts


def frequencies(votes: FloatArray) -> FloatArray:
    """π̄: each class's share of an item's votes, shape (n, C)."""
    return np.asarray(votes / votes.sum(axis=1, keepdims=True), dtype=np.float64)


def majority_credit(votes: FloatArray) -> FloatArray:
    """1 for the majority class of an item's votes, the lowest of tied ones, 0 elsewhere, (n, C)."""
    return np.asarray(np.eye(votes.shape[1])[votes.argmax(axis=1)])


def _matrix(array: ArrayLike, name: str) -> FloatArray:
    try:
        values = numbers(name, array)
    except CalibrationError:
        raise CalibrationError(
            f"{name}: not a table of numbers; give one row per item and one column per class."
        ) from None
    if values.ndim != 2:
        raise CalibrationError(f"{name}: shape {values.shape}, expected (items, classes).")
    if values.shape[1] < 2:
        raise CalibrationError(f"{name}: {values.shape[1]} class; a distribution needs at least 2.")
    if not len(values):
        raise CalibrationError(f"{name}: no items; there is nothing to measure.")
    return values


def checked_pool(probs: ArrayLike) -> FloatArray:
    """Return the pool's probabilities (m, n, C), or say which model's row is not a distribution.

    Raises
    ------
    CalibrationError
        If the array has another shape, or a row is not a distribution.
    """
    pool = numbers("probs", probs)
    if pool.ndim != 3 or not len(pool):
        raise CalibrationError(f"probs: shape {pool.shape}, expected (models, items, classes).")
    for index, model in enumerate(pool):
        checked_probabilities(model, name=f"probs of model {index}")
    return pool


def checked_reference(reference: ArrayLike, *, items: int, classes: int) -> IntArray:
    """Return the reference classes (n,), or say which is out of range.

    Raises
    ------
    CalibrationError
        If there is not one whole number from 0 to C − 1 per item.
    """
    truth = np.asarray(np.ma.filled(reference, -1))
    if truth.shape != (items,) or truth.dtype.kind not in "iu":
        raise CalibrationError(
            f"reference: {truth.dtype} of shape {truth.shape}; give one class index for each of "
            f"{items} items."
        )
    wrong = np.flatnonzero((truth < 0) | (truth >= classes))
    if wrong.size:
        raise CalibrationError(
            f"reference: {len(wrong)} of {items} classes are outside 0..{classes - 1}; first at "
            f"row {wrong[0]} ({truth[wrong[0]]})."
        )
    return truth.astype(np.int64)
