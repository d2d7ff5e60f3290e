"""Tables: hairlines, no boxes, numbers flush right, text flush left, header repeated on each page.

A cell is a string, or a :class:`Span` that draws an estimate with its interval on a common scale.
A text column may wrap; every other cell is fitted to its column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from reports.drawing.axes import Scale
from reports.drawing.marks import Anchor, Box, Disc, Drawing, Field, Line, Rect
from reports.drawing.style import CAPTION, FIGURE, NOTE, Type, palette
from reports.drawing.typeset import at_most, fit, paragraph_height, put, width_of, wrap
from reports.numbers import BLANK
from reports.strings import Strings

_PAD: Final = 3.0
_STRETCH: Final = 9.0
"""Points by which a row grows when everything is set twice as wide."""
_GAP: Final = 8.0
CLOSE: Final = 4.0
"""White space between the columns of a list of cases, whose rows stay on one line."""
_SPAN: Final = 50.0
"""Least width of a drawn interval."""
_MOST_LINES: Final = 12
_LEAST_ROWS: Final = 3
# Rows below which what a page break leaves of a long table looks lost.
FEW_ROWS: Final = 6
_WIDEST, _EASY, _CODE = 150.0, 80.0, 68.0
"""A cell wider than this is fitted instead of widening its column; or wrapped, where it may be; a
cell up to the last, such as a code, stays whole."""


@dataclass(frozen=True, slots=True)
class Span:
    """An estimate with its interval, drawn on the column's scale ``domain``."""

    value: float
    low: float
    high: float
    domain: tuple[float, float]
    reference: float | None = None
    hint: str = ""


Cell: TypeAlias = str | Span | Field
"""A text, an estimate, or an empty square to tick, with a pen or on the screen."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: header, share of the table's width, alignment, and whether its text wraps."""

    title: str
    share: float
    align: Literal["left", "right"] = "left"
    wraps: bool = False

    def edge(self, box: Box) -> tuple[float, Anchor]:
        """Where a line of text in this column begins, or ends."""
        return (box.right, "end") if self.align == "right" else (box.x, "start")


def heads(
    words: Strings, room: str, *columns: tuple[str, float] | tuple[str, float, str]
) -> tuple[Column, ...]:
    """Head columns by the words of one room: key, share, and ``right`` or ``wraps`` if it is so."""
    return tuple(
        Column(words(f"{room}.{key}"), share, "right" if "right" in how else "left", "wraps" in how)
        for key, share, *how in columns
    )


@dataclass(frozen=True, slots=True)
class Row:
    """A row of cells; ``quiet`` rows are grey (not reportable), ``strong`` ones bold."""

    cells: tuple[Cell, ...]
    strong: bool = False
    quiet: bool = False

    @property
    def kind(self) -> Type:
        """Type of the row's text."""
        kind = FIGURE.bold if self.strong else FIGURE
        return kind.muted if self.quiet else kind


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows; ``empty`` is printed where there are no rows."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    empty: str = ""
    id: str = "table"
    fixed: tuple[float, ...] = ()
    """Column widths in points, once a page break has made them common to all parts."""
    pad: float = _PAD
    """White space of each row, in points."""
    gap: float = _GAP
    """White space between columns, in points."""

    def scaled(self, spread: float) -> Table:
        """Set the rows closer or wider."""
        return replace(self, pad=self.pad + _STRETCH * (spread - 1.0))

    def _widths(self, width: float) -> tuple[float, ...]:
        """Widths that show every cell whole where that is possible; shares divide what is left.

        No column is narrower than the longest word of its head, whatever its cells must give up.
        """
        if self.fixed:
            return self.fixed
        free = width - self.gap * (len(self.columns) - 1)
        needs = [self._need(j) for j in range(len(self.columns))]
        over = sum(needs) - free
        if over > 0:
            least = [self._least(j) for j in range(len(self.columns))]
            each = zip(least, needs, self.columns, strict=True)
            codes = [low if c.wraps else max(low, min(need, _CODE)) for low, need, c in each]
            return _narrowed(codes if sum(codes) <= free else least, needs, free)
        total = sum(column.share for column in self.columns)
        return tuple(n - over * c.share / total for n, c in zip(needs, self.columns, strict=True))

    def _need(self, j: int) -> float:
        """Width that column j would have: its longest header word and its widest cell."""
        most = _EASY if self.columns[j].wraps else _WIDEST
        needs = [self._least(j)]
        for row in self.rows:
            cell = row.cells[j]
            if isinstance(cell, Span):
                needs.append(_SPAN)
            elif isinstance(cell, str):
                needs.append(min(width_of(cell, row.kind), most))
        return max(needs) + 0.5

    def _least(self, j: int) -> float:
        """Width below which column j breaks a word of its head, or of cells that wrap."""
        words = [_longest(self.columns[j].title)]
        if self.columns[j].wraps:
            cells = ((row.cells[j], row.kind) for row in self.rows)
            parts = ((part, kind) for cell, kind in cells if isinstance(cell, str)
                     for part in cell.split(" "))  # fmt: skip
            words.extend(min(width_of(part, kind), _WIDEST) for part, kind in parts)
        return max(words)

    def _head(self, widths: tuple[float, ...]) -> Type:
        """Give the type of the heads: smaller where all longest words side by side are too wide."""
        fits = (w / max(_longest(c.title), w) for c, w in zip(self.columns, widths, strict=True))
        return replace(NOTE.bold, size=NOTE.size * min(fits))

    def _row_height(self, row: Row, widths: tuple[float, ...]) -> float:
        lines = CAPTION.leading
        for cell, column, width in zip(row.cells, self.columns, widths, strict=True):
            if column.wraps and isinstance(cell, str):
                many = min(len(wrap(cell, row.kind, width)), _MOST_LINES)
                lines = max(lines, many * CAPTION.leading)
        return lines + self.pad

    def _header_height(self, widths: tuple[float, ...]) -> float:
        kind = self._head(widths)
        heights = [
            paragraph_height(c.title, kind, w) for c, w in zip(self.columns, widths, strict=True)
        ]
        return max(heights) + _PAD + 1.0

    def height(self, width: float) -> float:
        """Add header and all rows."""
        widths = self._widths(width)
        rows = sum(self._row_height(row, widths) for row in self.rows)
        return self._header_height(widths) + (rows or CAPTION.leading + self.pad) + 1.0

    def split(
        self, width: float, room: float, *, even: bool = False
    ) -> tuple[Table | None, Table | None]:
        """Cut between rows into what fits into ``room`` (None: nothing) and the rest (None: none).

        Three rows or more stand above, and below six, or half of few rows or where it is even.
        """
        widths = self._widths(width)
        used = self._header_height(widths) + 1.0
        fitting = 0
        for row in self.rows:
            used += self._row_height(row, widths)
            if used > room:
                break
            fitting += 1
        if fitting == len(self.rows):
            return self, None
        half = len(self.rows) // 2
        least = max(_LEAST_ROWS, half if even else min(half, FEW_ROWS))
        fitting = min(fitting, len(self.rows) - least)
        if fitting < _LEAST_ROWS:
            return None, replace(self, fixed=widths)
        head = replace(self, rows=self.rows[:fitting], fixed=widths)
        return head, replace(self, rows=self.rows[fitting:], fixed=widths)

    def draw(self, drawing: Drawing, box: Box) -> None:
        """Header, hairlines, rows."""
        widths = self._widths(box.width)
        with drawing.tag("Table"):
            with drawing.tag("TR"):
                y = self._draw_header(drawing, box, widths)
            if not self.rows:
                with drawing.tag("TR"), drawing.tag("TD"):
                    at = (box.x, y + CAPTION.leading)
                    put(drawing, at, self.empty, CAPTION.oblique.muted)
            for i, row in enumerate(self.rows):
                height = self._row_height(row, widths)
                with drawing.tag("TR"):
                    self._draw_row(drawing, row, Box(box.x, y, box.width, height), widths, i)
                y += height
                ink = palette.rule if i == len(self.rows) - 1 else palette.hairline
                drawing.add(Line(box.x, y, box.right, y, ink, 0.5))

    def _draw_header(self, drawing: Drawing, box: Box, widths: tuple[float, ...]) -> float:
        height, kind = self._header_height(widths), self._head(widths)
        x = box.x
        for column, width in zip(self.columns, widths, strict=True):
            tall = paragraph_height(column.title, kind, width)
            top = box.y + height - _PAD - tall
            with drawing.tag("TH", scope="Column"):
                _header_cell(drawing, Box(x, top, width, tall), column, kind)
            x += width + self.gap
        y = box.y + height
        drawing.add(Line(box.x, y, box.right, y, palette.ink, 0.6))
        return y

    def _draw_row(
        self, drawing: Drawing, row: Row, box: Box, widths: tuple[float, ...], i: int
    ) -> None:
        x = box.x
        for j, (cell, column, width) in enumerate(
            zip(row.cells, self.columns, widths, strict=True)
        ):
            slot = Box(x, box.y + (self.pad - _PAD) / 2, width, box.height - (self.pad - _PAD))
            with drawing.tag("TD") if j else drawing.tag("TH", scope="Row"):
                if isinstance(cell, Span):
                    draw_span(drawing, slot, cell, quiet=row.quiet)
                elif isinstance(cell, Field):
                    _tick_box(drawing, slot, cell)
                else:
                    _text(drawing, slot, cell, column, row, f"{self.id}.{i}.{j}")
            x += width + self.gap


def _longest(title: str) -> float:
    """Width of a head's longest word, with a hair to spare."""
    return max((width_of(word, NOTE.bold) for word in title.split(" ")), default=0.0) + 0.1


def _narrowed(heads: list[float], needs: list[float], free: float) -> tuple[float, ...]:
    """Take what is missing from the widest cells, down to one width; from heads only at last."""
    if sum(heads) > free:
        return tuple(head * free / sum(heads) for head in heads)
    low, high = 0.0, max(needs)
    for _ in range(30):
        most = (low + high) / 2
        widths = [max(head, min(need, most)) for head, need in zip(heads, needs, strict=True)]
        low, high = (most, high) if sum(widths) <= free else (low, most)
    return tuple(max(head, min(need, low)) for head, need in zip(heads, needs, strict=True))


def _text(drawing: Drawing, slot: Box, cell: str, column: Column, row: Row, name: str) -> None:
    """Set a text cell: wrapped, or fitted to one line."""
    baseline = slot.y + _PAD / 2 + 7.2
    if column.wraps:
        for i, line in enumerate(at_most(cell, row.kind, slot.width, lines=_MOST_LINES)):
            put(drawing, (slot.x, baseline + i * CAPTION.leading), line, row.kind, id=name)
        return
    text, kind = fit(cell, row.kind, slot.width)
    x, anchor = column.edge(slot)
    put(drawing, (x, baseline), text, kind, anchor=anchor, id=name)


def _header_cell(drawing: Drawing, box: Box, column: Column, kind: Type) -> None:
    """Set a header cell of one or more lines."""
    x, anchor = column.edge(box)
    for i, line in enumerate(wrap(column.title, kind, box.width)):
        y = box.y + i * kind.leading + (kind.leading - kind.size) / 2 + 0.76 * kind.size
        put(drawing, (x, y), line, kind.muted, anchor=anchor)


def _tick_box(drawing: Drawing, slot: Box, cell: Field) -> None:
    frame = Box(slot.x + 1.0, slot.y + 2.9, 7.4, 7.4)
    drawing.ask(cell, frame)
    drawing.add(Rect(frame.x, frame.y, frame.width, frame.height, stroke=palette.ink))


def draw_span(drawing: Drawing, box: Box, span: Span, *, quiet: bool) -> None:
    """Draw an estimate with its interval on the column's scale."""
    scale = Scale(*span.domain, box.x, box.right)
    middle, ink = box.y + box.height / 2, palette.own_soft if quiet else palette.own
    with drawing.tag("Figure", alt=span.hint or BLANK, box=box):
        for x in (box.x, box.right):
            drawing.add(Line(x, box.y, x, box.bottom, palette.hairline, 0.5))
        if span.reference is not None:
            x = scale(span.reference)
            drawing.add(Line(x, box.y, x, box.bottom, palette.rule, 0.5))
        if math.isnan(span.value):
            return
        if not (math.isnan(span.low) or math.isnan(span.high)):
            ends = scale(span.low), scale(span.high)
            drawing.add(Line(ends[0], middle, ends[1], middle, ink, 1.0, hint=span.hint))
        drawing.add(Disc(scale(span.value), middle, 2.2, ink, hint=span.hint))
