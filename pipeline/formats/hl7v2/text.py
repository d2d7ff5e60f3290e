"""Observation segments → the report: one line each, ``~`` blobs, escapes, sections, status.

Segments are put in the order of their set-ID where all have one, so that a shuffled feed gives the
same text. Escapes are decoded after splitting. Pointers (RP), encapsulated data (ED) and coded
results are no text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Observations", "observations", "unescaped"]

_TEXT_TYPES: Final = frozenset({"TX", "ST", "FT", "", "CX", "TN", "LTX", "UT"})
_HEADING: Final = re.compile(r"\s{0,8}[A-Z][A-Za-z /&()-]{2,40}:")
_SECTIONS: Final = {
    "IMP": "IMPRESSION:",
    "ADT": "ADDENDUM:",
    "ADN": "ADDENDUM:",
    "ADM": "ADDENDUM:",
}
_ADDENDA: Final = frozenset({"ADT", "ADN", "ADM"})
_ESCAPE: Final = re.compile(r"\\([^\\\r\n]{0,80})\\")
_PLAIN: Final = {"T": "&", "S": "^", "F": "|", "R": "~", "E": "\\", "H": "", "N": ""}


@dataclass(frozen=True, slots=True)
class Observations:
    """The report of one order, whether it holds an addendum, and its first segment."""

    text: str
    has_addendum: bool
    first: str


def observations(lines: Sequence[str], *, separators: str) -> Observations:
    """Build the report of one order from its observation segments.

    Parameters
    ----------
    lines
        ``OBX`` segments as they came.
    separators
        The message's field, component and repetition separators, in this order.
    """
    bar, caret, tilde = tuple(separators)
    rows = _ordered([line.split(bar) for line in lines])
    parts: list[str] = []
    section, addendum = "", False
    for row in rows:
        if _cell(row, 2).strip().upper() not in _TEXT_TYPES:
            continue
        suffix = _cell(row, 3).split(caret)[0].rpartition("&")[2].strip().upper()
        text = "\n".join(unescaped(part).rstrip() for part in _cell(row, 5).split(tilde))
        if suffix != section and suffix in _SECTIONS and text.strip():
            if not _HEADING.match(text):
                parts.append(_SECTIONS[suffix])
            section = suffix
        addendum = addendum or suffix in _ADDENDA
        parts.append(text)
    first = next((line for line in lines if _cell(line.split(bar), 11)), "")
    return Observations("\n".join(parts).strip("\n "), addendum, first)


def unescaped(text: str) -> str:
    r"""Decode HL7 escapes.

    Examples
    --------
    >>> unescaped(r"A\T\B\.br\2\S\3")
    'A&B\n2^3'
    """
    return _ESCAPE.sub(_decoded, text) if "\\" in text else text


def _decoded(match: re.Match[str]) -> str:
    code = match.group(1)
    if code in _PLAIN:
        return _PLAIN[code]
    if code.startswith((".br", ".sp", ".ce")):
        return "\n"
    if code.startswith("."):
        return ""
    if code[:1] == "X" and len(code) % 2 == 1:
        try:
            return bytes.fromhex(code[1:]).decode("latin-1")
        except ValueError:
            return ""
    return match.group()


def _ordered(rows: list[list[str]]) -> list[list[str]]:
    numbers = [_cell(row, 1).strip() for row in rows]
    if all(number.isdigit() and len(number) < 9 for number in numbers) and len(set(numbers)) == len(
        rows
    ):
        return sorted(rows, key=lambda row: int(_cell(row, 1)))
    return rows


def _cell(row: Sequence[str], at: int) -> str:
    return row[at] if at < len(row) else ""
