"""What became of all answers of one engine: counted for the manifest, and judged as an outage."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from extraction.engines.account import Answer, Disagreement, Rejection
from extraction.engines.completer import Usage
from extraction.errors import ModelOutageError
from extraction.finding import Failed, FailureReason, Outcome

__all__ = ["NO_ANSWER", "Ledger", "check_outage"]

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


class Ledger:
    """Adds up answers; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rejected: Counter[Rejection] = Counter()
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
            **facts,
        }

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
