"""What a figure is made of before it is PDF or SVG: immutable marks, and a drawing that holds them.

Every figure draws marks into a `Drawing` inside the frame it is given. They become a PDF page
(``pdf.py``), inline SVG (``web.py``) and the golden tests' values, so what is
tested is what is printed. ``id`` names a mark for tests and for hovering, ``hint`` is the sentence
shown on hover in the HTML companion.

Marks drawn inside :meth:`Drawing.tag` belong to an :class:`Element` of the document's structure;
all other marks are ornament, which a screen reader leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, Final, Literal, ParamSpec, TypeAlias

Anchor: TypeAlias = Literal["start", "middle", "end"]
PHONE: Final = 180.0
"""Points across which a figure is drawn for a phone, whose 320 pixels enlarge it by 1.78."""


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

    @property
    def narrow(self) -> bool:
        """Whether this is the width of a phone, on which columns stand below one another."""
        return self.width <= PHONE

    def meets(self, other: Box) -> bool:
        """Tell whether the two share more than an edge."""
        across = self.x < other.right and other.x < self.right
        return across and self.y < other.bottom and other.y < self.bottom

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What every mark may have; no text has a hint, which would only say it again."""

    id: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Text(_Named):
    """One line of text; ``y`` is its baseline."""

    x: float
    y: float
    string: str
    font: str
    size: float
    colour: str
    anchor: Anchor = "start"


@dataclass(frozen=True, slots=True)
class Line(_Named):
    """A straight stroke."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    width: float = 0.5
    dash: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rect(_Named):
    """A rectangle, filled, outlined or both."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 0.5


@dataclass(frozen=True, slots=True)
class Polygon(_Named):
    """A run of points: an area when ``fill`` is given, a polyline otherwise."""

    points: tuple[tuple[float, float], ...]
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 0.5
    dash: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Ribbon(_Named):
    """A band that leaves ``(x1, y1..y1+width1)`` level and arrives at ``(x2, ...)`` level."""

    x1: float
    y1: float
    width1: float
    x2: float
    y2: float
    width2: float
    fill: str


@dataclass(frozen=True, slots=True)
class Disc(_Named):
    """A circle about (x, y)."""

    x: float
    y: float
    r: float
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 0.8


@dataclass(frozen=True, slots=True)
class Picture(_Named):
    """A PNG image with its description; only the institution's logo is one."""

    x: float
    y: float
    width: float
    height: float
    png: bytes


Mark: TypeAlias = Text | Line | Rect | Polygon | Ribbon | Disc | Picture


Role: TypeAlias = Literal[
    "Document", "H1", "H2", "H3", "H4", "P", "L", "LI", "LBody", "Table", "TR", "TH", "TD",
    "Figure", "Form",
]  # fmt: skip
"""Structure types of PDF 1.7 that pages are made of."""
_GROUPS: Final = frozenset({"Document", "L", "LI", "Table", "TR"})
"""Roles that hold elements; marks drawn directly in one are ornament."""


@dataclass(slots=True, eq=False)
class Element:
    """A node of a document's structure, in reading order.

    ``alt`` is said in place of what is drawn; ``box`` is a figure's frame; ``scope`` says what a
    table's header cell heads. Of a figure ``lead`` is what ``alt`` says before the values, and
    ``again`` draws it anew into another frame.
    """

    role: Role
    alt: str = ""
    box: Box | None = None
    scope: Literal["", "Column", "Row"] = ""
    inside: list[Element] = field(default_factory=list)
    lead: str = ""
    again: Callable[[Drawing, Box], None] | None = None

    @property
    def values(self) -> list[str]:
        """What a figure's ``alt`` says behind its lead; none where it is one sentence."""
        after = self.alt.removeprefix(self.lead) if self.lead else ""
        return [each for each in after.strip().split("; ") if each]


@dataclass(frozen=True, slots=True)
class Field:
    """A box to tick: one ``choice`` of the question ``name``, whose other boxes it clears.

    ``about`` is what the answer is about, as it is read back; ``says`` is read aloud. A field
    without a ``choice`` is one to write words into.
    """

    name: str
    choice: str
    about: str
    says: str


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the document outline that points at this page."""

    title: str
    level: int
    y: float


@dataclass(slots=True)
class Drawing:
    """An ordered list of marks on a page or in a figure; order is paint and reading order.

    ``owners`` names the element of each mark, None for ornament; pages of one document share a
    ``root``.
    """

    width: float
    height: float
    marks: list[Mark] = field(default_factory=list)
    bookmarks: list[Bookmark] = field(default_factory=list)
    root: Element = field(default_factory=lambda: Element("Document"))
    owners: list[Element | None] = field(default_factory=list)
    fields: list[tuple[Field, Box, Element]] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    @property
    def frame(self) -> Box:
        """The whole drawing as a box."""
        return Box(0.0, 0.0, self.width, self.height)

    @property
    def _inmost(self) -> Element:
        return self._open[-1] if self._open else self.root

    def add(self, *marks: Mark) -> None:
        """Paint marks after those already there."""
        inmost = self._inmost
        owner = None if inmost.role in _GROUPS else inmost
        self.marks.extend(marks)
        self.owners.extend([owner] * len(marks))

    @contextmanager
    def tag(
        self,
        role: Role,
        *,
        alt: str = "",
        box: Box | None = None,
        scope: Literal["", "Column", "Row"] = "",
    ) -> Iterator[Element]:
        """Make what is drawn inside part of an element; a figure holds no other."""
        element = Element(role, alt, box, scope)
        self.here.append(element)
        self._open.append(element)
        try:
            yield element
        finally:
            self._open.pop()

    def text(self) -> AbstractContextManager[object]:
        """Make what is drawn inside a paragraph, unless it is part of something already."""
        return self.tag("P") if self._inmost.role in _GROUPS else nullcontext()

    @contextmanager
    def figure(self, lead: str, frame: Box) -> Iterator[None]:
        """Make what is drawn inside a figure that is said as ``lead`` and its marks' hints."""
        start = len(self.marks)
        with self.tag("Figure", alt=lead, box=frame) as element:
            yield
        hints = dict.fromkeys(mark.hint for mark in self.marks[start:])
        element.lead = lead
        element.alt = " ".join([lead, "; ".join(hint for hint in hints if hint)]).strip()

    def resized(self, frame: Box, height: float) -> Box:
        """Make a drawing that holds one figure as tall as the figure needs to be."""
        self.height = frame.y + height
        return Box(frame.x, frame.y, frame.width, height)

    @property
    def here(self) -> list[Element]:
        """The elements inside the one that is open."""
        return self._inmost.inside

    def ask(self, question: Field, box: Box) -> None:
        """Put a box to tick, or a field to write into, on the page."""
        with self.tag("Form", alt=question.says) as element:
            self.fields.append((question, box, element))


P = ParamSpec("P")


def reflows(
    draw: Callable[Concatenate[Drawing, Box, P], None], /
) -> Callable[Concatenate[Drawing, Box, P], None]:
    """Let the figure that a function draws be drawn again at another width, as on a phone."""

    @wraps(draw)
    def drawn(drawing: Drawing, frame: Box, /, *args: P.args, **given: P.kwargs) -> None:
        before = len(drawing.here)
        draw(drawing, frame, *args, **given)
        for element in drawing.here[before:]:
            element.again = lambda other, box: draw(other, box, *args, **given)

    return drawn
