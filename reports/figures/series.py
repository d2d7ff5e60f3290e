"""Values over periods or settings: a reader's trend, use of scale terms, the map's frontier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.content import FloatArray, SuppressedCell, TrendPoint
from reports.disclosure import state_of
from reports.drawing.axes import Scale, Ticks, nice_ticks, x_axis, y_axis
from reports.drawing.marks import Box, Disc, Drawing, Line, Polygon, reflows
from reports.drawing.marks import Shape as MarkShape
from reports.drawing.style import NOTE, Type, palette
from reports.drawing.typeset import fit, put, width_of
from reports.numbers import count, decimal, percent, points
from reports.review_content import FrontierPoint, RunChart, ScaleUse
from reports.strings import Strings

_PLAIN: tuple[float, MarkShape] = (2.3, "circle")
_LABEL = 9.0
"""Points from one label's line to the next."""
_LOUD: tuple[float, MarkShape] = (3.6, "diamond")


@reflows
def trend(drawing: Drawing, frame: Box, *, series: tuple[TrendPoint, ...], words: Strings) -> None:
    """Draw the periods left to right; a suppressed period keeps its place and says so."""
    with drawing.figure(words("alt.trend"), frame):
        plot = frame.cut(left=30.0, right=8.0, top=16.0, bottom=24.0)
        tops = [
            p.gap.high if p.gap.high == p.gap.high else p.gap.value
            for p in series
            if not isinstance(p.gap, SuppressedCell)
        ]
        ticks = nice_ticks(0.0, max([0.1, *(t for t in tops if t == t)]), about=4)
        y = Scale(0.0, ticks[-1], plot.bottom, plot.y)
        labels = Ticks(ticks, lambda v: f"{100 * v:.0f}")
        y_axis(drawing, plot, y, labels, title=words("trend.y"))
        step = plot.width / max(len(series), 1)
        middles = [plot.x + (i + 0.5) * step for i in range(len(series))]
        _joined(drawing, series, middles, y)
        for point, x in zip(series, middles, strict=True):
            if isinstance(point.gap, SuppressedCell):
                below = (state_of(point.gap, words), NOTE.oblique)
            else:
                below = (f"n {count(point.n)}", NOTE)
            _under(drawing, (x, plot.bottom), step, (point.period, NOTE), below)
            _gap(drawing, point, x, step, y)


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


def _under(
    drawing: Drawing, at: tuple[float, float], width: float, *lines: tuple[str, Type]
) -> None:
    """Set lines centred under the axis, each as wide as its period."""
    x, y = at
    for line, kind in lines:
        y += 9.0
        text, face = fit(line, kind, width - 2.0, smallest=4.5)
        put(drawing, (x, y), text, face.muted, anchor="middle")


def _gap(drawing: Drawing, point: TrendPoint, x: float, step: float, y: Scale) -> None:
    """Draw a period's gap with its interval, and where chance alone would put it."""
    gap = point.gap
    if isinstance(gap, SuppressedCell) or gap.value != gap.value:
        return
    hint = f"{point.period}: {points(gap.value)}, n {count(point.n)}"
    if gap.null_high == gap.null_high:
        half = min(0.3 * step, 12.0)
        level = y(gap.null_high)
        drawing.add(Line(x - half, level, x + half, level, palette.muted, 0.8, dash=(2.0, 1.5)))
    if gap.low == gap.low and gap.high == gap.high:
        drawing.add(Line(x, y(gap.low), x, y(gap.high), palette.own, 1.3, hint=hint))
    drawing.add(
        Disc(x, y(gap.value), 2.6, "circle", palette.own, id=f"trend.{point.period}", hint=hint)
    )


@reflows
def shares_over_time(drawing: Drawing, frame: Box, *, use: ScaleUse, words: Strings) -> None:
    """Draw both shares; a period with too few phrases keeps its place and says so."""
    with drawing.figure(words("alt.scale_use"), frame):
        plot = frame.cut(left=30.0, right=64.0 if frame.narrow else 96.0, top=12.0, bottom=24.0)
        both = np.concatenate([use.recommended, use.discouraged])
        top = float(np.nanmax(both)) if np.isfinite(both).any() else 0.5
        ticks = nice_ticks(0.0, min(max(top, 0.1), 1.0), about=4)
        y = Scale(0.0, ticks[-1], plot.bottom, plot.y)
        y_axis(drawing, plot, y, Ticks(ticks, percent))
        step = plot.width / max(len(use.periods), 1)
        middles = [plot.x + (i + 0.5) * step for i in range(len(use.periods))]
        for period, n, rate, x in zip(use.periods, use.n, use.recommended, middles, strict=True):
            size = f"n {count(n)}" if np.isfinite(rate) else words("state.few_short")
            _under(drawing, (x, plot.bottom), step, (period, NOTE), (size, NOTE))
        lines = (
            _Share("recommended", use.recommended, "circle", palette.own),
            _Share("discouraged", use.discouraged, "diamond", palette.department),
        )
        for line in lines:
            _series(drawing, use, line, middles, y)
        _labels(drawing, plot, lines, y, words, frame.right)


@dataclass(frozen=True, slots=True)
class _Share:
    """One of the shares over time, and the sign that tells it from the other."""

    name: str
    values: FloatArray
    shape: MarkShape
    ink: str


def _series(drawing: Drawing, use: ScaleUse, line: _Share, middles: list[float], y: Scale) -> None:
    shares = line.values
    shown = [i for i in range(len(shares)) if np.isfinite(shares[i])]
    if len(shown) > 1:
        path = tuple((middles[i], y(float(shares[i]))) for i in shown)
        drawing.add(Polygon(path, stroke=line.ink, stroke_width=1.2))
    for i in shown:
        hint = f"{use.periods[i]}: {percent(float(shares[i]))}, n {count(use.n[i])}"
        mark, at = f"{line.name}.{use.periods[i]}", (middles[i], y(float(shares[i])))
        drawing.add(Disc(*at, 2.8, line.shape, line.ink, id=mark, hint=hint))


def _labels(
    drawing: Drawing, plot: Box, lines: Sequence[_Share], y: Scale, words: Strings, right: float
) -> None:
    """Names at the line ends, pushed apart where they would meet."""
    ends = []
    for line in lines:
        shown = line.values[np.isfinite(line.values)]
        if len(shown):
            ends.append((y(float(shown[-1])), float(shown[-1]), line.name, line.ink))
    ends.sort()
    places = _apart([at for at, *_ in ends], plot.bottom)
    for place, (_, share, name, ink) in zip(places, ends, strict=True):
        text = f"{words(f'scale.{name}')} {percent(share)}"
        label, kind = fit(text, NOTE.bold, right - plot.right - 6.0, smallest=5.0)
        put(drawing, (plot.right + 6.0, place + 2.4), label, kind.in_ink(ink))


def _apart(heights: Sequence[float], bottom: float) -> list[float]:
    """Push labels, given from the top down, apart where they would meet; none leaves the bottom."""
    places: list[float] = []
    for at in heights:
        places.append(max(at, places[-1] + _LABEL) if places else at)
    for i, at in enumerate(reversed(places)):
        places[-1 - i] = min(at, bottom - i * _LABEL)
    return places


@reflows
def run_chart(drawing: Drawing, frame: Box, *, chart: RunChart, words: Strings) -> None:
    """Draw the months, the mean, the limits, the target; signals are large and named."""
    title = words(f"run_chart.{chart.key}")
    with drawing.figure(title, frame):
        put(drawing, (frame.x, frame.y + 8.0), title, NOTE.bold)
        plot = frame.cut(left=30.0, right=52.0, top=22.0, bottom=14.0)
        process = chart.process
        levels = {
            "high": process.high, "mean": process.mean, "low": process.low, "target": chart.target,
            "chance": chart.chance,
        }  # fmt: skip
        known = [*chart.level, *levels.values()]
        top = max([0.05, *(float(v) for v in known if np.isfinite(v))])
        ticks = nice_ticks(0.0, min(1.05 * top, 1.0), about=4)
        y = Scale(0.0, ticks[-1], plot.bottom, plot.y)
        show = percent if chart.key == "scale_use" else lambda v: f"{100 * v:.0f}"
        y_axis(drawing, plot, y, Ticks(ticks, show))
        drawn = [(n, max(float(v), 0.0)) for n, v in levels.items() if np.isfinite(v)]
        drawn.sort(key=lambda level: y(level[1]))
        places = _apart([y(value) for _, value in drawn], plot.bottom)
        for (name, value), place in zip(drawn, places, strict=True):
            label = f"{words(f'run_chart.{name}')} {printed(chart, value, words)}"
            _level(drawing, Box(plot.x, y(value), plot.width, place - y(value)), name, label)
        step = plot.width / max(len(chart.months), 1)
        _points(drawing, chart, Box(plot.x, plot.bottom, step, 0.0), y, words)


def printed(chart: RunChart, value: float, words: Strings) -> str:
    """Print a value in its chart's unit: a distance in points, a share in per cent."""
    if chart.key == "distance":
        return words("radiologist.facts.gap_points", value=points(value))
    return percent(value)


def _level(drawing: Drawing, line: Box, name: str, label: str) -> None:
    """Draw a level along the top of its box, and its label at the height of the bottom."""
    at = line.y
    dash = {"mean": (), "target": (1.0, 2.0), "chance": (0.6, 1.6)}.get(name, (3.0, 2.0))
    ink = palette.department if name == "target" else palette.muted
    drawing.add(Line(line.x, at, line.right, at, ink, 0.8, dash=dash, hint=label))
    text, kind = fit(label, NOTE, 50.0, smallest=4.5)
    put(drawing, (line.right + 2.0, line.bottom + 2.4), text, kind.in_ink(ink), id=f"level.{name}")


def _points(drawing: Drawing, chart: RunChart, slot: Box, y: Scale, words: Strings) -> None:
    """Join the months that are shown; name each signal once, at the point where it is met."""
    met = {signal.at: signal for signal in reversed(chart.process.signals)}
    wide = max((width_of(month, NOTE) for month in chart.months), default=0.0) + 5.0
    every = max(-(-len(chart.months) // 5), math.ceil(wide / slot.width))
    middles = [slot.x + (i + 0.5) * slot.width for i in range(len(chart.months))]
    shown = [i for i in range(len(chart.months)) if np.isfinite(chart.level[i])]
    if len(shown) > 1:
        path = tuple((middles[i], y(float(chart.level[i]))) for i in shown)
        drawing.add(Polygon(path, stroke=palette.own_soft, stroke_width=1.0))
    for i, month in enumerate(chart.months):
        if i % every == 0:
            at = middles[i]
            put(drawing, (at, slot.y + 9.0), month, NOTE.muted, anchor="middle")
        if i not in shown:
            continue
        value, signal = float(chart.level[i]), met.get(i)
        rule = words(f"run_chart.rule.{signal.rule}") if signal else ""
        hint = f"{month}: {printed(chart, value, words)}" + (f" ({rule})" if rule else "")
        size, shape = _LOUD if signal else _PLAIN
        name = f"{chart.key}.{month}"
        drawing.add(Disc(middles[i], y(value), size, shape, palette.own, id=name, hint=hint))


@reflows
def frontier(
    drawing: Drawing, frame: Box, *, points: Sequence[FrontierPoint], words: Strings
) -> None:
    """Draw the settings in order of words changed; the setting used is ringed."""
    with drawing.figure(words("alt.frontier"), frame):
        plot = frame.cut(left=36.0, right=12.0, top=16.0, bottom=24.0)
        ordered = sorted(points, key=lambda p: p.words_changed)
        across = nice_ticks(0.0, max([p.words_changed for p in ordered] + [0.1]), about=5)
        up = nice_ticks(0.0, max([p.ece_after for p in ordered] + [0.02]), about=4)
        x = Scale(0.0, across[-1], plot.x, plot.right)
        y = Scale(0.0, up[-1], plot.bottom, plot.y)
        y_axis(drawing, plot, y, Ticks(up, lambda v: decimal(v, 2)), title=words("maps.y"))
        x_axis(drawing, plot, x, Ticks(across, percent), title=words("maps.x"))
        line = tuple((x(p.words_changed), y(p.ece_after)) for p in ordered)
        if len(line) > 1:
            drawing.add(Polygon(line, stroke=palette.own_soft, stroke_width=1.0))
        for i, p in enumerate(ordered):
            at, height = x(p.words_changed), y(p.ece_after)
            hint = f"{p.label}: {percent(p.words_changed)}, ECE {decimal(p.ece_after)}"
            drawing.add(Disc(at, height, 2.4, "circle", palette.own, id=f"frontier.{i}", hint=hint))
            if p.chosen:
                drawing.add(Disc(at, height, 5.0, "ring", None, palette.ink, 1.1))
