"""What every format reader yields: exams as text columns, and the rows it set aside.

Readers do not judge values; they find them. `pipeline.tables.validation` validates what they yield,
so that a bad time is the same quarantine row whichever format it came in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pandas as pd

__all__ = [
    "EXAM_COLUMNS",
    "OPTIONAL_COLUMNS",
    "QUARANTINE_COLUMNS",
    "ExamBatch",
]

EXAM_COLUMNS: Final[tuple[str, ...]] = (
    "exam_id", "accession", "patient_id", "reader_id", "reader_name", "site", "modality",
    "exam_code", "exam_name", "performed_at", "signed_at", "status", "version",
    "patient_age_years", "patient_class", "patient_name", "text",
)  # fmt: skip
"""Columns of an exam as a reader yields it; all text, '' where the source says nothing."""

OPTIONAL_COLUMNS: Final[tuple[str, ...]] = (
    "patient_birth_date", "referring_name", "phone", "preliminary_author", "staff_names",
    "relative_names", "other_ids",
)  # fmt: skip
"""Further identifiers that de-identification looks for when a source has them.

``patient_name``, ``phone``, ``staff_names``, ``relative_names`` and ``other_ids`` may hold several,
parted by semicolons.
"""

QUARANTINE_COLUMNS: Final[tuple[str, ...]] = ("source", "row", "reason", "detail")
"""``row`` counts from 1 within the source; ``detail`` never holds text or identifiers."""


@dataclass(frozen=True, slots=True)
class ExamBatch:
    """Some exams of one source.

    Attributes
    ----------
    exams
        `EXAM_COLUMNS` and `OPTIONAL_COLUMNS` as text, and ``source_row`` (int, from 1 in a file).
    quarantined
        `QUARANTINE_COLUMNS`.
    files
        The file that each exam stands in, while they are read.
    """

    exams: pd.DataFrame
    quarantined: pd.DataFrame
    files: tuple[str, ...] = ()
