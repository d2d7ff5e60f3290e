"""``radcal extract`` and its neighbours: reports in, statements or report-level rows out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from pipeline.cli.common import JsonOption, QuietOption, audit, emit
from pipeline.cli.extraction_answers import hold_against_words, keep_answers
from pipeline.cli.extraction_checks import annotate, audit_extraction, vocabulary_check
from pipeline.cli.extraction_options import (
    AnswersOption,
    ConcurrencyOption,
    ContextOption,
    DisagreementOption,
    DTypeOption,
    MemoryOption,
    MemoryShareOption,
    ModelOption,
    ParallelOption,
    PythonOption,
    QueueOption,
    ServerChoice,
    ServerOption,
    StructuredOption,
)
from pipeline.cli.extraction_pool import pool
from pipeline.cli.extraction_tables import (
    closing_model,
    named_engine,
    one_of,
    read_reports,
    run_answers,
)
from pipeline.errors import EXIT_QUARANTINED

if TYPE_CHECKING:
    from extraction.engines.model import ModelEngine
    from extraction.finding import Outcome
    from extraction.resolution import ResolutionRule
    from extraction.rules import RuleEngine

__all__ = ["register"]

_LEVELS: Final = ("statement", "report")
_RULES: Final = ("impression first", "strongest", "last")


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("extract")(extract)
    app.command("pool")(pool)
    app.command("annotate")(annotate)
    vocabulary = typer.Typer(help="Look after the word lists.")
    vocabulary.command("check")(vocabulary_check)
    app.add_typer(vocabulary, name="vocabulary")
    audit.command("extraction")(audit_extraction)


def extract(
    reports: Annotated[
        Path, typer.Argument(help="CSV, Parquet or JSONL: report_id, modality, text.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Findings table to write.")],
    engine: Annotated[str, typer.Option(help="rules, vllm, transformers or server.")] = "rules",
    server: ServerOption = None,
    model: ModelOption = None,
    structured: StructuredOption = None,
    context_tokens: ContextOption = 8192,
    concurrency: ConcurrencyOption = 16,
    python: PythonOption = None,
    dtype: DTypeOption = "auto",
    tensor_parallel: ParallelOption = 1,
    memory_share: MemoryShareOption = 0.9,
    remember: MemoryOption = None,
    level: Annotated[
        str, typer.Option(help="statement: every statement; report: one row per stated pathology.")
    ] = "statement",
    rule: Annotated[
        str, typer.Option(help="Report level: impression first, strongest, or last.")
    ] = "impression first",
    every_state: Annotated[
        bool, typer.Option("--every-state", help="Report level: also what was not stated, and why.")
    ] = False,
    vocabulary: Annotated[
        Path | None, typer.Option(help="Folder with vocabulary files of your own.")
    ] = None,
    answers: AnswersOption = None,
    queue: QueueOption = None,
    max_disagreement: DisagreementOption = 0.2,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print each text with cue, scope and decision.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Read statements about pathologies, with their words of certainty, out of reports."""
    from extraction.tables import report_table, statement_table
    from pipeline.formats.tables import write_table

    one_of("--level", level, _LEVELS)
    one_of("--rule", rule, _RULES)
    choice = ServerChoice(
        server, model, structured, context_tokens, concurrency, python, dtype, tensor_parallel,
        memory_share, remember,
    )  # fmt: skip
    reader = named_engine(engine, server=choice, vocabulary=vocabulary)
    frame = read_reports(reports)
    with closing_model(reader):
        read = run_answers(reader, frame)
    outcomes = [answer.outcome for answer in read]
    ids = frame["report_id"].astype(str).tolist()
    keep_answers(ids, read, answers=answers, queue=queue)
    hold_against_words(read, limit=max_disagreement)
    if level == "report":
        chosen = cast("ResolutionRule", rule)
        table = report_table(
            ids, outcomes, vocabulary=reader.vocabulary, rule=chosen, every_state=every_state
        )
    else:
        table = statement_table(ids, frame["text"].tolist(), outcomes)
    write_table(table.assign(engine=reader.name, engine_version=reader.version), out)
    if explain:
        _explain(ids, frame["text"].tolist(), outcomes)
    counts = _counts(outcomes, len(table)) | _asked(reader)
    emit(counts, as_json=as_json, quiet=quiet)
    if counts["failed"]:
        raise typer.Exit(EXIT_QUARANTINED)


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


def _asked(reader: RuleEngine | ModelEngine) -> dict[str, object]:
    """Give what a model was asked and what of its answers was left out; rules ask nobody."""
    counts = getattr(reader, "counts", None)
    return {} if counts is None else counts()


def _explain(ids: Sequence[str], texts: Sequence[object], outcomes: Sequence[Outcome]) -> None:
    from extraction.explain import explain

    for report_id, text, outcome in zip(ids, texts, outcomes, strict=True):
        typer.echo(f"== {report_id}")
        for line in explain(str(text), outcome):
            typer.echo(line)
