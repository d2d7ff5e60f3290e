"""Checked rows → the arrays of the model: effective counts of hedges, raw counts, atoms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import FloatArray, IntArray
from calibration.profile.atoms import AtomCounts
from calibration.profile.clusters import Correlation, correlation, dispersion, effective
from calibration.profile.design import Counts
from calibration.profile.rows import Rows
from calibration.profile.vocabulary import Vocabulary

__all__ = ["Hedged", "atom_counts", "hedged"]


@dataclass(frozen=True, slots=True, eq=False)
class Hedged:
    """The rows with a hedge, their cells, and how soft their labels are (φ, one per phrase)."""

    rows: Rows
    words: Vocabulary
    cell: IntArray
    spread: FloatArray

    @property
    def _shape(self) -> tuple[int, int, int]:
        return (*self.rows.shape, len(self.words.hedges))

    def total(self, weight: FloatArray) -> FloatArray:
        """Sum of a row's weights in every cell, shape (R, F, K)."""
        size = int(np.prod(self._shape))
        sums = np.bincount(self.cell, weights=weight, minlength=size)
        return np.asarray(sums, dtype=np.float64).reshape(self._shape)

    def counts(self, between: Correlation) -> Counts:
        """Effective counts under the given correlation of a patient's outcomes."""
        weight = effective(self.rows, between=between, spread=self.spread)
        n, mass = self.total(weight), self.total(weight * self.rows.label)
        return Counts(n, mass, self.words.log_odds, self.words.survey)

    def correlation(self, chance: FloatArray) -> Correlation:
        """Estimate the correlation given P(CT positive) of every cell, shape (R, F, K)."""
        return correlation(self.rows, chance=chance.ravel()[self.cell])


def hedged(rows: Rows, words: Vocabulary) -> Hedged:
    """Keep the hedged rows and find their cells; phrases are renumbered among the hedges."""
    kept = rows.take(words.place[rows.phrase] >= 0)
    place = words.place[kept.phrase]
    cell = (kept.reader * len(kept.findings) + kept.finding) * len(words.hedges) + place
    return Hedged(kept, words, cell, dispersion(kept, phrases=len(words.phrases)))


def atom_counts(rows: Rows, words: Vocabulary, *, certain: int, between: Correlation) -> AtomCounts:
    """Count the statements of one kind of certainty (−1 absent, 1 present)."""
    kept = rows.take(words.certain[rows.phrase] == certain)
    spread = np.ones(len(words.phrases))
    weight = effective(kept, between=between, spread=spread)
    wrong = kept.label if certain < 0 else 1.0 - kept.label
    readers, findings = kept.shape
    cell = kept.reader * findings + kept.finding

    def total(values: FloatArray) -> FloatArray:
        sums = np.bincount(cell, weights=values, minlength=readers * findings)
        return np.asarray(sums, dtype=np.float64).reshape(readers, findings)

    return AtomCounts(
        phrases=words.names(certain),
        positive_is_wrong=certain < 0,
        n=total(kept.count),
        wrong=total(kept.count * wrong),
        effective=total(weight),
    )
