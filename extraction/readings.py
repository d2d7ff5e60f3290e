"""A findings table read back: what one engine says of every report, whichever level was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, get_args

import pandas as pd

from extraction.errors import ExtractionError
from extraction.finding import FAILURE_REASONS, Extracted, Failed, Finding, Outcome
from extraction.resolution import DEFAULT_RULE, ReportFinding, ResolutionRule, State, resolve
from extraction.vocabulary import Vocabulary

__all__ = ["NEEDED_COLUMNS", "ReadingError", "outcomes_of", "readings_of"]

NEEDED_COLUMNS: Final[Mapping[str, str]] = {
    "report_id": "the report's name",
    "pathology": "canonical pathology",
    "phrase": "canonical certainty phrase, or empty",
    "outcome": "stated, unmapped, failed, not mentioned or not evaluable",
}
_OPTIONAL: Final = ("section", "cue", "reason")
_STATES: Final = get_args(State)


class ReadingError(ExtractionError):
    """A findings table cannot be read back; the message says which rows and why."""


def readings_of(
    frame: pd.DataFrame, *, vocabulary: Vocabulary, rule: ResolutionRule = DEFAULT_RULE
) -> dict[str, dict[str, ReportFinding]]:
    """Report → pathology → what is said of it, for every report that has a row.

    Parameters
    ----------
    frame
        Columns `NEEDED_COLUMNS`; with ``section`` the rows are statements and are resolved.
    vocabulary
        The vocabulary it was written with.
    rule
        How statements become one row per pathology.

    Raises
    ------
    ReadingError
        Naming up to five bad rows.
    """
    outcomes = outcomes_of(frame, vocabulary=vocabulary)
    return {name: resolve(o, vocabulary=vocabulary, rule=rule) for name, o in outcomes.items()}


def outcomes_of(frame: pd.DataFrame, *, vocabulary: Vocabulary) -> dict[str, Outcome]:
    """Report → outcome, as the engine gave it but for offsets and explanations.

    Raises
    ------
    ReadingError
        Naming up to five bad rows.
    """
    rows = _rows(frame)
    _check(rows, vocabulary)
    by_report: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        by_report.setdefault(row["report_id"], []).append(row)
    return {report_id: _outcome(said) for report_id, said in by_report.items()}


def _rows(frame: pd.DataFrame) -> list[dict[str, str]]:
    names = [name for name in (*NEEDED_COLUMNS, *_OPTIONAL) if name in frame]
    text = frame[names].astype("object").fillna("").astype(str)
    blank = dict.fromkeys(_OPTIONAL, "")
    return [blank | dict(zip(names, cells, strict=True)) for cells in text.to_numpy().tolist()]


def _check(rows: Sequence[Mapping[str, str]], vocabulary: Vocabulary) -> None:
    problems = []
    for number, row in enumerate(rows, start=1):
        failed = row["outcome"] == "failed"
        if row["outcome"] not in _STATES:
            problems.append(f"row {number}: outcome {row['outcome']!r} is unknown")
        elif not failed and row["pathology"] not in vocabulary.pathologies:
            problems.append(
                f"row {number}: pathology {row['pathology']!r} is not in the vocabulary"
            )
        elif row["outcome"] == "stated" and row["phrase"] not in vocabulary.phrases:
            problems.append(f"row {number}: phrase {row['phrase']!r} is not in the vocabulary")
    if problems:
        shown = "; ".join(problems[:5])
        message = (
            f"{len(problems)} of {len(rows)} rows cannot be read: {shown}. Give the table as "
            "radcal extract wrote it, and the vocabulary it was written with."
        )
        raise ReadingError(message)


def _outcome(rows: Sequence[Mapping[str, str]]) -> Outcome:
    """Put one report's rows together; one failed row means the report failed."""
    failed = [row["reason"] for row in rows if row["outcome"] == "failed"]
    if failed:
        return Failed(next((r for r in FAILURE_REASONS if r == failed[0]), "engine error"))
    findings = tuple(
        Finding(
            section=row["section"] or "findings",
            start=0,
            end=0,
            pathology=row["pathology"],
            cue=row["cue"],
            phrase=row["phrase"] or None,
        )
        for row in rows
        if row["outcome"] in ("stated", "unmapped")
    )
    unseen = (row["pathology"] for row in rows if row["outcome"] == "not evaluable")
    return Extracted(findings, frozenset(unseen))
