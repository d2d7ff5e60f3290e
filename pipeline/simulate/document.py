"""A report under construction: text goes in piece by piece, and every identifier's span is kept.

Offsets are counted in characters of the finished text, half open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Document", "Span"]


class Span(NamedTuple):
    """One planted identifier: ``text[start:end]`` is the identifier itself."""

    start: int
    end: int
    category: str
    kind: str


@dataclass(slots=True)
class Document:
    """Pieces of text and the spans of the identifiers among them.

    Examples
    --------
    >>> document = Document()
    >>> document.add("MRN: ")
    >>> document.identify("00412", "ID", "mrn")
    >>> document.text(), document.spans
    ('MRN: 00412', [Span(start=5, end=10, category='ID', kind='mrn')])
    """

    pieces: list[str]
    spans: list[Span]
    length: int

    def __init__(self) -> None:
        self.pieces = []
        self.spans = []
        self.length = 0

    def add(self, text: str) -> None:
        """Append text that identifies nobody."""
        self.pieces.append(text)
        self.length += len(text)

    def identify(self, text: str, category: str, kind: str) -> None:
        """Append an identifier and remember where it stands."""
        start = self.length
        self.add(text)
        self.spans.append(Span(start, self.length, category, kind))

    def text(self, *, capitals: bool = False, width: int = 0) -> str:
        """Return the finished text, in capitals or hard-wrapped on request; no offset moves.

        Parameters
        ----------
        capitals
            Raise every letter.
        width
            Break lines at the last space before this column, outside identifiers; 0 leaves them.

        Raises
        ------
        ValueError
            If capitals would change the length of the text.
        """
        whole = "".join(self.pieces)
        if width:
            whole = self._wrapped(whole, width)
        if not capitals:
            return whole
        raised = whole.upper()
        if len(raised) != len(whole):
            message = (
                f"capitals changed the length from {len(whole)} to {len(raised)} characters; "
                "take letters such as ß out of the simulator's word lists."
            )
            raise ValueError(message)
        return raised

    def _wrapped(self, whole: str, width: int) -> str:
        letters, line_start = list(whole), 0
        while len(whole) - line_start > width:
            stop = whole.find("\n", line_start, line_start + width)
            if stop < 0:
                stop = self._last_gap(whole, line_start, line_start + width)
                if stop < 0:
                    break
                letters[stop] = "\n"
            line_start = stop + 1
        return "".join(letters)

    def _last_gap(self, whole: str, start: int, end: int) -> int:
        """Return the last space of a line that lies in no identifier, or -1."""
        gap = whole.rfind(" ", start + 1, end)
        while gap > start and any(s.start <= gap < s.end for s in self.spans):
            gap = whole.rfind(" ", start + 1, gap)
        return gap
