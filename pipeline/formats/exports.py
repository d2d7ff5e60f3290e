"""Table exports (CSV, Parquet, JSON lines) → exams, in batches, through a column map.

Every row comes out once: as an exam, or as a quarantine row where the record itself is broken
(wrong number of fields, not JSON). Rows are counted from 1, the header not counted. Byte order
marks, UTF-16, cp1252, gzip, and the delimiters comma, semicolon, tab and bar are recognised.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import InputError
from pipeline.files import suffix_of
from pipeline.formats.attachments import text_in_cell, text_of_bytes
from pipeline.formats.decoding import AUTO, FALLBACK, Lines, opened_lines
from pipeline.formats.delimited import delimiter_of, records
from pipeline.formats.exams import EXAM_COLUMNS, OPTIONAL_COLUMNS, ExamBatch, quarantine_rows
from pipeline.formats.people import person_from_text
from pipeline.formats.rows import SetAside
from pipeline.formats.tables import shown_names
from pipeline.formats.values import modality_of

__all__ = ["NEEDED", "TableOptions", "missing_columns", "named_reader", "read"]

_T = TypeVar("_T")

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
_STAND_INS: Final[Mapping[str, tuple[str, ...]]] = {
    "reader_id": ("reader_name",),
    "modality": ("exam_code", "exam_name"),
}
"""Needed column → columns of which any can stand in for it."""


class Record(NamedTuple):
    """A row's number, its cells by the source's names or the reason why it has none.

    `decoded_as` names the encoding where it is not the one the row should be in.
    """

    number: int
    cells: Mapping[str, object] | str
    decoded_as: str = ""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How to read a table: its encoding, our column → theirs, and rows in a batch.

    ``encoding`` "auto" finds it out; ``exam_codes`` maps exam code → modality, for rows without
    one; ``kind`` is "csv", "jsonl" or "parquet"; '' goes by the
    file's extension.
    """

    encoding: str = AUTO
    exam_codes: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    batch_rows: int = 1000
    kind: str = ""


def read(source: Path, options: TableOptions) -> Iterator[ExamBatch]:
    """Read an export in batches.

    Raises
    ------
    InputError
        If the file is missing, empty, of another kind, undecodable, or lacks a needed column.
    """
    kind = f".{options.kind}" if options.kind else suffix_of(source)
    opener = _RECORDS.get(".csv" if kind == ".tsv" else kind)
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
        remaining = iter(opener(source, options))
        while batch := list(islice(remaining, options.batch_rows)):
            yield _batch(source.name, batch, options)
    except UnicodeDecodeError as error:
        msg = (
            f"{source.name}: not valid {options.encoding} at byte {error.start} of a block. "
            'Leave [input] encoding at "auto", or name the one it was exported in.'
        )
        raise InputError(msg) from None
    except (csv.Error, pa.ArrowException, LookupError, UnicodeError, OSError) as error:
        msg = f"{source.name}: cannot be read ({type(error).__name__})."
        raise InputError(msg) from None


def _csv_records(source: Path, options: TableOptions) -> Iterator[Record]:
    with opened_lines(source, options.encoding) as handle:
        lines = (line for line in handle if line.strip("\r\n \t"))
        first = next(lines, "")
        delimiter = delimiter_of(first, _theirs(options))
        if first.casefold().startswith("sep="):
            first = next(lines, "")
        (header,) = csv.reader([first], delimiter=delimiter)
        header = [name.strip() for name in header]
        _require(source.name, header, options)
        rows = records(handle, delimiter=delimiter, width=len(header))
        for number, (row, decoded_as) in enumerate(_told(rows, handle), start=1):
            cells = row if isinstance(row, str) else dict(zip(header, row, strict=True))
            yield Record(number, cells, decoded_as)


def _jsonl_records(source: Path, options: TableOptions) -> Iterator[Record]:
    with opened_lines(source, options.encoding) as handle:
        lines = _told((line for line in handle if line.strip()), handle)
        for number, (line, decoded_as) in enumerate(lines, start=1):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                yield Record(number, "not_json")
                continue
            if number == 1 and isinstance(record, dict):
                _require(source.name, list(record), options)
            cells = record if isinstance(record, dict) else "not_json"
            yield Record(number, cells, decoded_as)


def _parquet_records(source: Path, options: TableOptions) -> Iterator[Record]:
    with pq.ParquetFile(source) as file:
        names = file.schema_arrow.names
        _require(source.name, names, options)
        used = [name for name in _theirs(options) if name in names]
        number = 0
        for batch in file.iter_batches(batch_size=options.batch_rows, columns=used):
            for record in batch.to_pylist():
                number += 1
                yield Record(number, record)


def _told(read: Iterable[_T], lines: Lines) -> Iterator[tuple[_T, str]]:
    """Say of each thing read from lines whether any of them was read as cp1252."""
    before = lines.foreign
    for each in read:
        yield each, FALLBACK if lines.foreign > before else ""
        before = lines.foreign


_RECORDS: Final = {".csv": _csv_records, ".jsonl": _jsonl_records, ".parquet": _parquet_records}


def _theirs(options: TableOptions) -> list[str]:
    """Give the names of the columns we use, as the source has them."""
    return [options.columns.get(name, name) for name in (*EXAM_COLUMNS, *OPTIONAL_COLUMNS)]


def missing_columns(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Give the needed columns that a source lacks, nor has another to stand in, and their use."""
    has = {ours for ours in (*EXAM_COLUMNS, *OPTIONAL_COLUMNS) if columns.get(ours, ours) in names}
    return {
        ours: why
        for ours, why in NEEDED.items()
        if ours not in has and not has & set(_STAND_INS.get(ours, ()))
    }


def named_reader(name: str) -> str:
    """Make a reader's key of the name, for a source that numbers nobody; '' for no name."""
    person = person_from_text(name)
    return person.key if person else ""


def _require(source: str, names: Sequence[str], options: TableOptions) -> None:
    missing = missing_columns(names, options.columns)
    if missing:
        wanted = "; ".join(f"{c!r} ({why})" for c, why in missing.items())
        msg = (
            f"{source}: {len(missing)} needed column(s) missing: {wanted}. The file has "
            f"{shown_names(names)}. Map yours under [input.columns]."
        )
        raise InputError(msg)
    twice = sorted({name for name in _theirs(options) if list(names).count(name) > 1})
    if twice:
        msg = (
            f"{source}: {len(twice)} column(s) stand in the header more than once: "
            f"{', '.join(twice)}. Rename all but one, or map another under [input.columns]."
        )
        raise InputError(msg)


def _batch(source: str, records: Iterable[Record], options: TableOptions) -> ExamBatch:
    names = {c: options.columns.get(c, c) for c in (*EXAM_COLUMNS, *OPTIONAL_COLUMNS)}
    good: list[dict[str, object]] = []
    bad: dict[str, list[int]] = {}
    for number, cells, decoded_as in records:
        if isinstance(cells, str):
            bad.setdefault(cells, []).append(number)
        else:
            exam: dict[str, object] = {c: _text(cells.get(n)) for c, n in names.items()}
            found = text_in_cell(str(exam["text"]))
            if isinstance(found, SetAside):
                bad.setdefault(found.reason, []).append(number)
                continue
            if not exam["modality"]:
                named = modality_of(str(exam["exam_name"]))
                exam["modality"] = options.exam_codes.get(str(exam["exam_code"]), "") or named
            if names["reader_id"] not in cells and names["reader_name"] in cells:
                exam["reader_id"] = named_reader(str(exam["reader_name"]))
            exam |= {"text": found[0], "text_form": found[1] if found[1] != "markup" else ""}
            good.append({**exam, "decoded_as": decoded_as, "source_row": number})
    texts = (*names, "decoded_as", "text_form")
    exams = pd.DataFrame(good, columns=[*texts, "source_row"])
    exams = exams.astype({**dict.fromkeys(texts, "str"), "source_row": "int64"})
    set_aside = [quarantine_rows(source, rows, reason) for reason, rows in bad.items()]
    empty = quarantine_rows(source, [], "")
    return ExamBatch(exams, pd.concat(set_aside, ignore_index=True) if set_aside else empty)


def _text(value: object) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bytes):
        return text_of_bytes(value)
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    # A lone surrogate, which JSON can write, is no character and cannot be stored.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
