"""``radcal lm elicit``: ask a model questions, and how sure it is of its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias, cast

import pandas as pd
import typer

from calibration.distributions import Beta
from calibration.survey import PhraseTable
from extraction.engines.weights import revision
from extraction.errors import ModelOutageError
from extraction.neighbours.forms import FORMS, Form, Judge, Prompter
from extraction.neighbours.questions import Question, RememberingCompleter, load_questions
from extraction.neighbours.run import Elicited, own_phrases
from extraction.neighbours.run import elicit as put_questions
from pipeline.cli.common import one_of, phrase_table
from pipeline.cli.extraction_shared import model_settings
from pipeline.formats.tables import write_table
from pipeline.neighbours.options import Asking, Elicitation
from pipeline.site import engines

_ENGINES: Final = ("server", "vllm", "transformers")


@contextmanager
def completing(
    asking: Asking, out: Path, *, model: str | None = None
) -> Iterator[RememberingCompleter]:
    """Open the model, or another one of the same engine, its replies kept beside the output."""
    one_of("--engine", asking.engine, _ENGINES)
    choice = replace(asking.choice, model=model) if model else asking.choice
    kept = asking.cache or out.with_name(f"{out.name}.replies")
    settings = model_settings(asking.engine, choice)
    running = engines.completer(settings, folder=Path.cwd())
    named = str(settings.model)
    name = named if asking.engine == "server" else f"{Path(named).name}+{revision(Path(named))}"
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        yield RememberingCompleter(running, kept, name=name)
    finally:
        running.close()


COLUMNS: Final = (
    "item", "form", "outcome", "reason", "guess", "probability", "phrase", "alpha", "beta",
    "correct", "judged_by", "phrases", "model", "prompts",
)  # fmt: skip
"""Columns of the answers, one row per question and form."""


def offered(
    form: Form, phrases: str, completer: RememberingCompleter, prompter: Prompter
) -> PhraseTable | str | None:
    """Give the phrases of a form that chooses one; a model's own are asked for first.

    A text says why there are none.
    """
    if form == "phrase":
        return phrase_table(phrases)
    if form != "own-phrase":
        return None
    listed = own_phrases(completer, prompter)
    if isinstance(listed, str) or len(listed) < 2:
        return listed if isinstance(listed, str) else "unreadable list of phrases"
    given = tuple(Beta(alpha, beta) for alpha, beta in listed.values())
    name = "the model's own phrases"
    return PhraseTable(name, tuple(listed), given, (None,) * len(listed), source=name)


_Rows: TypeAlias = Sequence[tuple[Elicited, PhraseTable | None]]
"""What became of each question, with the phrases that were on offer."""


def answers_table(rows: _Rows, *, phrases: str, model: str, prompts: str) -> pd.DataFrame:
    """One row per question and form, as ``radcal lm calibrate`` reads it."""
    cells = []
    for row, table in rows:
        said = row.stated
        alpha, beta = (said.alpha, said.beta) if said else (None, None)
        if said and said.phrase and row.form == "own-phrase" and table:
            given = table.distributions[table.index(said.phrase)]
            alpha, beta = (getattr(given, name) for name in ("alpha", "beta"))
        verdict = row.verdict
        right = None if verdict is None or verdict.right is None else int(verdict.right)
        reason = row.reason or (verdict.by if verdict and verdict.right is None else None)
        cells.append(
            (
                row.item, row.form, row.outcome, reason, said.guess if said else None,
                said.probability if said else None, said.phrase if said else None, alpha, beta,
                right, verdict.by if verdict and right is not None else None,
                phrases if row.form == "phrase" else None, model, prompts,
            )
        )  # fmt: skip
    return pd.DataFrame(cells, columns=list(COLUMNS)).astype({"correct": "Int64"})


def refuse_silence(rows: _Rows, model: str) -> None:
    """Stop where the model was never heard: that is an outage, not a table of failures.

    Raises
    ------
    ModelOutageError
        If every question failed.
    """
    if not rows or any(row.outcome != "failed" for row, _ in rows):
        return
    reasons = Counter(str(row.reason) for row, _ in rows)
    counts = ", ".join(f"{reason}: {n}" for reason, n in reasons.items())
    raise ModelOutageError(
        f"{model}: none of {len(rows)} questions got a reply ({counts}). Nothing was written; "
        "check the server or the model, its name and the key, and run again."
    )


def summed_up(
    rows: _Rows, questions: int, unusable: int, missing: dict[str, str]
) -> dict[str, object]:
    """Say for each form how many answered, how many were right, and what was set aside."""
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


def elicit(given: Elicitation) -> None:
    """Put questions to a model in every form asked for, and write its answers."""
    one_of("--judge", given.judge, ("match", "model"))
    _forms(given.form)
    asked, problems = load_questions(given.questions)
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
    offers = given.asking.phrases
    table = answers_table(rows, phrases=offers, model=name, prompts=prompter.digest)
    write_table(table, given.out)
    summary = summed_up(rows, len(asked), len(problems), missing) | {
        "put_to_the_model": answerer.asked,
        "answers": str(given.out),
    }
    unjudged = table["correct"].isna().any()
    given.output.tell(summary, set_aside=problems or missing or unjudged)


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
) -> tuple[_Rows, dict[str, str]]:
    """Rows of every form, and the forms that could not be asked with the reason."""
    rows: list[tuple[Elicited, PhraseTable | None]] = []
    missing: dict[str, str] = {}
    for form in _forms(given.form):
        table = offered(form, given.asking.phrases, answerer, prompter)
        if isinstance(table, str):
            missing[form] = table
            continue
        found = put_questions(
            questions,
            form,
            table.phrases if table else (),
            prompter=prompter,
            completer=answerer,
            judge=judge,
        )
        rows += [(row, table) for row in found]
    return rows, missing
