"""From statements to one row per pathology: section rank first, then the strongest certainty.

A statement in the impression outranks all others; within the outranking section the strongest
certainty wins ("No right effusion. Small left effusion." is present). The order of certainty is the
vocabulary's. Statements are kept by the caller; nothing is lost here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from extraction.finding import IMPRESSION, Extracted, Failed, Finding, Outcome
from extraction.vocabulary import Vocabulary

__all__ = ["DEFAULT_RULE", "ReportFinding", "ResolutionRule", "State", "resolve"]

State: TypeAlias = Literal["stated", "not mentioned", "failed", "not evaluable", "unmapped"]
ResolutionRule: TypeAlias = Literal["impression first", "strongest", "last"]
DEFAULT_RULE: Final[ResolutionRule] = "impression first"


@dataclass(frozen=True, slots=True)
class ReportFinding:
    """What a report says of one pathology.

    Attributes
    ----------
    phrase
        Canonical phrase; None unless `outcome` is ``stated``.
    outcome
        ``stated``; ``unmapped``: spoken of, with cue words that have no phrase; ``not mentioned``;
        ``not evaluable``: the report says it could not be judged; ``failed``: never read.
    reason
        Cue words, or why it failed; empty otherwise.
    """

    pathology: str
    phrase: str | None
    outcome: State
    reason: str = ""


def resolve(
    outcome: Outcome, *, vocabulary: Vocabulary, rule: ResolutionRule = DEFAULT_RULE
) -> dict[str, ReportFinding]:
    """One row per pathology of the vocabulary.

    Parameters
    ----------
    outcome
        What an engine returned for the report.
    vocabulary
        Its pathologies and the order of its phrases.
    rule
        ``impression first``: the impression outranks, then the strongest wins; ``strongest``: over
        all sections; ``last``: the last statement of the report wins.
    """
    names = vocabulary.pathologies
    if isinstance(outcome, Failed):
        return {n: ReportFinding(n, None, "failed", outcome.reason) for n in names}
    stated: dict[str, list[Finding]] = {}
    for finding in outcome.findings if isinstance(outcome, Extracted) else ():
        stated.setdefault(finding.pathology, []).append(finding)
    strength = {phrase: rank for rank, phrase in enumerate(vocabulary.phrases)}
    rows = {}
    for name in names:
        if name in stated:
            rows[name] = _resolved(name, _ranked(stated[name], rule), strength, rule)
        elif name in outcome.not_evaluable:
            rows[name] = ReportFinding(name, None, "not evaluable")
        else:
            rows[name] = ReportFinding(name, None, "not mentioned")
    return rows


def _ranked(findings: Sequence[Finding], rule: ResolutionRule) -> Sequence[Finding]:
    if rule == "impression first":
        impression = [f for f in findings if f.section == IMPRESSION]
        return impression or findings
    return findings


def _resolved(
    name: str, findings: Sequence[Finding], strength: dict[str, int], rule: ResolutionRule
) -> ReportFinding:
    mapped = [f for f in findings if f.phrase is not None]
    if not mapped:
        return ReportFinding(name, None, "unmapped", findings[-1].cue)
    chosen = mapped[-1] if rule == "last" else max(mapped, key=lambda f: strength[f.phrase or ""])
    return ReportFinding(name, chosen.phrase, "stated", chosen.cue)
