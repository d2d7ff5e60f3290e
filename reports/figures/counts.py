"""Counts as pictures: histograms with lines over their bars, and a confusion matrix as a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from reports.content import SuppressedCell
from reports.disclosure import state_of
from reports.drawing.axes import Scale, Ticks, x_axis
from reports.drawing.marks import Box, Drawing, Line, Polygon, Rect, reflows
from reports.drawing.style import CAPTION, GUTTER, NOTE, palette
from reports.drawing.typeset import fit, paragraph, put, width_of
from reports.numbers import count, interval, percent
from reports.review_content import CaseHistogram, Disagreement
from reports.strings import Strings

# Kept free on either side of a plot, where the outer tick labels reach.
_SIDE: Final = 10.0


HALVES: Final = Ticks((0.0, 0.5, 1.0), percent)
"""Ticks of an axis of shares in a small panel."""


@reflows
def histogram_panel(
    drawing: Drawing, frame: Box, shown: CaseHistogram, *, title: str, below: str, name: str
) -> None:
    """Draw shares as bars, what is expected as a line; the taller of the two fills the panel."""
    edges, bars, line = shown.edges, shown.share, shown.expected
    with drawing.figure(f"{title}; {below}", frame):
        plot = frame.cut(top=14.0, bottom=26.0).inset(_SIDE, 0.0)
        top = max(float(bars.max()), 0.0 if line is None else float(line.max()), 1e-9)
        x = Scale(float(edges[0]), float(edges[-1]), plot.x, plot.right)
        y = Scale(0.0, top, plot.bottom, plot.y + 8.0)
        highest = percent(top)
        text, kind = fit(title, NOTE.bold, frame.width - width_of(highest, NOTE) - 4.0)
        put(drawing, (frame.x, frame.y + 8.0), text, kind)
        put(drawing, (frame.right, frame.y + 8.0), highest, NOTE.muted, anchor="end")
        x_axis(drawing, plot, x, HALVES, title=below)
        for m, share in enumerate(bars):
            _bar(drawing, x, y, (float(edges[m]), float(edges[m + 1])), float(share), f"{name}.{m}")
        if line is not None:
            drawing.add(_steps(x, y, edges, line, f"{name}.readers"))
        drawing.add(Line(plot.x, plot.bottom, plot.right, plot.bottom, palette.rule, 0.5))


def _bar(
    drawing: Drawing, x: Scale, y: Scale, ends: tuple[float, float], share: float, name: str
) -> None:
    if not share > 0:
        return
    left, high = x(ends[0]) + 0.3, y(share)
    wide, tall = x(ends[1]) - left - 0.3, y(0.0) - high
    hint = f"{interval(*ends, 2)}: {percent(share)}"
    drawing.add(Rect(left, high, wide, tall, palette.own_soft, id=name, hint=hint))


def _steps(x: Scale, y: Scale, edges: np.ndarray, line: np.ndarray, name: str) -> Polygon:
    points = [(x(float(edges[m + i])), y(float(v))) for m, v in enumerate(line) for i in (0, 1)]
    return Polygon(tuple(points), stroke=palette.department, stroke_width=1.2, id=name)


_LABELS: Final = 118.0
_MOST_ROW: Final = 17.0
# Share of a row from which a mistake is drawn in full ochre.
_HEAVY: Final = 0.1


def _used(counts: np.ndarray) -> list[int]:
    """Give the states that occur on either side."""
    return [int(k) for k in np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1))]


def confusion_height(counts: np.ndarray) -> float:
    """Height of the grid."""
    return 12.0 + len(_used(counts)) * _MOST_ROW


def confusion_grid(
    drawing: Drawing, box: Box, *, title: str, states: Sequence[str], counts: np.ndarray
) -> None:
    """Draw counts (S, S), rows people and columns engine.

    States that occur on neither side are left out. Columns carry the numbers of the rows; the
    first state ("not mentioned") agreeing with itself is printed without colour.
    """
    with drawing.figure(title, box):
        used = _used(counts)
        if not used:
            return
        step = min((box.width - _LABELS) / len(used), 34.0)
        tall = min((box.height - 12.0) / len(used), _MOST_ROW)
        left = box.x + _LABELS
        for column in range(len(used)):
            x = left + (column + 0.5) * step
            put(drawing, (x, box.y + 7.0), str(column + 1), NOTE.muted, anchor="middle")
        for row, state in enumerate(used):
            y = box.y + 12.0 + row * tall
            line, kind = fit(f"{row + 1}  {states[state]}", NOTE, _LABELS - 6.0)
            put(drawing, (box.x, y + tall / 2 + 2.4), line, kind)
            total = max(float(counts[state].sum()), 1.0)
            for column, other in enumerate(used):
                cell = Box(left + column * step, y, step, tall)
                agree, n = row == column, float(counts[state, other])
                fill = _fill(n / total, agree=agree) if n and not (agree and state == 0) else None
                hint = f"{states[state]} → {states[other]}: {count(n)}" if n else ""
                _cell(drawing, cell, n, fill or palette.wash, hint)


def _fill(share: float, *, agree: bool) -> str:
    if agree:
        return palette.own_soft
    return palette.department if share >= _HEAVY else palette.department_soft


def _cell(drawing: Drawing, box: Box, n: float, fill: str, hint: str) -> None:
    inner = box.inset(0.4, 0.4)
    drawing.add(Rect(inner.x, inner.y, inner.width, inner.height, fill, hint=hint))
    if n:
        ink = palette.paper if fill == palette.department else palette.ink
        y = box.y + box.height / 2 + 2.4
        put(drawing, (box.x + box.width / 2, y), count(n), NOTE.in_ink(ink), anchor="middle")


def spreads(drawing: Drawing, frame: Box, *, found: Disagreement, words: Strings) -> None:
    """Draw two spreads over cases: CT plain, and CT hedging itself."""
    parts = ("plain", found.plain), ("hedged", found.hedged)
    for box, (name, part) in zip(frame.columns(2, gutter=GUTTER), parts, strict=True):
        _spread(drawing, box, part, name, words)


def _spread(
    drawing: Drawing, box: Box, part: CaseHistogram | SuppressedCell, name: str, words: Strings
) -> None:
    title = words(f"cases_apart.{name}")
    if isinstance(part, SuppressedCell):
        text, kind = fit(title, NOTE.bold, box.width)
        with drawing.text():
            put(drawing, (box.x, box.y + 8.0), text, kind)
        paragraph(drawing, box.cut(top=14.0), state_of(part, words), CAPTION.oblique.muted)
        return
    below = words(f"cases_apart.{name}_mean", mean=percent(part.mean), n=count(part.n))
    histogram_panel(drawing, box, part, title=title, below=below, name=f"apart.{name}")
