"""Dates in figures: 3/4/2021 · 2021-03-04 · 20210304T1405 · 4.III.21 · 6/3 · 20/6.

A fraction, a score or a span of time looks like the shorter ones (3/4 vessels, 14/7), so these need
a word of dates before them, or numbers that only a calendar has.
"""

from __future__ import annotations

import re
from typing import Final

from pipeline.deidentify.rules import clock
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import line_before

__all__ = ["LONG", "find"]

_YEAR: Final = r"(?:19|20)\d\d"
_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])"
_MONTH: Final = r"(?:1[0-2]|0?[1-9])"

_DATE: Final = re.compile(
    rf"(?:{_YEAR}([-/.]){_MONTH}\1{_DAY}(?!\d)"
    rf"|({_DAY})([-/.])({_DAY})\3(?:{_YEAR}|\d\d)(?![\d/])(?!\.\d|-\d{1, 2}(?![\d/]))"
    rf"|{_MONTH}/{_YEAR}(?![\d/])"
    rf"|(?:1[0-2]|0[1-9])-{_YEAR}(?![\d-])"
    rf"|{_YEAR}[/-](?:1[0-2]|0[1-9])(?![\w/-]|\.\d))"
)
_WITHOUT_CENTURY: Final = re.compile(r"(?<!\d)\d\d?$")
_STAMP: Final = re.compile(
    r"(?:19|20)\d\d(?:1[0-2]|0[1-9])(?:3[01]|[12]\d|0[1-9])"
    r"(?:[T ]?(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?(?:\.\d{1,6})?)?(?:[+-]\d{4}|Z)?(?![\w-])"
)
_GROUP: Final = re.compile(
    r"\d{6}[ ]?[A-Z][ ]?(?:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[ ]?(?:20)?\d\d(?!\w)"
)
"""A military date-time group."""
_ROMAN: Final = re.compile(
    r"(?:3[01]|[12]\d|0?[1-9])([-/.])(?:I{1,3}|IV|VI{0,3}|IX|XI{0,2})\1(?:(?:19|20)\d\d|\d\d)(?!\w)"
)
"""A date whose month is a Roman number."""
LONG: Final = 6
"""From how many figures on a number is a stamp or a code, never a day or a clock."""
_DAY_SLASH: Final = re.compile(rf"({_MONTH})/({_DAY})(?![\w/%]|\.\d|-\d(?!\d?/))")
_DAY_FIRST: Final = re.compile(rf"(3[01]|2\d|1[3-9])/({_MONTH})(?![\w/%]|\.\d|-\d(?!\d?/))")
_SPANS: Final = frozenset({"7", "12", "24", "52"})
"""Days, months, hours and weeks, as the British count them (14/7 is a fortnight)."""
_LASTING: Final = re.compile(
    r"\b(?:for|over|in|after|every|another|next|last|past)[ ]$", re.IGNORECASE
)
_NOT_DATE_BEFORE: Final = re.compile(
    r"(?:\b(?:images?|img|im|on[ ]view|series|se|slices?|grade|pages?|stage|scale|scores?"
    r"|scored?|segments?"
    r"|stations?|ribs?|levels?|zones?|murmur|strength|pain|birads|rads|category|class|type|ratio"
    r"|upper|lower|middle|mid|distal|proximal|about|approximately|only|least|than|discs?|disks?"
    r"|goddard|mastora|slices?[ ]\d{1,4}/\d{1,4}[ ]to"
    r"|vessels?|BP|pressure|vision|size|lobes?|version|ver|v|discs?|interspaces?|vertebra[el]?)"
    r"[ \t:#(=.]{0,3}|[\d.][ \t]?x[ \t]?)$",
    re.IGNORECASE,
)
_NOT_DATE_AFTER: Final = re.compile(
    r"[ \t]?(?:-?[ \t]?(?:inch|mm|cm)|of\b|vessels?|strength|pain|hpf|murmurs?|thirds?|lobes?|ribs?"
    r"|way|full|power|sirs|blood|nodes?|lungs?|images?|cores?|leads?|points?|quadrants?|cultures?"
    r"|the\b)",
    re.IGNORECASE,
)
_DATE_WORDS: Final = frozenset(
    {
        "dd",
        "d",
        "vom",
        "am",
        "zum",
        "bis",
        "seit",
        "le",
        "du",
        "del",
        "dal",
        "date",
        "dated",
        "time",
    }
    | {"verified", "on", "from", "since", "study", "studies", "exam", "exams", "examination"}
    | {"examinations", "dob", "b", "born", "birth", "hospital", "center", "centre", "clinic"}
    | {"institute", "facility", "comparison", "comparisons", "compared", "prior", "priors"}
    | {
        "previous",
        "until",
        "through",
        "thru",
        "by",
        "signed",
        "the",
        "ct",
        "cta",
        "cxr",
        "xr",
        "cr",
    }
    | {"dx", "mr", "mri", "pet", "radiograph", "radiographs", "film", "films", "ray", "rays"}
    | {"xray", "xrays", "scan", "scans", "performed", "obtained", "acquired", "of", "to", "for"}
    | {"between", "and", "chest", "began", "begun", "started", "onset", "thorax", "view", "views"}
    | {"portable", "last", "recent", "read", "seen", "done", "admitted", "after", "before"}
    | {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
    | {"dictated", "reported", "also", "again", "report", "imaging", "taken", "updated", "review"}
    | {"reviewed", "underwent", "drawn", "collected", "referred", "least", "t", "m", "pm"}
)
_DATE_ENDINGS: Final = ("note", "tomy", "plasty", "scopy", "graphy", "centesis", "graft")
_ONLY_PARTS: Final = frozenset({"least", "t", "m", "pm", "b", "d", "ray", "rays"})
_DATE_BEFORE: Final = re.compile(
    rf"(?:\b(?:{'|'.join(sorted(_DATE_WORDS - _ONLY_PARTS))}"
    r"|compar(?:ed|ison)[ ]with|underwent(?:[ ][a-z]{2,20}){1,3}"
    r"|d\.d|d\.?o\.?b\.?|x-?rays?|date[ /]time|as[ \t]of|date[ \t]of[ \t]\w{1,9})"
    r"|note|^|(?<!\w)[DT]:|(?:since|for)[ \t]at[ \t]least|/\d{1,2}|\d[ \t]?[ap]\.?m\.?,"
    r"|\d:\d\d,?|^-[a-z]{2,4},|[)\]]"
    r"|\w{3}(?:tomy|plasty|scopy|graphy|centesis|graft))"
    r"[ \t]?[.:,(–-]{0,2}[ \t]{0,3}$",
    re.IGNORECASE,
)
_CUES_OF_WORDS: Final = ("ompared with", "omparison with", "nderwent ")
_LAST_WORD: Final = re.compile(r"[^\W\d_]+\Z")
_THEN_CLOCK: Final = re.compile(r",?[ ](?:[01]\d|2[0-3]):[0-5]\d(?!\d)")
_HEADING: Final = re.compile(
    r"[ \t]{0,8}(?:exam|examination|study|procedure|ct|xr|cr|dx|cxr|chest|x-?ray|radiograph"
    r"|portable)\b",
    re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"(?:\b(?:d\.?o\.?b\.?|date[ds]?(?:[ \t]of[ \t]\w{1,10})?"
    r"|born(?:[ \t]on)?)[ \t]?[:#]?[ \t]{0,3})$",
    re.IGNORECASE,
)
_SIX: Final = re.compile(r"\d{6}(?!\d)")
_BIRTH: Final = re.compile(
    r"\b(?:born|birth[ \t]?year|year[ \t]of[ \t]birth|YOB"
    r"|jg\.?|jahrgang|geb\.?|geboren|née?|nata|nato"
    r"|D\.?O\.?B\.?)[ \t]?[:=]?[ \t]{0,2}(?:in[ \t])?$",
    re.IGNORECASE,
)
_BIRTH_YEAR: Final = re.compile(rf"{_YEAR}(?![\w/-])")


def find(text: str, start: int, before: str, long: int) -> Found | None:
    """Try what a date can be with so many figures before its first separator."""
    if long >= LONG:
        return _stamped(text, start, before)
    if text[start + long : start + long + 1] in ("-", "/", "."):
        return _separated(text, start, before)
    match = _BIRTH_YEAR.match(text, start)
    if match and _BIRTH.search(before):
        return Found(start, match.end(), "DATE", "birth-year")
    return None


def _stamped(text: str, start: int, before: str) -> Found | None:
    match = _GROUP.match(text, start)
    if match:
        return Found(start, match.end(), "DATE", "date-stamp")
    match = _STAMP.match(text, start)
    if match:
        return Found(start, clock.after_date(text, match.end()), "DATE", "date-stamp")
    match = _SIX.match(text, start)
    if match and _DATED.search(before):
        return Found(start, match.end(), "DATE", "date-labelled")
    return None


def _separated(text: str, start: int, before: str) -> Found | None:
    match = _ROMAN.match(text, start)
    if match:
        return Found(start, match.end(), "DATE", "date-stamp")
    match = _DATE.match(text, start)
    if (
        match
        and _is_calendar(match)
        and not (_WITHOUT_CENTURY.search(match.group()) and _NOT_DATE_BEFORE.search(before))
    ):
        return _dated(text, start, match.end(), "date-numeric")
    match = _DAY_SLASH.match(text, start)
    if match and _is_day_slash(text, match, before):
        return _dated(text, start, match.end(), "date-slash")
    match = _DAY_FIRST.match(text, start)
    if match and _is_day_first(text, match, before):
        return _dated(text, start, match.end(), "date-slash")
    match = _BIRTH_YEAR.match(text, start)
    if match and _BIRTH.search(before):
        return Found(start, match.end(), "DATE", "birth-year")
    return None


def _dated(text: str, start: int, end: int, rule: str) -> Found:
    return Found(clock.before_date(text, start), clock.after_date(text, end), "DATE", rule)


def _is_calendar(match: re.Match[str]) -> bool:
    """Refuse numbers that no calendar has in either order (13-14-15)."""
    return match.group(2) is None or min(int(match.group(2)), int(match.group(4))) <= 12


def _is_day_slash(text: str, match: re.Match[str], before: str) -> bool:
    """Decide a bare 6/3: fractions and scores need a date word before them."""
    first, second = int(match.group(1)), int(match.group(2))
    alone = match.group(1).startswith("0") or first > second or second > 10
    alone = alone or _THEN_CLOCK.match(text, match.end()) is not None or _is_heading(text, match)
    if not (alone or _is_cued(before)):
        return False
    unlike = _NOT_DATE_BEFORE.search(before) and not before.endswith("since at least ")
    return not unlike and _NOT_DATE_AFTER.match(text, match.end()) is None


def _is_cued(before: str) -> bool:
    """Tell whether a word of dates stands before a figure; by its last word first, for speed."""
    stem = before.rstrip(" \t").rstrip(".:,(–-").rstrip(" \t")
    word = _LAST_WORD.search(stem, max(0, len(stem) - 16))
    long_cue = any(cue in before for cue in _CUES_OF_WORDS)
    if word is not None and not long_cue and "ate of " not in before and "ATE OF " not in before:
        last = word.group().casefold()
        if last not in _DATE_WORDS and not last.endswith(_DATE_ENDINGS) and stem[:1] != "-":
            return False
    return _DATE_BEFORE.search(before) is not None


def _is_day_first(text: str, match: re.Match[str], before: str) -> bool:
    """Decide a bare 20/6: a span of time needs a date word before it."""
    if _NOT_DATE_BEFORE.search(before) or _NOT_DATE_AFTER.match(text, match.end()):
        return False
    if match.group(2) not in _SPANS:
        return True
    return _is_cued(before) and _LASTING.search(before) is None


def _is_heading(text: str, match: re.Match[str]) -> bool:
    """Tell whether the line is an exam's heading and ends here (XR CHEST 2 VIEWS 1/5)."""
    line = line_before(text, match.start(), 101)
    ends = text[match.end() : match.end() + 1] in ("", "\n", "\r")
    return ends and len(line) < 100 and _HEADING.match(line) is not None
