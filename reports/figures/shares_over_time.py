"""Use of the scale's terms over time: two shares, labelled at their ends."""

from __future__ import annotations

import numpy as np

from reports.content import FloatArray, ScaleUse
from reports.figures.axes import Scale, nice_ticks, y_axis
from reports.marks import Box, Disc, Drawing, Polygon
from reports.marks import Shape as MarkShape
from reports.numbers import count, percent
from reports.strings import Strings
from reports.style import NOTE, palette
from reports.typeset import fit, put

__all__ = ["shares_over_time"]


def shares_over_time(drawing: Drawing, frame: Box, *, use: ScaleUse, words: Strings) -> None:
    """Draw both shares; a period with too few phrases keeps its place and says so."""
    plot = frame.cut(left=30.0, right=96.0, top=12.0, bottom=24.0)
    both = np.concatenate([use.recommended, use.discouraged])
    top = float(np.nanmax(both)) if np.isfinite(both).any() else 0.5
    ticks = nice_ticks(0.0, min(max(top, 0.1), 1.0), about=4)
    y = Scale(0.0, ticks[-1], plot.bottom, plot.y)
    y_axis(drawing, plot, y, ticks, percent)
    step = plot.width / max(len(use.periods), 1)
    middles = [plot.x + (i + 0.5) * step for i in range(len(use.periods))]
    for period, n, rate, x in zip(use.periods, use.n, use.recommended, middles, strict=True):
        label, kind = fit(period, NOTE, step - 2.0, smallest=4.5)
        put(drawing, x, plot.bottom + 9.0, label, kind, colour=palette.muted, anchor="middle")
        size = f"n {count(n)}" if np.isfinite(rate) else words("state.few_short")
        label, kind = fit(size, NOTE, step - 2.0, smallest=4.5)
        put(drawing, x, plot.bottom + 18.0, label, kind, colour=palette.muted, anchor="middle")
    _series(drawing, use, use.recommended, middles, y, "circle", palette.own, "recommended")
    _series(drawing, use, use.discouraged, middles, y, "diamond", palette.department, "discouraged")
    _labels(drawing, plot, use, y, words, frame.right)


def _series(
    drawing: Drawing,
    use: ScaleUse,
    shares: FloatArray,
    middles: list[float],
    y: Scale,
    shape: MarkShape,
    ink: str,
    name: str,
) -> None:
    shown = [i for i in range(len(shares)) if np.isfinite(shares[i])]
    if len(shown) > 1:
        path = tuple((middles[i], y(float(shares[i]))) for i in shown)
        drawing.add(Polygon(path, stroke=ink, stroke_width=1.2))
    for i in shown:
        hint = f"{use.periods[i]}: {percent(float(shares[i]))}, n {count(use.n[i])}"
        mark = f"{name}.{use.periods[i]}"
        drawing.add(Disc(middles[i], y(float(shares[i])), 2.8, shape, ink, id=mark, hint=hint))


def _labels(
    drawing: Drawing, plot: Box, use: ScaleUse, y: Scale, words: Strings, right: float
) -> None:
    """Names at the line ends, pushed apart where they would meet."""
    ends = []
    for shares, key, ink in (
        (use.recommended, "recommended", palette.own),
        (use.discouraged, "discouraged", palette.department),
    ):
        shown = shares[np.isfinite(shares)]
        if len(shown):
            ends.append((y(float(shown[-1])), float(shown[-1]), key, ink))
    ends.sort()
    last = -100.0
    for at, share, key, ink in ends:
        at = max(at, last + 10.0)
        last = at
        label, kind = fit(
            f"{words(f'scale.{key}')} {percent(share)}",
            NOTE.bold,
            right - plot.right - 6.0,
            smallest=5.0,
        )
        put(drawing, plot.right + 6.0, at + 2.4, label, kind, colour=ink)
