"""Text → records, tolerant of what exports do to it: delimited text, and JSON objects.

The header is the first line that holds the needed columns, whatever titles stand
above it, and the delimiter is the one under which it does. Lines without content are none. A quote
that is opened and never closed would swallow the rows after it; so where a record of several lines
has the wrong number of fields and one of its lines would be a whole row by itself, reading goes on
at that line, and so it does where it has the right number and one of its lines looks like a row;
where the file ends within quotes, that record is set aside, for its text has no end. A text in the
last column may have line breaks that no quotes protect: half a report must not pass for a whole
one, and a torn row not for the end of the report above it. So a line goes on with the text only if
its fields do not look like those of the columns, from the left or from the right; two that do make
it a row, and where one does, both it and the report above it are set aside.

JSON objects come one a line, in lists, or in an object's only list. A broken line costs itself.
Behind the place where a list is broken nothing can be told apart, so that one is refused.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final, TypeGuard

from pipeline.errors import InputError
from pipeline.formats.decoding import LONGEST, MAX_RECORD_CHARACTERS, RecordLines

WRONG_FIELD_COUNT: Final = "wrong_field_count"
_DELIMITERS: Final = (",", ";", "\t", "|")
_SPREADSHEET_HINT: Final = "sep="
HEADER_WITHIN: Final = 20
"""On so many lines of a file a header may begin."""
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
        if not line.strip(_NO_CONTENT) or len(line) > LONGEST:
            continue
        if line.casefold().startswith(_SPREADSHEET_HINT):
            delimiters = (line[len(_SPREADSHEET_HINT) :].strip("\r\n") or ",",)
            continue
        for delimiter in delimiters:
            reader = csv.reader(first[at:], delimiter=delimiter)
            names = _names(next(reader, []))
            fitness = (lacking(names), at, -len(names))
            if fitness < fewest:
                best, fewest = Header(names, delimiter, at + reader.line_num), fitness
        if fewest[0] == 0:
            break
    return best


def _names(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(" ".join(cell.split()) for cell in cells)


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
    """Yield each record's cells, or `WRONG_FIELD_COUNT`, and if a line was in another encoding.

    Records without content are none.

    Parameters
    ----------
    lines
        Lines, or `decoding.Lines`, which count those in another encoding.
    header, width
        What parts the fields and how quotes are written, and how many fields there must be.
    open_end
        Whether the last column is a text that may go on behind line breaks outside quotes.
    """
    source, delimiter = RecordLines(lines, backslash=header.backslash), header.delimiter
    reader = csv.reader(source, delimiter=delimiter)
    held: tuple[list[str], bool] | None = None
    columns, is_behind = _Columns(width), False
    while (row := _next(source, reader)) is not None:
        if not any(cell.strip(_NO_CONTENT) for cell in row):
            continue
        is_row = len(row) == width and not source.is_open
        torn = columns.torn(source.taken, row, header, is_behind=is_behind) if is_row else None
        if is_row and torn is None:
            if held:
                yield held
            held, is_behind = (row, source.is_foreign), False
            columns.learn(row)
            continue
        whole = columns.whole(source.taken, delimiter) if torn is None else torn
        more = "".join(source.taken[: whole or None]).rstrip("\r\n")
        alike = columns.like(next(csv.reader(more.splitlines()[:1], delimiter=delimiter), []))
        goes_on = len(row) != width and open_end and held and _goes_on(held[0], more, delimiter)
        if held and goes_on and not alike and not source.cut:
            held = (_longer(held[0], more), held[1] or source.is_foreign)
        else:
            if held:
                unclear = goes_on and (alike < _TELLING or source.cut)
                yield (WRONG_FIELD_COUNT, held[1]) if unclear else held
            held, is_behind = None, True
            yield WRONG_FIELD_COUNT, source.is_foreign
        if whole or source.cut:
            source.give_back(whole or 1)
            reader = csv.reader(source, delimiter=delimiter)
    if held:
        yield held


def _next(source: RecordLines, reader: Iterator[list[str]]) -> list[str] | None:
    source.taken.clear()
    return next(reader, None)


def _is_loose(taken: Sequence[str], delimiter: str) -> bool:
    """Tell whether a cell's closing quote stands where none may, or where one would open a cell."""
    try:
        next(csv.reader(taken, delimiter=delimiter, strict=True))
    except csv.Error:
        return True
    return taken[-1].rstrip("\r\n").endswith(f'{delimiter}"')


def _longer(row: Sequence[str], more: str) -> list[str]:
    """Let the text in a row's last cell go on."""
    text = row[-1].removesuffix("\\")
    return [*row[:-1], f"{text}\n{more}"]


def _goes_on(row: Sequence[str], more: str, delimiter: str) -> bool:
    """Tell a text that goes on from a damaged row, which begins as the row before it does."""
    if len(row[-1]) > MAX_RECORD_CHARACTERS or _FOOTER.fullmatch(more.strip()):
        return False
    return _shape(row[0]) != _shape(more.lstrip(' "').split(delimiter, 1)[0])


def _shape(cell: str) -> str:
    """Write a cell by its kinds of characters: ``A`` for letters, ``9`` for figures."""
    start = cell.strip()[:_SHAPED]
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "A", start))


def _beginning(cell: str) -> str:
    """Write a row's first cell by its kinds of characters, each letter for itself."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]", "A", cell.strip()[:_SHAPED]))


class _Columns:
    """What the cells of each column but the last look like, as far as they hold figures."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._shapes: list[set[str]] = [set() for _ in range(width - 1)]
        self._first: set[str] = set()

    def learn(self, row: Sequence[str]) -> None:
        """Take in the shapes of a whole row."""
        if len(self._first) < _SHAPES:
            self._first.add(_beginning(row[0]))
        for shapes, cell in zip(self._shapes, row, strict=False):
            if len(shapes) < _SHAPES and "9" in (shape := _shape(cell)):
                shapes.add(shape)

    def like(self, cells: Sequence[str]) -> int:
        """Count the cells that look like their columns, laid on from the left or the right."""
        from_left = zip(self._shapes, cells, strict=False)
        from_right = zip(reversed(self._shapes), reversed(cells[:-1]), strict=False)
        return max(
            sum(_shape(cell) in shapes for shapes, cell in pairs)
            for pairs in (from_left, from_right)
        )

    def whole(self, taken: Sequence[str], delimiter: str) -> int:
        """Find the first line after a record's first that is a whole row by itself; 0: none is."""
        alone = self._alone(taken, delimiter)
        return next((i for i, row in alone if self._begins(row)), 0)

    def torn(
        self, taken: Sequence[str], row: Sequence[str], header: Header, *, is_behind: bool
    ) -> int | None:
        """Find the line of a record of the right width where another row, or the header, begins.

        A cell that lost its closing quote ends with the next that opens one: text stands behind
        that, or it ends its line. A record whose quotes are right may quote a table: there a line
        is a row only if it looks like one throughout. None: nothing is torn; 0: it is, and no line
        is one to go on from. So it is behind a torn record where a quote lacks its other: that is
        the end of a text.
        """
        if is_behind and sum(line.count('"') for line in taken) % 2:
            return 0
        lines = list(self._alone(taken, header.delimiter))
        if not lines:
            return None
        self.learn(row)  # of a first row nothing else is known
        columns = sum(map(bool, self._shapes))
        enough = _TELLING if _is_loose(taken, header.delimiter) else max(_TELLING, columns)
        of_header = [i for i, cells in lines if _names(cells) == header.names]
        alike = [i for i, cells in lines if self.like(cells) >= enough]
        begun = [i for i, cells in lines if i in alike and self._begins(cells)]
        return min([*of_header, *begun], default=0 if alike else None)

    def _alone(self, taken: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """Give the lines after a record's first that have a row's cells by themselves."""
        for i, line in enumerate(taken):
            if i and line.count(delimiter) >= self._width - 1:
                row = next(csv.reader([line], delimiter=delimiter))
                if len(row) == self._width:
                    yield i, row

    def _begins(self, row: Sequence[str]) -> bool:
        """Tell a row from one that runs into the line above it."""
        return not self._first or _beginning(row[0]) in self._first


_LIST: Final = re.compile(r'\s*(\{\s*"[^"\\]{1,64}"\s*:\s*)?\[(?=\s*(?:\{|\n|\r|\Z))')
"""How a list begins, or an object whose first value is one."""
_PAGE: Final = re.compile(r'\}[ \t]*[\r\n]+\{\s*"[^"\\]{1,64}"\s*:\s*\[\s*\{')
"""Another object with a list, behind the first."""
_HEAD: Final = 3
"""So many lines are looked at for it."""
_BETWEEN: Final = re.compile(r"[\s,]*")
_LONGEST_VALUE: Final = 64 * 2**20


def objects(lines: Iterable[str], source: str) -> Iterator[Mapping[str, object] | None]:
    """Give each object; None for what is none.

    Raises
    ------
    InputError
        If a list breaks off or is no JSON.
    """
    filled = (line for line in lines if line.strip())
    first = list(islice(filled, 1))
    alone = _object(first[0]) if first else None
    more = list(islice(filled, 1)) if alone is not None else []
    if alone is None and not "".join(first).lstrip().startswith("["):
        first += islice(filled, _HEAD - 1)
    head = "".join(first)
    start = _LIST.match(head) if alone is None else None
    if start:
        rows = chain([head[start.end() :]], filled)
        yield from _listed(rows, source, is_within=start.group(1) is not None)
    elif _within(alone) and (not more or len(alone or ()) == 1):
        for page in map(_object, _beginnings(chain(first, more, filled))):
            yield from _within(page) or [None]
    else:
        yield from map(_object, _beginnings(chain(first, more, filled)))


def _within(page: Mapping[str, object] | None) -> list[Mapping[str, object] | None]:
    """Give the rows of an object whose first value is a list of such."""
    held = next(iter(page.values()), None) if page else None
    return [row if isinstance(row, dict) else None for row in held] if _is_list(held) else []


def _beginnings(pieces: Iterable[str]) -> Iterator[str]:
    """Give the first piece of each line: one that was cut for its length is one broken record."""
    is_cut = False
    for piece in pieces:
        if not is_cut:
            yield piece
        is_cut = not piece.endswith(("\n", "\r")) and (is_cut or len(piece) >= _LONGEST_VALUE)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _object(line: str) -> Mapping[str, object] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _listed(
    pieces: Iterable[str], source: str, *, is_within: bool
) -> Iterator[Mapping[str, object] | None]:
    """Read a list as it comes, and lists behind it; of an object, its first list alone."""
    text, count, enough, is_over = "", 0, 0, False
    for piece in chain(pieces, ("",)):
        text += piece
        if piece and len(text) < enough:
            continue
        rows, at, is_over = _elements(text, is_over=is_over)
        yield from rows
        count += len(rows)
        if is_over and is_within:
            if _PAGE.search(text[at:] + "".join(pieces)):
                told = "several objects with a list each; write each to a file of its own."
                raise InputError(f"{source}: {told}")
            return
        if at < 0 or len(text) - at > _LONGEST_VALUE:
            raise _broken(source, count)
        text = text[at:]
        enough = len(text) * 2  # an object of many lines is not tried again at each of them
    if not is_over:
        raise _broken(source, count)


def _elements(text: str, *, is_over: bool) -> tuple[list[Mapping[str, object] | None], int, bool]:
    """Read what is whole; gives the rows, where reading ended (-1: broken), and if a list did."""
    decode = json.JSONDecoder().raw_decode
    rows: list[Mapping[str, object] | None] = []
    at = 0
    while (at := _between(text, at)) < len(text):
        if text[at] == ("[" if is_over else "]"):
            is_over, at = not is_over, at + 1
            continue
        if is_over:
            return rows, -1, is_over
        try:
            row, at = decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            return rows, at if _breaks_off(error, text) else -1, is_over
        rows.append(row if isinstance(row, dict) else None)
    return rows, at, is_over


def _between(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _breaks_off(error: json.JSONDecodeError | RecursionError, text: str) -> bool:
    """Tell an object that has not ended yet from one that is broken."""
    if isinstance(error, RecursionError):
        return False
    return error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated")


def _broken(source: str, count: int) -> InputError:
    return InputError(
        f"{source}: the list breaks off or is no JSON behind its row {count}; export it again."
    )
