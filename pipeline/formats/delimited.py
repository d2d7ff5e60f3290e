"""Delimited text → records, tolerant of what exports do to it.

The header is the first line that holds the needed columns, whatever titles stand above it, and the
delimiter is the one under which it does. Lines without content are none. A quote that is opened and
never closed would swallow the rows after it; so where a record of several lines has the wrong
number of fields and one of its lines would be a whole row by itself, reading goes on at that line.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["HEADER_WITHIN", "WRONG_FIELD_COUNT", "Header", "header_of", "records"]

WRONG_FIELD_COUNT: Final = "wrong_field_count"
_DELIMITERS: Final = (",", ";", "\t", "|")
_MAX_RECORD_CHARACTERS: Final = 64 * 2**20
_SPREADSHEET_HINT: Final = "sep="
HEADER_WITHIN: Final = 20
"""So many lines of a file are looked at for its header."""
_LONGEST: Final = 2**17
"""A line of more characters is no header."""
_NO_CONTENT: Final = " \t\r\n\x00"

csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True, slots=True)
class Header:
    """A table's column names, its delimiter, and how many lines end with the header's."""

    names: tuple[str, ...]
    delimiter: str
    lines: int


def header_of(first: Sequence[str], lacking: Callable[[Sequence[str]], int]) -> Header:
    """Find the first line that lacks no needed column, else the first that lacks the fewest.

    So where no line has any of them, it is the first, never a row of data with its text.

    Parameters
    ----------
    first
        The first lines of a file.
    lacking
        Tells how many needed columns are not among some names.
    """
    best, fewest = Header((), ",", 0), (float("inf"), 0, 0)
    delimiters: Sequence[str] = _DELIMITERS
    for at, line in enumerate(first):
        if not line.strip(_NO_CONTENT) or len(line) > _LONGEST:
            continue
        if line.casefold().startswith(_SPREADSHEET_HINT):
            delimiters = (line[len(_SPREADSHEET_HINT) :].strip("\r\n") or ",",)
            continue
        for delimiter in delimiters:
            reader = csv.reader(first[at:], delimiter=delimiter)
            names = tuple(" ".join(name.split()) for name in next(reader, []))
            fitness = (lacking(names), at, -len(names))
            if fitness < fewest:
                best, fewest = Header(names, delimiter, at + reader.line_num), fitness
        if fewest[0] == 0:
            break
    return best


def records(lines: Iterable[str], *, delimiter: str, width: int) -> Iterator[list[str] | str]:
    """Yield each record's cells, or `WRONG_FIELD_COUNT`; records without content are none."""
    source = _Lines(lines)
    reader = csv.reader(source, delimiter=delimiter)
    while True:
        source.taken.clear()
        row = next(reader, None)
        if row is None:
            return
        if not any(cell.strip(_NO_CONTENT) for cell in row):
            continue
        if len(row) == width:
            yield row
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
