"""Calibration gained against words changed, one point per setting of the map."""

from __future__ import annotations

from collections.abc import Sequence

from reports.content import FrontierPoint
from reports.figures.axes import Scale, nice_ticks, x_axis, y_axis
from reports.marks import Box, Disc, Drawing, Polygon
from reports.numbers import decimal, percent
from reports.strings import Strings
from reports.style import palette

__all__ = ["frontier"]


def frontier(
    drawing: Drawing, frame: Box, *, points: Sequence[FrontierPoint], words: Strings
) -> None:
    """Draw the settings in order of words changed; the setting used is ringed."""
    plot = frame.cut(left=36.0, right=12.0, top=16.0, bottom=24.0)
    ordered = sorted(points, key=lambda p: p.words_changed)
    across = nice_ticks(0.0, max([p.words_changed for p in ordered] + [0.1]), about=5)
    up = nice_ticks(0.0, max([p.ece_after for p in ordered] + [0.02]), about=4)
    x = Scale(0.0, across[-1], plot.x, plot.right)
    y = Scale(0.0, up[-1], plot.bottom, plot.y)
    y_axis(drawing, plot, y, up, lambda v: decimal(v, 2), title=words("maps.y"))
    x_axis(drawing, plot, x, across, percent, title=words("maps.x"))
    line = tuple((x(p.words_changed), y(p.ece_after)) for p in ordered)
    if len(line) > 1:
        drawing.add(Polygon(line, stroke=palette.own_soft, stroke_width=1.0))
    for i, p in enumerate(ordered):
        at, height = x(p.words_changed), y(p.ece_after)
        hint = f"{p.label}: {percent(p.words_changed)}, ECE {decimal(p.ece_after)}"
        drawing.add(Disc(at, height, 2.4, "circle", palette.own, id=f"frontier.{i}", hint=hint))
        if p.chosen:
            drawing.add(Disc(at, height, 5.0, "ring", None, palette.ink, 1.1))
