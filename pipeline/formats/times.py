"""Times as tables write them → ISO 8601.

Formats that a site names are tried first. Known without a name, for nothing else looks like them:
digits without signs between (``20260304093000``), a spreadsheet's days since 1899-12-30
(``46085.395833``), and milliseconds since 1970 in UTC (13 digits). What is none of these stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import pandas as pd

__all__ = ["EPOCH", "date_formats", "iso_times"]

EPOCH: Final = "epoch"
"""The name of a format: seconds or milliseconds since 1970 in UTC."""
_TIME_OF_DAY: Final = re.compile(r"[ T,]*%-?[HI].*$")
_DATE_LENGTH: Final = len("2026-03-04")
_MILLISECONDS: Final = 10**11
"""Seconds since 1970 are fewer than this until the year 5138."""


def iso_times(values: pd.Series, formats: Sequence[str] = ()) -> pd.Series:
    """Rewrite times in ISO 8601; a date without a time of day stays one."""
    text = values.str.strip()
    written = values.copy()
    unread = pd.Series(data=True, index=values.index)
    for pattern, read in (*map(_reader, filter(None, formats)), *_KNOWN):
        fits = unread & text.str.fullmatch(pattern)
        if fits.any():
            found = read(text[fits])
            written.loc[found.index] = found
            unread[found.index] = False
    return written.astype("str")


def date_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """Give formats of dates: those given, and what is left of them without the time of day."""
    return tuple(dict.fromkeys((*formats, *(_TIME_OF_DAY.sub("", form) for form in formats))))


_Reader = tuple[str, Callable[[pd.Series], pd.Series]]


def _reader(form: str) -> _Reader:
    """Give what texts of a format look like, and how they are read."""
    if form.casefold() == EPOCH:
        return r"[0-9]{9,13}(?:\.[0-9]+)?", _epoch
    has_clock = any(sign in form for sign in ("%H", "%I", "%X", "%c"))
    length = None if has_clock else _DATE_LENGTH

    def read(text: pd.Series) -> pd.Series:
        found = pd.to_datetime(text, format=form, errors="coerce", utc="%z" in form).dropna()
        return _iso(found, length)

    return r"(?s).+", read


def _iso(times: pd.Series, length: int | None = None) -> pd.Series:
    return pd.Series([t.isoformat()[:length] for t in times], index=times.index, dtype="object")


def _epoch(text: pd.Series) -> pd.Series:
    number = pd.to_numeric(text)
    seconds = number.where(number < _MILLISECONDS, number / 1000)
    return _iso(pd.to_datetime(seconds.round(3), unit="s", utc=True, errors="coerce").dropna())


def _serial(text: pd.Series) -> pd.Series:
    """Read days and their fraction; a whole number of days is a date."""
    days = text.str.split(r"[ T]", regex=True).map(lambda parts: sum(map(float, parts)))
    time = pd.Timestamp("1899-12-30") + pd.to_timedelta((days * 86_400).round(), unit="s")
    return _iso(time).where(days % 1 != 0, _iso(time, _DATE_LENGTH))


def _digits(text: pd.Series) -> pd.Series:
    plain = text.str.replace(r"[ T]", "", regex=True)
    form = {True: "%Y%m%d%H%M%S", False: "%Y%m%d%H%M"}
    each = [pd.to_datetime(plain[plain.str.len().eq(14) == long], format=f, errors="coerce")
            for long, f in form.items()]  # fmt: skip
    return _iso(pd.concat(each).dropna())


_KNOWN: Final[tuple[_Reader, ...]] = (
    (r"[0-9]{8}[ T]?[0-9]{4}(?:[0-9][0-9])?", _digits),
    (r"[0-9]{5}(?:\.[0-9]+)?|[0-9]{5}(?:\.0+)?[ T]0?\.[0-9]+", _serial),
    (r"[0-9]{13}", _epoch),
)
