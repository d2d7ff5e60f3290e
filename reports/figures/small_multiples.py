"""One small panel per pathology: its reliability curve, and its phrases where exams allow.

Panels stand in rows of four; pathologies with too few exams are named below instead of taking an
empty panel each.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from calibration.result import GroupResult
from reports.content import PathologyResult, SuppressedCell
from reports.disclosure import state_of
from reports.drawing.document import Piece, note
from reports.drawing.layout import Figure
from reports.drawing.marks import Anchor, Box, Disc, Drawing, Line, Rect
from reports.drawing.style import NOTE, SUBHEADING, palette
from reports.drawing.typeset import fit, put
from reports.figures.axes import Scale
from reports.figures.reliability import curve_marks
from reports.numbers import count, percent
from reports.strings import Strings

__all__ = [
    "COLUMNS",
    "PANEL_HEIGHT",
    "panel_pieces",
    "panel_row",
]

COLUMNS: Final = 4
_GUTTER: Final = 14.0
_HEAD: Final = 24.0
_FOOT: Final = 14.0
_PAD: Final = 4.0
PANEL_HEIGHT: Final = 138.0
"""Height of one row of panels in points."""


def panel_row(
    drawing: Drawing,
    frame: Box,
    *,
    panels: tuple[tuple[str, GroupResult], ...],
    minimum_n: int,
    words: Strings,
) -> None:
    """Draw up to four named panels side by side."""
    for column, (name, result) in zip(frame.columns(COLUMNS, gutter=_GUTTER), panels, strict=False):
        title, kind = fit(name, SUBHEADING, column.width, smallest=5.0)
        put(drawing, column.x, column.y + 9.0, title, kind, id=f"panel.{name}")
        size = words.several("unit.exams", round(result.n))
        put(drawing, column.x, column.y + 19.0, size, NOTE, colour=palette.muted)
        _panel(drawing, column.cut(top=_HEAD, bottom=_FOOT), name, result, minimum_n)


def _panel(drawing: Drawing, plot: Box, name: str, result: GroupResult, minimum_n: int) -> None:
    x = Scale(0.0, 1.0, plot.x + _PAD, plot.right - _PAD)
    y = Scale(0.0, 1.0, plot.bottom - _PAD, plot.y + _PAD)
    drawing.add(Rect(plot.x, plot.y, plot.width, plot.height, stroke=palette.rule))
    ends: tuple[tuple[float, float, Anchor], ...] = (
        (0.0, plot.x, "start"),
        (1.0, plot.right, "end"),
    )
    for share, at, anchor in ends:
        put(
            drawing,
            at,
            plot.bottom + 8.5,
            percent(share),
            NOTE,
            colour=palette.muted,
            anchor=anchor,
        )
    curve_marks(drawing, result.curve, x, y, pointwise=False, name=f"curve.{name}")
    table = result.phrases
    for k in np.flatnonzero((table.n >= minimum_n) & np.isfinite(table.expected)):
        _phrase(drawing, result, int(k), x, y, name)


def _phrase(drawing: Drawing, result: GroupResult, k: int, x: Scale, y: Scale, name: str) -> None:
    table = result.phrases
    rate, at = float(table.observed[k]), x(float(table.expected[k]))
    hint = f"{name}, {table.phrases[k]}: {percent(rate)}, n {count(table.n[k])}"
    low, high = y(float(table.low[k])), y(float(table.high[k]))
    drawing.add(Line(at, low, at, high, palette.own, 0.8, hint=hint))
    mark = f"{name}.{table.phrases[k]}"
    drawing.add(
        Disc(at, y(rate), 2.0, "circle", palette.own, palette.paper, 0.6, id=mark, hint=hint)
    )


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
