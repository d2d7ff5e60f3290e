"""``radcal lm elicit`` and ``audit``: ask a model how sure it is, of answers or of what it read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pipeline.cli.common import Output, argument, flag, option
from pipeline.cli.extraction_shared import (
    closing_model,
    gold_reports,
    named_engine,
    one_of,
    outcomes_of,
    rule_engine,
)
from pipeline.errors import EXIT_QUARANTINED, InputError
from pipeline.neighbours.lm_engine import (
    Asking,
    Words,
    answers_table,
    refuse_silence,
    summed_up,
    words,
)

if TYPE_CHECKING:
    from extraction.neighbours.forms import Form, Judge, Prompter
    from extraction.neighbours.questions import Question, RememberingCompleter
    from extraction.neighbours.run import Claim, Elicited

FormOption = Annotated[
    list[str] | None,
    typer.Option(
        "--form",
        help="probability, phrase, beta or own-phrase; repeat for several. Default: all four.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitGiven:
    """Options of ``radcal lm elicit``."""

    questions: Path = argument(..., "JSON lines: SciQ, TruthfulQA, or question with answers.")
    out: Path = option(..., "Answers, one row per question and form.")
    asking: Asking
    form: FormOption = None
    choose: bool = flag("--choose", "Offer the wrong answers as options beside a right one.")
    judge: str = option("match", "match: equal words are right; model: a model judges the others.")
    judge_model: str | None = option(None, "Model that judges; default the model that answers.")
    output: Output


def elicit(given: ElicitGiven) -> None:
    """Ask a model questions and how sure it is of its answers, in four forms.

    Lines that are no question, answers that cannot be read and questions that got no reply are
    counted by reason (exit code 3), never taken as wrong. Run again to go on after an interruption;
    nothing is asked twice. See docs/neighbours.md.
    """
    from extraction.neighbours.forms import Judge, Prompter
    from extraction.neighbours.questions import load_questions
    from pipeline.formats.tables import write_table

    one_of("--judge", given.judge, ("match", "model"))
    _forms(given.form)
    asked, problems = load_questions(given.questions)
    if given.choose:
        asked, lonely = _with_options(asked)
        problems += lonely
    for problem in problems if not given.output.quiet else ():
        typer.echo(f"{given.questions.name}: {problem}; left out", err=True)
    prompter = Prompter()
    with given.asking.completer(given.out) as answerer:
        if given.judge == "model" and given.judge_model:
            with given.asking.completer(given.out, model=given.judge_model) as judging:
                rows, missing = _asked(given, asked, answerer, prompter, Judge(judging, prompter))
        else:
            by = Judge(answerer, prompter) if given.judge == "model" else None
            rows, missing = _asked(given, asked, answerer, prompter, by)
        name = answerer.name
    refuse_silence(rows, name)
    table = answers_table(rows, model=name, prompts=prompter.digest)
    write_table(table, given.out)
    summary = summed_up(rows, len(asked), len(problems), missing) | {
        "put_to_the_model": answerer.asked,
        "answers": str(given.out),
    }
    given.output.tell(summary)
    if problems or missing or table["correct"].isna().any():
        raise typer.Exit(EXIT_QUARANTINED)


def _with_options(questions: Sequence[Question]) -> tuple[list[Question], list[str]]:
    """Keep questions that have a wrong answer to offer; one option alone would be no question."""
    kept = [question for question in questions if question.wrong]
    if not kept:
        msg = "--choose: no question has a wrong answer to offer beside the right one."
        raise InputError(msg)
    lonely = [f"{q.question_id}: no wrong answer to offer" for q in questions if not q.wrong]
    return kept, lonely


def _forms(named: Sequence[str] | None) -> tuple[Form, ...]:
    from extraction.neighbours.forms import FORMS

    for name in named or ():
        one_of("--form", name, FORMS)
    return tuple(form for form in FORMS if not named or form in named)


def _asked(
    given: ElicitGiven,
    questions: Sequence[Question],
    answerer: RememberingCompleter,
    prompter: Prompter,
    judge: Judge | None,
) -> tuple[list[tuple[Elicited, Words]], dict[str, str]]:
    """Rows of every form, and the forms that could not be asked with the reason."""
    from extraction.neighbours.run import Way
    from extraction.neighbours.run import elicit as put

    rows: list[tuple[Elicited, Words]] = []
    missing: dict[str, str] = {}
    for form in _forms(given.form):
        offered = words(form, given.asking.phrases, answerer, prompter)
        if isinstance(offered, str):
            missing[form] = offered
            continue
        way = Way(form, prompter, offered.phrases, given.choose)
        found = put(questions, way=way, completer=answerer, judge=judge)
        rows += [(row, offered) for row in found]
    return rows, missing


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditGiven:
    """Options of ``radcal lm audit``."""

    gold: Path = argument(..., "Labelled reports, one JSON per line.")
    out: Path = option(..., "Answers, one row per finding.")
    asking: Asking
    reader: str = option("model", "Who reads the reports: the model, or rules.")
    form: str = option("probability", "probability, phrase, beta or own-phrase.")
    output: Output


def audit(given: AuditGiven) -> None:
    """Ask a model how sure it is of every finding read in labelled reports.

    The reader's findings are taken at report level; one is right if the labels give the same
    phrase to the same pathology. ``radcal lm calibrate`` on the answers says whether the model's
    certainty about its own reading can be believed. Reports that could not be read, and
    confidences that could not, are counted (exit code 3).
    """
    from extraction.neighbours.forms import FORMS, Prompter
    from pipeline.formats.tables import write_table

    one_of("--reader", given.reader, ("model", "rules"))
    one_of("--form", given.form, FORMS)
    reports, claims, failed = _claims(given)
    prompter = Prompter()
    with given.asking.completer(given.out) as answerer:
        rows = _sure(given, claims, answerer, prompter)
        name = answerer.name
    refuse_silence(rows, name)
    write_table(answers_table(rows, model=name, prompts=prompter.digest), given.out)
    reasons = Counter(str(row.reason) for row, _ in rows if row.reason)
    summary: dict[str, object] = {
        "reports": reports,
        "reports_failed": failed,
        "findings": len(claims),
        "right": sum(one.right for one in claims),
        "confidence_not_read": dict(reasons) or "none",
        "answers": str(given.out),
    }
    given.output.tell(summary)
    if failed or reasons:
        raise typer.Exit(EXIT_QUARANTINED)


def _claims(given: AuditGiven) -> tuple[int, list[Claim], int]:
    """Count the labelled reports, and give what was read in them and in how many nothing could."""
    from extraction.neighbours.run import claims_of

    extractor = (
        rule_engine(None)
        if given.reader == "rules"
        else named_engine(given.asking.engine, given.asking.choice, vocabulary=None)
    )
    reports = gold_reports(given.gold, extractor.vocabulary)
    with closing_model(extractor):
        outcomes = outcomes_of(extractor, reports, given.output)
    claims, failed = claims_of(reports, outcomes, extractor.vocabulary)
    if not claims:
        msg = f"{given.gold.name}: no finding was read in {len(reports)} reports ({failed} failed)."
        raise InputError(msg)
    return len(reports), list(claims), failed


def _sure(
    given: AuditGiven, claims: Sequence[Claim], answerer: RememberingCompleter, prompter: Prompter
) -> list[tuple[Elicited, Words]]:
    """Ask how sure the model is of every claim, and say which are right."""
    from extraction.neighbours.run import put, with_truth

    form = cast("Form", given.form)
    offered = words(form, given.asking.phrases, answerer, prompter)
    if isinstance(offered, str):
        msg = f"--form {given.form}: the model gave no phrases of its own ({offered})."
        raise InputError(msg)
    asked = [
        prompter.claim(one.report, one.statement, form, phrases=offered.phrases) for one in claims
    ]
    names = [one.item for one in claims]
    found = put(names, asked, completer=answerer, phrases=offered.phrases)
    return [(with_truth(row, one), offered) for row, one in zip(found, claims, strict=True)]
