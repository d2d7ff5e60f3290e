"""The model behind ``radcal lm``: a server now, replies kept beside the output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pipeline.cli.extraction_options import ServerChoice
from pipeline.cli.extraction_tables import one_of
from pipeline.engines import KEY_VARIABLE
from pipeline.errors import ConfigurationError

if TYPE_CHECKING:
    from extraction.elicitation.memory import RememberingCompleter

__all__ = ["EngineOption", "completer"]

ENGINES: Final = ("server",)

EngineOption = Annotated[str, typer.Option("--engine", help="Which engine answers: server.")]


@contextmanager
def completer(engine: str, choice: ServerChoice, kept: Path) -> Iterator[RememberingCompleter]:
    """Give the model as something that continues prompts and remembers its replies."""
    from extraction.elicitation import RememberingCompleter, ServerCompleter
    from extraction.engines.settings import ServerSettings
    from extraction.errors import ExtractionError

    one_of("--engine", engine, ENGINES)
    if not choice.url or not choice.model:
        msg = f"--engine {engine} needs --server URL and --model NAME."
        raise ConfigurationError(msg)
    try:
        settings = ServerSettings(
            url=choice.url,
            model=choice.model,
            key=os.environ.get(KEY_VARIABLE, ""),
            concurrency=choice.concurrency,
            context_tokens=choice.context_tokens,
        )
    except ExtractionError as error:
        msg = f"--engine {engine}: {error}"
        raise ConfigurationError(msg) from None
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    yield RememberingCompleter(ServerCompleter(settings), kept)
