"""Scales and axes shared by all figures: ticks on round numbers, grid lines that whisper."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from reports.drawing.marks import Box, Drawing, Line
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import put, wrap

_BEYOND: Final = 14.0
"""Points by which an axis title may be wider than its plot."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map from ``low..high`` to ``start..end`` points; values beyond are held at the ends.

    >>> Scale(0.0, 1.0, 10.0, 110.0)(0.5)
    60.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Position of a value."""
        held = min(max(value, self.low), self.high)
        return self.start + (held - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Ticks:
    """Where the ticks of an axis stand, and how their values are written."""

    at: Sequence[float]
    label: Callable[[float], str]


def nice_ticks(low: float, high: float, *, about: int = 5) -> tuple[float, ...]:
    """Round values from at or below ``low`` to at or above ``high``.

    >>> nice_ticks(0.0, 0.23)
    (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
    """
    span = max(high - low, 1e-9)
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(i * step, 10) for i in range(first, max(last, first + 1) + 1))


def x_axis(
    drawing: Drawing, plot: Box, scale: Scale, ticks: Ticks, *, title: str, grid: bool = True
) -> None:
    """Tick labels below the plot, light grid lines in it, the title under the labels."""
    for tick in ticks.at:
        x = scale(tick)
        if grid:
            drawing.add(Line(x, plot.y, x, plot.bottom, palette.hairline, 0.5))
        put(drawing, (x, plot.bottom + 9.0), ticks.label(tick), NOTE.muted, anchor="middle")
    middle = plot.x + plot.width / 2
    for i, line in enumerate(wrap(title, NOTE, plot.width + _BEYOND)):
        at = (middle, plot.bottom + 19.0 + i * NOTE.leading)
        put(drawing, at, line, NOTE.muted, anchor="middle")


def y_axis(drawing: Drawing, plot: Box, scale: Scale, ticks: Ticks, *, title: str = "") -> None:
    """Tick labels left of the plot, light grid lines in it, the title above the axis."""
    for tick in ticks.at:
        y = scale(tick)
        drawing.add(Line(plot.x, y, plot.right, y, palette.hairline, 0.5))
        put(drawing, (plot.x - 4.0, y + 2.4), ticks.label(tick), NOTE.muted, anchor="end")
    if title:
        put(drawing, (plot.x - 22.0, plot.y - 8.0), title, NOTE.muted)
