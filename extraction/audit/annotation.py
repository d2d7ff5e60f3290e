"""Review sheets: an engine proposes, a person corrects, and the corrected sheet becomes gold.

The sheet has one row per proposed statement; the reviewer fills ``correct_pathology`` and
``correct_phrase`` (or ``delete`` in ``verdict``), and adds rows for what was missed. Every report
has at least one row, so that a report nobody looked at can be told from one without findings:
``verdict`` must be filled somewhere in each report that is to become gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from extraction.audit.gold import GoldError, GoldFinding, GoldReport
from extraction.finding import Extracted, Failed, Outcome
from extraction.vocabulary import Vocabulary

COLUMNS: Final = (
    "report_id", "modality", "section", "sentence", "pathology", "cue", "phrase", "verdict",
    "correct_pathology", "correct_phrase", "text",
)  # fmt: skip
VERDICTS: Final = ("ok", "change", "delete", "add", "none")
"""Right as it stands; see the correct_ columns; no such statement; a missed one; nothing stated."""


def sheet(
    report_ids: Sequence[str],
    modalities: Sequence[str],
    texts: Sequence[str],
    outcomes: Sequence[Outcome],
) -> Iterator[tuple[str, ...]]:
    """Yield rows of a review sheet; the text stands in the first row of each report."""
    for report_id, modality, text, outcome in zip(
        report_ids, modalities, texts, outcomes, strict=True
    ):
        shown = text
        for section, sentence, pathology, cue, phrase in _proposals(text, outcome):
            row = (report_id, modality, section, sentence, pathology, cue, phrase)
            yield (*row, "", "", "", shown)
            shown = ""


def gold_from_sheet(
    rows: Sequence[Mapping[str, str]], *, vocabulary: Vocabulary, partial: bool = False
) -> list[GoldReport]:
    """Turn a corrected sheet into labelled reports.

    Parameters
    ----------
    rows
        The sheet, in columns `COLUMNS`.
    vocabulary
        Its pathologies, phrases and sections are the ones that may be used.
    partial
        Leave out reports without any verdict, instead of refusing the sheet.

    Raises
    ------
    GoldError
        If a verdict, section, pathology or phrase is unknown, a label belongs to no report of the
        sheet, or a report has a text but no verdict at all.
    """
    problems: list[str] = []
    labels: dict[str, dict[tuple[str, str], GoldFinding]] = {}
    strength = {phrase: rank for rank, phrase in enumerate(vocabulary.phrases)}
    facts = {row["report_id"]: (row["modality"], row["text"]) for row in rows if row["text"]}
    judged = {row["report_id"] for row in rows if _verdict(row)}
    for number, row in enumerate(rows, start=1):
        label = _label(row)
        problem = _problem(label, row, vocabulary)
        if not problem and label is not None and row["report_id"] not in facts:
            problem = "its report_id stands beside no text in this sheet"
        if problem:
            problems.append(f"row {number}: {problem}")
        elif label is not None:
            cells = labels.setdefault(row["report_id"], {})
            before = cells.setdefault((label.section, label.pathology), label)
            if strength[label.phrase] >= strength[before.phrase]:
                cells[label.section, label.pathology] = label
    unjudged = len(facts.keys() - judged)
    if partial:
        facts = {name: fact for name, fact in facts.items() if name in judged}
    elif unjudged:
        problems.append(f"{unjudged} report(s) without any verdict")
    if problems:
        shown = "; ".join(problems[:5])
        raise GoldError(
            f"the sheet has {len(problems)} problem(s): {shown}. Correct them and read it again."
        )
    return [_report(name, *fact, labels.get(name, {}).values()) for name, fact in facts.items()]


def _proposals(text: str, outcome: Outcome) -> Iterator[tuple[str, str, str, str, str]]:
    if isinstance(outcome, Extracted):
        for found in outcome.findings:
            sentence = " ".join(text[found.start : found.end].split())
            yield found.section, sentence, found.pathology, found.cue, found.phrase or ""
    else:
        yield "", f"failed: {outcome.reason}" if isinstance(outcome, Failed) else "", "", "", ""


def _verdict(row: Mapping[str, str]) -> str:
    return row["verdict"].strip().lower()


def _label(row: Mapping[str, str]) -> GoldFinding | None:
    if _verdict(row) in {"delete", "none"} or not (row["pathology"] or row["correct_pathology"]):
        return None
    return GoldFinding(
        section=row["section"] or "findings",
        pathology=row["correct_pathology"] or row["pathology"],
        phrase=row["correct_phrase"] or row["phrase"],
    )


def _problem(label: GoldFinding | None, row: Mapping[str, str], vocabulary: Vocabulary) -> str:
    verdict = _verdict(row)
    if verdict not in (*VERDICTS, ""):
        return f"verdict {verdict!r} is none of {', '.join(VERDICTS)}"
    if label is None:
        return ""
    if verdict == "change" and not (row["correct_pathology"] or row["correct_phrase"]):
        return "verdict 'change' without a correct_pathology or correct_phrase"
    if label.section not in {entry.name for entry in vocabulary.sections if entry.read}:
        return f"section {label.section!r} is none that is read"
    unknown = vocabulary.unknown(pathology=label.pathology, phrase=label.phrase)
    return unknown[0] if unknown else ""


def _report(
    report_id: str, modality: str, text: str, findings: Iterable[GoldFinding]
) -> GoldReport:
    return GoldReport.model_validate(
        {"report_id": report_id, "modality": modality, "text": text, "findings": tuple(findings)}
    )
