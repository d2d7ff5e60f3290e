"""The model behind ``radcal lm``: any engine of extraction, its replies kept beside the output."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pipeline.cli.extraction_options import ModelChoice
from pipeline.cli.extraction_tables import model_settings, one_of

if TYPE_CHECKING:
    from extraction.neighbours.elicitation.asking import RememberingCompleter

__all__ = ["CacheOption", "EngineOption", "completer"]

_ENGINES: Final = ("server", "vllm", "transformers")

EngineOption = Annotated[
    str, typer.Option("--engine", help="Which engine answers: server, vllm or transformers.")
]

CacheOption = Annotated[
    Path | None,
    typer.Option("--cache", help="Where replies are kept to go on from; default OUT.replies."),
]


@contextmanager
def completer(engine: str, choice: ModelChoice, kept: Path) -> Iterator[RememberingCompleter]:
    """Give the model as something that continues prompts and remembers its replies."""
    from extraction.engines.local import revision
    from extraction.neighbours.elicitation import ModelCompleter, RememberingCompleter
    from pipeline.site import engines

    one_of("--engine", engine, _ENGINES)
    settings = model_settings(engine, choice)
    model = engines.completer(settings, folder=Path.cwd())
    named = str(settings.model)
    name = named if engine == "server" else f"{Path(named).name}+{revision(Path(named))}"
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        yield RememberingCompleter(ModelCompleter(model, name=name), kept)
    finally:
        model.close()
