"""Cases to predict: questions with lettered options, or texts to classify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from extraction.neighbours.elicitation.forms import options_of
from extraction.neighbours.elicitation.questions import Question

__all__ = ["Cases", "cases_of_questions", "cases_of_texts"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Cases:
    """N cases for one kind of model.

    Attributes
    ----------
    task
        ``choose``: a causal model continues with an option's letter; ``classify``: a sequence
        classifier names a class.
    items
        Names of the cases.
    texts
        What the model reads: a text, or two for a classifier of pairs.
    references
        The right letter or class of each case; empty where nobody knows.
    options
        Letters to choose from; empty for a classifier, which has its own classes.
    """

    task: Literal["choose", "classify"]
    items: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    references: tuple[str, ...]
    options: tuple[str, ...] = ()


def cases_of_questions(questions: Sequence[Question], *, options: int) -> tuple[Cases, int]:
    """Put questions with one right and ``options`` − 1 wrong answers; count those with too few.

    Further wrong answers are not offered, because every case must have the same classes.
    """
    letters = tuple(_LETTERS[:options])
    kept = [
        Question(q.question_id, q.text, q.right, q.wrong[: options - 1])
        for q in questions
        if len(q.wrong) >= options - 1
    ]
    offered = [options_of(question) for question in kept]
    right = tuple(
        letters[texts.index(question.right[0])]
        for question, texts in zip(kept, offered, strict=True)
    )
    prompts = tuple(
        (_prompt(question, texts, letters),) for question, texts in zip(kept, offered, strict=True)
    )
    names = tuple(question.question_id for question in kept)
    return Cases("choose", names, prompts, right, letters), len(questions) - len(kept)


def cases_of_texts(
    items: Sequence[str], texts: Sequence[tuple[str, ...]], references: Sequence[str] = ()
) -> Cases:
    """Classify texts or pairs of texts."""
    return Cases("classify", tuple(items), tuple(texts), tuple(references))


def _prompt(question: Question, texts: Sequence[str], letters: Sequence[str]) -> str:
    lines = [f"{letter}. {text}" for letter, text in zip(letters, texts, strict=True)]
    asked = " ".join(question.text.split())
    return "\n".join([f"Question: {asked}", *lines, "Answer:"])
