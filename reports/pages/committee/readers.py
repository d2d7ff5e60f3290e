"""The committee's reader table, coded and in code order, and the case mix it is adjusted by.

Measures that no reader has are named as not computed, so that a column of dashes cannot be
mistaken for an absent difference.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from calibration.estimate import Z95, Estimate
from calibration.gaps import Gaps, shrink_gaps
from reports.content import SuppressedCell
from reports.disclosure import short_state_of
from reports.drawing.layout import Figure, Piece, Section, note, statement
from reports.drawing.tables import Row, Table, heads
from reports.figures.readers import Funnel, funnel_plot
from reports.numbers import BLANK, count, decimal, percent, signed
from reports.pages.committee.decisions import coordinates_of
from reports.pages.committee.tables import Value, drawn, span
from reports.review_content import CaseMix, CommitteeContent, MixRow, ReaderRow
from reports.strings import Strings

Reach: TypeAlias = tuple[float, float]

_FUNNEL: Final = 170.0
_COMPARED: Final = 3


def readers(content: CommitteeContent, words: Strings) -> Section:
    """Lay out every reader in code order."""
    pieces: tuple[Piece, ...] = (reader_table(content, words=words), note(_note(content, words)))
    funnel = _funnel(content, words)
    if funnel is not None:
        caption = words("committee.funnel_note", spread=decimal(funnel.spread))
        plot = partial(funnel_plot, funnel=funnel, words=words)
        pieces = (Figure(plot, _FUNNEL, caption), *pieces)
    return Section(words("committee.readers_table"), pieces, room=160.0 + _FUNNEL)


def _funnel(content: CommitteeContent, words: Strings) -> Funnel | None:
    """Gather the gaps that may be shown, in code order; None where they are too few to compare."""
    rows = [
        (row.code, row.gap)
        for row in sorted(content.readers, key=lambda row: row.code)
        if isinstance(row.gap, Estimate) and row.reliability >= content.minimum_reliability
    ]
    if len(rows) < _COMPARED:
        return None
    value, error, n = np.array(
        [(gap.value, (gap.high - gap.low) / (2.0 * Z95), gap.n) for _, gap in rows]
    ).T
    gaps = Gaps(value, error, n)
    codes = tuple(code for code, _ in rows)
    return Funnel(codes, gaps, shrink_gaps(gaps), told=_signals(content, words))


def _note(content: CommitteeContent, words: Strings) -> str:
    """Explain the columns, and name the measures that no reader has."""
    limit = decimal(content.minimum_reliability, 1)
    keys = ("gap", "adjusted", "shrunk")
    parts = [words(f"readers_note.{key}") for key in keys]
    known = [row.reliability for row in content.readers if math.isfinite(row.reliability)]
    if known:
        low, high = decimal(min(known), 2), decimal(max(known), 2)
        key = "reliability" if low < high else "reliability_one"
        parts.append(words(f"readers_note.{key}", low=low, high=high, minimum=limit))
    parts.append(words("committee.readers_note", few=content.minimum_n))
    missing = [
        words(f"readers.{key}")
        for key in keys
        if not any(isinstance(getattr(row, key), Estimate) for row in content.readers)
    ]
    if not known:
        missing.append(words("readers.reliability_long"))
    if _signals(content, words):
        parts.append(words("readers_note.signal"))
    if missing:
        parts.append(words("committee.absent_columns", names=", ".join(missing)))
    return " ".join(parts)


def reader_table(content: CommitteeContent, *, words: Strings) -> Table:
    """All readers in code order."""
    reach = _reach([row.shrunk for row in content.readers])
    columns = (
        *heads(words, "readers", ("code", 1.3), ("n", 1.1, "right"), ("share", 0.9, "right"),
               ("gap", 1.0, "right"), ("adjusted", 1.0, "right")),
        drawn("readers.shrunk_graph", 2.4, reach, words),
        *heads(words, "readers", ("note", 1.8)),
    )  # fmt: skip
    rows = sorted(content.readers, key=lambda row: row.code)
    signals = _signals(content, words)
    body = tuple(_row(row, content, reach, signals.get(row.code, ""), words) for row in rows)
    return Table(columns, body, empty=words("state.none"), id="readers")


def _reach(values: Sequence[Value]) -> Reach:
    """Say how far intervals reach from 0 on either side, in whole hundredths."""
    shown = [value for value in values if isinstance(value, Estimate)]
    ends = [abs(v) for e in shown for v in (e.low, e.high, e.value) if math.isfinite(v)]
    reach = max(math.ceil(100 * max(ends, default=0.1)), 1) / 100
    return -reach, reach


def _signals(content: CommitteeContent, words: Strings) -> dict[str, str]:
    """Say of readers told of a pattern whether the signal is one of shift, of slope or of both."""
    told = content.profiles.readers if content.profiles else ()
    verdicts = {each.reader: each.pattern.verdict for each in told}
    return {
        reader: words(
            "readers.signal",
            of=", ".join(words(f"readers.{name}") for name in coordinates_of(verdict.parts)),
        )
        for reader, verdict in verdicts.items()
        if verdict.state == "pattern"
    }


def _row(
    row: ReaderRow, content: CommitteeContent, reach: Reach, signal: str, words: Strings
) -> Row:
    few, unreportable = row.n < content.minimum_n, row.reliability < content.minimum_reliability
    hidden = few or unreportable
    return Row(
        (
            row.code,
            _size(row, words, few=few),
            BLANK if few or row.share_paired is None else percent(row.share_paired),
            *(BLANK if hidden else _number(value) for value in (row.gap, row.adjusted)),
            BLANK if hidden else span(row.shrunk, reach),
            words("state.not_reportable") if unreportable and not few else signal or BLANK,
        ),
        quiet=hidden,
        strong=bool(signal) and not hidden,
    )


def _number(value: Value) -> str:
    return signed(value.value) if isinstance(value, Estimate) else BLANK


def _size(row: ReaderRow, words: Strings, *, few: bool) -> str:
    """Give a reader's exams, or the state of a row that is withheld."""
    if isinstance(row.gap, SuppressedCell):
        return short_state_of(row.gap, words)
    return words("state.few_short") if few else count(row.n)


def case_mix(content: CommitteeContent, words: Strings) -> Section:
    """One row per kind of case, the gap raw, adjusted and drawn."""
    title, lead = words("committee.case_mix"), words("committee.case_mix_lead")
    mix = content.case_mix
    if mix is None:
        return Section(title, (statement(words("state.not_computed")),), lead)
    if mix.alike:
        lead += " " + words("committee.case_mix_alike", names=_dashed(", ".join(mix.alike)))
    pieces: tuple[Piece, ...] = _mix_table(mix, words), note(words("committee.case_mix_note"))
    return Section(title, pieces, lead, room=200.0)


def _mix_table(mix: CaseMix, words: Strings) -> Table:
    reach = _reach([row.adjusted for row in mix.rows])
    columns = (
        *heads(words, "mix", ("factor", 1.3), ("level", 1.9), ("n", 1.0, "right"),
               ("share", 0.8, "right")),
        *heads(words, "readers", ("gap", 0.9, "right"), ("adjusted", 0.9, "right")),
        drawn("mix.graph", 2.6, reach, words),
    )  # fmt: skip
    rows = tuple(_mix_row(row, reach, words) for row in mix.rows)
    return Table(columns, rows, empty=words("state.none"), id="mix")


def _dashed(text: str) -> str:
    """Print ranges with a dash, as all other intervals; a site's code stays as it is."""
    return re.sub(r"(?<=\d)-(?=\d)", "–", text)


def _mix_row(row: MixRow, reach: Reach, words: Strings) -> Row:
    named = row.factor, _dashed(row.level)
    if isinstance(row.gap, SuppressedCell):
        return Row((*named, short_state_of(row.gap, words), *(BLANK,) * 4), quiet=True)
    size = count(row.n), percent(row.share)
    return Row((*named, *size, _number(row.gap), _number(row.adjusted), span(row.adjusted, reach)))
