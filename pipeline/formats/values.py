"""What sources say in their own words → ours: a report's status, an exam's modality, age and time.

Of times in tables, formats that a site names are tried first. Known without a name, for nothing
else looks like them: digits without signs between (``20260304093000``), a spreadsheet's days since
1899-12-30 (``46085.395833``), and milliseconds since 1970 in UTC (13 digits). What is none of these
stays.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pandas as pd

RETRACTED: Final = "retracted"
"""The status of a row or message that takes the report back and says nothing in its place."""

_WORD: Final = re.compile(
    r"\b(XR|CR|DX|CT|CTA|CTPA|CTAP|HRCT|LDCT|MRI?|MRA|US|NM|PET|MG|FL|IR|P?CXR)\b"
    r"|\b(CT|XR|DX)(?=CHEST|THORAX)"
)
_TOMOGRAM: Final = re.compile(r"\bcomputed tomogra|\bCAT scan", re.IGNORECASE)
_FILM: Final = re.compile(
    r"\b(?:\d view|x[- ]?rays?|radiographs?|radiography|views?|cxr|portable chest)\b"
    r"|\bchest\b.{0,20}\b(?:pa|ap|lat|lateral|port|portable|[12]v)\b"
    r"|\b(?:portable|pa|ap)\b.{0,12}\bchest\b|\bthorax p\.?[ ]?a\b",
    re.IGNORECASE,
)


@cache
def data(name: str) -> Mapping[str, Any]:
    """Read one of the TOML files beside this code, by its name."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def known_words(of: str) -> Mapping[str, str]:
    """Give what sources' words mean: each word of a table of words.toml → ours."""
    return {word: ours for ours, said in data("words")[of].items() for word in said}


_NO_NUMBER: Final = re.compile(r"[\W_0]*")


def is_no_number(written: str) -> bool:
    """Tell whether a patient's or an exam's number is missing, or what stands for it is no one's.

    Examples
    --------
    >>> is_no_number(""), is_no_number("N/A"), is_no_number("0000"), is_no_number("0001")
    (True, True, True, False)
    """
    folded = written.strip().casefold()
    return _NO_NUMBER.fullmatch(folded) is not None or folded in known_words("no_number")


def status_of(raw: str) -> str:
    """Give our status for a source's word; '' where it is none we know."""
    folded = " ".join(raw.casefold().split())
    if folded in known_words("status"):
        return known_words("status")[folded]
    patterns = data("words")["status_pattern"]
    return next((each["means"] for each in patterns if re.search(each["pattern"], folded)), "")


def takes_back(raw: str, own: Mapping[str, str]) -> bool:
    """Tell a status that takes a report back, by the site's own words or ours."""
    return (own.get(raw.strip()) or status_of(raw)) == RETRACTED


def section_of(names: Iterable[str]) -> str:
    """Give the heading of a report's part by the first of its codes or names that is known."""
    known = known_words("section")
    return next((known[name] for each in names if (name := each.strip().upper()) in known), "")


REPORTED: Final = frozenset({"FINDINGS:", "IMPRESSION:"})
PARTS: Final = [name for name, of in known_words("section").items() if of in REPORTED]
"""Codes and names of findings and impressions."""
_TITLES: Final = "|".join(name for name in PARTS if name.isalpha() and name not in ("GDT", "IMP"))
PART: Final = re.compile(rf"(?im)^[ \t]{{0,8}}({_TITLES})[ \t]{{0,4}}:")
"""A line that opens findings or an impression."""
_CONCLUDING: Final = [n for n in PARTS if n.isalpha() and section_of([n]) == "IMPRESSION:"]
CONCLUDING: Final = "|".join(_CONCLUDING)
"""Names of an impression alone, for an expression."""
_IMPRESSED: Final = re.compile(
    rf"\b(?:{CONCLUDING})S?\s{{0,4}}:|^[ \t*#]{{0,8}}(?:{CONCLUDING})S?[ \t]{{0,4}}$", re.I | re.M
)


def is_impressed(text: str) -> bool:
    """Tell a text in which an impression has its heading, wherever that stands.

    Examples
    --------
    >>> is_impressed("Clear. Impression: normal."), is_impressed("My impression is that")
    (True, False)
    """
    upper = text.upper()  # looked through faster than by an expression that is blind to case
    first = min((at for name in _CONCLUDING if (at := upper.find(name)) >= 0), default=-1)
    start = max(0, first - 16) if len(upper) == len(text) else 0
    return first >= 0 and _IMPRESSED.search(text, start) is not None


_NONE: Final = r"(?![\s*=_#<-]*(?i:(?:none|n/a|keiner|entfällt)\b|\Z))"
ADDED: Final = re.compile(
    r"(?m)^[ \t*=_#>-]{0,20}(?:(?i:addendum|nachtrag)\b[^\n:]{0,40}:"
    r"|(?:ADDENDUM|Addendum|NACHTRAG)[ \t]*#?[ \t]*\d{0,2}"
    r"(?:[ \t]+(?i:by|begins?|starts?|dated|on|from)\b[^\n]{0,60}(?<!\.))?[ \t*=_#<-]{0,20}$)"
    + _NONE
)
"""A line that opens an addendum: up to a colon, or nothing else stands in it; not a form's empty
one."""

_SENTENCE: Final = re.compile(r"\w\W+(?<![.\w])\w{2,}[.!?]\s*$|[^\W\d_]{4}\.\s+[A-Z]")


def is_sentence(said: str) -> bool:
    """Tell what somebody wrote from the name of a code, which ends in no full stop of its own.

    Examples
    --------
    >>> is_sentence("Small effusion."), is_sentence("Pneumonia, unspecified organism")
    (True, False)
    >>> is_sentence("Pneumonie, o.n.A.")
    False
    """
    return _SENTENCE.search(said) is not None


def modality_of(exam_name: str) -> str:
    """Read an exam's modality off its name; '' where it does not say.

    Examples
    --------
    >>> modality_of("CTA CHEST W CONTRAST"), modality_of("Chest X-ray 2 views"), modality_of("BONE")
    ('CT', 'XR', '')
    >>> modality_of("CHEST PA/LAT"), modality_of("CT CHEST PORTABLE"), modality_of("CHEST TUBE")
    ('XR', 'CT', '')
    """
    word = _WORD.search(exam_name.upper().replace("-", " ").replace("_", " "))
    if word:
        return known_words("modality_word").get(found := word.group(1) or word.group(2), found)
    if _TOMOGRAM.search(exam_name):
        return "CT"
    return "XR" if _FILM.search(exam_name) else ""


_AGE_PART: Final = re.compile(r"(\d{1,9}(?:[.,]\d{1,9})?)(\D*)")
_SIGNS: Final = re.compile(r"[\s.,;:+/()'-]")
_OF_A_YEAR: Final = {"years": 1.0, "months": 1 / 12, "weeks": 7 / 365.25, "days": 1 / 365.25}
OLDEST: Final = 130
"""Nobody has been older."""


@cache
def _age_units() -> Mapping[str, float]:
    """Read which part of a year each unit of an age is."""
    return {word: _OF_A_YEAR[unit] for word, unit in known_words("age").items()}


def age_in_years(written: str) -> float:
    """Read an age; NaN where there is none, or its unit is none we know, or nobody is that old.

    Examples
    --------
    >>> age_in_years("071Y"), age_in_years("71岁"), age_in_years("6 Monate"), age_in_years("1Y6M")
    (71.0, 71.0, 0.5, 1.5)
    >>> age_in_years("71 sols")
    nan
    """
    folded = unicodedata.normalize("NFKC", written).casefold().strip()
    parts = [(number, _SIGNS.sub("", unit)) for number, unit in _AGE_PART.findall(folded)]
    units = _age_units() if len(parts) > 1 else {"": 1.0, **_age_units()}
    if not folded[:1].isdecimal() or not all(unit in units for _, unit in parts):
        return float("nan")
    years = sum(float(number.replace(",", ".")) * units[unit] for number, unit in parts)
    return years if years <= OLDEST else float("nan")


EPOCH: Final = "epoch"
"""The name of a format: seconds or milliseconds since 1970 in UTC."""
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


def utc_times(values: pd.Series, zone: str, *, last: bool = False) -> pd.Series:
    """Parse ISO 8601 times to UTC; those without an offset are local to `zone`.

    Of the two instants that an hour doubled in autumn may be, or that a clock not yet set forward
    in spring may show, the first is taken, or the last: a report counts as signed at the later one,
    so that nothing learnt from a CT passes for a forecast.
    """
    with_offset, naive = _parsed(values)
    local = naive.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT").dt.tz_convert("UTC")
    found = with_offset.fillna(local.dt.as_unit("us"))
    for at in naive.index[naive.notna() & local.isna()]:
        found[at] = (max if last else min)(_instants(naive[at], zone))
    return found


def between_clocks(values: pd.Series, zone: str) -> pd.Series:
    """Tell which times without an offset a clock of `zone` shows twice, or never."""
    _, naive = _parsed(values)
    local = naive.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
    odd: pd.Series = naive.notna() & local.isna()
    return odd


def _instants(naive: pd.Timestamp, zone: str) -> list[pd.Timestamp]:
    """Read a time by the offset before a change of the clock, and by the one behind it."""
    there = ZoneInfo(zone)
    each = (naive.to_pydatetime().replace(tzinfo=there, fold=fold) for fold in (0, 1))
    return [pd.Timestamp(one.astimezone(UTC)).as_unit("us") for one in each]


def _parsed(values: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Parse times with an offset, to UTC, and those without; each NaT where it is not one."""
    text = values.str.strip().str.replace(_ZONE_NAME, "", regex=True)
    text = text.str.replace(r"\s*(?:Z|UTC|GMT)$", "+00:00", regex=True)
    text = text.str.replace(_DB2, r"\1 \2:\3:\4", regex=True)
    text = text.str.replace(_COMMA, r"\1.", regex=True)
    # A sign behind the time of day is an offset, in any spelling: +01:00, +0100, +01.
    aware = text.str.contains(r"\d[T ].*[+-]", regex=True)
    with_offset = pd.to_datetime(text.where(aware), utc=True, errors="coerce", format="ISO8601")
    naive = pd.to_datetime(text.where(~aware), utc=True, errors="coerce", format="ISO8601")
    return _within(with_offset), _within(naive).dt.tz_localize(None)


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
