"""The committee's reader table, coded and in code order, and the case mix it is adjusted by.

A column is printed when at least one reader has the figure; measures that no reader has are named
as not computed, so that an absent column cannot be mistaken for an absent difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from reports.content import SuppressedCell
from reports.drawing.layout import Piece, Section, note, statement
from reports.drawing.tables import Cell, Column, Row, Span, Table
from reports.numbers import BLANK, count, decimal, interval, percent, signed
from reports.review_content import CaseMix, CommitteeContent, MixRow, ReaderRow
from reports.strings import Strings

if TYPE_CHECKING:
    from calibration.estimate import Estimate


def readers(content: CommitteeContent, words: Strings) -> Section:
    """Lay out every reader in code order."""
    table = (reader_table(content, words=words), note(_note(content, words)))
    return Section(words("committee.readers_table"), table, room=160.0)


def _note(content: CommitteeContent, words: Strings) -> str:
    parts = [
        measure_notes(content, words=words),
        words("committee.readers_note", few=content.minimum_n),
    ]
    missing = missing_measures(content, words=words)
    if missing:
        parts.append(words("committee.absent_columns", names=missing))
    return " ".join(part for part in parts if part)


Value: TypeAlias = "Estimate | SuppressedCell | None"


@dataclass(frozen=True, slots=True)
class _Measure:
    """A measure of the reader table: where it is found and how it prints."""

    key: str
    of: Callable[[ReaderRow], Value]
    show: Callable[[float], str]
    graph: bool = False
    reference: float = 0.0


_MEASURES = (
    _Measure("gap", lambda row: row.gap, signed),
    _Measure("adjusted", lambda row: row.adjusted, signed),
    _Measure("shrunk", lambda row: row.shrunk, signed, graph=True),
)


def _estimates(rows: Iterable[ReaderRow], measure: _Measure) -> list[Estimate]:
    found = (measure.of(row) for row in rows)
    return [e for e in found if e is not None and not isinstance(e, SuppressedCell)]


def missing_measures(content: CommitteeContent, *, words: Strings) -> str:
    """Names of the measures that no reader has, for the line that says so."""
    shown = {m.key for m in _shown(content.readers)}
    absent = [words(f"readers.{m.key}") for m in _MEASURES if m.key not in shown]
    if not _has_reliability(content.readers):
        absent.append(words("readers.reliability_long"))
    return ", ".join(absent)


def _shown(rows: Sequence[ReaderRow]) -> list[_Measure]:
    return [m for m in _MEASURES if _estimates(rows, m)]


def measure_notes(content: CommitteeContent, *, words: Strings) -> str:
    """Explain the measures that are printed, and no others."""
    notes = [words(f"readers_note.{m.key}") for m in _shown(content.readers)]
    if _has_reliability(content.readers):
        limit = f"{content.minimum_reliability:g}"
        notes.append(words("readers_note.reliability", minimum=limit))
    return " ".join(notes)


def _has_reliability(rows: Sequence[ReaderRow]) -> bool:
    return any(not math.isnan(row.reliability) for row in rows)


def reader_table(content: CommitteeContent, *, words: Strings) -> Table:
    """All readers in code order."""
    rows = sorted(content.readers, key=lambda row: row.code)
    shown = _shown(rows)
    domains = {m.key: _domain(_estimates(rows, m), m.reference) for m in shown if m.graph}
    columns: list[Column] = [
        Column(words("readers.code"), 1.3),
        Column(words("readers.n"), 1.1, "right"),
        Column(words("readers.share"), 0.9, "right"),
    ]
    for measure in shown:
        columns.append(Column(words(f"readers.{measure.key}"), 1.0, "right"))
        if measure.graph:
            columns.append(Column(words(f"readers.{measure.key}_graph"), 2.0))
    if _has_reliability(rows):
        columns.append(Column(words("readers.reliability"), 0.8, "right"))
    columns.append(Column(words("readers.note"), 1.6))
    body = tuple(_row(row, content, shown, domains, words) for row in rows)
    return Table(tuple(columns), body, empty=words("state.none"), id="readers")


def _domain(estimates: list[Estimate], reference: float) -> tuple[float, float]:
    ends = [v for e in estimates for v in (e.low, e.high, e.value) if math.isfinite(v)]
    ends.append(reference)
    low, high = min(ends), max(ends)
    pad = 0.05 * (high - low) or 0.1
    return low - pad, high + pad


def _row(
    row: ReaderRow,
    content: CommitteeContent,
    shown: list[_Measure],
    domains: dict[str, tuple[float, float]],
    words: Strings,
) -> Row:
    few = row.n < content.minimum_n
    unreportable = row.reliability < content.minimum_reliability
    hidden = few or unreportable
    cells: list[Cell] = [
        row.code,
        _size(row, words, few=few),
        BLANK if few or row.share_paired is None else percent(row.share_paired),
    ]
    for measure in shown:
        cells.extend(_cells(None if hidden else measure.of(row), measure, domains))
    if _has_reliability(content.readers):
        cells.append(BLANK if few else decimal(row.reliability, 2))
    note = BLANK
    if unreportable and not few:
        note = words("state.not_reportable")
    elif row.signal and not few:
        note = words("readers.is_signal")
    cells.append(note)
    return Row(tuple(cells), quiet=hidden, strong=note == words("readers.is_signal"))


def _size(row: ReaderRow, words: Strings, *, few: bool) -> str:
    """Give a reader's exams, or the state of a row that is withheld."""
    if isinstance(row.gap, SuppressedCell) and row.gap.of != "exams":
        return words("state.withheld_short")
    return words("state.few_short") if few else count(row.n)


def _cells(value: Value, measure: _Measure, domains: dict[str, tuple[float, float]]) -> list[Cell]:
    """Give the number, and beside it the graph where the measure has one."""
    hidden = value is None or isinstance(value, SuppressedCell)
    text = BLANK if hidden else measure.show(value.value)  # type: ignore[union-attr]
    if not measure.graph:
        return [text]
    if value is None or isinstance(value, SuppressedCell):
        return [text, BLANK]
    hint = f"{text} ({interval(value.low, value.high, 2)})"
    domain = domains[measure.key]
    return [text, Span(value.value, value.low, value.high, domain, measure.reference, hint)]


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
