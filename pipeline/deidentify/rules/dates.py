"""Dates with a month in words, and dates in figures: March 3, 2021 · 03MAR2021 · 2021-03-04 · 20/6.

Years alone stay (Safe Harbor allows them); a month, a day or a weekday goes, with the weekday
before it and the time of day behind it. The words may and march are months only with a number
that no measurement has, or capitalised behind a preposition (in May). In figures, a fraction, a
score or a span of time looks like the shorter dates (3/4 vessels, 14/7), so these need a word of
dates before them, or numbers that only a calendar has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pipeline.deidentify.rules.checks import patterns
from pipeline.deidentify.rules.rows import Compiled, Finder, Hit
from pipeline.deidentify.rules.window import Window, Word, back, line_before, past
from pipeline.deidentify.spans import Found
from pipeline.names.lexicon import Lexicon

_P: Final = patterns("dates")
_ALSO_WORDS: Final = frozenset({"may", "march", "mar"})
_SHORT: Final = 4
_FIGURE: Final = re.compile(r"\d")
_OPENINGS: Final = frozenset({". ", ".\n", "; ", ""})
"""What stands before a verb that begins a sentence (May represent)."""
LONG: Final = 6
"""From how many figures on a number is a stamp or a code, never a day or a clock."""
_SPANS: Final = frozenset({"7", "12", "24", "52"})
"""Days, months, hours and weeks, as the British count them (14/7 is a fortnight)."""
_SEPARATORS: Final = frozenset("-/. –·~|=•_")
"""What may stand behind the first figures of a date."""
_LAST_DAY: Final = 10
_WEEKDAY: Final = 18
"""How far before a date its weekday can begin."""


def _month(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    text, word = window.text, hit.place
    if word.end < len(text) and text[word.end] in "^_":
        return
    opens = not word.capital or text[max(0, word.start - 2) : word.start] in _OPENINGS
    if opens and word.folded in _ALSO_WORDS and _P["is_verb"].match(text, word.end):
        return
    near = _FIGURE.search(text, max(0, word.start - 16), word.end + 14)
    start, end = _around_month(text, word) if near else (0, 0)
    if end > start:
        start = back(_P["before"], text, start, _WEEKDAY)
        yield row.found(start, past(_P["clock"], text, end))
    elif _is_month_alone(text, word, window.lexicon):
        yield Found(word.start, word.end, "DATE", "date-month", sure=False)


def _around_month(text: str, word: Word) -> tuple[int, int]:
    """Give the date around a month's name, or an empty span."""
    before = line_before(text, word.start, 16)
    day = _P["day_before"].search(before)
    if day:
        start = word.start - len(day.group())
        year = _P["short_year"].match(text, word.end)
        if year:
            return start, year.end()
        if "." not in day.group() and (word.capital or word.folded not in _ALSO_WORDS):
            behind = text[word.end : word.end + 1]
            return (0, 0) if behind.isalnum() or behind == "-" else (start, word.end)
    year_before = _P["year_before"].search(before)
    if year_before and not _P["day_year"].match(text, word.end):
        day_after = _P["day_after"].match(text, word.end)
        if day_after:
            return word.start - len(year_before.group()), day_after.end()
    if word.start and text[word.start - 1].isalnum():
        return 0, 0
    return _behind_month(text, word)


def _behind_month(text: str, word: Word) -> tuple[int, int]:
    names = ["day_year", "wrapped", "year_only", "nth_day"]
    if word.capital or word.folded not in _ALSO_WORDS:
        names.append("day_only")
    for name in names:
        match = _P[name].match(text, word.end)
        if match:
            return word.start, match.end()
    return 0, 0


def _is_month_alone(text: str, word: Word, lexicon: Lexicon) -> bool:
    spelt_out = word.folded == "may" or len(word.folded) >= _SHORT
    is_word = word.folded in _ALSO_WORDS and not word.capital
    if not spelt_out or is_word or word.folded in ("sept", "juin"):
        return False
    following = _P["next_word"].match(text, word.end)
    if following and following[1] in lexicon.eponym_nouns:
        return False
    return _P["cue"].search(line_before(text, word.start, 9)) is not None


def in_figures(text: str, start: int, before: str, long: int) -> Found | None:
    """Try what a date can be with so many figures before its first separator."""
    if long >= LONG:
        return _stamped(text, start, before)
    behind = text[start + long : start + long + 1]
    found = _separated(text, start, before, behind) if behind in _SEPARATORS else None
    is_year = found is None and long == len("1931") and _P["birth_year"].match(text, start)
    if is_year and _P["birth"].search(before):
        return Found(start, start + long, "DATE", "birth-year")
    return found


def _stamped(text: str, start: int, before: str) -> Found | None:
    match = _P["group"].match(text, start)
    if match:
        return Found(start, match.end(), "DATE", "date-stamp")
    match = _P["stamp"].match(text, start)
    if match:
        return Found(start, past(_P["clock"], text, match.end()), "DATE", "date-stamp")
    match = _P["six"].match(text, start)
    if match and _P["dated"].search(before):
        return Found(start, match.end(), "DATE", "date-labelled")
    return None


def _separated(text: str, start: int, before: str, behind: str) -> Found | None:
    """Try the dates whose first figures end in a hyphen, a stroke, a full stop or a blank."""
    match = _P["roman"].match(text, start) or _P["year_first"].match(text, start)
    if match:
        return _dated(text, start, match.end(), "date-stamp")
    match = _P["date"].match(text, start) if behind != " " else None
    # Numbers that no calendar has in either order are none (13-14-15).
    if match and (match[2] is None or min(int(match[2]), int(match[4])) <= 12):
        century = _P["without_century"].search(match.group()) is None
        if century or not _P["not_date_before"].search(before):
            return _dated(text, start, match.end(), "date-numeric")
    if behind == "/":
        match = _P["day_slash"].match(text, start)
        if match and _is_day_slash(text, match, before):
            return _dated(text, start, match.end(), "date-slash")
        match = _P["day_first"].match(text, start)
        if match and _is_day_first(text, match, before):
            return _dated(text, start, match.end(), "date-slash")
    match = _P["day_dots"].match(text, start) if behind == "." else None
    if match and not _P["not_date_before"].search(before):
        return _dated(text, start, match.end(), "date-dots")._replace(sure=False)
    return None


def _dated(text: str, start: int, end: int, rule: str) -> Found:
    start = back(_P["before"], text, start, _WEEKDAY)
    return Found(start, past(_P["clock"], text, end), "DATE", rule)


def _is_day_slash(text: str, match: re.Match[str], before: str) -> bool:
    """Decide a bare 6/3: fractions and scores need a date word before them."""
    first, second = int(match[1]), int(match[2])
    alone = match[1].startswith("0") or first > second or second > _LAST_DAY
    alone = alone or _P["then_clock"].match(text, match.end()) is not None
    if not (alone or _P["date_before"].search(before)):
        return False
    unlike = _P["not_date_before"].search(before) and not before.endswith("since at least ")
    return not unlike and _P["not_date_after"].match(text, match.end()) is None


def _is_day_first(text: str, match: re.Match[str], before: str) -> bool:
    """Decide a bare 20/6: a span of time needs a date word before it."""
    if _P["not_date_before"].search(before) or _P["not_date_after"].match(text, match.end()):
        return False
    if match[2] not in _SPANS:
        return True
    return _P["date_before"].search(before) is not None and _P["lasting"].search(before) is None


FINDERS: Final[Mapping[str, Finder]] = {"month": _month}
