"""The offline engines: a language model on this machine reads the reports, nothing is sent away.

``vllm`` where there is a GPU, or a processor and patience; ``transformers`` where vLLM cannot be
installed: the same prompts and the same reading of answers, one report at a time.
"""

from __future__ import annotations

from collections.abc import Mapping

from extraction.engines.copies import processes
from extraction.engines.local import LocalSettings, revision
from extraction.engines.model import Memory, ModelEngine, Named
from extraction.engines.prompted import PromptedReader
from extraction.prompt import Prompts
from extraction.vocabulary import Vocabulary

__all__ = ["OfflineEngine"]


class OfflineEngine(ModelEngine):
    """Reads reports with a model in a process of its own. Close it, or use it in ``with``.

    Parameters
    ----------
    settings
        Which model, and how it may be run.
    vocabulary, prompts
        None for the shipped ones.
    tolerated_outage, memory
        See `extraction.engines.model.ModelEngine`.
    """

    def __init__(
        self,
        settings: LocalSettings,
        vocabulary: Vocabulary | None = None,
        prompts: Prompts | None = None,
        *,
        tolerated_outage: float = 1.0,
        memory: Memory | None = None,
    ) -> None:
        reader = PromptedReader(
            vocabulary,
            prompts,
            context_tokens=settings.context_tokens,
            answer_tokens=settings.answer_tokens,
            manner=settings.manner,
        )
        self._process = processes(settings)
        super().__init__(
            self._process,
            reader,
            Named(
                engine=settings.backend,
                model=f"{settings.model.resolve().name}@{revision(settings.model)}",
                place=f"{settings.backend} model {settings.model.name}",
                computed=_computed(settings),
                bound="regex" if settings.structured else "no",
            ),
            tolerated_outage=tolerated_outage,
            blocks=2 if settings.backend == "vllm" else 1,
            memory=memory,
        )

    @property
    def facts(self) -> Mapping[str, object]:
        """What runs the model; empty before it has run."""
        return {f"model_{name}": value for name, value in self._process.facts.items()}


def _computed(settings: LocalSettings) -> str:
    """Name what decides an answer beside the model: precision, but not how it is spread."""
    eights = [name for name in ("weights", "cache") if getattr(settings, name) == "fp8"]
    return " ".join([settings.dtype, *(f"{name} fp8" for name in eights)])
