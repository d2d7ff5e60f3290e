"""Is a guess right? By comparison of words, or by a model that judges meaning.

Comparison: case, accents, articles, punctuation and spacing do not count; digits and their signs
do. A guess that equals no right answer counts as wrong, by ``listed`` if it is one of the wrong
answers and by ``unlisted`` if it is neither, so that one can see how much a judge might change. The
judge (Wang et al. 2025, table 5) is asked about what the comparison does not find right; a verdict
that is neither Yes nor No is none: the answer stays unjudged.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from extraction.neighbours.elicitation.asking import Completer, Completion
from extraction.neighbours.elicitation.forms import Prompter
from extraction.neighbours.elicitation.questions import Question

__all__ = ["Judge", "Verdict", "matched", "normalised"]

_JUDGE_TOKENS: Final = 160
_ARTICLES: Final = frozenset({"a", "an", "the"})
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
    kept = [word for word in words if word not in _ARTICLES] or words
    return " ".join(kept)


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

    def __init__(self, completer: Completer, prompter: Prompter) -> None:
        self._completer, self._prompter = completer, prompter

    def judge(self, pairs: Sequence[tuple[Question, str]]) -> list[Verdict]:
        """Compare first; ask about what is not found right."""
        verdicts = [matched(question, guess) for question, guess in pairs]
        open_ = [i for i, verdict in enumerate(verdicts) if not verdict.right]
        prompts = [self._prompter.judgement(*pairs[i]) for i in open_]
        replies = self._completer.complete(prompts, max_tokens=_JUDGE_TOKENS, stop=("\nQuestion:",))
        for i, reply in zip(open_, replies, strict=True):
            verdicts[i] = _verdict(reply)
        return verdicts


def _verdict(reply: Completion | str) -> Verdict:
    if isinstance(reply, str):
        return Verdict(None, "no reply")
    lines = [line.strip(" \t*_.\"'").casefold() for line in reply.text.splitlines()]
    said = [line for line in lines if line in ("yes", "no")]
    if not said or reply.cut:
        return Verdict(None, "no verdict")
    return Verdict(said[-1] == "yes", "judge")
