"""The replay engine: a model's recorded answers read reports again, without the model.

A hospital's or a GPU owner's recording over our gold becomes a regression test that needs no GPU.
"""

from __future__ import annotations

from pathlib import Path

from extraction.engines.model import Memory, ModelEngine, Named
from extraction.engines.prompted import PromptedReader
from extraction.engines.record import ReplayCompleter, read_heading
from extraction.prompt import Prompts
from extraction.vocabulary import Vocabulary

__all__ = ["ReplayEngine"]


class ReplayEngine(ModelEngine):
    """Reads reports by a recording; a question that is not in it fails as ``not recorded``.

    Parameters
    ----------
    path
        The recording.
    vocabulary, prompts
        None for the shipped ones; with others than it was made with, nothing is found in it.
    tolerated_outage, memory
        See `extraction.engines.model.ModelEngine`.

    Raises
    ------
    ModelSettingsError
        If the file is no recording.
    """

    def __init__(
        self,
        path: Path,
        vocabulary: Vocabulary | None = None,
        prompts: Prompts | None = None,
        *,
        tolerated_outage: float = 1.0,
        memory: Memory | None = None,
    ) -> None:
        heading = read_heading(path)
        reader = PromptedReader(
            vocabulary,
            prompts,
            context_tokens=heading.context_tokens,
            answer_tokens=heading.answer_tokens,
            manner=heading.manner,
        )
        named = Named(
            engine="replay",
            model=heading.model,
            place=f"recording {path.name}",
            computed=heading.computed,
            bound=heading.bound,
        )
        super().__init__(
            ReplayCompleter(path),
            reader,
            named,
            tolerated_outage=tolerated_outage,
            memory=memory,
        )
        self.recorded = heading
