"""What words say beside what CT showed: a line a phrase, and one swap as a strip.

Left, the share of times readers take the phrase to promise the finding; right, the share CT
showed. Lines that climb together: the words are too weak; that fall: too strong; that close in on
the middle: too sure; that spread: too cautious; level lines: word and CT agree. The strip sets the
own rate and its interval between what the two phrases of a swap promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from reports.drawing.axes import Scale
from reports.drawing.marks import Anchor, Box, Disc, Drawing, Line, reflows
from reports.drawing.style import NOTE, Type, palette
from reports.drawing.typeset import fit, put, width_of
from reports.figures.phrase_rows import PhraseRow, row_said, rows_said
from reports.numbers import percent, percent_interval
from reports.strings import Strings

if TYPE_CHECKING:
    from calibration.profile import Swap

MOST_LINES: Final = 8
_LABELS, _MOST_LABELS = 0.40, 0.64
# Room for what CT showed; between a label and its dot, where a label moved aside has a leader.
_RIGHT, _GAP = 40.0, 11.0
_STEP: Final = 9.0


@reflows
def ladder(drawing: Drawing, frame: Box, *, rows: Sequence[PhraseRow], words: Strings) -> None:
    """Draw the first of some hedges; those that the first sentence speaks of are dark."""
    shown = sorted(rows[:MOST_LINES], key=lambda row: -row.expected)
    spoken = rows_said(shown, words) if any(row.side for row in shown) else ""
    with drawing.figure(words("alt.ladder", spoken=spoken).strip(), frame):
        labels = [(line, _kind(row)) for row in shown for line in _label(row)]
        wide = max((width_of(*label) for label in labels), default=0.0) + _GAP + 1.0
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


def _kind(row: PhraseRow) -> Type:
    return NOTE.bold if row.side else NOTE


def _label(row: PhraseRow) -> list[str]:
    """Give the lines of a label: the phrase, its finding if it has one, and what it says."""
    last = f"{row.finding or row.phrase} {percent(row.expected)}"
    return [f"{row.phrase},", last] if row.finding else [last]


def _line(drawing: Drawing, plot: Box, row: PhraseRow, y: Scale, hint: str) -> None:
    ink, width = (palette.own, 1.6) if row.side is not None else (palette.own_soft, 1.0)
    ends = y(row.expected), y(row.observed)
    name = f"ladder.{row.name}"
    drawing.add(Line(plot.x, ends[0], plot.right, ends[1], ink, width, id=name, hint=hint))
    drawing.add(Disc(plot.right, ends[1], 2.2, ink))
    drawing.add(Disc(plot.x, ends[0], 1.8, palette.paper, ink, 0.9))


def _labels(drawing: Drawing, plot: Box, frame: Box, shown: Sequence[PhraseRow], y: Scale) -> None:
    """Name each line's ends, moved apart where they would meet; a finding has a line of its own."""
    room = plot.x - frame.x - _GAP - 1.0
    for left in (True, False):
        ends = [(row.expected if left else row.observed, row) for row in shown]
        ends.sort(key=lambda end: -end[0])
        texts = [_label(row) if left else [percent(value)] for value, row in ends]
        wanted = [(y(value), len(lines)) for (value, _), lines in zip(ends, texts, strict=True)]
        edge, out = (plot.x, -1.0) if left else (plot.right, 1.0)
        places = _apart(wanted, plot)
        for (dot, _), (_, row), lines, at in zip(wanted, ends, texts, places, strict=True):
            label = edge + out * (_GAP - 1.5)
            drawing.add(Line(label, at, edge + out * 2.6, dot, palette.rule, 0.5))
            for i, text in enumerate(lines):
                line, face = fit(text, _kind(row), room if left else _RIGHT - _GAP - 1.0)
                x, down = edge + out * _GAP, i - (len(lines) - 1) / 2
                at_x = (x, at + 2.4 + down * _STEP)
                put(drawing, at_x, line, face, anchor="end" if left else "start")


def _apart(wanted: Sequence[tuple[float, int]], plot: Box) -> list[float]:
    """Move labels of so many lines (from top to bottom) apart, inside the plot, by the least."""
    groups: list[tuple[float, list[int]]] = []
    for place, lines in wanted:
        groups.append((_inside(place, lines, plot), [lines]))
        while len(groups) > 1 and _meets(groups[-2], groups[-1]):
            (a, upper), (b, lower) = groups[-2:]
            m, n = sum(upper), sum(lower)
            groups[-2:] = [(_inside((a * m + b * n) / (m + n), m + n, plot), upper + lower)]
    return [
        centre + (sum(sizes[:i]) + (size - sum(sizes)) / 2) * _STEP
        for centre, sizes in groups
        for i, size in enumerate(sizes)
    ]


def _inside(centre: float, lines: int, plot: Box) -> float:
    half = (lines - 1) / 2 * _STEP
    return min(max(centre, plot.y + 1.0 + half), plot.bottom - half)


def _meets(upper: tuple[float, list[int]], lower: tuple[float, list[int]]) -> bool:
    return lower[0] - upper[0] < _STEP * (sum(upper[1]) + sum(lower[1])) / 2 - 1e-6


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
        for end in (0.0, 1.0):
            drawing.add(Line(scale(end), y - 2, scale(end), y + 2, palette.rule, 0.6))
            side: Anchor = "end" if end else "start"
            put(drawing, (scale(end), y + 26.0), percent(end), NOTE.muted, anchor=side)
        ends = ((-1, swap.phrase, swap.meaning), (1, swap.instead, swap.instead_meaning))
        for down, phrase, meaning in ends:
            quoted = words("verdict.quoted", phrase=phrase)
            _flag(drawing, frame, scale(meaning), y, down, f"{quoted} {percent(meaning)}")
        drawing.add(Line(scale(swap.rate.low), y, scale(swap.rate.high), y, palette.own, 1.6))
        name = f"action.{swap.phrase}"
        hint = words("alt.action_rate", rate=rate, interval=percent_interval(*span))
        drawing.add(Disc(scale(swap.rate.value), y, 3.2, palette.own, id=name, hint=hint))


def _flag(drawing: Drawing, frame: Box, x: float, y: float, side: int, text: str) -> None:
    """Set a tick with phrase and expectation, above (-1) or below (+1) the line."""
    drawing.add(Line(x, y, x, y + 7.0 * side, palette.muted, 0.9))
    label, kind = fit(text, NOTE, frame.width)
    half = width_of(label, kind) / 2
    middle = min(max(x, frame.x + half), frame.right - half)
    baseline = y - 10.0 if side < 0 else y + 15.5
    put(drawing, (middle, baseline), label, kind.muted, anchor="middle")
