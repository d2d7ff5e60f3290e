"""``radcal lm elicit`` and ``audit``: ask a model how sure it is, of answers or of what it read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

import typer

from extraction.neighbours.forms import FORMS, Form, Judge, Prompter
from extraction.neighbours.questions import Question, RememberingCompleter, load_questions
from extraction.neighbours.run import Claim, Elicited, Way, claims_of, put, with_truth
from extraction.neighbours.run import elicit as put_questions
from pipeline.cli.common import one_of
from pipeline.cli.extraction_shared import (
    closing_model,
    gold_reports,
    named_engine,
    outcomes_of,
    rule_engine,
)
from pipeline.errors import EXIT_QUARANTINED, InputError
from pipeline.formats.tables import write_table
from pipeline.neighbours.lm_engine import (
    Words,
    answers_table,
    completing,
    refuse_silence,
    summed_up,
    words,
)
from pipeline.neighbours.options import Audit, Elicitation


def elicit(given: Elicitation) -> None:
    """Put questions to a model in every form asked for, and write its answers."""
    one_of("--judge", given.judge, ("match", "model"))
    _forms(given.form)
    asked, problems = load_questions(given.questions)
    if given.choose:
        asked, lonely = _with_options(asked)
        problems += lonely
    for problem in problems if not given.output.quiet else ():
        typer.echo(f"{given.questions.name}: {problem}; left out", err=True)
    prompter = Prompter()
    with completing(given.asking, given.out) as answerer:
        if given.judge == "model" and given.judge_model:
            with completing(given.asking, given.out, model=given.judge_model) as judging:
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
    for name in named or ():
        one_of("--form", name, FORMS)
    return tuple(form for form in FORMS if not named or form in named)


def _asked(
    given: Elicitation,
    questions: Sequence[Question],
    answerer: RememberingCompleter,
    prompter: Prompter,
    judge: Judge | None,
) -> tuple[list[tuple[Elicited, Words]], dict[str, str]]:
    """Rows of every form, and the forms that could not be asked with the reason."""
    rows: list[tuple[Elicited, Words]] = []
    missing: dict[str, str] = {}
    for form in _forms(given.form):
        offered = words(form, given.asking.phrases, answerer, prompter)
        if isinstance(offered, str):
            missing[form] = offered
            continue
        way = Way(form, prompter, offered.phrases, given.choose)
        found = put_questions(questions, way=way, completer=answerer, judge=judge)
        rows += [(row, offered) for row in found]
    return rows, missing


def audit(given: Audit) -> None:
    """Ask a model how sure it is of every finding, and write its answers."""
    one_of("--reader", given.reader, ("model", "rules"))
    one_of("--form", given.form, FORMS)
    reports, claims, failed = _claims(given)
    prompter = Prompter()
    with completing(given.asking, given.out) as answerer:
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


def _claims(given: Audit) -> tuple[int, list[Claim], int]:
    """Count the labelled reports, and give what was read in them and in how many nothing could."""
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
    given: Audit, claims: Sequence[Claim], answerer: RememberingCompleter, prompter: Prompter
) -> list[tuple[Elicited, Words]]:
    """Ask how sure the model is of every claim, and say which are right."""
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
