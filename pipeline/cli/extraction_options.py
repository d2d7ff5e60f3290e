"""Options of every command that may ask a model server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

__all__ = [
    "ConcurrencyOption",
    "ContextOption",
    "ModelOption",
    "ServerChoice",
    "ServerOption",
    "StructuredOption",
]

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="An OpenAI-compatible server; a key is read from RADCAL_SERVER_KEY.",
    ),
]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Model that the server serves.")
]
StructuredOption = Annotated[
    bool,
    typer.Option(
        "--structured-output", help="Bind answers to the line grammar (vLLM; others may refuse)."
    ),
]
ContextOption = Annotated[
    int, typer.Option("--context-tokens", min=1, help="Tokens that the model can hold.")
]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, help="Questions to the server at once.")
]


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """What a command line says about the server; `given` where it says anything."""

    url: str | None
    model: str | None
    structured: bool
    context_tokens: int
    concurrency: int

    @property
    def given(self) -> bool:
        """Whether a server, a model or its output was spoken of."""
        return bool(self.url or self.model or self.structured)
