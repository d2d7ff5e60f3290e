"""The one pass over the rows: (row index, label) → counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray, IntArray, numbers
from calibration.errors import TallyError, refuse

_DENSE_CELLS = 20_000_000


def count_cells(
    row: IntArray, label: FloatArray, weight: FloatArray | None, *, rows: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Distinct labels (L,), occupied cells row · L + code (C,), and their weights (C,).

    Of the labels 0 and 1 are always two.

    Parameters
    ----------
    row
        Row of every observation, below ``rows``, shape (N,).
    label
        Labels in [0, 1], shape (N,).
    weight
        Weights (N,), or None for 1 each.
    rows
        Number of rows, G · K.
    """
    codes, found = pd.factorize(label)
    values = np.union1d(found, [0.0, 1.0])
    cells = row * len(values) + np.searchsorted(values, found)[codes]
    size = rows * len(values)
    if size <= _DENSE_CELLS:
        dense = np.bincount(cells, weights=weight, minlength=size).astype(np.float64)
        occupied = np.flatnonzero(dense)
        return values, occupied.astype(np.int64), dense[occupied]
    cells, inverse = np.unique(cells, return_inverse=True)
    return values, cells, np.bincount(inverse, weights=weight).astype(np.float64)


def checked_indices(name: str, values: ArrayLike, limit: int) -> IntArray:
    """Return indices (N,) below a limit, or say which is not."""
    try:
        index = np.asarray(np.ma.filled(values, -1))
    except ValueError:
        raise TallyError(f"{name}: expected a flat array of integers, got rows.") from None
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iub"):
        raise TallyError(f"{name}: expected a flat array of integers, got {index.dtype}.")
    if index.size and (int(index.min()) < 0 or int(index.max()) >= limit):
        fault = f"values are outside 0..{limit - 1}. Map unknown phrases before counting."
        refuse(name, (index < 0) | (index >= limit), fault, shown=index, error=TallyError)
    return index.astype(np.int64, copy=False)


def checked_labels(label: ArrayLike) -> FloatArray:
    """Return labels (N,) in [0, 1] as floats, or say which is not."""
    labels = np.ascontiguousarray(numbers("label", label, error=TallyError))
    if np.ndim(label) != 1:
        raise TallyError(f"label: expected a flat array of numbers, got shape {np.shape(label)}.")
    low, high = (float(labels.min()), float(labels.max())) if labels.size else (0.0, 1.0)
    if not (low >= 0.0 and high <= 1.0):
        inside = (labels >= 0.0) & (labels <= 1.0)
        fault = "values are outside [0, 1] or missing"
        refuse("label", ~inside, fault, shown=labels, error=TallyError)
    return labels


def checked_weights(weight: ArrayLike, expected: int) -> FloatArray:
    """Return weights (N,) of 0 or more, or say which is not."""
    weights = numbers("weight", weight)
    if weights.shape != (expected,):
        raise TallyError(f"weight: {weights.size} values for {expected} observations.")
    wrong = ~((weights >= 0.0) & np.isfinite(weights))
    refuse("weight", wrong, "values are negative or not finite", error=TallyError)
    return weights
