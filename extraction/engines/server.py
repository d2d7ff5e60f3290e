"""The server engine: a language model behind any OpenAI-compatible endpoint reads the reports.

Each report is one question, several under way at once over kept connections.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from extraction.engines.completer import Completion, Question, Usage
from extraction.engines.ledger import Memory, Named
from extraction.engines.model import ModelEngine
from extraction.engines.prompted import PromptedReader
from extraction.engines.settings import ServerSettings
from extraction.engines.traffic import Traffic
from extraction.prompt import Prompts
from extraction.vocabulary import Vocabulary

__all__ = ["ServerCompleter", "ServerEngine"]

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
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._since = 0.0
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
            work = asyncio.run_coroutine_threadsafe(self._traffic.answers(questions), loop)
            answers = work.result()
        with self._lock:
            for question, answer in zip(questions, answers, strict=True):
                self.usage.add(question, answer)
        return answers

    def close(self) -> None:
        """Do nothing: connections end with the last caller."""

    @contextmanager
    def _running(self) -> Iterator[asyncio.AbstractEventLoop]:
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

    def _start(self) -> asyncio.AbstractEventLoop:
        self._loop = loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, daemon=True)
        self._thread.start()
        self._since = time.monotonic()
        asyncio.run_coroutine_threadsafe(self._traffic.open(), loop).result()
        return loop

    def _stop(self) -> None:
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        self.usage.seconds += time.monotonic() - self._since
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(self._wind_up(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

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
    vocabulary, prompts
        None for the shipped ones.
    tolerated_outage, memory
        See `extraction.engines.model.ModelEngine`.
    """

    def __init__(
        self,
        settings: ServerSettings,
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
        named = Named(
            engine="server",
            model=settings.model,
            place=f"extraction server {settings.url}",
            bound=settings.bound,
        )
        self._server = ServerCompleter(settings)
        super().__init__(
            self._server,
            reader,
            named,
            tolerated_outage=tolerated_outage,
            blocks=BLOCKS,
            memory=memory,
        )

    @property
    def facts(self) -> Mapping[str, object]:
        """How the server was asked at last."""
        return self._server.facts
