"""The funnel: each reader's value against size, inside limits that narrow as exams accumulate.

Limits arrive already widened for overdispersion. A ring and the reader's code mark a signal for
review; every other reader is an unlabelled disc.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from calibration.gaps import Funnel as Measured
from calibration.rounding import counted
from reports.drawing.axes import Scale, Ticks, nice_ticks, x_axis, y_axis
from reports.drawing.marks import Box, Disc, Line, Polygon
from reports.drawing.structure import Drawing
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import put, width_of
from reports.numbers import count, signed
from reports.review_content import Funnel, FunnelPoint
from reports.strings import Strings

__all__ = ["funnel_content", "funnel_plot"]

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


def funnel_plot(drawing: Drawing, frame: Box, *, funnel: Funnel, words: Strings) -> None:
    """Draw limits, centre and readers."""
    with drawing.figure(words("alt.funnel"), frame):
        plot = frame.cut(left=42.0, right=8.0, top=16.0, bottom=24.0)
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
    hint = f"{point.code}: {signed(point.value)}, n {point.n}"
    name = f"reader.{point.code}"
    drawing.add(Disc(at, up, 2.4, "circle", palette.own, palette.paper, 0.5, id=name, hint=hint))
    if not point.signal:
        return
    drawing.add(Disc(at, up, 5.0, "ring", None, palette.ink, 1.1, id=f"signal.{point.code}"))
    wide = width_of(point.code, NOTE.bold)
    left = at + 8.0 if at + 8.0 + wide <= plot.right else at - 8.0 - wide
    label = Box(left, up - 3.0, wide, 8.0)
    if any(_overlap(label, other) for other in taken):
        return
    taken.append(label)
    put(drawing, (left, up + 2.4), point.code, NOTE.bold)


def _overlap(a: Box, b: Box) -> bool:
    return a.x < b.right and b.x < a.right and a.y < b.bottom and b.y < a.bottom
