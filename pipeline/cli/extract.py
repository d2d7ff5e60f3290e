"""``radcal extract`` and its neighbours: reports in, statements or report-level rows out.

What a model answered is kept beside the findings, and a gate holds it against the words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import typer

from pipeline.cli.common import Output, argument, audit, flag, one_of, option, taking
from pipeline.cli.extraction_checks import (
    annotate,
    audit_extraction,
    vocabulary_check,
    vocabulary_list,
)
from pipeline.cli.extraction_shared import (
    Held,
    ModelChoice,
    VocabularyOption,
    closing_model,
    named_engine,
    read_reports,
    run_answers,
)
from pipeline.cli.pool import pool
from pipeline.errors import ConfigurationError, GateFailedError

if TYPE_CHECKING:
    import pandas as pd

    from extraction.engines.account import Answer
    from extraction.engines.model import ModelEngine
    from extraction.finding import Outcome
    from extraction.resolution import ResolutionRule
    from extraction.rules.engine import RuleEngine

_LEVELS: Final = ("statement", "report")
_RULES: Final = ("impression first", "strongest", "last")


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("extract")(taking(extract))
    app.command("pool")(taking(pool))
    app.command("annotate")(taking(annotate))
    vocabulary = typer.Typer(help="Look after the word lists.")
    vocabulary.command("check")(taking(vocabulary_check))
    vocabulary.command("list")(taking(vocabulary_list))
    app.add_typer(vocabulary, name="vocabulary")
    audit.command("extraction")(taking(audit_extraction))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Options of ``radcal extract``."""

    reports: Path = argument(..., "CSV, Parquet or JSONL: report_id, modality, text.")
    out: Path = option(..., "Findings table to write.")
    engine: str = option("rules", "rules, vllm, transformers, server or replay.")
    choice: ModelChoice
    remember: Path | None = option(
        None,
        "Keep a model's outcomes here by content hash: a command run again asks only what is "
        "new. Holds no text.",
        metavar="FILE",
    )
    level: str = option(
        "statement", "statement: every statement; report: one row per stated pathology."
    )
    rule: str = option("impression first", "Report level: impression first, strongest, or last.")
    every_state: bool = flag("--every-state", "Report level: also what was not stated, and why.")
    vocabulary: VocabularyOption = None
    held: Held
    doubts: Path | None = option(
        None,
        "Engine rules: also write the sentences in doubt, about which --guided would ask a "
        "model; no report text.",
        metavar="FILE",
    )
    explain: bool = flag("--explain", "Print each text with cue, scope and decision.")
    output: Output


def extract(given: Given) -> None:
    """Read statements about pathologies, with their words of certainty, out of reports."""
    from extraction.rules.engine import RuleEngine
    from pipeline.formats.tables import write_table

    one_of("--level", given.level, _LEVELS)
    one_of("--rule", given.rule, _RULES)
    reader = named_engine(
        given.engine, given.choice, vocabulary=given.vocabulary, remember=given.remember
    )
    frame = read_reports(given.reports)
    ids, texts = frame["report_id"].astype(str).tolist(), frame["text"].tolist()
    doubts = keep_doubts(reader, ids, texts, given.doubts) if given.doubts else {}
    with closing_model(reader):
        read = run_answers(reader, frame, given.output)
    outcomes = [answer.outcome for answer in read]
    keep_answers(ids, read, given.held)
    hold_against_words(read, limit=given.held.max_disagreement)
    table = _table(given, ids, texts, outcomes, reader)
    named = table.pop("read_by").replace("", reader.name)
    write_table(table.assign(engine=named, engine_version=reader.version), given.out)
    if given.explain:
        _explain(ids, texts, outcomes)
    asked = {} if isinstance(reader, RuleEngine) else reader.counts()
    counts = _counts(outcomes, len(table)) | asked | doubts
    given.output.tell(counts, set_aside=counts["failed"])


def _table(
    given: Given,
    ids: Sequence[str],
    texts: Sequence[object],
    outcomes: Sequence[Outcome],
    reader: RuleEngine | ModelEngine,
) -> pd.DataFrame:
    from extraction.tables import report_table, statement_table

    if given.level == "statement":
        return statement_table(ids, texts, outcomes)
    rule = cast("ResolutionRule", given.rule)
    return report_table(
        ids, outcomes, vocabulary=reader.vocabulary, rule=rule, every_state=given.every_state
    )


def _counts(outcomes: Sequence[Outcome], rows: int) -> dict[str, object]:
    from extraction.finding import Extracted, Failed, NothingStated

    kinds = Counter(type(outcome) for outcome in outcomes)
    reasons = Counter(outcome.reason for outcome in outcomes if isinstance(outcome, Failed))
    unmapped = Counter(
        finding.cue.lower()
        for outcome in outcomes
        if isinstance(outcome, Extracted)
        for finding in outcome.findings
        if finding.phrase is None
    )
    return {
        "reports": len(outcomes),
        "with_findings": kinds[Extracted],
        "nothing_stated": kinds[NothingStated],
        "failed": kinds[Failed],
        "failed_by_reason": dict(reasons),
        "unmapped_statements": unmapped.total(),
        "unmapped_cues": dict(unmapped.most_common(20)),
        "rows": rows,
    }


def _explain(ids: Sequence[str], texts: Sequence[object], outcomes: Sequence[Outcome]) -> None:
    from extraction.tables import explain

    for report_id, text, outcome in zip(ids, texts, outcomes, strict=True):
        typer.echo(f"== {report_id}")
        for line in explain(str(text), outcome):
            typer.echo(line)


def keep_answers(ids: Sequence[str], read: Sequence[Answer], held: Held) -> None:
    """Write the lines of all answers, and the queue for review, where they are asked for."""
    from extraction.tables import answer_table, queue_table
    from pipeline.formats.tables import write_table

    if held.answers is not None:
        write_table(answer_table(ids, read), held.answers)
    if held.queue is not None:
        write_table(queue_table(ids, read), held.queue)


def hold_against_words(read: Sequence[Answer], *, limit: float) -> None:
    """Pass the gate on disagreement.

    Raises
    ------
    GateFailedError
        If model and vocabulary part over a larger share than is allowed.
    """
    from extraction.engines.account import Disagreement

    found = sum((answer.disagreement for answer in read), Disagreement())
    if found.share is not None and found.share > limit:
        raise GateFailedError(
            f"the model and the vocabulary part over {found.parted:,} of {found.compared:,} "
            f"statements and sentences ({found.share:.1%}; allowed {limit:.1%}): "
            f"{found.unsupported:,} not carried by the quoted words, {found.contradicted:,} "
            f"contradicted by them, {found.uncovered:,} sentences that state something and have "
            "no line. No findings were written; see --answers and --queue, or raise "
            "--max-disagreement if people found the model right."
        )


def keep_doubts(
    reader: RuleEngine | ModelEngine, ids: Sequence[str], texts: Sequence[str], path: Path
) -> dict[str, object]:
    """Write the sentences in which the rules are in doubt, and count what a model would be asked.

    Raises
    ------
    ConfigurationError
        If a model reads, and not the rules.
    """
    from extraction.engines.witness import guided
    from extraction.rules.engine import RuleEngine
    from extraction.tables import doubt_table
    from pipeline.formats.tables import write_table

    if not isinstance(reader, RuleEngine):
        raise ConfigurationError(
            "--doubts says where the rules are in doubt; it belongs to --engine rules."
        )
    read = guided(reader, texts)
    write_table(doubt_table(ids, read), path)
    why = sum((Counter(each.counted) for each in read), Counter[str]())
    asked = sum(bool(each.doubts) for each in read)
    return {
        "reports_in_doubt": asked,
        "reports_in_doubt_share": round(asked / len(read), 4),
        "sentences_that_name_a_pathology": sum(each.sentences for each in read),
        "sentences_in_doubt": dict(why),
    }
