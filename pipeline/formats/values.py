"""What formats say in their own words → ours: a report's status, an exam's modality by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

__all__ = ["RETRACTED", "modality_of", "status_of"]

_STATUS: Final[Mapping[str, str]] = {
    "": "final", "f": "final", "signed": "final", "verified": "final", "u": "final",
    "approved": "final", "authenticated": "final", "released": "final", "auth (verified)": "final",
    "auth": "final", "authorised": "final", "authorized": "final", "validated": "final",
    "attested": "final", "signed off": "final",
    "p": "prelim", "r": "prelim", "wet read": "prelim", "draft": "prelim", "dictated": "prelim",
    "transcribed": "prelim", "unsigned": "prelim", "unverified": "prelim", "unauth": "prelim",
    "in progress": "prelim", "partial": "prelim", "pending signature": "prelim",
    "a": "addendum", "appended": "addendum",
    "c": "corrected", "amended": "corrected", "modified": "corrected",
}  # fmt: skip
RETRACTED: Final = "retracted"
"""The status of a row or message that takes the report back and says nothing in its place."""
_STATUS_WORDS: Final = (
    (re.compile(r"\bentered.in.error\b|^(?:retract|withdrawn|void|delet|cancel)"), RETRACTED),
    (re.compile(r"^(?:un|not |non-?)(?:sign|verif|final|auth)|\bunsigned\b"), "prelim"),
    (re.compile(r"\baddend"), "addendum"),
    (re.compile(r"^corr|\b(?:correct|amend|edited|revised)"), "corrected"),
    (re.compile(r"^(?:prelim|wet\b)"), "prelim"),
    (re.compile(r"^final"), "final"),
)
"""What a status says → ours, in this order: "Edited result - FINAL" is a correction."""

_WORD: Final = re.compile(
    r"\b(XR|CR|DX|CT|CTA|CTPA|CTAP|HRCT|LDCT|MRI?|MRA|US|NM|PET|MG|FL|IR|P?CXR)\b"
    r"|\b(CT|XR|DX)(?=CHEST|THORAX)"
)
_CANONICAL: Final = {"CTA": "CT", "CTPA": "CT", "CTAP": "CT", "HRCT": "CT", "LDCT": "CT",
                     "MRI": "MR", "MRA": "MR", "CXR": "XR", "PCXR": "XR"}  # fmt: skip
_TOMOGRAM: Final = re.compile(r"\bcomputed tomogra|\bCAT scan", re.IGNORECASE)
_FILM: Final = re.compile(
    r"\b(?:\d view|x[- ]?rays?|radiographs?|radiography|views?|cxr|portable chest)\b"
    r"|\bchest\b.{0,20}\b(?:pa|ap|lat|lateral|port|portable|[12]v)\b"
    r"|\b(?:portable|pa|ap)\b.{0,12}\bchest\b|\bthorax p\.?[ ]?a\b",
    re.IGNORECASE,
)


def status_of(raw: str) -> str:
    """Give our status for a source's word; '' where it is none we know."""
    folded = " ".join(raw.casefold().split())
    if folded in _STATUS:
        return _STATUS[folded]
    return next((ours for words, ours in _STATUS_WORDS if words.search(folded)), "")


def modality_of(exam_name: str) -> str:
    """Read an exam's modality off its name; '' where it does not say.

    Examples
    --------
    >>> modality_of("CTA CHEST W CONTRAST"), modality_of("Chest X-ray 2 views"), modality_of("BONE")
    ('CT', 'XR', '')
    >>> modality_of("CHEST PA/LAT"), modality_of("CT CHEST PORTABLE"), modality_of("CHEST TUBE")
    ('XR', 'CT', '')
    """
    word = _WORD.search(exam_name.upper().replace("-", " ").replace("_", " "))
    if word:
        return _CANONICAL.get(found := word.group(1) or word.group(2), found)
    if _TOMOGRAM.search(exam_name):
        return "CT"
    return "XR" if _FILM.search(exam_name) else ""
