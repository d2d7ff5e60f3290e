"""One question to an OpenAI-compatible ``/v1/completions`` endpoint, with everything that can fail.

Refused connections, 408, 425, 429, 5xx and replies that are not the promised JSON are tried again
after a pause that doubles and is drawn at random, or after what ``Retry-After`` asks. A reply
that takes too long, also one whose body trickles, is given up. Proxies of the environment are not
used: reports go to the configured address and nowhere else.
"""

from __future__ import annotations

import json
import secrets
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Final

import httpx
from pydantic import BaseModel, Field, ValidationError

from extraction.engines.completer import Completion, Question, Reply
from extraction.engines.settings import ServerSettings
from extraction.finding import FailureReason

__all__ = ["Completions"]

_RETRIED: Final = frozenset({408, 425, 429, *range(500, 600)})
_MAX_BYTES: Final = 4_000_000
_LONGEST_PAUSE: Final = 30.0
_CONNECT_SECONDS: Final = 10.0
_ILL_AFTER: Final = 3


class _LogProbs(BaseModel):
    top_logprobs: list[dict[str, float] | None] | None = None


class _Choice(BaseModel):
    text: str
    finish_reason: str | None = None
    logprobs: _LogProbs | None = None


class _Details(BaseModel):
    cached_tokens: int | None = None


class _Tokens(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int | None = 0
    prompt_tokens_details: _Details | None = None


class _Body(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Tokens | None = None

    def reply(self) -> Reply:
        """Give the first choice, and the tokens if the server says."""
        choice, usage = self.choices[0], self.usage or _Tokens()
        cached = usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens
        likeliest = (choice.logprobs and choice.logprobs.top_logprobs) or ()
        return Reply(
            choice.text,
            choice.finish_reason == "length",
            usage.prompt_tokens,
            cached or 0,
            usage.completion_tokens or 0,
            tuple(place or {} for place in likeliest),
        )


@dataclass(frozen=True, slots=True)
class _Setback:
    """An attempt that failed: why, whether another may succeed, and when the server wants it."""

    reason: FailureReason
    again: bool = True
    pause_seconds: float | None = None


class Completions:
    """Asks one server; safe to use from several threads. Close it, or use it in ``with``.

    After three questions in a row have failed for good the server counts as ill: each question gets
    one attempt, without a pause, until one is answered, so that a dead server costs a batch
    seconds and not hours.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if settings.key:
            headers["Authorization"] = f"Bearer {settings.key}"
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(
                settings.timeout_seconds, connect=min(_CONNECT_SECONDS, settings.timeout_seconds)
            ),
            limits=httpx.Limits(
                max_connections=settings.concurrency,
                max_keepalive_connections=settings.concurrency,
            ),
            trust_env=False,
            verify=ssl.create_default_context(),
        )
        self._lock = threading.Lock()
        self._failures = 0

    def __enter__(self) -> Completions:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @property
    def ill(self) -> bool:
        """Whether the last questions failed for good, one after the other."""
        return self._failures >= _ILL_AFTER

    def ask(self, question: Question) -> Completion:
        """Put one question; give the reply, or why there is none."""
        content = json.dumps({"model": self._settings.model, **_fields(question)}).encode()
        attempt = 0
        while True:
            result = self._attempt(content)
            attempt += 1
            if isinstance(result, Reply) or not result.again:
                self._note(failed=False)
                return result if isinstance(result, Reply) else result.reason
            if attempt >= self._settings.attempts or self.ill or result.reason == "timed out":
                self._note(failed=True)
                return result.reason
            time.sleep(self._pause(attempt, result.pause_seconds))

    def _note(self, *, failed: bool) -> None:
        with self._lock:
            self._failures = self._failures + 1 if failed else 0

    def _pause(self, attempt: int, asked_seconds: float | None) -> float:
        longest = min(self._settings.backoff_seconds * 2 ** (attempt - 1), _LONGEST_PAUSE)
        jittered = secrets.SystemRandom().uniform(longest / 2, longest)
        return jittered if asked_seconds is None else min(asked_seconds + jittered, _LONGEST_PAUSE)

    def _attempt(self, content: bytes) -> Reply | _Setback:
        deadline = time.monotonic() + self._settings.timeout_seconds
        try:
            with self._client.stream("POST", self._settings.endpoint, content=content) as response:
                if response.status_code in _RETRIED:
                    return _Setback("server error", pause_seconds=_asked_pause(response))
                if response.status_code != httpx.codes.OK:
                    return _Setback("request refused", again=False)
                return _reply(response, deadline)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            return _Setback("server unreachable")
        except httpx.TimeoutException:
            return _Setback("timed out")
        except httpx.HTTPError:
            return _Setback("server error")


def _reply(response: httpx.Response, deadline: float) -> Reply | _Setback:
    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if time.monotonic() > deadline:
            return _Setback("timed out")
        if len(body) > _MAX_BYTES:
            return _Setback("server error")
    try:
        return _Body.model_validate_json(bytes(body)).reply()
    except ValidationError:
        return _Setback("server error")


def _fields(question: Question) -> dict[str, object]:
    """Write a question as the endpoint takes it; what is not asked for is left out."""
    fields: dict[str, object] = {
        "prompt": question.prompt,
        "max_tokens": question.max_tokens,
        "temperature": question.temperature,
        "stop": list(question.stop),
    }
    if question.regex:
        fields["structured_outputs"] = {"regex": question.regex}
    if question.logprobs:
        fields["logprobs"] = question.logprobs
    if question.temperature:
        fields["seed"] = question.seed
    return fields


def _asked_pause(response: httpx.Response) -> float | None:
    """Read ``Retry-After`` in seconds; a date or anything else is left to the usual pause."""
    asked = response.headers.get("Retry-After", "").strip()
    return float(asked) if asked.isascii() and asked.isdigit() else None
