"""Coded exams → what each report says: findings as stated, and one row a pathology once resolved.

Four tables. ``findings``: every statement. ``report_findings``: each pathology a report mentions,
after resolution. ``readings``: one row a report, read or failed with a reason, and whether its
text recommends a CT. A report in
``readings`` as read, without a row in ``report_findings`` for a pathology, does not mention it;
a failed report says nothing about any. ``answers``: what a language model wrote, line by line and
without the report's words, and what became of it; no rows where the rules read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from extraction.certainty import recommends_ct
from extraction.engines.account import Answer, Disagreement, answers_of
from extraction.finding import Engine, Extracted, Failed, Outcome
from extraction.resolution import resolve
from extraction.tables import answer_table
from extraction.vocabulary import Vocabulary

__all__ = ["Readings", "read_reports"]

_FINDINGS = (
    "exam_key", "section", "start", "end", "pathology", "cue", "phrase", "outcome", "engine",
    "engine_version",
)  # fmt: skip
_RESOLVED = ("exam_key", "pathology", "phrase", "outcome", "reason")


@dataclass(frozen=True, slots=True)
class Readings:
    """The four tables of one shard, and how far a model and the vocabulary part in it."""

    findings: pd.DataFrame
    report_findings: pd.DataFrame
    answers: pd.DataFrame
    readings: pd.DataFrame
    disagreement: Disagreement


def read_reports(exams: pd.DataFrame, *, engine: Engine, vocabulary: Vocabulary) -> Readings:
    """Run an engine over a shard and resolve its findings to one per report and pathology.

    Parameters
    ----------
    exams
        ``exam_key, modality, text``.
    """
    answers: dict[str, Answer] = {}
    for modality, group in exams.groupby("modality", sort=True):
        texts: Sequence[str] = group["text"].tolist()
        read = answers_of(engine, texts, modality="CT" if modality == "CT" else "XR")
        answers.update(zip(group["exam_key"], read, strict=True))
    ordered = [(key, answers[key].outcome) for key in exams["exam_key"]]
    lines = answer_table(list(answers), list(answers.values()))
    return Readings(
        pd.DataFrame(
            [
                (*row, engine.version)
                for key, outcome in ordered
                for row in _statements(key, outcome, engine.name)
            ],
            columns=list(_FINDINGS),
        ),
        pd.DataFrame(
            [row for key, outcome in ordered for row in _resolved(key, outcome, vocabulary)],
            columns=list(_RESOLVED),
        ),
        lines.rename(columns={"report_id": "exam_key"}),
        pd.DataFrame(
            [
                (*_reading(key, outcome), recommends_ct(text))
                for (key, outcome), text in zip(ordered, exams["text"], strict=True)
            ],
            columns=["exam_key", "outcome", "reason", "recommends_ct"],
        ),
        sum((answer.disagreement for answer in answers.values()), Disagreement()),
    )


def _statements(key: str, outcome: Outcome, engine: str) -> list[tuple[object, ...]]:
    if not isinstance(outcome, Extracted):
        return []
    return [
        (key, f.section, f.start, f.end, f.pathology, f.cue, f.phrase,
         "stated" if f.phrase is not None else "unmapped", f.read_by or engine)
        for f in outcome.findings
    ]  # fmt: skip


def _resolved(key: str, outcome: Outcome, vocabulary: Vocabulary) -> list[tuple[object, ...]]:
    if isinstance(outcome, Failed):
        return []
    return [
        (key, f.pathology, f.phrase, f.outcome, f.reason)
        for f in resolve(outcome, vocabulary=vocabulary).values()
        if f.outcome != "not mentioned"
    ]


def _reading(key: str, outcome: Outcome) -> tuple[str, str, str]:
    if isinstance(outcome, Failed):
        return key, "failed", outcome.reason
    return key, "read", ""
