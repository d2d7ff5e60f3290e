"""Measuring and breaking text: what fits is known before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from reportlab.pdfbase import pdfmetrics

from reports.drawing.marks import Anchor, Box, Drawing, Role, Text
from reports.drawing.style import Type, register_fonts

_ASCENT: Final = 0.76
_SMALLEST: Final = 7.0
"""Points of the smallest type on any page."""
_STEP: Final = 5.0
_ENOUGH: Final = 3
_ELLIPSIS: Final = "…"


@lru_cache(maxsize=65536)
def width_of_font(string: str, font: str, size: float) -> float:
    """Width of one line in points, for a mark that carries its font by name."""
    register_fonts()
    return float(pdfmetrics.stringWidth(string, font, size))


def width_of(string: str, kind: Type) -> float:
    """Width of one line in points."""
    return width_of_font(string, kind.font, kind.size)


def adjoins(mark: Text, after: Text) -> bool:
    """Whether a piece of text goes on where another ends."""
    end = mark.x + width_of_font(mark.string, mark.font, mark.size)
    return mark.y == after.y and mark.anchor == "start" and abs(after.x - end) < 0.1


def ends(mark: Text) -> tuple[float, float]:
    """Where a line of text begins and ends across."""
    width = width_of_font(mark.string, mark.font, mark.size)
    start = mark.x - {"start": 0.0, "middle": width / 2, "end": width}[mark.anchor]
    return start, start + width


def put(
    drawing: Drawing,
    at: tuple[float, float],
    string: str,
    kind: Type,
    *,
    anchor: Anchor = "start",
    id: str = "",  # noqa: A002 - the attribute it becomes in SVG
) -> None:
    """Draw one line that begins, has its middle or ends at a point of its baseline."""
    drawing.add(Text(*at, string, kind.font, kind.size, kind.colour, anchor, id=id))


def fit(string: str, kind: Type, width: float) -> tuple[str, Type]:
    """Make a line fit: first in smaller type, then with an ellipsis in place of its end."""
    natural = width_of(string, kind)
    if natural <= width:
        return string, kind
    kind = replace(kind, size=min(max(_SMALLEST, kind.size * width / natural), kind.size))
    if width_of(string, kind) <= width * 1.0001:
        return string, kind
    return _cut(string, kind, width), kind


def _cut(string: str, kind: Type, width: float) -> str:
    """Put an ellipsis in place of as much of a line's end as must go."""
    while string and width_of(string + _ELLIPSIS, kind) > width:
        string = string[:-1].rstrip()
    return string + _ELLIPSIS


@dataclass(frozen=True, slots=True)
class _Word:
    string: str
    bold: bool
    glued: bool
    """True when no space separates it from the word before (a change of weight inside a word)."""


def _words(text: str) -> Iterator[_Word]:
    bold, glued = False, False
    for i, part in enumerate(text.split("**")):
        bold = i % 2 == 1
        for j, token in enumerate(part.split(" ")):
            if token:
                yield _Word(token, bold, glued and j == 0)
        glued = bool(part) and not part.endswith(" ")


def _pieces(word: _Word, kind: Type, width: float) -> Iterator[_Word]:
    """Break a word that is wider than a line into pieces that are not."""
    string, glued = word.string, word.glued
    while string:
        end = len(string)
        while end > 1 and width_of(string[:end], kind) > width:
            end -= 1
        yield _Word(string[:end], word.bold, glued)
        string, glued = string[end:], False


def _clusters(text: str, kind: Type, width: float) -> Iterator[list[_Word]]:
    """Words that must stay together (a bold word and the comma behind it)."""
    cluster: list[_Word] = []
    for word in _words(text):
        for piece in _pieces(word, kind.bold if word.bold else kind, width):
            if cluster and not piece.glued:
                yield cluster
                cluster = []
            cluster.append(piece)
    if cluster:
        yield cluster


@lru_cache(maxsize=4096)
def _lines(text: str, kind: Type, width: float) -> tuple[tuple[_Word, ...], ...]:
    lines: list[tuple[_Word, ...]] = []
    line: list[_Word] = []
    used = 0.0
    space = width_of(" ", kind.bold)
    for cluster in _clusters(text, kind, width):
        advance = sum(width_of(w.string, kind.bold if w.bold else kind) for w in cluster)
        if line and used + space + advance > width:
            lines.append(tuple(line))
            line, used = [], 0.0
        used += advance + (space if line else 0.0)
        line.extend(cluster)
    if line:
        lines.append(tuple(line))
    return tuple(_accompanied(lines, kind, width))


def _accompanied(
    lines: list[tuple[_Word, ...]], kind: Type, width: float
) -> list[tuple[_Word, ...]]:
    """Give a lone last word the one before it, where that leaves two words or more above."""
    starts = [i for i, word in enumerate(lines[-2]) if not word.glued] if lines[1:] else []
    if len(starts) < _ENOUGH or not all(word.glued for word in lines[-1][1:]):
        return lines
    *before, above, last = lines
    last = above[starts[-1] :] + last
    fits = sum(width_of(f"{w.string} ", kind.bold if w.bold else kind) for w in last) <= width
    return [*before, above[: starts[-1]], last] if fits else lines


def wrap(text: str, kind: Type, width: float) -> list[str]:
    """Break a text into lines, ``**bold**`` marks taken out.

    >>> from reports.drawing.style import BODY
    >>> wrap("one two", BODY, 20.0)
    ['one', 'two']
    """
    return [
        "".join(("" if w.glued or i == 0 else " ") + w.string for i, w in enumerate(line))
        for line in _lines(text, kind, width)
    ]


def at_most(text: str, kind: Type, width: float, *, lines: int) -> list[str]:
    """Break a text into so many lines; where it needs more, the last one ends in an ellipsis.

    >>> from reports.drawing.style import BODY
    >>> at_most("one two three", BODY, 24.0, lines=2)
    ['one', 'two…']
    """
    every = wrap(text, kind, width)
    if len(every) <= lines:
        return every
    return [*every[: lines - 1], _cut(every[lines - 1], kind, width)]


def balanced(text: str, kind: Type, width: float) -> float:
    """Narrow a width as far as the text needs no more lines: its last one is no single word.

    >>> from reports.drawing.style import BODY
    >>> wrap("a b c d e f g h i j k l", BODY, balanced("a b c d e f g h i j k l", BODY, 65.0))
    ['a b c d e f', 'g h i j k l']
    """
    lines = len(wrap(text, kind, width))
    while len(wrap(text, kind, width - _STEP)) == lines and width > 2 * _STEP:
        width -= _STEP
    return width


def paragraph_height(text: str, kind: Type, width: float) -> float:
    """Height a text takes at this width."""
    return len(_lines(text, kind, width)) * kind.leading


def _runs(line: tuple[_Word, ...]) -> Iterator[tuple[str, bool]]:
    """Neighbouring words of one weight as one string, with the space before it."""
    string, bold = "", line[0].bold
    for i, word in enumerate(line):
        lead = "" if word.glued or i == 0 else " "
        if word.bold != bold:
            yield string, bold
            string, bold = "", word.bold
        string += lead + word.string
    yield string, bold


def paragraph(
    drawing: Drawing,
    box: Box,
    text: str,
    kind: Type,
    *,
    id: str = "",  # noqa: A002
) -> float:
    """Set a text flush left from the box's top; returns the y below its last line."""
    y = box.y
    with drawing.text():
        for line in _lines(text, kind, box.width):
            x = box.x
            baseline = y + (kind.leading - kind.size) / 2 + _ASCENT * kind.size
            for string, bold in _runs(line):
                face = kind.bold if bold else kind
                put(drawing, (x, baseline), string, face, id=id)
                x += width_of(string, face)
            y += kind.leading
    return y


def heading(drawing: Drawing, x: float, y: float, text: str, kind: Type, role: Role) -> None:
    """Draw a heading of one line with its baseline at ``y``."""
    with drawing.tag(role):
        put(drawing, (x, y), text, kind)
