"""What a run did: exams kept and set aside step by step, and where its time went.

The flow shows what is left after each step on the left, who left and why on the right; the stages
are a bar each, with what they made and the memory they took.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reports.content import FlowStep
from reports.drawing.marks import Box, Drawing, Line, Polygon, Rect, reflows
from reports.drawing.style import FIGURE, NOTE, palette
from reports.drawing.typeset import fit, put, width_of
from reports.numbers import count
from reports.strings import Strings


@dataclass(frozen=True, slots=True)
class RunStage:
    """One stage: wall seconds, largest process in MiB, and how many of its shards were new."""

    name: str
    seconds: float
    peak_mib: float
    items: int
    made: int
    counted: str


_BOX: Final = 24.0
_LINE: Final = 11.0
_GAP: Final = 14.0
_NUMBER: Final = 60.0


def _between(step: FlowStep) -> float:
    """Room before a step for its exclusions."""
    return max(_GAP, len(step.excluded) * _LINE + 10.0)


def exam_flow_height(steps: Sequence[FlowStep]) -> float:
    """Height of the whole diagram."""
    return sum(_between(step) for step in steps[1:]) + len(steps) * _BOX + 2.0


@reflows
def exam_flow(drawing: Drawing, frame: Box, *, steps: Sequence[FlowStep], words: Strings) -> None:
    """Draw the steps downwards; exclusions branch off before the step they lead to."""
    first, last = steps[0], steps[-1]
    said = words(
        "alt.flow",
        first=first.name,
        start=count(first.count),
        last=last.name,
        end=count(last.count),
    )
    with drawing.figure(said, frame):
        if frame.narrow:
            frame = drawing.resized(frame, exam_flow_height(steps))
        left = frame if frame.narrow else Box(frame.x, frame.y, 0.46 * frame.width, frame.height)
        y, tall = frame.y, _BOX - (exam_flow_height(steps) - frame.height) / max(len(steps), 1)
        for i, step in enumerate(steps):
            if i:
                y = _exclusions(drawing, frame, left, step, y)
            _step(drawing, Box(left.x, y, left.width, tall), step)
            y += tall


def _step(drawing: Drawing, box: Box, step: FlowStep) -> None:
    hint = f"{step.name}: {count(step.count)}"
    drawing.add(Rect(box.x, box.y, box.width, box.height, palette.wash, palette.rule, hint=hint))
    name, kind = fit(step.name, FIGURE, box.width - _NUMBER - 16.0)
    line = box.y + box.height / 2 + 3.0
    put(drawing, (box.x + 8.0, line), name, kind)
    number, kind = fit(count(step.count), FIGURE.bold, _NUMBER)
    put(drawing, (box.right - 8.0, line), number, kind, anchor="end", id=f"flow.{step.name}")


def _exclusions(drawing: Drawing, frame: Box, left: Box, step: FlowStep, y: float) -> float:
    """Draw the arrow down, with a branch to each reason; return the y of the next box."""
    x = left.x + (6.0 if frame.narrow else left.width / 2)
    end = y + _between(step)
    drawing.add(Line(x, y, x, end - 3.0, palette.muted, 0.8))
    head = ((x - 3.0, end - 5.0), (x + 3.0, end - 5.0), (x, end))
    drawing.add(Polygon(head, fill=palette.muted))
    text_x, right = (x if frame.narrow else left.right) + 18.0, frame.right
    for i, exclusion in enumerate(step.excluded):
        line = y + 5.0 + (i + 0.5) * _LINE
        hint = f"{exclusion.reason}: {count(exclusion.count)}"
        drawing.add(Line(x, line, text_x - 5.0, line, palette.rule, 0.6, hint=hint))
        number = count(exclusion.count)
        reason, kind = fit(
            exclusion.reason, FIGURE, right - text_x - width_of(number, FIGURE) - 6.0
        )
        put(drawing, (text_x, line + 2.6), reason, kind.muted)
        name = f"excluded.{exclusion.reason}"
        put(drawing, (right, line + 2.6), number, FIGURE.muted, anchor="end", id=name)
    return end


_ROW: Final = 17.0
_HEAD: Final = 16.0
_NAME, _BARS, _SECONDS, _MADE = 0.14, 0.40, 0.50, 0.63
"""Where the columns end, as shares of the width; the rest is memory and counts."""


def stage_times_height(stages: Sequence[RunStage]) -> float:
    """Height of the figure."""
    return _HEAD + len(stages) * _ROW


def stage_times(
    drawing: Drawing, frame: Box, *, stages: Sequence[RunStage], words: Strings
) -> None:
    """Draw one row a stage, in the order they ran; bars share one scale from 0."""
    slowest = max(stages, key=lambda stage: stage.seconds)
    said = words("alt.stages", name=slowest.name, seconds=f"{slowest.seconds:.1f}")
    with drawing.figure(said, frame):
        longest = slowest.seconds or 1.0
        _headings(drawing, frame, words)
        for i, stage in enumerate(stages):
            row = Box(frame.x, frame.y + _HEAD + i * _ROW, frame.width, _ROW)
            _row(drawing, row, stage, longest)


def _headings(drawing: Drawing, frame: Box, words: Strings) -> None:
    """Set the words above the columns."""
    y = frame.y + 9.0
    keys = ("seconds", "made", "memory", "counted")
    seconds, made, memory, counted = (words(f"run_report.{key}") for key in keys)
    for share, text in ((_SECONDS, seconds), (_MADE, made), (_MADE + 0.1, memory)):
        x = frame.x + share * frame.width
        put(drawing, (x, y), text, NOTE.muted, anchor="end")
    x = frame.x + (_MADE + 0.12) * frame.width
    put(drawing, (x, y), counted, NOTE.muted)
    drawing.add(Line(frame.x, y + 4.0, frame.right, y + 4.0, palette.rule, 0.5))


def _row(drawing: Drawing, row: Box, stage: RunStage, longest: float) -> None:
    base, width = row.y + 11.5, row.width
    name, kind = fit(stage.name, FIGURE, _NAME * width - 4.0)
    put(drawing, (row.x, base), name, kind)
    start, end = row.x + _NAME * width, row.x + _BARS * width
    bar = max(0.6, (end - start) * stage.seconds / longest)
    tone = palette.own if stage.made else palette.own_soft
    drawing.add(
        Rect(
            start,
            row.y + 3.5,
            bar,
            10.0,
            tone,
            id=f"stage.{stage.name}",
            hint=f"{stage.name}: {stage.seconds:.1f} s, {stage.counted}",
        )
    )
    seconds, at = f"{stage.seconds:.1f} s", (row.x + _SECONDS * width, base)
    put(drawing, at, seconds, FIGURE, anchor="end", id=f"seconds.{stage.name}")
    made = f"{count(stage.made)} / {count(stage.items)}"
    put(drawing, (row.x + _MADE * width, base), made, FIGURE, anchor="end", id=f"made.{stage.name}")
    memory = f"{stage.peak_mib:.0f} MiB"
    put(drawing, (row.x + (_MADE + 0.1) * width, base), memory, FIGURE, anchor="end")
    told, kind = fit(stage.counted, NOTE, (1.0 - _MADE - 0.12) * width)
    put(drawing, (row.x + (_MADE + 0.12) * width, base), told, kind.muted)
