"""The phrase chart: how often each phrase was right on CT, against what readers of it expect.

One phrase per row, surest at the top, so that long phrases read level and their counts align.
Pale band: where four in five readers place the phrase; tick: their mean. Disc and line: own rate
with its 95 % interval. Ochre triangle: the department. Rows that the page speaks of are dark and
say "more" or "less"; where no row has a side, that column is left out and all are dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from reports.drawing.axes import Scale
from reports.drawing.marks import Box, Disc, Drawing, Line, Polygon, Rect, reflows
from reports.drawing.style import FIGURE, NOTE, Type, palette
from reports.drawing.typeset import fit, put, width_of
from reports.figures.phrase_rows import PhraseRow, RowState, row_said, rows_said
from reports.numbers import count, percent, percent_interval
from reports.strings import Strings

_IN_SHORT: Final = {
    RowState.TOO_FEW: "state.few_short",
    RowState.WITHHELD: "state.withheld_short",
    RowState.NOT_USED: "state.not_used",
}

_HEAD: Final = 16.0
_AXIS: Final = 14.0
_ROW: Final = 19.0
# Tallest row that still reads as one line of a table.
_TALLEST: Final = 40.0
_N, _RATE, _RANGE, _EXPECTED, _SIDE = 34.0, 36.0, 52.0, 46.0, 46.0
# Row of a chart as narrow as a phone: words above, signs below.
_STACKED: Final = 27.0
Sign: TypeAlias = Literal["band", "mean", "rates", "own", "department_own", "department"]
_SIGN: Final = {
    "band": 18.0,
    "mean": 2.0,
    "rates": 2.0,
    "own": 18.0,
    "department_own": 18.0,
    "department": 3.0,
}


def phrase_chart_height(rows: int, *, row: float = _ROW) -> float:
    """Height the chart takes with comfortable rows."""
    return _HEAD + rows * row + _AXIS


@reflows
def phrase_chart(
    drawing: Drawing,
    frame: Box,
    *,
    rows: tuple[PhraseRow, ...],
    minimum_n: int,
    words: Strings,
    discouraged: frozenset[str] = frozenset(),
) -> None:
    """Draw the chart into the frame; rows shrink to fit."""
    said = words("alt.phrase_chart", n=count(len(rows)), spoken=rows_said(rows, words))
    with drawing.figure(said, frame):
        names = {r.name: r.name + (" †" if r.phrase in discouraged else "") for r in rows}
        if frame.narrow:
            frame = drawing.resized(frame, len(rows) * _STACKED + _AXIS)
            _stacked(drawing, frame, rows, names, words)
            return
        widest = max((width_of(name, FIGURE) for name in names.values()), default=0.0)
        left = min(max(widest + 8.0, 60.0), 0.32 * frame.width)
        spoken = any(row.side for row in rows)
        right = _N + _RATE + _RANGE + _EXPECTED + (_SIDE if spoken else 0.0)
        plot = frame.cut(left=left, right=right + 14.0, top=_HEAD, bottom=_AXIS)
        step = min(_TALLEST, plot.height / max(len(rows), 1))
        plot = Box(plot.x, plot.y, plot.width, step * len(rows))
        scale = Scale(0.0, 1.0, plot.x + 4.0, plot.right - 4.0)
        _frame(drawing, frame, plot, scale, words, spoken=spoken)
        for i, row in enumerate(rows):
            slot = Box(frame.x, plot.y + i * step, frame.width, step)
            first, y = scale(min(row.low, row.observed, 1.0)) - 4.0, slot.y + step / 2
            start = frame.x + min(width_of(names[row.name], FIGURE), left - 6.0) + 4.0
            if first > start and row.state is RowState.SHOWN:  # leads from the label to its disc
                drawing.add(Line(start, y, first, y, palette.hairline, 0.4))
            _row(drawing, slot, row, scale, words, quiet=spoken and row.side is None)
            if spoken:
                _side(drawing, slot, row, words)
                slot = slot.cut(right=_SIDE)
            _name(drawing, slot, row, names[row.name], left)
            _figures(drawing, slot, row, minimum_n, words)


def _stacked(
    drawing: Drawing,
    frame: Box,
    rows: tuple[PhraseRow, ...],
    names: Mapping[str, str],
    words: Strings,
) -> None:
    """Set each phrase's name and numbers above its signs, on the whole width."""
    scale = Scale(0.0, 1.0, frame.x + 10.0, frame.right - 10.0)
    spoken = any(row.side for row in rows)
    for i, row in enumerate(rows):
        slot = Box(frame.x, frame.y + i * _STACKED, frame.width, _STACKED)
        quiet = spoken and row.side is None
        kind = NOTE if quiet or row.state is not RowState.SHOWN else NOTE.bold
        said = _numbers(row, words)
        put(drawing, (slot.right, slot.y + 9.0), said, NOTE, anchor="end")
        side = f": {words(f'phrase_chart.{row.side}')}" if row.side else ""
        text, kind = fit(names[row.name] + side, kind, slot.width - width_of(said, NOTE) - 6.0)
        put(drawing, (slot.x, slot.y + 9.0), text, kind)
        track = slot.cut(top=11.0)
        drawing.add(Line(scale(0.0), slot.bottom, scale(1.0), slot.bottom, palette.hairline, 0.5))
        _row(drawing, track, row, scale, words, quiet=quiet)
    for tick in (0.0, 0.5, 1.0):
        put(drawing, (scale(tick), frame.bottom - 4.0), percent(tick), NOTE.muted, anchor="middle")


def _numbers(row: PhraseRow, words: Strings) -> str:
    """Give a phrase's rate, interval and count in one line; or why there are none."""
    if row.state is not RowState.SHOWN:
        return words(_IN_SHORT[row.state])
    span = percent_interval(row.low, row.high, row.observed)
    return f"{percent(row.observed)} ({span}), n {count(row.n)}"


def _frame(
    drawing: Drawing, frame: Box, plot: Box, scale: Scale, words: Strings, *, spoken: bool
) -> None:
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = scale(tick)
        drawing.add(Line(x, plot.y, x, plot.bottom, palette.hairline, 0.5))
        put(drawing, (x, plot.bottom + 10.0), percent(tick), NOTE.muted, anchor="middle")
    head = plot.y - 5.0
    put(drawing, (frame.x, head), words("phrase_chart.phrase"), NOTE.bold.muted)
    title, kind = fit(words("phrase_chart.axis"), NOTE.bold, plot.width)
    put(drawing, (plot.x + 4.0, head), title, kind.muted)
    x = frame.right
    columns = (("expected", _EXPECTED), ("interval", _RANGE), ("rate", _RATE), ("n", _N))
    for key, width in ((("side", _SIDE),) if spoken else ()) + columns:
        label, kind = fit(words(f"phrase_chart.{key}"), NOTE.bold, width - 4.0)
        put(drawing, (x, head), label, kind.muted, anchor="end")
        x -= width
    for y in (plot.y, plot.bottom):
        drawing.add(Line(frame.x, y, frame.right, y, palette.rule, 0.5))


def _row(
    drawing: Drawing, slot: Box, row: PhraseRow, scale: Scale, words: Strings, *, quiet: bool
) -> None:
    """Band, department, interval and points of one phrase."""
    y = slot.y + slot.height / 2
    half = min(0.33 * slot.height, 4.6)
    if row.expected == row.expected:
        if row.expected_low == row.expected_low:
            x1, x2 = scale(row.expected_low), scale(row.expected_high)
            band = Rect(min(x1, x2 - 2.0), y - half, max(x2 - x1, 2.0), 2 * half, palette.band)
            drawing.add(band)
        x = scale(row.expected)
        drawing.add(Line(x, y - half, x, y + half, palette.muted, 0.9, id=f"expected.{row.name}"))
        if row.expected_error:
            left, right = (scale(row.expected + s * row.expected_error) for s in (-1, 1))
            drawing.add(Line(left, y + half, right, y + half, palette.muted, 0.9))
    if row.department == row.department:
        _triangle(drawing, scale(row.department), y + half, f"department.{row.name}")
    if row.state is not RowState.SHOWN:
        return
    hint = row_said(row, words)
    ink = palette.own_soft if quiet else palette.own
    drawing.add(Line(scale(row.low), y, scale(row.high), y, ink, 1.3, hint=hint))
    name = f"observed.{row.name}"
    drawing.add(Disc(scale(row.observed), y, 2.5, ink, id=name, hint=hint))


def _side(drawing: Drawing, slot: Box, row: PhraseRow, words: Strings) -> None:
    """Say whether CT shows more or less than the word, where the page speaks of it."""
    if row.side is None:
        return
    kind, baseline = _line(slot)
    text, kind = fit(words(f"phrase_chart.{row.side}"), kind.bold, _SIDE)
    put(drawing, (slot.right, baseline), text, kind, anchor="end", id=f"side.{row.name}")


def _triangle(drawing: Drawing, x: float, base: float, name: str) -> None:
    """Point at the department's rate from below; the shape tells it from a tick in a grey copy."""
    corners = ((x, base - 4.2), (x + 2.9, base + 1.2), (x - 2.9, base + 1.2))
    drawing.add(Polygon(corners, palette.department, palette.paper, 0.4, id=name))


def _line(slot: Box) -> tuple[Type, float]:
    """Give the type that a row's height allows, and the baseline of its text."""
    size = min(FIGURE.size, 0.8 * slot.height)
    return Type("Book", size, slot.height), slot.y + slot.height / 2 + 0.36 * size


def _name(drawing: Drawing, slot: Box, row: PhraseRow, name: str, left: float) -> None:
    kind, baseline = _line(slot)
    ink = palette.ink if row.state is RowState.SHOWN else palette.muted
    text, face = fit(name, kind, left - 6.0)
    put(drawing, (slot.x, baseline), text, face.in_ink(ink), id=f"phrase.{row.name}")


def _figures(drawing: Drawing, slot: Box, row: PhraseRow, minimum_n: int, words: Strings) -> None:
    """Set the aligned numbers of one phrase."""
    kind, baseline = _line(slot)
    tick, error = row.tick() if row.expected_error else (0, 0)
    expected = (
        words("phrase_chart.tick", mean=tick, error=error) if error else percent(row.expected)
    )
    put(drawing, (slot.right, baseline), expected, kind.muted, anchor="end")
    edge = slot.right - _EXPECTED
    if row.state is not RowState.SHOWN:
        state = words(f"state.{row.state.value.replace(' ', '_')}", minimum=minimum_n)
        text, face = fit(state, kind.oblique, _N + _RATE + _RANGE - 4.0)
        put(drawing, (edge, baseline), text, face.muted, anchor="end")
        return
    span = percent_interval(row.low, row.high, row.observed)
    put(drawing, (edge, baseline), span, kind, anchor="end")
    edge -= _RANGE
    put(drawing, (edge, baseline), percent(row.observed), kind.bold, anchor="end")
    edge -= _RATE
    put(drawing, (edge, baseline), count(row.n), kind, anchor="end", id=f"n.{row.name}")


@reflows
def phrase_key(
    drawing: Drawing,
    frame: Box,
    *,
    words: Strings,
    signs: Sequence[Sign],
) -> None:
    """Draw the key, one line: every sign that the chart has, with its words."""
    x, y = frame.x, frame.y + 5.0
    labels = {entry: words(f"phrase_chart.key.{entry}") for entry in signs}
    with drawing.figure(words("alt.key", signs=", ".join(labels.values())), frame):
        if frame.narrow:
            drawing.resized(frame, 12.0 * len(labels))
        for entry, label in labels.items():
            _sign(drawing, entry, x, y)
            put(drawing, (x + _SIGN[entry] + 4.0, y + 2.4), label, NOTE.muted)
            if frame.narrow:
                y += 12.0
            else:
                x += _SIGN[entry] + 4.0 + width_of(label, NOTE) + 14.0


def _sign(drawing: Drawing, entry: str, x: float, y: float) -> None:
    if entry == "band":
        drawing.add(Rect(x, y - 4.0, 18.0, 8.0, palette.band))
    elif entry in ("mean", "rates"):
        drawing.add(Line(x + 1.0, y - 4.0, x + 1.0, y + 4.0, palette.muted, 0.9))
    elif entry in ("own", "department_own"):
        drawing.add(Line(x, y, x + 18.0, y, palette.own, 1.3))
        drawing.add(Disc(x + 9.0, y, 2.5, palette.own))
    else:
        _triangle(drawing, x + 3.0, y + 2.0, "")
