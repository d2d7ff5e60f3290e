"""What a figure is made of before it is PDF or SVG: immutable marks in points, y pointing down.

Every figure draws marks into a `Drawing` (``structure.py``) inside the frame it is given. They
become a PDF page (``pdf.py``), inline SVG (``svg.py``) and the golden tests' values, so what is
tested is what is printed. ``id`` names a mark for tests and for hovering, ``hint`` is the sentence
shown on hover in the HTML companion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Anchor",
    "Box",
    "Disc",
    "Line",
    "Mark",
    "Picture",
    "Polygon",
    "Rect",
    "Ribbon",
    "Text",
]

Anchor: TypeAlias = Literal["start", "middle", "end"]
Shape: TypeAlias = Literal["circle", "diamond", "ring"]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: left, top, width, height in points.

    >>> Box(0, 0, 100, 50).inset(10, 5)
    Box(x=10, y=5, width=80, height=40)
    """

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.y + self.height

    def inset(self, across: float, down: float) -> Box:
        """Take a margin off each side."""
        return Box(self.x + across, self.y + down, self.width - 2 * across, self.height - 2 * down)

    def cut(
        self, *, left: float = 0.0, top: float = 0.0, right: float = 0.0, bottom: float = 0.0
    ) -> Box:
        """Take the given strips off."""
        return Box(
            self.x + left, self.y + top, self.width - left - right, self.height - top - bottom
        )

    def columns(self, count: int, *, gutter: float) -> tuple[Box, ...]:
        """Equal columns with a gutter between them."""
        width = (self.width - gutter * (count - 1)) / count
        return tuple(
            Box(self.x + i * (width + gutter), self.y, width, self.height) for i in range(count)
        )


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; ``y`` is its baseline."""

    x: float
    y: float
    string: str
    font: str
    size: float
    colour: str
    anchor: Anchor = "start"
    id: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A straight stroke."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    width: float = 0.5
    dash: tuple[float, ...] = ()
    id: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle, filled, outlined or both."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 0.5
    radius: float = 0.0
    id: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Polygon:
    """A run of points: an area when ``fill`` is given, a polyline otherwise."""

    points: tuple[tuple[float, float], ...]
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 0.5
    dash: tuple[float, ...] = ()
    id: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Ribbon:
    """A band that leaves ``(x1, y1..y1+width1)`` level and arrives at ``(x2, ...)`` level."""

    x1: float
    y1: float
    width1: float
    x2: float
    y2: float
    width2: float
    fill: str
    id: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Disc:
    """A point mark centred at (x, y) with half-size ``r``."""

    x: float
    y: float
    r: float
    shape: Shape = "circle"
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 0.8
    id: str = ""
    hint: str = ""

    @property
    def corners(self) -> tuple[tuple[float, float], ...]:
        """Corners of a diamond, clockwise."""
        x, y, r = self.x, self.y, self.r
        return (x, y - r), (x + r, y), (x, y + r), (x - r, y)


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG image with its description; only the institution's logo is one."""

    x: float
    y: float
    width: float
    height: float
    png: bytes
    hint: str = ""
    id: str = ""


Mark: TypeAlias = Text | Line | Rect | Polygon | Ribbon | Disc | Picture
