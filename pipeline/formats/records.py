"""Delimited text → records, tolerant of what exports do to it.

The header is the first line that holds the needed columns, whatever titles stand
above it, and the delimiter is the one under which it does. Lines without content are none. A quote
that is opened and never closed would swallow the rows after it; so where a record of several lines
has the wrong number of fields and one of its lines would be a whole row by itself, reading goes on
at that line; and where the file ends within quotes, that record is set aside, for its text has no
end. A text in the last column may have line breaks that no quotes protect: half a report must not
pass for a whole one, and a torn row not for the end of the report above it. So a line goes on with
the text only if its fields do not look like those of the columns, from the left or from the right;
two that do make it a row, and where one does, both it and the report above it are set aside.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

WRONG_FIELD_COUNT: Final = "wrong_field_count"
_DELIMITERS: Final = (",", ";", "\t", "|")
_MAX_RECORD_CHARACTERS: Final = 64 * 2**20
_SPREADSHEET_HINT: Final = "sep="
HEADER_WITHIN: Final = 20
"""On so many lines of a file a header may begin."""
_LONGEST: Final = 2**17
"""A line of more characters is no header."""
_FOOTER: Final = re.compile(r"\(?\d+ rows?\b.{0,40}", re.IGNORECASE)
"""What a database's client writes below the rows."""
_SHAPED: Final = 40
_SHAPES: Final = 64
"""So many shapes of a column's cells are remembered."""
_TELLING: Final = 2
"""So many cells that look like their columns make a line a row."""
_NO_CONTENT: Final = " \t\r\n\x00"

csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True, slots=True)
class Header:
    """A table's column names, its delimiter, and how many lines end with the header's.

    `backslash`: quotes within quotes have a backslash before them.
    """

    names: tuple[str, ...]
    delimiter: str
    lines: int
    backslash: bool = False


def header_of(first: Sequence[str], lacking: Callable[[Sequence[str]], int]) -> Header:
    """Find the first line that lacks no needed column, else the first that lacks the fewest.

    So where no line has any of them, it is the first, never a row of data with its text.

    Parameters
    ----------
    first
        The first lines of a file: more than `HEADER_WITHIN`, as a first row may hold a long text.
    lacking
        Tells how many needed columns are not among some names.
    """
    best, fewest = Header((), ",", 0), (float("inf"), 0, 0)
    delimiters: Sequence[str] = _DELIMITERS
    for at, line in enumerate(first[:HEADER_WITHIN]):
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


def with_quotes_of(header: Header, lines: Sequence[str]) -> Header:
    """Tell by some lines whether quotes within quotes are written as MySQL does."""
    ends = re.escape(header.delimiter)
    inside = re.compile(rf'\\"(?!\s{{0,4}}(?:{ends}|$))')
    doubled = re.compile(rf'[^{ends}"\s]""|""[^{ends}"\s]')
    has_backslashes = any(map(inside.search, lines)) and not any(map(doubled.search, lines))
    return replace(header, backslash=has_backslashes)


def records(
    lines: Iterable[str], *, header: Header, width: int, open_end: bool
) -> Iterator[tuple[list[str] | str, bool]]:
    """Yield each record's cells, or `WRONG_FIELD_COUNT`; records without content are none.

    Parameters
    ----------
    lines
        Lines, or `pipeline.formats.decoding.Lines`, which count those in another encoding.
    header, width
        What parts the fields and how quotes are written, and how many fields there must be.
    open_end
        Whether the last column is a text that may have line breaks outside quotes. What follows a
        row and is none itself then goes on with its last cell, unless it begins as that row does.

    Returns
    -------
    iterator of (list of str, or str) and bool
        The record, and whether a line of it was in another encoding.
    """
    source, delimiter = _Lines(lines, backslash=header.backslash), header.delimiter
    reader = csv.reader(source, delimiter=delimiter)
    held: tuple[list[str], bool] | None = None
    columns = _Columns(width)
    while (row := _next(source, reader)) is not None:
        if not any(cell.strip(_NO_CONTENT) for cell in row):
            continue
        if len(row) == width and not source.is_open:
            if held:
                yield held
            held = (row, source.is_foreign)
            columns.learn(row)
            continue
        whole = _whole(source.taken, delimiter, width)
        more = "".join(source.taken[:whole]).rstrip("\r\n")
        alike = columns.like(next(csv.reader(more.splitlines()[:1], delimiter=delimiter), []))
        goes_on = len(row) != width and open_end and held and _goes_on(held[0], more, delimiter)
        if held and goes_on and not alike:
            held = (_longer(held[0], more), held[1] or source.is_foreign)
        else:
            if held:
                unclear = goes_on and alike < _TELLING
                yield (WRONG_FIELD_COUNT, held[1]) if unclear else held
            held = None
            yield WRONG_FIELD_COUNT, source.is_foreign
        if whole is not None or source.cut:
            source.give_back(whole or 1)
            reader = csv.reader(source, delimiter=delimiter)
    if held:
        yield held


def _next(source: _Lines, reader: Iterator[list[str]]) -> list[str] | None:
    source.taken.clear()
    return next(reader, None)


def _whole(taken: Sequence[str], delimiter: str, width: int) -> int | None:
    """Find the first line after a record's first that is a whole row by itself."""
    alone = (next(csv.reader([line], delimiter=delimiter), []) for line in taken[1:])
    return next((i for i, row in enumerate(alone, 1) if len(row) == width), None)


def _longer(row: Sequence[str], more: str) -> list[str]:
    """Let the text in a row's last cell go on."""
    text = row[-1].removesuffix("\\")
    return [*row[:-1], f"{text}\n{more}"]


def _goes_on(row: Sequence[str], more: str, delimiter: str) -> bool:
    """Tell a text that goes on from a damaged row, which begins as the row before it does."""
    if len(row[-1]) > _MAX_RECORD_CHARACTERS or _FOOTER.fullmatch(more.strip()):
        return False
    return _shape(row[0]) != _shape(more.lstrip(' "').split(delimiter, 1)[0])


def _shape(cell: str) -> str:
    """Write a cell by its kinds of characters: ``A`` for letters, ``9`` for figures."""
    start = cell.strip()[:_SHAPED]
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "A", start))


class _Columns:
    """What the cells of each column but the last look like, as far as they hold figures."""

    def __init__(self, width: int) -> None:
        self._shapes: list[set[str]] = [set() for _ in range(width - 1)]

    def learn(self, row: Sequence[str]) -> None:
        """Take in the shapes of a whole row."""
        for shapes, cell in zip(self._shapes, row, strict=False):
            shape = _shape(cell)
            if "9" in shape and len(shapes) < _SHAPES:
                shapes.add(shape)

    def like(self, cells: Sequence[str]) -> int:
        """Count the cells that look like their columns, laid on from the left or the right."""
        from_left = zip(self._shapes, cells, strict=False)
        from_right = zip(reversed(self._shapes), reversed(cells[:-1]), strict=False)
        return max(
            sum(_shape(cell) in shapes for shapes, cell in pairs)
            for pairs in (from_left, from_right)
        )


class _Lines:
    """Lines to read, which remembers those of the present record and can take them back."""

    def __init__(self, lines: Iterable[str], *, backslash: bool) -> None:
        self._lines = iter(lines)
        self._counted = lines
        self._backslash = backslash
        self._returned: deque[str] = deque()
        self._characters = 0
        self._before = 0
        self.taken: list[str] = []
        self.cut = self.is_open = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if not self.taken:
            self._characters, self.cut, self.is_open = 0, False, False
            self._before = self._before if self._returned else self._foreign()
        if self._characters > _MAX_RECORD_CHARACTERS:
            self.cut = True
            raise StopIteration
        line = self._returned.popleft() if self._returned else next(self._lines, None)
        if line is None:
            self.is_open = bool(self.taken)  # more of a record is asked for only within quotes
            raise StopIteration
        if self._backslash:
            line = line.replace('\\"', '""')
        self.taken.append(line)
        self._characters += len(line)
        return line

    @property
    def is_foreign(self) -> bool:
        """Whether a line of the present record was in another encoding."""
        return self._foreign() > self._before

    def _foreign(self) -> int:
        return int(getattr(self._counted, "foreign", 0))

    def give_back(self, first: int) -> None:
        """Put the present record's lines from `first` on back in front."""
        self._returned.extendleft(reversed(self.taken[first:]))
        self.taken.clear()
