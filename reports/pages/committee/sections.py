"""The committee's later sections; each says "not computed in this run" where it was not."""

from __future__ import annotations

from reports.content import CommitteeContent, PathologyAdvice, SuppressedCell
from reports.drawing.document import Piece, Section, Subheading, note, statement
from reports.drawing.layout import Figure, Prose
from reports.drawing.style import BODY
from reports.figures.series import frontier, shares_over_time
from reports.figures.swap_flow import streams_of_map, swap_flow
from reports.numbers import decimal, interval
from reports.pages.committee.tables import (
    sensitivity_table,
    suggestion_table,
    suppressed_table,
    term_table,
)
from reports.pages.run_tables import (
    count_table,
    gate_table,
    instrument_table,
    manifest_table,
)
from reports.strings import Strings

__all__ = ["gates", "governance", "instrument", "manifest", "maps", "scale_use", "sensitivity"]


def sensitivity(content: CommitteeContent, words: Strings) -> Section:
    """One table per question."""
    title = words("committee.sensitivity")
    if content.sensitivity is None:
        return Section(title, (statement(words("state.not_computed")),))
    pieces: list[Piece] = []
    for table in content.sensitivity:
        pieces += [Subheading(table.title), sensitivity_table(table, words=words)]
        pieces += [note(table.caption)] if table.caption else []
    return Section(title, tuple(pieces), words("committee.sensitivity_lead"), room=190.0)


def scale_use(content: CommitteeContent, words: Strings) -> Section:
    """Shares over time, then uses per term."""
    title, use = words("committee.scale_use"), content.scale_use
    if use is None:
        return Section(title, (statement(words("state.not_computed")),))
    caption = words("committee.scale_use_note")
    figure = Figure(lambda d, box: shares_over_time(d, box, use=use, words=words), 150.0, caption)
    table = (term_table(use, words=words),) if use.terms else ()
    return Section(title, (figure, *table), room=240.0)


def maps(content: CommitteeContent, words: Strings) -> Section:
    """Draw the fitted map before and after, its held-out effect, the swaps, the frontier."""
    title, heading_note = words("committee.maps"), words("committee.maps_note")
    if content.maps is None:
        return Section(title, (statement(words("state.not_computed")),), heading_note)
    overall = [_map(content, part, words) for part in content.maps if part.pathology is None]
    pieces = (
        *overall,
        Subheading(words("committee.suggestions"), room=80.0),
        suggestion_table(content.maps, words=words),
        Subheading(words("committee.suppressed"), room=80.0),
        suppressed_table(content.maps, words=words),
        Subheading(words("committee.frontier"), room=220.0),
        _frontier(content, words),
    )
    return Section(title, pieces, heading_note, room=340.0)


def _map(content: CommitteeContent, part: PathologyAdvice, words: Strings) -> Piece:
    fitted, effect = part.advice.map, part.advice.effect
    if not fitted.converged:
        return statement(words("committee.map_not_converged"))
    if isinstance(content.department, SuppressedCell):
        return statement(words("state.complementary"))
    streams, order = streams_of_map(fitted, content.department.phrases)
    caption = words("committee.map_no_effect")
    if effect is not None:
        difference = effect.ece_difference
        caption = words(
            "committee.map_effect",
            before=decimal(effect.ece_before),
            after=decimal(effect.ece_after),
            difference=decimal(difference.value),
            interval=interval(difference.low, difference.high),
        )
    return Figure(
        lambda d, box: swap_flow(d, box, streams=streams, order=order, words=words), 240.0, caption
    )


def _frontier(content: CommitteeContent, words: Strings) -> Piece:
    if not content.frontier:
        return statement(words("state.not_computed"))
    points, caption = content.frontier, words("committee.frontier_note")
    return Figure(lambda d, box: frontier(d, box, points=points, words=words), 180.0, caption)


def instrument(content: CommitteeContent, words: Strings) -> Section:
    """Audited shares and plain counts."""
    title, heading_note = words("committee.instrument"), words("committee.instrument_note")
    measured = content.instrument
    if measured is None:
        return Section(title, (statement(words("state.not_computed")),), heading_note)
    engine = Prose(words("instrument.engine", engine=measured.engine), BODY)
    counts = (count_table(measured, words=words),) if measured.counts else ()
    return Section(title, (engine, instrument_table(measured, words=words), *counts), heading_note)


def gates(content: CommitteeContent, words: Strings) -> Section:
    """Every check of the run."""
    table = gate_table(content.gates, words=words)
    return Section(words("committee.gates"), (table,), words("committee.gates_note"))


def manifest(content: CommitteeContent, words: Strings) -> Section:
    """Say what it takes to repeat the run."""
    table = manifest_table(content.manifest, words=words)
    return Section(words("committee.manifest"), (table,), words("committee.manifest_note"))


def governance(content: CommitteeContent, words: Strings) -> Section:
    """Print the institution's own text."""
    pieces: list[Piece] = []
    for text in content.governance:
        pieces += [Subheading(text.title, room=40.0), Prose(text.text, BODY)]
    if not pieces:
        pieces.append(statement(words("state.none")))
    return Section(words("committee.governance"), tuple(pieces), room=80.0)
