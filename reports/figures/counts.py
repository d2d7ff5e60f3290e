"""Counts as pictures: histograms with lines over their bars."""

from __future__ import annotations

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
