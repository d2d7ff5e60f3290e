r"""What a message's header says about its own writing: separators, escapes, character set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = ["STANDARD", "Separators", "declared_encoding", "unescaped"]

_CHARACTER_SET_FIELD: Final = 17
_DECLARED: Final[Mapping[str, str]] = {
    "ASCII": "ascii", "UNICODE UTF-8": "utf-8", "UTF-8": "utf-8", "UNICODE": "utf-8",
    "ISO IR14": "iso2022_jp", "ISO IR87": "iso2022_jp", "ISO IR159": "iso2022_jp_2",
    "GB 18030-2000": "gb18030", "KS X 1001": "euc_kr", "BIG-5": "big5",
}  # fmt: skip
"""MSH-18 → Python's name; ``8859/n`` is read as its number."""
_LATIN: Final = re.compile(r"(?:ISO[- ]?)?8859[/-](1[0-6]|[1-9])")
_CONTROL: Final = re.compile(r"[CM][0-9A-Fa-f]{4,6}|Z[^ ]{0,40}|P")


@dataclass(frozen=True, slots=True)
class Separators:
    """The five characters a message is written with; standard ones where it names fewer."""

    field: str = "|"
    component: str = "^"
    repetition: str = "~"
    escape: str = "\\"
    sub: str = "&"

    @classmethod
    def of(cls, header: str) -> Separators:
        """Read them off the header segment."""
        bar = header[3:4] or "|"
        named = header[4:].split(bar, 1)[0][:4]
        return cls(bar, *(named + "^~\\&"[len(named) :]))


STANDARD: Final = Separators()


def declared_encoding(header: bytes) -> str:
    """Give the encoding a header's MSH-18 declares, or ''."""
    fields = header.split(header[3:4] or b"|")
    if len(fields) <= _CHARACTER_SET_FIELD:
        return ""
    stated = fields[_CHARACTER_SET_FIELD].decode("latin-1").split("~")[0].strip().upper()
    latin = _LATIN.fullmatch(stated)
    if latin:  # who says Latin 1 writes Windows' quotation marks and dashes too
        return "cp1252" if latin.group(1) == "1" else f"iso8859-{latin.group(1)}"
    return _DECLARED.get(stated, "")


def unescaped(text: str, separators: Separators = STANDARD) -> str:
    r"""Decode escapes; what is none stays as it is.

    Examples
    --------
    >>> unescaped(r"A\T\B\.br\2\S\3\X0A\4 and\or 5")
    'A&B\n2^3\n4 and\\or 5'
    """
    if separators.escape not in text:
        return text
    return _pattern(separators.escape).sub(lambda match: _meant(match, separators), text)


@lru_cache(maxsize=16)
def _pattern(escape: str) -> re.Pattern[str]:
    mark = re.escape(escape)
    return re.compile(rf"{mark}([^{mark}\r\n]{{0,80}}){mark}")


def _meant(match: re.Match[str], separators: Separators) -> str:
    code = match.group(1)
    plain = {
        "F": separators.field, "S": separators.component, "T": separators.sub,
        "R": separators.repetition, "E": separators.escape, "H": "", "N": "",
    }  # fmt: skip
    if code in plain:
        return plain[code]
    if code.startswith((".br", ".sp", ".ce")):
        return "\n"
    if code.startswith("."):
        return " " if code.startswith((".sk", ".ti")) else ""
    if code[:1] == "X":
        return _hexadecimal(code[1:], match.group())
    return "" if _CONTROL.fullmatch(code) else match.group()


def _hexadecimal(figures: str, written: str) -> str:
    try:
        content = bytes.fromhex(figures)
    except ValueError:
        return written
    for name in ("utf-8", "cp1252"):
        try:
            return content.decode(name).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")
