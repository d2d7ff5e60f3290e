"""What really holds in the simulated hospital: tables that no stage of the pipeline reads.

Column lists are the schema of the files; docs/simulation.md explains every column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import pandas as pd

from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.readers import Reader, Staff, projected_curve
from pipeline.simulate.scale import ct_labels, phrase_means

__all__ = ["EXAM_COLUMNS", "TABLES", "Ledger", "Truth", "fixed_tables"]

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
        "xr_exam_id", "xr_accession", "reader_id", "pathology", "phrase", "probability",
        "ct_phrase", "label",
    ),
    "identifiers": ("exam_id", "start", "end", "category", "kind", "text", "distinctive"),
    "excluded": ("exam_id", "accession", "reason"),
}  # fmt: skip
"""Truth tables that grow with the simulation, and their columns."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Truth tables of a simulation or of one chunk of it; the last four are the same in each."""

    pairs: pd.DataFrame
    report_findings: pd.DataFrame
    outcomes: pd.DataFrame
    identifiers: pd.DataFrame
    excluded: pd.DataFrame
    readers: pd.DataFrame
    habits: pd.DataFrame
    pathologies: pd.DataFrame
    phrases: pd.DataFrame


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


def _readers(staff: Staff) -> pd.DataFrame:
    rates = hospital()["rates"]
    mention = pd.Series({p.name: rates[p.name]["mention"] for p in wording().pathologies})
    rows = []
    for i, reader in enumerate(staff.readers):
        statements = mention.to_numpy()[:, None] * staff.usage[i]
        intercept, slope = projected_curve(staff.chance[i], statements)
        rows.append(
            {
                "reader_id": reader.reader_id,
                "reader_name": reader.person.full,
                "site": hospital()["site"][reader.site]["name"],
                "kind": reader.kind,
                "intercept": reader.intercept,
                "slope": reader.slope,
                "fitted_intercept": intercept,
                "fitted_slope": slope,
                "habits": len(reader.habits),
                "favourites": "; ".join(_favourites(reader)),
                "xray_style": reader.xray_style,
                "ct_style": reader.ct_style,
            }
        )
    return pd.DataFrame(rows)


def _favourites(reader: Reader) -> list[str]:
    """Return the three hedges a reader writes most often relative to the department."""
    weights = hospital()["phrase_weights"]
    liking = reader.favourites / [weights[p] for p in wording().phrases]
    order = liking[1:-1].argsort()[::-1][:3] + 1
    return [wording().phrases[k] for k in order]


def _habits(staff: Staff) -> pd.DataFrame:
    rows = [
        (
            reader.reader_id,
            wording().pathologies[habit.pathology].name,
            wording().phrases[habit.phrase],
            habit.probability,
        )
        for reader in staff.readers
        for habit in reader.habits
    ]
    return pd.DataFrame(rows, columns=["reader_id", "pathology", "phrase", "probability"])


def fixed_tables(staff: Staff) -> dict[str, pd.DataFrame]:
    """Return the truth tables that do not grow: readers, habits, pathologies and phrases."""
    rates = hospital()["rates"]
    pathologies = [{"pathology": p.name, **rates[p.name]} for p in wording().pathologies]
    phrases = {"phrase": wording().phrases, "mean": phrase_means(), "ct_label": ct_labels()}
    return {
        "readers": _readers(staff),
        "habits": _habits(staff),
        "pathologies": pd.DataFrame(pathologies),
        "phrases": pd.DataFrame(phrases),
    }
