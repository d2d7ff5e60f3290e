"""Family names that are words, beside a given name: Rex Node · Small, Amina · Pat Tan.

A given name was found already, and the capitalised word beside it is one of English or medicine. In
a sentence of small letters its capital has no other reason; in capitals separators on both sides
say so. Roles, credentials, headings and days of the week stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Words
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["find", "may_be_family"]

_LEFT: Final = re.compile(r"(?:^|[:;|#(\[^/>\t]|[ ]{2}|[ ][-–][ ])[ ]{0,12}$", re.M)
_RIGHT: Final = re.compile(
    r"\.?(?:[,;)|/\n]|\Z|[ ]{2}|[ ][(|–-])|\.[ ]"
    r"|[ ](?:is|was|has|had|who|on|at|by|and|in|of|from|to|with|discussed|underwent|saw|will|can)\b"
)
_RIGHT_IN_CAPITALS: Final = re.compile(r"[ ]{0,2}(?:[;|)\n]|,[ ]\d|\Z|[ ]{2}|[ ][(|–])")
_LABEL: Final = re.compile(r"(?:^|[:|][ ]{0,12}|\#[ ]|\b(?:pt|patient)[ ])$", re.I | re.M)
_STRONG: Final = re.compile(r"(?:\#[ ]|\bpt[ ])$", re.IGNORECASE)
_STRONG_BEHIND: Final = re.compile(
    r",[ ](?:\d{1,3}[ ]?/?[ ]?[MF]\b|born\b|\d{1,2}[-/.]\d)|[ ][A-Z]{1,4}-?\d{4}", re.IGNORECASE
)
_BEHIND_GIVEN: Final = re.compile(
    r"(?:-[^\W\d_]+)?(?:[ ][A-Z]\b\.?)?(?:[,;|\n]|\Z|[ ]{1,3}(?:[A-Z]{0,4}-?\d|\Z)|[ ]{2})"
)
_DAYS: Final = frozenset(
    {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "jr", "sr"}
    | {"regards", "sincerely", "thanks", "hello", "hi", "dear", "findings", "impression", "date"}
    | {"images", "page", "history", "conclusion", "comparison", "reason", "exam", "status", "sex"}
)
_BLOCKED: Final = _DAYS.union(
    *map(
        triggers,
        ("titles", "roles", "credentials", "relatives", "roles_of_people", "kinds_of_hospital"),
    )
)
_QUOTES: Final = frozenset({' "', " “", " '", " ‘"})
_REACH: Final = 14


def find(
    text: str, found_words: Words, lexicon: Lexicon, is_taken: Callable[[int], bool]
) -> Iterator[Found]:
    """Find the family names beside given names that `is_taken` says were found."""
    capital, last = found_words.capital, len(found_words) - 1
    for at in found_words.capitals_among(lexicon.first_names):
        if at < last and capital[at + 1] and at + 2 <= last and len(found_words.plain[at + 1]) == 1:
            yield from _initialled(text, found_words, at, lexicon)
        taken = is_taken(found_words.start(at))
        if taken and at < last and (capital[at + 1] or found_words.gap(at + 1) == "-"):
            yield from _behind(text, found_words, at, lexicon, is_taken)
        if at and capital[at - 1]:
            gap = found_words.gap(at)
            if gap == ", ":
                yield from _before(text, found_words, at, is_taken)
            elif not taken and gap in _QUOTES and is_taken(found_words.start(at - 1)):
                yield Found(*found_words.span(at), "NAME", "name-family")  # Robert "Bob" Doe


def _initialled(text: str, found_words: Words, at: int, lexicon: Lexicon) -> Iterator[Found]:
    """Find June A. Node: a given name, an initial with its dot and a word in small letters."""
    start, end = found_words.span(at + 2)
    if found_words.gap(at + 1) != " " or found_words.gap(at + 2) != ". ":
        return
    if not found_words.capital[at + 1] or not text[start : start + 1].isupper():
        return
    is_small = text[start + 1 : end].islower()
    if is_small and _RIGHT.match(text, end) and may_be_family(found_words.plain[at + 2], lexicon):
        yield Found(found_words.start(at), end, "NAME", "name-family")


def _behind(
    text: str, found_words: Words, at: int, lexicon: Lexicon, is_taken: Callable[[int], bool]
) -> Iterator[Found]:
    """Find the family name behind a given name of one word, with an initial between or not."""
    if at and found_words.gap(at) == " " and is_taken(found_words.start(at - 1)):
        return
    last, following, size = at, at + 1, len(found_words)
    while following < size and found_words.gap(following) == "-":
        last, following = following, following + 1
    gaps: tuple[str, ...] = (" ",)
    if following < size and len(found_words.plain[following]) == 1:
        following, gaps = following + 1, (" ", ". ")
    if following >= size or found_words.gap(following) not in gaps:
        return
    start, end = found_words.span(following)
    if not found_words.capital[following] or is_taken(start):
        return
    is_family = may_be_family(found_words.plain[following], lexicon)
    if is_family and _stands_as_name(text, found_words.span(at), (start, end)):
        yield Found(found_words.span(last)[1] + 1, end, "NAME", "name-family")


def _stands_as_name(text: str, given: tuple[int, int], family: tuple[int, int]) -> bool:
    """Tell whether what surrounds two words in the same letters lets them be one name."""
    shouted = text[slice(*family)].isupper()
    if shouted != text[slice(*given)].isupper():
        return False
    if not shouted:
        return _RIGHT.match(text, family[1]) is not None
    lone = _LEFT.search(text, max(0, given[0] - _REACH), given[0])
    return lone is not None and _RIGHT_IN_CAPITALS.match(text, family[1]) is not None


def _before(
    text: str, found_words: Words, at: int, is_taken: Callable[[int], bool]
) -> Iterator[Found]:
    """Find LAST, FIRST where it opens a line or stands behind a label."""
    start, end = found_words.span(at - 1)
    if end - start < len("An"):
        return
    if found_words.plain[at - 1] in _BLOCKED:
        return
    label = _LABEL.search(text, max(0, start - _REACH), start)
    if label is None or not _BEHIND_GIVEN.match(text, found_words.span(at)[1]):
        return
    taken = is_taken(found_words.start(at))
    strong = taken or _STRONG.search(text, max(0, start - _REACH), start)
    if strong or _STRONG_BEHIND.match(text, found_words.span(at)[1]):
        yield Found(start, found_words.span(at)[1], "NAME", "name-family")


def may_be_family(word: str, lexicon: Lexicon) -> bool:
    """Tell whether a word can be a family name: no role, and no verb of a sentence."""
    if len(word) < len("An") or word in _BLOCKED or word in lexicon.openers:
        return word in lexicon.surnames and word not in _BLOCKED
    return not (word.endswith(("ed", "ing")) and lexicon.is_ordinary(word))
