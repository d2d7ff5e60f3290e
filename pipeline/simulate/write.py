"""Writing a simulation to disk in chunks: the export a pipeline may read, the truth it may not.

Files appear under their names only when complete. Bytes depend on the arguments alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import ConfigurationError
from pipeline.simulate.generator import Simulation
from pipeline.simulate.lexicon import hospital
from pipeline.simulate.truth import EXAM_COLUMNS, TABLES

__all__ = ["EXAM_FORMATS", "write_simulation"]

EXAM_FORMATS: Final = ("csv", "parquet", "jsonl")
"""Formats of the exams export."""

_TRUTH_FORMATS: Final = {
    "pairs": "parquet",
    "report_findings": "parquet",
    "outcomes": "parquet",
    "identifiers": "jsonl",
    "excluded": "parquet",
}
_FIXED: Final = ("readers", "habits", "swaps", "pathologies", "phrases")
_TYPES: Final = {
    "version": pa.int64(),
    "patient_age_years": pa.int64(),
    "interval_minutes": pa.int64(),
    "start": pa.int64(),
    "end": pa.int64(),
    "probability": pa.float64(),
    "label": pa.float64(),
    "distinctive": pa.bool_(),
}


class _Sink(Protocol):
    def append(self, frame: pd.DataFrame) -> None: ...
    def close(self) -> None: ...


def _type(column: str) -> Any:
    if column.endswith("_at"):
        return pa.timestamp("us", tz="UTC")
    return _TYPES.get(column, pa.string())


def _textual(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its times spelled as ISO 8601 with offset."""
    times = {
        str(c): frame[c].dt.strftime("%Y-%m-%dT%H:%M:%S+00:00")
        for c in frame
        if str(c).endswith("_at") and len(frame)
    }
    return frame.assign(**times)


class _Parquet:
    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self.schema = pa.schema([(c, _type(c)) for c in columns])
        self.writer = pq.ParquetWriter(path, self.schema, compression="zstd")

    def append(self, frame: pd.DataFrame) -> None:
        self.writer.write_table(
            pa.Table.from_pandas(frame, schema=self.schema, preserve_index=False)
        )

    def close(self) -> None:
        self.writer.close()


class _Csv:
    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self.handle = path.open("w", encoding="utf-8", newline="")
        pd.DataFrame(columns=list(columns)).to_csv(self.handle, index=False, lineterminator="\n")

    def append(self, frame: pd.DataFrame) -> None:
        _textual(frame).to_csv(self.handle, index=False, header=False, lineterminator="\n")

    def close(self) -> None:
        self.handle.close()


class _JsonLines:
    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self.handle = path.open("w", encoding="utf-8", newline="")
        self.columns = list(columns)

    def append(self, frame: pd.DataFrame) -> None:
        lines = _textual(frame[self.columns])
        lines.to_json(self.handle, orient="records", lines=True, force_ascii=False)

    def close(self) -> None:
        self.handle.close()


_SINKS: Final[dict[str, Callable[[Path, tuple[str, ...]], _Sink]]] = {
    "csv": _Csv,
    "parquet": _Parquet,
    "jsonl": _JsonLines,
}


class _Whole:
    """A sink whose file takes its name only when everything went well."""

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self.path, self.partial = path, path.with_name(f".{path.name}.{os.getpid()}.part")
        self.sink: _Sink = _SINKS[path.suffix[1:]](self.partial, columns)

    def __enter__(self) -> _Sink:
        return self.sink

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        self.sink.close()
        if kind is None:
            self.partial.replace(self.path)
        self.partial.unlink(missing_ok=True)


def write_simulation(
    chunks: Iterable[Simulation], out: Path, *, exams_format: str = "csv"
) -> dict[str, object]:
    """Write ``exams.*``, ``exam_codes.csv`` and ``truth/`` under a folder; return the counts.

    Raises
    ------
    ConfigurationError
        If the format is unknown or the folder cannot be written.
    """
    if exams_format not in EXAM_FORMATS:
        message = f"--exams-format {exams_format}: unknown; use {', '.join(EXAM_FORMATS)}."
        raise ConfigurationError(message)
    truth = out / "truth"
    try:
        truth.mkdir(parents=True, exist_ok=True)
        return _write(chunks, out, truth, exams_format)
    except OSError as error:
        message = f"{out}: cannot be written ({error.strerror}); choose another --out."
        raise ConfigurationError(message) from None


def _write(
    chunks: Iterable[Simulation], out: Path, truth: Path, exams_format: str
) -> dict[str, object]:
    counts: dict[str, int] = dict.fromkeys(("exams", *TABLES), 0)
    first: Simulation | None = None
    with ExitStack() as stack:
        exams = stack.enter_context(_Whole(out / f"exams.{exams_format}", EXAM_COLUMNS))
        sinks = {
            name: stack.enter_context(_Whole(truth / f"{name}.{_TRUTH_FORMATS[name]}", columns))
            for name, columns in TABLES.items()
        }
        for chunk in chunks:
            first = first or chunk
            exams.append(chunk.exams)
            counts["exams"] += len(chunk.exams)
            for name, sink in sinks.items():
                frame = getattr(chunk.truth, name)
                sink.append(frame)
                counts[name] += len(frame)
    if first is not None:
        _write_fixed(first, out, truth)
    (truth / "counts.json").write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    return dict(counts)


def _write_fixed(first: Simulation, out: Path, truth: Path) -> None:
    for name in _FIXED:
        path = truth / f"{name}.csv"
        getattr(first.truth, name).to_csv(path, index=False, lineterminator="\n")
    declared = first.truth.department.model_dump_json(indent=1) + "\n"
    (truth / "department.json").write_text(declared, encoding="utf-8")
    codes = pd.DataFrame(hospital()["exam"])[["code", "name", "modality", "chest"]]
    codes.columns = pd.Index(["exam_code", "exam_name", "modality", "chest"])
    codes.to_csv(out / "exam_codes.csv", index=False, lineterminator="\n")
