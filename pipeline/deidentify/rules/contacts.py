"""Phones, pagers, extensions, fax numbers, e-mail addresses and web addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found

__all__ = ["find"]

_EXTENSION: Final = r"(?:,?[ \t]{0,2}(?:x|ext\.?|extension)[ \t]{0,2}\d{2,6})?"
_PHONE: Final = re.compile(
    r"(?<![\w.^/-])(?:"
    r"(?:\+?1[-. ]?)?(?:\(\d{3}\)[ \t]{0,2}|\d{3}[-. /])\d{3}[-. ]\d{4}"
    r"|\(\d{3}\)[ \t]?\d{3}[ \t]?\d{4}"
    r"|\d{3}[-.]\d{4}"
    r"|\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}"
    r"|0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}"
    rf"){_EXTENSION}(?![\w-]|\.\d)",
    re.IGNORECASE,
)
_EXTENSION_ALONE: Final = re.compile(
    r"(?<!\w)(?:x[ \t]?\d{4,6}|x\d{3}(?=\))|(?:ext(?:ension|n)?\b\.?)[ \t]?[:#]?[ \t]{0,2}\d[\d-]{1,6}\d)(?![\w.]\w)",
    re.IGNORECASE,
)
_LABELLED: Final = re.compile(
    r"\b(?:pager|paged?|beeper|bleep|pgr|phone|telephone|tel|ph|cell|mobile|fax|voalte|vocera"
    r"|spectralink|ascom|hotline|reading[ \t]room|call(?:back|ed)?|contact|desk|office)\b"
    r"(?:[ \t](?:number|no|at|on|is))?[ \t]?[.:#=(]{0,3}[ \t]{0,3}(?:at[ \t])?"
    r"((?:\+?\d|\(\d)[\d() .-]{2,18}\d)(?![\w:/]|\.\d|[ \t]?(?:mm|cm|HU|[ap]\.?m\b|days?|weeks?|hours?|minutes?))",
    re.IGNORECASE,
)
_LOCAL: Final = re.compile(r"(?<=at )\d-\d{4}(?![\w-])|(?<=at )\(?(\d{5})\)?(?=[.,;) ]|$)", re.M)
_EMAIL: Final = re.compile(
    r"[A-Za-z0-9._%+'-]{1,64}[ ]?@[ ]?[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}"
    r"|[A-Za-z0-9._%+-]{1,64}[ ]?\((?:at)\)[ ]?[A-Za-z0-9-]{1,63}\.[A-Za-z]{2,10}"
)
_URL: Final = re.compile(
    r"\b(?:https?://|ftp://|www\.)[^\s<>\"')]{1,300}"
    r"|(?<![\w.@-])(?:[A-Za-z0-9-]{1,63}\.){1,4}(?:org|com|edu|net|gov|mil|info|health|io)\b"
    r"(?:/[^\s<>\"')]{0,200})?",
    re.IGNORECASE,
)


def find_addresses(text: str) -> Iterator[Found]:
    """Find e-mail and web addresses; they go first, for they hold names and dots."""
    if "@" in text or "(at)" in text:
        for match in _EMAIL.finditer(text):
            yield Found(match.start(), match.end(), "EMAIL", "email")
    for match in _URL.finditer(text):
        yield Found(match.start(), _without_stop(text, match), "URL", "url")


def find(text: str) -> Iterator[Found]:
    """Find telephone numbers of every kind."""
    for match in _PHONE.finditer(text):
        yield Found(match.start(), match.end(), "PHONE", "phone")
    for match in _EXTENSION_ALONE.finditer(text):
        yield Found(match.start(), match.end(), "PHONE", "extension")
    for match in _LABELLED.finditer(text):
        yield Found(*match.span(1), "PHONE", "phone-labelled")
    for match in _LOCAL.finditer(text):
        yield Found(*match.span(), "PHONE", "phone-local")


def _without_stop(text: str, match: re.Match[str]) -> int:
    end = match.end()
    return end - 1 if text[end - 1] in ".,;:" else end
