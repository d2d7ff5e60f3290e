"""Checked rows → the arrays of the model: effective counts of hedges, raw counts, atoms.

If a share ε of phrases is misread (an audit of extraction says how many), the words put down are
right in a share 1 − ε and else any others of the department's, true at the rate c of all the
reader's statements about that finding (`design.Counts` has the likelihood).

Effective counts are what repeated patients and hedging CTs leave of a row's information. Two
outcomes of one patient are correlated, ρ within a finding (its repeated exams) and ρ' across
findings. With residuals e = y − p and v = p (1 − p) of a first fit, pooled over the department,

    ρ = (Σ_pairs e_i e_j + κ ρ0 v̄) / (Σ_pairs √(v_i v_j) + κ v̄),

κ pairs' worth of prior at ρ0. A row counts 1 / (1 + ρ (m − 1) + ρ' m'), with m rows of its reader's
patient in its finding and m' in others: for a patient's m alike rows this is generalised least
squares, and for contrasts within a patient it errs on the side of caution.

Soft labels vary less than 0/1 labels of the same mean; reader r's rows of phrase k count 1/φ_rk
with φ = Σ (y − ȳ)² / Σ ȳ (1 − ȳ), exactly 1 for hard labels, of few uses drawn toward the reader's
of all phrases, and that toward the department's: whose CTs are plain is no surer for colleagues'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from calibration.arrays import BoolArray, FloatArray, IntArray, divided
from calibration.profile.atoms import AtomCounts
from calibration.profile.design import Counts
from calibration.profile.rows import Rows
from calibration.profile.vocabulary import Vocabulary

_SAME, _OTHER = 0.5, 0.02
_SAME_WORTH, _OTHER_WORTH = 25.0, 200.0
_LEAST = 0.2
_WORTH, _SOFT_WORTH = 20.0, 50.0
_MOST_MISREAD = 0.9
_FEW, _TINY = 10.0, 1e-9


@dataclass(frozen=True, slots=True)
class Correlation:
    """ρ within a finding and ρ' across findings of one patient."""

    same: float
    other: float


USUAL = Correlation(_SAME, _OTHER)
"""Of patients' outcomes before any are seen."""


def _sums(code: IntArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(code, weights=values), dtype=np.float64)


def correlation(rows: Rows, *, chance: FloatArray) -> Correlation:
    """Estimate the correlations from the rows' residuals; ``chance`` (N,) is p of every row."""
    if rows.patient is None:
        return Correlation(0.0, 0.0)
    v = chance * (1.0 - chance)
    e, root = rows.label - chance, np.sqrt(v)
    n = rows.count
    typical = float(n @ v / n.sum()) if len(v) else 0.25
    within = _within(rows, rows.patient)
    same_e, same_v = _pairs(within, e, n), _pairs(within, root, n)
    all_e, all_v = _pairs(rows.patient, e, n), _pairs(rows.patient, root, n)
    prior = _SAME_WORTH * typical
    same = (same_e + prior * _SAME) / (same_v + prior)
    prior = _OTHER_WORTH * typical
    other = (all_e - same_e + prior * _OTHER) / (all_v - same_v + prior)
    return Correlation(float(np.clip(same, 0.0, 1.0)), float(np.clip(other, 0.0, 0.5)))


def _within(rows: Rows, patient: IntArray) -> IntArray:
    """Code the pairs of patient and finding."""
    finding = patient * max(len(rows.findings), 1) + rows.finding
    return np.asarray(np.unique(finding, return_inverse=True)[1])


def _pairs(code: IntArray, values: FloatArray, n: FloatArray) -> float:
    """Sum of products over ordered pairs of different statements with one code, n to a row."""
    own = np.minimum(n, n**2)  # a part of a statement has no other beside it
    return float((_sums(code, n * values) ** 2).sum() - own @ values**2)


def opposed(rows: Rows, *, phrases: int) -> tuple[FloatArray, FloatArray]:
    """Estimate π / (1 − π) of every reader beyond colleagues', and its deviation.

    Other patients' CTs in a share π of the exams make a word true at the rate ρ of its finding in
    all statements of such an exam. So with c the reader's rate of a word in a finding as it is, of
    which ρ − c is (1 − π) of the way from paired exams to others, and e = y − c,

        E e_i e_j = π / (1 − π) · (ρ − c)_i (ρ − c)_j

    and the sums of both sides over pairs of one patient's statements that would be drawn opposite
    ways tell π. What makes a patient sicker than words say moves such pairs apart, and so speaks
    against it. Findings of which one or the other is there speak for it in every reader, so what
    the others' pairs come to is taken off. Without patients nothing is known.
    """
    nobody = np.zeros(len(rows.readers))
    if rows.patient is None:
        return nobody, nobody + np.inf
    n, findings = rows.count, max(len(rows.findings), 1)

    def rate(code: IntArray, toward: FloatArray, worth: float) -> FloatArray:
        uses, mass = _sums(code, n)[code], _sums(code, n * rows.label)[code]
        return np.asarray((mass + worth * toward) / (uses + worth))

    word = rows.reader * phrases + rows.phrase
    every = rate(rows.reader, np.full(len(n), 0.5), 1.0)
    cell = np.unique(word * findings + rows.finding, return_inverse=True)[1]
    chance = rate(cell, rate(word, every, 1.0), _FEW)
    away = rate(rows.reader * findings + rows.finding, every, _FEW) - chance
    off, variance = (rows.label - chance) * away, chance * (1.0 - chance) * away**2
    owner = np.zeros(int(rows.patient.max(initial=-1)) + 1, dtype=np.int64)
    owner[rows.patient] = rows.reader
    found, doubt, worth = (
        np.bincount(
            owner, minlength=len(nobody),
            weights=_sums(rows.patient, n * each * (away > 0.0))
            * _sums(rows.patient, n * each * (away < 0.0)),
        )
        for each in (off, variance, away**2)
    )  # fmt: skip
    worth, others = np.maximum(worth, _TINY), np.maximum(worth.sum() - worth, _TINY)
    usual = np.maximum((found.sum() - found) / others, 0.0)
    return found / worth - usual, np.sqrt(np.maximum(doubt, _TINY)) / worth


def dispersion(rows: Rows, *, phrases: int) -> FloatArray:
    """φ of every reader and phrase, shape (R, K), drawn toward what more uses tell."""
    cell, size = rows.reader * phrases + rows.phrase, (len(rows.readers), phrases)
    n, mass, square = (
        np.bincount(cell, weights=rows.count * each, minlength=size[0] * phrases).reshape(size)
        for each in (np.ones(len(cell)), rows.label, rows.label**2)
    )
    mean = divided(mass, n, nothing=0.0)
    hard, found = mass - n * mean**2, square - n * mean**2
    total = float(hard.sum())
    if total <= 0:  # every phrase always true or never: nothing varies, hard or soft
        return np.ones(size)
    worth, every = _SOFT_WORTH * total / float(n.sum()), float(found.sum()) / total
    own = (found.sum(axis=1) + worth * every) / (hard.sum(axis=1) + worth)
    return np.asarray(np.clip((found + worth * own[:, None]) / (hard + worth), _LEAST, 1.0))


def effective(rows: Rows, *, between: Correlation, spread: FloatArray) -> FloatArray:
    """Effective count of every row, shape (N,)."""
    count = rows.count / spread[rows.reader, rows.phrase]
    if rows.patient is None:
        return count
    within = _within(rows, rows.patient)
    same = _sums(within, rows.count)[within] if len(within) else count
    all_ = _sums(rows.patient, rows.count)[rows.patient] if len(within) else count
    inflation = 1.0 + between.same * (same - 1.0) + between.other * (all_ - same)
    return np.asarray(count / np.maximum(inflation, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Hedged:
    """The rows with a hedge and their cells.

    ``spread`` (R, K) is how soft labels are (φ), ``misread`` (R, 1, K) and
    ``elsewhere`` (R, F, 1) ε and c, None where nothing is misread.
    """

    rows: Rows
    words: Vocabulary
    cell: IntArray
    spread: FloatArray
    misread: FloatArray | None
    elsewhere: FloatArray | None

    @property
    def _shape(self) -> tuple[int, int, int]:
        return (*self.rows.shape, len(self.words.hedges))

    def total(self, weight: FloatArray) -> FloatArray:
        """Sum of a row's weights in every cell, shape (R, F, K)."""
        size = int(np.prod(self._shape))
        sums = np.bincount(self.cell, weights=weight, minlength=size)
        return np.asarray(sums, dtype=np.float64).reshape(self._shape)

    @property
    def uses(self) -> FloatArray:
        """Hedged statements of every reader, shape (R,)."""
        return np.asarray(self.rows.total(self.rows.count).sum(axis=1))

    @property
    def plain(self) -> FloatArray:
        """Hedged statements of every reader of which CT says plainly what is there, shape (R,)."""
        return np.asarray(self.rows.total(self.rows.count * ~self.rows.soft).sum(axis=1))

    @property
    def doubted(self) -> BoolArray:
        """Say of whose hedges CT itself mostly hedges, shape (R,)."""
        return np.asarray(2.0 * self.plain < self.uses)

    def leaning(self, uses: FloatArray) -> FloatArray:
        """Say by how much each cell's mean label changes with 0 or 1 for the labels between.

        ``uses`` and the answer are (R, F, K); ½ leans nowhere.
        """
        label = self.rows.label
        more = self.total(self.rows.count * (self.rows.leaning().label - label))
        return divided(more, uses, nothing=0.0)

    def counts(self, between: Correlation) -> Counts:
        """Effective counts under the given correlation of a patient's outcomes."""
        weight = effective(self.rows, between=between, spread=self.spread)
        n, mass = self.total(weight), self.total(weight * self.rows.label)
        return Counts(n, mass, self.words.log_odds, self.words.survey, self.misread, self.elsewhere)

    def without(self, out: BoolArray) -> Hedged:
        """Leave some findings of some readers out (R, F)."""
        kept = ~out[self.rows.reader, self.rows.finding]
        rows = self.rows.take(kept)
        spread = dispersion(rows, phrases=len(self.words.phrases))
        return replace(self, rows=rows, cell=self.cell[kept], spread=spread)

    def where(self, kept: BoolArray) -> Hedged:
        """Keep some rows, as soft as labels are in all."""
        return replace(self, rows=self.rows.take(kept), cell=self.cell[kept])

    def correlation(self, chance: FloatArray) -> Correlation:
        """Estimate the correlation given P(CT positive) of every cell, shape (R, F, K)."""
        return correlation(self.rows, chance=chance.ravel()[self.cell])


def hedged(rows: Rows, words: Vocabulary, *, misread: float) -> Hedged:
    """Keep the hedged rows and find their cells; phrases are renumbered among the hedges."""
    kept = rows.take(words.place[rows.phrase] >= 0)
    place = words.place[kept.phrase]
    cell = (kept.reader * len(kept.findings) + kept.finding) * len(words.hedges) + place
    spread = dispersion(kept, phrases=len(words.phrases))
    wrong = other = None
    if misread > 0.0:
        wrong, other = _misread(rows, words, misread), _elsewhere(rows)
    return Hedged(kept, words, cell, spread, wrong, other)


def _misread(rows: Rows, words: Vocabulary, share: float) -> FloatArray:
    """Share of a reader's uses of each hedge that are misreadings, shape (R, 1, K).

    Misread words are any word of the department's; so a reader's ε_rk = ε q_k / u_rk, where q_k
    is the word's share of all statements and u_rk its share of the reader's, drawn toward q_k.
    """
    readers, phrases = len(rows.readers), len(words.phrases)
    cell = rows.reader * phrases + rows.phrase
    n = np.bincount(cell, weights=rows.count, minlength=readers * phrases)
    n = n.reshape(readers, phrases)[:, words.place >= 0]
    every = np.bincount(rows.reader, weights=rows.count, minlength=readers)[:, None]
    common = n.sum(axis=0) / max(every.sum(), 1.0)
    own = (n + _WORTH * common) / (every + _WORTH)
    found = divided(share * common, own, nothing=share)
    return np.asarray(np.minimum(found, _MOST_MISREAD))[:, None, :]


def _elsewhere(rows: Rows) -> FloatArray:
    """How often CT is positive in a reader's finding, whatever was written, shape (R, F, 1).

    Drawn toward the finding's rate over all readers, and that toward the rate over all findings.
    """
    n, mass = rows.total(rows.count), rows.total(rows.count * rows.label)
    every = (mass.sum() + 0.5) / (n.sum() + 1.0)
    finding = (mass.sum(axis=0) + _WORTH * every) / (n.sum(axis=0) + _WORTH)
    return np.asarray((mass + _WORTH * finding) / (n + _WORTH))[:, :, None]


def both_certain(
    rows: Rows, words: Vocabulary, between: Correlation
) -> tuple[AtomCounts, AtomCounts]:
    """Count the statements of "absent" and those of "present"."""
    absent, present = (atom_counts(rows, words, certain=c, between=between) for c in (-1, 1))
    return absent, present


def atom_counts(rows: Rows, words: Vocabulary, *, certain: int, between: Correlation) -> AtomCounts:
    """Count the statements of one kind of certainty (−1 absent, 1 present)."""
    kept = rows.take(words.certain[rows.phrase] == certain)
    spread = np.ones((len(rows.readers), len(words.phrases)))
    weight = effective(kept, between=between, spread=spread)
    wrong = kept.label if certain < 0 else 1.0 - kept.label
    n, against = kept.total(kept.count), kept.total(kept.count * wrong)
    written = np.zeros((len(rows.readers), len(words.phrases)), dtype=bool)
    written[kept.reader, kept.phrase] = True
    each = tuple(tuple(compress(words.phrases, own)) for own in written)
    return AtomCounts(each, certain < 0, n, against, kept.total(weight))
