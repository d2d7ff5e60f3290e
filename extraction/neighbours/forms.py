"""The four forms in which a model may say how sure it is, and whether its guess is right.

| form | the model states | Wang et al. 2025 |
|---|---|---|
| ``probability`` | a number from 0 to 1 | table 1, "probability" |
| ``phrase`` | one phrase of a given table | table 3, "survey" |
| ``beta`` | the parameters of a Beta distribution, anew for every answer | table 3, "on-the-fly" |
| ``own-phrase`` | one of K = 12 phrases whose parameters it gave beforehand | table 3, "fixed" |

Prompts end where the answer begins ("Guess:"), so that models with and without instruction tuning
continue at the right place.

A guess is compared by words: case, accents, articles, punctuation and spacing do not count;
digits and their signs do. A guess that equals no right answer counts as wrong, by ``listed`` if it
is one of the wrong answers and by ``unlisted`` if it is neither, so that one can see how much a
judge might change. The judge (Wang et al. 2025, table 5) is asked about what the comparison does
not find right; a verdict that is neither Yes nor No is none: the answer stays unjudged.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from extraction.engines.completer import Completion
from extraction.neighbours.questions import Question, RememberingCompleter

Form = Literal["probability", "phrase", "beta", "own-phrase"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)

OWN_PHRASES: Final = 12
"""K, the number of phrases a model is asked for (appendix B.3)."""

STOPS: Final = ("\nQuestion:",)
"""Where a model that goes on to the next question is stopped."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt and what is needed to read its completion.

    Attributes
    ----------
    prompt
        What the model is to continue.
    form
        In which form it is to state its confidence.
    label
        What stands before the confidence ("Probability").
    """

    prompt: str
    form: Form
    label: str


class Prompter:
    """Writes prompts; ``phrases`` are those on offer in the forms that choose one."""

    def __init__(self) -> None:
        content = Path(__file__).with_name("prompts.toml").read_bytes()
        self._words = tomllib.loads(content.decode())
        self.digest = hashlib.sha256(content).hexdigest()[:16]

    def question(self, question: Question, form: Form, *, phrases: Sequence[str] = ()) -> Asked:
        """Ask for a guess and its confidence."""
        words = self._words["phrase" if form == "own-phrase" else form]
        shape = self._words["shape"]
        lines = [
            words["task"].replace("{words}", "; ".join(phrases)), shape["closing"], "",
            f"Guess: {shape['guess']}",
            f"{words['label']}: {words['value']}", "",
            f"Question: {_one_line(question.text)}",
            "Guess:",
        ]  # fmt: skip
        return Asked("\n".join(lines), form, words["label"])

    def own_phrases(self) -> str:
        """Ask for a list of phrases with parameters."""
        own = self._words["own"]
        return f"{own['task'].format(number=OWN_PHRASES)}\n{own['line']}\n\n-"

    def judgement(self, question: Question, guess: str) -> str:
        """Ask whether a guess means the same as a right answer."""
        right = "\n".join(f"- {_one_line(text)}" for text in question.right)
        return (
            f"{self._words['judge']['task']}\n\nQuestion: {_one_line(question.text)}\n"
            f"Right answers:\n{right}\nAnswer: {_one_line(guess)}\nReason:"
        )


def _one_line(text: str) -> str:
    return " ".join(text.split())


_JUDGE_TOKENS: Final = 160
_POINT: Final = re.compile(r"(?<=\d)[.,](?=\d)")
_SIGN: Final = re.compile(r"(?<![\w])[-−](?=\d|\.\d)")
_APOSTROPHE: Final = re.compile(r"['’`]")
_OTHER: Final = re.compile(r"[^\w\s%]|_")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a guess is right: None if nobody could say; ``by`` says how it was decided."""

    right: bool | None
    by: Literal["match", "listed", "unlisted", "judge", "no verdict", "no reply"]


def normalised(text: str) -> str:
    """Write an answer so that equal answers are equal texts.

    Examples
    --------
    >>> normalised("The  Krebs' cycle.") == normalised("krebs cycle")
    True
    >>> normalised("-5.0 °C") == normalised("5.0 °C")
    False
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = _POINT.sub(lambda m: "point" if m[0] == "." else "", plain)
    plain = _APOSTROPHE.sub("", _SIGN.sub("minus ", plain))
    words = _OTHER.sub(" ", plain).split()
    return " ".join([word for word in words if word not in {"a", "an", "the"}] or words)


def matched(question: Question, guess: str) -> Verdict:
    """Compare a guess with the answers of its question.

    Examples
    --------
    >>> question = Question("q", "?", ("mitosis",), ("meiosis",))
    >>> matched(question, "Mitosis."), matched(question, "budding")
    (Verdict(right=True, by='match'), Verdict(right=False, by='unlisted'))
    """
    said = normalised(guess)
    if said and said in {normalised(text) for text in question.right}:
        return Verdict(right=True, by="match")
    listed = said in {normalised(text) for text in question.wrong}
    return Verdict(right=False, by="listed" if listed else "unlisted")


class Judge:
    """A model that says whether a guess means the same as a right answer."""

    def __init__(self, completer: RememberingCompleter, prompter: Prompter) -> None:
        self._completer, self._prompter = completer, prompter

    def judge(self, pairs: Sequence[tuple[Question, str]]) -> list[Verdict]:
        """Compare first; ask about what is not found right."""
        verdicts = [matched(question, guess) for question, guess in pairs]
        open_ = [i for i, verdict in enumerate(verdicts) if not verdict.right]
        prompts = [self._prompter.judgement(*pairs[i]) for i in open_]
        replies = self._completer.complete(prompts, max_tokens=_JUDGE_TOKENS, stop=STOPS)
        for i, reply in zip(open_, replies, strict=True):
            verdicts[i] = _verdict(reply)
        return verdicts


def _verdict(reply: Completion) -> Verdict:
    if isinstance(reply, str):
        return Verdict(None, "no reply")
    lines = [line.strip(" \t*_.\"'").casefold() for line in reply.text.splitlines()]
    said = [line for line in lines if line in ("yes", "no")]
    if not said or reply.cut:
        return Verdict(None, "no verdict")
    return Verdict(said[-1] == "yes", "judge")
