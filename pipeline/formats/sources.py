"""Any source a configuration may name → exams: chooses the format's reader and its options.

Tables go by extension; HL7 v2 and FHIR come as files or folders; a query's rows are first spooled
into a Parquet file of the raw zone, so that a database is asked once and a run can be resumed. Its
address may hold a password, so it comes from the environment or a file, not from the configuration;
no message repeats it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.config.basis import EXAM_COLUMNS, OPTIONAL_COLUMNS, digest_of, sha256
from pipeline.errors import ConfigurationError, InputError
from pipeline.formats import exports, fhir, hl7v2
from pipeline.formats.cells import LINE_NUMBER, whole_reports
from pipeline.formats.columns import ColumnMap, Columns, keys_of, require
from pipeline.formats.decoding import AUTO, content_digest, files_of, opened, suffix_of
from pipeline.formats.exams import ExamBatch, Row, batches
from pipeline.formats.people import named_reader
from pipeline.formats.values import known_words
from pipeline.store.files import replacing

if TYPE_CHECKING:
    import sqlalchemy

    from pipeline.config.sections import Input

_BY_SUFFIX: Final = known_words("suffix")
_WORKBOOKS: Final = (".xlsx", ".xlsm")
_OTHER_WORKBOOKS: Final = (".xls", ".xlsb", ".ods")
_LOOKED_AT: Final = 2**20
_RESOURCE: Final = b'"resourceType"'
_REPORT: Final = b'"DiagnosticReport"'
FOLDERS: Final = ("hl7v2", "fhir")
"""Formats of which a folder, with all folders in it, is one source."""
_SPOOLED: Final = (*EXAM_COLUMNS, *OPTIONAL_COLUMNS)


@dataclass(frozen=True, slots=True)
class Sources:
    """How this site's sources are read; `modality_codes` maps exam code → modality."""

    settings: Input
    modality_codes: Mapping[str, str]
    batch_rows: int

    def kind(self, source: Path) -> str:
        """Give a source's format: the configured one, else by its extension.

        Raises
        ------
        ConfigurationError
            If the extension says nothing, or a folder is of a format that comes in files.
        """
        stated = self.settings.format
        if suffix_of(source) in _OTHER_WORKBOOKS:
            raise ConfigurationError(
                f"{source.name}: workbooks of this kind are not read. Save it as .xlsx, accession "
                "and patient numbers as text, or the sheet as CSV UTF-8."
            )
        if suffix_of(source) in _WORKBOOKS:
            return "xlsx"
        kind = _BY_SUFFIX.get(suffix_of(source), "") if stated in ("auto", "sql") else stated
        may_be_table = stated == "auto" and kind == "fhir" and source.is_file()
        if may_be_table and not _begins_with(source, _RESOURCE):
            kind = "jsonl"
        if not kind or (source.is_dir() and kind not in FOLDERS):
            raise ConfigurationError(
                f"input.format: cannot tell the format of {source.name}; "
                'set it to "csv", "parquet", "jsonl", "hl7v2" or "fhir", or name the '
                'exports alone in paths ("exports/*.csv").'
            )
        return kind

    def elsewhere(self, source: Path, sources: Sequence[Path]) -> list[Path]:
        """Give the files of other sources in which what a FHIR source points at may stand.

        These are of the sources before it, by name, as a later export names what an earlier one
        holds; and of those, wherever they stand, that hold no report. So an export that is added
        changes nothing of what earlier ones gave.
        """
        others = [each for each in sources if each != source and self.kind(each) == "fhir"]
        files = [(each, fhir.resource_files(each)) for each in others]
        before = [
            own for each, own in files
            if each < source or not any(_begins_with(path, _REPORT) for path in own)
        ]  # fmt: skip
        return [path for own in before for path in own if path.parent != source]

    def read(
        self, source: Path, elsewhere: Sequence[Path] = (), index: Path | None = None
    ) -> Iterator[ExamBatch]:
        """Read a source in batches, whatever its format; `index` keeps where things stand."""
        kind, settings = self.kind(source), self.settings
        if kind == "hl7v2":
            return hl7v2.read(
                source,
                hl7v2.Hl7Options(
                    fields=hl7v2.FieldMap.of(settings.hl7),
                    exam_codes=self.modality_codes,
                    patient_authority=settings.patient_authority,
                    encoding="" if settings.encoding == AUTO else settings.encoding,
                    statuses=settings.statuses,
                    batch_rows=self.batch_rows,
                ),
            )
        if kind == "fhir":
            return fhir.read(
                source,
                fhir.FhirOptions(
                    exam_codes=self.modality_codes,
                    orders=settings.fhir.orders == "exported",
                    batch_rows=self.batch_rows,
                    elsewhere=elsewhere,
                    index=index,
                ),
            )
        return exports.read(source, self._table(kind))

    def unread(self, source: Path) -> list[str]:
        """Give the names of a table's columns of which nothing is read."""
        kind = self.kind(source)
        return [] if kind in FOLDERS else exports.unread(source, self._table(kind))

    def _table(self, kind: str) -> exports.TableOptions:
        settings = self.settings
        return exports.TableOptions(
            encoding=settings.encoding,
            columns={} if settings.format == "sql" else settings.columns,
            exam_codes=self.modality_codes,
            statuses=settings.statuses,
            batch_rows=self.batch_rows,
            kind=kind,
        )

    def digest(self, source: Path, elsewhere: Sequence[Path] = ()) -> str:
        """Hash the content that decides what a source gives, blind to names.

        People and orders may stand in the files beside a FHIR file, so these count as well.
        """
        others = digest_of(*sorted(map(content_digest, elsewhere))) if elsewhere else ""
        if source.is_dir():
            return digest(files_of(source)) + others
        beside = source.parent.iterdir() if self.kind(source) == "fhir" else ()
        return digest([source]) + digest([path for path in beside if path.is_file()]) + others


def _begins_with(source: Path, word: bytes) -> bool:
    """Tell whether a word stands near a file's beginning: exports have one kind a file."""
    return _begins_with_at(source, source.stat().st_mtime_ns, word)


@lru_cache(maxsize=200_000)
def _begins_with_at(source: Path, _written: int, word: bytes) -> bool:
    with opened(source) as content:
        return word in content.read(_LOOKED_AT)


def digest(paths: Iterable[Path]) -> str:
    """Hash the content of files, blind to their names and order."""
    return sha256("".join(sorted(map(content_digest, paths))).encode())


def spool(address: str, settings: Input, folder: Path, *, batch_rows: int) -> Path:
    """Run the configured query and keep its rows as one Parquet file, named by its content.

    Rows that were set aside stay among them, by their reason.
    """
    target = folder / "query.parquet"
    schema = pa.schema([(name, pa.string()) for name in (*_SPOOLED, exports.SET_ASIDE)])
    with replacing(target) as partial, pq.ParquetWriter(partial, schema) as writer:
        for batch in queried(address, settings, batch_rows=batch_rows):
            why = batch.quarantined["reason"] + ": " + batch.quarantined["detail"]
            rows = pd.concat([batch.exams, why.to_frame(exports.SET_ASIDE)])
            writer.write_table(pa.Table.from_pandas(rows, schema=schema, preserve_index=False))
    return target.replace(folder / f"{digest([target])[:16]}.parquet")


def queried(address: str, settings: Input, *, batch_rows: int) -> Iterator[ExamBatch]:
    """Run the configured query and read its rows as they arrive.

    Parameters
    ----------
    address
        An SQLAlchemy address, such as ``postgresql+psycopg://user@host/database``.

    Raises
    ------
    ConfigurationError
        If the address or its driver is unusable, or the database cannot be reached.
    InputError
        If the query fails, at once or after some rows, or lacks a needed column.
    """
    from sqlalchemy import text
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with _connected(address) as database:
            rows = database.execute(text(settings.query or ""))
            names = list(rows.keys())
            columns = ColumnMap(settings.columns).within(keys_of(names))
            require("input.query", names, columns)
            found = _query_rows(rows, columns, settings.statuses)
            whole = whole_reports(found) if LINE_NUMBER in columns.places else found
            yield from batches("query", whole, size=batch_rows)
    except SQLAlchemyError as error:
        raise InputError(
            f"input.query: refused by the database ({type(error).__name__}). Run it in the "
            "database's own client, which shows the reason; it is not repeated here because it "
            "may quote a row."
        ) from None


@contextmanager
def _connected(address: str) -> Iterator[sqlalchemy.Connection]:
    """Connect, with a cursor that keeps the rows on the server until they are asked for."""
    import sqlalchemy
    from sqlalchemy.exc import SQLAlchemyError

    try:
        engine = sqlalchemy.create_engine(address, hide_parameters=True)
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise ConfigurationError(
            f"The database address cannot be used ({type(error).__name__}). "
            "It reads dialect+driver://user:password@host/database, and the driver must be "
            "installed."
        ) from None
    try:
        connection = engine.connect()
    except SQLAlchemyError as error:
        raise ConfigurationError(
            f"The database that RADCAL_SQL_URL names cannot be reached ({type(error).__name__}). "
            "Check that it runs, and the address's host, port, name, user and password."
        ) from None
    try:
        with connection.execution_options(stream_results=True, max_row_buffer=500):
            yield connection
    finally:
        engine.dispose()


def _query_rows(
    rows: sqlalchemy.CursorResult[tuple[object, ...]],
    columns: Columns,
    statuses: Mapping[str, str],
) -> Iterator[Row]:
    keys = keys_of(list(rows.keys()))
    for number, row in enumerate(rows, start=1):
        told = columns.cells(dict(zip(keys, row, strict=True)))
        cells = exports.needed_text(told, statuses)
        if "reader_id" not in cells:
            cells["reader_id"] = named_reader(cells["reader_name"])
        yield number, cells
