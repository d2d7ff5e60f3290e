"""Answers on file: what a model said to each question, so that it can be asked again without it.

    first line   what was asked, and how: engine, model and revision, manner, limits, digests
    each other   a hash of the whole question → what the model wrote, its tokens

A recording quotes the reports it was made from and is kept as they are: readable by its owner only.
Failures are not recorded. Of one question's answers the last in the file counts; a line that a
killed run left half written is passed over.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from extraction.engines.completer import Bound, Completer, Completion, Question, Reply, Usage
from extraction.errors import ModelSettingsError
from extraction.prompt import AnswerForm, Manner

__all__ = ["Heading", "RecordingCompleter", "ReplayCompleter", "read_heading"]

REVISION: Final = 1


class Heading(BaseModel):
    """How the recorded answers were asked for; enough to ask the same again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recording: int = REVISION
    engine: str
    model: str
    computed: str = ""
    chat: bool
    guided: bool = False
    quoted: Literal["words", "number"]
    shape: Literal["lines", "json"]
    bound: Bound
    context_tokens: int
    answer_tokens: int
    version: str

    @property
    def manner(self) -> Manner:
        """How the model was asked."""
        return Manner(self.chat, AnswerForm(self.quoted, self.shape), self.guided)


class _Kept(BaseModel):
    question: str
    text: str
    cut: bool
    tokens: tuple[int, int, int] = (0, 0, 0)
    logprobs: tuple[dict[str, float], ...] = ()


class RecordingCompleter:
    """Asks another completer, and writes what it answers; see `completer.Completer`.

    Parameters
    ----------
    inner
        Who is asked.
    path
        The file; begun anew if it was recorded otherwise, else continued.
    heading
        Its first line.
    """

    def __init__(self, inner: Completer, path: Path, heading: Heading) -> None:
        self._inner, self._path = inner, path
        self._lock = threading.Lock()
        first = heading.model_dump_json() + "\n"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        known = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        if not known.startswith(first):
            path.touch(mode=0o600)
            path.write_text(first, encoding="utf-8")

    @property
    def usage(self) -> Usage:
        """What was asked so far."""
        return self._inner.usage

    @property
    def ill(self) -> bool:
        """Whether asking again is vain."""
        return self._inner.ill

    def complete(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, each in its place, and write the answers down."""
        answers = self._inner.complete(questions)
        kept = [
            _line(question, answer)
            for question, answer in zip(questions, answers, strict=True)
            if isinstance(answer, Reply)
        ]
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write("".join(["\n", *kept]))
        return answers

    def close(self) -> None:
        """Free what the other holds."""
        self._inner.close()


class ReplayCompleter:
    """Answers from a recording; what is not in it is no answer; see `completer.Completer`."""

    ill = False

    def __init__(self, path: Path) -> None:
        self._known = _answers(path)
        self._lock = threading.Lock()
        self.usage = Usage()

    def complete(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, each in its place."""
        answers = [self._known.get(_digest(question), "not recorded") for question in questions]
        with self._lock:
            for question, answer in zip(questions, answers, strict=True):
                self.usage.add(question, answer)
        return answers

    def close(self) -> None:
        """Do nothing: nothing is held."""


def read_heading(path: Path) -> Heading:
    """Read how a recording was made.

    Raises
    ------
    ModelSettingsError
        If the file is no recording, or one of another revision.
    """
    try:
        with path.open(encoding="utf-8") as file:
            heading = Heading.model_validate_json(file.readline())
    except (OSError, ValueError):
        msg = f"{path.name} is no recording of a model's answers; --record writes one."
        raise ModelSettingsError(msg) from None
    if heading.recording != REVISION:
        msg = f"{path.name} is a recording of revision {heading.recording}; record it anew."
        raise ModelSettingsError(msg)
    return heading


def _answers(path: Path) -> Mapping[str, Completion]:
    known: dict[str, Completion] = {}
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                kept = _Kept.model_validate_json(line)
            except ValidationError:
                continue
            known[kept.question] = Reply(kept.text, kept.cut, *kept.tokens, kept.logprobs)
    return known


def _line(question: Question, reply: Reply) -> str:
    tokens = (reply.prompt_tokens, reply.cached_tokens, reply.answer_tokens)
    places = tuple(dict(place) for place in reply.logprobs)
    kept = _Kept(
        question=_digest(question), text=reply.text, cut=reply.cut, tokens=tokens, logprobs=places
    )
    return kept.model_dump_json() + "\n"


def _digest(question: Question) -> str:
    return hashlib.sha256(json.dumps(asdict(question)).encode()).hexdigest()
