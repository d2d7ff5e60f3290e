"""What became of a model's answer, line by line, in a form that may be kept: no text of the report.

A line is kept as the place it quotes, the words of our vocabulary it uses, what became of it, and
the line itself with every word that the vocabulary does not know written as ``_``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import astuple, dataclass, field
from operator import add
from typing import Final, Literal, Protocol, TypeAlias, get_args, runtime_checkable

from extraction.certainty import is_foreign
from extraction.engines.witness import VERDICTS, Coverage, Doubt, Verdict
from extraction.finding import Engine, Extracted, Failed, FailureReason, Modality, Outcome

Rejection: TypeAlias = Literal[
    "broken line",
    "ungrounded sentence",
    "unlisted pathology",
    "repeated line",
    "unsupported pathology",
]
"""Why a line of an answer was left out; a closed set."""

REJECTIONS: Final[tuple[Rejection, ...]] = get_args(Rejection)

Became: TypeAlias = Rejection | Verdict | Literal["none", "unchecked"]
"""What became of a line: left out, or believed with the vocabulary's verdict; ``none`` is the line
that says that nothing is stated, ``unchecked`` one that was held against nothing."""

_WORD: Final = re.compile(r"[^\W_]+")
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One line of an answer.

    Attributes
    ----------
    became
        What became of it.
    start, end
        The quoted words, as offsets into the report; both 0 where they stand nowhere in it.
    pathology, certainty
        As the model named them, "" where the vocabulary does not know the words.
    written
        The line with every word unknown to the vocabulary written as ``_``.
    attempt
        1, or 2 for the answer to a second question.
    margin
        How sure the model was of the certainty, in nats; None where nobody asked, or none can tell.
    """

    became: Became
    start: int = 0
    end: int = 0
    pathology: str = ""
    certainty: str = ""
    written: str = ""
    attempt: int = 1
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How far answers and the vocabulary's own reading part; adds up over reports.

    Attributes
    ----------
    statements
        Lines that quote the report and name a pathology of the list.
    unsupported, contradicted
        Of these, those whose pathology or certainty the words do not carry, and those of which
        they say the opposite.
    uncovered
        Sentences that state a pathology which no line covers.
    """

    statements: int = 0
    unsupported: int = 0
    contradicted: int = 0
    uncovered: int = 0

    def __add__(self, other: Disagreement) -> Disagreement:
        """Add two up."""
        return Disagreement(*map(add, astuple(self), astuple(other)))

    @property
    def parted(self) -> int:
        """Statements and sentences over which the two part."""
        return self.unsupported + self.contradicted + self.uncovered

    @property
    def compared(self) -> int:
        """Statements and sentences that were compared."""
        return self.statements + self.uncovered

    @property
    def share(self) -> float | None:
        """Share of the compared over which the two part; None where nothing was compared."""
        return self.parted / self.compared if self.compared else None


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one report's answer.

    Attributes
    ----------
    outcome
        What was read.
    lines
        The answer, line by line; of an earlier, failed answer too.
    coverage
        How much of what the vocabulary finds stated it speaks of.
    earlier
        Why a first answer failed; "" where there was none.
    attempt
        2 where the report was asked about a second time.
    doubts
        Sentences that the model was asked about, by why, where rules guide it: empty where the
        rules alone read the report. None where nothing guides it, and it read the whole.
    """

    outcome: Outcome
    lines: tuple[AnswerLine, ...] = ()
    coverage: Coverage = field(default=Coverage())
    earlier: FailureReason | Literal[""] = ""
    attempt: int = 1
    doubts: Mapping[Doubt, int] | None = None

    @property
    def last(self) -> tuple[AnswerLine, ...]:
        """The lines of the last answer."""
        return tuple(line for line in self.lines if line.attempt == self.attempt)

    @property
    def rejected(self) -> dict[Rejection, int]:
        """Lines of the last answer that were left out, by reason."""
        counted = Counter(line.became for line in self.last)
        return {reason: counted[reason] for reason in REJECTIONS if counted[reason]}

    @property
    def disagreement(self) -> Disagreement:
        """How far it and the vocabulary part; nothing where the model gave no answer."""
        became = Counter(line.became for line in self.last)
        return Disagreement(
            sum(became[verdict] for verdict in VERDICTS),
            became["unsupported pathology"] + became["unsupported certainty"],
            became["contradicted"],
            self.coverage.uncovered,
        )

    @property
    def margin(self) -> float | None:
        """The smallest margin of its lines; None where none is known."""
        return min((line.margin for line in self.last if line.margin is not None), default=None)

    @property
    def doubt(self) -> tuple[bool, float, float, int]:
        """Where it stands in a queue for review: the greatest first.

        Failed before read; then by how little sure the model was, where that is known, by the
        share over which it parts from the vocabulary, and by the number.
        """
        apart, margin = self.disagreement, self.margin
        unsure = -math.inf if margin is None else -margin
        return isinstance(self.outcome, Failed), unsure, apart.share or 0.0, apart.parted

    @property
    def statements(self) -> int:
        """Statements that were believed."""
        return len(self.outcome.findings) if isinstance(self.outcome, Extracted) else 0


def masked(line: str, known: Set[str]) -> str:
    """Write a line with every word that is not known as ``_``.

    Examples
    --------
    >>> masked('- "No mass in Mr Quux.", "lung mass", "absent"', {"no", "mass", "lung", "absent"})
    '- "No mass _ _ _.", "lung mass", "absent"'
    """
    return _WORD.sub(lambda m: m[0] if m[0].lower() in known else "_", line[:_LONGEST])


@runtime_checkable
class Answering(Protocol):
    """An engine that knows more of each report than its outcome: one with a language model."""

    def answers(self, texts: Sequence[str], *, modality: Modality) -> list[Answer]:
        """Read reports of one modality, and tell what became of each line of the answers."""


def answers_of(engine: Engine, texts: Sequence[str], *, modality: Modality) -> list[Answer]:
    """Let any engine read the reports in English; without a model only outcomes are known."""
    foreign = [isinstance(text, str) and is_foreign(text) for text in texts]
    english = [text for text, other in zip(texts, foreign, strict=True) if not other]
    if isinstance(engine, Answering):
        found = iter(engine.answers(english, modality=modality))
    else:
        found = map(Answer, engine.extract(english, modality=modality))
    unread = Answer(Failed("not in English"))
    return [unread if other else next(found) for other in foreign]
