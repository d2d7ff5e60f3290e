"""Values over time: a reader's trend, and a department's months as run charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from reports.content import SuppressedCell, TrendPoint
from reports.disclosure import state_of
from reports.drawing.axes import Scale, Ticks, nice_ticks, y_axis
from reports.drawing.marks import Box, Disc, Drawing, Line, Polygon, reflows
from reports.drawing.marks import Shape as MarkShape
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import fit, put, width_of, wrap
from reports.numbers import count, percent, points
from reports.review_content import RunChart
from reports.strings import Strings

_PLAIN: tuple[float, MarkShape] = (2.3, "circle")
_LABEL = 9.0
"""Points from one label's line to the next."""
_LOUD: tuple[float, MarkShape] = (3.6, "diamond")


@reflows
def trend(drawing: Drawing, frame: Box, *, series: tuple[TrendPoint, ...], words: Strings) -> None:
    """Draw the periods left to right; a suppressed period keeps its place and says so."""
    shown = [_said(point, words) for point in series if _known(point)]
    said = words("alt.trend", first=shown[0], last=shown[-1]) if shown else words("alt.trend_none")
    with drawing.figure(said, frame):
        plot = frame.cut(left=30.0, right=8.0, top=16.0, bottom=38.0)
        gaps = [p.gap for p in series if not isinstance(p.gap, SuppressedCell)]
        tops = [gap.high if gap.high == gap.high else gap.value for gap in gaps]
        ticks = nice_ticks(0.0, max([0.1, *(t for t in tops if t == t)]), about=4)
        y = Scale(0.0, ticks[-1], plot.bottom, plot.y)
        labels = Ticks(ticks, lambda v: f"{100 * v:.0f}")
        y_axis(drawing, plot, y, labels, title=words("trend.y"))
        step = plot.width / max(len(series), 1)
        middles = [plot.x + (i + 0.5) * step for i in range(len(series))]
        _joined(drawing, series, middles, y)
        for point, x in zip(series, middles, strict=True):
            _under(drawing, (x, plot.bottom), step, point, words)
            if _known(point):
                _gap(drawing, (x, step), point, y, words)


def _known(point: TrendPoint) -> bool:
    return not isinstance(point.gap, SuppressedCell) and point.gap.value == point.gap.value


def _said(point: TrendPoint, words: Strings) -> str:
    """Say a period's distance with its interval and the level that chance alone can give."""
    gap, period = point.gap, point.period
    if point.partial:
        period = f"{period} ({words('trend.partial')})"
    if isinstance(gap, SuppressedCell):
        return f"{period}: {state_of(gap, words)}"
    return words(
        "alt.trend_point",
        period=period,
        value=points(gap.value),
        low=points(gap.low),
        high=points(gap.high),
        chance=points(gap.null_high),
        n=count(point.n),
    )


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
    drawing: Drawing, at: tuple[float, float], width: float, point: TrendPoint, words: Strings
) -> None:
    """Set a period and its statements, or its state, centred under the axis.

    Of a period that is not whole too few statements say nothing: it is named as such instead.
    """
    (x, y), gap = at, point.gap
    size, kind = f"n {count(point.n)}", NOTE.muted
    few = isinstance(gap, SuppressedCell) and gap.of == "exams"
    if isinstance(gap, SuppressedCell):
        size, kind = words("state.few_short" if few else "state.withheld_short"), kind.oblique
    lines = [(point.period, NOTE.muted), (size, kind)]
    if point.partial:
        in_part = (words("trend.partial"), NOTE.muted.oblique)
        lines[1 if few else 2 :] = [in_part]
    for text, face in lines:
        for line in wrap(text, face, width - 2.0):
            y += 9.0
            put(drawing, (x, y), line, face, anchor="middle")


def _gap(
    drawing: Drawing, at: tuple[float, float], point: TrendPoint, y: Scale, words: Strings
) -> None:
    """Draw a period's gap with its interval, and where chance alone would put it."""
    (x, step), gap = at, point.gap
    if isinstance(gap, SuppressedCell):
        return
    hint = _said(point, words)
    if gap.null_high == gap.null_high:
        half = min(0.3 * step, 12.0)
        level = y(gap.null_high)
        drawing.add(Line(x - half, level, x + half, level, palette.muted, 0.8, dash=(2.0, 1.5)))
    if gap.low == gap.low and gap.high == gap.high:
        drawing.add(Line(x, y(gap.low), x, y(gap.high), palette.own, 1.3, hint=hint))
    drawing.add(
        Disc(x, y(gap.value), 2.6, "circle", palette.own, id=f"trend.{point.period}", hint=hint)
    )


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
    with drawing.figure(_spoken(chart, title, words), frame):
        put(drawing, (frame.x, frame.y + 8.0), title, NOTE.bold)
        plot = frame.cut(left=30.0, right=64.0, top=22.0, bottom=14.0)
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


def _spoken(chart: RunChart, title: str, words: Strings) -> str:
    """Say what is seen at a glance: mean, limits, and where a signal was met."""
    process, shown = chart.process, partial(printed, chart, words=words)
    said = words("alt.run_chart", title=title, mean=shown(process.mean), n=process.n)
    if not np.isfinite(process.low):
        return f"{said} {words('alt.run_no_limits')}"
    met = [f"{chart.months[s.at]} ({words(f'run_chart.rule.{s.rule}')})" for s in process.signals]
    signals = words("alt.run_signals", signals="; ".join(met)) if met else words("alt.run_steady")
    limits = words("alt.run_limits", low=shown(max(process.low, 0.0)), high=shown(process.high))
    return f"{said} {limits} {signals}"


def printed(chart: RunChart, value: float, words: Strings) -> str:
    """Print a value in its chart's unit: a distance in points, a share in per cent."""
    if chart.key == "distance":
        return words("trend.points", value=points(value))
    return percent(value)


def _level(drawing: Drawing, line: Box, name: str, label: str) -> None:
    """Draw a level along the top of its box, and its label at the height of the bottom."""
    at = line.y
    dash = {"mean": (), "target": (1.0, 2.0), "chance": (0.6, 1.6)}.get(name, (3.0, 2.0))
    ink = palette.department if name == "target" else palette.muted
    drawing.add(Line(line.x, at, line.right, at, ink, 0.8, dash=dash, hint=label))
    text, kind = fit(label, NOTE, 62.0)
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
