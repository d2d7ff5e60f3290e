"""What a department says and what CT shows: the observations a profile is made from.

Exams belong to patients: findings of one patient go together (a Gaussian copula leaves every rate
as it is), patients come again, and where exams are repeated within an episode the three are all but
the same. Each exam has a finding the CT was asked about, an unsure one by preference; whether the
CT happens may depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from benchmarks.departments.conditions import Conditions
from benchmarks.departments.ct import label_of
from benchmarks.departments.staff import Staff, meanings, scale

__all__ = ["Exams", "draw_exams"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

_FRAILTY, _PERSISTENCE, _SAME_EPISODE = 0.1, 0.2, 0.95
_EPISODES: Final = (0.82, 0.13, 0.05)
_SAID_AGAIN: Final = 0.9
"""Chance that a repeated exam words a finding as the one before it did."""


@dataclass(frozen=True, slots=True)
class Exams:
    """Statements (N,) of one department, reader by reader, as written and as read."""

    reader: IntArray
    patient: IntArray
    finding: IntArray
    phrase: IntArray
    read_as: IntArray
    asked: BoolArray
    label: FloatArray

    def observations(self, staff: Staff) -> pd.DataFrame:
        """Return the table `radcal profile` reads."""
        names, phrases = [r.name for r in staff.readers], scale().phrases
        return pd.DataFrame({
            "reader": np.array(names)[self.reader],
            "patient": [f"P{p:06d}" for p in self.patient],
            "pathology": np.array(staff.findings)[self.finding],
            "phrase": np.array(phrases)[self.read_as],
            "label": self.label,
        })  # fmt: skip


def draw_exams(
    staff: Staff, conditions: Conditions, missed: FloatArray, rng: np.random.Generator
) -> Exams:
    """Draw every reader's exams with a CT.

    Parameters
    ----------
    missed
        Share of each finding that CT doesn't show, shape (F,).
    """
    parts = []
    for r in range(len(staff.readers)):
        parts.append(_of_reader(r, staff, conditions, missed, rng))
    joined = _joined(parts)
    if not conditions.misread:
        return joined
    wrong = rng.random(joined.phrase.size) < conditions.misread
    shuffled = np.where(wrong, rng.permutation(joined.phrase), joined.phrase)
    return Exams(*(getattr(joined, f) if f != "read_as" else shuffled for f in Exams.__slots__))


def _joined(parts: Sequence[Exams]) -> Exams:
    """Join readers, no two of whom share a patient."""
    first = np.cumsum([0, *(int(p.patient.max(initial=0)) + 1 for p in parts[:-1])])
    columns = {name: np.concatenate([getattr(p, name) for p in parts]) for name in Exams.__slots__}
    sizes = [p.patient.size for p in parts]
    columns["patient"] = columns["patient"] + np.repeat(first, sizes)
    return Exams(**columns)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Exams by finding, shape (E, F): what is said, and the latent state behind it."""

    patient: IntArray
    said: BoolArray
    word: FloatArray
    state: FloatArray


def _sheet(exams: int, mention: FloatArray, triplicate: float, rng: np.random.Generator) -> _Sheet:
    """Draw ``exams`` exams, of which a share comes in threes."""
    findings = mention.size
    copies = np.where(rng.random(exams) < triplicate / (3.0 - 2.0 * triplicate), 3, 1)
    sizes = rng.choice([1, 2, 3], size=exams, p=_EPISODES)
    patient = np.repeat(np.arange(exams), sizes)[:exams]
    frail, lasting = rng.standard_normal((exams, 1)), rng.standard_normal((exams, findings))
    rest = 1.0 - _FRAILTY - _PERSISTENCE
    state = (
        _FRAILTY**0.5 * frail[patient]
        + _PERSISTENCE**0.5 * lasting[patient]
        + rest**0.5 * rng.standard_normal((exams, findings))
    )
    said, word = rng.random((exams, findings)) < mention, rng.random((exams, findings))
    which = np.repeat(np.arange(exams), copies)
    again = (np.repeat(copies, copies) == 3)[:, None]
    fresh = rng.standard_normal((which.size, findings))
    moved = _SAME_EPISODE**0.5 * state[which] + (1.0 - _SAME_EPISODE) ** 0.5 * fresh
    reworded = again & (rng.random((which.size, findings)) > _SAID_AGAIN)
    spoken = np.where(reworded, rng.random((which.size, findings)), word[which])
    return _Sheet(patient[which], said[which], spoken, np.where(again, moved, state[which]))


def _of_reader(
    r: int, staff: Staff, conditions: Conditions, missed: FloatArray, rng: np.random.Generator
) -> Exams:
    wanted = staff.readers[r].exams
    factor = 1 if not conditions.is_ordered else 6
    sheet = _sheet(wanted * factor, staff.mention, conditions.triplicate, rng)
    exam, finding = np.nonzero(sheet.said)
    cumulative = staff.use[r].cumsum(axis=-1)
    phrase = np.minimum(
        (sheet.word[exam, finding][:, None] > cumulative[finding]).sum(axis=-1),
        cumulative.shape[-1] - 1,
    )
    disease, u = staff.disease[r, finding, phrase], ndtr(sheet.state[exam, finding])
    asked = _asked(exam, phrase, rng)
    done = _done(exam, phrase, asked & (u < disease), asked, conditions, rng)
    kept = np.flatnonzero(done)[:wanted]
    stays = np.isin(exam, kept)
    label = label_of(u, shown=disease * (1.0 - missed[finding]), hedged=conditions.hedged)
    columns = (sheet.patient[exam], finding, phrase, phrase, asked, label)
    return Exams(np.full(int(stays.sum()), r), *(c[stays] for c in columns))


def _asked(exam: IntArray, phrase: IntArray, rng: np.random.Generator) -> BoolArray:
    """Choose the one statement of each exam that the CT is about (Gumbel's trick)."""
    m = meanings()[phrase]
    score = np.log(m * (1.0 - m) + 0.02) + rng.gumbel(size=exam.size)
    order = np.lexsort((-score, exam))
    first = np.ones(exam.size, dtype=np.bool_)
    first[1:] = np.diff(exam[order]) != 0
    asked = np.zeros(exam.size, dtype=np.bool_)
    asked[order] = first
    return asked


def _done(
    exam: IntArray,
    phrase: IntArray,
    there: BoolArray,
    asked: BoolArray,
    conditions: Conditions,
    rng: np.random.Generator,
) -> BoolArray:
    """Decide which exams (E,) get a CT, by what it was asked about."""
    m = meanings()[phrase[asked]]
    unsure = 1.0 - conditions.wording * (1.0 - 4.0 * m * (1.0 - m))
    chance = unsure * conditions.disease ** (there[asked] - 1.0)
    done = np.zeros(int(exam.max(initial=-1)) + 1, dtype=np.bool_)
    done[exam[asked]] = rng.random(chance.size) < chance
    return done
