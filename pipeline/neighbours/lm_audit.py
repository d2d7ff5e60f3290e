"""``radcal lm audit``: how sure a model is of what was read in reports, against their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.extraction_audit import gold_reports, outcomes_of
from pipeline.cli.extraction_options import ModelChoice
from pipeline.cli.extraction_tables import closing_model, named_engine, one_of, rule_engine
from pipeline.cli.options import Output
from pipeline.errors import EXIT_QUARANTINED, InputError
from pipeline.neighbours.lm_engine import CacheOption, EngineOption, completer
from pipeline.neighbours.lm_rows import PhrasesOption, Words, answers_table, refuse_silence, words

if TYPE_CHECKING:
    from extraction.neighbours.elicitation import Elicited, Prompter
    from extraction.neighbours.elicitation.asking import RememberingCompleter
    from extraction.neighbours.elicitation.run import Claim

__all__ = ["audit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditGiven:
    """Options of ``radcal lm audit``."""

    gold: Annotated[Path, typer.Argument(help="Labelled reports, one JSON per line.")]
    out: Annotated[Path, typer.Option(help="Answers, one row per finding.")]
    engine: EngineOption = "server"
    choice: ModelChoice
    reader: Annotated[str, typer.Option(help="Who reads the reports: the model, or rules.")] = (
        "model"
    )
    form: Annotated[str, typer.Option(help="probability, phrase, beta or own-phrase.")] = (
        "probability"
    )
    phrases: PhrasesOption = "probability-words"
    cache: CacheOption = None
    output: Output


def audit(given: AuditGiven) -> None:
    """Ask a model how sure it is of every finding read in labelled reports.

    The reader's findings are taken at report level; one is right if the labels give the same
    phrase to the same pathology. ``radcal lm calibrate`` on the answers says whether the model's
    certainty about its own reading can be believed. Reports that could not be read, and
    confidences that could not, are counted (exit code 3).
    """
    from extraction.neighbours.elicitation import FORMS, Prompter
    from extraction.neighbours.elicitation.run import claims_of
    from pipeline.formats.tables import write_table

    one_of("--reader", given.reader, ("model", "rules"))
    one_of("--form", given.form, FORMS)
    extractor = (
        rule_engine(None)
        if given.reader == "rules"
        else named_engine(given.engine, given.choice, vocabulary=None)
    )
    reports = gold_reports(given.gold, extractor.vocabulary)
    with closing_model(extractor):
        outcomes = outcomes_of(extractor, reports)
    claims, failed = claims_of(reports, outcomes, extractor.vocabulary)
    if not claims:
        msg = f"{given.gold.name}: no finding was read in {len(reports)} reports ({failed} failed)."
        raise InputError(msg)
    kept = given.cache or given.out.with_name(f"{given.out.name}.replies")
    prompter = Prompter()
    with completer(given.engine, given.choice, kept) as answerer:
        rows = _asked(claims, given, answerer, prompter)
        name = answerer.name
    refuse_silence(rows, name)
    table = answers_table(rows, model=name, prompts=prompter.digest)
    write_table(table, given.out)
    reasons = Counter(str(row.reason) for row, _ in rows if row.reason)
    summary: dict[str, object] = {
        "reports": len(reports),
        "reports_failed": failed,
        "findings": len(claims),
        "right": sum(one.right for one in claims),
        "confidence_not_read": dict(reasons) or "none",
        "answers": str(given.out),
    }
    given.output.tell(summary)
    if failed or reasons:
        raise typer.Exit(EXIT_QUARANTINED)


def _asked(
    claims: Sequence[Claim],
    given: AuditGiven,
    answerer: RememberingCompleter,
    prompter: Prompter,
) -> list[tuple[Elicited, Words]]:
    """Ask how likely each claim is to be right, and set what the labels say beside the answer."""
    from extraction.neighbours.elicitation.run import put, with_truth

    offered = words(given.form, given.phrases, answerer, prompter)  # type: ignore[arg-type]
    if isinstance(offered, str):
        msg = f"--form {given.form}: the model gave no phrases of its own ({offered})."
        raise InputError(msg)
    asked = [
        prompter.claim(one.report, one.statement, given.form, phrases=offered.phrases)  # type: ignore[arg-type]
        for one in claims
    ]
    names = [one.item for one in claims]
    found = put(names, asked, completer=answerer, phrases=offered.phrases)
    return [(with_truth(row, one), offered) for row, one in zip(found, claims, strict=True)]
