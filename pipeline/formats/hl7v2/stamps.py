"""Times as messages write them → ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

__all__ = ["first_time", "iso_time"]

_TIME: Final = re.compile(
    r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(?:(\d\d)(\d\d)?)?)?(?:\.\d{1,9})?[ ]?(Z|[+-]\d\d:?\d\d)?$"
)
_DATE_LENGTH: Final = len("2026-03-04")
_MIN_FIGURES: Final = 6
"""A time has at least so many figures; what has fewer is a remark."""


def iso_time(stamp: str) -> str:
    """Turn an HL7 time into ISO 8601, with its offset if it has one; '' if it is no time.

    A stamp without a time of day stays a date: nothing is said about when on that day.
    """
    match = _TIME.match(stamp.strip())
    if match is None:
        return _iso_already(stamp.strip())
    year, month, day, hour, minute, second, offset = match.groups()
    written = f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}"
    written += offset or ""
    try:
        found = datetime.fromisoformat(written).isoformat()
    except ValueError:
        return ""
    return found if hour else found[:10]


def first_time(stamps: Iterable[str]) -> str:
    """Give the first that is a time, in ISO 8601, or the first that may be one, as it is.

    So a time that is written in another way is read by the site's formats, or set aside as bad,
    instead of being stood in for by another of the report's times.
    """
    unread = ""
    for stamp in stamps:
        if found := iso_time(stamp):
            return unread or found
        if not unread and sum(c.isdigit() for c in stamp) >= _MIN_FIGURES:
            unread = stamp
    return unread


def _iso_already(stamp: str) -> str:
    """Accept what is ISO 8601 with signs, as some senders write it."""
    try:
        found = datetime.fromisoformat(stamp).isoformat() if "-" in stamp[:5] else ""
    except ValueError:
        return ""
    return found if len(stamp) > _DATE_LENGTH else found[:_DATE_LENGTH]
