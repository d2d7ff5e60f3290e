"""Sections about cases: which kinds the figures rest on, and how far words and CT lie apart."""

from __future__ import annotations

from typing import Final

from reports.content import SuppressedCell
from reports.disclosure import state_of
from reports.drawing.axes import Ticks
from reports.drawing.layout import Figure, Piece, Section, note, statement
from reports.drawing.marks import Box, Drawing
from reports.drawing.style import CAPTION, GUTTER, NOTE
from reports.drawing.tables import Cell, Column, Row, Span, Table
from reports.drawing.typeset import fit, paragraph, put
from reports.figures.counts import HALVES, Histogram, histogram_panel
from reports.numbers import BLANK, count, decimal, interval, percent, signed
from reports.review_content import CaseHistogram, CaseMix, CommitteeContent, Disagreement, MixRow
from reports.strings import Strings

_PANEL: Final = 118.0


def case_mix(content: CommitteeContent, words: Strings) -> Section:
    """One row per kind of case, the gap raw, adjusted and drawn."""
    title, lead = words("committee.case_mix"), words("committee.case_mix_lead")
    mix = content.case_mix
    if mix is None:
        return Section(title, (statement(words("state.not_computed")),), lead)
    pieces: list[Piece] = [_mix_table(mix, words), note(words("committee.case_mix_note"))]
    if mix.alike:
        pieces.append(note(words("committee.case_mix_alike", names=", ".join(mix.alike))))
    return Section(title, tuple(pieces), lead, room=200.0)


def _mix_table(mix: CaseMix, words: Strings) -> Table:
    columns = (
        Column(words("mix.factor"), 1.3),
        Column(words("mix.level"), 1.9),
        Column(words("mix.n"), 1.0, "right"),
        Column(words("mix.share"), 0.8, "right"),
        Column(words("readers.gap"), 0.9, "right"),
        Column(words("readers.adjusted"), 0.9, "right"),
        Column(words("mix.graph"), 2.6),
    )
    shown = [
        e for row in mix.rows for e in (row.adjusted,) if e and not isinstance(e, SuppressedCell)
    ]
    reach = max([abs(v) for e in shown for v in (e.low, e.high)], default=0.1)
    rows = tuple(_mix_row(row, 1.05 * reach, words) for row in mix.rows)
    return Table(columns, rows, empty=words("state.none"), id="mix")


def _mix_row(row: MixRow, reach: float, words: Strings) -> Row:
    if isinstance(row.gap, SuppressedCell):
        state = "state.few_short" if row.gap.of == "exams" else "state.withheld_short"
        return Row((row.factor, row.level, words(state), *(BLANK,) * 4), quiet=True)
    gap = BLANK if row.gap is None else signed(row.gap.value)
    adjusted, graph = BLANK, BLANK
    cells: tuple[Cell, ...] = (row.factor, row.level, count(row.n), percent(row.share), gap)
    if row.adjusted is None or isinstance(row.adjusted, SuppressedCell):
        return Row((*cells, adjusted, graph))
    e = row.adjusted
    hint = f"{signed(e.value)} ({interval(e.low, e.high)})"
    span = Span(e.value, e.low, e.high, (-reach, reach), 0.0, hint)
    return Row((*cells, signed(e.value), span))


def disagreement(content: CommitteeContent, words: Strings) -> Section:
    """Three spreads over cases side by side."""
    title, lead = words("committee.disagreement"), words("committee.disagreement_lead")
    found = content.disagreement
    if found is None:
        return Section(title, (statement(words("state.not_computed")),), lead)
    figure = Figure(
        lambda d, box: _panels(d, box, found, words), _PANEL, words("committee.disagreement_note")
    )
    return Section(title, (figure,), lead, room=220.0)


def _panels(drawing: Drawing, frame: Box, found: Disagreement, words: Strings) -> None:
    columns = frame.columns(3, gutter=GUTTER)
    _panel(drawing, columns[0], found.plain, "plain", words)
    _panel(drawing, columns[1], found.hedged, "hedged", words)
    nats = Ticks((-0.69, 0.0, 0.69), lambda v: signed(v, 1))
    _panel(drawing, columns[2], found.entropy, "entropy", words, ticks=nats)


def _panel(
    drawing: Drawing,
    box: Box,
    part: CaseHistogram | SuppressedCell,
    name: str,
    words: Strings,
    *,
    ticks: Ticks = HALVES,
) -> None:
    title = words(f"cases_apart.{name}")
    if isinstance(part, SuppressedCell):
        text, kind = fit(title, NOTE.bold, box.width)
        with drawing.text():
            put(drawing, (box.x, box.y + 8.0), text, kind)
        below = box.cut(top=14.0)
        paragraph(drawing, below, state_of(part, words), CAPTION.oblique.muted)
        return
    shown = Histogram(part.edges, part.share, part.expected)
    plot, key = box.cut(bottom=14.0), f"apart.{name}"
    histogram_panel(drawing, plot, shown, title=title, name=key, ticks=ticks)
    mean = signed(part.mean, 2) if name == "entropy" else decimal(part.mean, 2)
    text = words(f"cases_apart.{name}_mean", mean=mean, n=count(part.n))
    line, kind = fit(text, NOTE, box.width)
    with drawing.text():
        put(drawing, (box.x, box.bottom - 2.0), line, kind.muted)
