"""A drawing: marks in paint order, and the structure that a screen reader reads.

Marks drawn inside :meth:`Drawing.tag` belong to an :class:`Element` of the document's structure;
all other marks are ornament, which a screen reader leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from reports.drawing.marks import Box, Mark

__all__ = ["Bookmark", "Drawing", "Element", "Field", "Role"]

Role: TypeAlias = Literal[
    "Document", "H1", "H2", "H3", "H4", "P", "L", "LI", "LBody", "Table", "TR", "TH", "TD",
    "Figure", "Form",
]  # fmt: skip
"""Structure types of PDF 1.7 that pages are made of."""
_GROUPS: Final = frozenset({"Document", "L", "LI", "Table", "TR"})
"""Roles that hold elements; marks drawn directly in one are ornament."""
_WHOLE: Final = frozenset({"Figure", "Form"})
"""Roles that swallow the roles inside them: their ``alt`` stands for all they show."""


@dataclass(slots=True, eq=False)
class Element:
    """A node of a document's structure, in reading order.

    ``alt`` is said in place of what is drawn; ``box`` is a figure's frame; ``scope`` says what a
    table's header cell heads.
    """

    role: Role
    alt: str = ""
    box: Box | None = None
    scope: Literal["", "Column", "Row"] = ""
    inside: list[Element] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Field:
    """A box to tick: one ``choice`` of the question ``name``, whose other boxes it clears.

    ``about`` is what the answer is about, as it is read back; ``says`` is read aloud.
    """

    name: str
    choice: str
    about: str
    says: str
    box: Box


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
    fields: list[tuple[Field, Element]] = field(default_factory=list)
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
        """Make what is drawn inside part of an element; inside a figure, of the figure."""
        inmost = self._inmost
        if inmost.role in _WHOLE:
            yield inmost
            return
        element = Element(role, alt, box, scope)
        inmost.inside.append(element)
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
        hints = dict.fromkeys(getattr(mark, "hint", "") for mark in self.marks[start:])
        if element.alt == lead:
            element.alt = " ".join([lead, "; ".join(hint for hint in hints if hint)]).strip()

    def ask(self, question: Field) -> None:
        """Put a box to tick on the page."""
        with self.tag("Form", alt=question.says) as element:
            self.fields.append((question, element))
