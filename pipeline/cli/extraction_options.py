"""Options of every command that may ask a language model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AnswersOption",
    "ConcurrencyOption",
    "ContextOption",
    "DTypeOption",
    "DisagreementOption",
    "MemoryOption",
    "MemoryShareOption",
    "ModelOption",
    "ParallelOption",
    "PythonOption",
    "QueueOption",
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
    str | None,
    typer.Option(
        "--model", metavar="NAME|FOLDER", help="What the server serves, or a model's folder here."
    ),
]
StructuredOption = Annotated[
    bool | None,
    typer.Option(
        "--structured-output/--free-output",
        help="Bind answers to the line grammar: vllm's are unless told otherwise; of servers, "
        "vLLM's can.",
        show_default=False,
    ),
]
_HERE = "A model on this machine (--engine vllm or transformers)"
PythonOption = Annotated[
    Path | None,
    typer.Option(
        "--vllm-python",
        metavar="FILE",
        help="Python of the model's environment; by default the one of make install-vllm.",
        rich_help_panel=_HERE,
    ),
]
DTypeOption = Annotated[
    str,
    typer.Option(help="auto, bfloat16, float16 or float32.", rich_help_panel=_HERE),
]
ParallelOption = Annotated[
    int,
    typer.Option("--tensor-parallel", min=1, help="GPUs that share it.", rich_help_panel=_HERE),
]
MemoryShareOption = Annotated[
    float,
    typer.Option("--memory-share", help="Share of a GPU's memory.", rich_help_panel=_HERE),
]
MemoryOption = Annotated[
    Path | None,
    typer.Option(
        "--remember",
        metavar="FILE",
        help="Keep a model's outcomes here by content hash: a command run again asks only what is "
        "new. Holds no text.",
    ),
]
ContextOption = Annotated[
    int, typer.Option("--context-tokens", min=1, help="Tokens that the model can hold.")
]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, help="Questions to the server at once.")
]
AnswersOption = Annotated[
    Path | None,
    typer.Option(
        "--answers",
        metavar="FILE",
        help="Also write a model's answers line by line, and what became of each; no report text.",
    ),
]
QueueOption = Annotated[
    Path | None,
    typer.Option(
        "--queue",
        metavar="FILE",
        help="Also write the reports whose answers want a person's look, most doubtful first.",
    ),
]
DisagreementOption = Annotated[
    float,
    typer.Option(
        "--max-disagreement",
        min=0.0,
        max=1.0,
        help="Share of statements and sentences over which model and vocabulary may part.",
    ),
]


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """What a command line says about the model; `given` where it says anything."""

    url: str | None
    model: str | None
    structured: bool | None
    context_tokens: int
    concurrency: int
    python: Path | None = None
    dtype: str = "auto"
    tensor_parallel: int = 1
    memory_share: float = 0.9
    remember: Path | None = None

    @property
    def given(self) -> bool:
        """Whether a server, a model or its output was spoken of."""
        return bool(self.url or self.model or self.structured or self.python)

    @property
    def local(self) -> bool:
        """Whether anything was said that only a model on this machine has."""
        return (self.python, self.dtype, self.tensor_parallel, self.memory_share) != (
            None, "auto", 1, 0.9,
        )  # fmt: skip
