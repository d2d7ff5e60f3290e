"""Outcomes as table rows: one per statement, or one per (report, pathology) after resolution.

A report that could not be processed is a row of its own with ``outcome = failed`` and the reason;
a pathology nobody mentioned is no row; neither can be read as "absent".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pandas as pd

from extraction.finding import Extracted, Failed, Finding, Outcome
from extraction.resolution import DEFAULT_RULE, ResolutionRule, resolve
from extraction.vocabulary import Vocabulary

__all__ = ["REPORT_COLUMNS", "STATEMENT_COLUMNS", "report_table", "statement_table"]

STATEMENT_COLUMNS: Final = (
    "report_id", "section", "start", "end", "sentence", "pathology", "cue", "phrase", "outcome",
    "reason", "mention",
)  # fmt: skip
REPORT_COLUMNS: Final = ("report_id", "pathology", "cue", "phrase", "outcome", "reason")


def statement_table(
    report_ids: Sequence[str], texts: Sequence[object], outcomes: Sequence[Outcome]
) -> pd.DataFrame:
    """One row per statement, and one per failed report.

    Parameters
    ----------
    report_ids, texts, outcomes
        N reports, in the same order.

    Returns
    -------
    Columns `STATEMENT_COLUMNS`. ``phrase`` is empty for unmapped cues, ``start`` and ``end`` are
    offsets of ``sentence`` in the text and missing for failures; ``mention`` is the words that
    name the pathology, empty for engines that cannot say.
    """
    rows = [
        row
        for report_id, text, outcome in zip(report_ids, texts, outcomes, strict=True)
        for row in _statements(report_id, text, outcome)
    ]
    frame = pd.DataFrame(rows, columns=list(STATEMENT_COLUMNS))
    return frame.astype({"start": "Int64", "end": "Int64"})


def report_table(
    report_ids: Sequence[str],
    outcomes: Sequence[Outcome],
    *,
    vocabulary: Vocabulary,
    rule: ResolutionRule = DEFAULT_RULE,
    every_state: bool = False,
) -> pd.DataFrame:
    """One row per (report, pathology) stated; with `every_state` one per pathology and report.

    Returns
    -------
    Columns `REPORT_COLUMNS`.
    """
    rows = [
        (report_id, row.pathology, row.reason if row.outcome in _CUED else "", row.phrase or "",
         row.outcome, "" if row.outcome in _CUED else row.reason)
        for report_id, outcome in zip(report_ids, outcomes, strict=True)
        for row in resolve(outcome, vocabulary=vocabulary, rule=rule).values()
        if every_state or row.outcome == "stated"
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(REPORT_COLUMNS))


_CUED: Final = ("stated", "unmapped")


def _statements(report_id: str, text: object, outcome: Outcome) -> Iterator[tuple[object, ...]]:
    if isinstance(outcome, Failed):
        yield report_id, "", None, None, "", "", "", "", "failed", outcome.reason, ""
    elif isinstance(outcome, Extracted):
        whole = str(text)
        for found in outcome.findings:
            state = "unmapped" if found.phrase is None else "stated"
            yield (
                report_id, found.section, found.start, found.end, whole[found.start : found.end],
                found.pathology, found.cue, found.phrase or "", state, "", _mention(whole, found),
            )  # fmt: skip


def _mention(text: str, found: Finding) -> str:
    why = found.explanation
    return "" if why is None else text[why.mention_start : why.mention_end]
