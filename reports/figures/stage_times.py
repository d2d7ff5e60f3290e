"""Where a run's time went: a bar a stage, with what it made and the memory it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reports.content_run import RunStage
from reports.marks import Box, Drawing, Line, Rect
from reports.numbers import count
from reports.style import FIGURE, NOTE, palette
from reports.typeset import fit, put

__all__ = ["stage_times", "stage_times_height"]

_ROW: Final = 17.0
_HEAD: Final = 16.0
_NAME, _BARS, _SECONDS, _MADE = 0.14, 0.40, 0.50, 0.63
"""Where the columns end, as shares of the width; the rest is memory and counts."""


def stage_times_height(stages: Sequence[RunStage]) -> float:
    """Height of the figure."""
    return _HEAD + len(stages) * _ROW


def stage_times(drawing: Drawing, frame: Box, *, stages: Sequence[RunStage], heads: Heads) -> None:
    """Draw one row a stage, in the order they ran; bars share one scale from 0."""
    longest = max((stage.seconds for stage in stages), default=0.0) or 1.0
    _headings(drawing, frame, heads)
    for i, stage in enumerate(stages):
        row = Box(frame.x, frame.y + _HEAD + i * _ROW, frame.width, _ROW)
        _row(drawing, row, stage, longest)


Heads = tuple[str, str, str, str]
"""Words above the columns: seconds, shards made, memory, counted."""


def _headings(drawing: Drawing, frame: Box, heads: Heads) -> None:
    y = frame.y + 9.0
    seconds, made, memory, counted = heads
    for share, text in ((_SECONDS, seconds), (_MADE, made), (_MADE + 0.1, memory)):
        x = frame.x + share * frame.width
        put(drawing, x, y, text, NOTE, colour=palette.muted, anchor="end")
    x = frame.x + (_MADE + 0.12) * frame.width
    put(drawing, x, y, counted, NOTE, colour=palette.muted)
    drawing.add(Line(frame.x, y + 4.0, frame.right, y + 4.0, palette.rule, 0.5))


def _row(drawing: Drawing, row: Box, stage: RunStage, longest: float) -> None:
    base, width = row.y + 11.5, row.width
    name, kind = fit(stage.name, FIGURE, _NAME * width - 4.0)
    put(drawing, row.x, base, name, kind)
    start, end = row.x + _NAME * width, row.x + _BARS * width
    bar = max(0.6, (end - start) * stage.seconds / longest)
    tone = palette.own if stage.made else palette.own_soft
    drawing.add(Rect(start, row.y + 3.5, bar, 10.0, tone, id=f"stage.{stage.name}"))
    put(drawing, row.x + _SECONDS * width, base, f"{stage.seconds:.1f} s", FIGURE, anchor="end",
        id=f"seconds.{stage.name}")  # fmt: skip
    made = f"{count(stage.made)} / {count(stage.items)}"
    put(drawing, row.x + _MADE * width, base, made, FIGURE, anchor="end", id=f"made.{stage.name}")
    memory = f"{stage.peak_mib:.0f} MiB"
    put(drawing, row.x + (_MADE + 0.1) * width, base, memory, FIGURE, anchor="end")
    told, kind = fit(stage.counted, NOTE, (1.0 - _MADE - 0.12) * width)
    put(drawing, row.x + (_MADE + 0.12) * width, base, told, kind, colour=palette.muted)
