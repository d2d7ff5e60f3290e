"""Readers side by side: shift and slope as one point of one plane, and CT minus words in a funnel.

The plane's pale band is the margin within which no difference matters. A reader whose pattern is
stated is dark and named; nobody stands by value, so no order of readers can be read off.

The funnel sets each gap beside the number of statements behind it. Its inner limits hold 95 % of
readers who differ by chance alone, ± 1.96 √(v / n) about the centre with v the median reader's
variance of one statement; its outer ones know that readers differ, ± 1.96 √(v / n + τ²)
(Spiegelhalter 2005, additive overdispersion; τ² of Paule and Mandel, `calibration.gaps`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.arrays import FloatArray
from calibration.estimate import Z95
from calibration.gaps import Gaps, ShrunkGaps
from calibration.profile import ProfileSettings, ReaderProfile
from reports.drawing.axes import Scale, Ticks, nice_ticks, x_axis, y_axis
from reports.drawing.marks import Box, Disc, Drawing, Polygon, Rect, reflows
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import put, width_of
from reports.numbers import count, decimal, signed
from reports.strings import Strings

_STEPS: Final = 60
# Where limits begin, as a share of the fewest statements of a reader.
_LEAST: Final = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Funnel:
    """Gaps of the readers named, how readers differ, and who is told of a pattern."""

    codes: tuple[str, ...]
    gaps: Gaps
    shrunk: ShrunkGaps
    told: Collection[str]

    @property
    def spread(self) -> float:
        """Standard deviation of readers' true gaps, 0 where chance explains how they differ."""
        return float(np.sqrt(self.shrunk.between_variance))

    def limits(self, n: FloatArray | float, *, widened: bool) -> tuple[FloatArray, FloatArray]:
        """Give the 95 % limits of a reader of n statements."""
        one = np.median(self.gaps.standard_error**2 * self.gaps.n)
        between = self.shrunk.between_variance if widened else 0.0
        half = Z95 * np.sqrt(one / np.asarray(n, dtype=np.float64) + between)
        return self.shrunk.centre - half, self.shrunk.centre + half

    def outside(self, *, widened: bool) -> int:
        """Count the readers beyond the limits."""
        low, high = self.limits(self.gaps.n, widened=widened)
        return int(((self.gaps.value < low) | (self.gaps.value > high)).sum())


@reflows
def funnel_plot(drawing: Drawing, frame: Box, *, funnel: Funnel, words: Strings) -> None:
    """Draw statements across and CT minus words up, with both limits."""
    gaps = funnel.gaps
    chance, beyond = funnel.outside(widened=False), funnel.outside(widened=True)
    said = words("alt.funnel", readers=len(funnel.codes), chance=chance, beyond=beyond)
    with drawing.figure(said, frame):
        plot = frame.cut(left=42.0, right=12.0, top=18.0, bottom=35.0 - NOTE.leading)
        across = nice_ticks(0.0, float(gaps.n.max()), about=6)
        least = _LEAST * float(gaps.n.min())
        low, high = funnel.limits(least, widened=True)
        reach = float(max(np.abs([*gaps.value, low, high]).max(), 0.01))
        up = nice_ticks(-reach, reach)
        x = Scale(0.0, across[-1], plot.x, plot.right)
        y = Scale(up[0], up[-1], plot.bottom, plot.y)
        x_axis(drawing, plot, x, Ticks(across, count), title=words("funnel.x"), grid=False)
        y_axis(drawing, plot, y, Ticks(up, lambda v: signed(v, 2)), title=words("readers.gap"))
        sizes = np.linspace(least, across[-1], _STEPS)
        for widened in (False, True):
            for edge in funnel.limits(sizes, widened=widened):
                points = tuple((x(n), y(v)) for n, v in zip(sizes, edge, strict=True))
                dash = (3.0, 2.0) if widened else ()
                drawing.add(Polygon(points, stroke=palette.muted, stroke_width=0.8, dash=dash))
        each = zip(funnel.codes, gaps.n, gaps.value, strict=True)
        shown = [
            _Point(code, code in funnel.told, x(n), y(v), f"{code}: {signed(v, 2)}, n {count(n)}")
            for code, n, v in each
        ]
        _points(drawing, plot, "funnel", shown)


def _stated(reader: ReaderProfile) -> bool:
    return reader.pattern.verdict.state == "pattern"


def _place(reader: ReaderProfile) -> tuple[float, float]:
    return reader.pattern.shift.value, reader.pattern.slope.value


@reflows
def plane(
    drawing: Drawing,
    frame: Box,
    *,
    readers: Sequence[ReaderProfile],
    rules: ProfileSettings,
    words: Strings,
) -> None:
    """Draw shift across and slope up, with the margins that the rules of a profile give."""
    wide, tall = rules.shift_margin, rules.slope_margin
    stated = sum(map(_stated, readers))
    with drawing.figure(words("alt.plane", stated=stated, readers=len(readers)), frame):
        left, foot = (32.0, 35.0) if frame.narrow else (42.0, 35.0 - NOTE.leading)
        plot = frame.cut(left=left, right=8.0, top=18.0, bottom=foot)
        shifts, slopes = zip(*map(_place, readers), strict=True) if readers else ((), ())
        x = _axis(shifts, 0.0, 3 * wide, plot.x, plot.right)
        y = _axis(slopes, 1.0, 3 * tall, plot.bottom, plot.y)
        across = [t for t in nice_ticks(x.low, x.high, about=6) if x.low <= t <= x.high]
        sideways = Ticks(across, lambda v: signed(v, 1))
        x_axis(drawing, plot, x, sideways, title=words("lines.shift_axis"))
        up = [t for t in nice_ticks(y.low, y.high, about=5) if y.low <= t <= y.high]
        upwards = Ticks(up, lambda v: decimal(v, 1))
        y_axis(drawing, plot, y, upwards, title=words("lines.slope_side"))
        left, top = x(-wide), y(1.0 + tall)
        drawing.add(Rect(left, top, x(wide) - left, y(1.0 - tall) - top, palette.band))
        shown = []
        for reader in sorted(readers, key=lambda r: r.reader):
            code, shift, slope = reader.reader, *_place(reader)
            said = {"shift": signed(shift, 2), "slope": decimal(slope, 2)}
            hint = words("alt.plane_point", reader=code, **said)
            shown.append(_Point(code, _stated(reader), x(shift), y(slope), hint))
        _points(drawing, plot, "plane", shown)


def _axis(values: Sequence[float], centre: float, least: float, start: float, end: float) -> Scale:
    reach = max([least, *(1.15 * abs(v - centre) for v in values)])
    return Scale(centre - reach, centre + reach, start, end)


@dataclass(frozen=True, slots=True)
class _Point:
    """A reader's place in a figure; one of whom a pattern is stated is dark and named."""

    code: str
    stated: bool
    x: float
    y: float
    hint: str


def _points(drawing: Drawing, plot: Box, figure: str, points: Sequence[_Point]) -> None:
    """Draw readers, each name beside its disc where it covers no other's disc or name.

    Those come first that have no room on their right.
    """
    taken = [Box(p.x - 3.0, p.y - 3.0, 6.0, 6.0) for p in points]
    for p in sorted(points, key=lambda p: p.x + 5.0 + width_of(p.code, NOTE) <= plot.right):
        ink, name = palette.own if p.stated else palette.own_soft, f"{figure}.{p.code}"
        drawing.add(Disc(p.x, p.y, 2.6, ink, palette.paper, 0.5, id=name, hint=p.hint))
        wide = width_of(p.code, NOTE)
        for left in (p.x + 5.0, p.x - 5.0 - wide) if p.stated else ():
            label = Box(left, p.y - 4.0, wide, 8.0)
            inside = plot.x <= left and label.right <= plot.right
            if inside and not any(map(label.meets, taken)):
                taken.append(label)
                drawing.add(Rect(label.x, label.y, label.width, label.height, palette.paper))
                put(drawing, (left, p.y + 2.4), p.code, NOTE)
                break
