"""Exams kept and set aside, step by step: those left on the left, who left and why on the right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from reports.content import FlowStep
from reports.drawing.marks import Box, Drawing, Line, Polygon, Rect, reflows
from reports.drawing.style import FIGURE, palette
from reports.drawing.typeset import fit, put, width_of, wrap
from reports.numbers import count
from reports.strings import Strings

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
