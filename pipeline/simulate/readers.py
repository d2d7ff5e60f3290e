"""Readers whose calibration is known: their curve, their favourite phrases, their habits.

A reader with intercept a and slope b who writes phrase k is right at the rate

    P(CT present | k) = expit(a + b · logit(clip(mean_k, .01, .99))),

except where a named habit fixes the rate of one phrase for one pathology. How often each phrase is
written follows from the reader's favourites, tilted exponentially in logit(mean_k) until the
pathology's prevalence comes out right, so that every reader sees the same patients.

======  ===========  ==============================================================
symbol  shape        meaning
======  ===========  ==============================================================
chance  (R, P, K)    P(CT present | reader, pathology, phrase)
usage   (R, P, K)    share of each phrase among the reader's statements; sums to 1
======  ===========  ==============================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from pipeline.simulate.lexicon import hospital, names, wording
from pipeline.simulate.people import Person, draw_people
from pipeline.simulate.scale import phrase_logits

__all__ = ["Habit", "Reader", "Staff", "draw_staff", "projected_curve"]

FloatArray: TypeAlias = NDArray[np.float64]

XRAY_STYLES = ("templated", "narrative", "terse", "capitals", "attested", "numbered")
"""How X-ray reports are dictated; each reader leans to one."""

CT_STYLES = ("structured", "translated", "terse", "capitals", "attested", "numbered")
"""How CT reports are dictated; each reader leans to one."""

_DOUBLINGS = 4
"""How often the bounds of a tilt are doubled before it is sought between them."""

_ROOM = 0.95
"""Share of the rarest finding's prevalence that "absent" may be wrong in at most."""


@dataclass(frozen=True, slots=True)
class Habit:
    """One phrase that, for one pathology, is right at a rate of its own."""

    pathology: int
    phrase: int
    probability: float
    boost: float


@dataclass(frozen=True, slots=True)
class Reader:
    """One radiologist: who, where, how busy, which curve and which habits."""

    reader_id: str
    person: Person
    site: int
    kind: str
    intercept: float
    slope: float
    workload: float
    favourites: FloatArray
    habits: tuple[Habit, ...]
    xray_style: str
    ct_style: str


@dataclass(frozen=True, slots=True)
class Staff:
    """All readers with their tables of chance and usage (see the module's table)."""

    readers: tuple[Reader, ...]
    chance: FloatArray
    usage: FloatArray


def _favourites(rng: np.random.Generator) -> FloatArray:
    weights = hospital()["phrase_weights"]
    base = np.array([weights[p] for p in wording().phrases])
    liking = np.exp(rng.normal(0.0, 0.45, base.size))
    liking[rng.choice(np.arange(1, base.size - 1), size=2, replace=False)] *= 3.0
    liking[[0, -1]] = 1.0
    return np.asarray(base * liking, dtype=np.float64)


def _habits(number: int) -> tuple[Habit, ...]:
    pathologies = [p.name for p in wording().pathologies]
    return tuple(
        Habit(
            pathologies.index(entry["pathology"]),
            wording().phrases.index(entry["phrase"]),
            entry["probability"],
            entry["boost"],
        )
        for entry in hospital()["habit"]
        if entry["reader"] == number % 12
    )


def _reader(number: int, person: Person, rng: np.random.Generator) -> Reader:
    kinds, sites = hospital()["reader_kind"], hospital()["site"]
    kind, jitter = kinds[number % len(kinds)], rng.normal(0.0, (0.05, 0.04))
    lean = rng.integers(len(XRAY_STYLES)), rng.integers(len(CT_STYLES))
    intercept = round(kind["intercept"] + jitter[0], 4)
    slope = round(kind["slope"] + jitter[1], 4)
    return Reader(
        reader_id=f"u{410000 + 137 * number + int(rng.integers(100))}",
        person=person,
        site=number % len(sites),
        kind=kind["name"],
        intercept=intercept,
        slope=max(slope, _least_slope(intercept)),
        workload=float(np.exp(rng.normal(0.0, 0.25))),
        favourites=_favourites(rng),
        habits=_habits(number),
        xray_style=XRAY_STYLES[(number + lean[0]) % len(XRAY_STYLES)],
        ct_style=CT_STYLES[(number + lean[1]) % len(CT_STYLES)],
    )


def _least_slope(intercept: float) -> float:
    """Give the slope below which even "absent" would be true more often than a rare finding is."""
    rarest = min(rate["prevalence"] for rate in hospital()["rates"].values())
    return round(float((logit(_ROOM * rarest) - intercept) / phrase_logits().min()), 4)


def _chance(reader: Reader) -> FloatArray:
    curve = expit(reader.intercept + reader.slope * phrase_logits())
    table = np.tile(curve, (len(wording().pathologies), 1))
    for habit in reader.habits:
        table[habit.pathology, habit.phrase] = habit.probability
    return np.asarray(table, dtype=np.float64)


def _tilted(weights: FloatArray, tilt: FloatArray) -> FloatArray:
    usage = weights * np.exp(tilt[:, None] * phrase_logits())
    return np.asarray(usage / usage.sum(axis=1, keepdims=True), dtype=np.float64)


def _usage(reader: Reader, chance: FloatArray) -> FloatArray:
    """Tilt the favourites by bisection until each pathology has its prevalence."""
    rates = hospital()["rates"]
    wanted = np.array([rates[p.name]["prevalence"] for p in wording().pathologies])
    weights = np.tile(reader.favourites, (wanted.size, 1))
    for habit in reader.habits:
        weights[habit.pathology, habit.phrase] *= habit.boost

    def is_too_low(tilt: FloatArray) -> NDArray[np.bool_]:
        return np.asarray((_tilted(weights, tilt) * chance).sum(axis=1) < wanted)

    low, high = np.full(wanted.size, -2.0), np.full(wanted.size, 2.0)
    for _ in range(_DOUBLINGS):  # a reader with strong habits may need a stronger tilt
        low = np.where(is_too_low(low), low, 2.0 * low)
        high = np.where(is_too_low(high), 2.0 * high, high)
    for _ in range(60):
        middle = (low + high) / 2.0
        too_low = is_too_low(middle)
        low, high = np.where(too_low, middle, low), np.where(too_low, high, middle)
    return _tilted(weights, (low + high) / 2.0)


def draw_staff(readers: int, *, rng: np.random.Generator) -> Staff:
    """Draw readers of the declared kinds, with names that no two of them share."""
    people = draw_people(readers, rng=rng, given=names()["given"], family=names()["family"])
    drawn = tuple(_reader(i, person, rng) for i, person in enumerate(people))
    chance = np.stack([_chance(r) for r in drawn])
    usage = np.stack([_usage(r, c) for r, c in zip(drawn, chance, strict=True)])
    return Staff(drawn, chance, usage)


def projected_curve(chance: FloatArray, statements: FloatArray) -> tuple[float, float]:
    """Intercept and slope of the logistic curve nearest to a reader's true rates.

    Minimises the expected log loss over (pathology, phrase) cells by Newton steps of at most 1.
    Equals the declared pair for a reader without habits; with a habit it is what a logistic fit
    estimates.

    Parameters
    ----------
    chance
        P(CT present | pathology, phrase), shape (P, K).
    statements
        How often each cell was stated (counts or shares), shape (P, K).
    """
    design = np.stack([np.ones_like(phrase_logits()), phrase_logits()])
    stated, positive = statements.sum(axis=0), (statements * chance).sum(axis=0)
    beta = np.zeros(2)
    for _ in range(100):
        p = expit(beta @ design)
        gradient = design @ (positive - stated * p)
        hessian = (design * (stated * p * (1.0 - p))) @ design.T
        step = np.linalg.solve(hessian, gradient)
        beta += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-12:
            break
    return float(beta[0]), float(beta[1])
