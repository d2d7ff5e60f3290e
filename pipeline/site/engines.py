"""From what a site or a command line asks for to the engine that reads its reports, and its memory.

Memory: a shard's key changes when one of its exams does; its other reports are then found here. One
SQLite file; a row is a hash and what the model said, as offsets and words of our vocabularies: no
text. Failures are not kept. It is a cache: one that is damaged is begun anew.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from extraction.engines.ledger import Memory
from extraction.engines.model import ModelEngine, Terms
from extraction.engines.process import ModelProcess
from extraction.engines.settings import Backend, LocalSettings
from extraction.engines.weights import has_chat_template
from extraction.finding import Extracted, Failed, Finding, NothingStated, Outcome
from extraction.prompt.examples import load as load_prompts
from extraction.rules.engine import RuleEngine
from extraction.vocabulary import Vocabulary
from pipeline.config.sections import Extraction

if TYPE_CHECKING:
    from extraction.engines.kinds import ServerCompleter

KEY_VARIABLE: Final = "RADCAL_SERVER_KEY"
"""The environment variable that holds a model server's key; it stands nowhere else."""

_ALIKE: Final = {
    "dtype", "tensor_parallel", "data_parallel", "memory_share", "weights", "cache",
    "context_tokens", "answer_tokens",
}  # fmt: skip
"""Options that the configuration and a model's settings call by one name."""
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
        See `extraction.engines.model.Terms`.

    Raises
    ------
    ModelSettingsError
        If the model cannot be used as it is named.
    PromptError
        If the examples cannot be used.
    """
    if settings.engine == "rules":
        return RuleEngine(vocabulary)
    terms = Terms(
        vocabulary=vocabulary,
        prompts=load_prompts(folder / settings.examples if settings.examples else None),
        tolerated_outage=tolerated_outage,
        memory=memory,
    )
    made = _asking(settings, folder, terms)
    if settings.record:
        made.record(folder / settings.record)
    return made


def _asking(settings: Extraction, folder: Path, terms: Terms) -> ModelEngine:
    """Make an engine that asks a model."""
    from extraction.engines.kinds import OfflineEngine, ReplayEngine, ServerEngine

    if settings.engine == "server":
        return ServerEngine(settings.server(os.environ.get(KEY_VARIABLE, "")), terms)
    if settings.engine == "replay":
        return ReplayEngine(folder / (settings.model or ""), terms)
    return OfflineEngine(local_settings(settings, folder=folder), terms)


def completer(settings: Extraction, *, folder: Path) -> ServerCompleter | ModelProcess:
    """Make what completes prompts, for questions that are not about reports; close it after."""
    from extraction.engines.kinds import ServerCompleter

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
        **settings.model_dump(include=_ALIKE),
        backend=backend,
        model=folder / (settings.model or ""),
        python=_python(settings, backend, folder),
        max_sequences=None if settings.max_sequences == "auto" else settings.max_sequences,
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


_SECONDS: Final = 60.0
_TABLE: Final = "CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, outcome TEXT NOT NULL)"
_KNOWN: Final = "SELECT key, outcome FROM outcomes WHERE key IN (SELECT value FROM json_each(?))"


class OutcomeMemory:
    """Remembers outcomes in a file; see `extraction.engines.ledger.Memory`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, keys: Sequence[str]) -> Mapping[str, Outcome]:
        """Give what is known of some keys."""
        if not self._path.is_file():
            return {}
        try:
            with self._opened() as connection:
                rows = connection.execute(_KNOWN, [json.dumps(list(keys))]).fetchall()
            return {key: _read(outcome) for key, outcome in rows}
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            self._path.unlink(missing_ok=True)
            return {}

    def keep(self, outcomes: Mapping[str, Outcome]) -> None:
        """Remember outcomes; all of them, or none if the process is killed."""
        rows = [(key, _written(o)) for key, o in outcomes.items() if not isinstance(o, Failed)]
        if rows:
            with self._opened() as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO outcomes VALUES (?, ?)", rows)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=_SECONDS)) as connection:
            connection.execute(_TABLE)
            yield connection


def _written(outcome: Extracted | NothingStated) -> str:
    findings = outcome.findings if isinstance(outcome, Extracted) else ()
    rows = [[f.section, f.start, f.end, f.pathology, f.cue, f.phrase] for f in findings]
    return json.dumps([rows, sorted(outcome.not_evaluable)], separators=(",", ":"))


def _read(content: str) -> Outcome:
    rows, not_evaluable = json.loads(content)
    if rows:
        return Extracted(tuple(Finding(*row) for row in rows), frozenset(not_evaluable))
    return NothingStated(frozenset(not_evaluable))
