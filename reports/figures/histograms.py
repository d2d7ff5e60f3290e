"""Histograms of one quantity: the prediction as bars, readers as a stepped line over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from reports.drawing.marks import Box, Drawing, Line, Polygon, Rect
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import fit, put, width_of
from reports.figures.axes import Scale, x_axis
from reports.numbers import decimal, percent

__all__ = ["histogram_panel", "reliability_bars"]

_SIDE: Final = 8.0
"""Kept free on either side of a plot, where the outer tick labels reach."""


def histogram_panel(
    drawing: Drawing,
    frame: Box,
    *,
    edges: np.ndarray,
    bars: np.ndarray,
    line: np.ndarray | None,
    title: str,
    name: str,
    ticks: tuple[float, ...] = (0.0, 0.5, 1.0),
    label: Callable[[float], str] = percent,
) -> None:
    """Draw shares (M,) over bins (M + 1,); the taller of bars and line fills the panel."""
    plot = frame.cut(top=14.0, bottom=16.0).inset(_SIDE, 0.0)
    top = max(float(bars.max()), 0.0 if line is None else float(line.max()), 1e-9)
    x = Scale(float(edges[0]), float(edges[-1]), plot.x, plot.right)
    y = Scale(0.0, top, plot.bottom, plot.y + 8.0)
    highest = percent(top)
    _title(drawing, frame, title, width_of(highest, NOTE) + 4.0)
    put(drawing, frame.right, frame.y + 8.0, highest, NOTE, colour=palette.muted, anchor="end")
    x_axis(drawing, plot, x, ticks, label)
    for m, share in enumerate(bars):
        _bar(drawing, x, y, (float(edges[m]), float(edges[m + 1])), float(share), f"{name}.{m}")
    if line is not None:
        drawing.add(_steps(x, y, edges, line, f"{name}.readers"))
    drawing.add(Line(plot.x, plot.bottom, plot.right, plot.bottom, palette.rule, 0.5))


def _title(drawing: Drawing, frame: Box, title: str, room: float) -> None:
    string, kind = fit(title, NOTE.bold, frame.width - room, smallest=5.0)
    put(drawing, frame.x, frame.y + 8.0, string, kind)


def _bar(
    drawing: Drawing, x: Scale, y: Scale, ends: tuple[float, float], share: float, name: str
) -> None:
    if not share > 0:
        return
    left, high = x(ends[0]) + 0.3, y(share)
    hint = f"{decimal(ends[0], 2)} to {decimal(ends[1], 2)}: {percent(share)}"
    drawing.add(
        Rect(
            left, high, x(ends[1]) - left - 0.3, y(0.0) - high, palette.own_soft, id=name, hint=hint
        )
    )


def _steps(x: Scale, y: Scale, edges: np.ndarray, line: np.ndarray, name: str) -> Polygon:
    points = [(x(float(edges[m + i])), y(float(v))) for m, v in enumerate(line) for i in (0, 1)]
    return Polygon(tuple(points), stroke=palette.department, stroke_width=1.2, id=name)


def reliability_bars(
    drawing: Drawing,
    frame: Box,
    *,
    edges: np.ndarray,
    count: np.ndarray,
    accuracy: np.ndarray,
    title: str,
    name: str,
) -> None:
    """Draw accuracy per bin against the diagonal, and the items per bin below; arrays are (M,)."""
    below = 30.0
    plot = frame.cut(top=14.0, bottom=16.0 + below + 4.0).inset(_SIDE, 0.0)
    strip = Box(plot.x, plot.bottom + 4.0, plot.width, below)
    x = Scale(0.0, 1.0, plot.x, plot.right)
    y = Scale(0.0, 1.0, plot.bottom, plot.y)
    rows = Scale(0.0, max(float(count.max()), 1.0), strip.bottom, strip.y)
    _title(drawing, frame, title, 0.0)
    x_axis(drawing, strip, x, (0.0, 0.5, 1.0), percent)
    for m in np.flatnonzero(count > 0):
        ends = (float(edges[m]), float(edges[m + 1]))
        _bar(drawing, x, y, ends, float(accuracy[m]), f"{name}.{m}")
        left, high = x(ends[0]) + 0.3, rows(float(count[m]))
        size = Rect(
            left, high, x(ends[1]) - left - 0.3, strip.bottom - high, palette.band,
            id=f"{name}.count.{m}", hint=f"n {count[m]:.0f}",
        )  # fmt: skip
        drawing.add(size)
    for line in (plot, strip):
        drawing.add(Line(line.x, line.bottom, line.right, line.bottom, palette.rule, 0.5))
    drawing.add(Line(x(0), y(0), x(1), y(1), palette.muted, 0.7, dash=(1.5, 2.0)))
