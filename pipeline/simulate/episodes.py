"""Episodes: who was imaged when, and which episodes pairing must set aside.

An episode is one visit of a patient with up to one scored X-ray and one CT. Episodes of a patient
are at least six days apart, so exams of different episodes never pair. Counters are spaced by
chunk so that numbers never repeat across the chunks of a long simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from calibration.arrays import IntArray
from pipeline.simulate.lexicon import hospital
from pipeline.simulate.people import Person, draw_people, patient_number

EXCLUDED: Final = (
    "xr_only", "ct_only", "ct_before_xr", "ct_too_late", "minor", "signed_after_ct",
    "other_body_part",
)  # fmt: skip
"""Kinds of episode that hold no eligible pair; the reason given in the truth."""

_WINDOW: Final = 12 * 60
_PATIENTS_PER_CHUNK: Final = 4096
_THRICE: Final = 3
"""Episodes of a patient whose exams are repeats, where a department has repeats."""


@dataclass(frozen=True, slots=True)
class Patient:
    """One invented patient."""

    person: Person
    patient_id: str
    female: bool
    birth: datetime
    site: int

    def age(self, when: datetime) -> int:
        """Completed years at a moment."""
        had_birthday = (when.month, when.day) >= (self.birth.month, self.birth.day)
        return when.year - self.birth.year - (not had_birthday)


@dataclass(frozen=True, slots=True)
class Episode:
    """One visit: times of the X-ray and of the CT that follows (or precedes) it."""

    kind: str
    patient: Patient
    patient_class: str
    xr_performed: datetime
    xr_signed: datetime
    ct_performed: datetime
    ct_signed: datetime


def draw_episodes(
    pairs: int, *, chunk: int, rng: np.random.Generator, repeated: float = 0.0
) -> list[Episode]:
    """Draw the episodes of one chunk: ``pairs`` eligible ones and the others beside them."""
    extras = hospital()["extras"]
    kinds = ["pair"] * pairs
    for kind in EXCLUDED:
        if kind != "minor":
            kinds += [kind] * int(rng.binomial(pairs, extras[kind]))
    kinds = [kinds[i] for i in rng.permutation(len(kinds))]
    minors = ["minor"] * int(rng.binomial(pairs, extras["minor"]))
    visits = visits_per_patient(len(kinds), repeated=repeated, rng=rng)
    owners = np.repeat(np.arange(len(visits)), visits)
    people = _patients(len(visits), chunk, first=0, minor=False, rng=rng)
    children = _patients(len(minors), chunk, first=len(visits), minor=True, rng=rng)
    days = np.concatenate(
        [_days(visits, rng), rng.integers(hospital()["days"] - 4, size=len(minors))]
    )
    return list(_timed(kinds + minors, [people[i] for i in owners] + children, days, rng))


def visits_per_patient(
    episodes: int, *, repeated: float = 0.0, rng: np.random.Generator
) -> IntArray:
    """Draw episodes per patient; they sum to ``episodes``.

    Parameters
    ----------
    repeated
        Share of episodes that belong to patients with three; 0 leaves the hospital's own share.
    """
    shares = {int(k): float(v) for k, v in hospital()["patients"]["episodes"].items()}
    if repeated:
        fewer = {k: v for k, v in shares.items() if k < _THRICE}
        seldom, mean = sum(fewer.values()), sum(k * v for k, v in fewer.items())
        threes = repeated * mean / (seldom * _THRICE * (1.0 - repeated) + repeated * mean)
        shares = {k: v / seldom * (1.0 - threes) for k, v in fewer.items()} | {_THRICE: threes}
    drawn = rng.choice(np.array(list(shares)), size=episodes, p=np.array(list(shares.values())))
    total = drawn.cumsum()
    last = int(np.searchsorted(total, episodes))
    kept = drawn[: last + 1].copy()
    kept[-1:] -= total[last : last + 1] - episodes
    return kept


def _days(visits: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the day of each episode; those of one patient are 6 to 100 days apart."""
    start = np.repeat(rng.integers(hospital()["days"] - 4, size=visits.size), visits)
    gap = np.repeat(rng.integers(6, 101, size=visits.size), visits)
    first = np.repeat(visits.cumsum() - visits, visits)
    order = np.arange(start.size) - first
    return np.asarray((start + order * gap) % (hospital()["days"] - 4), dtype=np.int64)


def _patients(
    count: int, chunk: int, *, first: int, minor: bool, rng: np.random.Generator
) -> list[Patient]:
    people = draw_people(count, rng)
    sites = hospital()["site"]
    site, female = rng.integers(len(sites), size=count), rng.random(count) < 0.5
    ages = rng.integers(2, 16, size=count) if minor else _adult_ages(count, rng)
    start = datetime.fromisoformat(hospital()["period_start"]).replace(tzinfo=UTC)
    born = ages * 365.25 + rng.integers(3, 360, size=count)
    return [
        Patient(
            person,
            patient_number(chunk * _PATIENTS_PER_CHUNK + first + i, sites[site[i]]["id_style"]),
            bool(female[i]),
            (start - timedelta(days=float(born[i]))).replace(hour=0),
            int(site[i]),
        )
        for i, person in enumerate(people)
    ]


def _adult_ages(count: int, rng: np.random.Generator) -> IntArray:
    ages = np.clip(rng.normal(63.0, 17.0, count), 18, 87).astype(np.int64)
    old = rng.random(count) < hospital()["patients"]["over_89"]
    return np.where(old, rng.integers(90, 102, size=count), ages)


def _intervals(kinds: list[str], rng: np.random.Generator) -> list[int]:
    """Return minutes from X-ray to CT, by kind of episode."""
    inside = np.clip(np.exp(rng.normal(np.log(180.0), 0.8, len(kinds))), 20, _WINDOW - 1)
    barely = rng.random(len(kinds)) < 0.3
    late = np.where(barely, rng.integers(1, 60, len(kinds)), rng.integers(60, 3600, len(kinds)))
    normal, kind = inside.astype(np.int64), np.array(kinds)
    early, over = kind == "ct_before_xr", kind == "ct_too_late"
    found: list[int] = np.select([early, over], [-normal, _WINDOW + late], normal).tolist()
    return found


def _timed(
    kinds: list[str], owners: list[Patient], days: IntArray, rng: np.random.Generator
) -> Iterator[Episode]:
    start = datetime.fromisoformat(hospital()["period_start"]).replace(tzinfo=UTC)
    n, classes = len(kinds), hospital()["patients"]["classes"]
    labels = rng.choice(list(classes), size=n, p=list(classes.values())).tolist()
    minutes, delays = rng.integers(1440, size=n).tolist(), rng.integers(5, 90, size=n).tolist()
    reading, intervals = rng.integers(20, 240, size=n).tolist(), _intervals(kinds, rng)
    for i, kind in enumerate(kinds):
        performed = start + timedelta(days=int(days[i]) + 1, minutes=minutes[i])
        ct = performed + timedelta(minutes=intervals[i])
        delay = delays[i]
        if kind == "signed_after_ct":
            delay = intervals[i] + delays[i]
        elif intervals[i] > 0:
            delay = min(delay, intervals[i] - 5)
        yield Episode(
            kind=kind,
            patient=owners[i],
            patient_class=labels[i],
            xr_performed=performed,
            xr_signed=performed + timedelta(minutes=delay),
            ct_performed=ct,
            ct_signed=ct + timedelta(minutes=reading[i]),
        )
