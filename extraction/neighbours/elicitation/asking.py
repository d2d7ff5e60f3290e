"""Prompts to completions: what elicitation needs of an engine, and replies kept beside the output.

A run that stopped goes on where it was: one JSON line per reply, under the hash of model, prompt
and limits. Failures are not kept; a line that a killed run left half written is passed over.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from pydantic import BaseModel, ValidationError

from extraction.engines import completer as engines
from extraction.finding import FailureReason

__all__ = ["Completer", "Completion", "ModelCompleter", "RememberingCompleter"]


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


_BATCH: Final = 64


class _Kept(BaseModel):
    key: str
    text: str
    cut: bool


class RememberingCompleter:
    """Asks another completer only what it has not been asked before.

    Parameters
    ----------
    inner
        Who is asked.
    path
        Where replies are kept; made when the first one comes.

    Attributes
    ----------
    asked, remembered
        Prompts put to the model by this object, and prompts answered from the file.
    """

    def __init__(self, inner: Completer, path: Path) -> None:
        self._inner, self._path = inner, path
        self._known = _read(path)
        self.asked = self.remembered = 0

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._inner.name

    def complete(
        self, prompts: Sequence[str], *, max_tokens: int, stop: Sequence[str]
    ) -> list[Completion | FailureReason]:
        """Continue every prompt, from memory where it is known; equal prompts are put once."""
        keys = [self._key(prompt, max_tokens, stop) for prompt in prompts]
        new = {k: p for k, p in zip(keys, prompts, strict=True) if k not in self._known}
        self.remembered += len(prompts) - sum(key in new for key in keys)
        self.asked += len(new)
        found: dict[str, Completion | FailureReason] = {}
        waiting = list(new.items())
        for start in range(0, len(waiting), _BATCH):
            batch = waiting[start : start + _BATCH]
            replies = self._inner.complete([p for _, p in batch], max_tokens=max_tokens, stop=stop)
            answered = dict(zip([key for key, _ in batch], replies, strict=True))
            found |= answered
            self._keep({k: r for k, r in answered.items() if isinstance(r, Completion)})
        return [self._known[key] if key in self._known else found[key] for key in keys]

    def _key(self, prompt: str, max_tokens: int, stop: Sequence[str]) -> str:
        parts = json.dumps([self._inner.name, prompt, max_tokens, list(stop)])
        return hashlib.sha256(parts.encode()).hexdigest()

    def _keep(self, replies: dict[str, Completion]) -> None:
        self._known |= replies
        lines = [_Kept(key=k, text=r.text, cut=r.cut).model_dump_json() for k, r in replies.items()]
        if lines:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n".join(["", *lines, ""]))


def _read(path: Path) -> dict[str, Completion]:
    known: dict[str, Completion] = {}
    if not path.is_file():
        return known
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            kept = _Kept.model_validate_json(line)
        except ValidationError:
            continue
        known[kept.key] = Completion(kept.text, kept.cut)
    return known
