"""Tables: hairlines, no boxes, numbers flush right, text flush left, header repeated on each page.

A cell is a string, or a :class:`Span` that draws an estimate with its interval on a common scale.
A text column may wrap; every other cell is fitted to its column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from reports.marks import Box, Disc, Drawing, Line, Rect
from reports.style import CAPTION, FIGURE, NOTE, Type, palette
from reports.typeset import fit, paragraph, paragraph_height, put, wrap

__all__ = ["Cell", "Column", "Row", "Span", "Table", "TickBox"]

_PAD: Final = 3.0
_GAP: Final = 8.0


@dataclass(frozen=True, slots=True)
class Span:
    """An estimate with its interval, drawn on the column's scale ``domain``."""

    value: float
    low: float
    high: float
    domain: tuple[float, float]
    reference: float | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class TickBox:
    """An empty square to tick with a pen."""


Cell: TypeAlias = str | Span | TickBox


@dataclass(frozen=True, slots=True)
class Column:
    """A column: header, share of the table's width, alignment, and whether its text wraps."""

    title: str
    share: float
    align: Literal["left", "right"] = "left"
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row of cells; ``quiet`` rows are grey (not reportable), ``strong`` ones bold."""

    cells: tuple[Cell, ...]
    strong: bool = False
    quiet: bool = False

    @property
    def kind(self) -> Type:
        """Type of the row's text."""
        return FIGURE.bold if self.strong else FIGURE

    @property
    def colour(self) -> str:
        """Ink of the row's text."""
        return palette.muted if self.quiet else palette.ink


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows; ``empty`` is printed where there are no rows."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    empty: str = ""
    id: str = "table"

    def _widths(self, width: float) -> list[float]:
        free = width - _GAP * (len(self.columns) - 1)
        total = sum(c.share for c in self.columns)
        return [free * c.share / total for c in self.columns]

    def _row_height(self, row: Row, widths: list[float]) -> float:
        lines = CAPTION.leading
        for cell, column, width in zip(row.cells, self.columns, widths, strict=True):
            if column.wraps and isinstance(cell, str):
                lines = max(lines, paragraph_height(cell, CAPTION, width))
        return lines + _PAD

    def _header_height(self, widths: list[float]) -> float:
        heights = [
            paragraph_height(c.title, NOTE.bold, w)
            for c, w in zip(self.columns, widths, strict=True)
        ]
        return max(heights) + _PAD + 1.0

    def height(self, width: float) -> float:
        """Header and all rows."""
        widths = self._widths(width)
        rows = sum(self._row_height(row, widths) for row in self.rows)
        return self._header_height(widths) + (rows or CAPTION.leading + _PAD) + 1.0

    def split(self, width: float, room: float) -> tuple[Table | None, Table | None]:
        """Cut between rows; fewer than three rows are not left alone under a header."""
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
        if fitting < 3:
            return None, self
        head = replace(self, rows=self.rows[:fitting])
        return head, replace(self, rows=self.rows[fitting:])

    def draw(self, drawing: Drawing, box: Box) -> None:
        """Header, hairlines, rows."""
        widths = self._widths(box.width)
        y = self._draw_header(drawing, box, widths)
        if not self.rows:
            put(
                drawing,
                box.x,
                y + CAPTION.leading,
                self.empty,
                CAPTION.oblique,
                colour=palette.muted,
            )
            return
        for i, row in enumerate(self.rows):
            height = self._row_height(row, widths)
            self._draw_row(drawing, row, Box(box.x, y, box.width, height), widths, i)
            y += height
            last = i == len(self.rows) - 1
            ink = palette.rule if last else palette.hairline
            drawing.add(Line(box.x, y, box.right, y, ink, 0.5))

    def _draw_header(self, drawing: Drawing, box: Box, widths: list[float]) -> float:
        height = self._header_height(widths)
        x = box.x
        for column, width in zip(self.columns, widths, strict=True):
            tall = paragraph_height(column.title, NOTE.bold, width)
            top = box.y + height - _PAD - tall
            _set(
                drawing,
                Box(x, top, width, tall),
                column.title,
                NOTE.bold,
                column.align,
                palette.muted,
            )
            x += width + _GAP
        y = box.y + height
        drawing.add(Line(box.x, y, box.right, y, palette.ink, 0.6))
        return y

    def _draw_row(self, drawing: Drawing, row: Row, box: Box, widths: list[float], i: int) -> None:
        x = box.x
        baseline = box.y + _PAD / 2 + 7.8
        for j, (cell, column, width) in enumerate(
            zip(row.cells, self.columns, widths, strict=True)
        ):
            if isinstance(cell, Span):
                _span(drawing, Box(x, box.y, width, box.height), cell, quiet=row.quiet)
            elif isinstance(cell, TickBox):
                side = Box(x + 1.0, box.y + box.height / 2 - 3.7, 7.4, 7.4)
                drawing.add(Rect(side.x, side.y, side.width, side.height, stroke=palette.ink))
            elif column.wraps:
                slot = Box(x, box.y + _PAD / 2, width, box.height)
                kind = CAPTION.bold if row.strong else CAPTION
                paragraph(drawing, slot, cell, kind, colour=row.colour, id=f"{self.id}.{i}.{j}")
            else:
                text, kind = fit(cell, row.kind, width)
                right = column.align == "right"
                put(
                    drawing,
                    x + width if right else x,
                    baseline,
                    text,
                    kind,
                    colour=row.colour,
                    anchor="end" if right else "start",
                    id=f"{self.id}.{i}.{j}",
                )
            x += width + _GAP


def _set(drawing: Drawing, box: Box, text: str, kind: Type, align: str, colour: str) -> None:
    """A header cell of one or more lines."""
    for i, line in enumerate(wrap(text, kind, box.width)):
        y = box.y + i * kind.leading + (kind.leading - kind.size) / 2 + 0.76 * kind.size
        right = align == "right"
        x = box.right if right else box.x
        put(drawing, x, y, line, kind, colour=colour, anchor="end" if right else "start")


def _span(drawing: Drawing, box: Box, span: Span, *, quiet: bool) -> None:
    low, high = span.domain

    def at(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return box.x + share * box.width

    middle = box.y + box.height / 2
    if span.reference is not None:
        x = at(span.reference)
        drawing.add(Line(x, box.y, x, box.bottom, palette.rule, 0.5))
    if span.value != span.value:
        return
    ink = palette.own_soft if quiet else palette.own
    if span.low == span.low and span.high == span.high:
        drawing.add(Line(at(span.low), middle, at(span.high), middle, ink, 1.0, hint=span.hint))
    drawing.add(Disc(at(span.value), middle, 2.2, "circle", ink, hint=span.hint))
