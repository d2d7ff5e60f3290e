"""Table exports (CSV, Parquet, JSON lines, workbooks) → exams, in batches, through a column map.

Every row comes out once: as an exam, or as a quarantine row where the record itself is broken
(wrong number of fields, not JSON). Rows are counted from 1, the header not counted. Byte order
marks, UTF-16, cp1252, gzip, and the delimiters comma, semicolon, tab and bar are recognised.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice, repeat
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import InputError
from pipeline.formats.attachments import text_in_cell
from pipeline.formats.cells import LINE_NUMBER, whole_reports, written
from pipeline.formats.columns import (
    TIMES,
    ColumnMap,
    Columns,
    Spec,
    keys_of,
    nested_keys,
    numbers_of,
    require,
)
from pipeline.formats.decoding import AUTO, FALLBACK, blank, opened_lines, require_file, suffix_of
from pipeline.formats.exams import EMPTY, ExamBatch, FeedRow, Row, SetAside, batches
from pipeline.formats.markup import with_characters
from pipeline.formats.people import named_reader
from pipeline.formats.records import (
    HEADER_WITHIN,
    Header,
    header_of,
    objects,
    records,
    with_quotes_of,
)
from pipeline.formats.values import known_words, modality_of, takes_back
from pipeline.formats.whole import Whole
from pipeline.formats.workbooks import Below, opened_sheets

_LOOKED_THROUGH: Final = 2**20
"""So many characters of a file are looked through for how it writes quotes."""
_LOOKED_AT: Final = 100
"""So many JSON objects are looked at for the names that a file has."""


_OTHERS: Final = known_words("encoding")
"""Encodings in which the names of the map may stand, where cp1252 does not show them."""
_IDS: Final = ("accession", "patient_id")
_DECIMAL: Final = re.compile(r"(\d+)\.0+")
"""What programs write for whole numbers in a column that lacks some."""
SET_ASIDE: Final = "radcal.set_aside"
"""The column that says why a query's row was set aside before it was kept here, if it was."""
_NUMBER: Final = "a workbook's number: accession or patient, zeros before it are lost"


class Record(NamedTuple):
    """A row's number, its cells by the source's names or the reason why it has none.

    `decoded_as` names the encoding where it is not the one the row should be in.
    """

    number: int
    cells: Mapping[str, object] | str
    decoded_as: str = ""


class Table(NamedTuple):
    """A table's columns by our names, its rows as they are read, and its own names."""

    columns: Columns
    records: Iterator[Record]
    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How to read a table: its encoding, our column → theirs, and rows in a batch.

    ``encoding`` "auto" finds it out; ``exam_codes`` maps exam code → modality, for rows without
    one; ``statuses`` are the site's own words; ``kind`` is "csv", "jsonl", "parquet" or "xlsx"; ''
    goes by the file's extension.
    """

    encoding: str = AUTO
    exam_codes: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Spec] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    batch_rows: int = 1000
    kind: str = ""


def read(source: Path, options: TableOptions) -> Iterator[ExamBatch]:
    """Read an export in batches.

    Raises
    ------
    InputError
        If the file is missing, of another kind, undecodable, or lacks a needed column.
    """
    kind = f".{options.kind}" if options.kind else suffix_of(source)
    opener = _OPENERS.get(".csv" if kind == ".tsv" else kind)
    if opener is None:
        raise InputError(f"{source.name}: unknown kind of export; known: {', '.join(_OPENERS)}.")
    if blank(source):
        yield from batches(source.name, [(1, EMPTY)], size=1)
        return
    require_file(source)
    with _explained(source, options, kind):
        whole = _looked_through(opener(source, options))
        tables = opener(source, options)
        rows = chain.from_iterable(_rows(each, options, whole) for each in tables)
        told = ((0, note) for note in whole.notes)
        yield from batches(source.name, chain(rows, told), size=options.batch_rows)


@contextmanager
def _explained(source: Path, options: TableOptions, kind: str) -> Iterator[None]:
    """Say in words of ours what a library cannot read."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source.name}: not valid {options.encoding} at byte {error.start} of a block. "
            'Leave [input] encoding at "auto", or name the one it was exported in.'
        ) from None
    except (csv.Error, pa.ArrowException, LookupError, UnicodeError, OSError) as error:
        unknown = isinstance(error, pa.ArrowNotImplementedError)
        broken = "holds a type not read here" if unknown else "breaks off or is none"
        why = f"as Parquet: it {broken}; export it again" if kind == ".parquet" else ""
        why = why or f"({type(error).__name__})"
        raise InputError(f"{source.name}: cannot be read {why}.") from None


def unread(source: Path, options: TableOptions) -> list[str]:
    """Give the names of the columns of which nothing is read; refuse what `read` would refuse."""
    with _explained(source, options, f".{options.kind}"):
        tables = () if blank(source) else _OPENERS[f".{options.kind}"](source, options)
        found = [name for each in tables for name in each.names if name not in each.columns.names]
    return list(dict.fromkeys(filter(str.strip, found)))


def _csv(source: Path, options: TableOptions) -> Iterator[Table]:
    mapped = ColumnMap(options.columns)
    encoding, header, keys = _understood(source, options.encoding, mapped)
    columns = mapped.within(keys)
    require(source.name, header.names, columns, mapped.twice(header.names))
    texts = {part.name for place in columns.places["text"] for part in place}
    open_end = keys[-1] in texts and LINE_NUMBER not in columns.places
    rows = _csv_records(source, encoding, header, keys, open_end=open_end)
    found_out = encoding if encoding != options.encoding else ""
    told = (row._replace(decoded_as=row.decoded_as or found_out) for row in rows)
    yield Table(columns, told, header.names and keys)


def _understood(source: Path, encoding: str, mapped: ColumnMap) -> tuple[str, Header, list[str]]:
    """Find the header; where none has what is needed, in an encoding that shows the map's names."""
    header, keys = _header(source, encoding, mapped)
    for other in _OTHERS if encoding == AUTO and mapped.within(keys).missing else ():
        with suppress(UnicodeError):
            found = _header(source, other, mapped)
            if not mapped.within(found[1]).missing:
                return other, *found
    return encoding, header, keys


def _header(source: Path, encoding: str, mapped: ColumnMap) -> tuple[Header, list[str]]:
    """Find the header, or none where the map finds all that is needed by numbers; and the keys."""
    with opened_lines(source, encoding) as handle:
        first = [line[:_LOOKED_THROUGH] for line in islice(handle, HEADER_WITHIN)]
        sample = [*first, *_some(handle, _LOOKED_THROUGH)]
    numbered = header_of(sample, lambda names: len(mapped.within(numbers_of(names)).missing))
    keys = numbers_of(numbered.names)
    if not mapped.within(keys).missing:
        return with_quotes_of(replace(numbered, names=(), lines=0), sample), keys
    header = header_of(sample, lambda names: len(mapped.within(keys_of(names)).missing))
    return with_quotes_of(header, sample), keys_of(header.names)


def _some(lines: Iterable[str], characters: int) -> Iterator[str]:
    for line in lines:
        if (characters := characters - len(line)) < 0:
            return
        yield line


def _csv_records(
    source: Path, encoding: str, header: Header, keys: Sequence[str], *, open_end: bool
) -> Iterator[Record]:
    with opened_lines(source, encoding) as handle:
        deque(islice(handle, header.lines), maxlen=0)
        rows = records(handle, header=header, width=len(keys), open_end=open_end)
        for number, (row, is_foreign) in enumerate(rows, start=1):
            decoded_as = FALLBACK if is_foreign else ""
            if isinstance(row, str):
                yield Record(number, row, decoded_as)
            elif header.names and (all(map(_is_name, row, header.names)) or _is_line(row)):
                yield Record(number, "repeated_header")
            else:
                yield Record(number, dict(zip(keys, row, strict=True)), decoded_as)


def _is_line(row: Sequence[str]) -> bool:
    """Tell whether a row only draws a line, as databases' clients do below a header."""
    return all(cell and not cell.strip("-=") for cell in row)


def _is_name(cell: str, name: str) -> bool:
    return " ".join(cell.split()) == name


def _jsonl(source: Path, options: TableOptions) -> Iterator[Table]:
    mapped = ColumnMap(options.columns)
    first = [each.cells for each in islice(_jsonl_records(source, options.encoding), _LOOKED_AT)]
    objects = [cells for cells in first if not isinstance(cells, str)]
    keys = nested_keys(objects)
    columns = mapped.within(keys, is_open=True)
    if objects:
        require(source.name, keys, columns)
    outer = list(dict.fromkeys(name for cells in objects for name in cells))
    yield Table(columns, _jsonl_records(source, options.encoding), outer)


def _jsonl_records(source: Path, encoding: str) -> Iterator[Record]:
    with opened_lines(source, encoding) as handle:
        before = handle.foreign
        for number, row in enumerate(objects(handle, source.name), start=1):
            decoded_as = FALLBACK if handle.foreign > before else ""
            yield Record(number, "not_json" if row is None else row, decoded_as)
            before = handle.foreign


def _parquet(source: Path, options: TableOptions) -> Iterator[Table]:
    mapped = ColumnMap(options.columns)
    with pq.ParquetFile(source) as file:
        names = file.schema_arrow.names
    columns = mapped.within(keys_of(names))
    require(source.name, names, columns, mapped.twice(names))
    used = [name for name in names if name in (*columns.names, SET_ASIDE)]
    yield Table(columns, _parquet_records(source, used, options.batch_rows), names)


def _parquet_records(source: Path, names: list[str], batch_rows: int) -> Iterator[Record]:
    with pq.ParquetFile(source) as file:
        number = 0
        for group in range(file.num_row_groups):  # a struct's dictionaries may differ by row group
            for batch in file.iter_batches(batch_rows, row_groups=[group], columns=names):
                for record in batch.to_pylist():
                    number += 1
                    yield Record(number, record.pop(SET_ASIDE, None) or record)


def _workbook(source: Path, options: TableOptions) -> Iterator[Table]:
    """Give the table of each sheet that has one: a header with all that is needed, or numbers."""
    mapped, counter = ColumnMap(options.columns), count(1)
    with opened_sheets(source) as (sheets, later):
        names: list[str] = []
        has_none = True
        for rows in sheets:
            first = list(islice(rows, HEADER_WITHIN))
            header = next((at for at, row in enumerate(first) if _holds(mapped, row)), None)
            is_bare = bool(first) and not mapped.within(numbers_of(_names(first[0]))).missing
            names = names or max(map(_names, first), key=len, default=[])
            if header is None and not is_bare:
                continue
            has_none = False
            named = [] if is_bare or header is None else _names(first[header])
            keys = keys_of(named) or numbers_of(_names(first[0]))
            columns = mapped.within(keys)
            require(source.name, named, columns, mapped.twice(named))
            below = first if not named else first[(header or 0) + 1 :]
            told = _sheet_records(chain(below, rows), (keys, named), columns, counter)
            told = (_dated(each, columns, later) for each in told) if later else told
            yield Table(columns, told, named and keys)
        if has_none:
            require(source.name, names, mapped.within(keys_of(names)))


def _holds(mapped: ColumnMap, row: Sequence[object]) -> bool:
    return not mapped.within(keys_of(_names(row))).missing


def _names(row: Sequence[object]) -> list[str]:
    """Give a row's cells as text, up to the last that holds something."""
    cells = [written(cell) for cell in row]
    filled = [at for at, cell in enumerate(cells, start=1) if cell]
    return cells[: max(filled, default=0)]


def _sheet_records(
    rows: Iterable[Sequence[object]],
    names: tuple[Sequence[str], Sequence[str]],
    columns: Columns,
    counter: Iterator[int],
) -> Iterator[Record]:
    """Give a sheet's rows; `names` are its columns' keys, and the header, which may come again.

    A report that is merged over several rows is that of the first alone.
    """
    keys, header = names
    texts = {part.name for place in columns.places["text"] for part in place}
    ids = {part.name for ours in _IDS for place in columns.places[ours] for part in place}
    for row in rows:
        if not any(map(written, row)):
            continue
        number = next(counter)
        if header and written(row[0]) == header[0] and _names(row) == header:
            yield Record(number, "repeated_header")
        else:
            cells = {
                name: (None if name in texts else cell.value) if isinstance(cell, Below) else cell
                for name, cell in zip(keys, chain(row, repeat(None)), strict=False)
            }
            is_number = any(isinstance(cells.get(name), int | float) for name in ids)
            yield Record(number, cells, _NUMBER if is_number else "")


def _dated(record: Record, columns: Columns, later: int) -> Record:
    """Count the days of a date that stands as a number from 1899-12-30, as other calendars do."""
    named = {place[0].name for ours in TIMES for place in columns.places.get(ours, ())}
    cells = record.cells if isinstance(record.cells, Mapping) else {}
    days = ((name, cells.get(name)) for name in named)
    moved = {n: d + later for n, d in days if isinstance(d, int | float) and 1e4 <= d + later < 1e5}
    return record._replace(cells={**cells, **moved}) if moved else record


_OPENERS: Final = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet, ".xlsx": _workbook}


def _looked_through(tables: Iterable[Table]) -> Whole:
    """Learn of a source's texts how long they are and how they end."""
    whole = Whole()
    for table in tables:
        for record in table.records if LINE_NUMBER not in table.columns.places else ():
            if not isinstance(record.cells, str):
                whole.add(table.columns.texts(record.cells))
    return whole


def _rows(table: Table, options: TableOptions, whole: Whole) -> Iterator[FeedRow]:
    rows = _cells(table, options.statuses, whole)
    for number, exam in whole_reports(rows) if LINE_NUMBER in table.columns.places else rows:
        yield number, _exam(exam, options.exam_codes) if isinstance(exam, Mapping) else exam


def _cells(table: Table, statuses: Mapping[str, str], whole: Whole) -> Iterator[Row]:
    in_lines = LINE_NUMBER in table.columns.places
    for number, cells, decoded_as in table.records:
        if isinstance(cells, str):
            reason, _, detail = cells.partition(": ")
            yield number, SetAside(reason, detail)
        else:
            cut = "" if in_lines else whole.fault(table.columns.texts(cells))
            found = needed_text(table.columns.cells(cells), statuses)
            yield number, {**found, "decoded_as": decoded_as, "text_cut": cut}


def needed_text(cells: dict[str, str], statuses: Mapping[str, str]) -> dict[str, str]:
    """Leave the text out of a row that takes a report back: it need not be one that can be read."""
    is_gone = takes_back(cells.get("status", ""), statuses)
    return cells | dict.fromkeys({"text", LINE_NUMBER} & cells.keys(), "") if is_gone else cells


def _exam(cells: Mapping[str, str], exam_codes: Mapping[str, str]) -> dict[str, str] | SetAside:
    decimals = {n: _DECIMAL.fullmatch(cells.get(n, "")) for n in (*_IDS, "reader_id")}
    exam = {**cells, **{name: whole[1] for name, whole in decimals.items() if whole}}
    exam |= {n: with_characters(v) for n, v in exam.items() if n != "text" and "&" in v}
    found = text_in_cell(exam["text"])
    if isinstance(found, SetAside):
        return found
    text, form = found
    if not exam.get("modality"):
        named = modality_of(exam.get("exam_name", ""))
        exam["modality"] = exam_codes.get(exam.get("exam_code", ""), "") or named
    if "reader_id" not in exam:
        exam["reader_id"] = named_reader(exam["reader_name"])
    return exam | {"text": text, "text_form": "" if form == "markup" else form}
