"""The simulated hospital at work: episodes in, exams with texts and their truth out.

Chunks of a fixed number of pairs are drawn from seeds of their own, so a simulation of any size
runs in flat memory and is the same whether it is taken in one piece or chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.errors import ConfigurationError
from pipeline.simulate.draws import draw_ct, draw_phrases, intended, label_of
from pipeline.simulate.episodes import Episode, draw_episodes
from pipeline.simulate.lexicon import hospital, names, wording
from pipeline.simulate.people import Person, draw_people
from pipeline.simulate.readers import CT_STYLES, XRAY_STYLES, Reader, Staff, draw_staff
from pipeline.simulate.scribe import NUMBERS_PER_CHUNK, Order, Scribe
from pipeline.simulate.sentences import Cell
from pipeline.simulate.truth import TABLES, Ledger, Truth, fixed_tables

__all__ = ["Simulation", "simulate", "simulate_chunks"]

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]

_STYLE_LOYALTY: Final = 0.7
_NO_XRAY: Final = ("ct_only",)
_NO_CT: Final = ("xr_only",)


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


@dataclass(frozen=True, slots=True)
class _Draws:
    """Everything drawn for the episodes of a chunk; arrays are (N,) or (N, P), see draws.py."""

    xr_reader: IntArray
    ct_reader: IntArray
    phrase: IntArray
    probability: FloatArray
    ct: IntArray
    label: FloatArray
    versions: Mapping[str, NDArray[np.bool_]]


def simulate(*, pairs: int, readers: int, seed: int) -> Simulation:
    """Simulate a hospital in one piece.

    Parameters
    ----------
    pairs
        Eligible X-ray/CT pairs; about 1.3 times as many episodes are simulated around them.
    readers
        Radiologists, each with a curve of its own.
    seed
        The same seed gives the same bytes.

    Raises
    ------
    ConfigurationError
        If a number is too small.
    """
    chunks = list(simulate_chunks(pairs=pairs, readers=readers, seed=seed))
    first = chunks[0].truth
    if len(chunks) == 1:
        return chunks[0]
    joined = {
        name: pd.concat([getattr(c.truth, name) for c in chunks], ignore_index=True)
        for name in TABLES
    }
    exams = pd.concat([c.exams for c in chunks], ignore_index=True)
    return Simulation(exams, replace(first, **joined))


def simulate_chunks(*, pairs: int, readers: int, seed: int) -> Iterator[Simulation]:
    """Simulate a hospital piece by piece, in flat memory; see :func:`simulate`."""
    wrong = [
        f"{name} is {value}, needs at least {least}"
        for name, value, least in (("pairs", pairs, 1), ("readers", readers, 1), ("seed", seed, 0))
        if value < least
    ]
    if wrong:
        message = f"simulate: {'; '.join(wrong)}."
        raise ConfigurationError(message)
    return _chunks(pairs, readers, seed)


def _chunks(pairs: int, readers: int, seed: int) -> Iterator[Simulation]:
    house, size = _house(readers, seed), hospital()["chunk_pairs"]
    for index, start in enumerate(range(0, pairs, size)):
        yield _chunk(min(size, pairs - start), index, house, seed)


def _house(readers: int, seed: int) -> _House:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    staff = draw_staff(readers, rng=rng)
    given, family = names()["given"], names()["family"]
    referring = draw_people(60, rng=rng, given=given, family=family)
    trainees = draw_people(14, rng=rng, given=given, family=family)
    return _House(staff, referring, trainees, fixed_tables(staff))


def _chunk(pairs: int, index: int, house: _House, seed: int) -> Simulation:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, index)))
    episodes = draw_episodes(pairs, chunk=index, rng=rng)
    draws = _draw(episodes, house.staff, rng)
    scribe = Scribe(
        referring=house.referring,
        trainees=house.trainees,
        rng=Random(int(rng.integers(2**62))),  # noqa: S311 - invented text, not a secret
        counter=index * NUMBERS_PER_CHUNK,
        ledger=Ledger(),
    )
    for i, episode in enumerate(episodes):
        _visit(i, episode, draws, house.staff, scribe)
    exams, tables = scribe.ledger.frames()
    return Simulation(exams, Truth(**tables, **house.fixed))


def _draw(episodes: Sequence[Episode], staff: Staff, rng: np.random.Generator) -> _Draws:
    site = np.array([e.patient.site for e in episodes], dtype=np.int64)
    xr_reader = _assigned(site, staff, rng, avoid=None)
    phrase = draw_phrases(xr_reader, staff=staff, rng=rng)
    phrase[[e.kind in _NO_XRAY for e in episodes]] = -1
    probability = intended(phrase, xr_reader, staff=staff)
    ct = draw_ct(probability, rng=rng)
    effusion = [p.name for p in wording().pathologies].index("pleural effusion")
    ct[(ct < 0).all(axis=1), effusion] = 0
    is_pair = np.array([e.kind == "pair" for e in episodes])
    versions = {
        name: is_pair & (rng.random(len(episodes)) < share)
        for name, share in hospital()["versions"].items()
    }
    ct_reader = _assigned(site, staff, rng, avoid=xr_reader)
    return _Draws(xr_reader, ct_reader, phrase, probability, ct, label_of(ct), versions)


def _assigned(
    site: IntArray, staff: Staff, rng: np.random.Generator, *, avoid: IntArray | None
) -> IntArray:
    """Assign readers by workload, mostly of the exam's own site; never ``avoid`` if possible."""
    load = np.array([r.workload for r in staff.readers])
    home = np.array([r.site for r in staff.readers])
    weight = load * np.where(home == site[:, None], 4.0, 1.0)
    if avoid is not None and load.size > 1:
        weight[np.arange(site.size), avoid] = 0.0
    cumulative = weight.cumsum(axis=1)
    u = rng.random(site.size) * cumulative[:, -1]
    return np.asarray((u[:, None] >= cumulative).sum(axis=1), dtype=np.int64)


def _cells(row: IntArray) -> list[Cell]:
    return [(p, k) for p, k in enumerate(row.tolist()) if k >= 0]


def _style(reader: Reader, modality: str, scribe: Scribe) -> str:
    own, styles = (
        (reader.xray_style, XRAY_STYLES) if modality == "XR" else (reader.ct_style, CT_STYLES)
    )
    return own if scribe.rng.random() < _STYLE_LOYALTY else scribe.rng.choice(styles)


def _exam(modality: str, scribe: Scribe, *, chest: bool = True) -> Mapping[str, Any]:
    fitting = [e for e in hospital()["exam"] if e["modality"] == modality and e["chest"] == chest]
    chosen: Mapping[str, Any] = scribe.rng.choice(fitting)
    return chosen


def _visit(i: int, episode: Episode, draws: _Draws, staff: Staff, scribe: Scribe) -> None:
    """Write the exams of one episode and its row in the truth."""
    odd = scribe.rng.random() < 0.5 if episode.kind == "other_body_part" else None
    written: list[tuple[Order, str]] = []
    if episode.kind not in _NO_XRAY:
        reader = staff.readers[draws.xr_reader[i]]
        written.append(_xray(i, episode, draws, reader, scribe, chest=odd is not True))
    if episode.kind not in _NO_CT:
        reader = staff.readers[draws.ct_reader[i]]
        written.append(_ct(i, episode, draws, reader, scribe, chest=odd is not False))
    if episode.kind == "pair":
        _note_pair(i, episode, draws, written, scribe)
        _after(i, episode, draws, written, staff, scribe)
        return
    for order, exam_id in written:
        scribe.exclude(order, exam_id, episode.kind)


def _xray(
    i: int, episode: Episode, draws: _Draws, reader: Reader, scribe: Scribe, *, chest: bool
) -> tuple[Order, str]:
    order = scribe.order(
        episode.patient, patient_class=episode.patient_class,
        exam=_exam("XR", scribe, chest=chest), reader=reader, performed=episode.xr_performed,
    )  # fmt: skip
    if not chest:
        return order, scribe.other(order, signed=episode.xr_signed)
    cells, style = _cells(draws.phrase[i]), _style(reader, "XR", scribe)
    early = episode.xr_performed + timedelta(minutes=2)
    if draws.versions["prelim"][i]:
        scribe.chest(order, _revised(cells, scribe), style=style, signed=early, status="prelim")
        return order, scribe.chest(order, cells, style=style, signed=episode.xr_signed, version=2)
    if draws.versions["corrected"][i]:
        scribe.chest(order, _revised(cells, scribe), style=style, signed=early)
        signed = episode.xr_signed
        return order, scribe.chest(
            order, cells, style=style, signed=signed, status="corrected", version=2
        )
    return order, scribe.chest(order, cells, style=style, signed=episode.xr_signed)


def _ct(
    i: int, episode: Episode, draws: _Draws, reader: Reader, scribe: Scribe, *, chest: bool
) -> tuple[Order, str]:
    order = scribe.order(
        episode.patient, patient_class=episode.patient_class,
        exam=_exam("CT", scribe, chest=chest), reader=reader, performed=episode.ct_performed,
    )  # fmt: skip
    if not chest:
        return order, scribe.other(order, signed=episode.ct_signed)
    cells, style = _cells(draws.ct[i]), _style(reader, "CT", scribe)
    version = 1
    if draws.versions["ct_prelim"][i]:
        early = episode.ct_performed + timedelta(minutes=10)
        scribe.chest(order, _revised(cells, scribe), style=style, signed=early, status="prelim")
        version = 2
    signed = episode.ct_signed
    return order, scribe.chest(order, cells, style=style, signed=signed, version=version)


def _revised(cells: Sequence[Cell], scribe: Scribe) -> list[Cell]:
    """Return cells of an earlier version: one pathology worded with another certainty."""
    changed = int(scribe.rng.random() * len(cells))
    other = 1 + int(scribe.rng.random() * (len(wording().phrases) - 1))
    return [(p, other if n == changed else k) for n, (p, k) in enumerate(cells)]


def _note_pair(
    i: int,
    episode: Episode,
    draws: _Draws,
    written: Sequence[tuple[Order, str]],
    scribe: Scribe,
) -> None:
    (xr, xr_id), (ct, ct_id) = written
    words, rows = wording(), scribe.ledger.rows
    patient = episode.patient
    rows["pairs"].append((
        xr_id, xr.accession, ct_id, ct.accession, patient.patient_id, xr.reader.reader_id,
        ct.reader.reader_id, episode.xr_performed, episode.ct_performed,
        (episode.ct_performed - episode.xr_performed) // timedelta(minutes=1),
        hospital()["site"][patient.site]["name"], episode.patient_class,
        patient.age(episode.xr_performed),
    ))  # fmt: skip
    for p, k in _cells(draws.phrase[i]):
        said = int(draws.ct[i, p])
        rows["outcomes"].append((
            xr_id, xr.accession, xr.reader.reader_id, words.pathologies[p].name, words.phrases[k],
            float(draws.probability[i, p]), words.phrases[said] if said >= 0 else None,
            float(draws.label[i, p]),
        ))  # fmt: skip


def _after(
    i: int,
    episode: Episode,
    draws: _Draws,
    written: Sequence[tuple[Order, str]],
    staff: Staff,
    scribe: Scribe,
) -> None:
    """Write what follows a pair: an addendum that leaks the answer, a second CT."""
    (xr, _), _ = written
    if draws.versions["addendum"][i]:
        present = len(wording().phrases) - 1
        leaked = [c for c in _cells(draws.ct[i]) if c[1] in (0, present)]
        version = 3 if draws.versions["prelim"][i] or draws.versions["corrected"][i] else 2
        scribe.addendum(xr, leaked, signed=episode.ct_signed + timedelta(hours=1), version=version)
    if draws.versions["second_ct"][i]:
        later = replace(
            episode,
            ct_performed=episode.ct_performed + timedelta(minutes=45),
            ct_signed=episode.ct_signed + timedelta(minutes=50),
        )
        none = replace(draws, versions={"ct_prelim": np.zeros(draws.ct.shape[0], dtype=bool)})
        again = _ct(i, later, none, staff.readers[draws.ct_reader[i]], scribe, chest=True)
        scribe.exclude(*again, "second_ct")
