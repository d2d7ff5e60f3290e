"""Marks to tagged PDF bytes: embedded fonts, bookmarks, title, language, the same every time."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import groupby, zip_longest
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from reports.content import Masthead
from reports.drawing.marks import Disc, Drawing, Line, Mark, Picture, Polygon, Rect, Ribbon, Text
from reports.drawing.style import register_fonts
from reports.drawing.tagged import Structure
from reports.drawing.typeset import adjoins, width_of_font
from reports.strings import Strings


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What a PDF says about itself; never a name, a path or an identifier."""

    title: str
    author: str
    subject: str
    language: str = "en-GB"


def published(page: str, pages: Sequence[Drawing], head: Masthead, words: Strings) -> bytes:
    """Render a page of the catalogue, which says of itself what masthead and catalogue say."""
    title, subject = words(f"{page}.title"), words(f"{page}.subject")
    return to_pdf(pages, info=DocumentInfo(title, head.institution, subject, words.tag))


def to_pdf(pages: Sequence[Drawing], *, info: DocumentInfo) -> bytes:
    """Render pages to PDF; two calls on equal pages give equal bytes."""
    register_fonts()
    buffer = io.BytesIO()
    canvas = Canvas(
        buffer,
        pagesize=(pages[0].width, pages[0].height),
        invariant=1,
        pageCompression=1,
        initialFontName="Book",
        lang=info.language,
        pdfVersion=(1, 7),
    )
    canvas.setTitle(info.title)
    canvas.setAuthor(info.author)
    canvas.setSubject(info.subject)
    canvas.setCreator("radcal")
    structure = Structure(canvas, pages)
    for number, page in enumerate(pages):
        _page(canvas, page, number, structure)
        canvas.showPage()
    structure.write(title=info.title)
    canvas.showOutline()
    canvas.save()
    return buffer.getvalue()


def _page(canvas: Any, page: Drawing, number: int, structure: Structure) -> None:
    canvas.setPageSize((page.width, page.height))
    for i, entry in enumerate(page.bookmarks):
        key = f"p{number}-{i}"
        canvas.bookmarkHorizontal(key, 0, page.height - entry.y)
        canvas.addOutlineEntry(entry.title, key, entry.level, closed=False)
    pen = _Pen(canvas, page.height)
    each = zip(page.owners, page.marks, strict=True)
    for _, run in groupby(each, key=lambda pair: id(pair[0])):
        marks = list(run)
        canvas._code.append(structure.open(marks[0][0], number))
        for mark in _spaced([mark for _, mark in marks]):
            _paint(mark, pen)
        canvas._code.append("EMC")


def _spaced(marks: list[Mark]) -> Iterator[Mark]:
    """End a piece of text with a space where the next one of its element stands apart from it."""
    for mark, after in zip_longest(marks, marks[1:]):
        if isinstance(mark, Text) and isinstance(after, Text) and not adjoins(mark, after):
            yield replace(mark, string=f"{mark.string} ")
        else:
            yield mark


class _Pen:
    """A canvas with y pointing down, remembering what it last set so as to say it once."""

    __slots__ = ("_dash", "_fill", "_stroke", "_width", "canvas", "height")

    def __init__(self, canvas: Canvas, height: float) -> None:
        self.canvas: Any = canvas
        self.height = height
        self._fill = self._stroke = ""
        self._width = -1.0
        self._dash: tuple[float, ...] | None = None

    def y(self, y: float) -> float:
        return self.height - y

    def ink(
        self, fill: str | None, stroke: str | None, width: float, dash: tuple[float, ...] = ()
    ) -> dict[str, int]:
        """Set what differs from last time; return what a shape is then drawn with."""
        draw = {"stroke": int(stroke is not None), "fill": int(fill is not None)}
        if fill is not None and fill != self._fill:
            self.canvas.setFillColor(HexColor(fill))
            self._fill = fill
        if stroke is None:
            return draw
        if stroke != self._stroke:
            self.canvas.setStrokeColor(HexColor(stroke))
            self._stroke = stroke
        if width != self._width:
            self.canvas.setLineWidth(width)
            self._width = width
        if dash != self._dash:
            self.canvas.setDash(list(dash))
            self._dash = dash
        return draw


@singledispatch
def _paint(mark: Mark, pen: _Pen) -> None:
    raise TypeError(f"Marks of type {type(mark).__name__} cannot be painted; register a painter.")


@_paint.register
def _(mark: Text, pen: _Pen) -> None:
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor]
    dx = -shift * width_of_font(mark.string.rstrip(), mark.font, mark.size) if shift else 0.0
    pen.ink(mark.colour, None, 0.0)
    pen.canvas.setFont(mark.font, mark.size)
    pen.canvas.drawString(mark.x + dx, pen.y(mark.y), mark.string)


@_paint.register
def _(mark: Line, pen: _Pen) -> None:
    pen.ink(None, mark.colour, mark.width, mark.dash)
    pen.canvas.line(mark.x1, pen.y(mark.y1), mark.x2, pen.y(mark.y2))


@_paint.register
def _(mark: Rect, pen: _Pen) -> None:
    draw = pen.ink(mark.fill, mark.stroke, mark.stroke_width)
    pen.canvas.rect(mark.x, pen.y(mark.y + mark.height), mark.width, mark.height, **draw)


@_paint.register
def _(mark: Polygon, pen: _Pen) -> None:
    draw = pen.ink(mark.fill, mark.stroke, mark.stroke_width, mark.dash)
    pen.canvas.drawPath(_path(pen, mark.points, closed=mark.fill is not None), **draw)


@_paint.register
def _(mark: Ribbon, pen: _Pen) -> None:
    pen.ink(mark.fill, None, 0.0)
    path = pen.canvas.beginPath()
    middle = (mark.x1 + mark.x2) / 2
    top1, top2 = pen.y(mark.y1), pen.y(mark.y2)
    low1, low2 = pen.y(mark.y1 + mark.width1), pen.y(mark.y2 + mark.width2)
    path.moveTo(mark.x1, top1)
    path.curveTo(middle, top1, middle, top2, mark.x2, top2)
    path.lineTo(mark.x2, low2)
    path.curveTo(middle, low2, middle, low1, mark.x1, low1)
    path.close()
    pen.canvas.drawPath(path, stroke=0, fill=1)


@_paint.register
def _(mark: Picture, pen: _Pen) -> None:
    image = ImageReader(io.BytesIO(mark.png))
    bottom = pen.y(mark.y + mark.height)
    pen.canvas.drawImage(image, mark.x, bottom, mark.width, mark.height, mask="auto")


@_paint.register
def _(mark: Disc, pen: _Pen) -> None:
    draw = pen.ink(mark.fill, mark.stroke, mark.stroke_width)
    pen.canvas.circle(mark.x, pen.y(mark.y), mark.r, **draw)


def _path(pen: _Pen, points: Sequence[tuple[float, float]], *, closed: bool) -> Any:
    """Lead from point to point, and back if closed."""
    path = pen.canvas.beginPath()
    (x, y), *rest = points
    path.moveTo(x, pen.y(y))
    for x, y in rest:
        path.lineTo(x, pen.y(y))
    if closed:
        path.close()
    return path
