"""The prompt: a short instruction, worked examples, then the report to read; as text or as turns.

    raw   instruction · ### report, statements · … · ### report, statements:
    chat  user: instruction, report · assistant: statements · user: report · … · user: report

The mark before each block of a raw prompt is where an answer stops. A report's words cannot open
a block, nor stand for the line that asks for statements: the mark is taken out of it, and the colon
from a line that begins like one of ours.

Examples that cover most come first, as many as the context holds. Their order is fixed once, and a
smaller budget takes fewer from its end, so that all prompts of a modality share a prefix that a
server reads once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from extraction.finding import NOT_EVALUABLE, OTHER, Modality
from extraction.prompt.examples import Example
from extraction.prompt.forms import BY_WORDS, AnswerForm
from extraction.vocabulary import Vocabulary

MARK: Final = "###"
"""What stands before every block, and so where an answer stops."""

REVISION: Final = "2"
"""Raised whenever the words below change; part of the prompt's digest."""

Turn: TypeAlias = tuple[Literal["user", "assistant"], str]
"""Who speaks, and what."""

_KINDS: Final[dict[Modality, str]] = {"XR": "X-ray", "CT": "CT"}
_OURS: Final = re.compile(r"^(report|statements)\s*:", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model is asked.

    Attributes
    ----------
    chat
        In turns, for a model that was trained on talk, and not as one text to continue.
    form
        The form of its answers.
    guided
        Only about the sentences in which the rules are in doubt.
    """

    chat: bool = False
    form: AnswerForm = BY_WORDS
    guided: bool = False

    @property
    def name(self) -> str:
        """A short name, part of what decides an answer."""
        parts = ["chat" if self.chat else "raw", self.form.quoted, self.form.shape]
        return " ".join([*parts, *(["guided"] if self.guided else [])])


RAW: Final = Manner()
"""One text to continue, answered in lines that quote by words."""


@dataclass(frozen=True, slots=True)
class Worked:
    """A worked example: the report as shown, and the answer as written."""

    report: str
    answer: str


class Template:
    """Writes prompts for one vocabulary and one manner of asking."""

    def __init__(self, vocabulary: Vocabulary, manner: Manner = RAW) -> None:
        self._manner = manner
        self._certainties = (*vocabulary.phrases, OTHER, NOT_EVALUABLE)
        self._pathologies = "; ".join(vocabulary.pathologies)

    def instruction(self, modality: Modality) -> str:
        """Say what is asked, and the closed lists of words."""
        return (
            f"Chest {_KINDS[modality]} reports, each followed by every statement it makes about "
            f"a pathology, in reading order. {self._manner.form.asks}\n"
            f"Pathologies: {self._pathologies}\n"
            f"Certainties: {'; '.join(self._certainties)}\n"
        )

    def worked(self, example: Worked) -> str:
        """Write one worked block of a raw prompt."""
        return self.asked(example.report) + example.answer

    def asked(self, report: str) -> str:
        """Write the block of a report whose statements are to follow."""
        return f"{MARK}\n{_question(report)}"

    def prompt(self, report: str, worked: Sequence[str], modality: Modality) -> str:
        """Write the whole raw prompt around worked blocks."""
        return self.instruction(modality) + "".join(worked) + self.asked(report)

    def turns(self, report: str, worked: Sequence[Worked], modality: Modality) -> tuple[Turn, ...]:
        """Write the same as turns; the instruction opens the first."""
        asked = [_question(example.report) for example in worked] + [_question(report)]
        asked[0] = f"{self.instruction(modality)}\n{asked[0]}"
        found: list[Turn] = []
        for question, example in zip(asked, worked, strict=False):
            found += [("user", question), ("assistant", example.answer)]
        return (*found, ("user", asked[-1]))


def _question(report: str) -> str:
    return f"Report:\n{_plain(report)}\nStatements:\n"


def _plain(report: str) -> str:
    """Give a report's lines without blank ones, our marks, and marks that end a quoted field."""
    report = report.encode("utf-8", "replace").decode()
    while MARK in report:
        report = report.replace(MARK, "#")
    lines = (" ".join(line.split()) for line in report.replace('"', "'").splitlines())
    return _OURS.sub(r"\1 -", "\n".join(line for line in lines if line))


_CHARACTERS_PER_TOKEN: Final = 3


def estimated_tokens(text: str) -> int:
    """Estimate tokens from above: English prose has more than three characters a token.

    Examples
    --------
    >>> estimated_tokens("No effusion.")
    4
    """
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def ordered(examples: Sequence[Example]) -> tuple[Example, ...]:
    """Put examples so that each adds the most pathologies and certainties not yet shown.

    An empty answer comes second: without one to copy, a model finds something in every report.
    Ties keep the order of the file.
    """
    left, shown = list(examples), set[str]()
    chosen: list[Example] = []
    while left:
        gain = [len(_shows(example) - shown) for example in left]
        empty = [n for n, example in enumerate(left) if not example.answer]
        best = empty[0] if len(chosen) == 1 and empty else gain.index(max(gain))
        chosen.append(left.pop(best))
        shown |= _shows(chosen[-1])
    return tuple(chosen)


def fitting(costs: Sequence[int], *, budget: int) -> int:
    """Count how many blocks from the start stay within a budget.

    Parameters
    ----------
    costs
        Tokens of each block, in the order they are shown.
    budget
        Tokens they may take together.

    Examples
    --------
    >>> fitting([300, 200, 100], budget=550)
    2
    """
    used = 0
    for number, cost in enumerate(costs):
        used += cost
        if used > budget:
            return number
    return len(costs)


def _shows(example: Example) -> set[str]:
    return {word for _, *words in example.answer for word in words}
