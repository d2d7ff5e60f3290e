"""Words from results: the one sentence that matters most, and at most three actions.

Nothing is estimated here. A phrase *stands as expected* where its 95 % interval covers the mean of
what readers expect; statements of 0 % and 100 % are not judged (nobody is certain every time), and
neither is a phrase of unknown meaning. Which actions to show: every suggestion that calibration
let through, ordered by the number of exams that carry the gap, n·|observed − expected|; a
suggestion from all findings together stands in for those of single findings with the same source
phrase; phrases that the institution discourages are never advised.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from reports.content import RadiologistContent, SuppressedCell
from reports.figures.phrase_rows import PhraseRow, RowState, phrase_rows
from reports.numbers import percent, percent_interval, points
from reports.strings import Strings

if TYPE_CHECKING:
    from calibration.substitution import HeldOutEffect, Suggestion

__all__ = ["MOST_ACTIONS", "Action", "Standing", "actions", "headline", "standing"]

MOST_ACTIONS: Final = 3


class Standing(Enum):
    """Where a phrase's rate lies relative to what readers expect."""

    AS_EXPECTED = "as expected"
    BELOW = "below"
    ABOVE = "above"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Action:
    """One swap with its evidence; ``pathology`` None means all findings together."""

    pathology: str | None
    suggestion: Suggestion
    title: str
    evidence: str


def standing(row: PhraseRow) -> Standing:
    """Whether the interval covers the expectation, and on which side it lies if not."""
    if row.state is not RowState.SHOWN or not 0 < row.expected < 1:
        return Standing.NOT_JUDGED
    if row.high < row.expected:
        return Standing.BELOW
    return Standing.ABOVE if row.low > row.expected else Standing.AS_EXPECTED


def _weight(suggestion: Suggestion) -> float:
    return float(suggestion.n * abs(suggestion.observed - suggestion.expected))


def _chosen(content: RadiologistContent) -> list[tuple[str | None, Suggestion]]:
    allowed = [
        (part.pathology, suggestion)
        for part in content.actions or ()
        for suggestion in part.advice.suggestions
        if suggestion.target not in content.discouraged and suggestion.n >= content.minimum_n
    ]
    general = {s.source for pathology, s in allowed if pathology is None}
    kept = [(p, s) for p, s in allowed if p is None or s.source not in general]
    kept.sort(key=lambda item: (-_weight(item[1]), item[1].source, item[0] or ""))
    return kept[:MOST_ACTIONS]


def actions(content: RadiologistContent, *, words: Strings) -> tuple[Action, ...]:
    """At most three actions, the one with most exams behind it first."""
    return tuple(
        Action(
            pathology=pathology,
            suggestion=suggestion,
            title=words("action.swap", source=suggestion.source, target=suggestion.target),
            evidence=_evidence(suggestion, pathology, words),
        )
        for pathology, suggestion in _chosen(content)
    )


def _evidence(suggestion: Suggestion, pathology: str | None, words: Strings) -> str:
    unit = "unit.statements" if pathology is None else "unit.exams"
    parts = [
        words(
            "action.evidence",
            scope=_sentence_case(pathology or words("action.scope_all")),
            source=suggestion.source,
            target=suggestion.target,
            observed=percent(suggestion.observed),
            interval=percent_interval(suggestion.low, suggestion.high),
            exams=words.several(unit, round(suggestion.n)),
            expected=percent(suggestion.expected),
            target_expected=percent(suggestion.target_expected),
        )
    ]
    if suggestion.effect is not None:
        parts.append(_held_out(suggestion.effect, words))
    if suggestion.stability == suggestion.stability:
        parts.append(words("action.stable", stability=percent(suggestion.stability)))
    if suggestion.target == "consistent with":
        parts.append(words("action.consistent_with"))
    return " ".join(part for part in parts if part)


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def _held_out(effect: HeldOutEffect, words: Strings) -> str:
    """Give the gain in points where it is certain, else how surely the swap held up."""
    gain = effect.ece_difference
    if not gain.high < 0:
        sure = effect.brier_difference.high < 0
        return words("action.held_out_only" if sure else "action.held_out_unsure")
    closer = {"low": points(-gain.high), "high": points(-gain.low)}
    return words("action.held_out", points=points(-gain.value), **closer)


def headline(content: RadiologistContent, *, words: Strings) -> str:
    """Choose the one sentence that matters most."""
    if isinstance(content.overall, SuppressedCell):
        return words("headline.too_few")
    chosen = _chosen(content)
    if chosen:
        return _swap(*chosen[0], words)
    rows = phrase_rows(content.overall.phrases, minimum_n=content.minimum_n)
    judged = [row for row in rows if standing(row) is not Standing.NOT_JUDGED]
    if not judged:
        return words("headline.no_phrase", minimum=content.minimum_n)
    apart = [row for row in judged if standing(row) is not Standing.AS_EXPECTED]
    known = "described" if content.actions is None else "nothing"
    if not apart:
        return words.several(f"headline.{known}", len(judged))
    row = max(apart, key=lambda r: r.n * abs(r.observed - r.expected))
    return words(
        f"headline.{known}_watch",
        phrase=row.phrase,
        observed=percent(row.observed),
        expected=percent(row.expected),
        reason=_reason(content, row.phrase, words),
    )


def _reason(content: RadiologistContent, phrase: str, words: Strings) -> str:
    """Why the advice on all findings together is silent about a phrase."""
    for part in content.actions or ():
        for silent in part.advice.suppressed:
            key = f"headline.reason.{silent.reason.replace(' ', '_')}"
            if part.pathology is None and silent.source == phrase and key in words.sentences:
                return words(key)
    return words("headline.reason.any")


def _swap(pathology: str | None, suggestion: Suggestion, words: Strings) -> str:
    down = suggestion.observed < suggestion.expected
    finding = words("headline.finding", pathology=pathology) if pathology else ""
    return words(
        "headline.swap_down" if down else "headline.swap_up",
        source=suggestion.source,
        target=suggestion.target,
        finding=finding,
        observed=percent(suggestion.observed),
        expected=percent(suggestion.expected),
    )
