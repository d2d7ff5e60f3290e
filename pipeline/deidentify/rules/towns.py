"""Towns: with their state, by a word of living, of the land, by the lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_uppercase
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.placenames import (
    capitals_start,
    is_shouted_sentence,
    place_from,
    trimmed,
)
from pipeline.deidentify.rules.streets import POSTCODE
from pipeline.deidentify.rules.words import Rule, Word, Words, line_before
from pipeline.names.grammar import NAME_WORD
from pipeline.names.lexicon import Lexicon, triggers, unaccented

__all__ = ["RULES", "find", "listed"]

_TOWN: Final = re.compile(
    rf"(?<![\w^.-])((?:(?:St|Ft|Mt"
    rf"|Ste)\.?[ \t])?{NAME_WORD}(?:[ \t]{NAME_WORD}){{0,2}}),[ \t]{{0,2}}$"
)
_THEN_POST: Final = re.compile(rf",?[ \t]{{1,2}}{POSTCODE}")
_ENDS_LINE: Final = re.compile(r"[ \t]*(?:$|\n|[.;)]|,[ \t]?(?:USA|U\.S\.A\.|Canada))", re.M)
_RIVER: Final = re.compile(
    rf"(?<![\w-]){NAME_WORD}(?:(?<=-)|-)(?:on|upon|super|le|sur|ON|UPON|SUPER|LE|SUR)-"
    rf"(?:the-)?{NAME_WORD}(?![\w-])"
)
_SMALL_WORD: Final = re.compile(r"-(?:on|upon|super|le|sur)-", re.IGNORECASE)
_RESIDENT_OF: Final = re.compile(
    rf"(?:Y(?:RS?|EARS)?|[Yy](?:rs?|ears)?)\.?,?[ \t]R/[oO][ \t]"
    rf"({NAME_WORD}(?:[ \t-]{NAME_WORD}){{0,2}})"
)
_IN_TOWN: Final = re.compile(
    rf"\b(?:in|at|from|to)[ ](?:the[ ])?({NAME_WORD}(?:[ ]{NAME_WORD})?)[ ]$"
)
_TOWN_NAME: Final = re.compile(rf"[ ]({NAME_WORD})(?:[ -]({NAME_WORD}))?")
_BEFORE_STATE: Final = re.compile(rf"(?<![\w-])((?:{NAME_WORD}[ ])?({NAME_WORD}))[ ]$")
_FORT: Final = re.compile(rf"\.?[ ]{NAME_WORD}")
_CUE: Final = re.compile(r"\b(?:in|at|from|to|near)[ ]$", re.IGNORECASE)
_LIVES: Final = re.compile(r"[ \t](?:in|of|from|to|near)[ \t](?:the[ \t])?")
_OUR: Final = re.compile(
    rf"\b(?:our|the|OUR|THE)[ \t]({NAME_WORD}(?:[ \t-]{NAME_WORD}){{0,2}})[ \t]$"
)
_IN_LAND: Final = re.compile(
    rf"\b(?:in|from|near|to|our|the|IN|FROM|NEAR|TO|OUR|THE)[ \t]((?:{NAME_WORD}[ \t]){{1,2}})$"
)
_LANDSCAPE: Final = triggers("words_of_land")


def _state(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    short = word.end - word.start <= 3
    if not word.capital or (short and not text[word.start : word.end].isupper()):
        return
    if not text[max(0, word.start - 3) : word.start].rstrip(" \t").endswith(","):
        return
    match = _TOWN.search(line_before(text, word.start, 50))
    if match is None:
        return
    post = _THEN_POST.match(text, word.end)
    town = match.group(1).casefold()
    plain = word.folded in _PLAIN_STATES or not short
    named = not lexicon.is_ordinary(town.split()[-1]) and word.folded not in _CREDENTIAL_STATES
    header = _ENDS_LINE.match(text, word.end) and not lexicon.is_report_word(town.split()[-1])
    if (
        post
        or town in lexicon.cities
        or (named and text[word.end : word.end + 1] in _ENDS_TOWN)
        or (header and word.folded != "md" and (plain or _is_header(text, word)))
    ):
        start = trimmed(text, word.start - len(match.group()), word.start, lexicon)
        if text[start : word.end].isupper():
            start = capitals_start(text, start, word.start - 1, lexicon)
        end = post.end() if post else word.end
        sure = named and town in lexicon.eponyms
        yield Found(start, end, "LOCATION", "town-state", sure=sure)


def _is_header(text: str, word: Word) -> bool:
    line = line_before(text, word.start, 120)
    folded = line.casefold()
    return any(word in folded for word in ("department", "hospital", "clinic", "center", "centre"))


def _office(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the place in "at our Kettle Creek office" and in "from Kettle Creek"."""
    line = line_before(text, word.start, 40)
    landscape = word.folded in _LANDSCAPE
    match = (_IN_LAND if landscape else _OUR).search(line)
    if match is None or (landscape and not word.capital):
        return
    start = word.start - len(line) + match.start(1)
    end = word.end if landscape else word.start - 1
    place = text[start:end]
    if not is_shouted_sentence(place, lexicon) and not any(
        map(lexicon.is_report_word, place.split())
    ):
        yield Found(start, end, "LOCATION", "town-office", sure=False)


def _clinic(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the town in "seen in Salem clinic", which no speciality has the name of."""
    line = line_before(text, word.start, 40)
    match = None if word.capital else _IN_TOWN.search(line)
    if match is None:
        return
    place = match.group(1)
    plain = unaccented(place)
    if plain in lexicon.cities or all(map(lexicon.is_stranger, plain.split())):
        at = word.start - len(line)
        yield Found(at + match.start(1), at + match.end(1), "LOCATION", "town-office")


def _in_town(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find a town whose name is a word or a person's in "worked in Bath"."""
    match = _TOWN_NAME.match(text, word.end)
    if match is None or match.group().isupper():
        return
    for last in (2, 1):
        end = match.end(last)
        place = unaccented(text[word.end + 1 : end]).replace("-", " ") if end > 0 else ""
        if place in lexicon.towns and not text[end : end + 1].isalnum():
            yield Found(word.end + 1, end, "LOCATION", "town-in", sure=False)
            return


def _austral(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the town before a state of Australia (Dubbo NSW)."""
    line = line_before(text, word.start, 40)
    match = _BEFORE_STATE.search(line) if text[word.start : word.end].isupper() else None
    if match is None or match.group(1).isupper():
        return
    at = word.start - len(line)
    for group in (1, 2):
        place = unaccented(match.group(group).strip())
        if place in lexicon.cities or place in lexicon.towns or lexicon.is_stranger(place):
            yield Found(at + match.start(group), word.end, "LOCATION", "town-state", sure=True)
            return


def _fort(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find a base in "fell in Fort Sill"."""
    match = _FORT.match(text, word.end)
    if match and _CUE.search(line_before(text, word.start, 9)):
        yield Found(word.start, match.end(), "LOCATION", "town-fort", sure=False)


def _lives(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _LIVES.match(text, word.end)
    if match and not word.capital:
        for found in place_from(text, match.end(), lexicon, "town-lives"):
            yield Found(found.start, found.end, "LOCATION", found.rule, sure=False)


def listed(text: str, found_words: Words, lexicon: Lexicon) -> Iterator[Found]:
    """Find towns and hospitals of the word lists, of one word or two."""
    for at in found_words.among(lexicon.place_starts):
        if not found_words.capital[at]:
            continue
        word = found_words[at]
        is_last = at + 1 == len(found_words)
        after = None if is_last or not found_words.capital[at + 1] else found_words[at + 1]
        joined = after is not None and after.start - word.end <= 2
        pair = f"{word.folded} {after.folded}" if after is not None and joined else ""
        if _names_a_thing(found_words, at, after, lexicon):
            continue
        for name, end in ((pair, after.end if after else 0), (word.folded, word.end)):
            if name in lexicon.eponyms:
                if name in lexicon.cities and _is_place(text, word.start, end):
                    yield Found(word.start, end, "LOCATION", "town-listed", sure=True)
                break
            if pair.endswith(" city") and word.folded in lexicon.cities:
                end = after.end if after else end
            if name in lexicon.hospitals:
                yield Found(word.start, end, "HOSPITAL", "hospital-listed", sure=False)
            elif name in lexicon.cities:
                yield Found(word.start, end, "LOCATION", "town-listed", sure=" " in name)


def _is_place(text: str, start: int, end: int) -> bool:
    """Tell the town from the score named after it (on arrival from Glasgow)."""
    near = _BEFORE_TOWN.search(text, max(0, start - 6), start)
    return near is not None and _BEHIND_TOWN.match(text, end) is not None


_BEFORE_TOWN: Final = re.compile(r"(?:\b(?:in|from|near|to)|[,/.])[ ]$", re.IGNORECASE)
_BEHIND_TOWN: Final = re.compile(
    r"[ ]?(?:[.,;)/\n]|\Z)|[ ](?:by|on|at|and|with|for|last|since)\b", re.IGNORECASE
)
_HEART: Final = ["new", "york", "heart"]
"""The association whose classes of heart failure are named after a town."""


def _names_a_thing(found_words: Words, at: int, after: Word | None, lexicon: Lexicon) -> bool:
    """Tell Boston Scientific, Montreal A2 and New York Heart Association from the towns."""
    if after and (after.folded in lexicon.eponym_nouns or after.end - after.start == 1):
        return True
    return found_words.folded[at : at + 3] == _HEART


_PLAIN_STATES: Final = triggers("states_that_are_no_words")
_CREDENTIAL_STATES: Final = frozenset({"md", "pa", "ct", "ms", "mb", "or", "in"})
"""States that stand behind a name or a comma for something else (Smith, MD; CHEST, PA)."""
_ENDS_TOWN: Final = ("", " ", "\n", ".", ",", ";", ")")
_STATES: Final = triggers("states")


def find(text: str) -> Iterator[Found]:
    """Find towns by a river, and where someone is from (45 yrs, R/O Barwani)."""
    if _SMALL_WORD.search(text):
        for match in _RIVER.finditer(text):
            yield Found(*match.span(), "LOCATION", "town-river", sure=False)
    if "R/" in text:
        for match in _RESIDENT_OF.finditer(text):
            yield Found(*match.span(1), "LOCATION", "town-lives", sure=False)


RULES: Final = (
    Rule(_STATES, _state, capital=True),
    Rule(triggers("words_of_living"), _lives),
    Rule(_LANDSCAPE, _office, capital=True),
    Rule(frozenset({"office", "site", "campus", "branch"}), _office),
    Rule(frozenset({"clinic", "hospital", "surgery", "practice"}), _clinic),
    Rule(frozenset({"fort", "ft", "camp"}), _fort, capital=True),
    Rule(frozenset({"nsw", "vic", "qld", "tas", "act", "nt", "sa", "wa"}), _austral, capital=True),
    Rule(
        frozenset({"in", "from", "near", "outside", "visiting"}),
        _in_town,
        then=ascii_uppercase,
    ),
)
