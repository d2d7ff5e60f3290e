"""Dates as radiologists and their systems write them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from random import Random
from typing import Final

__all__ = ["FORMATS", "birth_date", "clock_time", "exam_date", "exam_moment"]

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _ordinal(day: int) -> str:
    if day in (11, 12, 13):
        return f"{day}th"
    return f"{day}{({1: 'st', 2: 'nd', 3: 'rd'}).get(day % 10, 'th')}"


def _month(d: datetime) -> str:
    return _MONTHS[d.month - 1]


FORMATS: Final[dict[str, Callable[[datetime], str]]] = {
    "m/d/yyyy": lambda d: f"{d.month}/{d.day}/{d.year}",
    "mm/dd/yyyy": lambda d: f"{d.month:02d}/{d.day:02d}/{d.year}",
    "mm/dd/yy": lambda d: f"{d.month:02d}/{d.day:02d}/{d.year % 100:02d}",
    "m-d-yy": lambda d: f"{d.month}-{d.day}-{d.year % 100:02d}",
    "yyyy-mm-dd": lambda d: f"{d.year}-{d.month:02d}-{d.day:02d}",
    "d.m.yyyy": lambda d: f"{d.day}.{d.month}.{d.year}",
    "Month d, yyyy": lambda d: f"{_month(d)} {d.day}, {d.year}",
    "d Month yyyy": lambda d: f"{d.day} {_month(d)} {d.year}",
    "Mon d yyyy": lambda d: f"{_month(d)[:3]} {d.day} {d.year}",
    "ddMONyyyy": lambda d: f"{d.day:02d}{_month(d)[:3].upper()}{d.year}",
    "d-Mon-yy": lambda d: f"{d.day}-{_month(d)[:3]}-{d.year % 100:02d}",
    "Weekday, Month d, yyyy": lambda d: f"{_WEEKDAYS[d.weekday()]}, {_month(d)} {d.day}, {d.year}",
    "Month dth": lambda d: f"{_month(d)} {_ordinal(d.day)}",
    "Month yyyy": lambda d: f"{_month(d)} {d.year}",
    "m/yyyy": lambda d: f"{d.month}/{d.year}",
    "m/d": lambda d: f"{d.month}/{d.day}",
}
"""Spelling → how to write a date so."""

_MOMENTS: Final[dict[str, Callable[[datetime], str]]] = {
    "m/d/yyyy h:mm": lambda d: f"{d.month}/{d.day}/{d.year} {d.hour:02d}:{d.minute:02d}",
    "m/d/yyyy at h:mm PM": lambda d: f"{d.month}/{d.day}/{d.year} at {_twelve(d)}",
    "yyyymmddhhmm": lambda d: f"{d:%Y%m%d%H%M}",
    "yyyymmddhhmmss": lambda d: f"{d:%Y%m%d%H%M%S}",
    "Month d, yyyy h:mm": lambda d: f"{_month(d)} {d.day}, {d.year} {d.hour:02d}:{d.minute:02d}",
}
_DATE_ITEMS: Final = tuple(FORMATS.items())
_FULL_ITEMS: Final = _DATE_ITEMS[:12]
_MOMENT_ITEMS: Final = tuple(_MOMENTS.items())


def _twelve(d: datetime) -> str:
    return f"{d.hour % 12 or 12}:{d.minute:02d} {'AM' if d.hour < 12 else 'PM'}"


def exam_date(d: datetime, *, rng: Random, partial: bool = True) -> tuple[str, str]:
    """Spell a date, partly (month only) on request; return it and the name of the spelling."""
    items = _DATE_ITEMS if partial else _FULL_ITEMS
    name, write = items[int(rng.random() * len(items))]
    return write(d), name


def exam_moment(d: datetime, *, rng: Random) -> tuple[str, str]:
    """Spell a date with its time of day; return it and the name of the spelling."""
    name, write = _MOMENT_ITEMS[int(rng.random() * len(_MOMENT_ITEMS))]
    return write(d), name


def birth_date(d: datetime, *, rng: Random) -> tuple[str, str]:
    """Spell a birth date with day, month and year."""
    return exam_date(d, rng=rng, partial=False)


def clock_time(d: datetime, *, rng: Random) -> tuple[str, str]:
    """Spell a time of day alone."""
    return (_twelve(d), "time") if rng.random() < 0.5 else (f"{d.hour:02d}:{d.minute:02d}", "time")
