"""From statements to one row per pathology: section rank first, then the strongest certainty.

A statement in the impression outranks all others; within the outranking section the strongest
certainty wins ("No right effusion. Small left effusion." is present). The order of certainty is the
vocabulary's. Statements are kept by the caller; nothing is lost here. A findings table that was
written at either level is read back to the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

import pandas as pd

from extraction.errors import ExtractionError
from extraction.finding import FAILURE_REASONS, IMPRESSION, Extracted, Failed, Finding, Outcome
from extraction.vocabulary import Vocabulary

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
    read_by
        As in `extraction.finding.Finding`.
    """

    pathology: str
    phrase: str | None
    outcome: State
    reason: str = ""
    read_by: str = ""


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
        return [f for f in findings if f.section == IMPRESSION] or findings
    return findings


def _resolved(
    name: str, findings: Sequence[Finding], strength: dict[str, int], rule: ResolutionRule
) -> ReportFinding:
    """Resolve one pathology: what has no phrase was not denied, and outranks only a denial."""
    mapped = [f for f in findings if f.phrase is not None]
    denied = all(strength[f.phrase or ""] == 0 for f in mapped)
    if denied and len(mapped) < len(findings) and (rule != "last" or not mapped):
        unknown = next(f for f in reversed(findings) if f.phrase is None)
        return ReportFinding(name, None, "unmapped", unknown.cue, unknown.read_by)
    chosen = mapped[-1] if rule == "last" else max(mapped, key=lambda f: strength[f.phrase or ""])
    return ReportFinding(name, chosen.phrase, "stated", chosen.cue, chosen.read_by)


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
    frame: pd.DataFrame, *, vocabulary: Vocabulary
) -> dict[str, dict[str, ReportFinding]]:
    """Report → pathology → what is said of it, for every report that has a row.

    Parameters
    ----------
    frame
        Columns `NEEDED_COLUMNS`; with ``section`` the rows are statements and are resolved.
    vocabulary
        The vocabulary it was written with.

    Raises
    ------
    ReadingError
        Naming up to five bad rows.
    """
    outcomes = outcomes_of(frame, vocabulary=vocabulary)
    return {name: resolve(o, vocabulary=vocabulary) for name, o in outcomes.items()}


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
        if row["outcome"] not in _STATES:
            problems.append(f"row {number}: outcome {row['outcome']!r} is unknown")
        elif row["outcome"] != "failed":
            phrase = row["phrase"] if row["outcome"] == "stated" else vocabulary.phrases[0]
            unknown = vocabulary.unknown(pathology=row["pathology"], phrase=phrase)
            problems += [f"row {number}: {problem}" for problem in unknown[:1]]
    if problems:
        shown = "; ".join(problems[:5])
        raise ReadingError(
            f"{len(problems)} of {len(rows)} rows cannot be read: {shown}. Give the table as "
            "radcal extract wrote it, and the vocabulary it was written with."
        )


def _outcome(rows: Sequence[Mapping[str, str]]) -> Outcome:
    """Put one report's rows together; one failed row means the report failed."""
    failed = [row["reason"] for row in rows if row["outcome"] == "failed"]
    if failed:
        return Failed(next((r for r in FAILURE_REASONS if r == failed[0]), "engine error"))
    findings = tuple(
        Finding(
            row["section"] or "findings", 0, 0, row["pathology"], row["cue"], row["phrase"] or None
        )
        for row in rows
        if row["outcome"] in ("stated", "unmapped")
    )
    unseen = (row["pathology"] for row in rows if row["outcome"] == "not evaluable")
    return Extracted(findings, frozenset(unseen))
