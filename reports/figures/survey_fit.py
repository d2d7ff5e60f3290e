"""What a survey said and what was fitted: one small panel per phrase, as one vector drawing.

Pale bars: the answers, as a density over their own ranges. Dark line: the fitted Beta. A statement
of 0 % or 100 % is drawn as a tick at its score. All panels share the horizontal axis, 0 to 100 %;
each has its own height, because peaked phrases would flatten the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from reportlab.graphics.shapes import Drawing, Line, PolyLine, Rect, String
from reportlab.lib.colors import HexColor

from calibration.arrays import FloatArray
from calibration.distributions import Atom, Distribution, UniformMixture
from reports.drawing.style import palette, register_fonts

_WIDE: Final = 150.0
_TALL: Final = 84.0
_GAP: Final = 20.0
_COLUMNS: Final = 4
_GRID: Final = (np.arange(400) + 0.5) / 400


def survey_fit(
    phrases: Sequence[str],
    fitted: Sequence[Distribution],
    answers: Sequence[UniformMixture | None],
    *,
    respondents: Sequence[int | None],
) -> Drawing:
    """Draw all phrases of a survey.

    Parameters
    ----------
    phrases, fitted, answers, respondents
        One entry per phrase; ``answers`` is None where there is no histogram to show.
    """
    register_fonts()
    rows = -(-len(phrases) // _COLUMNS)
    drawing = Drawing(_COLUMNS * (_WIDE + _GAP) + _GAP, rows * (_TALL + 2 * _GAP) + _GAP)
    entries = zip(phrases, fitted, answers, respondents, strict=True)
    for index, (phrase, distribution, histogram, n) in enumerate(entries):
        row, column = divmod(index, _COLUMNS)
        left = _GAP + column * (_WIDE + _GAP)
        bottom = drawing.height - (row + 1) * (_TALL + 2 * _GAP)
        _panel(drawing, left, bottom, distribution, histogram)
        title = phrase if n is None else f"{phrase} (n = {n})"
        drawing.add(_text(left, bottom + _TALL + 3.0, title, 7.5))
    return drawing


def _panel(
    drawing: Drawing,
    left: float,
    bottom: float,
    distribution: Distribution,
    histogram: UniformMixture | None,
) -> None:
    line = np.zeros_like(_GRID) if isinstance(distribution, Atom) else distribution.density(_GRID)
    bars = _bars(histogram)
    top = max([float(np.quantile(line, 0.995)), *[height for _, _, height in bars], 1e-9]) * 1.05
    for low, high, height in bars:
        tall = _TALL * min(height / top, 1.0)
        drawing.add(
            Rect(
                left + low * _WIDE,
                bottom,
                max((high - low) * _WIDE, 1.2),
                tall,
                fillColor=HexColor(palette.band),
                strokeColor=None,
            )
        )
    if isinstance(distribution, Atom):
        at = left + distribution.at * _WIDE
        drawing.add(
            Line(at, bottom, at, bottom + _TALL, strokeColor=HexColor(palette.own), strokeWidth=1.6)
        )
    else:
        drawing.add(_curve(left, bottom, line, top))
    _axis(drawing, left, bottom)


def _bars(histogram: UniformMixture | None) -> list[tuple[float, float, float]]:
    """Low end, high end and density of every range; a statement of 0 % or 100 % fills 1 %."""
    if histogram is None:
        return []
    ends = zip(histogram.edges, histogram.edges[1:], histogram.weights, strict=False)
    return [(low, high, w / max(high - low, 0.01)) for low, high, w in ends if w > 0]


def _curve(left: float, bottom: float, line: FloatArray, top: float) -> PolyLine:
    points: list[float] = []
    for at, height in zip(_GRID, line, strict=True):
        points += [left + at * _WIDE, bottom + _TALL * min(float(height) / top, 1.0)]
    return PolyLine(points, strokeColor=HexColor(palette.own), strokeWidth=1.2)


def _axis(drawing: Drawing, left: float, bottom: float) -> None:
    drawing.add(
        Line(
            left, bottom, left + _WIDE, bottom, strokeColor=HexColor(palette.rule), strokeWidth=0.6
        )
    )
    for percent in (0, 50, 100):
        at = left + percent / 100.0 * _WIDE
        drawing.add(
            Line(at, bottom, at, bottom - 2.0, strokeColor=HexColor(palette.rule), strokeWidth=0.6)
        )
        drawing.add(_text(at, bottom - 9.0, f"{percent} %", 6.0, anchor="middle"))


def _text(x: float, y: float, words: str, size: float, *, anchor: str = "start") -> String:
    return String(
        x,
        y,
        words,
        fontName="Book",
        fontSize=size,
        textAnchor=anchor,
        fillColor=HexColor(palette.ink),
    )
