"""What really holds in the simulated hospital: tables that no stage of the pipeline reads.

Column lists are the schema of the files; docs/simulation.md explains every column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import pandas as pd

from pipeline.simulate.department import Department

__all__ = ["EXAM_COLUMNS", "TABLES", "Ledger", "Truth"]

EXAM_COLUMNS: Final = (
    "exam_id", "accession", "patient_id", "reader_id", "reader_name", "site", "modality",
    "exam_code", "exam_name", "performed_at", "signed_at", "status", "version",
    "patient_age_years", "patient_class", "patient_name", "patient_birth_date", "referring_name",
    "phone", "text",
)  # fmt: skip
"""Columns of the exams table, times in UTC."""

TABLES: Final = {
    "pairs": (
        "xr_exam_id", "xr_accession", "ct_exam_id", "ct_accession", "patient_id", "reader_id",
        "ct_reader_id", "xr_performed_at", "ct_performed_at", "interval_minutes", "site",
        "patient_class", "patient_age_years",
    ),
    "report_findings": (
        "exam_id", "accession", "version", "status", "modality", "style", "pathology", "phrase",
        "section",
    ),
    "outcomes": (
        "xr_exam_id", "xr_accession", "reader_id", "pathology", "phrase", "meant", "probability",
        "ct_phrase", "label",
    ),
    "identifiers": ("exam_id", "start", "end", "category", "kind", "text", "distinctive"),
    "excluded": ("exam_id", "accession", "reason"),
}  # fmt: skip
"""Truth tables that grow with the simulation, and their columns."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Truth of a simulation or of one chunk of it; from ``readers`` on it is the same in each."""

    pairs: pd.DataFrame
    report_findings: pd.DataFrame
    outcomes: pd.DataFrame
    identifiers: pd.DataFrame
    excluded: pd.DataFrame
    readers: pd.DataFrame
    habits: pd.DataFrame
    swaps: pd.DataFrame
    pathologies: pd.DataFrame
    phrases: pd.DataFrame
    department: Department


@dataclass(slots=True)
class Ledger:
    """Rows collected while the texts are written, by table."""

    exams: list[tuple[Any, ...]] = field(default_factory=list)
    rows: dict[str, list[tuple[Any, ...]]] = field(
        default_factory=lambda: {name: [] for name in TABLES}
    )

    def frames(self) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        """Return the exams table and the growing truth tables."""
        exams = pd.DataFrame(self.exams, columns=list(EXAM_COLUMNS))
        return exams, {
            name: pd.DataFrame(self.rows[name], columns=list(columns))
            for name, columns in TABLES.items()
        }
