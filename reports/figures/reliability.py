"""The reliability curve: of statements made with a certainty, the share that CT bore out.

Dotted: the curve of a reader whose every phrase is right on average. Phrases are ranges, so that
line leaves the diagonal (hairline) towards the middle; what counts is the distance to the dots.
Pale area: simultaneous 95 % band of the whole curve. Below, how often each certainty was used
(density over bins, sums to 1). By pathology the phrases stand in small panels, at most four in a
row and rows of like length, where statements allow two phrases or more; others are named below.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from calibration.curve import ReliabilityCurve
from calibration.phrase_calibration import PhraseCalibration
from calibration.result import GroupResult
from reports.content import PathologyResult, SuppressedCell
from reports.disclosure import state_of
from reports.drawing.axes import Scale, Ticks, x_axis, y_axis
from reports.drawing.layout import Figure, Piece, note
from reports.drawing.marks import Box, Disc, Drawing, Line, Polygon, Rect, reflows
from reports.drawing.style import NOTE, SUBHEADING, palette
from reports.drawing.typeset import fit, put
from reports.figures.counts import HALVES
from reports.numbers import FINE, count, percent, percent_interval
from reports.strings import Strings

_TICKS: Final = Ticks((0.0, 0.25, 0.5, 0.75, 1.0), percent)
# Width below which five values under the axis would touch.
_NARROW: Final = 130.0
_ENDS: Final = Ticks((0.0, 1.0), percent)
_DOTS: Final = (1.2, 1.8)


@reflows
def reliability(drawing: Drawing, frame: Box, *, curve: ReliabilityCurve, words: Strings) -> None:
    """Draw curve, bands and density into the frame."""
    with drawing.figure(_message(curve, words), frame):
        below = 42.0
        area = frame.cut(left=30.0, right=10.0, top=14.0, bottom=24.0)
        plot = area.cut(bottom=below + 6.0)
        x = Scale(0.0, 1.0, plot.x, plot.right)
        y = Scale(0.0, 1.0, plot.bottom, plot.y)
        y_axis(drawing, plot, y, _TICKS, title=words("reliability.y"))
        for tick in _TICKS.at:
            drawing.add(Line(x(tick), plot.y, x(tick), plot.bottom, palette.hairline, 0.5))
        curve_marks(drawing, curve, x, y, words=words)
        strip = Box(plot.x, plot.bottom + 6.0, plot.width, below)
        _density(drawing, strip, curve)
        ticks = HALVES if strip.width < _NARROW else _TICKS
        x_axis(drawing, strip, x, ticks, title=words("reliability.x"), grid=False)
        put(drawing, (strip.x + 3.0, strip.y + 8.0), words("reliability.use"), NOTE.muted)


def _message(curve: ReliabilityCurve, words: Strings) -> str:
    """Say what CT showed where the words are a quarter and three quarters sure."""
    at = (curve.bin_edges[1:] + curve.bin_edges[:-1]) / 2
    shown = np.flatnonzero(np.isfinite(curve.observed))
    ends = [
        _said(curve, at, int(shown[np.abs(at[shown] - x).argmin()]), words) for x in (0.25, 0.75)
    ]
    return words("alt.reliability", points="; ".join(dict.fromkeys(ends)))


def curve_marks(
    drawing: Drawing, curve: ReliabilityCurve, x: Scale, y: Scale, *, words: Strings
) -> None:
    """Bands, diagonal, zero line and curve, on given scales; empty bins leave a gap."""
    at = (curve.bin_edges[1:] + curve.bin_edges[:-1]) / 2
    bands = (
        (curve.band_low, curve.band_high, palette.band),
        (curve.low, curve.high, palette.own_soft),
    )
    for low, high, ink in bands:
        for run in _runs(low, high):
            upper = [(x(at[m]), y(high[m])) for m in run]
            lower = [(x(at[m]), y(low[m])) for m in reversed(run)]
            drawing.add(Polygon(tuple(upper + lower), fill=ink))
    drawing.add(Line(x(0), y(0), x(1), y(1), palette.rule, 0.5))
    for run in _runs(curve.expected):
        path = tuple((x(at[m]), y(curve.expected[m])) for m in run)
        dots = Polygon(path, stroke=palette.ink, stroke_width=0.8, dash=_DOTS, id="curve.zero")
        drawing.add(dots)
    for run in _runs(curve.observed):
        path = tuple((x(at[m]), y(curve.observed[m])) for m in run)
        said = (_said(curve, at, int(m), words) for m in run[:: max(len(run) // 4, 1)])
        hint = "; ".join(said)
        drawing.add(Polygon(path, stroke=palette.own, stroke_width=1.3, id="curve", hint=hint))


def _said(curve: ReliabilityCurve, at: np.ndarray, m: int, words: Strings) -> str:
    """Say one point of the curve: certainty, what CT showed, its interval."""
    shown = float(curve.observed[m])
    span = percent_interval(float(curve.low[m]), float(curve.high[m]), shown)
    sure, rate = percent(float(at[m])), percent(shown)
    return words("alt.reliability_point", words=sure, rate=rate, interval=span)


def _runs(*arrays: np.ndarray) -> list[np.ndarray]:
    """Index runs in which every array is finite."""
    good = np.flatnonzero(np.all([np.isfinite(a) for a in arrays], axis=0))
    return [run for run in np.split(good, np.flatnonzero(np.diff(good) > 1) + 1) if len(run) > 1]


def _density(drawing: Drawing, strip: Box, curve: ReliabilityCurve) -> None:
    """Bars on a square-root scale: the end bins hold most statements and would hide the rest."""
    drawing.add(Line(strip.x, strip.bottom, strip.right, strip.bottom, palette.rule, 0.5))
    tall = np.sqrt(curve.density / np.nanmax(curve.density)) * (strip.height - 10.0)
    across = strip.x + curve.bin_edges * strip.width
    steps = [(across[m + i], strip.bottom - tall[m]) for m in range(len(tall)) for i in (0, 1)]
    outline = [(strip.x, strip.bottom), *steps, (strip.right, strip.bottom)]
    points = tuple((float(x), float(y)) for x, y in outline)
    drawing.add(Polygon(points, fill=palette.own_soft, id="density"))


COLUMNS: Final = 4
_GUTTER: Final = 14.0
_HEAD: Final = 37.0
_FOOT: Final = 24.0
_PAD: Final = 4.0
# Height of one row of panels in points.
_TALL: Final = 154.0


def panel_pieces(results: tuple[PathologyResult, ...], *, words: Strings) -> tuple[Piece, ...]:
    """Draw what may be shown in the order given; name what may not, and what holds too little."""
    shown: list[tuple[str, GroupResult]] = []
    withheld: dict[str, list[str]] = {}
    for r in results:
        if isinstance(r.result, SuppressedCell):
            withheld.setdefault(state_of(r.result, words).capitalize(), []).append(r.pathology)
        elif len(_discs(r.result)) < 2:
            withheld.setdefault(words("panel.few", minimum=FINE), []).append(r.pathology)
        else:
            shown.append((r.pathology, r.result))
    rows = -(-len(shown) // COLUMNS)
    ends = [-(-k * len(shown) // rows) for k in range(rows + 1)] if rows else []
    pieces: list[Piece] = [_row(shown[a:b], words) for a, b in pairwise(ends)]
    for state, names in withheld.items():
        pieces.append(note(words("committee.pathologies_few", state=state, names=", ".join(names))))
    return tuple(pieces)


def _discs(result: GroupResult) -> np.ndarray:
    """Give the phrases of enough statements for a disc, by their place in the table."""
    table = result.phrases
    return np.flatnonzero((table.n >= FINE) & np.isfinite(table.expected))


def _row(panels: Sequence[tuple[str, GroupResult]], words: Strings) -> Figure:
    def paint(drawing: Drawing, box: Box) -> None:
        columns = box.columns(COLUMNS, gutter=_GUTTER)
        for column, (name, result) in zip(columns, panels, strict=False):
            _panel(drawing, column, name, result, words)

    return Figure(paint, _TALL)


def _panel(drawing: Drawing, box: Box, name: str, result: GroupResult, words: Strings) -> None:
    """Draw a named square with its diagonal and discs."""
    title, kind = fit(name, SUBHEADING, box.width)
    size = words.several("unit.statements", round(result.n))
    discs = _discs(result).tolist()
    with drawing.figure(words("alt.panel", name=name, size=size, n=len(discs)), box):
        put(drawing, (box.x, box.y + 9.0), title, kind, id=f"panel.{name}")
        put(drawing, (box.x, box.y + 19.0), size, NOTE.muted)
        plot = box.cut(left=25.0, right=7.0, top=_HEAD, bottom=_FOOT)
        x = Scale(0.0, 1.0, plot.x + _PAD, plot.right - _PAD)
        y = Scale(0.0, 1.0, plot.bottom - _PAD, plot.y + _PAD)
        drawing.add(Rect(plot.x, plot.y, plot.width, plot.height, stroke=palette.rule))
        drawing.add(Line(x(0), y(0), x(1), y(1), palette.rule, 0.5))
        x_axis(drawing, plot, x, _ENDS, title=words("panel.x"), grid=False)
        y_axis(drawing, plot, y, _ENDS, title=words("panel.y"))
        for k in discs:
            _disc(drawing, result.phrases, k, (x, y), name, words)


def _disc(
    drawing: Drawing,
    table: PhraseCalibration,
    k: int,
    scales: tuple[Scale, Scale],
    name: str,
    words: Strings,
) -> None:
    (x, y), phrase = scales, table.phrases[k]
    rate, at = float(table.observed[k]), x(float(table.expected[k]))
    low, high = float(table.low[k]), float(table.high[k])
    hint = words(
        "alt.phrase",
        phrase=f"{name}, {phrase}",
        meaning=percent(float(table.expected[k])),
        rate=percent(rate),
        interval=percent_interval(low, high, rate),
        n=count(table.n[k]),
    )
    drawing.add(Line(at, y(low), at, y(high), palette.own, 0.8, hint=hint))
    mark = f"{name}.{phrase}"
    drawing.add(Disc(at, y(rate), 2.0, palette.own, palette.paper, 0.6, id=mark, hint=hint))
