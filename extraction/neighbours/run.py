"""Questions × one form → one row per question: guess, stated confidence, whether it is right.

    prompt → completion → read → judged

Three states that stay apart: ``answered``, ``unreadable`` (the model wrote something of no use) and
``failed`` (the model was never heard). Only answered rows are right or wrong.

Read as stated: "85%" is .85 because its sign says so; "85" is outside 0 to 1, "0.7-0.9" is no
number, and "fairly sure" is not a phrase of the list. Nothing is rounded to the nearest usable one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from extraction.engines.completer import Completion
from extraction.finding import FailureReason
from extraction.neighbours import forms
from extraction.neighbours.questions import Question, RememberingCompleter

UnreadableReason: TypeAlias = Literal[
    "empty answer", "truncated answer", "no guess", "no confidence", "not a probability",
    "outside 0 to 1", "unlisted phrase", "not a Beta distribution", "parameter not above 0",
]  # fmt: skip
"""Why an answer cannot be read; a closed set."""


_MAX_CHARACTERS: Final = 20_000
_NUMBER: Final = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_PROBABILITY: Final = re.compile(rf"~?\s*({_NUMBER})\s*(%?)(?![\w%])([^\d]*)", re.ASCII)
_BETA: Final = re.compile(
    rf"beta\s*\(\s*(?:\w+\s*[=:]\s*)?({_NUMBER})\s*,\s*(?:\w+\s*[=:]\s*)?({_NUMBER})\s*\)(.*)",
    re.IGNORECASE | re.ASCII,
)
_OWN: Final = re.compile(
    rf'\s*"([^"]+)"\s*[,:]\s*\(?({_NUMBER})\s*,\s*({_NUMBER})\)?\s*\.?', re.ASCII
)
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "’": "'"})
_DECORATION: Final = " \t*_`\"'<>[]"


@dataclass(frozen=True, slots=True)
class Stated:
    """An answer that can be read.

    Attributes
    ----------
    guess
        The answer given.
    probability
        The stated number, in the form ``probability``.
    phrase
        The phrase as the list writes it, in the forms that choose one.
    alpha, beta
        Parameters, in the form ``beta``.
    """

    guess: str
    probability: float | None = None
    phrase: str | None = None
    alpha: float | None = None
    beta: float | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that says nothing usable; neither right nor wrong."""

    reason: UnreadableReason


def read_answer(
    completion: str, asked: forms.Asked, *, phrases: Sequence[str] = (), cut: bool = False
) -> Stated | Unreadable:
    r"""Read what a model wrote after a prompt; never raises.

    Parameters
    ----------
    completion
        What it wrote.
    asked
        The prompt's description.
    phrases
        Those that were on offer.
    cut
        Whether a limit stopped it: a confidence in the last line may then lack its end.

    Examples
    --------
    >>> asked = forms.Asked("…", "probability", "Probability")
    >>> read_answer(" Paris\nProbability: 0.9", asked)
    Stated(guess='Paris', probability=0.9, phrase=None, alpha=None, beta=None)
    >>> read_answer(" Paris\nProbability: quite high", asked).reason
    'not a probability'
    """
    lines = [line.strip() for line in completion[:_MAX_CHARACTERS].split("\n")]
    lines = [line for line in lines if line]
    if not lines:
        return Unreadable("empty answer")
    guess, rest = _bare(lines[0], "Guess"), lines[1:]
    if not guess or _labelled(lines[0], asked.label):
        return Unreadable("no guess")
    place = next((i for i, line in enumerate(rest) if _labelled(line, asked.label)), None)
    if place is None:
        return Unreadable("truncated answer" if cut else "no confidence")
    if cut and place == len(rest) - 1 and not completion.endswith("\n"):
        return Unreadable("truncated answer")
    value = _bare(rest[place], asked.label)
    return _confidence(guess, value, asked, phrases) if value else Unreadable("no confidence")


def read_own_phrases(completion: str) -> dict[str, tuple[float, float]]:
    """Phrase → parameters, from lines ``- "phrase", alpha, beta``; other lines are left out."""
    found: dict[str, tuple[float, float]] = {}
    for line in completion[:_MAX_CHARACTERS].translate(_QUOTES).split("\n"):
        match = _OWN.fullmatch(re.sub(r"^\s*(?:[-–*•]|\d+[.)])", "", line))
        if match is None:
            continue
        phrase = " ".join(match[1].casefold().split())
        alpha, beta = float(match[2]), float(match[3])
        if phrase and _usable(alpha) and _usable(beta):
            found.setdefault(phrase, (alpha, beta))
    return found


def _confidence(
    guess: str, value: str, asked: forms.Asked, phrases: Sequence[str]
) -> Stated | Unreadable:
    if asked.form == "probability":
        found = _probability(value)
        return found if isinstance(found, Unreadable) else Stated(guess, probability=found)
    if asked.form == "beta":
        match = _BETA.fullmatch(value.strip(_DECORATION).rstrip(". "))
        if match is None or re.search(r"\d", match[3]):
            return Unreadable("not a Beta distribution")
        alpha, beta = float(match[1]), float(match[2])
        if not (_usable(alpha) and _usable(beta)):
            return Unreadable("parameter not above 0")
        return Stated(guess, alpha=alpha, beta=beta)
    known = {_folded(phrase): phrase for phrase in phrases}
    phrase = known.get(_folded(value))
    return Unreadable("unlisted phrase") if phrase is None else Stated(guess, phrase=phrase)


def _probability(value: str) -> float | Unreadable:
    """Read one number, with words behind it at most."""
    match = _PROBABILITY.fullmatch(value.strip(_DECORATION))
    if match is None:
        return Unreadable("not a probability")
    number = float(match[1]) / (100.0 if match[2] else 1.0)
    return number if 0.0 <= number <= 1.0 else Unreadable("outside 0 to 1")


def _usable(parameter: float) -> bool:
    return math.isfinite(parameter) and 0.0 < parameter <= 1e6


def _labelled(line: str, label: str) -> bool:
    return line.lstrip(_DECORATION).casefold().startswith(label.casefold()) and ":" in line


def _bare(line: str, label: str) -> str:
    """Take the text behind ``label:``, or the whole line without it."""
    if _labelled(line, label):
        line = line.partition(":")[2]
    return line.strip(_DECORATION)


def _folded(text: str) -> str:
    return " ".join(text.translate(_QUOTES).casefold().strip(_DECORATION + ".,;:!").split())


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
    form: forms.Form
    outcome: Literal["answered", "unreadable", "failed"]
    reason: UnreadableReason | FailureReason | None = None
    stated: Stated | None = None
    verdict: forms.Verdict | None = None


def elicit(
    questions: Sequence[Question],
    form: forms.Form,
    phrases: Sequence[str],
    *,
    prompter: forms.Prompter,
    completer: RememberingCompleter,
    judge: forms.Judge | None,
) -> list[Elicited]:
    """Ask every question in one form, read and judge the answers.

    Parameters
    ----------
    questions
        What is asked.
    form, phrases
        How confidence is to be stated, and the phrases on offer in the forms that choose one.
    prompter
        The words that ask.
    completer
        The model.
    judge
        Decides what comparison of words does not find right; None leaves it at the comparison.
    """
    asked = [prompter.question(question, form, phrases=phrases) for question in questions]
    replies = completer.complete(
        [one.prompt for one in asked], max_tokens=ANSWER_TOKENS, stop=forms.STOPS
    )
    rows = [
        _read(question, one, reply, phrases=phrases)
        for question, one, reply in zip(questions, asked, replies, strict=True)
    ]
    pairs = [
        (question, row.stated.guess)
        for question, row in zip(questions, rows, strict=True)
        if row.stated is not None
    ]
    found = iter(judge.judge(pairs) if judge else [forms.matched(*pair) for pair in pairs])
    return [replace(row, verdict=next(found)) if row.stated is not None else row for row in rows]


def _read(
    question: Question, asked: forms.Asked, reply: Completion, *, phrases: Sequence[str]
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
    completer: RememberingCompleter, prompter: forms.Prompter
) -> dict[str, tuple[float, float]] | FailureReason:
    """Ask a model for its phrases with their parameters; fewer come back if it lists fewer."""
    (reply,) = completer.complete([prompter.own_phrases()], max_tokens=_LIST_TOKENS, stop=())
    if isinstance(reply, str):
        return reply
    return dict(list(read_own_phrases("-" + reply.text).items())[: forms.OWN_PHRASES])
