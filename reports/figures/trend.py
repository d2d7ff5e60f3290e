"""The reader's own trend: distance between words and CT over the last periods, with intervals."""

from __future__ import annotations

from reports.content import SuppressedCell, TrendPoint
from reports.disclosure import state_of
from reports.figures.axes import Scale, nice_ticks, y_axis
from reports.marks import Box, Disc, Drawing, Line, Polygon
from reports.numbers import points
from reports.strings import Strings
from reports.style import NOTE, palette
from reports.typeset import fit, put

__all__ = ["trend"]


def trend(
    drawing: Drawing,
    frame: Box,
    *,
    series: tuple[TrendPoint, ...],
    words: Strings,
) -> None:
    """Draw the periods left to right; a suppressed period keeps its place and says so."""
    plot = frame.cut(left=30.0, right=8.0, top=16.0, bottom=24.0)
    tops = [
        p.gap.high if p.gap.high == p.gap.high else p.gap.value
        for p in series
        if not isinstance(p.gap, SuppressedCell)
    ]
    ticks = nice_ticks(0.0, max([0.1, *(t for t in tops if t == t)]), about=4)
    y = Scale(0.0, ticks[-1], plot.bottom, plot.y)
    y_axis(drawing, plot, y, ticks, lambda v: f"{100 * v:.0f}", title=words("trend.y"))
    step = plot.width / max(len(series), 1)
    middles = [plot.x + (i + 0.5) * step for i in range(len(series))]
    _joined(drawing, series, middles, y)
    for point, x in zip(series, middles, strict=True):
        _period(drawing, plot, point, x, step, y, words)


def _joined(
    drawing: Drawing, series: tuple[TrendPoint, ...], middles: list[float], y: Scale
) -> None:
    """Join neighbours that are both shown."""
    for i in range(len(series) - 1):
        first, second = series[i].gap, series[i + 1].gap
        if isinstance(first, SuppressedCell) or isinstance(second, SuppressedCell):
            continue
        if first.value == first.value and second.value == second.value:
            ends = ((middles[i], y(first.value)), (middles[i + 1], y(second.value)))
            drawing.add(Polygon(ends, stroke=palette.own_soft, stroke_width=1.0))


def _period(
    drawing: Drawing, plot: Box, point: TrendPoint, x: float, step: float, y: Scale, words: Strings
) -> None:
    label, kind = fit(point.period, NOTE, step - 2.0, smallest=4.5)
    put(drawing, x, plot.bottom + 9.0, label, kind, colour=palette.muted, anchor="middle")
    if isinstance(point.gap, SuppressedCell):
        note = state_of(point.gap, words)
        text, kind = fit(note, NOTE.oblique, step - 2.0, smallest=4.5)
        put(drawing, x, plot.bottom + 18.0, text, kind, colour=palette.muted, anchor="middle")
        return
    size, kind = fit(f"n {point.n:,}", NOTE, step - 2.0, smallest=4.5)
    put(drawing, x, plot.bottom + 18.0, size, kind, colour=palette.muted, anchor="middle")
    gap = point.gap
    if gap.value != gap.value:
        return
    hint = f"{point.period}: {points(gap.value)}, n {point.n}"
    if gap.null_high == gap.null_high:
        half = min(0.3 * step, 12.0)
        level = y(gap.null_high)
        drawing.add(Line(x - half, level, x + half, level, palette.muted, 0.8, dash=(2.0, 1.5)))
    if gap.low == gap.low and gap.high == gap.high:
        drawing.add(Line(x, y(gap.low), x, y(gap.high), palette.own, 1.3, hint=hint))
    drawing.add(
        Disc(x, y(gap.value), 2.6, "circle", palette.own, id=f"trend.{point.period}", hint=hint)
    )
