"""Observation segments → the report: one line each, ``~`` blobs, escapes, sections, status.

Segments are put in the order of their set-ID where all have one, so that a shuffled feed gives the
same text. Escapes are decoded after splitting. Text encapsulated in ``ED`` is read; pointers (RP),
other attachments and coded results are no text, and rows that were deleted or posted as wrong
(OBX-11 D, W, X) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pipeline.formats.attachments import attached_text, decoded_base64
from pipeline.formats.hl7v2.separators import Separators, unescaped
from pipeline.formats.values import status_of

__all__ = ["Observations", "observations"]

_TEXT_TYPES: Final = frozenset({"TX", "ST", "FT", "", "CX", "TN", "LTX", "UT", "TXT"})
_ATTACHMENTS: Final = frozenset({"ED", "RP"})
_GONE: Final = frozenset({"D", "W", "X"})
_HEADING: Final = re.compile(r"\s{0,8}[A-Z][A-Za-z /&()-]{2,40}:")
_SECTIONS: Final[Mapping[str, str]] = {
    "GDT": "FINDINGS:", "18782-3": "FINDINGS:", "59776-5": "FINDINGS:",
    "IMP": "IMPRESSION:", "19005-8": "IMPRESSION:",
    "ADT": "ADDENDUM:", "ADN": "ADDENDUM:", "ADM": "ADDENDUM:", "55107-7": "ADDENDUM:",
}  # fmt: skip
"""OBX-3 suffix or LOINC code → heading."""
_FURTHEST: Final = ("addendum", "corrected", "prelim", "final")
_TEXT_KINDS: Final = {"": "", "text": "", "plain": "text/plain", "html": "text/html",
    "xml": "text/xml", "txt": "text/plain", "octet-stream": ""}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Observations:
    """The report of one order.

    Attributes
    ----------
    text
        The report; '' where no row holds text.
    has_addendum
        Whether a row is an addendum.
    rows
        What the rows that were used say beside their text, each once; the furthest status first,
        so that it speaks for the report.
    only_attachment
        Whether there is no text but an attachment that is none, or a pointer.
    """

    text: str
    has_addendum: bool
    rows: tuple[str, ...]
    only_attachment: bool


def observations(lines: Sequence[str], separators: Separators) -> Observations:
    """Build the report of one order from its ``OBX`` segments as they came."""
    rows = _ordered([line.split(separators.field) for line in lines])
    used = [row for row in rows if _cell(row, 11).strip().upper() not in _GONE]
    parts: list[str] = []
    section, addendum, attachments = "", False, 0
    for row in used:
        kind = _cell(row, 2).strip().upper()
        attachments += kind in _ATTACHMENTS
        text = _text(row, kind, separators)
        if text is None:
            continue
        heading = _SECTIONS.get(_suffix(row, separators), "")
        if heading not in (section, "") and text.strip():
            # Reports begin with their findings: only a change of section needs a heading.
            opens = heading == "FINDINGS:" and not section
            if not opens and not _HEADING.match(text):
                parts.append(heading)
            section = heading
        addendum = addendum or heading == "ADDENDUM:"
        parts.append(text)
    text = "\n".join(parts).strip("\n ")
    spoken = dict.fromkeys(
        separators.field.join(["OBX", "", *[""] * 4, *row[6:]]) for row in sorted(used, key=_rank)
    )
    return Observations(text, addendum, tuple(spoken), not text.strip() and attachments > 0)


def _text(row: Sequence[str], kind: str, separators: Separators) -> str | None:
    value = _cell(row, 5)
    if kind == "ED":
        return _encapsulated(value.split(separators.component), separators)
    if kind not in _TEXT_TYPES:
        return None
    lines = value.split(separators.repetition)
    return "\n".join(unescaped(line, separators).rstrip() for line in lines if line != '""')


def _encapsulated(components: Sequence[str], separators: Separators) -> str | None:
    """Read ``source ^ type ^ subtype ^ encoding ^ data`` where it holds text."""
    subtype, encoding = (_cell(components, at).strip().casefold() for at in (2, 3))
    data = unescaped(_cell(components, 4), separators)
    kind = _TEXT_KINDS.get(subtype)
    if kind is None or not data:
        return None
    content = decoded_base64(data) if encoding == "base64" else data.encode()
    return None if content is None else attached_text(content, kind)


def _suffix(row: Sequence[str], separators: Separators) -> str:
    code = _cell(row, 3).split(separators.component)[0]
    return code.rpartition(separators.sub)[2].strip().upper()


def _rank(row: Sequence[str]) -> int:
    raw = _cell(row, 11).strip()
    status = status_of(raw) if raw else ""
    return _FURTHEST.index(status) if status else len(_FURTHEST)


def _ordered(rows: list[list[str]]) -> list[list[str]]:
    numbers = [_cell(row, 1).strip() for row in rows]
    if all(number.isdigit() and len(number) < 9 for number in numbers) and len(set(numbers)) == len(
        rows
    ):
        return sorted(rows, key=lambda row: int(_cell(row, 1)))
    return rows


def _cell(row: Sequence[str], at: int) -> str:
    return row[at] if at < len(row) else ""
