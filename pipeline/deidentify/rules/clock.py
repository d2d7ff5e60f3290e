"""How a time of day is written, alone and behind a date."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["WEEKDAYS", "after_date", "before_date", "clock_before"]

WEEKDAYS: Final = (
    r"(?:Mon(?:day)?|Tue(?:s(?:day)?)?|Wed(?:nesday)?|Thu(?:r(?:s(?:day)?)?)?|Fri(?:day)?"
    r"|Sat(?:urday)?|Sun(?:day)?)"
)
_ZONE: Final = r"(?:[ \t]?\(?(?:[ECMP][SD]?T|UTC|GMT|Z)\b\)?)?(?:[+-]\d\d:?\d\d)?"
_AFTER: Final = re.compile(
    r"(?:T|:(?=\d\d:)|,?[ \t]{0,3}(?:at|um|à|@|-|–)?[ \t]{0,3})(?:"
    r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,6})?)?(?:[ \t]?(?:[ap]\.[ \t]?m\.?"
    r"|[ap]m\b))?"
    r"|(?:1[0-2]|0?[1-9])(?:\.[0-5]\d)?[ \t]?(?:[ap]\.[ \t]?m\.?|[ap]m\b)"
    r"|(?:[01]?\d|2[0-3])(?:h[0-5]\d\b|\.[0-5]\d[ \t]?(?:uhr|hrs?|h)\b)"
    r"|(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?(?:[ \t]?(?:hours|hrs?|h)\b)?(?![\d/-]|\.\d)"
    rf"){_ZONE}(?:[ \t](?:19|20)\d\d(?![\d/-]))?",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(rf"(?<![A-Za-z]){WEEKDAYS}\b\.?,?[ \t]{{1,2}}(?:the[ \t])?$", re.I)
_CLOCK_BEFORE: Final = re.compile(r"(?<![\w./:-])(?:[01]\d|2[0-3])[0-5]\d[ ]$")


def clock_before(text: str, start: int) -> int:
    """Extend a date that begins with its day over a clock of four figures before it."""
    match = _CLOCK_BEFORE.search(text[max(0, start - 6) : start]) if text[start].isdigit() else None
    return start - (len(match.group()) if match else 0)


def after_date(text: str, end: int) -> int:
    """Extend a date over the time of day behind it."""
    match = _AFTER.match(text, end)
    return match.end() if match else end


def before_date(text: str, start: int) -> int:
    """Extend a date over the weekday before it."""
    match = _BEFORE.search(text[max(0, start - 18) : start])
    return start - (len(match.group()) if match else 0)
