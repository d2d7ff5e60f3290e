"""Questions × one form → one row per question: guess, stated confidence, whether it is right.

    prompt → completion → read → judged

Three states that stay apart: ``answered``, ``unreadable`` (the model wrote something of no use) and
``failed`` (the model was never heard). Only answered rows are right or wrong.

A claim is a finding as a question: one pathology of one report with the phrase the reader gave it,
at report level; it is right when the gold label of that pathology has the same phrase. Reports that
failed make no claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from extraction.audit.gold import GoldReport
from extraction.finding import Failed, FailureReason, Outcome
from extraction.neighbours.answers import (
    Stated,
    Unreadable,
    UnreadableReason,
    read_answer,
    read_own_phrases,
)
from extraction.neighbours.forms import (
    OWN_PHRASES,
    STOPS,
    Asked,
    Form,
    Judge,
    Prompter,
    Verdict,
    matched,
)
from extraction.neighbours.questions import Question, RememberingCompleter
from extraction.resolution import resolve
from extraction.vocabulary import Vocabulary

ANSWER_TOKENS: Final = 96
"""Room for a short guess and its confidence."""

_LIST_TOKENS: Final = 512


@dataclass(frozen=True, slots=True)
class Elicited:
    """What became of one question.

    Attributes
    ----------
    item
        Name of the question.
    form
        In which form confidence was asked for.
    outcome, reason
        ``answered``; or ``unreadable`` or ``failed``, and why.
    stated
        Guess and confidence of an answered question.
    verdict
        Whether the guess is right; None unless answered.
    """

    item: str
    form: Form
    outcome: Literal["answered", "unreadable", "failed"]
    reason: UnreadableReason | FailureReason | None = None
    stated: Stated | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """How questions are put.

    Attributes
    ----------
    form
        How confidence is to be stated.
    prompter
        The words that ask.
    phrases
        Those on offer, in the forms that choose one.
    choose
        Offer the wrong answers as options beside a right one. Only a letter or an option's own
        words are then an answer, and no judge is needed.
    """

    form: Form
    prompter: Prompter
    phrases: Sequence[str] = ()
    choose: bool = False


def elicit(
    questions: Sequence[Question],
    *,
    way: Way,
    completer: RememberingCompleter,
    judge: Judge | None = None,
) -> list[Elicited]:
    """Ask every question in one form, read and judge the answers.

    Parameters
    ----------
    questions
        What is asked.
    way
        In which form, in whose words.
    completer
        The model.
    judge
        Decides what comparison of words does not find right; None leaves it at the comparison.
    """
    asked = [
        way.prompter.question(q, way.form, phrases=way.phrases, choose=way.choose)
        for q in questions
    ]
    rows = put([q.question_id for q in questions], asked, completer=completer, phrases=way.phrases)
    pairs = [
        (place, (question, row.stated.guess))
        for place, (question, row) in enumerate(zip(questions, rows, strict=True))
        if row.stated is not None
    ]
    guesses = [pair for _, pair in pairs]
    found = (
        judge.judge(guesses)
        if judge is not None and not way.choose
        else [matched(question, guess) for question, guess in guesses]
    )
    for (place, _), verdict in zip(pairs, found, strict=True):
        row = rows[place]
        rows[place] = Elicited(row.item, row.form, row.outcome, None, row.stated, verdict)
    return rows


def put(
    items: Sequence[str],
    asked: Sequence[Asked],
    *,
    completer: RememberingCompleter,
    phrases: Sequence[str],
) -> list[Elicited]:
    """Put prompts to the model and read its answers; nothing is judged yet."""
    replies = completer.complete(
        [one.prompt for one in asked], max_tokens=ANSWER_TOKENS, stop=STOPS
    )
    rows = []
    for item, one, reply in zip(items, asked, replies, strict=True):
        if isinstance(reply, str):
            rows.append(Elicited(item, one.form, "failed", reply))
            continue
        found = read_answer(reply.text, one, phrases=phrases, cut=reply.cut)
        if isinstance(found, Unreadable):
            rows.append(Elicited(item, one.form, "unreadable", found.reason))
        else:
            rows.append(Elicited(item, one.form, "answered", None, found))
    return rows


def own_phrases(
    completer: RememberingCompleter, prompter: Prompter
) -> dict[str, tuple[float, float]] | FailureReason:
    """Ask a model for its phrases with their parameters; fewer come back if it lists fewer."""
    prompt = prompter.own_phrases(OWN_PHRASES)
    (reply,) = completer.complete([prompt], max_tokens=_LIST_TOKENS, stop=())
    if isinstance(reply, str):
        return reply
    listed = read_own_phrases("-" + reply.text)
    return dict(list(listed.items())[:OWN_PHRASES])


@dataclass(frozen=True, slots=True)
class Claim:
    """One finding as a statement about its report.

    Attributes
    ----------
    item
        ``report_id: pathology``.
    report, statement
        The report's text, and what is claimed of it.
    right
        Whether the labels agree.
    """

    item: str
    report: str
    statement: str
    right: bool


def claims_of(
    reports: Sequence[GoldReport], outcomes: Sequence[Outcome], vocabulary: Vocabulary
) -> tuple[list[Claim], int]:
    """Make every stated finding a claim; also count the reports that failed."""
    strength = {phrase: rank for rank, phrase in enumerate(vocabulary.phrases)}
    claims, failed = [], 0
    for report, outcome in zip(reports, outcomes, strict=True):
        failed += isinstance(outcome, Failed)
        truth = report.cells(strength)
        claims += [
            Claim(
                f"{report.report_id}: {row.pathology}",
                report.text,
                f'The report calls {row.pathology} "{row.phrase}".',
                truth.get(row.pathology) == row.phrase,
            )
            for row in resolve(outcome, vocabulary=vocabulary).values()
            if row.outcome == "stated"
        ]
    return claims, failed


def with_truth(row: Elicited, claim: Claim) -> Elicited:
    """Say whether an answered claim is right; what was not answered stays unjudged."""
    if row.outcome != "answered":
        return row
    return replace(row, verdict=Verdict(claim.right, "match"))
