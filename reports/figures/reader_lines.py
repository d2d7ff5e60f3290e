"""Readers' shifts and slopes: every reader's intervals in code order, and both in one plane.

The pale band is the margin within which no difference matters. A reader whose pattern is stated is
dark and named; nobody stands by value, so no order of readers can be read off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from calibration.profile import Coordinate, ReaderProfile
from reports.drawing.axes import Scale, Ticks, nice_ticks, x_axis, y_axis
from reports.drawing.marks import Box, Disc, Line, Rect
from reports.drawing.structure import Drawing
from reports.drawing.style import NOTE, SUBHEADING, palette
from reports.drawing.typeset import fit, put, width_of
from reports.numbers import decimal, interval, signed
from reports.strings import Strings

__all__ = ["MOST_ROWS", "Margins", "caterpillar", "caterpillar_height", "plane"]

MOST_ROWS: Final = 40
"""Readers that one figure holds on a page."""

_ROW: Final = 11.0
_HEAD: Final = 18.0
_FOOT: Final = 26.0
_CODE: Final = 62.0


@dataclass(frozen=True, slots=True)
class Margins:
    """Half-widths within which a shift (about 0) and a slope (about 1) do not matter."""

    shift: float
    slope: float


@dataclass(frozen=True, slots=True)
class _Panel:
    """One coordinate: where it is found, its centre, its margin and how it prints."""

    key: str
    of: Callable[[ReaderProfile], Coordinate]
    centre: float
    margin: float
    show: Callable[[float], str]


def caterpillar_height(readers: Sequence[ReaderProfile]) -> float:
    """Height of the figure."""
    return _HEAD + len(readers) * _ROW + _FOOT


def caterpillar(
    drawing: Drawing,
    frame: Box,
    *,
    readers: Sequence[ReaderProfile],
    margins: Margins,
    words: Strings,
) -> None:
    """Draw one row a reader in code order: shift on the left, slope on the right."""
    with drawing.figure(words("alt.lines"), frame):
        order = sorted(readers, key=lambda reader: reader.reader)
        top = frame.y + _HEAD
        for i, reader in enumerate(order):
            kind = NOTE.bold if _stated(reader) else NOTE
            text, kind = fit(reader.reader, kind, _CODE - 6.0, smallest=5.0)
            put(drawing, (frame.x, top + (i + 0.5) * _ROW + 2.4), text, kind)
        across = frame.cut(left=_CODE)
        for column, panel in zip(across.columns(2, gutter=20.0), _panels(margins), strict=True):
            put(drawing, (column.x, frame.y + 8.0), words(f"lines.{panel.key}"), SUBHEADING)
            plot = column.cut(left=8.0, right=8.0, top=_HEAD, bottom=_FOOT)
            _rows(drawing, plot, order, panel, words)


def _panels(margins: Margins) -> tuple[_Panel, _Panel]:
    return (
        _Panel("shift", lambda r: r.pattern.shift, 0.0, margins.shift, lambda v: signed(v, 1)),
        _Panel("slope", lambda r: r.pattern.slope, 1.0, margins.slope, lambda v: decimal(v, 1)),
    )


def _stated(reader: ReaderProfile) -> bool:
    return reader.pattern.verdict.state == "pattern"


def _rows(
    drawing: Drawing, plot: Box, order: Sequence[ReaderProfile], panel: _Panel, words: Strings
) -> None:
    ends = [v for r in order for v in (panel.of(r).low, panel.of(r).high)]
    ends += [panel.centre - 2 * panel.margin, panel.centre + 2 * panel.margin]
    ticks = nice_ticks(min(ends), max(ends), about=5)
    x = Scale(ticks[0], ticks[-1], plot.x, plot.right)
    left = x(panel.centre - panel.margin)
    wide = x(panel.centre + panel.margin) - left
    drawing.add(Rect(left, plot.y, wide, plot.height, palette.band))
    x_axis(drawing, plot, x, Ticks(ticks, panel.show), title=words(f"lines.{panel.key}_side"))
    for i, reader in enumerate(order):
        value, y = panel.of(reader), plot.y + (i + 0.5) * _ROW
        ink = palette.own if _stated(reader) else palette.own_soft
        hint = f"{reader.reader}: {decimal(value.value, 2)} ({interval(value.low, value.high, 2)})"
        drawing.add(Line(x(value.low), y, x(value.high), y, ink, 1.3, hint=hint))
        name = f"{panel.key}.{reader.reader}"
        drawing.add(Disc(x(value.value), y, 2.3, "circle", ink, id=name, hint=hint))


def plane(
    drawing: Drawing,
    frame: Box,
    *,
    readers: Sequence[ReaderProfile],
    margins: Margins,
    words: Strings,
) -> None:
    """Draw shift across and slope up; what each corner means stands in it."""
    with drawing.figure(words("alt.plane"), frame):
        plot = frame.cut(left=42.0, right=8.0, top=18.0, bottom=26.0)
        shifts, slopes = ([panel.of(r) for r in readers] for panel in _panels(margins))
        x = _axis([c.value for c in shifts], 0.0, 3 * margins.shift, plot.x, plot.right)
        y = _axis([c.value for c in slopes], 1.0, 3 * margins.slope, plot.bottom, plot.y)
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
        for reader in sorted(readers, key=lambda r: (not _stated(r), r.reader)):
            _point(drawing, reader, x, y, plot, taken)


def _axis(values: Sequence[float], centre: float, least: float, start: float, end: float) -> Scale:
    reach = max([least, *(1.15 * abs(v - centre) for v in values)])
    return Scale(centre - reach, centre + reach, start, end)


def _point(
    drawing: Drawing, reader: ReaderProfile, x: Scale, y: Scale, plot: Box, taken: list[Box]
) -> None:
    pattern, stated = reader.pattern, _stated(reader)
    at, up = x(pattern.shift.value), y(pattern.slope.value)
    ink = palette.own if stated else palette.own_soft
    hint = f"{reader.reader}: {signed(pattern.shift.value, 2)}, {decimal(pattern.slope.value, 2)}"
    name = f"plane.{reader.reader}"
    drawing.add(Disc(at, up, 2.6, "circle", ink, palette.paper, 0.5, id=name, hint=hint))
    if not stated:
        return
    wide = width_of(reader.reader, NOTE)
    for left in (at + 5.0, at - 5.0 - wide):
        label = Box(left, up - 4.0, wide, 8.0)
        inside = plot.x <= left and label.right <= plot.right
        if inside and not any(_meet(label, other) for other in taken):
            taken.append(label)
            put(drawing, (left, up + 2.4), reader.reader, NOTE)
            return


def _meet(a: Box, b: Box) -> bool:
    return a.x < b.right and b.x < a.right and a.y < b.bottom and b.y < a.bottom
