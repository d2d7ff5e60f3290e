"""Several copies of one model, each in a process and on cards of its own.

Questions are dealt out one by one, so that every copy gets as many and each keeps the examples that
all prompts share in a cache of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from extraction.engines.completer import Completion, Question, Usage
from extraction.engines.local import LocalSettings
from extraction.engines.process import ModelProcess

__all__ = ["ModelCopies", "processes"]


def processes(settings: LocalSettings) -> ModelProcess | ModelCopies:
    """Give one process, or as many as there are to be copies."""
    return ModelCopies(settings) if settings.data_parallel > 1 else ModelProcess(settings)


class ModelCopies:
    """Completes prompts with several copies; see `extraction.engines.completer.Completer`.

    Parameters
    ----------
    settings
        Which model, how many copies, and how many cards each takes.
    """

    def __init__(self, settings: LocalSettings) -> None:
        wide = settings.tensor_parallel
        self._copies = [
            ModelProcess(
                replace(settings, data_parallel=1, cards=tuple(range(n * wide, (n + 1) * wide)))
            )
            for n in range(settings.data_parallel)
        ]

    @property
    def usage(self) -> Usage:
        """What all were asked, in the seconds of the one that took longest."""
        total = Usage()
        for copy in self._copies:
            used = copy.usage
            for name in ("questions", "answered", "structured", "prompt_tokens", "cached_tokens",
                         "answer_tokens"):  # fmt: skip
                setattr(total, name, getattr(total, name) + getattr(used, name))
            total.seconds = max(total.seconds, used.seconds)
            for name, value in used.counters.items():
                total.counters[name] = total.counters.get(name, 0.0) + value
        return total

    @property
    def facts(self) -> Mapping[str, object]:
        """What runs the model, and how often."""
        first = self._copies[0].facts
        return {**first, "data_parallel": len(self._copies)} if first else {}

    @property
    def ill(self) -> bool:
        """Whether a copy was given up: what it was dealt has no answer."""
        return any(copy.ill for copy in self._copies)

    def complete(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, each in its place."""
        many = len(self._copies)
        dealt = [questions[n::many] for n in range(many)]
        with ThreadPoolExecutor(many) as pool:
            answered = list(pool.map(ModelProcess.complete, self._copies, dealt))
        answers: list[Completion] = []
        for n in range(len(questions)):
            answers.append(answered[n % many][n // many])
        return answers

    def close(self) -> None:
        """End every process."""
        with ThreadPoolExecutor(len(self._copies)) as pool:
            list(pool.map(ModelProcess.close, self._copies))
