"""Who reads in a department: what each reader writes how often, and how often it is then there.

A reader is calibrated, off by a curve of `pipeline.simulate.department`, or calibrated with a
habit: one phrase in one finding off by a quarter. Rates scatter besides (`VARIATION`) in
a form that each department draws. Half of the departments have most of their faulty readers lean
the same way. Words are used unevenly, some of them by two readers only. "Absent" and "present" are
touched by no curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from calibration.survey import PhraseTable, builtin
from pipeline.simulate.cases import Practice
from pipeline.simulate.department import CURVES, LEVELS, Variation
from pipeline.simulate.lexicon import hospital
from pipeline.simulate.rates import hedged, scattered

__all__ = [
    "FAVOUR", "HABIT_OFF", "HABIT_USES", "Habit", "Reader", "Staff", "draw_faulty",
    "draw_mixed_staff", "draw_staff", "meanings", "scale",
]  # fmt: skip

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

VOLUMES: Final = (100, 185, 300, 1000)
"""Exams of a reader; every department mixes all of them."""

VARIATION: Final = Variation(quirk=0.17, shared=0.1, finding=0.2, reader_finding=0.1)
"""Quirks of sd .2 (a reader's own and the department's), findings and readers that differ."""

STATEMENTS: Final = 5.4
"""Findings stated per exam."""

HABIT_USES: Final = 70
"""Exams in which a habit shows."""

FAVOUR: Final = 9.0
"""How many times as often a favoured habit's word is written in the finding where it is off."""

_OFTEN, _LEAST_USE, _FIT = 5, 0.04, {5, 10}

HABIT_OFF: Final = 0.25
"""How far the rate of a habit is off."""

_DIRECTIONS: Final = (
    "overcalls", "undercalls", "too sure", "too cautious", "overcalls, too sure",
    "undercalls, too sure",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Habit:
    """One phrase in one finding that is there at a rate of its own."""

    finding: int
    phrase: int
    rate: float


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader: name, exams in the period, how wrong in words, and a habit if any.

    A habit of a ``favour`` is not rare elsewhere: its word is written everywhere, and so many times
    as often in its finding.
    """

    name: str
    exams: int
    curve: str | None
    amount: float
    habit: Habit | None
    favour: float | None = None

    def declared(self) -> FloatArray:
        """Return how often each phrase (K,) holds before anything scatters."""
        return (
            meanings() if self.curve is None else CURVES[self.curve].rates(meanings(), self.amount)
        )


@dataclass(frozen=True, slots=True)
class Staff:
    """A department's readers and what they do."""

    readers: tuple[Reader, ...]
    findings: tuple[str, ...]
    practice: Practice


@cache
def scale() -> PhraseTable:
    """Return the phrase table that everybody writes by."""
    return builtin("diagnostic-certainty-scale")


@cache
def meanings() -> FloatArray:
    """Mean (K,) of each phrase, clipped like everywhere in the simulation."""
    return np.clip(scale().means, *LEVELS)


def draw_staff(rng: np.random.Generator) -> Staff:
    """Draw a department of 4 to 24 readers of mixed volume."""
    count = int(rng.integers(4, 25))
    mention = _mention()
    lean = str(rng.choice(_DIRECTIONS)) if rng.random() < 0.5 else None
    readers = tuple(_reader(i, lean, mention, rng) for i in range(count))
    return _practising(readers, mention, rng)


def draw_mixed_staff(rng: np.random.Generator) -> Staff:
    """Draw 12 readers, of each volume one with a favoured habit: 6 are off, 2 calibrated, 4 these.

    A favoured habit is a word that its reader writes elsewhere too, `FAVOUR` times as often in the
    finding where it is off.
    """
    mention, readers = _mention(), list[Reader]()
    lean = str(rng.choice(_DIRECTIONS)) if rng.random() < 0.5 else None
    for number, exams in enumerate(VOLUMES * 3):
        name = f"reader {number:02d}"
        if number < len(VOLUMES):
            own = _planted(np.argsort(-mention)[:_OFTEN], rng)
            readers.append(Reader(name, exams, None, 0.0, own, favour=FAVOUR))
        elif number in _FIT:
            readers.append(Reader(name, exams, None, 0.0, None))
        else:
            readers.append(_faulty(number, exams, lean or str(rng.choice(_DIRECTIONS)), rng))
    return _practising(tuple(readers), mention, rng)


def _mention() -> FloatArray:
    rates = hospital()["rates"]
    share = np.array([rates[f]["mention"] for f in rates])
    return np.asarray(share * STATEMENTS / share.sum(), dtype=np.float64)


def _practising(
    readers: tuple[Reader, ...], mention: FloatArray, rng: np.random.Generator
) -> Staff:
    use = _use(len(readers), mention.size, rng)
    chance = _chance(readers, mention, rng)
    for r, reader in enumerate(readers):
        if reader.habit is not None:
            _add_habit(reader, reader.habit, reader.exams * mention, use[r], chance[r])
    practice = Practice(mention, np.zeros(mention.size), use, chance, meanings())
    return Staff(readers, tuple(hospital()["rates"]), practice)


def _reader(number: int, lean: str | None, mention: FloatArray, rng: np.random.Generator) -> Reader:
    exams, kind, name = int(rng.choice(VOLUMES)), rng.random(), f"reader {number:02d}"
    if kind < 0.5:
        towards = lean if lean and rng.random() < 0.75 else str(rng.choice(_DIRECTIONS))
        return _faulty(number, exams, towards, rng)
    return Reader(name, exams, None, 0.0, _habit(exams, mention, rng) if kind < 0.65 else None)


def _faulty(number: int, exams: int, towards: str, rng: np.random.Generator) -> Reader:
    curve = str(rng.choice(_curves(towards)))
    amount = float(rng.uniform(CURVES[curve].least, CURVES[curve].most))
    return Reader(f"reader {number:02d}", exams, curve, amount, None)


def draw_faulty(exams: int, rng: np.random.Generator) -> Reader:
    """Draw a reader who is off, of so many exams."""
    return _faulty(0, exams, str(rng.choice(_DIRECTIONS)), rng)


def _curves(direction: str) -> list[str]:
    """Name the curves that lead to all that ``direction`` says."""
    wanted = set(direction.split(", "))
    return [name for name, curve in CURVES.items() if wanted <= set(curve.towards.split(", "))]


def _habit(exams: int, mention: FloatArray, rng: np.random.Generator) -> Habit | None:
    """Draw a habit, where a finding is stated often enough for 70 uses of one phrase."""
    often = np.flatnonzero(exams * mention * 0.5 >= HABIT_USES)
    if not often.size:
        return None
    return _planted(often, rng)


def _planted(findings: IntArray, rng: np.random.Generator) -> Habit:
    phrase = int(rng.choice(np.flatnonzero(hedged(meanings()) & (_weights() > 2.0))))
    signs = [s for s in (-1, 1) if 0.04 <= meanings()[phrase] + s * HABIT_OFF <= 0.96]
    rate = meanings()[phrase] + HABIT_OFF * float(rng.choice(signs))
    return Habit(int(rng.choice(findings)), phrase, float(rate))


@cache
def _weights() -> FloatArray:
    weights = hospital()["phrase_weights"]
    return np.array([float(weights.get(p, 0.5)) for p in scale().phrases])


def _use(readers: int, findings: int, rng: np.random.Generator) -> FloatArray:
    """Draw tastes (R, F, K) of department, reader and finding; leave out words never used."""
    weights, hedges = _weights(), np.flatnonzero(hedged(meanings()))
    taste = weights * np.exp(rng.normal(0.0, 0.3, weights.size))
    own = taste * np.exp(rng.normal(0.0, 0.5, (readers, weights.size)))
    for row in own:
        row[rng.choice(hedges, size=int(rng.integers(1, 5)), replace=False)] = 0.0
    rare = rng.choice(hedges, size=2, replace=False)
    own[np.ix_(rng.permutation(readers)[2:], rare)] = 0.0
    tilt = rng.normal(-0.1, 0.15, (1, findings, 1)) * logit(meanings())
    use = own[:, None, :] * np.exp(tilt)
    return np.asarray(use / use.sum(axis=-1, keepdims=True), dtype=np.float64)


def _chance(
    readers: tuple[Reader, ...], mention: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw P(finding there | reader, finding, phrase), shape (R, F, K)."""
    declared = np.stack([reader.declared() for reader in readers])
    low, high = rng.uniform(0.01, 0.05), rng.uniform(0.93, 0.985)
    certain = np.where(meanings() < 0.5, low, high)
    declared = np.where(hedged(meanings()), declared, certain)
    form = str(rng.choice(["normal", "uniform", "laplace"]))
    return scattered(
        np.repeat(declared[:, None], mention.size, axis=1),
        hedges=hedged(meanings()),
        mention=mention,
        variation=VARIATION.model_copy(update={"form": form}),
        rng=rng,
    )


def _add_habit(
    reader: Reader, habit: Habit, stated: FloatArray, use: FloatArray, chance: FloatArray
) -> None:
    chance[habit.finding, habit.phrase] = habit.rate
    share, row = HABIT_USES / stated[habit.finding], use[habit.finding]
    if reader.favour is not None:
        use[:, habit.phrase] = np.maximum(use[:, habit.phrase], _LEAST_USE)
        row[habit.phrase] *= reader.favour
        use /= use.sum(axis=1, keepdims=True)
        return
    row[habit.phrase] = 0.0
    row *= (1.0 - share) / row.sum()
    row[habit.phrase] = share
