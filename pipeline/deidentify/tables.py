"""A table of reports in, the same table with clean texts out, and a table of what was removed.

Columns that hold identifiers feed the known-identifier pass and are left out of the result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pandas as pd

from pipeline.deidentify.engine import Deidentifier
from pipeline.deidentify.known import KnownIdentifiers
from pipeline.deidentify.spans import Clean, Outcome, Quarantined
from pipeline.errors import InputError
from pipeline.formats.tables import require_columns, shown_names

__all__ = ["KNOWN_COLUMNS", "CleanTable", "clean_table", "known_from_rows"]

KNOWN_COLUMNS: Final[Mapping[str, str]] = {
    "patient_name": "patient_names",
    "patient_id": "patient_ids",
    "mrn": "patient_ids",
    "accession": "accessions",
    "reader_name": "staff_names",
    "reader_id": "other_ids",
    "referring_name": "staff_names",
    "staff_names": "staff_names",
    "relative_names": "relative_names",
    "phone": "phones",
    "patient_birth_date": "birth_dates",
}
"""Column of a report table → the field of `KnownIdentifiers` it feeds."""

_SEVERAL: Final = ";"
_OURS: Final = frozenset({"report_id", "text", *KNOWN_COLUMNS})


@dataclass(frozen=True, slots=True)
class CleanTable:
    """The clean reports, ``quarantined`` (true or false) and ``reason`` added, and the spans."""

    reports: pd.DataFrame
    spans: pd.DataFrame
    quarantined: int

    def summary(self) -> dict[str, object]:
        """Count reports, identifiers by category, and reports withheld."""
        by_category = self.spans["category"].value_counts().sort_index()
        return {
            "reports": len(self.reports),
            "quarantined": self.quarantined,
            "identifiers": len(self.spans),
            "by_category": {str(name): int(count) for name, count in by_category.items()},
        }


def clean_table(
    reports: pd.DataFrame, *, source: str, deidentifier: Deidentifier | None = None
) -> CleanTable:
    """Clean every report of a table.

    Parameters
    ----------
    reports
        ``report_id, text``, any of `KNOWN_COLUMNS`, and columns that pass through.
    source
        The file's name, for messages.

    Raises
    ------
    InputError
        If a needed column is missing, or stands there twice.
    """
    needed = {"report_id": "a name for each report", "text": "the report as written"}
    require_columns(reports, needed, source=source)
    _refuse_twins(reports, source)
    cells = reports["text"].tolist()
    texts = [cell if isinstance(cell, str) else "" for cell in cells]
    cleaned = (deidentifier or Deidentifier()).batch(texts, known=known_from_rows(reports))
    outcomes = [_if_text(cell, each) for cell, each in zip(cells, cleaned, strict=True)]
    ids = reports["report_id"].astype(str).tolist()
    frame = reports.drop(columns=[name for name in KNOWN_COLUMNS if name in reports.columns])
    frame = frame.assign(
        text=[each.text if isinstance(each, Clean) else "" for each in outcomes],
        quarantined=[not isinstance(each, Clean) for each in outcomes],
        reason=["" if isinstance(each, Clean) else each.reason for each in outcomes],
    )
    withheld = sum(not isinstance(each, Clean) for each in outcomes)
    return CleanTable(frame, _spans(ids, outcomes), withheld)


def _refuse_twins(reports: pd.DataFrame, source: str) -> None:
    """Refuse a table with two columns of one name: nobody can say which one is meant."""
    twins = sorted({str(name) for name in reports.columns[reports.columns.duplicated()]})
    twins += [name for name in reports.columns if str(name).removesuffix(".1") in _OURS - {name}]
    if twins:
        msg = (
            f"{source}: {len(twins)} column name(s) stand there twice: {shown_names(twins)}. "
            "Rename or drop one of each."
        )
        raise InputError(msg)


def _if_text(cell: object, outcome: Outcome) -> Outcome:
    """Withhold a cell that holds neither text nor nothing (bytes, a number)."""
    missing = cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))
    return outcome if missing or isinstance(cell, str) else Quarantined("not-text")


def known_from_rows(rows: pd.DataFrame) -> list[KnownIdentifiers]:
    """Read what each row's own columns say about its people and numbers."""
    columns = [name for name in KNOWN_COLUMNS if name in rows.columns]
    values = [rows[name].fillna("").astype(str).tolist() for name in columns]
    return [_known(columns, row) for row in zip(*values, strict=True)] or [
        KnownIdentifiers() for _ in range(len(rows))
    ]


def _known(columns: list[str], row: tuple[str, ...]) -> KnownIdentifiers:
    collected: dict[str, list[str]] = {}
    for name, cell in zip(columns, row, strict=True):
        parts = [part.strip() for part in cell.split(_SEVERAL)]
        collected.setdefault(KNOWN_COLUMNS[name], []).extend(part for part in parts if part)
    return KnownIdentifiers(**{field: tuple(values) for field, values in collected.items()})


def _spans(ids: list[str], outcomes: list[Outcome]) -> pd.DataFrame:
    rows = [
        (report_id, each.start, each.end, each.category, each.rule)
        for report_id, outcome in zip(ids, outcomes, strict=True)
        if isinstance(outcome, Clean)
        for each in outcome.removed
    ]
    return pd.DataFrame(rows, columns=["report_id", "start", "end", "category", "rule"])
