"""A document as sections of blocks, before it is known whether it becomes PDF or HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from reports.drawing.layout import Composer, Figure, Prose
from reports.drawing.style import BODY, CAPTION, SUBHEADING
from reports.drawing.tables import Table

__all__ = ["Piece", "Section", "Subheading", "compose", "note", "statement"]


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
        composer.heading(section.title, level=section.level, room=section.room, note=section.note)
        for i, piece in enumerate(section.pieces):
            if isinstance(piece, Subheading):
                composer.heading(piece.title, level=1, kind=SUBHEADING, room=piece.room)
            elif isinstance(piece, Table):
                explained = i + 1 < len(section.pieces) and isinstance(section.pieces[i + 1], Prose)
                composer.flow(piece, after=4.0 if explained else 10.0)
            else:
                composer.add(piece)
