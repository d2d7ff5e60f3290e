"""Blocks onto pages: a column that fills, breaks and carries header and footer on every page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from reports.content import Masthead
from reports.drawing.marks import Bookmark, Box, Drawing, Element, Line, Picture, Role
from reports.drawing.style import (
    BODY,
    CAPTION,
    GUTTER,
    HEADING,
    MARGIN,
    NOTE,
    SUBHEADING,
    TITLE,
    Style,
    Type,
    fitted,
    palette,
)
from reports.drawing.tables import FEW_ROWS, Table
from reports.drawing.typeset import at_most, fit, paragraph, paragraph_height, put
from reports.strings import Strings

_LOGO_WIDTH, _LOGO_HEIGHT = 110.0, 36.0
_BANNER_LINES, _INSTITUTION_LINES = 3, 2
# Share of its height that a figure may give up to stand on the page where it is called.
_GIVES: Final = 0.25
_SPREADS: Final = (0.93, 0.86, 0.8, 0.75, 1.08, 1.16, 1.24, 1.3)
# Shares of a page below which one inside a document, and the last one, look abandoned.
_HALF_EMPTY, _NEARLY_EMPTY = 0.66, 0.3
# Share of a page from which it may end early so that a table stands whole on the next.
_KEPT: Final = 0.6


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph of one type."""

    text: str
    kind: Type = BODY
    role: Role = "P"
    after: float = 10.0  # white space below, where it is a piece of a section

    def height(self, width: float) -> float:
        """Lines times leading."""
        return paragraph_height(self.text, self.kind, width)

    def draw(self, drawing: Drawing, box: Box) -> None:
        """Set flush left."""
        with drawing.tag(self.role):
            paragraph(drawing, box, self.text, self.kind)


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing function with a fixed height and an optional caption below."""

    paint: Callable[[Drawing, Box], None]
    tall: float
    caption: str = ""

    def height(self, width: float) -> float:
        """Figure, gap and caption."""
        gap = 6.0 if self.caption else 0.0
        return self.tall + gap + paragraph_height(self.caption, CAPTION, width)

    def draw(self, drawing: Drawing, box: Box) -> None:
        """Figure above, caption below."""
        self.paint(drawing, Box(box.x, box.y, box.width, self.tall))
        if self.caption:
            Prose(self.caption, CAPTION.muted).draw(drawing, box.cut(top=self.tall + 6.0))

    def scaled(self, spread: float) -> Figure:
        """Stretch or flatten the drawing."""
        return replace(self, tall=spread * self.tall)


def footer(head: Masthead, words: Strings) -> str:
    """Say on every page for whom, of when and by what it was made."""
    names = ("recipient", "period", "data_cut", "version", "config_hash")
    return words("page.footer", **{name: getattr(head, name) for name in names})


@dataclass(slots=True)
class Composer:
    """A document being laid out: the current page and how far down it is filled."""

    style: Style
    masthead: Masthead | None
    """What stands on every page; None for pages about an instrument, which have neither."""
    pages: list[Drawing] = field(default_factory=list)
    y: float = 0.0
    root: Element = field(default_factory=lambda: Element("Document"))
    depth: int = 0
    """Depth of the last heading: one that follows is at most one deeper."""
    filled: list[float] = field(default_factory=list)
    """Share of each page before this one that is used."""
    spread: float = 1.0
    """By how much figures, table rows and white space are set closer (below 1) or wider."""
    last: float = _NEARLY_EMPTY  # share of the last page below which it looks abandoned

    @property
    def body(self) -> Box:
        """The content frame of every page."""
        return self.style.body

    @property
    def page(self) -> Drawing:
        """The page being filled."""
        return self.pages[-1]

    @property
    def room(self) -> float:
        """Points left above the footer."""
        return self.body.bottom - self.y

    @property
    def used(self) -> float:
        """Share of this page that is filled."""
        return (self.y - self.body.y) / self.body.height

    @property
    def abandoned(self) -> float:
        """How much page is missing where a page inside is half empty, or the last nearly so."""
        *inside, last = (*self.filled, self.used)
        short = [*(_HALF_EMPTY - each for each in inside), *[self.last - last] * bool(inside)]
        return sum(max(missing, 0.0) for missing in short)

    def new_page(self) -> None:
        """Open a page with its header."""
        if self.pages:
            self.filled.append(self.used)
        drawing = Drawing(*self.style.size, root=self.root)
        self.pages.append(drawing)
        if self.masthead is not None:
            self._header(drawing, self.masthead)
        self.y = self.body.y

    def claim(self, height: float) -> Box:
        """Reserve a strip of the page at the cursor, opening a page where none has room."""
        if not self.pages or height > self.room + 0.01:
            self.new_page()
        box = Box(self.body.x, self.y, self.body.width, height)
        self.y += height
        return box

    def skip(self, height: float) -> None:
        """White space, except at the top of a page."""
        if self.y > self.body.y:
            self.y = min(self.y + self.spread * height, self.body.bottom)

    def add(self, block: Prose | Figure, *, after: float = 10.0) -> None:
        """Place a block whole; a figure for which little is missing is set lower."""
        if isinstance(block, Figure):
            block = block.scaled(self.spread)
            missing = block.height(self.body.width) - self.room
            if 0.0 < missing <= _GIVES * block.tall:
                block = replace(block, tall=block.tall - missing)
        self._draw(block, after)

    def _draw(self, block: Prose | Figure | Table, after: float) -> None:
        box = self.claim(block.height(self.body.width))
        block.draw(self.page, box)
        self.skip(after)

    def flow(self, table: Table, *, after: float = 10.0, below: float = 0.0) -> None:
        """Place a table, over several pages if need be, with room for what belongs below it."""
        rest: Table | None = table.scaled(self.spread)
        even = self.evenly(table.scaled(self.spread))
        while rest is not None:
            tall = rest.height(self.body.width)
            room = self.room if tall + below <= self.room else min(self.room, tall - 1.0)
            head, rest = rest.split(self.body.width, room, even=even)
            if head is not None:
                self._draw(head, 0.0)
            if rest is not None:
                self.new_page()
        self.skip(after)

    def evenly(self, table: Table) -> bool:
        """Whether a table, if broken, is so in the middle: where this page then stays filled."""
        share = table.height(self.body.width) / self.body.height
        return share <= 1.0 and self.used + share / 2 >= _KEPT

    def title(self, text: str, subtitle: str) -> None:
        """Open the document: title, subtitle, bookmark, and the logo on the right."""
        box = self.claim(46.0)
        self.page.bookmarks.append(Bookmark(text, 0, box.y))
        width = box.width - (self._logo(box, self.masthead) if self.masthead else 0.0)
        self.depth = 1
        with self.page.tag("H1"):
            line, kind = fit(text, TITLE, width)
            put(self.page, (box.x, box.y + 20.0), line, kind, id="title")
        with self.page.tag("P"):
            line, kind = fit(subtitle, BODY, width)
            put(self.page, (box.x, box.y + 36.0), line, kind.muted)

    def _logo(self, box: Box, head: Masthead) -> float:
        """Draw the logo, if there is one; return the width it takes."""
        png = head.logo
        if png is None:
            return 0.0
        width, height = fitted(png, width=_LOGO_WIDTH, height=_LOGO_HEIGHT)
        name = head.institution
        frame = Box(box.right - width, box.y + 4.0, width, height)
        with self.page.tag("Figure", alt=name, box=frame):
            self.page.add(Picture(frame.x, frame.y, width, height, png, id="logo", hint=name))
        return width + GUTTER

    def heading(
        self,
        title: str,
        *,
        level: int = 0,
        room: float = 120.0,
        note: str = "",
        kind: Type = HEADING,
    ) -> None:
        """Set a heading with its bookmark and an optional note, never alone at a page end."""
        lines = paragraph_height(title, kind, self.body.width)
        if not self.pages or self.room < self.spread * (1.0 - _GIVES) * room + lines:
            self.new_page()
        self.skip(8.0 if level == 0 else 2.0)
        self.page.bookmarks.append(Bookmark(title, level, self.y))
        self.add(Prose(title, kind, role=self.level(level)), after=4.0)
        if note:
            self.add(Prose(note, CAPTION.muted), after=8.0)

    def level(self, level: int) -> Role:
        """Give a heading's role: levels 0 and 1 are H2 and H3, and no depth is skipped."""
        self.depth = min(level + 2, self.depth + 1)
        roles: tuple[Role, ...] = ("H1", "H2", "H3", "H4")
        return roles[self.depth - 1]

    def finish(self) -> list[Drawing]:
        """Set the page numbers and return the pages."""
        for number, drawing in enumerate(self.pages, start=1):
            if self.masthead is not None:
                self._footer(drawing, number, self.masthead)
        return self.pages

    def _once(self, number: int, drawing: Drawing) -> AbstractContextManager[object]:
        """Have what stands on every page read aloud on the first one only."""
        return drawing.tag("P") if number == 1 else nullcontext()

    def _header(self, drawing: Drawing, head: Masthead) -> None:
        right = self.style.size[0] - MARGIN
        stamp = self.style.strings("page.demonstration") if head.demonstration else ""
        space = self.body.width - (150.0 if stamp else 0.0)
        lines = at_most(head.banner, NOTE.bold, space, lines=_BANNER_LINES)
        with self._once(len(self.pages), drawing):
            bottom, step = (30.0, 8.5) if len(lines) < _BANNER_LINES else (32.0, 8.2)
            for i, line in enumerate(lines):
                at = MARGIN, bottom - (len(lines) - 1 - i) * step
                put(drawing, at, line, NOTE.bold.muted, id="banner")
        if stamp:
            put(drawing, (right, 30.0), stamp, NOTE.bold.in_ink(palette.department), anchor="end")
        drawing.add(Line(MARGIN, 36.0, right, 36.0, palette.ink, 0.8))

    def _footer(self, drawing: Drawing, number: int, head: Masthead) -> None:
        width, y = self.body.width, self.style.size[1] - 30.0
        drawing.add(Line(MARGIN, y - 11.0, MARGIN + width, y - 11.0, palette.rule, 0.5))
        page = self.style.strings("page.number", number=number, of=len(self.pages))
        names = at_most(head.institution, NOTE, width - 70.0, lines=_INSTITUTION_LINES)
        last, kind = fit(footer(head, self.style.strings), NOTE, width)
        with self._once(number, drawing):
            for i, line in enumerate(names):
                put(drawing, (MARGIN, y + 8.5 * i), line, NOTE.muted, id="page.institution")
            put(drawing, (MARGIN, y + 0.5 + 8.5 * len(names)), last, kind.muted, id="page.footer")
        put(drawing, (MARGIN + width, y), page, NOTE.muted, anchor="end", id="page")


@dataclass(frozen=True, slots=True)
class Subheading:
    """A small heading inside a section; ``room`` is what it wants to stand above, in points."""

    title: str
    room: float = 100.0


Piece: TypeAlias = Prose | Figure | Table | Subheading


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its bookmark, an optional note, and what stands below."""

    title: str
    pieces: tuple[Piece, ...]
    note: str = ""
    level: Literal[0, 1] = 0
    room: float = 120.0


def statement(text: str) -> Prose:
    """Print a state ("not computed in this run") as such, set apart from results."""
    return Prose(text, BODY.oblique.muted)


def note(text: str) -> Prose:
    """Print an explanation below a table."""
    return Prose(text, CAPTION.muted)


def compose(composer: Composer, sections: tuple[Section, ...]) -> None:
    """Lay sections out one below the other."""
    for section in sections:
        _keep_with_table(composer, section.pieces, 0, _headed(section, composer))
        composer.heading(section.title, level=section.level, room=section.room, note=section.note)
        for i, piece in enumerate(section.pieces):
            if isinstance(piece, Subheading):
                _keep_with_table(composer, section.pieces, i)
                composer.heading(piece.title, level=1, kind=SUBHEADING, room=piece.room)
            elif isinstance(piece, Table):
                if i and not isinstance(section.pieces[i - 1], Subheading):
                    _keep_with_table(composer, section.pieces, i)
                below = _below(section.pieces, i, composer.body.width)
                composer.flow(piece, after=4.0 if below else 10.0, below=below)
            else:
                composer.add(piece, after=piece.after if isinstance(piece, Prose) else 10.0)


def _below(pieces: Sequence[Piece], i: int, width: float) -> float:
    """Give the height of the note that belongs below a piece."""
    after = pieces[i + 1] if i + 1 < len(pieces) else None
    return after.height(width) + 6.0 if isinstance(after, Prose) else 0.0


def _headed(section: Section, composer: Composer) -> float:
    """Give the height of a section's heading and note."""
    parts = Prose(section.title, HEADING), Prose(section.note, CAPTION)
    return composer.spread * (20.0 + sum(p.height(composer.body.width) for p in parts if p.text))


def _keep_with_table(
    composer: Composer, pieces: Sequence[Piece], i: int, above: float = 0.0
) -> None:
    """Open a page where the table, or the one under a heading, had better begin on a new one."""
    if isinstance(pieces[i], Subheading):
        i, above = i + 1, above + 2.0 * SUBHEADING.leading
    table, width = (pieces[i] if i < len(pieces) else None), composer.body.width
    if isinstance(table, Table) and composer.pages:
        around = above + _below(pieces, i, width)
        if _begins_anew(table.scaled(composer.spread), around, composer):
            composer.new_page()


def _begins_anew(table: Table, around: float, composer: Composer) -> bool:
    """Whether a table cannot begin on this page, or could stand whole on a new one.

    What would leave this page too empty is broken.
    """
    width, room = composer.body.width, composer.room - around
    tall = table.height(width)
    if tall <= room:
        return False
    head, _ = table.split(width, room, even=composer.evenly(table))
    if head is None:
        return True
    held = around + tall <= composer.body.height or len(head.rows) < FEW_ROWS
    return held and composer.used >= _KEPT


def composed(
    lay_out: Callable[[Composer], None], *, style: Style, masthead: Masthead
) -> list[Drawing]:
    """Lay out a document; set closer, or wider, where a page of it would look abandoned."""

    def laid_out(spread: float) -> Composer:
        composer = Composer(style, masthead, spread=spread)
        composer.new_page()
        lay_out(composer)
        return composer

    best = laid_out(1.0)
    for spread in _SPREADS:
        if not best.abandoned:
            break
        best = min(best, laid_out(spread), key=lambda each: each.abandoned)
    return best.finish()
