"""Observations → counts per phrase and label value, which is all any estimator needs.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
c_kj    (K, L)    weight of observations with phrase k and label value j
n_k     (K,)      Σ_j c_kj, uses of phrase k
y_k     (K,)      Σ_j c_kj · label_j, label mass of phrase k
======  ========  ==============================================================

Tallies add: over shards, months, sites. Ten million rows cost one pass and are never read again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray, IntArray, numbers
from calibration.errors import TallyError, refuse, whole


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Weighted counts of (phrase, label value).

    Attributes
    ----------
    label_values
        Distinct labels in [0, 1], increasing, shape (L,).
    counts
        Weight of every (phrase, label value), shape (K, L).
    """

    label_values: FloatArray
    counts: FloatArray

    def __post_init__(self) -> None:
        for name in ("label_values", "counts"):
            kept = numbers(f"Tally: {name}", getattr(self, name), error=TallyError)
            object.__setattr__(self, name, kept)
        labels = self.label_values.shape
        if len(labels) != 1 or self.counts.ndim != 2 or self.counts.shape[1:] != labels:
            raise TallyError(
                f"Tally: counts have shape {self.counts.shape}, "
                f"expected (phrases, {self.label_values.size})."
            )
        if not np.all(np.isfinite(self.counts)) or np.any(self.counts < 0):
            raise TallyError("Tally: counts must be finite and not negative.")
        if not np.all((self.label_values >= 0.0) & (self.label_values <= 1.0)):
            raise TallyError("Tally: label values must lie in [0, 1].")

    def to_plain(self) -> dict[str, object]:
        """Return what is written of it: uses and label mass of each phrase."""
        return {"counts": self.n, "label_mass": self.label_mass}

    @property
    def n(self) -> FloatArray:
        """Uses of each phrase, shape (K,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64)

    @property
    def label_mass(self) -> FloatArray:
        """Sum of labels of each phrase, shape (K,)."""
        return np.asarray(self.counts @ self.label_values, dtype=np.float64)

    @property
    def total(self) -> float:
        """Observations in all."""
        return float(self.counts.sum())

    @property
    def n_phrases(self) -> int:
        """Number of phrases K, used or not."""
        return int(self.counts.shape[0])

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.n_phrases != other.n_phrases:
            raise TallyError(
                f"Tally: {self.n_phrases} phrases cannot be added to {other.n_phrases}; "
                "count both against the same phrase table."
            )
        values = np.union1d(self.label_values, other.label_values)
        counts = np.zeros((self.n_phrases, len(values)))
        counts[:, np.searchsorted(values, self.label_values)] += self.counts
        counts[:, np.searchsorted(values, other.label_values)] += other.counts
        return Tally(values, counts)

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented

    @classmethod
    def empty(cls, n_phrases: int) -> Tally:
        """No observation of any of K phrases."""
        size = whole("n_phrases", n_phrases, least=0, error=TallyError)
        return cls(np.array([0.0, 1.0]), np.zeros((size, 2)))

    @classmethod
    def from_moments(cls, n: ArrayLike, label_mass: ArrayLike) -> Tally:
        """Build counts with the given n and label mass (K,), as if every label were 0 or 1."""
        uses = numbers("n", n, error=TallyError)
        mass = numbers("label_mass", label_mass, error=TallyError)
        return cls(np.array([0.0, 1.0]), np.stack([uses - mass, mass], axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class GroupedTally:
    """Tallies of many groups from one pass, stored as their occupied cells only.

    Attributes
    ----------
    label_values
        Distinct labels over all groups, increasing, shape (L,).
    n_phrases
        K.
    cell
        Occupied cells as (group · K + phrase) · L + label, increasing, shape (C,).
    count
        Weight of each cell, shape (C,).
    """

    label_values: FloatArray
    n_phrases: int
    cell: IntArray
    count: FloatArray

    def group(self, index: int) -> Tally:
        """Tally of one group."""
        return self.slice_groups(index, index + 1).pooled()

    def slice_groups(self, start: int, stop: int) -> GroupedTally:
        """Keep the groups start to stop, renumbered from 0."""
        size = self.n_phrases * len(self.label_values)
        low, high = np.searchsorted(self.cell, [start * size, stop * size])
        cell = self.cell[low:high] - start * size
        return GroupedTally(self.label_values, self.n_phrases, cell, self.count[low:high])

    def pooled(self) -> Tally:
        """All groups added up."""
        size = self.n_phrases * len(self.label_values)
        counts = np.zeros(size)
        np.add.at(counts, self.cell % size, self.count)
        return Tally(self.label_values, counts.reshape(self.n_phrases, len(self.label_values)))


def tally(
    phrase_index: ArrayLike, label: ArrayLike, *, n_phrases: int, weight: ArrayLike | None = None
) -> Tally:
    """Count observations per phrase and label value in one pass.

    Parameters
    ----------
    phrase_index
        Phrase of every observation as an index below ``n_phrases``, shape (N,).
    label
        Label of every observation in [0, 1], hard or soft, shape (N,).
    n_phrases
        Number of phrases K of the phrase table.
    weight
        Weight of every observation, shape (N,); 1 if not given. A unit of weight varies as one
        observation does, so intervals lose their level unless Σw is made (Σw)² / Σw².

    Raises
    ------
    TallyError
        If shapes differ, a phrase is out of range, or a label or weight is not usable.

    Examples
    --------
    >>> counted = tally([0, 0, 1], [1.0, 0.0, 0.25], n_phrases=2)
    >>> counted.n.tolist(), counted.label_mass.tolist()
    ([2.0, 1.0], [1.0, 0.25])
    """
    found = tally_groups(None, phrase_index, label, n_groups=1, n_phrases=n_phrases, weight=weight)
    return found.group(0)


def tally_groups(
    group_index: ArrayLike | None,
    phrase_index: ArrayLike,
    label: ArrayLike,
    *,
    n_groups: int,
    n_phrases: int,
    weight: ArrayLike | None = None,
) -> GroupedTally:
    """Count observations per group, phrase and label value in one pass.

    Parameters
    ----------
    group_index
        Group of every observation as an index below ``n_groups``, shape (N,); one group if None.
    phrase_index, label, weight
        As for :func:`tally`.
    n_groups, n_phrases
        G and K.

    Raises
    ------
    TallyError
        If shapes differ, an index is out of range, or a label or weight is not usable.
    """
    n_groups = whole("n_groups", n_groups, least=0, error=TallyError)
    n_phrases = whole("n_phrases", n_phrases, least=0, error=TallyError)
    phrases = _checked_indices("phrase_index", phrase_index, n_phrases)
    labels = _checked_labels(label)
    if labels.shape != phrases.shape:
        raise TallyError(f"label: {len(labels)} values for {len(phrases)} phrases.")
    rows = phrases
    if group_index is not None:
        groups = _checked_indices("group_index", group_index, n_groups)
        if groups.shape != phrases.shape:
            raise TallyError(f"group_index: {len(groups)} values for {len(phrases)} phrases.")
        rows = groups * n_phrases + phrases
    weights = None if weight is None else _checked_weights(weight, len(phrases))
    values, cell, count = _count_cells(rows, labels, weights, rows=n_groups * n_phrases)
    return GroupedTally(values, n_phrases, cell, count)


_DENSE_CELLS = 20_000_000


def _count_cells(
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


def _checked_indices(name: str, values: ArrayLike, limit: int) -> IntArray:
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


def _checked_labels(label: ArrayLike) -> FloatArray:
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


def _checked_weights(weight: ArrayLike, expected: int) -> FloatArray:
    """Return weights (N,) of 0 or more, or say which is not."""
    weights = numbers("weight", weight)
    if weights.shape != (expected,):
        raise TallyError(f"weight: {weights.size} values for {expected} observations.")
    wrong = ~((weights >= 0.0) & np.isfinite(weights))
    refuse("weight", wrong, "values are negative or not finite", error=TallyError)
    return weights
