"""Readers side by side: what is judged of each, shift and slope, as one point of one plane.

The pale band is the margin within which no difference matters. A reader whose pattern is stated is
dark and named; nobody stands by value, so no order of readers can be read off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.profile import ReaderProfile
from reports.drawing.axes import Scale, Ticks, nice_ticks, x_axis, y_axis
from reports.drawing.marks import Box, Disc, Drawing, Rect, reflows
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import put, width_of
from reports.numbers import decimal, signed
from reports.strings import Strings


@dataclass(frozen=True, slots=True)
class Margins:
    """Half-widths within which a shift (about 0) and a slope (about 1) do not matter."""

    shift: float
    slope: float


def _stated(reader: ReaderProfile) -> bool:
    return reader.pattern.verdict.state == "pattern"


@reflows
def plane(
    drawing: Drawing,
    frame: Box,
    *,
    readers: Sequence[ReaderProfile],
    margins: Margins,
    words: Strings,
) -> None:
    """Draw shift across and slope up; what each corner means stands in it."""
    stated = sum(map(_stated, readers))
    with drawing.figure(words("alt.plane", stated=stated, readers=len(readers)), frame):
        left, foot = (32.0, 35.0) if frame.narrow else (42.0, 35.0 - NOTE.leading)
        plot = frame.cut(left=left, right=8.0, top=18.0, bottom=foot)
        shifts = [r.pattern.shift.value for r in readers]
        slopes = [r.pattern.slope.value for r in readers]
        x = _axis(shifts, 0.0, 3 * margins.shift, plot.x, plot.right)
        y = _axis(slopes, 1.0, 3 * margins.slope, plot.bottom, plot.y)
        across = [t for t in nice_ticks(x.low, x.high, about=6) if x.low <= t <= x.high]
        sideways = Ticks(across, lambda v: signed(v, 1))
        x_axis(drawing, plot, x, sideways, title=words("lines.shift_axis"))
        up = [t for t in nice_ticks(y.low, y.high, about=5) if y.low <= t <= y.high]
        upwards = Ticks(up, lambda v: decimal(v, 1))
        y_axis(drawing, plot, y, upwards, title=words("lines.slope_side"))
        top = y(1.0 + margins.slope)
        wide = x(margins.shift) - x(-margins.shift)
        tall = y(1.0 - margins.slope) - top
        drawing.add(Rect(x(-margins.shift), top, wide, tall, palette.band))
        taken = [
            Box(x(r.pattern.shift.value) - 3.0, y(r.pattern.slope.value) - 3.0, 6.0, 6.0)
            for r in readers
        ]
        for reader in sorted(readers, key=lambda r: r.reader):
            pattern = reader.pattern
            hint = words(
                "alt.plane_point",
                reader=reader.reader,
                shift=signed(pattern.shift.value, 2),
                slope=decimal(pattern.slope.value, 2),
            )
            at = x(pattern.shift.value), y(pattern.slope.value)
            _point(drawing, reader, hint, at, plot, taken)


def _axis(values: Sequence[float], centre: float, least: float, start: float, end: float) -> Scale:
    reach = max([least, *(1.15 * abs(v - centre) for v in values)])
    return Scale(centre - reach, centre + reach, start, end)


def _point(
    drawing: Drawing,
    reader: ReaderProfile,
    hint: str,
    place: tuple[float, float],
    plot: Box,
    taken: list[Box],
) -> None:
    (at, up), stated = place, _stated(reader)
    ink = palette.own if stated else palette.own_soft
    name = f"plane.{reader.reader}"
    drawing.add(Disc(at, up, 2.6, "circle", ink, palette.paper, 0.5, id=name, hint=hint))
    if not stated:
        return
    wide = width_of(reader.reader, NOTE)
    for left in (at + 5.0, at - 5.0 - wide):
        label = Box(left, up - 4.0, wide, 8.0)
        inside = plot.x <= left and label.right <= plot.right
        if inside and not any(map(label.meets, taken)):
            taken.append(label)
            drawing.add(Rect(label.x, label.y, label.width, label.height, palette.paper))
            put(drawing, (left, up + 2.4), reader.reader, NOTE)
            return
