"""The engines with a language model: behind a server, on this machine, or its answers on file.

Each report is one question, several under way at once over kept connections.

``vllm`` where there is a GPU, or a processor and patience; ``transformers`` where vLLM cannot be
installed: the same prompts and the same reading of answers, one report at a time. ``replay`` reads
a recording: a GPU owner's answers over our gold become a regression test that needs no GPU.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from extraction.engines.completer import Completion, LoopThread, Question, Usage
from extraction.engines.ledger import Named, ReplayCompleter, read_heading
from extraction.engines.model import USUAL, ModelEngine, Terms
from extraction.engines.process import ModelProcess
from extraction.engines.settings import LocalSettings, ServerSettings
from extraction.engines.traffic import Traffic
from extraction.engines.weights import revision

_TURN_SECONDS = 0.0005
"""How long a thread of ours that reads answers may hold the interpreter against the one that asks:
after every system call that one has to wait for its turn again (5 ms as Python starts)."""

BLOCKS = 3
"""Blocks of reports under way at once, so that one's last answers do not leave the server idle."""


class ServerCompleter:
    """Completes prompts over HTTP; see `extraction.engines.completer.Completer`.

    Connections and the thread they are served on live as long as any caller waits.

    Notes
    -----
    `complete` raises `ModelRefusedError` where the server lets nobody in or knows no such model,
    and `ModelOutageError` where it hangs.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._traffic = Traffic(settings)
        self._lock = threading.Lock()
        self._callers = 0
        self._loop: LoopThread | None = None
        self._since = self._found = 0.0
        self.usage = Usage()

    @property
    def ill(self) -> bool:
        """Whether the last questions failed for good, one after the other."""
        return self._traffic.ill

    @property
    def facts(self) -> Mapping[str, object]:
        """How the server is asked now, and what it said when it last refused."""
        said = {"server_said": self._traffic.said} if self._traffic.said else {}
        return {"questions_at_once": self._traffic.pace.limit, **said}

    def complete(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, as many at once as the settings or the server allow."""
        if not questions:
            return []
        with self._running() as loop:
            answers = loop.submit(self._traffic.answers(questions)).result()
        with self._lock:
            for question, answer in zip(questions, answers, strict=True):
                self.usage.add(question, answer)
        return answers

    def close(self) -> None:
        """Do nothing: connections end with the last caller."""

    @contextmanager
    def _running(self) -> Iterator[LoopThread]:
        """Keep the loop running for one caller more."""
        with self._lock:
            loop = self._loop or self._start()
            self._callers += 1
        try:
            yield loop
        finally:
            with self._lock:
                self._callers -= 1
                if not self._callers:
                    self._stop()

    def _start(self) -> LoopThread:
        self._found = sys.getswitchinterval()
        sys.setswitchinterval(min(self._found, _TURN_SECONDS))
        self._loop = loop = LoopThread()
        self._since = time.monotonic()
        loop.submit(self._traffic.open()).result()
        return loop

    def _stop(self) -> None:
        loop, self._loop = self._loop, None
        self.usage.seconds += time.monotonic() - self._since
        sys.setswitchinterval(self._found)
        if loop is not None:
            loop.stop(self._wind_up())

    async def _wind_up(self) -> None:
        """End what still runs, then the connections."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._traffic.close()


class ServerEngine(ModelEngine):
    """Reads reports with a model that a server runs.

    Parameters
    ----------
    settings
        Where the server is and how it may be asked.
    terms
        By which words and examples; which outage it tolerates, and what it remembers.
    """

    def __init__(self, settings: ServerSettings, terms: Terms = USUAL) -> None:
        named = Named(
            engine="server",
            model=settings.model,
            place=f"extraction server {settings.url}",
            bound=settings.bound,
        )
        self._server = ServerCompleter(settings)
        super().__init__(self._server, terms.reader(settings), named, terms, blocks=BLOCKS)

    @property
    def facts(self) -> Mapping[str, object]:
        """How the server was asked at last."""
        return self._server.facts


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
        return [answered[n % many][n // many] for n in range(len(questions))]

    def close(self) -> None:
        """End every process."""
        with ThreadPoolExecutor(len(self._copies)) as pool:
            list(pool.map(ModelProcess.close, self._copies))


class OfflineEngine(ModelEngine):
    """Reads reports with a model in a process of its own, which ends when the engine is closed.

    Parameters
    ----------
    settings
        Which model, and how it may be run.
    terms
        By which words and examples; which outage it tolerates, and what it remembers.
    """

    def __init__(self, settings: LocalSettings, terms: Terms = USUAL) -> None:
        several = settings.data_parallel > 1
        self._process = ModelCopies(settings) if several else ModelProcess(settings)
        named = Named(
            engine=settings.backend,
            model=f"{settings.model.resolve().name}@{revision(settings.model)}",
            place=f"{settings.backend} model {settings.model.name}",
            computed=_computed(settings),
            bound="regex" if settings.structured else "no",
        )
        blocks = 2 if settings.backend == "vllm" else 1
        super().__init__(self._process, terms.reader(settings), named, terms, blocks=blocks)

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
    terms
        As of the others; by other words or examples than it was made with nothing is found in it.

    Raises
    ------
    ModelSettingsError
        If the file is no recording.
    """

    def __init__(self, path: Path, terms: Terms = USUAL) -> None:
        heading = read_heading(path)
        named = Named(
            engine="replay",
            model=heading.model,
            place=f"recording {path.name}",
            computed=heading.computed,
            bound=heading.bound,
        )
        super().__init__(ReplayCompleter(path), terms.reader(heading), named, terms)
