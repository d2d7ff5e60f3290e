"""Checked rows → the arrays of the model: effective counts of hedges, raw counts, atoms.

If a share ε of phrases is misread (an audit of extraction says how many), the words put down are
right in a share 1 − ε and else any others, true at the department's mean rate c over all
statements: μ_k = (1 − ε) p_k + ε c. The counts are those of rightly read words: label mass
(y − ε c n) / (1 − ε), and both times the information that is left,
(1 − ε)² p (1 − p) / (μ (1 − μ)) at p = meaning.
"""

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
    """The rows with a hedge and their cells.

    ``spread`` is how soft the labels of each phrase are (φ), ``misread`` ε and ``elsewhere`` c.
    """

    rows: Rows
    words: Vocabulary
    cell: IntArray
    spread: FloatArray
    misread: float
    elsewhere: float

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
        if self.misread > 0.0:
            p, wrong = self.words.meaning, self.misread
            mixed = (1.0 - wrong) * p + wrong * self.elsewhere
            left = (1.0 - wrong) ** 2 * p * (1.0 - p) / (mixed * (1.0 - mixed))
            mass = left * (mass - wrong * self.elsewhere * n) / (1.0 - wrong)
            n = left * n
        return Counts(n, mass, self.words.log_odds, self.words.survey)

    def correlation(self, chance: FloatArray) -> Correlation:
        """Estimate the correlation given P(CT positive) of every cell, shape (R, F, K)."""
        return correlation(self.rows, chance=chance.ravel()[self.cell])


def hedged(rows: Rows, words: Vocabulary, *, misread: float) -> Hedged:
    """Keep the hedged rows and find their cells; phrases are renumbered among the hedges."""
    every = float(rows.count.sum())
    elsewhere = float(rows.count @ rows.label) / every if every > 0 else 0.5
    kept = rows.take(words.place[rows.phrase] >= 0)
    place = words.place[kept.phrase]
    cell = (kept.reader * len(kept.findings) + kept.finding) * len(words.hedges) + place
    spread = dispersion(kept, phrases=len(words.phrases))
    return Hedged(kept, words, cell, spread, misread, elsewhere)


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
