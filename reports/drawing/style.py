"""One visual language: type scale, palette, grid, paper, and the logo that stands on it.

Palette: own results are dark blue, the department is ochre, what readers of a word expect is a
pale blue-grey band. The three differ in lightness (about 25, 50 and 90 %) and in shape (disc,
triangle, band), so a grey copy and a colour-blind reader lose nothing. Nothing is red or green.

Grid: margins of 48 points, twelve columns with gutters of 12, vertical steps of 4.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from pathlib import Path
from typing import Final, Literal, ParamSpec, TypeAlias, TypeVar

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from reports.drawing.marks import Box
from reports.numbers import written
from reports.strings import Strings

MARGIN: Final = 48.0
GUTTER: Final = 12.0
_TOP: Final = 52.0
_BOTTOM: Final = 50.0
Paper: TypeAlias = Literal["A4", "Letter"]
_PAPERS: Final[dict[Paper, tuple[float, float]]] = {
    "A4": (595.28, 841.89),
    "Letter": (612.0, 792.0),
}
_FONT_FILES: Final = {
    "Book": "DejaVuSansCondensed.ttf",
    "Bold": "DejaVuSansCondensed-Bold.ttf",
    "Oblique": "DejaVuSansCondensed-Oblique.ttf",
}


class palette:
    """Named colours; lightness falls in the order band, rule, muted, department, own, ink."""

    ink: Final = "#1c1f23"
    muted: Final = "#5b636c"
    rule: Final = "#c8cdd3"
    hairline: Final = "#e3e6ea"
    paper: Final = "#ffffff"
    wash: Final = "#f4f6f8"
    band: Final = "#d9e2ec"
    own: Final = "#0f4273"
    own_soft: Final = "#9db8d3"
    department: Final = "#9f6918"


@dataclass(frozen=True, slots=True)
class Type:
    """A step of the type scale, font name, size and line distance in points, and its colour."""

    font: Literal["Book", "Bold", "Oblique"]
    size: float
    leading: float
    colour: str = palette.ink

    @property
    def bold(self) -> Type:
        """The same step in bold."""
        return replace(self, font="Bold")

    @property
    def oblique(self) -> Type:
        """The same step, slanted."""
        return replace(self, font="Oblique")

    @property
    def muted(self) -> Type:
        """The same step in the grey of what stands beside the results."""
        return replace(self, colour=palette.muted)

    def in_ink(self, colour: str) -> Type:
        """Give the same step in a colour of the palette."""
        return replace(self, colour=colour)


TITLE: Final = Type("Bold", 19.0, 24.0)
LEAD: Final = Type("Book", 12.5, 18.0)
HEADING: Final = Type("Bold", 11.5, 16.0)
SUBHEADING: Final = Type("Bold", 9.0, 12.0)
BODY: Final = Type("Book", 8.5, 12.0)
FIGURE: Final = Type("Book", 7.5, 10.0)
CAPTION: Final = Type("Book", 7.5, 10.5)
NOTE: Final = Type("Book", 7.0, 9.5)


@cache
def register_fonts() -> None:
    """Make the shipped fonts known to ReportLab under the names Book, Bold and Oblique."""
    folder = Path(__file__).parent / "fonts"
    for name, file in _FONT_FILES.items():
        pdfmetrics.registerFont(TTFont(name, str(folder / file)))


@dataclass(frozen=True, slots=True)
class Style:
    """The paper and the words of a set of pages."""

    paper: Paper = "A4"
    strings: Strings = field(default_factory=Strings.load)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a page in points."""
        return _PAPERS[self.paper]

    @property
    def body(self) -> Box:
        """The frame between header and footer that content may use."""
        width, height = self.size
        return Box(MARGIN, _TOP, width - 2 * MARGIN, height - _TOP - _BOTTOM)


def style_for(paper: Paper, *, language: str = "en") -> Style:
    """Make the style from a configuration's words: paper and language."""
    return Style(paper, Strings.load(language=language))


_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_LARGEST_FILE: Final = 500_000
_LARGEST_SIDE: Final = 4000
_LONGEST: Final = 20


class LogoError(ValueError):
    """The logo cannot be printed; the message says why and what to give instead."""


def check(png: bytes) -> tuple[int, int]:
    """Return a PNG's width and height in pixels.

    Raises
    ------
    LogoError
        When the bytes are no PNG, or too large in bytes or pixels.
    """
    if len(png) > _LARGEST_FILE:
        raise LogoError(f"logo: {len(png):,} bytes; give a PNG of at most {_LARGEST_FILE:,}.")
    if not png.startswith(_SIGNATURE) or len(png) < 24 or png[12:16] != b"IHDR":
        raise LogoError("logo: the file is not a PNG image; convert it to PNG.")
    width, height = struct.unpack(">II", png[16:24])
    if not (0 < width <= _LARGEST_SIDE and 0 < height <= _LARGEST_SIDE):
        raise LogoError(f"logo: {width} x {height} pixels; give at most {_LARGEST_SIDE} on a side.")
    if max(width, height) > _LONGEST * min(width, height):
        raise LogoError(
            f"logo: {width} x {height} pixels would be drawn as a line; give one whose longer side "
            f"is at most {_LONGEST} times the shorter."
        )
    return int(width), int(height)


def fitted(png: bytes, *, width: float, height: float) -> tuple[float, float]:
    """Size in points that fits a frame and keeps the image's proportions."""
    wide, tall = check(png)
    scale = min(width / wide, height / tall)
    return wide * scale, tall * scale


P = ParamSpec("P")
T = TypeVar("T")


def in_language(draw: Callable[P, T]) -> Callable[P, T]:
    """Let a drawing function write its numbers in the language of its keyword ``style``."""

    @wraps(draw)
    def drawn(*args: P.args, **given: P.kwargs) -> T:
        style = given.get("style")
        language = style.strings.language if isinstance(style, Style) else "en"
        with written(language):
            return draw(*args, **given)

    return drawn
