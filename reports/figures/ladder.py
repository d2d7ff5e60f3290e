"""What words say beside what CT showed: a line a phrase, and one swap as a strip.

Left, the share of times readers take the phrase to promise the finding; right, the share CT
showed. Lines that climb together: the words are too low; that fall: too high; that close in on the
middle: too sure; that spread: too cautious; level lines: word and CT agree. The strip sets the own
rate and its interval between what the two phrases of a swap promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from reports.drawing.axes import Scale
from reports.drawing.marks import Anchor, Box, Disc, Drawing, Line, reflows
from reports.drawing.style import NOTE, Type, palette
from reports.drawing.typeset import fit, put, width_of
from reports.figures.phrase_rows import PhraseRow, RowState, row_said, rows_said
from reports.numbers import percent, percent_interval
from reports.strings import Strings

if TYPE_CHECKING:
    from calibration.profile import Swap

MOST_LINES: Final = 8
_LABELS, _MOST_LABELS = 0.40, 0.64
_RIGHT: Final = 34.0
_STEP: Final = 9.0


@reflows
def ladder(drawing: Drawing, frame: Box, *, rows: Sequence[PhraseRow], words: Strings) -> None:
    """Draw the most used hedges; those that the page speaks of are dark."""
    shown = _chosen(rows)
    with drawing.figure(words("alt.ladder", spoken=rows_said(shown, words)), frame):
        wide = max((width_of(_label(row), _kind(row)) for row in shown), default=0.0) + 6.0
        left = min(max(wide, _LABELS * frame.width), _MOST_LABELS * frame.width)
        plot = frame.cut(left=left, right=_RIGHT, top=24.0, bottom=4.0)
        y = Scale(0.0, 1.0, plot.bottom, plot.y)
        for x, key, anchor in ((plot.x, "says", "end"), (plot.right, "shows", "start")):
            side: Anchor = "end" if anchor == "end" else "start"
            at = x + (4.0 if side == "end" else -4.0)
            put(drawing, (at, frame.y + 9.0), words(f"ladder.{key}"), NOTE.bold, anchor=side)
            drawing.add(Line(x, plot.y, x, plot.bottom, palette.rule, 0.6))
        for row in shown:
            _line(drawing, plot, row, y, row_said(row, words))
        _labels(drawing, plot, frame, shown, y)


def _chosen(rows: Sequence[PhraseRow]) -> list[PhraseRow]:
    """Take the phrases the page speaks of, then the most used, surest first."""
    hedges = [row for row in rows if row.state is RowState.SHOWN and row.hedge]
    order = sorted(hedges, key=lambda row: (row.side is None, -row.n))
    return sorted(order[:MOST_LINES], key=lambda row: -row.expected)


def _kind(row: PhraseRow) -> Type:
    return NOTE.bold if row.side else NOTE


def _label(row: PhraseRow) -> str:
    return f"{row.phrase} {percent(row.expected)}"


def _line(drawing: Drawing, plot: Box, row: PhraseRow, y: Scale, hint: str) -> None:
    spoken = row.side is not None
    ink, width = (palette.own, 1.6) if spoken else (palette.own_soft, 1.0)
    ends = y(row.expected), y(row.observed)
    name = f"ladder.{row.phrase}"
    drawing.add(Line(plot.x, ends[0], plot.right, ends[1], ink, width, id=name, hint=hint))
    drawing.add(Disc(plot.right, ends[1], 2.2, "circle", ink))
    drawing.add(Disc(plot.x, ends[0], 1.8, "ring", palette.paper, ink, 0.9))


def _labels(drawing: Drawing, plot: Box, frame: Box, shown: Sequence[PhraseRow], y: Scale) -> None:
    """Name each line's ends, moved apart where they would meet."""
    room = plot.x - frame.x - 6.0
    for side in ("left", "right"):
        of: Literal["expected", "observed"] = "expected" if side == "left" else "observed"
        order = sorted(shown, key=lambda row: -getattr(row, of))
        wanted = [y(getattr(row, of)) for row in order]
        for row, at in zip(order, _apart(wanted, plot), strict=True):
            text = _label(row) if side == "left" else percent(row.observed)
            line, face = fit(text, _kind(row), room if side == "left" else _RIGHT - 6.0)
            anchor: Anchor = "end" if side == "left" else "start"
            x = plot.x - 5.0 if side == "left" else plot.right + 5.0
            put(drawing, (x, at + 2.4), line, face, anchor=anchor)


def _apart(wanted: Sequence[float], plot: Box) -> list[float]:
    """Move places (from top to bottom) at least a line apart, inside the plot, as little as can."""
    groups: list[tuple[float, int]] = []
    for place in wanted:
        groups.append(_inside(place, 1, plot))
        while len(groups) > 1 and _meets(groups[-2], groups[-1]):
            (a, m), (b, n) = groups[-2], groups[-1]
            groups[-2:] = [_inside((a * m + b * n) / (m + n), m + n, plot)]
    return [c + (i - (n - 1) / 2) * _STEP for c, n in groups for i in range(n)]


def _inside(centre: float, lines: int, plot: Box) -> tuple[float, int]:
    half = (lines - 1) / 2 * _STEP
    return min(max(centre, plot.y + 1.0 + half), plot.bottom - half), lines


def _meets(upper: tuple[float, int], lower: tuple[float, int]) -> bool:
    return lower[0] - upper[0] < _STEP * (upper[1] + lower[1]) / 2 - 1e-6


ACTION_STRIP_HEIGHT: Final = 56.0


@reflows
def action_strip(drawing: Drawing, frame: Box, *, swap: Swap, words: Strings) -> None:
    """Old phrase above the line, new phrase below it, own rate on it."""
    rate, span = percent(swap.rate.value), (swap.rate.low, swap.rate.high, swap.rate.value)
    said = words(
        "alt.action",
        phrase=swap.phrase,
        meaning=percent(swap.meaning),
        instead=swap.instead,
        instead_meaning=percent(swap.instead_meaning),
        rate=rate,
    )
    with drawing.figure(said, frame):
        scale = Scale(0.0, 1.0, frame.x + 6.0, frame.right - 6.0)
        y = frame.y + 20.0
        drawing.add(Line(scale(0), y, scale(1), y, palette.rule, 0.6))
        for end, anchor in ((0.0, "start"), (1.0, "end")):
            drawing.add(Line(scale(end), y - 2, scale(end), y + 2, palette.rule, 0.6))
            at: Anchor = "start" if anchor == "start" else "end"
            put(drawing, (scale(end), y + 26.0), percent(end), NOTE.muted, anchor=at)
        ends = ((-1, swap.phrase, swap.meaning), (1, swap.instead, swap.instead_meaning))
        for side, phrase, meaning in ends:
            quoted = words("verdict.quoted", phrase=phrase)
            _flag(drawing, frame, scale(meaning), y, side, f"{quoted} {percent(meaning)}")
        drawing.add(Line(scale(swap.rate.low), y, scale(swap.rate.high), y, palette.own, 1.6))
        name = f"action.{swap.phrase}"
        hint = words("alt.action_rate", rate=rate, interval=percent_interval(*span))
        drawing.add(Disc(scale(swap.rate.value), y, 3.2, "circle", palette.own, id=name, hint=hint))


def _flag(drawing: Drawing, frame: Box, x: float, y: float, side: int, text: str) -> None:
    """Set a tick with phrase and expectation, above (-1) or below (+1) the line."""
    drawing.add(Line(x, y, x, y + 7.0 * side, palette.muted, 0.9))
    label, kind = fit(text, NOTE, frame.width)
    half = width_of(label, kind) / 2
    middle = min(max(x, frame.x + half), frame.right - half)
    baseline = y - 10.0 if side < 0 else y + 15.5
    put(drawing, (middle, baseline), label, kind.muted, anchor="middle")
