"""The simulated hospital at work: episodes in, exams with texts and their truth out, and onto disk.

Chunks of a fixed number of pairs are drawn from seeds of their own, so a simulation of any size
runs in flat memory and is the same whether it is taken in one piece or chunk by chunk.

Files appear under their names only when complete. Bytes depend on the arguments alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final, TextIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import ConfigurationError
from pipeline.simulate.department import DEFAULT, Department, load_department
from pipeline.simulate.episodes import draw_episodes
from pipeline.simulate.lexicon import hospital, load
from pipeline.simulate.people import Person, draw_people
from pipeline.simulate.readers import Staff, draw_staff
from pipeline.simulate.scribe import NUMBERS_PER_CHUNK, Scribe
from pipeline.simulate.truth import EXAM_COLUMNS, TABLES, Ledger, Truth, fixed_tables
from pipeline.simulate.visits import draw_cohort, write_visit
from pipeline.store.files import replacing


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
        Eligible X-ray/CT pairs, 1 or more; about 1.3 times as many episodes are simulated.
    readers
        Radiologists, 1 or more, each with a curve of its own.
    seed
        The same seed gives the same bytes.
    department
        Kinds of readers and how they are observed: a shipped name, a TOML file, or a declaration.

    Raises
    ------
    ConfigurationError
        If there is no such department.
    """
    chunks = list(simulate_chunks(pairs=pairs, readers=readers, seed=seed, department=department))
    joined = {
        name: pd.concat([getattr(c.truth, name) for c in chunks], ignore_index=True)
        for name in TABLES
    }
    exams = pd.concat([c.exams for c in chunks], ignore_index=True)
    return Simulation(exams, replace(chunks[0].truth, **joined))


def simulate_chunks(
    *, pairs: int, readers: int, seed: int, department: str | Department = DEFAULT
) -> Iterator[Simulation]:
    """Simulate a hospital piece by piece, in flat memory; see :func:`simulate`."""
    chosen = load_department(department) if isinstance(department, str) else department
    house, size = _house(readers, seed, chosen), hospital()["chunk_pairs"]
    starts = enumerate(range(0, pairs, size))
    return (_chunk(min(size, pairs - start), index, house, seed) for index, start in starts)


def _house(readers: int, seed: int, department: Department) -> _House:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    staff = draw_staff(readers, department=department, rng=rng)
    referring, trainees = draw_people(60, rng), draw_people(14, rng)
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


_FIXED: Final = ("readers", "habits", "swaps", "pathologies", "phrases")
_TYPES: Final = {name: of for of, names in load("tables")["types"].items() for name in names}


def _type(column: str) -> Any:
    if column.endswith("_at"):
        return pa.timestamp("us", tz="UTC")
    return pa.type_for_alias(_TYPES.get(column, "string"))


def _textual(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its times spelled as ISO 8601 with offset."""
    times = {
        str(c): frame[c].dt.strftime("%Y-%m-%dT%H:%M:%S+00:00")
        for c in frame
        if str(c).endswith("_at") and len(frame)
    }
    return frame.assign(**times)


@contextmanager
def _appending(path: Path, columns: tuple[str, ...]) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Give what appends to a file that takes its name only when everything went well."""
    with replacing(path) as partial:
        if path.suffix == ".parquet":
            schema = pa.schema([(c, _type(c)) for c in columns])
            with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
                yield lambda frame: writer.write_table(
                    pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
                )
            return
        with partial.open("w", encoding="utf-8", newline="") as file:
            _rows(pd.DataFrame(columns=list(columns)), file, header=True)
            yield lambda frame: _rows(_textual(frame), file, header=False)


def _rows(frame: pd.DataFrame, file: TextIO, *, header: bool) -> None:
    frame.to_csv(file, index=False, header=header, lineterminator="\n")


def write_simulation(chunks: Iterable[Simulation], out: Path) -> dict[str, object]:
    """Write ``exams.csv``, ``exam_codes.csv`` and ``truth/`` under a folder; return the counts.

    Raises
    ------
    ConfigurationError
        If the folder cannot be written.
    """
    truth = out / "truth"
    try:
        truth.mkdir(parents=True, exist_ok=True)
        return _write(chunks, out, truth)
    except OSError as error:
        raise ConfigurationError(
            f"{out}: cannot be written ({error.strerror}); choose another --out."
        ) from None


def _write(chunks: Iterable[Simulation], out: Path, truth: Path) -> dict[str, object]:
    files = {n: (truth / f"{n}.parquet", columns) for n, columns in TABLES.items()}
    files = {"exams": (out / "exams.csv", EXAM_COLUMNS), **files}
    counts, first = dict.fromkeys(files, 0), None
    with ExitStack() as stack:
        opened = {name: stack.enter_context(_appending(*file)) for name, file in files.items()}
        for chunk in chunks:
            first = first or chunk
            for name, append in opened.items():
                frame = chunk.exams if name == "exams" else getattr(chunk.truth, name)
                append(frame)
                counts[name] += len(frame)
    if first is not None:
        _write_fixed(first, out, truth)
    (truth / "counts.json").write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    return dict(counts)


def _write_fixed(first: Simulation, out: Path, truth: Path) -> None:
    for name in _FIXED:
        getattr(first.truth, name).to_csv(truth / f"{name}.csv", index=False, lineterminator="\n")
    declared = first.truth.department.model_dump_json(indent=1) + "\n"
    (truth / "department.json").write_text(declared, encoding="utf-8")
    codes = pd.DataFrame(hospital()["exam"])[["code", "name", "modality", "chest"]]
    codes.columns = pd.Index(["exam_code", "exam_name", "modality", "chest"])
    codes.to_csv(out / "exam_codes.csv", index=False, lineterminator="\n")
