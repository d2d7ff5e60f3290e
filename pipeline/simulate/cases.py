"""What each X-ray says, what is there, and which of them get a CT.

A patient's findings go together and come back (a Gaussian copula leaves every rate as it is), and
the strengths of related findings in one report go together as well. Each report has one statement
that a CT is asked about, an unsure one by preference; whether the CT happens may depend on its word
and on whether its finding is there. Exams without the CT they were drawn for are drawn anew.

======  ========  ==================================================================
symbol  shape     meaning
======  ========  ==================================================================
reader  (N,)      who reads each exam
patient (N,)      whose exam it is
phrase  (N, P)    phrase meant, -1 where the report says nothing
u       (N, P)    uniform number behind the truth: the finding is there where u < p
asked   (N,)      the pathology that the CT is asked about
======  ========  ==================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from scipy.special import ndtr

from calibration.arrays import BoolArray, FloatArray, IntArray
from pipeline.simulate.department import Observation
from pipeline.simulate.lexicon import hospital, wording

_TRIES: Final = 60
_COMMON: Final = 1 / 3
"""Share of what belongs to a patient that all of the patient's findings have in common."""
_SAME_EPISODE, _SAID_AGAIN = 0.95, 0.9
"""How much a repeated exam shares with the first, and how often it is worded as that was."""


@dataclass(frozen=True, slots=True)
class Practice:
    """What readers write and how often it is there.

    Attributes
    ----------
    mention
        P(a report states the pathology), shape (P,).
    silent
        P(pathology there | report says nothing of it), shape (P,).
    usage, chance
        Share of each phrase and P(pathology there | phrase), shape (R, P, K).
    means
        What each phrase means, shape (K,).
    """

    mention: FloatArray
    silent: FloatArray
    usage: FloatArray
    chance: FloatArray
    means: FloatArray


@dataclass(frozen=True, slots=True)
class Cases:
    """What was drawn (see the module's table); ``disease`` is p, the chance behind ``u``."""

    phrase: IntArray
    disease: FloatArray
    u: FloatArray
    asked: IntArray

    @property
    def is_asked(self) -> BoolArray:
        """Whether a cell (N, P) is the one the CT was asked about."""
        return np.asarray(np.arange(self.phrase.shape[1]) == self.asked[:, None])


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The chances behind the cases, all (N, P)."""

    said: BoolArray
    word: FloatArray
    state: FloatArray
    turn: FloatArray


def draw_cases(
    reader: IntArray,
    patient: IntArray,
    wanted: BoolArray,
    *,
    practice: Practice,
    observation: Observation,
    rng: np.random.Generator,
) -> Cases:
    """Draw a case for every exam, one that gets a CT where ``wanted`` and one that gets none else.

    Where nothing decides about a CT, ``wanted`` has no part in it.
    """
    lasting = _lasting(patient, practice.mention.size, rng)
    sheet = _sheet(lasting, practice, observation, rng)
    pending = np.arange(reader.size)
    ordered = observation.disease != 1.0 or observation.wording > 0.0
    for _ in range(_TRIES if ordered else 0):
        part = _Sheet(*(getattr(sheet, f.name)[pending] for f in fields(_Sheet)))
        cases = _read(part, reader[pending], practice)
        pending = pending[granted(cases, practice, observation, rng) != wanted[pending]]
        if not pending.size:
            break
        _replace(sheet, pending, _sheet(lasting[pending], practice, observation, rng))
    if observation.repeated:
        _repeat(sheet, *repeats(patient), rng)
    return _read(sheet, reader, practice)


def repeats(patient: IntArray) -> tuple[IntArray, IntArray]:
    """Return the exams that repeat another one, and those they repeat: a patient's third of three.

    Patients with three exams are the repeated ones: the later two are as the first.
    """
    _, first, owner, count = np.unique(
        patient, return_index=True, return_inverse=True, return_counts=True
    )
    later = np.flatnonzero((count[owner] >= 3) & (first[owner] != np.arange(patient.size)))
    return later, first[owner[later]]


def slipped(phrase: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Return phrases (N,) as they came out: a share of them shuffled with one another's."""
    if not share:
        return phrase
    return np.where(rng.random(phrase.size) < share, rng.permutation(phrase), phrase)


def granted(
    cases: Cases, practice: Practice, observation: Observation, rng: np.random.Generator
) -> BoolArray:
    """Draw whether each exam (N,) gets a CT, by what it is asked about."""
    rows = np.arange(cases.asked.size)
    m = practice.means[cases.phrase[rows, cases.asked]]
    there = cases.u[rows, cases.asked] < cases.disease[rows, cases.asked]
    unsure = 1.0 - observation.wording * (1.0 - 4.0 * m * (1.0 - m))
    return np.asarray(rng.random(rows.size) < unsure * observation.disease ** (there - 1.0))


def _lasting(patient: IntArray, pathologies: int, rng: np.random.Generator) -> FloatArray:
    """Draw what belongs to the patient behind every finding (N, P), a standard normal score."""
    people = int(patient.max(initial=-1)) + 1
    common, own = rng.standard_normal((people, 1)), rng.standard_normal((people, pathologies))
    return np.asarray(np.sqrt(_COMMON) * common + np.sqrt(1 - _COMMON) * own)[patient]


def _sheet(
    lasting: FloatArray, practice: Practice, observation: Observation, rng: np.random.Generator
) -> _Sheet:
    shape, share = lasting.shape, observation.patients
    said = rng.random(shape) < practice.mention
    said[~said.any(axis=1), int(np.argmax(practice.mention))] = True
    state = np.sqrt(share) * lasting + np.sqrt(1.0 - share) * rng.standard_normal(shape)
    return _Sheet(said, _scores(shape, rng), state, rng.gumbel(size=shape))


def _scores(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw a uniform score (N, P) behind each phrase: a Gaussian copula within groups.

    Phrases are ordered by strength, so correlated scores make related findings strong together.
    """
    coherence, names = hospital()["coherence"], [p.name for p in wording().pathologies]
    latent, rho = rng.standard_normal(shape), coherence["correlation"]
    for group in coherence["groups"]:
        members = [names.index(name) for name in group]
        shared = rng.standard_normal((shape[0], 1))
        latent[:, members] = np.sqrt(rho) * shared + np.sqrt(1 - rho) * latent[:, members]
    return np.asarray(ndtr(latent), dtype=np.float64)


def _replace(sheet: _Sheet, rows: IntArray, fresh: _Sheet) -> None:
    for f in fields(_Sheet):
        getattr(sheet, f.name)[rows] = getattr(fresh, f.name)


def _repeat(sheet: _Sheet, later: IntArray, first: IntArray, rng: np.random.Generator) -> None:
    """Make exams all but the same as the patient's first."""
    shape = (later.size, sheet.said.shape[1])
    fresh, worded = rng.standard_normal(shape), rng.random(shape)
    anew = rng.random(shape) > _SAID_AGAIN
    sheet.said[later], sheet.turn[later] = sheet.said[first], sheet.turn[first]
    sheet.word[later] = np.where(anew, worded, sheet.word[first])
    moved = np.sqrt(_SAME_EPISODE) * sheet.state[first]
    sheet.state[later] = moved + np.sqrt(1.0 - _SAME_EPISODE) * fresh


def _read(sheet: _Sheet, reader: IntArray, practice: Practice) -> Cases:
    """Let readers word what was drawn, and choose what a CT is asked about."""
    cumulative = practice.usage.cumsum(axis=-1)[reader]
    phrase = np.minimum((sheet.word[..., None] > cumulative).sum(-1), cumulative.shape[-1] - 1)
    cells = (reader[:, None], np.arange(phrase.shape[1]), phrase)
    disease = np.where(sheet.said, practice.chance[cells], practice.silent)
    m = practice.means[phrase]
    eager = np.where(sheet.said, np.log(m * (1.0 - m) + 0.02) + sheet.turn, -np.inf)
    return Cases(
        phrase=np.where(sheet.said, phrase, -1),
        disease=disease,
        u=np.asarray(ndtr(sheet.state)),
        asked=np.asarray(eager.argmax(axis=1), dtype=np.int64),
    )
