"""Rows of which each holds one line of a report → rows of which each holds a report.

Rows alike in all but the line and its number are of one report; their order does not matter, so a
source is read to its end, and held in memory, before the first report is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from pipeline.formats.rows import Row, SetAside

__all__ = ["LINE_NUMBER", "whole_reports"]

LINE_NUMBER: Final = "text_line"
"""The name, among a row's cells, of the number of its line."""
_WHOLE: Final = re.compile(r"([0-9]{1,9})(?:\.0{1,6})?")
_APART: Final = (LINE_NUMBER, "text", "decoded_as")

_Report: TypeAlias = tuple[int, Mapping[str, str], dict[str, str]]


def whole_reports(rows: Iterable[Row]) -> Iterator[Row]:
    """Put the lines of each report together, in the order of their numbers.

    A report is set aside if a line of it has no number, or two lines have the same; so is one with
    a gap in its numbers where rows were set aside that may belong there.
    """
    reports: dict[tuple[tuple[str, str], ...], _Report] = {}
    faulty: dict[tuple[tuple[str, str], ...], SetAside] = {}
    is_damaged = False
    for number, row in rows:
        if isinstance(row, SetAside):
            is_damaged = True
            yield number, row
            continue
        key = tuple((name, cell) for name, cell in row.items() if name not in _APART)
        first, cells, lines = reports.setdefault(key, (number, dict(row), {}))
        at, text = _number(row[LINE_NUMBER]), row["text"]
        if not at:
            faulty[key] = SetAside("lines_unordered", "a line has no number")
        elif lines.setdefault(at, text) != text:
            faulty[key] = SetAside("lines_unordered", "two lines have the same number")
        if row.get("decoded_as"):
            reports[key] = (first, {**cells, "decoded_as": row["decoded_as"]}, lines)
    for key, (first, cells, lines) in reports.items():
        numbers = sorted(lines, key=int)
        if key in faulty:
            yield first, faulty[key]
        elif is_damaged and int(numbers[-1]) - int(numbers[0]) >= len(numbers):
            yield first, SetAside("lines_missing", "a line may be among the rows set aside")
        else:
            whole = {name: cell for name, cell in cells.items() if name != LINE_NUMBER}
            yield first, {**whole, "text": "\n".join(lines[at] for at in numbers)}


def _number(cell: str) -> str:
    """Give a line's number without what only pads it; '' for what is none."""
    found = _WHOLE.fullmatch(cell.strip())
    return str(int(found.group(1))) if found else ""
