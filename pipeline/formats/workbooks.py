"""Workbooks (.xlsx, .xlsm) → the rows of their sheets, each cell as the sheet shows it.

A formula is the value last computed for it, an error nothing, a day without a time of day a date.
A number is what the sheet holds: zeros before it are shown by a format of zeros (``00000000``) and
lost otherwise, and of more than 15 figures the spreadsheet itself has rounded it, so it is written
as one that was (``1.2E+16``). Hidden sheets are none; macros are never run.

Rows are read one after the other, whatever size a sheet says it has: readers that hold a sheet as a
block ask for 500 GB where a workbook of 5 kB has a cell in its last corner.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

import openpyxl
from openpyxl.utils.escape import unescape

from pipeline.errors import InputError

Rows: TypeAlias = Iterator[list[object]]

_MAX_UNPACKED: Final = 2**31
_MAX_COLUMNS: Final = 1024
_AT_ONCE: Final = 1000
_OLD: Final = b"\xd0\xcf\x11\xe0"
"""How a workbook begins that has a password, or is of before 2007."""
_ASIDE: Final = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
"""What stands in a format and is none: literals, languages and colours."""
_ZEROS: Final = re.compile(r"0{2,32}")
_EXACT: Final = 10**15


@contextmanager
def opened_sheets(path: Path) -> Iterator[Sequence[Rows]]:
    """Open a workbook: of each sheet that is not hidden its rows, to be read in this order.

    Raises
    ------
    InputError
        If it is no workbook, has a password, is damaged (also while its rows are read), or would
        unpack to more than 2 GiB.
    """
    _refuse(path)
    book = None
    try:
        with _told(path), warnings.catch_warnings(action="ignore"):
            book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        yield [_rows(path, sheet) for sheet in sheets]
    finally:
        if book is not None:
            book.close()


def _refuse(path: Path) -> None:
    with path.open("rb") as handle:
        is_old = handle.read(len(_OLD)) == _OLD
    if is_old:
        msg = (
            f"{path.name}: a workbook with a password, or one of before 2007 (.xls). "
            "Save it as .xlsx without a password, or the sheet as CSV UTF-8."
        )
        raise InputError(msg)
    with _told(path), zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > _MAX_UNPACKED:
        msg = f"{path.name}: would unpack to {size:,} bytes, over 2 GiB. Export it as CSV."
        raise InputError(msg)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of whatever a broken workbook makes a library raise that the workbook is broken."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the export is to blame
        msg = (
            f"{path.name}: the workbook cannot be read ({type(error).__name__}): it is damaged, "
            "cut short or none. Save it again, or the sheet as CSV UTF-8."
        )
        raise InputError(msg) from None


def _rows(path: Path, sheet: Any) -> Rows:
    with _told(path):
        sheet.reset_dimensions()  # what a sheet says of its size is not to be relied on
        rows = sheet.iter_rows(max_col=_MAX_COLUMNS)
        while True:
            with warnings.catch_warnings(action="ignore"):
                some = [list(map(_shown, row)) for row in islice(rows, _AT_ONCE)]
            if not some:
                return
            yield from some


def _shown(cell: Any) -> object:
    value = cell.value
    if value is None or cell.data_type == "e":
        return None
    if isinstance(value, datetime):
        is_day = value.time() == time() and not _has_clock(cell.number_format)
        return value.date() if is_day else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if _ZEROS.fullmatch(cell.number_format) and value == int(value) >= 0:
            return str(int(value)).zfill(len(cell.number_format))
        return value if abs(value) < _EXACT else f"{value:.14E}"
    return unescape(value) if isinstance(value, str) else value  # _x000D_ is a line's end


def _has_clock(form: str) -> bool:
    return bool(re.search(r"[hs]", _ASIDE.sub("", form), re.IGNORECASE))
