"""Counts as pictures: histograms with lines over their bars; exams kept and set aside, by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from reports.content import FlowStep, SuppressedCell
from reports.disclosure import state_of
from reports.drawing.axes import Scale, Ticks, x_axis
from reports.drawing.marks import Box, Drawing, Line, Polygon, Rect, reflows
from reports.drawing.style import CAPTION, FIGURE, GUTTER, NOTE, palette
from reports.drawing.typeset import fit, paragraph, put, width_of, wrap
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


_BOX: Final = 24.0
_LINE: Final = 11.0
_GAP: Final = 14.0
# What a phone's width keeps from a reason: the branch, and the number with its margin.
_NARROW: Final = 60.0


def _between(step: FlowStep, room: float) -> float:
    """Room before a step for its exclusions."""
    lines = sum(len(wrap(each.reason, FIGURE, room)) for each in step.excluded)
    return max(_GAP, lines * _LINE + 10.0)


def exam_flow_height(steps: Sequence[FlowStep], room: float = math.inf) -> float:
    """Height of the whole diagram; a reason takes more lines where it has so little room."""
    return sum(_between(step, room) for step in steps[1:]) + len(steps) * _BOX + 2.0


@reflows
def exam_flow(drawing: Drawing, frame: Box, *, steps: Sequence[FlowStep], words: Strings) -> None:
    """Draw the steps downwards; exclusions branch off before the step they lead to."""
    first, last = steps[0], steps[-1]
    ends = {"start": count(first.count), "end": count(last.count)}
    said = words("alt.flow", first=first.name, last=last.name, **ends)
    with drawing.figure(said, frame):
        room = frame.width - _NARROW if frame.narrow else math.inf
        high = exam_flow_height(steps, room)
        if frame.narrow:
            frame = drawing.resized(frame, high)
        left = frame if frame.narrow else Box(frame.x, frame.y, 0.46 * frame.width, frame.height)
        y, tall = frame.y, _BOX - (high - frame.height) / max(len(steps), 1)
        for i, step in enumerate(steps):
            if i:
                y = _exclusions(drawing, (frame, left), step, y, room=room)
            _step(drawing, Box(left.x, y, left.width, tall), step)
            y += tall


def _step(drawing: Drawing, box: Box, step: FlowStep) -> None:
    hint = f"{step.name}: {count(step.count)}"
    drawing.add(Rect(box.x, box.y, box.width, box.height, palette.wash, palette.rule, hint=hint))
    number, line = count(step.count), box.y + box.height / 2 + 3.0
    free = box.width - width_of(number, FIGURE.bold) - 22.0
    put(drawing, (box.x + 8.0, line), *fit(step.name, FIGURE, free))
    put(drawing, (box.right - 8.0, line), number, FIGURE.bold, anchor="end", id=f"flow.{step.name}")


def _exclusions(
    drawing: Drawing, boxes: tuple[Box, Box], step: FlowStep, y: float, *, room: float
) -> float:
    """Draw the arrow down, with a branch to each reason; return the y of the next box."""
    frame, left = boxes
    x = left.x + (6.0 if frame.narrow else left.width / 2)
    end = y + _between(step, room)
    drawing.add(Line(x, y, x, end - 3.0, palette.muted, 0.8))
    head = ((x - 3.0, end - 5.0), (x + 3.0, end - 5.0), (x, end))
    drawing.add(Polygon(head, fill=palette.muted))
    text_x, right = (x if frame.narrow else left.right) + 18.0, frame.right
    line = y + 5.0 + 0.5 * _LINE
    for exclusion in step.excluded:
        hint = f"{exclusion.reason}: {count(exclusion.count)}"
        drawing.add(Line(x, line, text_x - 5.0, line, palette.rule, 0.6, hint=hint))
        number = count(exclusion.count)
        first, free = line, right - text_x - width_of(number, FIGURE) - 6.0
        for part in wrap(exclusion.reason, FIGURE, room):
            reason, kind = fit(part, FIGURE, free)
            put(drawing, (text_x, line + 2.6), reason, kind.muted)
            line += _LINE
        name = f"excluded.{exclusion.reason}"
        put(drawing, (right, first + 2.6), number, FIGURE.muted, anchor="end", id=name)
    return end
