"""Where a language model is served or lies, and how hard it may be asked.

Checked when made is what no single value tells: addresses, folders, what fits together. Each value
by itself is held to its range by the configuration, from which all of them come.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from extraction.engines.completer import Bound
from extraction.engines.weights import WEIGHTS, has_chat_template
from extraction.errors import ModelSettingsError
from extraction.prompt.template import RAW, Manner


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
        problems = _amiss(self)
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


def _amiss(settings: ServerSettings | LocalSettings) -> list[str]:
    if settings.answer_tokens >= settings.context_tokens:
        return ["answer_tokens leaves no room in context_tokens"]
    return []


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


Backend: TypeAlias = Literal["vllm", "transformers"]
"""What runs the model."""

Precision: TypeAlias = Literal["auto", "fp8"]
"""As the model was published, or in eight bits."""

DType: TypeAlias = Literal["auto", "bfloat16", "float16", "float32"]
"""What a model computes in; ``auto`` is bfloat16 on a GPU and float32 on a processor."""

_TOKENIZERS: Final = ("tokenizer.json", "tokenizer.model", "vocab.json", "tekken.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """A model on this machine, and how it may be run.

    Attributes
    ----------
    backend
        vLLM, or the slower transformers.
    model
        The model's folder.
    python
        The interpreter of the environment in which the backend is installed.
    dtype
        What it computes in.
    tensor_parallel
        GPUs that share one copy of the model.
    memory_share
        Share of a GPU's memory that vLLM may take, for weights and cache.
    data_parallel
        Copies of the model side by side, each on cards of its own; `tensor_parallel` cards each.
    weights, cache
        ``fp8`` halves what weights or the cache of keys and values take of the card; both change
        answers a little.
    cards
        The GPUs this process may see; None for all. Set for each copy of several.
    max_sequences
        Questions that vLLM computes at once; None for what it thinks right for the card.
    context_tokens, answer_tokens
        What the model may hold, and the most of it that an answer may take.
    structured
        Bind answers to the grammar of their form; vLLM only.
    manner
        As one text or in turns, and the form of the answers.
    timeout_seconds
        Longest silence of the model's process, while it loads or while it is asked.
    load_format
        ``dummy`` gives the model random weights, to measure its speed without them.
    """

    backend: Backend
    model: Path
    python: Path
    dtype: DType = "auto"
    tensor_parallel: int = 1
    data_parallel: int = 1
    weights: Precision = "auto"
    cache: Precision = "auto"
    cards: tuple[int, ...] | None = None
    memory_share: float = 0.9
    max_sequences: int | None = None
    context_tokens: int = 8192
    answer_tokens: int = 1536
    structured: bool = True
    manner: Manner = RAW
    timeout_seconds: float = 600.0
    load_format: Literal["auto", "dummy"] = "auto"

    def __post_init__(self) -> None:
        problems = _amiss(self)
        if self.manner.chat and not has_chat_template(self.model):
            problems.append(
                f"{self.model.name} has no chat template; a base model is asked with template raw"
            )
        if self.backend == "transformers" and "fp8" in (self.weights, self.cache):
            problems.append("transformers reads no fp8; leave weights and cache auto")
        if self.structured and self.backend == "transformers":
            problems.append("transformers cannot bind answers; leave structured_output off")
        if not self.python.is_file():
            problems.append(
                f"{self.python} is no Python; `make install-vllm` makes an environment, and "
                "vllm_python names its interpreter"
            )
        problems += _model_problems(self)
        if problems:
            raise ModelSettingsError("; ".join(problems) + ".")


def _model_problems(settings: LocalSettings) -> Iterator[str]:
    folder = settings.model
    try:
        names = {path.name for path in folder.iterdir()}
        described = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        yield f"{folder} is no model's folder: it has no config.json that can be read"
        return
    if names.isdisjoint(_TOKENIZERS):
        yield f"{folder} has no tokenizer"
    weighty = any(name.endswith(WEIGHTS) for name in names)
    if settings.load_format == "auto" and not weighty:
        yield f"{folder} has no weights"
    holds = described.get("max_position_embeddings") if isinstance(described, dict) else None
    if isinstance(holds, int) and holds < settings.context_tokens:
        yield f"context_tokens is {settings.context_tokens}, and the model holds {holds}"
