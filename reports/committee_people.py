"""Variation between readers: funnel and table, by code, from enough readers only."""

from __future__ import annotations

from reports.committee_readers import measure_notes, missing_measures, reader_table
from reports.content import CommitteeContent
from reports.document import Piece, Section, note, statement
from reports.figures.funnel import funnel_plot
from reports.layout import Figure
from reports.numbers import count, decimal, percent
from reports.strings import Strings

__all__ = ["readers"]


def readers(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Lay out the funnel, then every reader in code order."""
    title = words("committee.readers")
    table = (reader_table(content, words=words), note(_note(content, words)))
    return (
        Section(title, (_funnel(content, words),), room=320.0),
        Section(words("committee.readers_table"), table, level=1, room=160.0),
    )


def _funnel(content: CommitteeContent, words: Strings) -> Piece:
    if content.funnel is None:
        return statement(words("state.not_computed_funnel"))
    funnel = content.funnel
    caption = words(
        "committee.funnel_note",
        overdispersion=decimal(funnel.overdispersion, 2),
        hypotheses=count(funnel.hypotheses),
        fdr=percent(funnel.false_discovery_rate),
    )
    return Figure(lambda d, box: funnel_plot(d, box, funnel=funnel, words=words), 260.0, caption)


def _note(content: CommitteeContent, words: Strings) -> str:
    parts = [
        measure_notes(content, words=words),
        words("committee.readers_note", few=content.minimum_n),
    ]
    missing = missing_measures(content, words=words)
    if missing:
        parts.append(words("committee.absent_columns", names=missing))
    return " ".join(part for part in parts if part)
