"""The committee's later sections; each says "not computed in this run" where it was not."""

from __future__ import annotations

from reports.committee_tables import (
    count_table,
    gate_table,
    instrument_table,
    manifest_table,
    sensitivity_table,
    suggestion_table,
    suppressed_table,
    term_table,
)
from reports.content import CommitteeContent, PathologyAdvice, SuppressedCell
from reports.figures.frontier import frontier
from reports.figures.shares_over_time import shares_over_time
from reports.figures.swap_flow import swap_flow
from reports.layout import Composer, Figure, Prose
from reports.numbers import decimal, interval
from reports.streams import streams_of_map
from reports.style import BODY, CAPTION, SUBHEADING, palette

__all__ = ["gates_and_manifest", "governance", "instrument", "maps", "scale_use", "sensitivity"]


def _absent(composer: Composer) -> None:
    text = composer.style.strings("state.not_computed")
    composer.add(Prose(text, BODY.oblique, palette.muted))


def sensitivity(composer: Composer, content: CommitteeContent) -> None:
    """One table per question."""
    words = composer.style.strings
    composer.heading(
        words("committee.sensitivity"), room=190.0, note=words("committee.sensitivity_lead")
    )
    if content.sensitivity is None:
        _absent(composer)
        return
    for table in content.sensitivity:
        composer.heading(table.title, level=1, kind=SUBHEADING, room=100.0)
        composer.flow(sensitivity_table(table, words=words), after=4.0)
        composer.add(Prose(table.caption, CAPTION, palette.muted))


def scale_use(composer: Composer, content: CommitteeContent) -> None:
    """Shares over time, then uses per term."""
    words = composer.style.strings
    composer.heading(words("committee.scale_use"), room=240.0)
    if content.scale_use is None:
        _absent(composer)
        return
    use = content.scale_use
    note = words("committee.scale_use_note")
    paint = Figure(lambda d, box: shares_over_time(d, box, use=use, words=words), 150.0, note)
    composer.add(paint)
    if use.terms:
        composer.flow(term_table(use, words=words))


def maps(composer: Composer, content: CommitteeContent) -> None:
    """Draw the fitted maps with their held-out effect, the swaps, the frontier."""
    words = composer.style.strings
    composer.heading(words("committee.maps"), room=340.0, note=words("committee.maps_note"))
    if content.maps is None:
        _absent(composer)
        return
    for part in content.maps:
        if part.pathology is None:
            _map(composer, content, part)
    composer.heading(words("committee.suggestions"), level=1, kind=SUBHEADING, room=80.0)
    composer.flow(suggestion_table(content.maps, words=words))
    composer.heading(words("committee.suppressed"), level=1, kind=SUBHEADING, room=80.0)
    composer.flow(suppressed_table(content.maps, words=words))
    composer.heading(words("committee.frontier"), level=1, kind=SUBHEADING, room=220.0)
    if not content.frontier:
        _absent(composer)
        return
    points = content.frontier
    note = words("committee.frontier_note")
    composer.add(Figure(lambda d, box: frontier(d, box, points=points, words=words), 180.0, note))


def _map(composer: Composer, content: CommitteeContent, part: PathologyAdvice) -> None:
    words = composer.style.strings
    fitted, effect = part.advice.map, part.advice.effect
    if not fitted.converged:
        composer.add(Prose(words("committee.map_not_converged"), BODY.oblique, palette.muted))
        return
    if isinstance(content.department, SuppressedCell):
        return
    streams, order = streams_of_map(fitted, content.department.phrases)
    note = words("committee.map_no_effect")
    if effect is not None:
        difference = effect.ece_difference
        note = words(
            "committee.map_effect",
            before=decimal(effect.ece_before),
            after=decimal(effect.ece_after),
            difference=decimal(difference.value),
            interval=interval(difference.low, difference.high),
        )
    figure = Figure(
        lambda d, box: swap_flow(d, box, streams=streams, order=order, words=words), 240.0, note
    )
    composer.add(figure)


def instrument(composer: Composer, content: CommitteeContent) -> None:
    """Audited shares and plain counts."""
    words = composer.style.strings
    composer.heading(words("committee.instrument"), note=words("committee.instrument_note"))
    if content.instrument is None:
        _absent(composer)
        return
    engine = words("instrument.engine", engine=content.instrument.engine)
    composer.add(Prose(engine, BODY), after=6.0)
    composer.flow(instrument_table(content.instrument, words=words))
    if content.instrument.counts:
        composer.flow(count_table(content.instrument, words=words))


def gates_and_manifest(composer: Composer, content: CommitteeContent) -> None:
    """Every check, then what it takes to repeat the run."""
    words = composer.style.strings
    composer.heading(words("committee.gates"), note=words("committee.gates_note"))
    composer.flow(gate_table(content.gates, words=words))
    composer.heading(words("committee.manifest"), note=words("committee.manifest_note"))
    composer.flow(manifest_table(content.manifest, words=words))


def governance(composer: Composer, content: CommitteeContent) -> None:
    """Print the institution's own text."""
    if not content.governance:
        return
    composer.heading(composer.style.strings("committee.governance"), room=80.0)
    for text in content.governance:
        composer.add(Prose(text.title, SUBHEADING), after=2.0)
        composer.add(Prose(text.text, BODY), after=8.0)
