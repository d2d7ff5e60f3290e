"""The server engine: a language model behind any OpenAI-compatible endpoint reads the reports.

Each report is one question, several under way at once over kept connections.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from extraction.engines.completer import Completion, Question, Usage
from extraction.engines.model import Memory, ModelEngine, Named
from extraction.engines.prompted import PromptedReader
from extraction.engines.settings import ServerSettings
from extraction.engines.transport import Completions
from extraction.prompt import Prompts
from extraction.vocabulary import Vocabulary

__all__ = ["ServerCompleter", "ServerEngine"]


class ServerCompleter:
    """Completes prompts over HTTP; see `extraction.engines.completer.Completer`."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self.ill = False
        self.usage = Usage()

    def complete(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, as many at once as the settings allow."""
        if not questions:
            return []
        threads, began = min(self._settings.concurrency, len(questions)), time.monotonic()
        with Completions(self._settings) as server, ThreadPoolExecutor(threads) as pool:
            answers = list(pool.map(server.ask, questions))
            self.ill = server.ill
        with self._lock:
            self.usage.seconds += time.monotonic() - began
            for question, answer in zip(questions, answers, strict=True):
                self.usage.add(question, answer)
        return answers

    def close(self) -> None:
        """Do nothing: connections end with each batch."""


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
        )
        named = Named(
            engine="server", model=settings.model, place=f"extraction server {settings.url}"
        )
        super().__init__(
            ServerCompleter(settings),
            reader,
            named,
            structured=settings.structured,
            tolerated_outage=tolerated_outage,
            memory=memory,
        )
