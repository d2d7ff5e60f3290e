"""One exchange with a model server over kept connections, with everything that can go wrong in it.

Every parameter of sampling is sent, always: what is left out, a server takes from the model's own
``generation_config.json``, and a repetition penalty there would change answers that must repeat
what a report says.

Bodies are read to their end, those of errors too, because a connection whose reply was left half
read cannot be used again. Proxies of the environment are not used: reports go to the configured
address and nowhere else.
"""

from __future__ import annotations

import json
import re
import ssl
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final, Literal, TypeAlias

import aiohttp
from pydantic import BaseModel, Field, ValidationError

from extraction.engines.completer import Question, Reply
from extraction.engines.settings import ServerSettings
from extraction.finding import FailureReason

Json: TypeAlias = object

PLAIN_SAMPLING: Final[dict[str, Json]] = {
    "n": 1, "top_p": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
}  # fmt: skip
"""What every OpenAI-compatible server knows, at values that change nothing."""

SAMPLING: Final[dict[str, Json]] = {
    **PLAIN_SAMPLING, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0,
}  # fmt: skip
"""What vLLM and most others know beside it."""


class _LogProbs(BaseModel):
    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None
    top_logprobs: list[dict[str, float] | None] | None = None

    def likeliest(self) -> tuple[dict[str, float], ...]:
        """Give each place's tokens, the one written first where the server names it."""
        places = [place or {} for place in self.top_logprobs or ()]
        if not (self.tokens and self.token_logprobs):
            return tuple(places)
        written = zip(self.tokens, self.token_logprobs, strict=False)
        return tuple(
            ({} if logprob is None else {token: logprob}) | place
            for (token, logprob), place in zip(written, places, strict=False)
        )


class _Token(BaseModel):
    token: str
    logprob: float


class _Place(_Token):
    top_logprobs: list[_Token] = Field(default_factory=list)


class _ChatLogProbs(BaseModel):
    content: list[_Place] | None = None

    def likeliest(self) -> tuple[dict[str, float], ...]:
        """Give each place's tokens, the one written first."""
        return tuple(
            {each.token: each.logprob for each in (place, *place.top_logprobs)}
            for place in self.content or ()
        )


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    text: str | None = None
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: _LogProbs | _ChatLogProbs | None = None


class _Details(BaseModel):
    cached_tokens: int | None = None


class _Tokens(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int | None = 0
    prompt_tokens_details: _Details | None = None


_BROKEN_OFF: Final = ("length", "max_tokens", "content_filter", "abort", "error", "cancelled")
"""Why an answer ended that may lack findings: a filter or a server under strain cuts it as well."""


class Body(BaseModel):
    """The body of a reply of either endpoint."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Tokens | None = None

    def reply(self) -> Reply | None:
        """Give the first choice, and the tokens if the server says; None if it holds no text."""
        choice, usage = self.choices[0], self.usage or _Tokens()
        text = choice.message.content if choice.message else choice.text
        if text is None:
            return None
        cached = usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens
        return Reply(
            text,
            choice.finish_reason in _BROKEN_OFF,
            usage.prompt_tokens,
            cached or 0,
            usage.completion_tokens or 0,
            choice.logprobs.likeliest() if choice.logprobs else (),
        )


class _Entry(BaseModel):
    id: str
    owned_by: str | None = None
    max_model_len: int | None = None


class Served(BaseModel):
    """What a server says it serves (``/v1/models``)."""

    data: list[_Entry]

    def problem(self, settings: ServerSettings) -> str:
        """Say why the named model cannot be asked as configured; "" where nothing speaks against.

        Only vLLM's list is believed to name all that it answers to.
        """
        names = [entry.id for entry in self.data]
        exact = any(entry.owned_by == "vllm" for entry in self.data)
        if exact and settings.model not in names:
            return f"it serves {', '.join(names)}, and not {settings.model}"
        for entry in self.data:
            holds = entry.max_model_len
            if entry.id == settings.model and holds and holds < settings.context_tokens:
                return f"context_tokens is {settings.context_tokens}, and the model holds {holds}"
        return ""


def fields(question: Question, settings: ServerSettings) -> dict[str, Json]:
    """Write a question as the endpoint takes it."""
    asked: dict[str, Json] = {
        "model": settings.model,
        **_shown(question),
        "max_tokens": question.max_tokens,
        "temperature": question.temperature,
        "seed": question.seed,
        "stop": list(question.stop),
        **(PLAIN_SAMPLING if settings.plain else SAMPLING),
    }
    if question.regex:
        asked["structured_outputs"] = {"regex": question.regex}
    if question.schema:
        named = {"name": "statements", "schema": json.loads(question.schema), "strict": True}
        asked["response_format"] = {"type": "json_schema", "json_schema": named}
    if question.logprobs:
        many = question.logprobs
        asked |= {"logprobs": True, "top_logprobs": many} if question.turns else {"logprobs": many}
    return asked


def _shown(question: Question) -> dict[str, Json]:
    if not question.turns:
        return {"prompt": question.prompt}
    return {"messages": [{"role": role, "content": text} for role, text in question.turns]}


Kind: TypeAlias = Literal["again", "busy", "refused", "closed to us"]
"""What a setback means: try again, wait and then try, this question never, no question ever."""

_AGAIN: Final = frozenset({408, 425, 429, *range(500, 600)})
_CLOSED: Final = frozenset({401, 403, 404})
_MAX_BYTES: Final = 4_000_000
_CONNECT_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 5.0
_WORDS_SHOWN: Final = 200
_ECHO_WORDS: Final = 3
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Setback:
    """An attempt that failed: why, what it means, and when the server wants to be asked again.

    Attributes
    ----------
    words
        Status and the server's own words, without anything of the question.
    """

    reason: FailureReason
    kind: Kind = "again"
    pause_seconds: float | None = None
    words: str = ""


class Link:
    """Connections to one server; used from one event loop. Open it before, close it after."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None
        self._tls = ssl.create_default_context() if settings.url.startswith("https") else True
        self._headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if settings.key:
            self._headers["Authorization"] = f"Bearer {settings.key}"

    def open(self) -> None:
        """Make ready to ask; connections are made when needed."""
        longest = self._settings.timeout_seconds
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self._tls),
            timeout=aiohttp.ClientTimeout(
                total=longest, sock_connect=min(_CONNECT_SECONDS, longest)
            ),
            headers=self._headers,
            trust_env=False,
        )

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(self, question: Question) -> Reply | Setback:
        """Put one question, once."""
        content = json.dumps(fields(question, self._settings)).encode()
        found = await self._exchange(
            "POST", self._settings.endpoint(chat=bool(question.turns)), content
        )
        if isinstance(found, Setback):
            return found
        status, retry_after, body = found
        if status == HTTPStatus.OK:
            return _reply(body)
        return _setback(status, retry_after, _words(status, body, question.words))

    async def look(self) -> Served | Setback:
        """Ask what is served, for a few seconds only; an empty list where the server has none."""
        seconds = min(_LOOK_SECONDS, self._settings.timeout_seconds)
        found = await self._exchange("GET", self._settings.listing, None, seconds=seconds)
        if isinstance(found, Setback):
            return found
        status, retry_after, body = found
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return _setback(status, retry_after, _words(status, body, ""))
        try:
            return Served.model_validate_json(body) if status == HTTPStatus.OK else Served(data=[])
        except ValidationError:
            return Served(data=[])

    async def _exchange(
        self, method: str, url: str, content: bytes | None, *, seconds: float | None = None
    ) -> tuple[int, str, bytes] | Setback:
        """Send, and read status, ``Retry-After`` and the whole body."""
        if self._session is None:
            return Setback("server unreachable")
        limit = self._session.timeout if seconds is None else aiohttp.ClientTimeout(total=seconds)
        try:
            async with self._session.request(
                method, url, data=content, timeout=limit, allow_redirects=False
            ) as response:
                body = bytearray()
                async for part in response.content.iter_any():
                    body += part
                    if len(body) > _MAX_BYTES:
                        response.close()
                        return Setback("server error")
                return response.status, response.headers.get("Retry-After", ""), bytes(body)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            return Setback("server unreachable")
        except TimeoutError:
            return Setback("timed out")
        except (aiohttp.ClientError, OSError):
            return Setback("server error")


def _reply(body: bytes) -> Reply | Setback:
    try:
        reply = Body.model_validate_json(body).reply()
    except ValidationError:
        reply = None
    return reply or Setback("server error")


def _setback(status: int, retry_after: str, words: str) -> Setback:
    pause = _pause(retry_after)
    if status == HTTPStatus.TOO_MANY_REQUESTS and pause is not None:
        return Setback("server error", "busy", pause, words)
    if status in _AGAIN:
        return Setback("server error", "again", pause, words)
    return Setback(
        "request refused", "closed to us" if status in _CLOSED else "refused", words=words
    )


def _pause(asked: str) -> float | None:
    """Read ``Retry-After``: seconds, or a date; None for anything else."""
    asked = asked.strip()
    if asked.isascii() and asked.isdigit():
        return float(asked)
    try:
        return max(parsedate_to_datetime(asked).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def _words(status: int, body: bytes, prompt: str) -> str:
    """Give a status and the server's own words; none if they repeat what it was asked."""
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    said = (
        found.get("error", found.get("message", found.get("detail")))
        if isinstance(found, dict)
        else None
    )
    said = said.get("message") if isinstance(said, dict) else said
    text = " ".join(str(said or "").split())[:_WORDS_SHOWN]
    return f"{status} {text}".strip() if not _echoes(text, prompt) else str(status)


def _echoes(text: str, prompt: str) -> bool:
    """Whether a few words in a row of a text stand in the prompt."""
    words = _WORD.findall(text.lower())
    asked = f" {' '.join(_WORD.findall(prompt.lower()))} " if prompt else ""
    runs = zip(*(words[n:] for n in range(_ECHO_WORDS)), strict=False)
    return any(f" {' '.join(run)} " in asked for run in runs)
