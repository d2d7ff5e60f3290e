"""What the extraction commands share: reading reports, building the engine, running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from extraction.finding import Outcome
    from extraction.rules import RuleEngine

__all__ = ["NEEDED", "one_of", "read_reports", "rule_engine", "run_engine"]

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


def run_engine(engine: RuleEngine, frame: pd.DataFrame) -> list[Outcome]:
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
