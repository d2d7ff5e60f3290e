"""``radcal lm elicit``: questions in, answers with a stated confidence out, judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pipeline.cli.extraction_options import ModelChoice
from pipeline.cli.extraction_tables import one_of
from pipeline.cli.options import Output
from pipeline.errors import EXIT_QUARANTINED, InputError
from pipeline.neighbours.lm_engine import CacheOption, EngineOption, completer
from pipeline.neighbours.lm_rows import PhrasesOption, Words, answers_table, refuse_silence, words

if TYPE_CHECKING:
    from extraction.neighbours.elicitation import Elicited, Form, Judge, Prompter, Question
    from extraction.neighbours.elicitation.asking import RememberingCompleter

__all__ = ["elicit"]

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

    questions: Annotated[
        Path, typer.Argument(help="JSON lines: SciQ, TruthfulQA, or question with answers.")
    ]
    out: Annotated[Path, typer.Option(help="Answers, one row per question and form.")]
    engine: EngineOption = "server"
    choice: ModelChoice
    form: FormOption = None
    phrases: PhrasesOption = "probability-words"
    choose: Annotated[
        bool,
        typer.Option("--choose", help="Offer the wrong answers as options beside a right one."),
    ] = False
    judge: Annotated[
        str,
        typer.Option(help="match: equal words are right; model: a model judges the others."),
    ] = "match"
    judge_model: Annotated[
        str | None,
        typer.Option(help="Model that judges; default the model that answers."),
    ] = None
    cache: CacheOption = None
    output: Output


def elicit(given: ElicitGiven) -> None:
    """Ask a model questions and how sure it is of its answers, in four forms.

    Lines that are no question, answers that cannot be read and questions that got no reply are
    counted by reason (exit code 3), never taken as wrong. Run again to go on after an interruption;
    nothing is asked twice. See docs/neighbours.md.
    """
    from extraction.neighbours.elicitation import Judge, Prompter, load_questions
    from pipeline.formats.tables import write_table

    one_of("--judge", given.judge, ("match", "model"))
    forms = _forms(given.form)
    asked, problems = load_questions(given.questions)
    if given.choose:
        asked, lonely = _with_options(asked)
        problems += lonely
    for problem in problems if not given.output.quiet else ():
        typer.echo(f"{given.questions.name}: {problem}; left out", err=True)
    kept = given.cache or given.out.with_name(f"{given.out.name}.replies")
    prompter = Prompter()
    with completer(given.engine, given.choice, kept) as answerer:
        if given.judge == "model" and given.judge_model:
            other = replace(given.choice, model=given.judge_model)
            with completer(given.engine, other, kept) as judging:
                by = Judge(judging, prompter)
                rows, missing = _asked(asked, forms, answerer, prompter, by, given)
        else:
            own = Judge(answerer, prompter) if given.judge == "model" else None
            rows, missing = _asked(asked, forms, answerer, prompter, own, given)
        name = answerer.name
    refuse_silence(rows, name)
    table = answers_table(rows, model=name, prompts=prompter.digest)
    write_table(table, given.out)
    summary = _summary(rows, len(asked), len(problems), missing) | {
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
    from extraction.neighbours.elicitation import FORMS

    for name in named or ():
        one_of("--form", name, FORMS)
    return tuple(form for form in FORMS if not named or form in named)


def _asked(
    questions: Sequence[Question],
    forms: Sequence[Form],
    answerer: RememberingCompleter,
    prompter: Prompter,
    judge: Judge | None,
    given: ElicitGiven,
) -> tuple[list[tuple[Elicited, Words]], dict[str, str]]:
    """Rows of every form, and the forms that could not be asked with the reason."""
    from extraction.neighbours.elicitation import Way
    from extraction.neighbours.elicitation import elicit as put

    rows: list[tuple[Elicited, Words]] = []
    missing: dict[str, str] = {}
    for form in forms:
        offered = words(form, given.phrases, answerer, prompter)
        if isinstance(offered, str):
            missing[form] = offered
            continue
        way = Way(form, prompter, offered.phrases, given.choose)
        found = put(questions, way=way, completer=answerer, judge=judge)
        rows += [(row, offered) for row in found]
    return rows, missing


def _summary(
    rows: Sequence[tuple[Elicited, Words]], questions: int, unusable: int, missing: dict[str, str]
) -> dict[str, object]:
    summary: dict[str, object] = {"questions": questions, "unusable_lines": unusable}
    for form in dict.fromkeys(row.form for row, _ in rows):
        held = [row for row, _ in rows if row.form == form]
        right = [row.verdict.right for row in held if row.verdict]
        reasons = Counter(str(row.reason) for row in held if row.reason)
        reasons["unjudged"] = right.count(None)
        lost = ", ".join(f"{n} {reason}" for reason, n in reasons.most_common() if n)
        said = f"{len(right)} answered, {right.count(True)} right"
        summary[cast("str", form)] = f"{said}; set aside: {lost}" if lost else said
    return summary | {form: f"not asked: {reason}" for form, reason in missing.items()}
