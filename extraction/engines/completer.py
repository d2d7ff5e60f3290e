"""What it is to complete a prompt: one question, one reply, whoever runs the model.

A server over HTTP and a model in a process of its own answer the same questions, so that reading
reports, or asking for anything else, does not know which of them it has.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from extraction.finding import FailureReason

T = TypeVar("T")

Bound: TypeAlias = Literal["no", "regex", "schema"]
"""How answers are bound to their form."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt to continue.

    Attributes
    ----------
    prompt
        What the model is to continue; "" where it is asked in turns.
    max_tokens
        Most tokens of the answer.
    stop
        Marks that end the answer; not part of it.
    regex
        What the whole answer must match; empty for an answer that nothing binds. vLLM binds
        answers, other servers may refuse.
    temperature, seed
        0 always takes the likeliest token; above, tokens are drawn with this seed.
    logprobs
        How many of the likeliest tokens to give at each place of the answer.
    turns
        A conversation to answer, as (role, text), in the words of the model's own chat template.
    schema
        A JSON schema that the answer must fulfil, as JSON; "" for none.
    """

    prompt: str
    max_tokens: int
    stop: tuple[str, ...] = ()
    regex: str = ""
    temperature: float = 0.0
    seed: int = 0
    logprobs: int = 0
    turns: tuple[tuple[str, str], ...] = ()
    schema: str = ""

    @property
    def words(self) -> str:
        """All that the model is shown, as text."""
        return self.prompt + "\n".join(text for _, text in self.turns)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wrote.

    Attributes
    ----------
    text
        The continuation, without the mark that ended it.
    cut
        Whether a limit stopped it, and not the model or a mark.
    prompt_tokens, cached_tokens, answer_tokens
        Tokens read, those of them that were already computed for an earlier question, and tokens
        written; 0 where a server does not say.
    logprobs
        For each token of the answer, itself and then the likeliest others, with the natural
        logarithms of their probabilities.
    """

    text: str
    cut: bool
    prompt_tokens: int = 0
    cached_tokens: int = 0
    answer_tokens: int = 0
    logprobs: tuple[Mapping[str, float], ...] = ()


Completion: TypeAlias = Reply | FailureReason
"""A reply, or why there is none."""


@dataclass(slots=True)
class Usage:
    """What a model was asked so far, in questions, tokens and seconds; no text.

    Attributes
    ----------
    answered
        Questions that got a reply.
    seconds
        Time in which at least one question was under way and the model was loaded.
    counters
        What the engine itself counts (``prefix_cache_hits``); empty where it is not seen.
    """

    questions: int = 0
    answered: int = 0
    structured: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0
    counters: dict[str, float] = field(default_factory=dict)

    def add(self, question: Question, completion: Completion) -> None:
        """Count one question and what came of it."""
        self.questions += 1
        self.structured += bool(question.regex or question.schema)
        if isinstance(completion, Reply):
            self.answered += 1
            self.prompt_tokens += completion.prompt_tokens
            self.cached_tokens += completion.cached_tokens
            self.answer_tokens += completion.answer_tokens


class LoopThread:
    """An event loop on a thread of its own, for callers that are no coroutines."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin some work there."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self, last: Coroutine[Any, Any, None]) -> None:
        """Do one thing more, then end loop and thread."""
        self.submit(last).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def settled(answers: Iterable[asyncio.Future[Completion]]) -> list[Completion]:
    """Wait for all answers; then raise the first error among them, if there is one."""
    found = await asyncio.gather(*answers, return_exceptions=True)
    for answer in found:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in found if not isinstance(answer, BaseException)]


class Completer(Protocol):
    """Anything that completes prompts; safe to use from several threads."""

    @property
    def usage(self) -> Usage:
        """What was asked so far."""

    @property
    def ill(self) -> bool:
        """Whether it has stopped answering, so that asking again is vain."""

    def complete(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, each in its place; one that fails never disturbs the others."""

    def close(self) -> None:
        """Free what it holds; it may be asked again, and then takes it up anew."""
