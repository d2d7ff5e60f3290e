"""The one pass over the rows: (row index, label) → counts, in blocks that stay in the cache.

Labels take few distinct values (0 and 1, or one value per CT phrase), so a label's code is its
place among those of the first rows, and is verified; the first label that is not among them sends
the whole column to a general, slower pass.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray, IntArray, numbers
from calibration.errors import TallyError, refuse

_BLOCK = 1 << 16
_SAMPLE = 1 << 12
_MOST_VALUES = 200
_MOST_CELLS = 1 << 16
_DENSE_CELLS = 20_000_000


def count_cells(
    row: IntArray, label: FloatArray, weight: FloatArray | None, *, rows: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Distinct labels (L,), occupied cells row · L + code (C,), and their weights (C,).

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
    fast = _fast_counts(row, label, weight, rows)
    if fast is not None:
        return _occupied(*fast)
    codes, values = label_codes(label)
    cells = row * len(values) + codes
    size = rows * len(values)
    if size <= _DENSE_CELLS:
        dense = np.bincount(cells, weights=weight, minlength=size).astype(np.float64)
        return _occupied(values, dense)
    found, inverse = np.unique(cells, return_inverse=True)
    return values, found, np.bincount(inverse, weights=weight).astype(np.float64)


def _occupied(values: FloatArray, dense: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    occupied = np.flatnonzero(dense)
    return values, occupied.astype(np.int64), dense[occupied]


def label_codes(label: FloatArray) -> tuple[IntArray, FloatArray]:
    """Code of every label (N,) and the distinct values, increasing, 0 and 1 always among them."""
    codes, found = pd.factorize(label)
    values = np.union1d(found, [0.0, 1.0])
    return np.searchsorted(values, found)[codes].astype(np.int64), values


def _fast_counts(
    row: IntArray, label: FloatArray, weight: FloatArray | None, rows: int
) -> tuple[FloatArray, FloatArray] | None:
    """Distinct labels and dense counts, or None if the general pass is needed."""
    values = np.union1d(label[:_SAMPLE], [0.0, 1.0])
    size = rows * len(values)
    if len(values) > _MOST_VALUES or size > _MOST_CELLS:
        return None
    dense = np.zeros(size)
    for start in range(0, len(row), _BLOCK):
        block = slice(start, start + _BLOCK)
        part = label[block]
        code = np.searchsorted(values, part)
        if not np.array_equal(values[code], part):
            return None
        cell = row[block] * len(values)
        cell += code
        some = None if weight is None else weight[block]
        dense += np.bincount(cell, weights=some, minlength=size)
    return values, dense


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
