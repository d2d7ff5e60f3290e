"""The columns of an exam and the one hash: apart, so that a changed option changes no stage's code.

Every stage imports this module, and a stage's keys depend on the code it imports.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

LookedFor: TypeAlias = Literal["names", "numbers", "names and numbers", "date", ""]
"""What of a column is looked for in the text; a date is found by its shape, '' names nobody."""

_IN_EVERY_EXAM: Final[Mapping[str, LookedFor]] = {
    "exam_id": "numbers", "accession": "numbers", "patient_id": "numbers", "reader_id": "numbers",
    "reader_name": "names", "site": "", "modality": "", "exam_code": "", "exam_name": "",
    "performed_at": "", "signed_at": "", "status": "", "version": "", "patient_age_years": "",
    "patient_class": "", "patient_name": "names", "text": "",
}  # fmt: skip
_IN_SOME: Final[Mapping[str, LookedFor]] = {
    "patient_birth_date": "date", "referring_name": "names", "phone": "numbers",
    "preliminary_author": "names and numbers", "staff_names": "names", "relative_names": "names",
    "other_ids": "numbers", "sent_at": "", "patient_authority": "", "patient_sex": "",
}  # fmt: skip

EXAM_COLUMNS: Final[tuple[str, ...]] = tuple(_IN_EVERY_EXAM)
"""Columns of an exam as a reader yields it; all text, '' where the source says nothing."""

OPTIONAL_COLUMNS: Final[tuple[str, ...]] = tuple(_IN_SOME)
"""Columns that a source may lack.

``sent_at`` (when the message was sent) orders versions signed at one time; ``patient_authority``
(who issued the patient's number) distinguishes patients of one number; ``patient_sex`` is one of
the groups by which the committee's review compares cases.

``patient_name``, ``phone``, ``staff_names``, ``relative_names`` and ``other_ids`` may hold several
values, separated by semicolons.
"""

IDENTIFIERS: Final[Mapping[str, LookedFor]] = {
    name: what for name, what in {**_IN_EVERY_EXAM, **_IN_SOME}.items() if what
}
"""Columns that can tell who somebody is → what de-identification looks for in the exam's text."""


def sha256(content: bytes) -> str:
    """Hash bytes into 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def digest_of(*parts: object) -> str:
    """Hash any JSON-like values into 16 hexadecimal digits: keys of shards and of runs."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return sha256(text.encode())[:16]
