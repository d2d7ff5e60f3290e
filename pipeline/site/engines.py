"""From what a site or a command line asks for to the engine that reads its reports."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from extraction.engines.kinds import OfflineEngine, ReplayEngine, ServerCompleter, ServerEngine
from extraction.engines.ledger import Memory
from extraction.engines.model import ModelEngine
from extraction.engines.process import ModelProcess
from extraction.engines.settings import Backend, LocalSettings, has_chat_template
from extraction.prompt import load as load_prompts
from extraction.rules.engine import RuleEngine
from extraction.vocabulary import Vocabulary
from pipeline.config.sections import Extraction

__all__ = ["KEY_VARIABLE", "completer", "engine", "local_settings", "reading"]

KEY_VARIABLE: Final = "RADCAL_SERVER_KEY"
"""The environment variable that holds a model server's key; it stands nowhere else."""

_INSTALLED: Final = Path(__file__).resolve().parents[2] / ".venv-vllm" / "bin" / "python"


def engine(
    settings: Extraction,
    vocabulary: Vocabulary,
    *,
    folder: Path,
    tolerated_outage: float = 1.0,
    memory: Memory | None = None,
) -> RuleEngine | ModelEngine:
    """Make the engine; a model on this machine is checked now and loaded when first asked.

    Parameters
    ----------
    settings
        Which engine, and its options.
    vocabulary
        The words it reads by.
    folder
        What relative paths start from.
    tolerated_outage, memory
        See `extraction.engines.model.ModelEngine`.

    Raises
    ------
    ModelSettingsError
        If the model cannot be used as it is named.
    PromptError
        If the examples cannot be used.
    """
    if settings.engine == "rules":
        return RuleEngine(vocabulary)
    made = _asking(settings, vocabulary, folder, tolerated_outage=tolerated_outage, memory=memory)
    if settings.record:
        made.record(folder / settings.record)
    return made


def _asking(
    settings: Extraction,
    vocabulary: Vocabulary,
    folder: Path,
    *,
    tolerated_outage: float,
    memory: Memory | None,
) -> ModelEngine:
    """Make an engine that asks a model."""
    prompts = load_prompts(folder / settings.examples if settings.examples else None)
    if settings.engine == "server":
        served = settings.server(os.environ.get(KEY_VARIABLE, ""))
        return ServerEngine(
            served, vocabulary, prompts, tolerated_outage=tolerated_outage, memory=memory
        )
    if settings.engine == "replay":
        recorded = folder / (settings.model or "")
        return ReplayEngine(
            recorded, vocabulary, prompts, tolerated_outage=tolerated_outage, memory=memory
        )
    local = local_settings(settings, folder=folder)
    return OfflineEngine(
        local, vocabulary, prompts, tolerated_outage=tolerated_outage, memory=memory
    )


def completer(settings: Extraction, *, folder: Path) -> ServerCompleter | ModelProcess:
    """Make what completes prompts, for questions that are not about reports; close it after."""
    if settings.engine == "server":
        return ServerCompleter(settings.server(os.environ.get(KEY_VARIABLE, "")))
    return ModelProcess(local_settings(settings, folder=folder))


def local_settings(settings: Extraction, *, folder: Path) -> LocalSettings:
    """Give the settings of a model on this machine.

    Raises
    ------
    ModelSettingsError
        If the folder holds no model, the interpreter is missing or a limit cannot be used.
    """
    backend: Backend = "transformers" if settings.engine == "transformers" else "vllm"
    bound = settings.structured_output
    return LocalSettings(
        backend=backend,
        model=folder / (settings.model or ""),
        python=_python(settings, backend, folder),
        dtype=settings.dtype,
        tensor_parallel=settings.tensor_parallel,
        memory_share=settings.memory_share,
        data_parallel=settings.data_parallel,
        weights=settings.weights,
        cache=settings.cache,
        max_sequences=None if settings.max_sequences == "auto" else settings.max_sequences,
        context_tokens=settings.context_tokens,
        answer_tokens=settings.answer_tokens,
        structured=backend == "vllm" if bound is None else bool(bound),
        manner=settings.manner(chat=has_chat_template(folder / (settings.model or ""))),
        timeout_seconds=settings.model_timeout_seconds,
    )


def reading(reader: RuleEngine | ModelEngine) -> dict[str, object]:
    """Say what reads the reports and, of a language model, what it was asked by this process."""
    asked = {"model": reader.counts()} if isinstance(reader, ModelEngine) else {}
    return {"engine": reader.name, "engine_version": reader.version, **asked}


def _python(settings: Extraction, backend: Backend, folder: Path) -> Path:
    """Find the model's interpreter: as named, as installed here, or for transformers our own."""
    if settings.vllm_python:
        return folder / settings.vllm_python
    if backend == "transformers" and not _INSTALLED.is_file():
        return Path(sys.executable)
    return _INSTALLED
