"""Values over time: a department's months as run charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from calibration.arrays import FloatArray
from calibration.run_chart import LEAST, Signal
from reports.drawing.axes import Scale, Ticks, nice_ticks, y_axis
from reports.drawing.marks import Box, Disc, Drawing, Line, Polygon, reflows
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import fit, put, width_of
from reports.numbers import percent, points
from reports.review_content import RunChart
from reports.strings import Strings

_DOT, _SIGNAL = 2.3, 3.6
# Points from one label's line to the next.
_LABEL = 9.0


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
        head = words("run_chart.in_unit", title=title) if chart.key == "distance" else title
        put(drawing, (frame.x, frame.y + 8.0), head, NOTE.bold)
        plot = frame.cut(left=30.0, right=80.0, top=22.0, bottom=14.0)
        process = chart.process
        levels = {"mean": process.mean, "target": chart.target}
        limits = {"high": process.high, "low": np.maximum(process.low, 0.0)}
        known = [*chart.level, *levels.values(), *process.high]
        top = max([0.05, *(float(v) for v in known if np.isfinite(v))])
        ticks = nice_ticks(0.0, min(1.05 * top, 1.0), about=4)
        y = Scale(0.0, ticks[-1], plot.bottom, plot.y)
        show, said = (percent, percent) if chart.key == "scale_use" else (_whole, points)
        y_axis(drawing, plot, y, Ticks(ticks, show))
        last = {name: of[np.isfinite(of)][-1:] for name, of in limits.items()}
        ends = levels | {name: float(of[0]) for name, of in last.items() if of.size}
        drawn = [(name, value) for name, value in ends.items() if np.isfinite(value)]
        drawn.sort(key=lambda level: y(level[1]))
        places = _apart([y(value) for _, value in drawn], plot.bottom)
        for (name, value), place in zip(drawn, places, strict=True):
            label = f"{words(f'run_chart.{name}')} {said(value)}"
            _level(drawing, Box(plot.x, y(value), plot.width, place - y(value)), name, label)
        step = plot.width / max(len(chart.months), 1)
        for of in limits.values():
            _limit(drawing, of, Box(plot.x, plot.bottom, step, 0.0), y)
        _points(drawing, chart, Box(plot.x, plot.bottom, step, 0.0), y, words)


def _whole(share: float) -> str:
    return f"{100 * share:.0f}"


def _spoken(chart: RunChart, title: str, words: Strings) -> str:
    """Say what is seen at a glance: mean, limits, and where a signal was met."""
    process, shown = chart.process, partial(printed, chart, words=words)
    said = words("alt.run_chart", title=title, mean=shown(process.mean), n=process.n)
    if process.n < LEAST:
        return f"{said} {words('alt.run_no_limits')}"
    met = [
        f"{words.month(chart.months[each.at])} ({met_by(each, words)})" for each in process.signals
    ]
    signals = words("alt.run_signals", signals="; ".join(met)) if met else words("alt.run_steady")
    low, high = (float(of[np.isfinite(of)][-1]) for of in (process.low, process.high))
    limits = words("alt.run_limits", low=shown(max(low, 0.0)), high=shown(high))
    return f"{said} {limits} {signals}"


def met_by(signal: Signal, words: Strings) -> str:
    """Say by which rule a month is a signal."""
    return words(f"run_chart.rule.{signal.rule}", n=signal.run)


def printed(chart: RunChart, value: float, words: Strings) -> str:
    """Print a value in its chart's unit: a distance in points, a share in per cent."""
    if chart.key == "distance":
        return words("trend.points", value=points(value))
    return percent(value)


def _level(drawing: Drawing, line: Box, name: str, label: str) -> None:
    """Label a level at the height of its box's bottom; along the top a mean or target is drawn."""
    at, ink = line.y, palette.department if name == "target" else palette.muted
    if name in {"mean", "target"}:
        dash = (1.0, 2.0) if name == "target" else ()
        drawing.add(Line(line.x, at, line.right, at, ink, 0.8, dash=dash, hint=label))
    text, kind = fit(label, NOTE, 78.0)
    put(drawing, (line.right + 2.0, line.bottom + 2.4), text, kind.in_ink(ink), id=f"level.{name}")


def _limit(drawing: Drawing, limit: FloatArray, slot: Box, y: Scale) -> None:
    """Draw a limit in steps, each as wide as its month; where none is known it leads on."""
    known = np.flatnonzero(np.isfinite(limit)).tolist()
    for place, after in pairwise([*known, len(limit)]):
        left, right = slot.x + place * slot.width, slot.x + after * slot.width
        at = y(float(limit[place]))
        drawing.add(Line(left, at, right, at, palette.muted, 0.8, dash=(3.0, 2.0)))


def _points(drawing: Drawing, chart: RunChart, slot: Box, y: Scale, words: Strings) -> None:
    """Join the months that are shown; name each signal once, at the point where it is met."""
    met = {signal.at: signal for signal in reversed(chart.process.signals)}
    months = [words.month(month) for month in chart.months]
    wide = max((width_of(month, NOTE) for month in months), default=0.0) + 5.0
    every = max(-(-len(months) // 5), math.ceil(wide / slot.width))
    middles = [slot.x + (i + 0.5) * slot.width for i in range(len(months))]
    shown = np.flatnonzero(np.isfinite(chart.level)).tolist()
    places = {i: (middles[i], y(float(chart.level[i]))) for i in shown}
    for i, after in pairwise(shown):
        if after == i + 1:  # a month that is not shown is a gap, and no line leads over it
            path = (places[i], places[after])
            drawing.add(Polygon(path, stroke=palette.own_soft, stroke_width=1.0))
    for i, month in enumerate(months):
        if i % every == 0:
            at = middles[i]
            put(drawing, (at, slot.y + 11.0), month, NOTE.muted, anchor="middle")
        if i not in shown:
            continue
        value, signal = float(chart.level[i]), met.get(i)
        rule = met_by(signal, words) if signal else ""
        hint = f"{month}: {printed(chart, value, words)}" + (f" ({rule})" if rule else "")
        name = f"{chart.key}.{chart.months[i]}"
        if signal:
            drawing.add(Polygon(_diamond(*places[i]), palette.own, id=name, hint=hint))
        else:
            drawing.add(Disc(*places[i], _DOT, palette.own, id=name, hint=hint))


def _diamond(x: float, y: float) -> tuple[tuple[float, float], ...]:
    """Give the corners of a signal's mark, clockwise."""
    return (x, y - _SIGNAL), (x + _SIGNAL, y), (x, y + _SIGNAL), (x - _SIGNAL, y)
