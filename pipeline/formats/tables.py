"""Tables on disk, by file extension: CSV, Parquet, JSON lines.

Reading keeps every cell as text unless the format itself is typed, so that an accession such as
``00123`` survives. Writing is atomic: a temporary name beside the target, then a rename.
"""

from __future__ import annotations

import csv
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pipeline.errors import InputError
from pipeline.formats.decoding import AUTO, FALLBACK, opened_lines, require_file
from pipeline.store.files import replacing

T = TypeVar("T")

_LOG: Final = logging.getLogger("radcal")
_NO_NAME: Final = re.compile(r"\d{3}|[\^@\n]|^$|^.{41,}$")
"""What a column is not called: with a number, a caret or a line break in it, empty, or long."""

_DELIMITERS: Final = ",;\t|"
_SHOWN: Final = 60
"""So many names a message lists."""
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def read_table(
    path: Path, needed: Mapping[str, str] | None = None, encoding: str = AUTO
) -> pd.DataFrame:
    """Read a whole table; the extension says how.

    Parameters
    ----------
    path
        A ``.csv``, ``.parquet`` or ``.jsonl`` file. CSV cells and JSON strings stay text; what
        parts cells is told by the header.
    needed
        Columns that it must have, as of `require_columns`.
    encoding
        What the text is in, unless a byte order mark says so; "auto" as for exports, and lines
        that are no UTF-8 are told of.

    Raises
    ------
    InputError
        If the file is missing, empty, of another kind, or cannot be decoded, or lacks a column.
    """
    reader = _of_kind(path, READERS)
    require_file(path)
    try:
        frame = reader(path, encoding)
    except UnicodeDecodeError as error:
        what = f"not valid {encoding} at byte {error.start}"
        raise InputError(f'{path.name}: {what}; save it as "CSV UTF-8".') from None
    except (ValueError, OSError) as error:
        raise InputError(f"{path.name}: cannot be read ({type(error).__name__}).") from None
    require_columns(frame, needed or {}, source=path.name)
    return frame


@contextmanager
def named(setting: str) -> Iterator[None]:
    """Name the setting whose table cannot be used."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{setting}: {error}") from None


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table under a temporary name and rename it; the extension says how.

    CSV cells that a spreadsheet would run as a formula are prefixed with an apostrophe.
    """
    writer = _of_kind(path, _WRITERS)
    with replacing(path) as partial:
        writer(frame, partial)


def _of_kind(path: Path, known: Mapping[str, T]) -> T:
    if path.suffix.lower() not in known:
        one = ", ".join(sorted(known))
        raise InputError(f"{path.name}: unknown kind of table; use one of {one}.")
    return known[path.suffix.lower()]


def require_columns(frame: pd.DataFrame, columns: Mapping[str, str], *, source: str) -> None:
    """Refuse a table that lacks a needed column, naming all that are missing.

    Parameters
    ----------
    frame
        The table as read.
    columns
        Needed column → what it holds, for the message.
    source
        The file's name, for the message.
    """
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        wanted = "; ".join(f"{name!r} ({columns[name]})" for name in missing)
        told = f"{len(missing)} needed column(s) missing: {wanted}"
        raise InputError(f"{source}: {told}. It has {shown_names(frame.columns)}.")


def refuse(
    wrong: ArrayLike, source: str, fault: str, *, advice: str = "Correct or drop them."
) -> None:
    """Refuse a table some rows of which are wrong; rows are numbered from 1.

    Raises
    ------
    InputError
        With their number, what is wrong with them, and the first of them.
    """
    rows = np.flatnonzero(wrong)
    if rows.size:
        many = f"{rows.size} of {np.size(wrong)} {fault}"
        raise InputError(f"{source}: {many}; first at row {rows[0] + 1}. {advice}")


def texts(column: pd.Series) -> pd.Series:
    """Give cells as text, blank where there is none; typed ones come out of JSON and Parquet."""
    return column.astype(object).where(column.notna(), "").astype(str).str.strip()


def numbers(column: pd.Series) -> NDArray[np.float64]:
    """Give cells as numbers, NaN where there is none."""
    return np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)


def refuse_twins(names: Iterable[object], source: str) -> None:
    """Refuse a table with two columns of one name: nobody can say which one is meant."""
    times = Counter(name for name in map(str, names) if name.strip())
    if twins := sorted(name for name, count in times.items() if count > 1):
        raise InputError(
            f"{source}: {len(twins)} column name(s) stand there twice: {shown_names(twins)}. "
            "Rename or drop one of each."
        )


def shown_names(names: Iterable[object]) -> str:
    """Write a table's column names for a message, or their number only.

    A table without a header has a row of data in its place, which a message must not quote.
    """
    each = [str(name) for name in names]
    if not each:
        return "no column that could be found"
    if any(_NO_NAME.search(name) for name in each):
        missing = "does not read like a header: put that of its neighbours above it, if it has none"
        return f"{len(each)} columns, but its first row {missing}"
    more = f" and {len(each) - _SHOWN} more" if len(each) > _SHOWN else ""
    return f"the columns {', '.join(each[:_SHOWN])}{more}"


def undefused(cell: str) -> str:
    """Take off the apostrophe that `write_table` put before a cell that looks like a formula.

    Examples
    --------
    >>> undefused("'- No effusion"), undefused("'tis")
    ('- No effusion', "'tis")
    """
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA_STARTS) else cell


def _read_csv(path: Path, encoding: str) -> pd.DataFrame:
    csv.field_size_limit(2**31 - 1)
    text = "".join(_lines(path, encoding))
    header = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]
    delimiter = max(_DELIMITERS, key=header.count)
    _refuse_long_rows(path, text, delimiter)
    try:
        return pd.read_csv(StringIO(text, ""), sep=delimiter, dtype=str, keep_default_na=False)
    except pd.errors.EmptyDataError:
        raise InputError(f"{path.name}: the file has no header row.") from None
    except pd.errors.ParserError:
        raise InputError(f"{path.name}: a quoted cell is never closed; export it again.") from None


def _refuse_long_rows(path: Path, text: str, delimiter: str) -> None:
    """Refuse rows of more cells than the header, which would shift every cell to another column."""
    rows = csv.reader(StringIO(text, ""), delimiter=delimiter)
    refuse_twins(header := next(rows, []), path.name)
    width = len(header)
    long = [rows.line_num for row in rows if len(row) > width]
    if long and width:
        raise InputError(
            f"{path.name}: {len(long)} row(s) have more cells than the {width} of the header; "
            f"first at line {long[0]}. Quote the cells that hold {delimiter!r}."
        )


def _read_jsonl(path: Path, encoding: str) -> pd.DataFrame:
    return pd.DataFrame([json.loads(line) for line in _lines(path, encoding) if line.strip()])


def _lines(path: Path, encoding: str) -> Iterator[str]:
    with opened_lines(path, encoding) as lines:
        yield from lines
        if lines.foreign:
            _LOG.warning("%s: %d line(s) read as %s", path.name, lines.foreign, FALLBACK)


def _defused(frame: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
            risky = column.astype("string").str.startswith(_FORMULA_STARTS).fillna(value=False)
            column = column.mask(risky.astype(bool), "'" + column.astype("string"))
        yield str(name), column


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    pd.DataFrame(dict(_defused(frame))).to_csv(path, index=False, lineterminator="\n")


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    frame.to_parquet(path, index=False, compression="zstd")


def _write_jsonl(frame: pd.DataFrame, path: Path) -> None:
    frame.to_json(path, orient="records", lines=True, force_ascii=False)


READERS: Final[Mapping[str, Callable[[Path, str], pd.DataFrame]]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".parquet": lambda path, _: pd.read_parquet(path),
}
_WRITERS: Final = {".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
