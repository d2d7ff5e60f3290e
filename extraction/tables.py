"""Outcomes as table rows: for people and other programs, and for the stage that reads a block.

A report that could not be processed is a row of its own with ``outcome = failed`` and the reason;
a pathology nobody mentioned is no row; neither can be read as "absent". `explain` writes the same
for the eye, with the words that decided.

Four tables. ``findings``: every statement. ``report_findings``: each pathology a report mentions,
after resolution. ``readings``: one row a report, read or failed with a reason, and whether its
text recommends a CT. A report in
``readings`` as read, without a row in ``report_findings`` for a pathology, does not mention it;
a failed report says nothing about any. ``answers``: what a language model wrote, line by line and
without the report's words, and what became of it; no rows where the rules read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from extraction.certainty import recommends_ct
from extraction.engines.account import Answer, Disagreement, answers_of
from extraction.engines.witness import Guided
from extraction.finding import Engine, Extracted, Failed, Finding, Outcome
from extraction.resolution import DEFAULT_RULE, ResolutionRule, resolve
from extraction.vocabulary import Vocabulary

STATEMENT_COLUMNS: Final = (
    "report_id", "section", "start", "end", "sentence", "pathology", "cue", "phrase", "outcome",
    "reason", "mention", "read_by",
)  # fmt: skip
REPORT_COLUMNS: Final = ("report_id", "pathology", "cue", "phrase", "outcome", "reason", "read_by")

ANSWER_COLUMNS: Final = (
    "report_id", "attempt", "line", "became", "start", "end", "pathology", "certainty", "written",
    "margin",
)  # fmt: skip
DOUBT_COLUMNS: Final = ("report_id", "section", "start", "end", "doubt")
QUEUE_COLUMNS: Final = (
    "report_id", "outcome", "reason", "statements", "unsupported", "contradicted", "uncovered",
    "lines_left_out", "first_answer_failed", "margin",
)  # fmt: skip


NARROW: Final = 1.0
"""A margin below which a certainty wants a person's look: odds of less than e to 1, in nats."""


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
    name the pathology, empty for engines that cannot say; ``read_by`` the engine that read it,
    empty where one engine reads them all.
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
         row.outcome, "" if row.outcome in _CUED else row.reason, row.read_by)
        for report_id, outcome in zip(report_ids, outcomes, strict=True)
        for row in resolve(outcome, vocabulary=vocabulary, rule=rule).values()
        if every_state or row.outcome == "stated"
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(REPORT_COLUMNS))


def answer_table(report_ids: Sequence[str], answers: Sequence[Answer]) -> pd.DataFrame:
    """One row per line of what a model answered; it holds no text of a report.

    Returns
    -------
    Columns `ANSWER_COLUMNS`: ``became`` is the vocabulary's verdict or why the line was left out,
    ``start`` and ``end`` the quoted words as offsets, both 0 where they stand nowhere, ``written``
    the line with every word unknown to the vocabulary as ``_``, ``margin`` how sure the model was.
    """
    rows = [
        (report_id, line.attempt, number, line.became, line.start, line.end, line.pathology,
         line.certainty, line.written, line.margin)
        for report_id, answer in zip(report_ids, answers, strict=True)
        for number, line in enumerate(answer.lines, start=1)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(ANSWER_COLUMNS)).astype({"margin": "float64"})


def queue_table(report_ids: Sequence[str], answers: Sequence[Answer]) -> pd.DataFrame:
    """List the reports whose answers want a person to look, the most doubtful first.

    Returns
    -------
    Columns `QUEUE_COLUMNS`. A report is listed when its answer failed, when the answer and the
    vocabulary part over a statement or a sentence, when a line was left out, or when the model was
    hardly surer of a certainty than of another (`NARROW`). Failures stand first; then, where rules
    guide the model, the smaller margin; then the larger share of disagreement.
    """
    doubtful = [
        (report_id, answer)
        for report_id, answer in zip(report_ids, answers, strict=True)
        if isinstance(answer.outcome, Failed)
        or answer.disagreement.parted
        or answer.rejected
        or (answer.margin is not None and answer.margin < NARROW)
    ]
    doubtful.sort(key=lambda pair: pair[1].doubt, reverse=True)
    rows = [(report_id, *_doubt(answer)) for report_id, answer in doubtful]
    return pd.DataFrame(rows, columns=list(QUEUE_COLUMNS)).astype({"margin": "float64"})


def doubt_table(report_ids: Sequence[str], read: Sequence[Guided]) -> pd.DataFrame:
    """List the sentences in which the rules are in doubt, by their place; no text of a report.

    Returns
    -------
    Columns `DOUBT_COLUMNS`.
    """
    rows = [
        (report_id, place.section, place.start, place.end, why)
        for report_id, each in zip(report_ids, read, strict=True)
        for place, why in each.doubts.items()
    ]
    return pd.DataFrame(rows, columns=list(DOUBT_COLUMNS))


def _doubt(answer: Answer) -> tuple[object, ...]:
    failed = answer.outcome.reason if isinstance(answer.outcome, Failed) else ""
    apart = answer.disagreement
    return (
        "failed" if failed else "read", failed, answer.statements, apart.unsupported,
        apart.contradicted, apart.uncovered, sum(answer.rejected.values()), answer.earlier,
        answer.margin,
    )  # fmt: skip


_CUED: Final = ("stated", "unmapped")


def _statements(report_id: str, text: object, outcome: Outcome) -> Iterator[tuple[object, ...]]:
    if isinstance(outcome, Failed):
        yield report_id, "", None, None, "", "", "", "", "failed", outcome.reason, "", ""
    elif isinstance(outcome, Extracted):
        whole = str(text)
        for found in outcome.findings:
            state = "unmapped" if found.phrase is None else "stated"
            yield (
                report_id, found.section, found.start, found.end, whole[found.start : found.end],
                found.pathology, found.cue, found.phrase or "", state, "", _mention(whole, found),
                found.read_by,
            )  # fmt: skip


def _mention(text: str, found: Finding) -> str:
    why = found.explanation
    return "" if why is None else text[why.mention_start : why.mention_end]


def explain(text: str, outcome: Outcome) -> Iterator[str]:
    """Lines that show each sentence with its mentions, cues, scopes and decisions.

    Parameters
    ----------
    text
        The report, as given to the engine.
    outcome
        What the engine returned for it.
    """
    if isinstance(outcome, Failed):
        yield f"failed: {outcome.reason}"
        return
    if outcome.not_evaluable:
        yield f"not evaluable: {', '.join(sorted(outcome.not_evaluable))}"
    if not isinstance(outcome, Extracted):
        yield "nothing stated about any pathology of the vocabulary"
        return
    sentence = (-1, -1)
    for finding in outcome.findings:
        if (finding.start, finding.end) != sentence:
            sentence = (finding.start, finding.end)
            yield f"[{finding.section}] {' '.join(text[slice(*sentence)].split())}"
        yield f"    {_line(text, finding)}"


def _line(text: str, finding: Finding) -> str:
    said = f"{finding.pathology}: {finding.phrase or 'unmapped'}"
    why = finding.explanation
    if why is None:
        return said
    mention = " ".join(text[why.mention_start : why.mention_end].split())
    scope = " ".join(text[why.scope_start : why.scope_end].split())
    cue = f"cue '{' '.join(finding.cue.split())}'" if finding.cue else "no cue"
    return f"{said}  <- '{mention}', {cue}, scope '{scope}', rule: {why.rule}"


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
                for row in _stated(key, outcome, engine.name)
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


def _stated(key: str, outcome: Outcome, engine: str) -> list[tuple[object, ...]]:
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
