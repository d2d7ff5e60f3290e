"""A query on any database SQLAlchemy reaches → exams, in batches, through a column map.

The address may hold a password, so it comes from the environment or a file, not from the
configuration; no message repeats it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError

from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.cells import LINE_NUMBER, whole_reports
from pipeline.formats.columns import ColumnMap, Columns, Spec, keys_of
from pipeline.formats.exams import ExamBatch, Row, batches
from pipeline.formats.people import named_reader
from pipeline.formats.tables import shown_names


@dataclass(frozen=True, slots=True)
class SqlOptions:
    """The query, our column → its, and exams in a batch."""

    query: str
    columns: Mapping[str, Spec] = field(default_factory=dict)
    batch_rows: int = 1000


def read(source: str, options: SqlOptions) -> Iterator[ExamBatch]:
    """Run the query and read its rows as they arrive.

    Parameters
    ----------
    source
        An SQLAlchemy address, such as ``postgresql+psycopg://user@host/database``.

    Raises
    ------
    ConfigurationError
        If the address or its driver is unusable, or the database cannot be reached.
    InputError
        If the query fails, at once or after some rows, or lacks a needed column.
    """
    engine = _engine(source)
    try:
        with _connected(engine) as database:
            rows = database.execute(sqlalchemy.text(options.query))
            columns = _columns(list(rows.keys()), options)
            found = _rows(rows, columns)
            whole = whole_reports(found) if LINE_NUMBER in columns.places else found
            yield from batches("query", whole, size=options.batch_rows)
    except SQLAlchemyError as error:
        msg = (
            f"input.query: refused by the database ({type(error).__name__}). Run it in the "
            "database's own client, which shows the reason; it is not repeated here because it "
            "may quote a row."
        )
        raise InputError(msg) from None
    finally:
        engine.dispose()


def _engine(source: str) -> sqlalchemy.Engine:
    try:
        return sqlalchemy.create_engine(source, hide_parameters=True)
    except (SQLAlchemyError, ImportError, ValueError) as error:
        msg = (
            f"The database address cannot be used ({type(error).__name__}). "
            "It reads dialect+driver://user:password@host/database, and the driver must be "
            "installed."
        )
        raise ConfigurationError(msg) from None


def _connected(engine: sqlalchemy.Engine) -> sqlalchemy.Connection:
    """Connect, with a cursor that keeps the rows on the server until they are asked for."""
    try:
        connection = engine.connect()
    except SQLAlchemyError as error:
        msg = (
            f"The database that RADCAL_SQL_URL names cannot be reached ({type(error).__name__}). "
            "Check that it runs, and the address's host, port, name, user and password."
        )
        raise ConfigurationError(msg) from None
    return connection.execution_options(stream_results=True, max_row_buffer=500)


def _columns(names: list[str], options: SqlOptions) -> Columns:
    columns = ColumnMap(options.columns).within(keys_of(names))
    if columns.missing:
        wanted = "; ".join(f"{c!r} ({why})" for c, why in columns.missing.items())
        msg = (
            f"input.query: {len(columns.missing)} needed column(s) missing: {wanted}. The query "
            f"gives {shown_names(names)}. Rename them in the query or map them."
        )
        raise InputError(msg)
    return columns


def _rows(rows: sqlalchemy.CursorResult[tuple[object, ...]], columns: Columns) -> Iterator[Row]:
    keys = keys_of(list(rows.keys()))
    for number, row in enumerate(rows, start=1):
        cells = columns.cells(dict(zip(keys, row, strict=True)))
        if "reader_id" not in cells:
            cells["reader_id"] = named_reader(cells["reader_name"])
        yield number, cells
