"""What goes over the wire to an OpenAI-compatible server, and what comes back.

Every parameter of sampling is sent, always: what is left out, a server takes from the model's own
``generation_config.json``, and a repetition penalty there would change answers that must repeat
what a report says.
"""

from __future__ import annotations

import json
from typing import Final, TypeAlias

from pydantic import BaseModel, Field

from extraction.engines.completer import Question, Reply
from extraction.engines.settings import ServerSettings

__all__ = ["PLAIN_SAMPLING", "SAMPLING", "Body", "Served", "fields"]

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
            choice.finish_reason == "length",
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
