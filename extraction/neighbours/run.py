"""Questions × one form → one row per question: guess, stated confidence, whether it is right.

    prompt → completion → read → judged

Three states that stay apart: ``answered``, ``unreadable`` (the model wrote something of no use) and
``failed`` (the model was never heard). Only answered rows are right or wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from extraction.engines.completer import Completion
from extraction.finding import FailureReason
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
    """

    form: Form
    prompter: Prompter
    phrases: Sequence[str] = ()


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
    asked = [way.prompter.question(q, way.form, phrases=way.phrases) for q in questions]
    replies = completer.complete(
        [one.prompt for one in asked], max_tokens=ANSWER_TOKENS, stop=STOPS
    )
    rows = [
        _read(question, one, reply, phrases=way.phrases)
        for question, one, reply in zip(questions, asked, replies, strict=True)
    ]
    pairs = [
        (question, row.stated.guess)
        for question, row in zip(questions, rows, strict=True)
        if row.stated is not None
    ]
    found = iter(judge.judge(pairs) if judge else [matched(*pair) for pair in pairs])
    return [replace(row, verdict=next(found)) if row.stated is not None else row for row in rows]


def _read(
    question: Question, asked: Asked, reply: Completion, *, phrases: Sequence[str]
) -> Elicited:
    """Read the reply to one question; nothing is judged yet."""
    item, form = question.question_id, asked.form
    if isinstance(reply, str):
        return Elicited(item, form, "failed", reply)
    found = read_answer(reply.text, asked, phrases=phrases, cut=reply.cut)
    if isinstance(found, Unreadable):
        return Elicited(item, form, "unreadable", found.reason)
    return Elicited(item, form, "answered", None, found)


def own_phrases(
    completer: RememberingCompleter, prompter: Prompter
) -> dict[str, tuple[float, float]] | FailureReason:
    """Ask a model for its phrases with their parameters; fewer come back if it lists fewer."""
    prompt = prompter.own_phrases(OWN_PHRASES)
    (reply,) = completer.complete([prompt], max_tokens=_LIST_TOKENS, stop=())
    if isinstance(reply, str):
        return reply
    return dict(list(read_own_phrases("-" + reply.text).items())[:OWN_PHRASES])
