"""Readers whose calibration is known: their curve, their favourite phrases, their habits.

A reader who writes phrase k is right at the rate that the reader's kind declares, a named curve of
hedges (`department.CURVES`) or a line through all words,

    P(there | k) = expit(a + b · logit(clip(mean_k, .01, .99))),

scattered as the department says, except where a habit fixes the rate of one phrase for one
pathology. How often each phrase is written follows from the reader's favourites, tilted
exponentially in logit(mean_k) until the pathology's prevalence comes out right, so that every
reader sees the same patients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from calibration.arrays import BoolArray, FloatArray
from pipeline.simulate.cases import Practice
from pipeline.simulate.department import (
    CURVES,
    LEVELS,
    Department,
    Habit,
    Kind,
    phrase_logits,
    phrase_means,
)
from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.people import Person, draw_people
from pipeline.simulate.rates import hedged, long_run_rates, scattered

XRAY_STYLES = ("templated", "narrative", "terse", "capitals", "attested", "numbered")
"""How X-ray reports are dictated; each reader leans to one."""

CT_STYLES = ("structured", "translated", "terse", "capitals", "attested", "numbered")
"""How CT reports are dictated; each reader leans to one."""

_DOUBLINGS = 4
"""How often the bounds of a tilt are doubled before it is sought between them."""

_ROOM = 0.95
"""Share of the rarest finding's prevalence that "absent" may be wrong in at most."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One radiologist: who, where, how busy, of which kind and with which habits."""

    reader_id: str
    person: Person
    site: int
    kind: Kind
    workload: float
    favourites: FloatArray
    habits: tuple[Habit, ...]
    xray_style: str
    ct_style: str


@dataclass(frozen=True, slots=True)
class Staff:
    """All readers, what they do, and how it is observed.

    Attributes
    ----------
    missed
        Share of each pathology that CT doesn't show, shape (P,).
    rates
        Expected CT label of each phrase in the long run, shape (R, P, K).
    """

    readers: tuple[Reader, ...]
    practice: Practice
    department: Department
    missed: FloatArray
    rates: FloatArray


def _favourites(rng: np.random.Generator) -> FloatArray:
    weights = hospital()["phrase_weights"]
    base = np.array([weights[p] for p in wording().phrases])
    liking = np.exp(rng.normal(0.0, 0.45, base.size))
    liking[rng.choice(np.arange(1, base.size - 1), size=2, replace=False)] *= 3.0
    liking[[0, -1]] = 1.0
    return np.asarray(base * liking, dtype=np.float64)


def _jittered(kind: Kind, rng: np.random.Generator) -> Kind:
    """Vary a kind a little from reader to reader; a well calibrated curve has nothing to vary."""
    shift, turn = rng.normal(0.0, (0.05, 0.04))
    if kind.curve is not None:
        return kind.model_copy(update={"amount": round(kind.amount * (1.0 + turn), 4)})
    intercept = round(kind.intercept + shift, 4)
    slope = max(round(kind.slope + turn, 4), _least_slope(intercept))
    return kind.model_copy(update={"intercept": intercept, "slope": slope})


def _reader(
    number: int, person: Person, department: Department, rng: np.random.Generator
) -> Reader:
    kind = _jittered(department.kind[number % len(department.kind)], rng)
    place = number % department.habits_repeat
    lean = rng.integers(len(XRAY_STYLES)), rng.integers(len(CT_STYLES))
    return Reader(
        reader_id=f"u{410000 + 137 * number + int(rng.integers(100))}",
        person=person,
        site=number % len(hospital()["site"]),
        kind=kind,
        workload=float(np.exp(rng.normal(0.0, 0.25))),
        favourites=_favourites(rng),
        habits=tuple(each for each in department.habit if each.reader == place),
        xray_style=XRAY_STYLES[(number + lean[0]) % len(XRAY_STYLES)],
        ct_style=CT_STYLES[(number + lean[1]) % len(CT_STYLES)],
    )


def _least_slope(intercept: float) -> float:
    """Give the slope below which even "absent" would be true more often than a rare finding is."""
    rarest = min(rate["prevalence"] for rate in hospital()["rates"].values())
    return round(float((logit(_ROOM * rarest) - intercept) / phrase_logits().min()), 4)


def _declared(kind: Kind) -> FloatArray:
    """Return how often each phrase (K,) of a kind of reader holds, before anything scatters."""
    if kind.curve is None:
        return np.asarray(expit(kind.intercept + kind.slope * phrase_logits()), dtype=np.float64)
    means = np.clip(phrase_means(), *LEVELS)
    return np.where(hedged(phrase_means()), CURVES[kind.curve].rates(means, kind.amount), means)


def _chance(
    readers: tuple[Reader, ...], department: Department, rng: np.random.Generator
) -> FloatArray:
    """Draw P(there | reader, pathology, phrase), shape (R, P, K)."""
    declared = np.stack([_declared(reader.kind) for reader in readers])
    chance = scattered(
        np.repeat(declared[:, None], len(wording().pathologies), axis=1),
        hedges=hedged(phrase_means()),
        mention=_shares("mention"),
        variation=department.variation,
        rng=rng,
    )
    for r, reader in enumerate(readers):
        for habit in reader.habits:
            chance[(r, *habit.cell)] = habit.probability
    return chance


def _shares(name: str) -> FloatArray:
    rates = hospital()["rates"]
    return np.array([rates[p.name][name] for p in wording().pathologies])


def _tilted(weights: FloatArray, tilt: FloatArray) -> FloatArray:
    usage = weights * np.exp(tilt[:, None] * phrase_logits())
    return np.asarray(usage / usage.sum(axis=1, keepdims=True), dtype=np.float64)


def _usage(reader: Reader, chance: FloatArray) -> FloatArray:
    """Tilt the favourites by bisection until each pathology has its prevalence."""
    wanted = _shares("prevalence")
    weights = np.tile(reader.favourites, (wanted.size, 1))
    for habit in reader.habits:
        weights[habit.cell] *= habit.boost

    def is_too_low(tilt: FloatArray) -> BoolArray:
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


def draw_staff(readers: int, *, department: Department, rng: np.random.Generator) -> Staff:
    """Draw readers of the department's kinds, with names that no two of them share."""
    people = draw_people(readers, rng)
    drawn = tuple(_reader(i, person, department, rng) for i, person in enumerate(people))
    chance = _chance(drawn, department, rng)
    usage = np.stack([_usage(r, c) for r, c in zip(drawn, chance, strict=True)])
    means = np.clip(phrase_means(), *LEVELS)
    practice = Practice(_shares("mention"), _shares("silent_prevalence"), usage, chance, means)
    most = np.full(usage.shape[1], 2.0 * department.observation.missed)
    missed = rng.uniform(0.0, most)
    rates = long_run_rates(practice, department.observation, missed[:, None], rng)
    return Staff(drawn, practice, department, missed, rates)
