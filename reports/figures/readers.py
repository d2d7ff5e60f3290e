"""Readers side by side: the funnel, intervals in code order, shift and slope in one plane.

The funnel's limits arrive already widened for overdispersion. A ring and the reader's code mark a
signal for review; every other reader is an unlabelled disc.

Beside intervals, the pale band is the margin within which no difference matters. A reader whose
pattern is stated is dark and named; nobody stands by value, so no order of readers can be read off.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.gaps import Funnel as Measured
from calibration.profile import Coordinate, ReaderProfile
from calibration.rounding import counted
from reports.drawing.axes import Scale, Ticks, nice_ticks, x_axis, y_axis
from reports.drawing.marks import Box, Disc, Drawing, Line, Polygon, Rect, reflows
from reports.drawing.style import NOTE, SUBHEADING, palette
from reports.drawing.typeset import fit, put, width_of
from reports.numbers import count, decimal, interval, signed
from reports.review_content import Funnel, FunnelPoint
from reports.strings import Strings

_Z95, _Z998 = 1.959963984540054, 3.0902323061678132
_STEPS: Final = 80


def funnel_content(
    codes: Sequence[str],
    *,
    measured: Measured,
    signals: Collection[str],
    minimum_n: int,
    measure: str = "CT minus words",
) -> Funnel | None:
    """Carry a funnel to its page; None where no reader has ``minimum_n`` observations.

    Parameters
    ----------
    codes
        Reader codes in the order of ``measured``, R of them.
    measured
        Gaps with their standard errors.
    signals
        Readers to ring.
    minimum_n
        Readers with fewer observations are not drawn.
    measure
        What is plotted, as the axis title says it.
    """
    shown = [
        r for r in range(len(codes)) if measured.n[r] >= minimum_n and np.isfinite(measured.gap[r])
    ]
    if not shown:
        return None
    points = tuple(
        FunnelPoint(
            code=codes[r],
            n=round(float(measured.n[r])),
            value=float(measured.gap[r]),
            signal=codes[r] in signals,
        )
        for r in sorted(shown, key=lambda r: codes[r])
    )
    sizes, spread = _spread(measured, shown, minimum_n)
    return Funnel(
        measure=measure,
        centre=0.0,
        sizes=sizes,
        low_95=-_Z95 * spread,
        high_95=_Z95 * spread,
        low_998=-_Z998 * spread,
        high_998=_Z998 * spread,
        points=points,
        overdispersion=measured.inflation,
        hypotheses=len(codes),
    )


def _spread(
    measured: Measured, shown: Sequence[int], minimum_n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Give sizes to past the largest reader's, and the standard deviation of a gap at each."""
    per_statement = float(np.median(measured.standard_error[shown] ** 2 * measured.n[shown]))
    sizes = np.linspace(float(minimum_n), 1.05 * float(counted(measured.n[shown].max())), _STEPS)
    return sizes, np.sqrt(per_statement / sizes + measured.between_variance)


@reflows
def funnel_plot(drawing: Drawing, frame: Box, *, funnel: Funnel, words: Strings) -> None:
    """Draw limits, centre and readers."""
    with drawing.figure(words("alt.funnel"), frame):
        plot = frame.cut(
            left=32.0 if frame.narrow else 42.0, right=8.0, top=16.0, bottom=_foot(frame)
        )
        x, y = _scales(funnel, plot)
        ticks = [t for t in nice_ticks(y.low, y.high, about=5) if y.low <= t <= y.high]
        y_axis(drawing, plot, y, Ticks(ticks, lambda v: signed(v, 2)), title=funnel.measure)
        across = [t for t in nice_ticks(0.0, x.high, about=6) if t <= x.high]
        x_axis(drawing, plot, x, Ticks(across, count), title=words("funnel.x"), grid=False)
        limits = (
            (funnel.low_998, funnel.high_998, (3.0, 2.0)),
            (funnel.low_95, funnel.high_95, ()),
        )
        for low, high, dash in limits:
            for values in (low, high):
                _limit(drawing, funnel, values, x, y, dash)
        drawing.add(
            Line(plot.x, y(funnel.centre), plot.right, y(funnel.centre), palette.muted, 0.7)
        )
        taken: list[Box] = []
        for point in funnel.points:
            _reader(drawing, point, x, y, plot, taken)


def _scales(funnel: Funnel, plot: Box) -> tuple[Scale, Scale]:
    values = [p.value for p in funnel.points]
    most = max([float(np.max(funnel.sizes)), *(p.n for p in funnel.points)])
    small = min((p.n for p in funnel.points), default=1)
    near = funnel.sizes >= small
    reach = [*values, *funnel.low_95[near], *funnel.high_95[near], funnel.centre]
    finite = [float(v) for v in reach if np.isfinite(v)]
    ticks = nice_ticks(min(finite), max(finite), about=5)
    x = Scale(0.0, nice_ticks(0.0, most)[-1], plot.x, plot.right)
    return x, Scale(ticks[0], ticks[-1], plot.bottom, plot.y)


def _limit(
    drawing: Drawing,
    funnel: Funnel,
    values: np.ndarray,
    x: Scale,
    y: Scale,
    dash: tuple[float, ...],
) -> None:
    """One limit, drawn only where it lies inside the axes."""
    inside = np.isfinite(values) & (values >= y.low) & (values <= y.high)
    points = tuple(
        (x(float(n)), y(float(v)))
        for n, v in zip(funnel.sizes[inside], values[inside], strict=True)
    )
    if len(points) > 1:
        drawing.add(Polygon(points, stroke=palette.muted, stroke_width=0.8, dash=dash))


def _reader(
    drawing: Drawing, point: FunnelPoint, x: Scale, y: Scale, plot: Box, taken: list[Box]
) -> None:
    if not np.isfinite(point.value):
        return
    at, up = x(point.n), y(point.value)
    hint = f"{point.code}: {signed(point.value)}, n {count(point.n)}"
    name = f"reader.{point.code}"
    drawing.add(Disc(at, up, 2.4, "circle", palette.own, palette.paper, 0.5, id=name, hint=hint))
    if not point.signal:
        return
    drawing.add(Disc(at, up, 5.0, "ring", None, palette.ink, 1.1, id=f"signal.{point.code}"))
    wide = width_of(point.code, NOTE.bold)
    left = at + 8.0 if at + 8.0 + wide <= plot.right else at - 8.0 - wide
    label = Box(left, up - 3.0, wide, 8.0)
    if any(map(label.meets, taken)):
        return
    taken.append(label)
    put(drawing, (left, up + 2.4), point.code, NOTE.bold)


MOST_ROWS: Final = 20
"""Readers that one figure holds on a page."""

_ROW: Final = 11.0
_HEAD: Final = 18.0
_FOOT: Final = 35.0
_CODE: Final = 50.0


def _foot(frame: Box) -> float:
    """Room for tick labels and an axis title, which takes two lines on a phone."""
    return _FOOT if frame.narrow else _FOOT - NOTE.leading


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
    order = sorted(readers, key=lambda reader: reader.reader)
    for column, panel in zip(frame.columns(2, gutter=20.0), _panels(margins), strict=True):
        title = words(f"lines.{panel.key}")
        with drawing.figure(f"{title}. {words('alt.lines')}", column):
            text, kind = fit(title, SUBHEADING, column.width)
            put(drawing, (column.x, column.y + 8.0), text, kind)
            plot = column.cut(left=_CODE, right=8.0, top=_HEAD, bottom=_FOOT)
            _codes(drawing, column.x, plot, order)
            _rows(drawing, plot, order, panel, words)


def _codes(drawing: Drawing, x: float, plot: Box, order: Sequence[ReaderProfile]) -> None:
    """Set the codes beside their rows, those of stated patterns in bold."""
    for i, reader in enumerate(order):
        kind = NOTE.bold if _stated(reader) else NOTE
        text, kind = fit(reader.reader, kind, _CODE - 6.0, smallest=5.0)
        put(drawing, (x, plot.y + (i + 0.5) * plot.height / len(order) + 2.4), text, kind)


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
    step = plot.height / max(len(order), 1)
    placed = [(plot.y + (i + 0.5) * step, panel.of(r), r) for i, r in enumerate(order)]
    for stated in (False, True):  # all intervals, then all discs: runs of equal strokes
        for y, value, reader in placed:
            if _stated(reader) is stated:
                ink = palette.own if stated else palette.own_soft
                drawing.add(Line(x(value.low), y, x(value.high), y, ink, 1.3))
    for y, value, reader in placed:
        ink = palette.own if _stated(reader) else palette.own_soft
        hint = f"{reader.reader}: {decimal(value.value, 2)} ({interval(value.low, value.high, 2)})"
        name = f"{panel.key}.{reader.reader}"
        drawing.add(Disc(x(value.value), y, 2.3, "circle", ink, id=name, hint=hint))


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
    with drawing.figure(words("alt.plane"), frame):
        plot = frame.cut(
            left=32.0 if frame.narrow else 42.0, right=8.0, top=18.0, bottom=_foot(frame)
        )
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
        if inside and not any(map(label.meets, taken)):
            taken.append(label)
            put(drawing, (left, up + 2.4), reader.reader, NOTE)
            return
