"""Everything that begins with a figure and needs no word: dates, times, phones, bare identifiers.

A **chunk** is a figure with the letters, figures and hyphens directly before it; each chunk is
tried against the shapes below, the more particular first. Shapes that a measurement, a fraction
or a score can have too (3/4 vessels, 3-4) need a word of the right kind before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules import codes, numerals
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import line_before

__all__ = ["find"]

_FIGURES: Final = re.compile(
    r"\d(?:(?<!\S.)(?:\d?(?=[ \n.,;)](?![\dapAP])|\Z)|[B-GI-OQ-Z](?=[ \n.,;)])"
    r"|\d?(?=-(?:year|month|week|day)\b)"
    r"|\d{0,2}\.\d{1,2}"
    r"(?![\d.]\d|\d|/|-\d|[ \t]?(?:[apAP]\.?[mM]|[Uu]hr|UHR|[Hh](?:[Rr]s?)?\b)))|(\d*))"
)
"""A figure; a small one or one with decimals that stands by itself, as most do, has no group."""
_LEVELS: Final = frozenset("CTLSx")
_LEVEL: Final = re.compile(
    r"(?:\W|\A)[CTLSx]\d{1,2}(?![\w./-]|[ ]\d)|\W[CTLS]\d{1,2}-[CTLS]\d{1,2}(?![\w./-]|[ ]\d)"
)
"""A vertebra (T7, L1-L2) or a count (x3), in which no identifier is."""
_DIGITS: Final = re.compile(r"\d+")
_TIME: Final = re.compile(
    r"(?:(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?[ \t]?(?:[ap]\.[ \t]?m\.?|[ap]m\b)"
    r"|(?:1[0-2]|0?[1-9])(?:\.[0-5]\d)?[ \t]?(?:[ap]\.[ \t]?m\.|[ap]m\b)"
    r"|(?:[01]\d|2[0-3])[:.]?[0-5]\d[ \t]?(?:hours|hrs|h|uhr|local|lt)\b"
    r"|(?:[01]?\d|2[0-3])h[0-5]\d\b|(?:[01]\d|2[0-3])[0-5]\d[ZL]\b"
    r"|(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?!\d|:\d))"
    r"(?:[ \t]?\(?(?:[ECMP][SD]?T|UTC|GMT)\b\)?)?",
    re.IGNORECASE,
)
_AT: Final = re.compile(r"(?:\bat|@|\btime:?|\bhours|\buntil)[ \t]{0,2}$", re.IGNORECASE)
_SINCE: Final = re.compile(r"\bsince[ \t]$", re.IGNORECASE)
_TIME_AT: Final = re.compile(
    r"(?:[01]?\d|2[0-3]):?[0-5]\d(?![A-Za-z\d:/-]|\.\d|[ \t]?(?:mm|cm|HU|m[LlgG]|cc|%|k))"
)
_CALLED: Final = re.compile(
    r"\b(?:call|phon|page|paging|spoke|notif|inform|d/w|discuss|prelim|read|relay|answer|told|reach"
    r"|advis|bleep|text|report)(?:[^\n]{0,90}(?:[,(]|\b(?:MD|DO|RN|NP|PA-C|LPN)|\)"
    r"|\b(?:placed|notified|informed|(?!ext|pag|ble|dec|tel|pho|fax|cel|mob|bee|num)"
    r"(?-i:[A-Z][a-z]{2,20})))|\w{0,6})[ \t]$|^signed[ \t]$",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d(?=[,;)]|\.?(?:\s|$)|[ \t]\d{1,2}/)(?!-)")
"""A clock of four figures behind a call (spoke with Ruby, LPN, 1655)."""
_PHONE: Final = re.compile(
    r"(?:(?:\+?1[-. ]{0,2})?(?:\(\d{3}\)[ \t./-]{0,2}|\d{3}[-. /])\d{3}[-. ]\d{4}"
    r"|\(\d{3}\)[ \t]?\d{7}"
    r"|\d{3}[-.]\d{4}"
    r"|\+\d{1,3}(?:[ .-]?\(?(?!\d\d?[.:]\d\d[ ]?[apAP])\d{1,5}\)?){2,6}(?!:\d)"
    r"|0\d{1,4}[ -]\d{3,4}[ -]?\d{3,4}|\(0\d{1,5}\)[ ]?\d{3,4}[ ]?\d{2,4})"
    r"(?:,?[ \t]{0,2}\(?(?:x|ext\.?|extension|#)[ \t]{0,2}\d{2,6}\)?)?(?![\w-]|\.\d)",
    re.IGNORECASE,
)
_LOCAL: Final = re.compile(
    r"\d-\d{4}(?![\w-])|\d{4,5}(?=[.,;) \n]|$)(?!(?:[ \t](?:hours|hrs)|[.,]\d))"
)
_DECIMAL: Final = re.compile(
    r"\d{1,3}\.\d{1,2}(?![\d.]\d|\d|/|-\d|[ \t]?(?:[ap]\.?m|uhr|h(?:rs?)?\b))", re.IGNORECASE
)
"""A decimal number, which no identifier is: most figures of a report end here."""


def find(text: str) -> Iterator[Found]:
    """Find what the figures of a text say, in order of place."""
    done = 0
    for figure in _FIGURES.finditer(text):
        start = figure.start()
        if start < done or figure.lastindex is None:
            continue
        previous = text[start - 1 : start]
        if previous in _LEVELS and _LEVEL.match(text, start - 2 if start > 1 else 0):
            continue
        if previous and (previous.isalpha() or previous in "-+("):
            found = _in_chunk(text, start, done)
        elif previous and previous in "/.:,^_\\" and text[start - 2 : start - 1].isalnum():
            found = codes.dotted(text, start, done) if previous in "./" else None
            if previous == "/" and figure.end() - start > numerals.LONG:
                found = found or _at(text, start, figure.end(), done)  # 20150327/20140102
        else:
            found = _at(text, start, figure.end(), done)
        if found is not None:
            done = found.end
            yield found


def _in_chunk(text: str, start: int, done: int) -> Found | None:
    """Try a chunk whose figure follows letters, a hyphen, a plus or a bracket."""
    if text[start - 1] in "+(":
        phone = _PHONE.match(text, start - 1)
        if phone:
            return Found(phone.start(), phone.end(), "PHONE", "phone")
        return _at(text, start, start + 1, done)
    if text[start - 2 : start] == "*-":
        return codes.masked(text, start)
    found = codes.bare(text, start, done)
    if (
        found is None
        and text[start - 1] == "-"
        and (start - 1 == done or not text[start - 2 : start - 1].isalnum())
    ):
        found = _at(text, start, start + 1, done)
    return found or codes.in_field(text, start, done)


def _at(text: str, start: int, end: int, done: int) -> Found | None:
    if text[end : end + 1] in ("", " ", "\n", ".", ",", ";", ")") and end - start < 3:
        following = text[end : end + 2]
        if not (following[1:].isdigit() or following[1:] in tuple("apAP")):
            return None
    if _DECIMAL.match(text, start):
        return None
    before = line_before(text, start, 30)
    long = _DIGITS.match(text, start).end() - start  # type: ignore[union-attr]
    return (
        numerals.find(text, start, before, long)
        or _phone(text, start)
        or (_time(text, start, before) if long < numerals.LONG else None)
        or _local(text, start, before)
        or codes.counted(text, start, before)
        or codes.in_field(text, start, done)
    )


def _time(text: str, start: int, before: str) -> Found | None:
    match = _TIME.match(text, start)
    if match is None:
        match = _TIME_AT.match(text, start)
        if match and not (_AT.search(before) or (text[start] == "0" and _SINCE.search(before))):
            match = None
    if match is None:
        match = _CLOCK.match(text, start)
        if match and not _CALLED.search(line_before(text, start, 110)):
            match = None
    return Found(start, match.end(), "TIME", "time") if match else None


def _phone(text: str, start: int) -> Found | None:
    match = _PHONE.match(text, start)
    return Found(start, match.end(), "PHONE", "phone") if match else None


def _local(text: str, start: int, before: str) -> Found | None:
    match = _LOCAL.match(text, start)
    if match is None or _AT.search(before) is None:
        return None
    return Found(start, match.end(), "PHONE", "phone-local")
