"""Dates with a month in words: March 3, 2021 · 3 March · 03MAR2021 · March 3rd · March 2021.

Years alone stay (Safe Harbor allows them); a month, a day or a weekday goes, with the weekday
before it and the time of day behind it. The words may and march are months only with a number
that no measurement has, or capitalised behind a preposition (in May); words of certainty are
locked before this rule looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules import clock
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word, line_before
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["RULES"]

_FULL: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTHS: Final = frozenset(_FULL) | {month[:3] for month in _FULL} | {"sept", "juin"}
_ALSO_WORDS: Final = frozenset({"may", "march", "mar"})
_YEAR: Final = r"(?:19|20)\d\d(?!\d)"
_SHORT: Final = rf"(?:{_YEAR}|['’]?\d\d(?!\d|[/.:]\d))"
_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])(?!\d)"
_NTH: Final = r"(?:[ \t]?(?:st|nd|rd|th)\b)?"
_RANGE: Final = rf"(?:[ \t]?(?:-|–|and|to|&|through)[ \t]?{_DAY}{_NTH})?"
_UNIT: Final = (
    r"(?![ \t-]?(?:mm|cm|x\b|weeks?|wks?|months?|days?|years?|hours?|min|of\b|%|ml|mg|views?"
    r"|images?"
    r"|hu\b|fr\b|lesions?|nodules?|ribs?|percent)|[/.:]\d|-\d)"
)
_DAY_YEAR: Final = re.compile(
    rf"\.?[ \t./-]{{0,3}}{_DAY}{_NTH}{_RANGE}[,. \t/-]{{1,3}}(?:of[ \t]"
    rf"|in[ \t])?{_SHORT}(?![ \t]?(?:mm|cm)\b)",
    re.IGNORECASE,
)
_WRAPPED: Final = re.compile(
    rf"\.?[ \t]?\n?[ \t]{{0,4}}{_DAY}{_NTH},?[ \t]?\n?[ \t]{{0,4}}{_YEAR}"
    rf"|,?[ \t]?\n[ \t]{{0,4}}{_YEAR}",
    re.I,
)
_YEAR_ONLY: Final = re.compile(rf"\.?[,. \t/-]{{0,3}}(?:of[ \t])?(?:{_YEAR}|['’]\d\d(?!\d))", re.I)
_SHORT_YEAR: Final = re.compile(
    rf"\.?[,. \t/-]{{0,3}}(?:of[ \t])?{_SHORT}|[ ]?\n[ ]{{0,8}}{_YEAR}(?![ ]?\w)", re.I
)
_DAY_ONLY: Final = re.compile(rf"\.?[ \t-]{{0,2}}{_DAY}{_NTH}{_RANGE}{_UNIT}", re.IGNORECASE)
_NTH_DAY: Final = re.compile(
    rf"\.?[ \t-]{{0,2}}(?:\n[ \t]{{0,4}})?{_DAY}[ \t]?(?:st|nd|rd|th)\b", re.IGNORECASE
)
_DAY_BEFORE: Final = re.compile(
    rf"(?<![\d.,/-])(?:(?:3[01]|[12]\d|0?[1-9]){_NTH}[ \t]?(?:-|–|and|to|&)[ \t]?)?"
    rf"(?:3[01]|[12]\d|0?[1-9]){_NTH}(?:[ \t]of)?[. \t/-]{{0,2}}$",
    re.IGNORECASE,
)
_YEAR_BEFORE: Final = re.compile(r"(?<!\d)(?:19|20)\d\d[ \t,./-]{1,2}$")
_DAY_AFTER: Final = re.compile(rf"[ \t./-]{{0,2}}{_DAY}{_NTH}", re.IGNORECASE)
_CUE: Final = re.compile(
    r"\b(?:in|since|last|next|this|early|late|mid|from|until|till|by|of|during|through"
    r"|dated)[ \t-]$",
    re.IGNORECASE,
)
_WEEKDAY_CUE: Final = re.compile(r"\b(?:on|last|this|next|since|until|from)[ \t]$", re.IGNORECASE)
_NEXT_WORD: Final = re.compile(r"[ \t](\w+)")
_FIGURE: Final = re.compile(r"\d")
_OPENINGS: Final = frozenset({". ", ".\n", "; ", ""})
"""What stands before a verb that begins a sentence (May represent)."""
_IS_VERB: Final = re.compile(r"[ \n](?!of|th|OF|TH)[A-Za-z]")
_SEASON: Final = re.compile(rf"[ \t](?:of[ \t])?{_YEAR}", re.IGNORECASE)
_HOLIDAY: Final = re.compile(rf"(?:[ \t](?:day|eve))?(?:,?[ \t](?:of[ \t])?{_YEAR})?", re.I)


_FOREIGN_DAY: Final = re.compile(
    r"(?<![\d.,/-])(?:3[01]|[12]\d|0?[1-9])(?:\.|er|º|ª)?[ \t](?:de[ \t])?$", re.IGNORECASE
)
_FOREIGN_YEAR: Final = re.compile(rf"\.?[ \t](?:del?[ \t])?{_YEAR}", re.IGNORECASE)
_DAY_DOT: Final = re.compile(
    r"[ \t]((?:3[01]|[12]\d|0?[1-9])\.[ ]?(?:1[0-2]|0?[1-9])\.)(?=[ ,;)][^A-Z]|$)", re.M
)


def _month(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if word.end < len(text) and text[word.end] in "^_":
        return
    opens = not word.capital or text[max(0, word.start - 2) : word.start] in _OPENINGS
    if opens and word.folded in _ALSO_WORDS and _IS_VERB.match(text, word.end):
        return
    near = _FIGURE.search(text, max(0, word.start - 16), word.end + 14)
    start, end = _span(text, word) if near else (0, 0)
    if end > start:
        start, end = clock.before_date(text, start), clock.after_date(text, end)
        start = clock.clock_before(text, start)
        yield Found(start, end, "DATE", "date-worded")
    elif _is_month_alone(text, word, lexicon):
        yield Found(word.start, word.end, "DATE", "date-month", sure=False)


def _span(text: str, word: Word) -> tuple[int, int]:
    """Give the date around a month's name, or an empty span."""
    before = line_before(text, word.start, 16)
    day = _DAY_BEFORE.search(before)
    if day:
        start = word.start - len(day.group())
        year = _SHORT_YEAR.match(text, word.end)
        if year:
            return start, year.end()
        if "." not in day.group() and (word.capital or word.folded not in _ALSO_WORDS):
            return (start, word.end) if _ends_word(text, word.end) else (0, 0)
    whole = _DAY_YEAR.match(text, word.end)
    year_before = None if whole else _YEAR_BEFORE.search(before)
    day_after = _DAY_AFTER.match(text, word.end) if year_before else None
    if year_before and day_after:
        return word.start - len(year_before.group()), day_after.end()
    if word.start and text[word.start - 1].isalnum():
        return 0, 0
    return _forward(text, word)


def _forward(text: str, word: Word) -> tuple[int, int]:
    for pattern in (_DAY_YEAR, _WRAPPED, _YEAR_ONLY, _NTH_DAY):
        match = pattern.match(text, word.end)
        if match:
            return word.start, match.end()
    match = _DAY_ONLY.match(text, word.end)
    if match and (word.capital or word.folded not in _ALSO_WORDS):
        return word.start, match.end()
    return 0, 0


def _ends_word(text: str, end: int) -> bool:
    return end >= len(text) or not (text[end].isalnum() or text[end] == "-")


def _is_month_alone(text: str, word: Word, lexicon: Lexicon) -> bool:
    if word.folded not in _FULL or not word.capital:
        return False
    following = _NEXT_WORD.match(text, word.end)
    if following and lexicon.is_eponym_noun(following.group(1)):
        return False
    return _CUE.search(line_before(text, word.start, 9)) is not None


def _foreign(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find a date with a month of another language (3. März 2021, 3 de marzo de 2021)."""
    day = _FOREIGN_DAY.search(line_before(text, word.start, 14))
    year = _FOREIGN_YEAR.match(text, word.end)
    if year or (day and (word.capital or "." in day.group())):
        start = word.start - (len(day.group()) if day else 0)
        end = clock.after_date(text, year.end() if year else word.end)
        yield Found(start, end, "DATE", "date-worded")


def _day_dot(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find a day and a month with two dots (vom 17.4. zum Vergleich)."""
    match = _DAY_DOT.match(text, word.end)
    if match:
        yield Found(*match.span(1), "DATE", "date-dots")


def _weekday(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    if word.capital and _WEEKDAY_CUE.search(line_before(text, word.start, 8)):
        yield Found(word.start, clock.after_date(text, word.end), "DATE", "weekday", sure=False)


def _season(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _SEASON.match(text, word.end)
    if match:
        yield Found(word.start, match.end(), "DATE", "season")


def _holiday(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _HOLIDAY.match(text, word.end)
    if match and word.capital:
        yield Found(word.start, match.end(), "DATE", "holiday", sure=False)


_DAYS: Final = {day + "day" for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")}

RULES: Final = (
    Rule(_MONTHS, _month),
    Rule(triggers("months_of_other_languages"), _foreign),
    Rule(triggers("words_before_a_day"), _day_dot),
    Rule(frozenset({"spring", "summer", "fall", "autumn", "winter"}), _season),
    Rule(frozenset(_DAYS), _weekday),
    Rule(frozenset({"christmas", "thanksgiving", "easter", "halloween"}), _holiday),
)
