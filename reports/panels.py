"""Small multiples over pages: rows of panels, and the pathologies with too few exams by name."""

from __future__ import annotations

from calibration.result import GroupResult
from reports.content import PathologyResult, SuppressedCell
from reports.disclosure import state_of
from reports.document import Piece, note
from reports.figures.small_multiples import COLUMNS, PANEL_HEIGHT, panel_row
from reports.layout import Figure
from reports.marks import Box, Drawing
from reports.strings import Strings

__all__ = ["panel_pieces"]


def panel_pieces(
    results: tuple[PathologyResult, ...], *, minimum_n: int, words: Strings
) -> tuple[Piece, ...]:
    """Draw what may be shown in the order given; name what may not."""
    shown = tuple(
        (r.pathology, r.result) for r in results if not isinstance(r.result, SuppressedCell)
    )
    pieces: list[Piece] = [
        _row(shown[start : start + COLUMNS], minimum_n, words)
        for start in range(0, len(shown), COLUMNS)
    ]
    withheld: dict[str, list[str]] = {}
    for r in results:
        if isinstance(r.result, SuppressedCell):
            withheld.setdefault(state_of(r.result, words), []).append(r.pathology)
    for state, names in withheld.items():
        text = words("committee.pathologies_few", state=state.capitalize(), names=", ".join(names))
        pieces.append(note(text))
    return tuple(pieces)


def _row(panels: tuple[tuple[str, GroupResult], ...], minimum_n: int, words: Strings) -> Figure:
    def paint(drawing: Drawing, box: Box) -> None:
        panel_row(drawing, box, panels=panels, minimum_n=minimum_n, words=words)

    return Figure(paint, PANEL_HEIGHT)
