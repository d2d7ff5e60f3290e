"""What every format reader yields: exams as text columns, and the rows it set aside.

Readers do not judge values; they find them. `pipeline.tables.validation` validates what they yield,
so that a bad time is the same quarantine row whichever format it came in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pandas as pd

from pipeline.config.columns import EXAM_COLUMNS, OPTIONAL_COLUMNS

__all__ = [
    "EXAM_COLUMNS",
    "OPTIONAL_COLUMNS",
    "QUARANTINE_COLUMNS",
    "ExamBatch",
]

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
