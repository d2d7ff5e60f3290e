"""Checks at the end of a run, as data: nothing is delivered unless every required one passes.

Each gate compares counts of this run with a limit. A gate that cannot be evaluated has
``passed=None`` and counts as failed: what could not be checked was not checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.config import Configuration
from reports.content import Gate

__all__ = ["Accounting", "check"]


@dataclass(frozen=True, slots=True)
class Accounting:
    """A run's counts, from first row to last observation."""

    rows_in: int
    rows_kept: int
    rows_quarantined: int
    exams_cleaned: int
    exams_withheld: int
    reports_read: int
    reports_failed: int
    statements: int
    statements_unmapped: int
    pairs: int
    observations: int
    left_out: Mapping[str, int]
    compared_with_words: int = 0
    parted_from_words: int = 0


def check(accounting: Accounting, config: Configuration) -> tuple[Gate, ...]:
    """Evaluate every gate; all are shown, passed or not."""
    a = accounting
    model = config.extraction.engine != "rules"
    return (
        _adds_up("every row accounted for", a.rows_in, (a.rows_kept, a.rows_quarantined)),
        _adds_up("every exam coded or withheld", a.rows_kept, (a.exams_cleaned, a.exams_withheld)),
        _share(
            "reports withheld by de-identification",
            a.exams_withheld,
            a.rows_kept,
            config.deidentification.max_quarantined_share,
            "A withheld report never reaches a model or a page.",
        ),
        _share(
            "paired reports that could not be read",
            a.reports_failed,
            a.reports_read + a.reports_failed,
            config.extraction.max_failed_share,
            "Failed reports say nothing about any finding.",
        ),
        _share(
            "statements whose cue maps to no phrase",
            a.statements_unmapped,
            a.statements,
            config.extraction.max_unmapped_share,
            "Unmapped statements are listed in the manifest.",
        ),
        *([_disagreement(a, config.extraction.max_disagreement_share)] if model else []),
        Gate(
            "observations to calibrate on",
            a.observations > 0,
            "at least 1",
            f"{a.observations:,}",
            f"from {a.pairs:,} pairs",
        ),
    )


def _disagreement(a: Accounting, limit: float) -> Gate:
    return _share(
        "statements and sentences over which model and vocabulary part",
        a.parted_from_words,
        a.compared_with_words,
        limit,
        "Statements whose words do not carry them, or say the opposite, and sentences that state "
        "a pathology no line of the answer covers.",
    )


def _adds_up(name: str, total: int, parts: Sequence[int]) -> Gate:
    found = f"{' + '.join(f'{p:,}' for p in parts)} = {sum(parts):,}"
    return Gate(name, sum(parts) == total, f"= {total:,}", found)


def _share(name: str, part: int, whole: int, limit: float, note: str) -> Gate:
    if whole == 0:
        return Gate(name, None, f"at most {limit:.1%}", "nothing to count", note)
    share = part / whole
    found = f"{share:.2%} ({part:,} of {whole:,})"
    return Gate(name, share <= limit, f"at most {limit:.1%}", found, note)
