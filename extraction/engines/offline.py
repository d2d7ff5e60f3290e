"""Engines that send nothing away: a model on this machine, or the answers it once gave, on file.

``vllm`` where there is a GPU, or a processor and patience; ``transformers`` where vLLM cannot be
installed: the same prompts and the same reading of answers, one report at a time. ``replay`` reads
a recording: a GPU owner's answers over our gold become a regression test that needs no GPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from extraction.engines.completer import Completion, Question, Usage
from extraction.engines.ledger import Memory, Named
from extraction.engines.local import LocalSettings, revision
from extraction.engines.model import ModelEngine
from extraction.engines.process import ModelProcess
from extraction.engines.prompted import PromptedReader
from extraction.engines.record import ReplayCompleter, read_heading
from extraction.prompt import Prompts
from extraction.vocabulary import Vocabulary

__all__ = ["ModelCopies", "OfflineEngine", "ReplayEngine", "processes"]


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


class OfflineEngine(ModelEngine):
    """Reads reports with a model in a process of its own. Close it, or use it in ``with``.

    Parameters
    ----------
    settings
        Which model, and how it may be run.
    vocabulary, prompts
        None for the shipped ones.
    tolerated_outage, memory
        See `extraction.engines.model.ModelEngine`.
    """

    def __init__(
        self,
        settings: LocalSettings,
        vocabulary: Vocabulary | None = None,
        prompts: Prompts | None = None,
        *,
        tolerated_outage: float = 1.0,
        memory: Memory | None = None,
    ) -> None:
        reader = PromptedReader(
            vocabulary,
            prompts,
            context_tokens=settings.context_tokens,
            answer_tokens=settings.answer_tokens,
            manner=settings.manner,
        )
        self._process = processes(settings)
        super().__init__(
            self._process,
            reader,
            Named(
                engine=settings.backend,
                model=f"{settings.model.resolve().name}@{revision(settings.model)}",
                place=f"{settings.backend} model {settings.model.name}",
                computed=_computed(settings),
                bound="regex" if settings.structured else "no",
            ),
            tolerated_outage=tolerated_outage,
            blocks=2 if settings.backend == "vllm" else 1,
            memory=memory,
        )

    @property
    def facts(self) -> Mapping[str, object]:
        """What runs the model; empty before it has run."""
        return {f"model_{name}": value for name, value in self._process.facts.items()}


def _computed(settings: LocalSettings) -> str:
    """Name what decides an answer beside the model: precision, but not how it is spread."""
    eights = [name for name in ("weights", "cache") if getattr(settings, name) == "fp8"]
    return " ".join([settings.dtype, *(f"{name} fp8" for name in eights)])


class ReplayEngine(ModelEngine):
    """Reads reports by a recording; a question that is not in it fails as ``not recorded``.

    Parameters
    ----------
    path
        The recording.
    vocabulary, prompts
        None for the shipped ones; with others than it was made with, nothing is found in it.
    tolerated_outage, memory
        See `extraction.engines.model.ModelEngine`.

    Raises
    ------
    ModelSettingsError
        If the file is no recording.
    """

    def __init__(
        self,
        path: Path,
        vocabulary: Vocabulary | None = None,
        prompts: Prompts | None = None,
        *,
        tolerated_outage: float = 1.0,
        memory: Memory | None = None,
    ) -> None:
        heading = read_heading(path)
        reader = PromptedReader(
            vocabulary,
            prompts,
            context_tokens=heading.context_tokens,
            answer_tokens=heading.answer_tokens,
            manner=heading.manner,
        )
        named = Named(
            engine="replay",
            model=heading.model,
            place=f"recording {path.name}",
            computed=heading.computed,
            bound=heading.bound,
        )
        super().__init__(
            ReplayCompleter(path),
            reader,
            named,
            tolerated_outage=tolerated_outage,
            memory=memory,
        )
        self.recorded = heading
