"""Prompts to completions: what elicitation needs of an engine, and the model server as one."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from extraction.engines.settings import ServerSettings
from extraction.engines.transport import Completions
from extraction.finding import FailureReason

__all__ = ["Completer", "Completion", "ServerCompleter"]


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, and whether a limit stopped it."""

    text: str
    cut: bool


class Completer(Protocol):
    """Anything that continues prompts, always in the same way."""

    @property
    def name(self) -> str:
        """What the model is called; part of what a reply is remembered by."""

    def complete(
        self, prompts: Sequence[str], *, max_tokens: int, stop: Sequence[str]
    ) -> list[Completion | FailureReason]:
        """Continue every prompt; a prompt that fails gives its reason at its place."""


class ServerCompleter:
    """Asks an OpenAI-compatible server, greedily."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        """Name under which the server serves the model."""
        return self._settings.model

    def complete(
        self, prompts: Sequence[str], *, max_tokens: int, stop: Sequence[str]
    ) -> list[Completion | FailureReason]:
        """Continue every prompt; see :class:`Completer`."""
        if not prompts:
            return []
        threads = min(self._settings.concurrency, len(prompts))

        def ask(prompt: str) -> Completion | FailureReason:
            question = {"prompt": prompt, "max_tokens": max_tokens, "temperature": 0, "seed": 0}
            reply = server.ask({**question, "stop": list(stop)})
            return reply if isinstance(reply, str) else Completion(reply.text, reply.cut)

        with Completions(self._settings) as server, ThreadPoolExecutor(threads) as pool:
            return list(pool.map(ask, prompts))
