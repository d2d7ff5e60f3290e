"""Options of every command that may ask a language model, in groups that commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Held", "ModelChoice", "VocabularyOption"]

_HERE = "A model on this machine (--engine vllm or transformers)"
_SERVED = "A model behind a server (--engine server)"

VocabularyOption = Annotated[
    Path | None, typer.Option("--vocabulary", help="Folder with vocabulary files of your own.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """What a command line says about the model."""

    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FOLDER|FILE",
            help="What the server serves, a model's folder here, or a recording.",
        ),
    ] = None
    structured: Annotated[
        bool | None,
        typer.Option(
            "--structured-output/--free-output",
            help="Bind answers to the line grammar: vllm's are unless told otherwise; of servers, "
            "vLLM's can.",
            show_default=False,
        ),
    ] = None
    json_schema: Annotated[
        bool,
        typer.Option("--json-schema", help="Bind a server's answers by a JSON schema instead."),
    ] = False
    template: Annotated[
        str,
        typer.Option(
            help="raw: one text to continue; chat: turns; auto: as the model's folder or name says."
        ),
    ] = "auto"
    quote_by: Annotated[
        str, typer.Option(help="words: the sentence as written; number: its number, fewer tokens.")
    ] = "words"
    guided: Annotated[
        bool,
        typer.Option(
            "--guided", help="Ask only about sentences in which the rules hedge or are in doubt."
        ),
    ] = False
    examples: Annotated[
        list[Path] | None,
        typer.Option(help="Folder with worked examples of your own; an audit takes several."),
    ] = None
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep every answer for --engine replay --model FILE; it quotes the reports.",
        ),
    ] = None
    context_tokens: Annotated[int, typer.Option(min=1, help="Tokens that the model can hold.")] = (
        8192
    )
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="An OpenAI-compatible server; a key is read from RADCAL_SERVER_KEY.",
            rich_help_panel=_SERVED,
        ),
    ] = None
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Questions to the server at once; by default as many as it answers more for.",
            rich_help_panel=_SERVED,
        ),
    ] = None
    vllm_python: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Python of the model's environment; by default the one of make install-vllm.",
            rich_help_panel=_HERE,
        ),
    ] = None
    dtype: Annotated[
        str, typer.Option(help="auto, bfloat16, float16 or float32.", rich_help_panel=_HERE)
    ] = "auto"
    tensor_parallel: Annotated[
        int, typer.Option(min=1, help="GPUs that share it.", rich_help_panel=_HERE)
    ] = 1
    data_parallel: Annotated[
        int, typer.Option(min=1, help="Copies side by side.", rich_help_panel=_HERE)
    ] = 1
    memory_share: Annotated[
        float, typer.Option(help="Share of a GPU's memory.", rich_help_panel=_HERE)
    ] = 0.9

    @property
    def given(self) -> bool:
        """Whether a server, a model or its output was spoken of."""
        said = (self.server, self.model, self.structured, self.vllm_python, self.examples)
        return any(said) or self.json_schema or self.guided

    @property
    def local(self) -> bool:
        """Whether anything was said that only a model on this machine has."""
        cards = (self.tensor_parallel, self.data_parallel, self.memory_share)
        return (self.vllm_python, self.dtype, *cards) != (None, "auto", 1, 1, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How a model's answers are held against the words, and what is kept of them."""

    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a model's answers line by line, and what became of each; no report "
            "text.",
        ),
    ] = None
    queue: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the reports whose answers want a person's look, most doubtful first.",
        ),
    ] = None
    max_disagreement: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Share of statements and sentences over which model and vocabulary may part.",
        ),
    ] = 0.2
