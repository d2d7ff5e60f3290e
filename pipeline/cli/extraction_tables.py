"""What the extraction commands share: reading reports, building the engine, running it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipeline.cli.extraction_options import ServerChoice
from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from extraction.engines import Engine
    from extraction.engines.server import ServerEngine
    from extraction.finding import Outcome
    from extraction.rules import RuleEngine

__all__ = [
    "ENGINES",
    "KEY_VARIABLE",
    "NEEDED",
    "named_engine",
    "one_of",
    "read_reports",
    "rule_engine",
    "run_engine",
]

ENGINES: Final = ("rules", "server")
"""Engines a command can be asked for."""

KEY_VARIABLE: Final = "RADCAL_SERVER_KEY"
"""The environment variable that holds a model server's key; it stands nowhere else."""

NEEDED: Final[Mapping[str, str]] = {
    "report_id": "a unique name for the report",
    "modality": "XR or CT",
    "text": "the report's text",
}


def one_of(option: str, value: str, known: Sequence[str]) -> None:
    """Refuse a value that is not one of the known ones."""
    if value not in known:
        msg = f"{option}: {value!r} is unknown; use one of {', '.join(known)}."
        raise ConfigurationError(msg)


def rule_engine(vocabulary: Path | None) -> RuleEngine:
    """Build the rule engine with the shipped vocabulary or a folder's."""
    from extraction.errors import VocabularyError
    from extraction.rules import RuleEngine
    from extraction.vocabulary import load

    try:
        return RuleEngine(load(vocabulary))
    except VocabularyError as error:
        msg = f"--vocabulary: {error}"
        raise ConfigurationError(msg) from None


def named_engine(
    name: str, *, server: ServerChoice, vocabulary: Path | None
) -> RuleEngine | ServerEngine:
    """Build the engine a command asks for; options of another engine are refused."""
    one_of("--engine", name, ENGINES)
    if name == "server":
        return _server_engine(server, vocabulary)
    if server.given:
        msg = "--server, --model and --structured-output belong to --engine server."
        raise ConfigurationError(msg)
    return rule_engine(vocabulary)


def _server_engine(server: ServerChoice, vocabulary: Path | None) -> ServerEngine:
    """Build the engine that asks a model server, with the key of the environment."""
    from extraction.engines.server import ServerEngine
    from extraction.engines.settings import ServerSettings
    from extraction.errors import ExtractionError
    from extraction.vocabulary import load

    if not server.url or not server.model:
        msg = "--engine server needs --server URL and --model NAME."
        raise ConfigurationError(msg)
    try:
        settings = ServerSettings(
            url=server.url,
            model=server.model,
            key=os.environ.get(KEY_VARIABLE, ""),
            concurrency=server.concurrency,
            structured=server.structured,
            context_tokens=server.context_tokens,
        )
        return ServerEngine(settings, load(vocabulary))
    except ExtractionError as error:
        msg = f"--engine server: {error}"
        raise ConfigurationError(msg) from None


def read_reports(path: Path, *, needed: Mapping[str, str] = NEEDED) -> pd.DataFrame:
    """Read a table of reports that has the needed columns and no report twice."""
    from pipeline.formats.tables import read_table, require_columns

    frame = read_table(path)
    require_columns(frame, needed, source=path.name)
    if frame.empty:
        msg = f"{path.name}: the table has no rows; give at least one report."
        raise InputError(msg)
    twice = frame["report_id"].astype(str).duplicated()
    if twice.any():
        first = int(twice.to_numpy().nonzero()[0][0]) + 1
        msg = (
            f"{path.name}: report_id: {int(twice.sum())} of {len(frame)} rows repeat an earlier "
            f"one; first at row {first}. Make them unique before extracting."
        )
        raise InputError(msg)
    return frame


def run_engine(engine: Engine, frame: pd.DataFrame) -> list[Outcome]:
    """Outcomes in the table's order; each modality in one call, an unknown modality failed."""
    from extraction.finding import Failed

    modalities = frame["modality"].astype(str).str.strip().str.upper()
    texts = frame["text"].tolist()
    outcomes: list[Outcome] = [Failed("unknown modality")] * len(texts)
    for modality in ("XR", "CT"):
        rows = modalities.eq(modality).to_numpy().nonzero()[0].tolist()
        found = engine.extract([texts[row] for row in rows], modality=modality)
        for row, outcome in zip(rows, found, strict=True):
            outcomes[row] = outcome
    return outcomes
