"""Findings as statements a model can be asked about, with what the labels say of them.

A claim is one pathology of one report with the phrase the reader gave it, at report level; it is
right when the gold label of that pathology has the same phrase. Reports that failed make no claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from extraction.audit.gold import GoldReport
from extraction.finding import Failed, Outcome
from extraction.neighbours.elicitation.correctness import Verdict
from extraction.neighbours.elicitation.run import Elicited
from extraction.resolution import resolve
from extraction.vocabulary import Vocabulary

__all__ = ["Claim", "claims_of", "with_truth"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One finding as a statement about its report.

    Attributes
    ----------
    item
        ``report_id: pathology``.
    report, statement
        The report's text, and what is claimed of it.
    right
        Whether the labels agree.
    """

    item: str
    report: str
    statement: str
    right: bool


def claims_of(
    reports: Sequence[GoldReport], outcomes: Sequence[Outcome], vocabulary: Vocabulary
) -> tuple[list[Claim], int]:
    """Make every stated finding a claim; also count the reports that failed."""
    strength = {phrase: rank for rank, phrase in enumerate(vocabulary.phrases)}
    claims, failed = [], 0
    for report, outcome in zip(reports, outcomes, strict=True):
        failed += isinstance(outcome, Failed)
        truth = report.cells(strength)
        claims += [
            Claim(
                f"{report.report_id}: {row.pathology}",
                report.text,
                f'The report calls {row.pathology} "{row.phrase}".',
                truth.get(row.pathology) == row.phrase,
            )
            for row in resolve(outcome, vocabulary=vocabulary).values()
            if row.outcome == "stated"
        ]
    return claims, failed


def with_truth(row: Elicited, claim: Claim) -> Elicited:
    """Say whether an answered claim is right; what was not answered stays unjudged."""
    if row.outcome != "answered":
        return row
    return replace(row, verdict=Verdict(claim.right, "match"))
