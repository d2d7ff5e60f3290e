"""The columns of an exam and the one hash: apart, so that a changed option changes no stage's code.

Every stage imports this module, and a stage's keys depend on the code it imports.
"""

from __future__ import annotations

import hashlib
import json
from typing import Final

EXAM_COLUMNS: Final[tuple[str, ...]] = (
    "exam_id", "accession", "patient_id", "reader_id", "reader_name", "site", "modality",
    "exam_code", "exam_name", "performed_at", "signed_at", "status", "version",
    "patient_age_years", "patient_class", "patient_name", "text",
)  # fmt: skip
"""Columns of an exam as a reader yields it; all text, '' where the source says nothing."""

OPTIONAL_COLUMNS: Final[tuple[str, ...]] = (
    "patient_birth_date", "referring_name", "phone", "preliminary_author", "staff_names",
    "relative_names", "other_ids", "sent_at", "patient_authority", "patient_sex",
)  # fmt: skip
"""Columns that a source may lack; most hold identifiers that de-identification looks for in texts.

Three do not: ``sent_at`` (when the message was sent) orders versions signed at one time;
``patient_authority`` (who issued the patient's number) distinguishes patients of one number;
``patient_sex`` is one of the groups by which the committee's review compares cases.

``patient_name``, ``phone``, ``staff_names``, ``relative_names`` and ``other_ids`` may hold several
values, separated by semicolons.
"""


def digest_of(*parts: object) -> str:
    """Hash any JSON-like values into 16 hexadecimal digits: keys of shards and of runs."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
