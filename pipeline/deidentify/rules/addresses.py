"""E-mail and web addresses; they go before everything else, for they hold names and dots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found

__all__ = ["find"]

_EMAIL: Final = re.compile(
    r"[A-Za-z0-9._%+'-]{1,64}[ ]?(?:@|\(at\))[ ]?[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}"
)
_URL: Final = re.compile(r"\b(?:https?://|ftp://|www\.)[^\s<>\"')]{1,300}", re.IGNORECASE)
_NATIONS: Final = r"(?:uk|nl|se|dk|no|fi|de|fr|be|ch|at|ie|eu|au|nz|ca|es|it|in|za|sg)"
_KINDS: Final = r"(?:org|com|edu|net|gov|mil|info|health|io)"
_DOMAIN: Final = re.compile(
    rf"(?<![\w.@-])(?:(?:[A-Za-z0-9-]{{1,63}}\.){{1,4}}{_KINDS}"
    rf"|(?:[A-Za-z0-9-]{{2,63}}\.){{2,4}}{_NATIONS})\b"
    r"(?:/[^\s<>\"')]{0,200})?",
    re.IGNORECASE,
)
"""A host by its kind, or by its nation behind two names (portal.clinic.in)."""
_DOTTED: Final = re.compile(rf"\.(?<=[A-Za-z0-9].)(?:{_KINDS}|{_NATIONS})\b", re.IGNORECASE)
_HOST: Final = re.compile(
    rf"(?<![\w.@-])(?:[A-Za-z0-9-]{{2,63}}\.){{1,4}}{_NATIONS}(?:/[^\s<>\"')]{{1,200}})",
    re.IGNORECASE,
)
_NATION: Final = re.compile(r"/(?<=\.[A-Za-z][A-Za-z]/)")
"""A host without a scheme, known by its path."""
_LONGEST: Final = 65
"""How long what stands before the sign of an address, and a blank, can be."""
_HOST_LENGTH: Final = 260
_PATH: Final = 220
"""How far before its last dot a host can begin, and how far behind it a path can reach."""
_AT_DOMAIN: Final = re.compile(r"(?:@|\(at\))[ ]?[A-Za-z0-9-]{1,63}\.[A-Za-z0-9-]")
"""What every e-mail address has; times have an @ as well."""


def find(text: str) -> Iterator[Found]:
    """Find e-mail addresses, then web addresses."""
    if "@" in text or "(at)" in text:
        yield from _mails(text)
    if "://" in text or "www." in text or "WWW." in text:
        yield from _web(_URL, text)
    if _NATION.search(text):
        yield from _web(_HOST, text)
    yield from _domains(text)


def _domains(text: str) -> Iterator[Found]:
    """Find hosts from their last dots on, back over what stands before each without a blank."""
    done = 0
    for dot in _DOTTED.finditer(text):
        if dot.start() < done:
            continue
        first = max(done, dot.start() - _HOST_LENGTH)
        blank = max(text.rfind(" ", first, dot.start()), text.rfind("\n", first, dot.start()))
        match = _DOMAIN.search(text, max(first, blank + 1), dot.end() + _PATH)
        if match:
            done = match.end()
            yield Found(match.start(), done - (text[done - 1] in ".,;:"), "URL", "url")


def _mails(text: str) -> Iterator[Found]:
    """Find e-mail addresses from their signs on, back over what stands before each."""
    done = 0
    for sign in _AT_DOMAIN.finditer(text):
        match = _EMAIL.search(text, max(done, sign.start() - _LONGEST))
        if match:
            done = match.end()
            yield Found(match.start(), match.end(), "EMAIL", "email")


def _web(pattern: re.Pattern[str], text: str) -> Iterator[Found]:
    for match in pattern.finditer(text):
        end = match.end() - (text[match.end() - 1] in ".,;:")
        yield Found(match.start(), end, "URL", "url")
