"""The simulated hospital at work: episodes in, exams with texts and their truth out.

Chunks of a fixed number of pairs are drawn from seeds of their own, so a simulation of any size
runs in flat memory and is the same whether it is taken in one piece or chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pandas as pd

from pipeline.errors import ConfigurationError
from pipeline.simulate.department import DEFAULT, Department, load_department
from pipeline.simulate.episodes import draw_episodes
from pipeline.simulate.lexicon import hospital, names
from pipeline.simulate.people import Person, draw_people
from pipeline.simulate.readers import Staff, draw_staff
from pipeline.simulate.scribe import NUMBERS_PER_CHUNK, Scribe
from pipeline.simulate.truth import TABLES, Ledger, Truth, fixed_tables
from pipeline.simulate.visits import draw_cohort, write_visit

__all__ = ["Simulation", "simulate", "simulate_chunks"]


@dataclass(frozen=True, slots=True)
class Simulation:
    """Exams as a hospital would export them, and the truth behind them."""

    exams: pd.DataFrame
    truth: Truth


@dataclass(frozen=True, slots=True)
class _House:
    """People who are the same in every chunk, and the truth tables about them."""

    staff: Staff
    referring: Sequence[Person]
    trainees: Sequence[Person]
    fixed: Mapping[str, pd.DataFrame]


def simulate(
    *, pairs: int, readers: int, seed: int, department: str | Department = DEFAULT
) -> Simulation:
    """Simulate a hospital in one piece.

    Parameters
    ----------
    pairs
        Eligible X-ray/CT pairs; about 1.3 times as many episodes are simulated around them.
    readers
        Radiologists, each with a curve of its own.
    seed
        The same seed gives the same bytes.
    department
        Kinds of readers and how they are observed: a shipped name, a TOML file, or a declaration.

    Raises
    ------
    ConfigurationError
        If a number is too small or there is no such department.
    """
    chunks = list(simulate_chunks(pairs=pairs, readers=readers, seed=seed, department=department))
    first = chunks[0].truth
    if len(chunks) == 1:
        return chunks[0]
    joined = {
        name: pd.concat([getattr(c.truth, name) for c in chunks], ignore_index=True)
        for name in TABLES
    }
    exams = pd.concat([c.exams for c in chunks], ignore_index=True)
    return Simulation(exams, replace(first, **joined))


def simulate_chunks(
    *, pairs: int, readers: int, seed: int, department: str | Department = DEFAULT
) -> Iterator[Simulation]:
    """Simulate a hospital piece by piece, in flat memory; see :func:`simulate`."""
    wrong = [
        f"{name} is {value}, needs at least {least}"
        for name, value, least in (("pairs", pairs, 1), ("readers", readers, 1), ("seed", seed, 0))
        if value < least
    ]
    if wrong:
        message = f"simulate: {'; '.join(wrong)}."
        raise ConfigurationError(message)
    chosen = load_department(department) if isinstance(department, str) else department
    return _chunks(pairs, _house(readers, seed, chosen), seed)


def _chunks(pairs: int, house: _House, seed: int) -> Iterator[Simulation]:
    size = hospital()["chunk_pairs"]
    for index, start in enumerate(range(0, pairs, size)):
        yield _chunk(min(size, pairs - start), index, house, seed)


def _house(readers: int, seed: int, department: Department) -> _House:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    staff = draw_staff(readers, department=department, rng=rng)
    given, family = names()["given"], names()["family"]
    referring = draw_people(60, rng=rng, given=given, family=family)
    trainees = draw_people(14, rng=rng, given=given, family=family)
    return _House(staff, referring, trainees, fixed_tables(staff))


def _chunk(pairs: int, index: int, house: _House, seed: int) -> Simulation:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, index)))
    episodes = draw_episodes(
        pairs, chunk=index, repeated=house.staff.department.observation.repeated, rng=rng
    )
    cohort = draw_cohort(episodes, house.staff, rng)
    scribe = Scribe(
        referring=house.referring,
        trainees=house.trainees,
        rng=Random(int(rng.integers(2**62))),  # noqa: S311 - invented text, not a secret
        counter=index * NUMBERS_PER_CHUNK,
        ledger=Ledger(),
    )
    for i, episode in enumerate(episodes):
        write_visit(i, episode, cohort, house.staff, scribe)
    exams, tables = scribe.ledger.frames()
    return Simulation(exams, Truth(**tables, **house.fixed, department=house.staff.department))
