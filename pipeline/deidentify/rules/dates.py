"""Dates and times in the forms radiologists dictate and systems print.

Years alone stay (Safe Harbor allows them); a month, a day or a weekday goes with everything
attached to it, a time of day included. Forms that are also measurements (3/4 of the vessels,
2-3 ribs) need a date word beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found

__all__ = ["find"]

_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_WEEKDAY: Final = (
    r"(?:Mon(?:day)?|Tue(?:s(?:day)?)?|Wed(?:nesday)?|Thu(?:r(?:s(?:day)?)?)?|Fri(?:day)?"
    r"|Sat(?:urday)?|Sun(?:day)?)"
)
_YEAR: Final = r"(?:19|20)\d\d"
_SHORT_YEAR: Final = r"(?:(?:19|20)\d\d|['’]?\d\d)(?!\d)"
_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])"
_NTH: Final = r"(?:[ \t]?(?:st|nd|rd|th))?"
_CLOCK: Final = (
    r"(?:(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:[ \t]?[ap]\.?[ \t]?m\b\.?)?"
    r"|(?:1[0-2]|0?[1-9])[ \t]?[ap]\.?m\b\.?"
    r"|(?:[01]\d|2[0-3])[0-5]\d(?:[ \t]?(?:hours|hrs?|h)\b)?(?![\d/.-]))"
    r"(?:[ \t]?(?:[ECMP][SD]?T|UTC|GMT|Z)\b)?(?:[+-]\d\d:?\d\d)?"
)
_WITH_TIME: Final = rf"(?:T|,?[ \t]{{0,3}}(?:at|@|-)?[ \t]{{0,3}})(?:{_CLOCK})"
_TAIL: Final = rf"(?:{_WITH_TIME})?"
_UNIT: Final = (
    r"(?![ \t]?(?:mm|cm|x\b|weeks?|months?|days?|years?|hours?|minutes?|of\b|%|mL|mg|views?|images?"
    r"|HU\b|[-/.]?\d))"
)
_LEAD: Final = rf"(?:{_WEEKDAY}\b\.?,?[ \t]{{1,2}})?"

_WORDED: Final = re.compile(
    rf"(?<![\w/^]){_LEAD}(?:"
    # March 3, 2021 · Mar 3 2021 · March 3rd, '21 · March 3-5, 2021 · Mar-03-2021
    rf"{_MONTH}\b[. \t/-]{{0,2}}[ \t]?{_DAY}{_NTH}(?:[ \t]?(?:-|–|and|to)[ \t]?{_DAY}{_NTH})?"
    rf"(?:[,. \t/-]{{1,2}}[ \t]?(?:of[ \t])?{_SHORT_YEAR}{_UNIT})"
    # 3 March 2021 · 3rd of March, 2021 · 03MAR2021 · 3-Mar-21 · 3 March
    rf"|{_DAY}{_NTH}(?:[ \t]of)?[. \t/-]{{0,2}}{_MONTH}\b[.]?[,. \t/-]{{0,2}}[ \t]?{_SHORT_YEAR}"
    rf"|{_DAY}{_NTH}(?:[ \t]of)?[. \t/-]{{0,2}}{_MONTH}{_SHORT_YEAR}"
    # 2021 Mar 3 · 2021-Mar-03
    rf"|{_YEAR}[ \t,/-]{{1,2}}{_MONTH}[ \t./-]{{1,2}}{_DAY}{_NTH}(?!\d)"
    # March 2021 · March of 2021 · Mar-2021 · Mar '21
    rf"|{_MONTH}\b[., \t/-]{{0,2}}[ \t]?(?:of[ \t])?(?:{_YEAR}|['’]\d\d)(?!\d)"
    rf"){_TAIL}",
    re.IGNORECASE,
)
_DAY_AND_MONTH: Final = re.compile(
    rf"(?<![\w/^]){_LEAD}(?:{_MONTH}\b\.?[ \t-]{{1,2}}{_DAY}{_NTH}"
    rf"(?:[ \t]?(?:-|–|and|to)[ \t]?{_DAY}{_NTH})?(?!\d){_UNIT}"
    rf"|{_DAY}(?:st|nd|rd|th)?(?:[ \t]of)?[ \t-]{{0,2}}{_MONTH}\b(?![ \t]represent))(?![\w/^]){_TAIL}"
)
_DAY_AND_MONTH_UPPER: Final = re.compile(_DAY_AND_MONTH.pattern, re.IGNORECASE)
_MONTH_ALONE: Final = re.compile(
    r"(?<=\b(?:in|of|by|ce|st|xt|is|om|il|te|ly|id|ng)[ \t])"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    r"(?![ \t](?:fracture|[A-Z][a-z]))"
)
_MONTH_CUE: Final = re.compile(
    r"\b(?:in|since|last|next|this|early|late|mid|from|until|till|by|of|during)[ \t]$",
    re.IGNORECASE,
)
_WEEKDAY_ALONE: Final = re.compile(
    r"\b(?:[Oo]n|[Ll]ast|[Tt]his|[Nn]ext|[Ss]ince|[Uu]ntil|[Ff]rom)[ \t]"
    r"((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
)
_SEASON: Final = re.compile(
    rf"\b(?:Spring|Summer|Fall|Autumn|Winter)[ \t](?:of[ \t])?{_YEAR}\b", re.IGNORECASE
)
_NUMERIC: Final = re.compile(
    rf"(?<![\d.,/^-])(?<!\d )(?:{_LEAD}(?:"
    rf"{_YEAR}([-/.])(?:1[0-2]|0?[1-9])\1{_DAY}(?!\d)"
    rf"|{_DAY}([-/.]){_DAY}\2(?:{_YEAR}|\d\d)(?![\d/])(?!\.\d)"
    rf"|(?:1[0-2]|0?[1-9])/{_YEAR}(?!\d)"
    rf"|(?:1[0-2]|0[1-9])-{_YEAR}(?![\d-])"
    rf"|{_YEAR}/(?:1[0-2]|0[1-9])(?!\d)"
    rf"){_TAIL}"
    rf"|{_YEAR}(?:1[0-2]|0[1-9])(?:3[01]|[12]\d|0[1-9])"
    rf"(?:[T ]?(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?(?:\.\d{{1,6}})?)?(?:[+-]\d{{4}}|Z)?(?![\w-]))",
)
_DAY_SLASH_MONTH: Final = re.compile(
    rf"(?<![\w.,/-])(1[0-2]|0?[1-9])/({_DAY})(?![\w/%]|\.\d|-\d(?!\d?/)){_TAIL}"
)
_NOT_A_DATE_BEFORE: Final = re.compile(
    r"(?:\b(?:images?|img|im|series|se|slices?|grade|pages?|stage|scale|scores?|scored?|segments?"
    r"|stations?|ribs?|levels?|zones?|murmur|strength|pain|birads|rads|category|class|type|ratio"
    r"|upper|lower|middle|mid|distal|proximal|about|approximately|only|least|than|discs?|disks?"
    r"|vessels?|BP|pressure|vision|size|lobes?)[ \t:#(=]{0,3}|[\d.][ \t]?x[ \t]?)$",
    re.IGNORECASE,
)
_NOT_A_DATE_AFTER: Final = re.compile(
    r"[ \t]?(?:-?[ \t]?(?:inch|mm|cm)|of\b|vessels?|strength|pain|hpf|murmurs?|thirds?|lobes?|ribs?"
    r"|way|full|power|SIRS|blood|nodes?|lungs?|images?|cores?|leads?|points?|quadrants?|cultures?)",
    re.IGNORECASE,
)
_DATE_BEFORE: Final = re.compile(
    r"(?:\b(?:dated?|on|from|since|study|studies|exams?|examination|d\.?o\.?b\.?|born|birth"
    r"|comparisons?|compared|prior|priors|previous|until|thr(?:ough|u)|by|signed|the|CT|CXR|MRI?|PET"
    r"|radiographs?|films?|x-?rays?|scans?|performed|obtained|acquired|of|to|for|between|and|chest"
    r"|thorax|views?|portable|last|recent|read|seen|done|admitted|after|before|dictated|reported)"
    r"|^|/\d{1,2})[ \t]?[.:,(–-]{0,2}[ \t]{0,3}$",
    re.IGNORECASE | re.MULTILINE,
)
_TIME: Final = re.compile(
    r"(?<![\d:./])(?:"
    r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?[ \t]?[ap]\.?[ \t]?m\b\.?"
    r"|(?:1[0-2]|0?[1-9])[ \t]?(?:[ap]\.m\.|[AaPp][Mm]\b)"
    r"|(?:[01]\d|2[0-3])[0-5]\d[ \t]?(?:hours|hrs)\b"
    r"|(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![\d:])"
    r"|(?<=at )(?:[01]?\d|2[0-3]):?[0-5]\d(?![\d:/.-])(?![ \t]?(?:mm|cm|HU|m[LgG]|cc|%|k))"
    r"|(?<=@)[ \t]?(?:[01]?\d|2[0-3]):?[0-5]\d(?![\d:/.-])"
    r")(?:[ \t]?(?:[ECMP][SD]?T|UTC|GMT)\b)?",
    re.IGNORECASE,
)
_LABELLED_DIGITS: Final = re.compile(
    r"\b(?:D\.?O\.?B\.?|Date(?:[ \t]of[ \t]\w{1,10})?|dated|born(?:[ \t]on)?)[ \t]?[:#]?[ \t]{0,3}"
    r"(\d{6}|\d{8})\b",
    re.IGNORECASE,
)
_BORN: Final = re.compile(
    rf"\b(?:born|birth[ \t]?year|year[ \t]of[ \t]birth|YOB|D\.?O\.?B\.?)[ \t]?[:=]?[ \t]{{0,2}}"
    rf"(?:in[ \t])?({_YEAR})\b",
    re.IGNORECASE,
)
_LOWER_WORD_MONTHS: Final = ("may", "march", "mar", "dec", "sep", "jan", "sun", "sat", "mon")


def find(text: str) -> Iterator[Found]:
    """Find dates and times; surer forms first."""
    for match in _WORDED.finditer(text):
        if not _is_verb(match.group()):
            yield Found(match.start(), match.end(), "DATE", "date-worded")
    for match in _NUMERIC.finditer(text):
        if _is_calendar(match.group()) and not _NOT_A_DATE_BEFORE.search(_before(text, match)):
            yield Found(match.start(), match.end(), "DATE", "date-numeric")
    for match in _LABELLED_DIGITS.finditer(text):
        yield Found(*match.span(1), "DATE", "date-labelled")
    for match in _BORN.finditer(text):
        yield Found(*match.span(1), "DATE", "birth-year")
    yield from _without_year(text)
    for match in _TIME.finditer(text):
        yield Found(match.start(), match.end(), "TIME", "time")


def _without_year(text: str) -> Iterator[Found]:
    pattern = _DAY_AND_MONTH_UPPER if text.isupper() else _DAY_AND_MONTH
    for match in pattern.finditer(text):
        yield Found(match.start(), match.end(), "DATE", "date-day-month")
    for match in _DAY_SLASH_MONTH.finditer(text):
        if _is_day_slash_month(text, match):
            yield Found(match.start(), match.end(), "DATE", "date-slash")
    for match in _MONTH_ALONE.finditer(text):
        if _MONTH_CUE.search(text, max(0, match.start() - 9), match.start()):
            yield Found(match.start(), match.end(), "DATE", "month", sure=False)
    for match in _WEEKDAY_ALONE.finditer(text):
        yield Found(*match.span(1), "DATE", "weekday", sure=False)
    for match in _SEASON.finditer(text):
        yield Found(match.start(), match.end(), "DATE", "season")


def _before(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - 24) : match.start()]


def _is_verb(found: str) -> bool:
    """Tell a lower-case verb or word (findings may 20) from a month; a year makes it a month."""
    word = found.split(None, 1)[0]
    return word in _LOWER_WORD_MONTHS and not re.search(r"(?:19|20)\d\d|\d(?:st|nd|rd|th)", found)


def _is_calendar(found: str) -> bool:
    """Refuse numbers that no calendar has in either order (13-14-15)."""
    parts = re.split(r"[-/.]", re.split(r"[ T,@]", found.strip())[0])
    if len(parts) != 3 or len(parts[0]) == 4:
        return True
    numbers = [int(part) for part in parts[:2] if part.isdigit()]
    return len(numbers) < 2 or min(numbers) <= 12


def _is_day_slash_month(text: str, match: re.Match[str]) -> bool:
    """Decide a bare 6/3: fractions and scores need a date word before them."""
    before = _before(text, match)
    if _NOT_A_DATE_BEFORE.search(before) or _NOT_A_DATE_AFTER.match(text, match.end()):
        return False
    first, second = int(match.group(1)), int(match.group(2))
    return first > second or second > 10 or _DATE_BEFORE.search(before) is not None
