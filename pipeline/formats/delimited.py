"""Delimited text → records, tolerant of what exports do to it.

The delimiter is the one under which the header holds the needed columns. A quote that is opened and
never closed would swallow the rows after it; so where a record of several lines has the wrong
number of fields and one of its lines would be a whole row by itself, reading goes on at that line.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Final

__all__ = ["WRONG_FIELD_COUNT", "delimiter_of", "records"]

WRONG_FIELD_COUNT: Final = "wrong_field_count"
_DELIMITERS: Final = (",", ";", "\t", "|")
_MAX_RECORD_CHARACTERS: Final = 64 * 2**20
_SPREADSHEET_HINT: Final = "sep="

csv.field_size_limit(2**31 - 1)


def delimiter_of(header: str, needed: Collection[str]) -> str:
    """Find the delimiter that gives a header line its needed columns, else the most columns."""
    if header.casefold().startswith(_SPREADSHEET_HINT):
        return header[len(_SPREADSHEET_HINT) :].strip("\r\n") or ","

    def fitness(delimiter: str) -> tuple[int, int]:
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
        return len(set(needed) & set(names)), len(names)

    return max(_DELIMITERS, key=fitness)


def records(lines: Iterable[str], *, delimiter: str, width: int) -> Iterator[list[str] | str]:
    """Yield each record's cells, or `WRONG_FIELD_COUNT`; empty lines are none."""
    source = _Lines(lines)
    reader = csv.reader(source, delimiter=delimiter)
    while True:
        source.taken.clear()
        row = next(reader, None)
        if row is None:
            return
        if len(row) == width:
            yield row
            continue
        if not row:
            continue
        yield WRONG_FIELD_COUNT
        whole = next((i for i, line in enumerate(source.taken[1:], 1)
                      if _fields(line, delimiter) == width), None)  # fmt: skip
        if whole is not None or source.cut:
            source.give_back(whole or 1)
            reader = csv.reader(source, delimiter=delimiter)


class _Lines:
    """Lines to read, which remembers those of the present record and can take them back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._returned: deque[str] = deque()
        self._characters = 0
        self.taken: list[str] = []
        self.cut = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if not self.taken:
            self._characters, self.cut = 0, False
        if self._characters > _MAX_RECORD_CHARACTERS:
            self.cut = True
            raise StopIteration
        line = self._returned.popleft() if self._returned else next(self._lines)
        self.taken.append(line)
        self._characters += len(line)
        return line

    def give_back(self, first: int) -> None:
        """Put the present record's lines from `first` on back in front."""
        self._returned.extendleft(reversed(self.taken[first:]))
        self.taken.clear()


def _fields(line: str, delimiter: str) -> int:
    return len(next(csv.reader([line], delimiter=delimiter), []))
