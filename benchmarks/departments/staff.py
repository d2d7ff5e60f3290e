"""Who reads in a department: what each reader writes how often, and how often it is then there.

A reader is calibrated, off by a curve of `pipeline.simulate.distortions`, or calibrated with a
habit: one phrase in one finding off by a quarter. On top lie quirks of reader and phrase (sd .2
with those the department shares), findings that differ (sd .2) and readers that differ about them
(sd .1). Departments draw the form of their quirks; half of them have most of their faulty readers
lean the same way. Words are used unevenly, some of them by two readers only.

=======  =========  ======================================================
symbol   shape      meaning
=======  =========  ======================================================
use      (R, F, K)  share of each phrase when a reader states a finding
disease  (R, F, K)  P(finding there | reader, finding, phrase)
mention  (F,)       P(a report states the finding)
=======  =========  ======================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from benchmarks.departments.conditions import VOLUMES
from calibration.survey import PhraseTable, builtin
from pipeline.simulate.distortions import CURVES, curves_towards
from pipeline.simulate.lexicon import hospital
from pipeline.simulate.scale import LEVELS

__all__ = ["Habit", "Reader", "Staff", "draw_staff", "hedges", "meanings", "scale"]

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

STATEMENTS: Final = 5.4
"""Findings stated per exam."""

HABIT_USES, HABIT_OFF = 70, 0.25
"""Exams that show a habit, and how far its rate is off."""

_QUIRK, _SHARED, _FINDING, _READER_FINDING = 0.17, 0.1, 0.2, 0.1
_DIRECTIONS: Final = (
    "overcalls", "undercalls", "too sure", "too cautious", "overcalls, too sure",
    "undercalls, too sure",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Habit:
    """One phrase in one finding that holds at a rate of its own."""

    finding: int
    phrase: int
    rate: float


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader: name, exams in the period, how wrong in words, and a habit if any."""

    name: str
    exams: int
    curve: str | None
    amount: float
    habit: Habit | None


@dataclass(frozen=True, slots=True)
class Staff:
    """A department's readers with their tables (see the module's)."""

    readers: tuple[Reader, ...]
    findings: tuple[str, ...]
    mention: FloatArray
    use: FloatArray
    disease: FloatArray


@cache
def scale() -> PhraseTable:
    """Return the phrase table that everybody writes by."""
    return builtin("diagnostic-certainty-scale")


@cache
def meanings() -> FloatArray:
    """Mean (K,) of each phrase, clipped like everywhere in the simulation."""
    return np.clip(scale().means, *LEVELS)


@cache
def hedges() -> BoolArray:
    """Whether each phrase (K,) is a hedge: those that mean all or nothing stay out of the line."""
    return np.asarray((scale().means > LEVELS[0]) & (scale().means < LEVELS[1]), dtype=np.bool_)


def draw_staff(rng: np.random.Generator) -> Staff:
    """Draw a department of 4 to 24 readers of mixed volume."""
    count = int(rng.integers(4, 25))
    findings, mention = _mentions()
    lean = str(rng.choice(_DIRECTIONS)) if rng.random() < 0.5 else None
    readers = [_reader(i, lean, mention, rng) for i in range(count)]
    use = _use(count, mention.size, rng)
    disease = _disease(readers, mention, rng)
    for r, reader in enumerate(readers):
        if reader.habit is not None:
            _add_habit(reader, mention, use[r], disease[r])
    return Staff(tuple(readers), findings, mention, use, disease)


def _mentions() -> tuple[tuple[str, ...], FloatArray]:
    rates = {f: r["mention"] for f, r in hospital()["rates"].items() if r["mention"] > 0}
    share = np.array(list(rates.values()))
    return tuple(rates), share * STATEMENTS / share.sum()


def _reader(number: int, lean: str | None, mention: FloatArray, rng: np.random.Generator) -> Reader:
    exams, kind = int(rng.choice(VOLUMES)), rng.random()
    name, curve, amount, habit = f"reader {number:02d}", None, 0.0, None
    if kind < 0.5:
        towards = lean if lean and rng.random() < 0.75 else str(rng.choice(_DIRECTIONS))
        curve = str(rng.choice(curves_towards(towards)))
        amount = float(rng.uniform(CURVES[curve].least, CURVES[curve].most))
    elif kind < 0.65:
        habit = _habit(exams, mention, rng)
    return Reader(name, exams, curve, amount, habit)


def _habit(exams: int, mention: FloatArray, rng: np.random.Generator) -> Habit | None:
    """Draw a habit, where a finding is stated often enough for 70 uses of one phrase."""
    often = np.flatnonzero(exams * mention * 0.5 >= HABIT_USES)
    if not often.size:
        return None
    phrase = int(rng.choice(np.flatnonzero(hedges() & (_weights() > 2.0))))
    signs = [s for s in (-1, 1) if 0.04 <= meanings()[phrase] + s * HABIT_OFF <= 0.96]
    rate = meanings()[phrase] + HABIT_OFF * float(rng.choice(signs))
    return Habit(int(rng.choice(often)), phrase, float(rate))


@cache
def _weights() -> FloatArray:
    weights = hospital()["phrase_weights"]
    return np.array([float(weights.get(p, 0.5)) for p in scale().phrases])


def _use(readers: int, findings: int, rng: np.random.Generator) -> FloatArray:
    """Draw tastes of department, reader and finding; leave out words a reader never uses."""
    weights, hedged = _weights(), np.flatnonzero(hedges())
    taste = weights * np.exp(rng.normal(0.0, 0.3, weights.size))
    own = taste * np.exp(rng.normal(0.0, 0.5, (readers, weights.size)))
    for row in own:
        row[rng.choice(hedged, size=int(rng.integers(1, 5)), replace=False)] = 0.0
    rare = rng.choice(hedged, size=2, replace=False)
    others = rng.permutation(readers)[2:]
    own[np.ix_(others, rare)] = 0.0
    tilt = rng.normal(-0.1, 0.15, (1, findings, 1)) * logit(meanings())
    use = own[:, None, :] * np.exp(tilt)
    return np.asarray(use / use.sum(axis=-1, keepdims=True), dtype=np.float64)


def _noise(shape: tuple[int, ...], sd: float, form: str, rng: np.random.Generator) -> FloatArray:
    if form == "uniform":
        return rng.uniform(-(3**0.5) * sd, 3**0.5 * sd, shape)
    if form == "laplace":
        return rng.laplace(0.0, sd / 2**0.5, shape)
    return rng.normal(0.0, sd, shape)


def _disease(readers: list[Reader], mention: FloatArray, rng: np.random.Generator) -> FloatArray:
    form, hedged = str(rng.choice(["normal", "uniform", "laplace"])), hedges()
    count, findings, words = len(readers), mention.size, hedged.size
    curves = [
        CURVES[r.curve].rates(meanings(), r.amount) if r.curve else meanings() for r in readers
    ]
    quirk = _noise((count, 1, words), _QUIRK, form, rng) + _noise((words,), _SHARED, form, rng)
    finding = _noise((findings, 1), _FINDING, form, rng)
    finding -= mention @ finding / mention.sum()
    own = _noise((count, findings, 1), _READER_FINDING, form, rng)
    own -= (mention @ own / mention.sum())[:, None]
    off = np.where(hedged, quirk + finding + own, finding + own)
    rates = expit(logit(np.stack(curves))[:, None, :] + off)
    return np.where(hedged, rates, _certain(off, rng))


def _certain(off: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return rates of "absent" and "present", which no curve touches."""
    level = np.where(meanings() < 0.5, rng.uniform(0.01, 0.05), rng.uniform(0.93, 0.985))
    return np.asarray(expit(logit(level) + off), dtype=np.float64)


def _add_habit(reader: Reader, mention: FloatArray, use: FloatArray, disease: FloatArray) -> None:
    habit = reader.habit
    if habit is None:
        return
    share = HABIT_USES / (reader.exams * mention[habit.finding])
    row = use[habit.finding]
    row[habit.phrase] = 0.0
    row *= (1.0 - share) / row.sum()
    row[habit.phrase] = share
    disease[habit.finding, habit.phrase] = habit.rate
