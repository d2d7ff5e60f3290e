"""Table exports (CSV, Parquet, JSON lines) → exams, in batches, through a column map.

Every row comes out once: as an exam, or as a quarantine row where the record itself is broken
(wrong number of fields, not JSON). Rows are counted from 1, the header not counted.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import InputError
from pipeline.formats.exams import EXAM_COLUMNS, OPTIONAL_COLUMNS, ExamBatch, quarantine_rows

__all__ = ["NEEDED", "TableOptions", "read"]

NEEDED: Final[Mapping[str, str]] = {
    "accession": "the exam's accession number",
    "patient_id": "the patient's identifier",
    "reader_id": "who signed the report",
    "modality": "XR or CT, or your own words for them",
    "performed_at": "when the exam was performed",
    "signed_at": "when this version of the report was signed",
    "text": "the report",
}
"""Columns without which no exam can be used, and what they hold."""

Record = tuple[int, Mapping[str, object] | str]
"""A row's number, and its cells by the source's names or the reason why it has none."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How to read a table: its encoding, our column → theirs, and rows in a batch."""

    encoding: str = "utf-8"
    columns: Mapping[str, str] = field(default_factory=dict)
    batch_rows: int = 1000


def read(source: Path, options: TableOptions) -> Iterator[ExamBatch]:
    """Read an export in batches.

    Raises
    ------
    InputError
        If the file is missing, empty, of another kind, undecodable, or lacks a needed column.
    """
    opener = _RECORDS.get(source.suffix.lower())
    if opener is None:
        msg = f"{source.name}: unknown kind of export; known: {', '.join(_RECORDS)}."
        raise InputError(msg)
    if not source.is_file():
        msg = f"{source}: no such file."
        raise InputError(msg)
    if source.stat().st_size == 0:
        msg = f"{source.name}: the file is empty."
        raise InputError(msg)
    try:
        records = iter(opener(source, options))
        while batch := list(islice(records, options.batch_rows)):
            yield _batch(source.name, batch, options)
    except UnicodeDecodeError as error:
        msg = (
            f"{source.name}: not valid {options.encoding} at byte {error.start} of a block. "
            'Set [input] encoding, for example "cp1252".'
        )
        raise InputError(msg) from None
    except (csv.Error, pa.ArrowInvalid, LookupError) as error:
        msg = f"{source.name}: cannot be read ({type(error).__name__})."
        raise InputError(msg) from None


def _csv_records(source: Path, options: TableOptions) -> Iterator[Record]:
    csv.field_size_limit(2**31 - 1)
    encoding = "utf-8-sig" if options.encoding.lower() in ("utf-8", "utf8") else options.encoding
    with source.open(encoding=encoding, newline="") as handle:
        rows = csv.reader(handle)
        header = next(rows, [])
        _require(source.name, header, options)
        for number, row in enumerate((row for row in rows if row), start=1):
            complete = len(row) == len(header)
            yield number, dict(zip(header, row, strict=True)) if complete else "wrong_field_count"


def _jsonl_records(source: Path, options: TableOptions) -> Iterator[Record]:
    with source.open(encoding=options.encoding) as handle:
        for number, line in enumerate((line for line in handle if line.strip()), start=1):
            try:
                record = json.loads(line)
            except ValueError:
                yield number, "not_json"
                continue
            if number == 1 and isinstance(record, dict):
                _require(source.name, list(record), options)
            yield number, record if isinstance(record, dict) else "not_json"


def _parquet_records(source: Path, options: TableOptions) -> Iterator[Record]:
    with pq.ParquetFile(source) as file:
        _require(source.name, file.schema_arrow.names, options)
        number = 0
        for batch in file.iter_batches(batch_size=options.batch_rows):
            for record in batch.to_pylist():
                number += 1
                yield number, record


_RECORDS: Final = {".csv": _csv_records, ".jsonl": _jsonl_records, ".parquet": _parquet_records}


def _require(source: str, names: Sequence[str], options: TableOptions) -> None:
    missing = {c: why for c, why in NEEDED.items() if options.columns.get(c, c) not in names}
    if missing:
        wanted = "; ".join(f"{c!r} ({why})" for c, why in missing.items())
        msg = (
            f"{source}: {len(missing)} needed column(s) missing: {wanted}. The file has: "
            f"{', '.join(names)}. Map yours under [input.columns]."
        )
        raise InputError(msg)


def _batch(source: str, records: Iterable[Record], options: TableOptions) -> ExamBatch:
    names = {c: options.columns.get(c, c) for c in (*EXAM_COLUMNS, *OPTIONAL_COLUMNS)}
    good: list[dict[str, object]] = []
    bad: dict[str, list[int]] = {}
    for number, cells in records:
        if isinstance(cells, str):
            bad.setdefault(cells, []).append(number)
        else:
            exam: dict[str, object] = {c: _text(cells.get(n)) for c, n in names.items()}
            good.append({**exam, "source_row": number})
    exams = pd.DataFrame(good, columns=[*names, "source_row"])
    exams = exams.astype({**dict.fromkeys(names, "str"), "source_row": "int64"})
    set_aside = [quarantine_rows(source, rows, reason) for reason, rows in bad.items()]
    empty = quarantine_rows(source, [], "")
    return ExamBatch(exams, pd.concat(set_aside, ignore_index=True) if set_aside else empty)


def _text(value: object) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
