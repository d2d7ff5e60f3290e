"""What stands beside an identifier: names that are words, dates that are fractions elsewhere.

Identifiers stand together: in a header, a signature, a message's segment. So a listed name that is
a word of reports too (SHORT, Wells, April Small) is a name where separators bound it on both sides
and an identifier stands directly beyond one of them; a family name that is a word, beside a given
name (Rex Node · Small, Amina); and a figure that is a fraction or a score elsewhere is a date or a
clock directly behind a person or a place (Dr Thomas 4/9; Ruby, 1526). Roles, credentials, headings
and days of the week stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.checks import patterns, word_list
from pipeline.deidentify.rules.window import Window
from pipeline.deidentify.spans import Found
from pipeline.names.lexicon import Lexicon

_P: Final = patterns("beside")
_FIELD_GAPS: Final = frozenset({" ", "-", ", ", ". ", "^"})
_FIELD_REACH: Final = 12
_MAX: Final = 4
_SHORTEST: Final = 3
_BLOCKED: Final = word_list("never_family").union(
    *map(
        word_list,
        ("titles", "roles", "credentials", "relatives", "roles_of_people", "kinds_of_hospital"),
    )
)
_QUOTES: Final = frozenset({' "', " “", " '", " ‘"})
_REACH: Final = 14
_YEAR: Final = ("19", "20")


def neighbours(window: Window) -> Iterator[Found]:
    """Find the listed names that fill the field beside what was found already."""
    text, words, is_taken = window.text, window.words, window.is_taken
    done = -1
    for at in words.capitals_among(window.lexicon.fillers):
        start = words.start(at)
        if at <= done or is_taken(start):
            continue
        done = _field_end(window, at)
        end = words.span(done)[1]
        right = _P["field_right"].match(text, end) if end - start >= _SHORTEST else None
        left = _P["field_left"].search(text, max(0, start - _FIELD_REACH), start) if right else None
        if left and right and (is_taken(left.start() - 1) or is_taken(right.end())):
            yield Found(start, end, "NAME", "name-neighbour")


def _field_end(window: Window, at: int) -> int:
    """Follow listed names and initials from one; behind one given name also a word."""
    words, lexicon, last = window.words, window.lexicon, at
    while last + 1 < len(words) and last - at < _MAX and words.gap(last + 1) in _FIELD_GAPS:
        name = words.plain[last + 1]
        if not words.capital[last + 1] or not (len(name) == 1 or name in lexicon.fillers):
            shown = window.text[slice(*words.span(last + 1))]
            small = shown[:1].isupper() and shown[1:].islower()
            is_given = last == at and words.plain[at] in lexicon.given_names
            if is_given and small and words.gap(last + 1) == " " and _may_be_family(name, lexicon):
                last += 1
            break
        last += 1
    return last


def families(window: Window) -> Iterator[Found]:
    """Find the family names beside given names that were found."""
    words, is_taken = window.words, window.is_taken
    capital, size = words.capital, len(words)
    for at in words.capitals_among(window.lexicon.first_names):
        if at + 2 < size and capital[at + 1] and len(words.plain[at + 1]) == 1:
            yield from _initialled(window, at)
        taken = is_taken(words.start(at))
        if taken and at + 1 < size and (capital[at + 1] or words.gap(at + 1) == "-"):
            yield from _behind(window, at)
        if at and capital[at - 1]:
            gap = words.gap(at)
            if gap == ", ":
                yield from _before(window, at)
            elif not taken and gap in _QUOTES and is_taken(words.start(at - 1)):
                yield Found(*words.span(at), "NAME", "name-family")  # Robert "Bob" Doe


def _initialled(window: Window, at: int) -> Iterator[Found]:
    """Find June A. Node: a given name, an initial with its dot and a word in small letters."""
    words, text = window.words, window.text
    start, end = words.span(at + 2)
    if words.gap(at + 1) != " " or words.gap(at + 2) != ". " or not text[start].isupper():
        return
    fits = text[start + 1 : end].islower() and _P["right"].match(text, end) is not None
    if fits and _may_be_family(words.plain[at + 2], window.lexicon):
        yield Found(words.start(at), end, "NAME", "name-family")


def _behind(window: Window, at: int) -> Iterator[Found]:
    """Find the family name behind a given name of one word, with an initial between or not."""
    words, is_taken = window.words, window.is_taken
    if at and words.gap(at) == " " and is_taken(words.start(at - 1)):
        return
    last, following, size = at, at + 1, len(words)
    while following < size and words.gap(following) == "-":
        last, following = following, following + 1
    gaps: tuple[str, ...] = (" ",)
    if following < size and len(words.plain[following]) == 1:
        following, gaps = following + 1, (" ", ". ")
    if following >= size or words.gap(following) not in gaps or not words.capital[following]:
        return
    start, end = words.span(following)
    is_family = not is_taken(start) and _may_be_family(words.plain[following], window.lexicon)
    if is_family and _are_one_name(window.text, words.span(at), (start, end)):
        yield Found(words.span(last)[1] + 1, end, "NAME", "name-family")


def _are_one_name(text: str, given: tuple[int, int], family: tuple[int, int]) -> bool:
    """Tell whether what surrounds two words in the same letters lets them be one name."""
    shouted = text[slice(*family)].isupper()
    if shouted != text[slice(*given)].isupper():
        return False
    if not shouted:
        return _P["right"].match(text, family[1]) is not None
    lone = _P["left"].search(text, max(0, given[0] - _REACH), given[0])
    return lone is not None and _P["right_in_capitals"].match(text, family[1]) is not None


def _before(window: Window, at: int) -> Iterator[Found]:
    """Find LAST, FIRST where it opens a line or stands behind a label."""
    text, words = window.text, window.words
    (start, end), stop = words.span(at - 1), words.span(at)[1]
    if end - start < len("An") or words.plain[at - 1] in _BLOCKED:
        return
    first = max(0, start - _REACH)
    if not _P["label"].search(text, first, start) or not _P["behind_given"].match(text, stop):
        return
    strong = window.is_taken(words.start(at)) or _P["strong"].search(text, first, start)
    if strong or _P["strong_behind"].match(text, stop):
        yield Found(start, stop, "NAME", "name-family")


def _may_be_family(word: str, lexicon: Lexicon) -> bool:
    """Tell whether a word can be a family name: no role, and no verb of a sentence."""
    if len(word) < len("An") or word in _BLOCKED or word in lexicon.openers:
        return word in lexicon.surnames and word not in _BLOCKED
    return not (word.endswith(("ed", "ing")) and lexicon.is_ordinary(word))


def dates(window: Window) -> Iterator[Found]:
    """Find the dates and clocks behind the letters of an identifier."""
    for match in _P["dots"].finditer(window.text):
        yield Found(match.start() - len("03"), match.end(), "DATE", "date-dots")
    for match in _P["date"].finditer(window.text):
        comma = window.text[match.start() - 1] == ","
        if not window.is_taken(match.start() - 1 - comma):
            continue
        if match["date"]:
            yield Found(*match.span("date"), "DATE", "date-beside")
        elif not match["time"].startswith(_YEAR):
            yield Found(*match.span("time"), "TIME", "time-beside")
