"""Where a language model is served, and how hard it may be asked; checked whole when made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from extraction.engines.completer import Bound
from extraction.errors import ModelSettingsError
from extraction.prompt import RAW, Manner

__all__ = ["ServerSettings"]

_ABOVE_ZERO: Final = (
    "concurrency", "timeout_seconds", "silence_seconds", "attempts", "answer_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where a model is served, and how it may be asked.

    Attributes
    ----------
    url
        Address of the server, with or without the closing ``/v1``.
    model
        Name under which it serves the model.
    key
        Sent as a bearer token; empty for none. Never shown.
    concurrency
        Questions under way at once; None to find out what the server takes.
    timeout_seconds
        Longest wait for one whole reply.
    silence_seconds
        Longest time in which nothing at all may arrive while questions are under way; longer
        where a reply was seen to take more than a quarter of it.
    attempts
        Most attempts at one question.
    backoff_seconds
        Longest first pause; doubled from attempt to attempt.
    bound
        Bind answers by a regular expression (vLLM's ``structured_outputs``), by a JSON schema
        (``response_format``, which most servers know), or not.
    manner
        As one text to ``/v1/completions`` or in turns to ``/v1/chat/completions``, and the form of
        the answers.
    plain
        Send no parameter of sampling that OpenAI's own servers do not know.
    context_tokens, answer_tokens
        What the model can hold, and the most of it that an answer may take.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    concurrency: int | None = None
    timeout_seconds: float = 120.0
    silence_seconds: float = 30.0
    attempts: int = 4
    backoff_seconds: float = 0.5
    bound: Bound = "no"
    manner: Manner = RAW
    plain: bool = False
    context_tokens: int = 8192
    answer_tokens: int = 1536

    def __post_init__(self) -> None:
        problems = [
            f"{name} is {value}; it must be above 0"
            for name in _ABOVE_ZERO
            if (value := getattr(self, name)) is not None and not value > 0
        ]
        if self.bound == "schema" and self.manner.form.shape != "json":
            problems.append("a schema binds answers in JSON only")
        if self.answer_tokens >= self.context_tokens:
            problems.append("answer_tokens leaves no room in context_tokens")
        if not (self.key.isascii() and self.key.isprintable()):
            problems.append("the key holds characters that no header can carry")
        if not self.model.strip():
            problems.append("no model is named")
        problems += _address_problems(self.url)
        if problems:
            raise ModelSettingsError("; ".join(problems) + ".")

    def endpoint(self, *, chat: bool) -> str:
        """Give the address that continues a text, or answers turns."""
        return f"{self._base}/chat/completions" if chat else f"{self._base}/completions"

    @property
    def listing(self) -> str:
        """Address of the list of what is served."""
        return f"{self._base}/models"

    @property
    def _base(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/v1") else f"{base}/v1"


def _address_problems(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return ["the server's address is not a URL"]
    if parts.scheme not in ("http", "https") or not host:
        return ["the server's address must start with http:// or https:// and name a host"]
    if parts.username or parts.password:
        return ["the server's address holds a password; take it out and set a key instead"]
    if parts.query or parts.fragment:
        return ["the server's address may hold no ? or #"]
    return []
