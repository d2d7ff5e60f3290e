"""Workbooks (.xlsx, .xlsm) → the rows of each sheet, each cell as the sheet shows it.

A formula is the value last computed for it, an error nothing, a day without a time of day a date.
A number is what the sheet holds: zeros before it are shown by a format of zeros (``00000000``) and
lost otherwise, and of more than 15 figures the spreadsheet itself has rounded it, so it is written
as one that was (``1.2E+16``). A cell that is merged over several rows is shown beside all of them,
and says the same of each that has a cell of its own (`Below`); rows without one are the height of
the row above. Hidden sheets are none; macros are never run. Rows are read one after the other,
whatever size a sheet says it has: readers that hold a sheet as a block ask for 500 GB where a
workbook of 5 kB has a cell in its last corner.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, time
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import openpyxl
from openpyxl.utils import column_index_from_string
from openpyxl.utils.datetime import WINDOWS_EPOCH
from openpyxl.utils.escape import unescape

from pipeline.errors import InputError
from pipeline.formats.cells import MAX_WHOLE

Rows: TypeAlias = Iterator[list[object]]

_MAX_UNPACKED: Final = 2**31
_MAX_COLUMNS: Final = 1024
_AT_ONCE: Final = 1000
_OLD: Final = b"\xd0\xcf\x11\xe0"
"""How a workbook begins that has a password, or is of before 2007."""
_ASIDE: Final = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
"""What stands in a format and is none: literals, languages and colours."""
_ZEROS: Final = re.compile(r"0{2,32}")
_MERGED: Final = re.compile(
    rb"""mergeCell\s[^>]{0,99}?ref=["']([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})["']"""
)
_LOOKED_AT: Final = 2**20
_OVERLAP: Final = 200


class Below(NamedTuple):
    """The cell of a row over which a cell of a row above is merged, and what that one shows."""

    value: object


@contextmanager
def opened_sheets(path: Path) -> Iterator[tuple[Sequence[Rows], int]]:
    """Open a workbook: of each sheet that is not hidden its rows, to be read in this order.

    Beside them stands by how many days its calendar begins later than others' do: 1904, not 1900.

    Raises
    ------
    InputError
        If it is no workbook, has a password, is damaged (also while its rows are read), or would
        unpack to more than 2 GiB.
    """
    _refuse(path)
    with _told(path), warnings.catch_warnings(action="ignore"):
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    with closing(book):
        shown = [each for each in book.worksheets if each.sheet_state == "visible"]
        sheets = [_spread(_rows(path, each), _merged(path, each)) for each in shown]
        yield sheets, (book.epoch - WINDOWS_EPOCH).days


def _refuse(path: Path) -> None:
    with path.open("rb") as handle:
        is_old = handle.read(len(_OLD)) == _OLD
    if is_old:
        raise InputError(
            f"{path.name}: a workbook with a password, or one of before 2007 (.xls). "
            "Save it as .xlsx without a password, or the sheet as CSV UTF-8."
        )
    with _told(path), zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > _MAX_UNPACKED:
        raise InputError(
            f"{path.name}: would unpack to {size:,} bytes, over 2 GiB. Export it as CSV."
        )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of whatever a broken workbook makes a library raise that the workbook is broken."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the export is to blame
        raise InputError(
            f"{path.name}: the workbook cannot be read ({type(error).__name__}): it is damaged, "
            "cut short or none. Save it again, or the sheet as CSV UTF-8."
        ) from None


def _rows(path: Path, sheet: Any) -> Rows:
    with _told(path):
        sheet.reset_dimensions()  # what a sheet says of its size is not to be relied on
        rows = sheet.iter_rows()  # unpadded: a mark far below the table costs next to nothing
        while True:
            with warnings.catch_warnings(action="ignore"):
                some = [list(map(_shown, row[:_MAX_COLUMNS])) for row in islice(rows, _AT_ONCE)]
            if not some:
                return
            yield from some


def _shown(cell: Any) -> object:
    value = cell.value
    if value is None or cell.data_type == "e":
        return None
    if isinstance(value, datetime):
        has_clock = re.search(r"[hs]", _ASIDE.sub("", cell.number_format), re.IGNORECASE)
        return value if has_clock or value.time() != time() else value.date()
    if isinstance(value, int | float) and not isinstance(value, bool):
        if _ZEROS.fullmatch(cell.number_format) and value == int(value) >= 0:
            return str(int(value)).zfill(len(cell.number_format))
        return value if abs(value) < MAX_WHOLE else f"{value:.14E}"
    return unescape(value) if isinstance(value, str) else value  # _x000D_ is a line's end


def _merged(path: Path, sheet: Any) -> Mapping[int, Sequence[tuple[int, int]]]:
    """Give the cells that are merged over several rows, by their row: column and last row.

    A sheet says so behind its rows, so it is looked through once before they are read.
    """
    found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    with _told(path), sheet._get_source() as content:
        before = b""
        while block := content.read(_LOOKED_AT):
            text, ends = before + block, 0
            for each in _MERGED.finditer(text):
                first, last, ends = int(each[2]), int(each[3]), each.end()
                if last > first:
                    found[first].append((column_index_from_string(each[1].decode()) - 1, last))
            before = text[max(ends, len(text) - _OVERLAP) :]
    return found


def _spread(rows: Rows, merged: Mapping[int, Sequence[tuple[int, int]]]) -> Rows:
    """Say in each row that has a cell of its own what is merged over it from above."""
    over: dict[int, tuple[int, object]] = {}
    for number, row in enumerate(rows, start=1):
        over = {at: (last, value) for at, (last, value) in over.items() if last >= number}
        if over and any(cell is not None for cell in row):
            row += [None] * (max(over) + 1 - len(row))
            for at, (_, value) in over.items():
                row[at] = Below(value) if row[at] is None else row[at]
        starts = [(at, last) for at, last in merged.get(number, ()) if at < len(row)]
        over |= {at: (last, row[at]) for at, last in starts if row[at] is not None}
        yield row
