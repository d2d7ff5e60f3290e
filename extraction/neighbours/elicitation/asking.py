"""Prompts to completions: what elicitation needs of an engine, and the engines' models as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from extraction.engines import completer as engines
from extraction.finding import FailureReason

__all__ = ["Completer", "Completion", "ModelCompleter"]


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


class ModelCompleter:
    """Asks any model that the extraction engines can run, greedily.

    Parameters
    ----------
    model
        Runs it: behind a server, or in a process on this machine.
    name
        What the model is called.
    """

    def __init__(self, model: engines.Completer, *, name: str) -> None:
        self._model = model
        self._name = name

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._name

    def complete(
        self, prompts: Sequence[str], *, max_tokens: int, stop: Sequence[str]
    ) -> list[Completion | FailureReason]:
        """Continue every prompt; see :class:`Completer`."""
        marks = tuple(stop)
        asked = [engines.Question(prompt, max_tokens, stop=marks) for prompt in prompts]
        return [
            reply if isinstance(reply, str) else Completion(reply.text, reply.cut)
            for reply in self._model.complete(asked)
        ]
