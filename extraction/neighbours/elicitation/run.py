"""Questions × one form → one row per question: guess, stated confidence, whether it is right.

    prompt → completion → read → judged

Three states that stay apart: ``answered``, ``unreadable`` (the model wrote something of no use) and
``failed`` (the model was never heard). Only answered rows are right or wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from extraction.finding import FailureReason
from extraction.neighbours.elicitation.answers import (
    Stated,
    Unreadable,
    UnreadableReason,
    read_answer,
    read_own_phrases,
)
from extraction.neighbours.elicitation.asking import Completer
from extraction.neighbours.elicitation.correctness import Judge, Verdict, matched
from extraction.neighbours.elicitation.forms import OWN_PHRASES, STOPS, Asked, Form, Prompter
from extraction.neighbours.elicitation.questions import Question

__all__ = ["ANSWER_TOKENS", "Elicited", "elicit", "own_phrases", "put"]

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


def elicit(
    questions: Sequence[Question],
    *,
    form: Form,
    completer: Completer,
    prompter: Prompter,
    phrases: Sequence[str] = (),
    choose: bool = False,
    judge: Judge | None = None,
) -> list[Elicited]:
    """Ask every question in one form, read and judge the answers.

    Parameters
    ----------
    questions
        What is asked.
    form
        How confidence is to be stated.
    completer
        The model.
    prompter
        The words that ask.
    phrases
        Those on offer, in the forms that choose one.
    choose
        Offer the wrong answers as options beside a right one. Only a letter or an option's own
        words are then an answer, and no judge is needed.
    judge
        Decides what comparison of words does not find right; None leaves it at the comparison.
    """
    asked = [prompter.question(q, form, phrases=phrases, choose=choose) for q in questions]
    rows = put([q.question_id for q in questions], asked, completer=completer, phrases=phrases)
    pairs = [
        (place, (question, row.stated.guess))
        for place, (question, row) in enumerate(zip(questions, rows, strict=True))
        if row.stated is not None
    ]
    guesses = [pair for _, pair in pairs]
    found = (
        judge.judge(guesses)
        if judge is not None and not choose
        else [matched(question, guess) for question, guess in guesses]
    )
    for (place, _), verdict in zip(pairs, found, strict=True):
        row = rows[place]
        rows[place] = Elicited(row.item, row.form, row.outcome, None, row.stated, verdict)
    return rows


def put(
    items: Sequence[str], asked: Sequence[Asked], *, completer: Completer, phrases: Sequence[str]
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
    completer: Completer, prompter: Prompter, *, number: int = OWN_PHRASES
) -> dict[str, tuple[float, float]] | FailureReason:
    """Ask a model for its phrases with their parameters; fewer come back if it lists fewer."""
    prompt = prompter.own_phrases(number)
    (reply,) = completer.complete([prompt], max_tokens=_LIST_TOKENS, stop=())
    if isinstance(reply, str):
        return reply
    listed = read_own_phrases("-" + reply.text)
    return dict(list(listed.items())[:number])
