"""Times as sources write them → ISO 8601, and UTC by a zone's clocks.

Of times in tables, formats that a site names are tried first. Known without a name, for nothing
else looks like them: digits without signs between (``20260304093000``), a spreadsheet's days since
1899-12-30 (``46085.395833``), and milliseconds since 1970 in UTC (13 digits). What is none of these
stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

import pandas as pd

from pipeline.formats.values import data

EPOCH: Final = "epoch"
"""The name of a format: seconds or milliseconds since 1970 in UTC."""
ZONED: Final = r"^(.{0,40}(?::\d|\d{9}).{0,24}[\dMm.]) ?([A-Z]{3,5})$"
"""A time of day and the name of a zone behind it."""
_ZONE_WITHIN: Final = r"(:\d\d) ([A-Z]{3,5}) (\d{4})$"
"""The name before the year, as Unix and Java write it."""
_YEARS: Final = range(1980, 2038)
_ZONE_NAME: Final = r"(?<=[\dZ])\[[A-Za-z_/+-]{2,40}\]$"
"""What Java writes behind an offset."""
_DB2: Final = r"^(\d{4}-\d\d-\d\d)-(\d\d)\.(\d\d)\.(\d\d(?:\.\d{1,9})?)$"
_COMMA: Final = r"(?<=\d)(:\d\d),(?=\d)"
"""Before fractions of a second, as ISO 8601 prefers it."""
_TIME_OF_DAY: Final = re.compile(r"[ T,]*%-?[HI].*$")
_DATE_LENGTH: Final = len("2026-03-04")
_IN_EVERY_ZONE: Final = pd.Timestamp("0002", tz="UTC"), pd.Timestamp("9999", tz="UTC")
"""What programs write for never (9999-12-31 23:59:59) and for nothing (0001-01-01) has no year in
the zones beside; neither is a time of any exam, so what lies further is brought in to here."""
_MILLISECONDS: Final = 10**11
"""Seconds since 1970 are fewer than this until the year 5138."""


def iso_times(values: pd.Series, formats: Sequence[str] = ()) -> pd.Series:
    """Rewrite times in ISO 8601; a date without a time of day stays one, and a zone's name."""
    formats = [form.replace("%Z ", "").removesuffix("%Z").rstrip() for form in formats]
    found = _rewritten(values.str.replace(_ZONE_WITHIN, r"\1 \3 \2", regex=True), formats)
    parts = found.str.strip().str.extract(ZONED).dropna()
    found.loc[parts.index] = _rewritten(parts[0], formats) + " " + parts[1]
    return found


def _rewritten(values: pd.Series, formats: Sequence[str]) -> pd.Series:
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


def utc_times(values: pd.Series, zone: str, *, last: bool = False) -> pd.Series:
    """Parse ISO 8601 times to UTC; those without an offset are local to `zone`.

    Of the two instants that an hour doubled in autumn may be, or that a clock not yet set forward
    in spring may show, the first is taken, or the last: a report counts as signed at the later one,
    so that nothing learnt from a CT passes for a forecast. One of the zone's own names behind a
    time (EST, EDT) tells which; of the name of another season both clocks are thought of.
    """
    with_offset, naive, names = _parsed(values, zone)
    local = naive.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT").dt.tz_convert("UTC")
    local = _by_name(naive, names, zone).fillna(local.where(names == ""))
    found = with_offset.fillna(local.dt.as_unit("us"))
    for at in naive.index[naive.notna() & local.isna()]:
        found[at] = (max if last else min)(_instants(naive[at], zone, names[at]))
    return found


def has_no_offset(values: pd.Series) -> pd.Series:
    """Tell which are times without an offset, whose instant a zone has to tell."""
    return _parsed(values, "UTC")[1].notna()


def between_clocks(values: pd.Series, zone: str, *, named: bool = False) -> pd.Series:
    """Tell which times without an offset a clock of `zone` shows twice, or never.

    Of those that are `named`: under the name of another season than its clocks show then.
    """
    _, naive, names = _parsed(values, zone)
    if named:
        odd = (names != "") & _by_name(naive, names, zone).isna()
    else:
        odd = (names == "") & naive.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT").isna()
    return naive.notna() & odd


@cache
def zone_names(zone: str) -> Mapping[str, frozenset[timedelta]]:
    """Give the names that a zone's clocks have had in winter and summer, and their offsets.

    Examples
    --------
    >>> sorted(zone_names("America/New_York")), sorted(zone_names("Asia/Dubai"))
    (['EDT', 'EST'], [])
    """
    there = ZoneInfo(zone)
    times = (datetime(year, month, 1, tzinfo=there) for year in _YEARS for month in (1, 7))
    known: dict[str, frozenset[timedelta]] = {}
    for time in times:
        if (name := str(time.tzname())).isalpha():
            known[name] = known.get(name, frozenset()) | {time.utcoffset() or timedelta()}
    return known


def _by_name(naive: pd.Series, names: pd.Series, zone: str) -> pd.Series:
    """Give the instant of each time behind which the name stands that its zone's clocks show."""
    found = pd.Series(pd.NaT, index=naive.index, dtype="datetime64[us, UTC]")
    for name in set(names) - {""}:
        for offset in zone_names(zone)[name]:
            at = (naive.where(names == name) - offset).dt.tz_localize("UTC")
            found = found.fillna(at.where(at.dt.tz_convert(zone).dt.tz_localize(None) == naive))
    return found


def _instants(naive: pd.Timestamp, zone: str, name: str) -> list[pd.Timestamp]:
    """Read a time by the offset before a change of the clock, by that behind it, by a name's."""
    there, bare = ZoneInfo(zone), naive.to_pydatetime()
    each = [bare.replace(tzinfo=there, fold=fold) for fold in (0, 1)]
    each += [bare.replace(tzinfo=timezone(of)) for of in zone_names(zone).get(name, ())]
    return [pd.Timestamp(one.astimezone(UTC)).as_unit("us") for one in each]


def _parsed(values: pd.Series, zone: str) -> tuple[pd.Series, pd.Series, pd.Series]:
    """Parse times with an offset, to UTC, and those without; each NaT where it is not one.

    Third is which of the zone's own names stands behind each, or ''.
    """
    text = values.str.strip().str.replace(_ZONE_NAME, "", regex=True)
    parts = text.str.extract(ZONED)
    known = parts[1].isin(list(zone_names(zone))) & ~parts[1].isin(["UTC", "GMT"])
    text, names = parts[0].where(known, text), parts[1].where(known, "")
    text = text.str.replace(r"\s*(?:Z|UTC|GMT)$", "+00:00", regex=True)
    text = text.str.replace(_DB2, r"\1 \2:\3:\4", regex=True)
    text = text.str.replace(_COMMA, r"\1.", regex=True)
    # A sign behind the time of day is an offset, in any spelling: +01:00, +0100, +01.
    aware = text.str.contains(r"\d[T ].*[+-]", regex=True)
    with_offset = pd.to_datetime(text.where(aware), utc=True, errors="coerce", format="ISO8601")
    naive = pd.to_datetime(text.where(~aware), utc=True, errors="coerce", format="ISO8601")
    return _within(with_offset), _within(naive).dt.tz_localize(None), names


def _within(times: pd.Series) -> pd.Series:
    first, last = _IN_EVERY_ZONE
    found = times.dt.as_unit("us")
    later = found.mask(found < first, first)
    known: pd.Series = later.mask(later > last, last)
    return known


def date_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """Give formats of dates: those given, and what is left of them without the time of day."""
    return tuple(dict.fromkeys((*formats, *(_TIME_OF_DAY.sub("", form) for form in formats))))


_DAYS, _CLOCKS = (tuple(data("words")["time_format"][part]) for part in ("days", "clocks"))


def formats_that_read(values: Sequence[str]) -> list[str]:
    """Give the usual formats of times that read all of some values.

    Examples
    --------
    >>> formats_that_read(["04/03/2026 09:15", "21/03/2026 9:15"])
    ['%d/%m/%Y %H:%M']
    >>> formats_that_read(["04.03.2026"])
    ['%d.%m.%Y', '%m.%d.%Y']
    """
    forms = [f"{day.format(sign)}{clock}" for day in _DAYS for sign in "/.- " for clock in _CLOCKS]
    texts = pd.Series(values)
    return [f for f in forms if pd.to_datetime(texts, format=f, errors="coerce").notna().all()]


_ZULU: Final = re.compile(r"(?<!%)'?Z'?$")
"""What a format ends in that knows the Z of UTC as a letter only."""
_HALF: Final = re.compile(r"\b([ap])\.[ \xa0\u202f]?m\.", re.IGNORECASE)
"""Half of a day as Canada, New Zealand and Spain write it."""
_NOON: Final = 12
_LATE: Final = re.compile(r"p\.?m", re.IGNORECASE)
_Reader = tuple[str, Callable[[pd.Series], pd.Series]]


def _reader(form: str) -> _Reader:
    """Give what texts of a format look like, and how they are read."""
    if form.casefold() == EPOCH:
        return r"[0-9]{9,13}(?:\.[0-9]+)?", _epoch
    has_clock = any(sign in form for sign in ("%H", "%I", "%X", "%c"))
    length = None if has_clock else _DATE_LENGTH
    form = _ZULU.sub("%z", form)
    form = form if "%p" in form else form.replace("%I", "%H")  # else 12:30 is 00:30

    def read(text: pd.Series) -> pd.Series:
        text = text.str.replace(_HALF, r"\1m", regex=True) if "%p" in form else text
        found = pd.to_datetime(text, format=form, errors="coerce", utc="%z" in form).dropna()
        if "%H" in form and "%p" in form:  # of which the library heeds the first alone
            is_late, hour = text[found.index].str.contains(_LATE), found.dt.hour
            halves = (is_late & (hour < _NOON)).astype(int) - (~is_late & (hour == _NOON))
            found += pd.to_timedelta(halves * _NOON, unit="h")
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
    found = text.str.replace(r"[ T]", "", regex=True).map(iso_time)
    return found[found != ""]


_KNOWN: Final[tuple[_Reader, ...]] = (
    (r"[0-9]{8}[ T]?[0-9]{4}(?:[0-9][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{4})?", _digits),
    (r"[0-9]{5}(?:\.[0-9]+)?|[0-9]{5}(?:\.0+)?[ T]0?\.[0-9]+", _serial),
    (r"[0-9]{13}", _epoch),
)


_TIME: Final = re.compile(
    r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(?:(\d\d)(\d\d)?)?)?(?:[.,]\d{1,9})?[ ]?(Z|[+-]\d\d:?\d\d)?$"
)
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
