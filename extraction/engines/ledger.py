"""What an engine is called, what it remembers, and what became of all its answers.

They are counted for the manifest, and judged as an outage.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Protocol

from extraction.engines.account import Answer, Disagreement, Rejection
from extraction.engines.completer import Bound, Usage
from extraction.engines.guide import Doubt
from extraction.errors import ModelOutageError
from extraction.finding import Failed, FailureReason, Outcome

__all__ = ["NO_ANSWER", "Ledger", "Memory", "Named", "check_outage"]

NO_ANSWER: Final[frozenset[FailureReason]] = frozenset(
    {
        "server unreachable",
        "server error",
        "request refused",
        "timed out",
        "model stopped",
        "not recorded",
    }
)
"""Reasons that say that there was no answer at all."""

_ALWAYS_TOLERATED: Final = 2


class Memory(Protocol):
    """Remembers outcomes by a hash of all that decides them; holds no text."""

    def recall(self, keys: Sequence[str]) -> Mapping[str, Outcome]:
        """Give what is known of some keys."""

    def keep(self, outcomes: Mapping[str, Outcome]) -> None:
        """Remember outcomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a model engine is called, and where.

    Attributes
    ----------
    engine
        ``server``, ``vllm``, ``transformers`` or ``replay``.
    model
        The model's name, with its revision where that is known.
    place
        The model as an error names it.
    computed
        Anything else that decides an answer, such as the precision.
    bound
        How answers are bound to their form: by a regular expression, by a JSON schema, or not.
    """

    engine: str
    model: str
    place: str
    computed: str = ""
    bound: Bound = "no"


class Ledger:
    """Adds up answers; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rejected: Counter[Rejection] = Counter()
        self._doubts: Counter[Doubt] | None = None
        self._by_rules = 0
        self.recalled = 0
        self.disagreement = Disagreement()

    @property
    def rejected(self) -> dict[Rejection, int]:
        """Lines of all answers so far that were left out, by reason."""
        return dict(self._rejected)

    def note(self, answers: Iterable[Answer], *, recalled: int) -> None:
        """Add answers up, some of which were given in an earlier run."""
        with self._lock:
            self.recalled += recalled
            for answer in answers:
                self._rejected.update(answer.rejected)
                self.disagreement += answer.disagreement
                if answer.doubts is not None:
                    self._doubts = (self._doubts or Counter()) + Counter(answer.doubts)
                    self._by_rules += not answer.doubts

    def counts(self, usage: Usage, facts: Mapping[str, object]) -> dict[str, object]:
        """Give what was asked, answered, left out and remembered so far, for a manifest."""
        asked = {name: value for name, value in asdict(usage).items() if name != "counters"}
        rate = usage.answer_tokens / usage.seconds if usage.seconds else None
        return {
            **asked,
            "seconds": round(usage.seconds, 3),
            "answer_tokens_per_second": None if rate is None else round(rate, 1),
            "reports_remembered": self.recalled,
            "answer_lines_left_out": self.rejected,
            "held_against_the_vocabulary": asdict(self.disagreement),
            "engine_counters": dict(usage.counters),
            **self._guidance(),
            **facts,
        }

    def _guidance(self) -> dict[str, object]:
        """Give the reports that the rules alone read, and the sentences in doubt."""
        if self._doubts is None:
            return {}
        return {"reports_by_rules_alone": self._by_rules, "sentences_in_doubt": dict(self._doubts)}

    def summary(self, usage: Usage) -> str:
        """Give the counts in a line, for a log."""
        return (
            f"{usage.questions:,} questions, {usage.answered:,} answered, {self.recalled:,} "
            f"reports remembered, {usage.prompt_tokens:,} tokens read ({usage.cached_tokens:,} "
            f"of them from the cache), {usage.answer_tokens:,} written in {usage.seconds:,.1f} s"
        )


def check_outage(outcomes: Sequence[Outcome], *, tolerated: float, place: str) -> None:
    """Refuse a batch of which too many reports got no answer.

    Parameters
    ----------
    tolerated
        Largest share that may get none; two reports always may, all never. 1 refuses nothing.
    place
        The model as the error names it.

    Raises
    ------
    ModelOutageError
        With the counts by reason.
    """
    failed = Counter(
        outcome.reason
        for outcome in outcomes
        if isinstance(outcome, Failed) and outcome.reason in NO_ANSWER
    )
    most = max(tolerated * len(outcomes), _ALWAYS_TOLERATED)
    if tolerated < 1 and (failed.total() > most or failed.total() == len(outcomes)):
        counts = ", ".join(f"{reason}: {number}" for reason, number in failed.items())
        msg = (
            f"{place}: {failed.total()} of {len(outcomes)} reports got no answer ({counts}). "
            "Nothing of this batch was kept; check the model's name and place, and run again."
        )
        raise ModelOutageError(msg)
