"""How names of places are spelt: where one begins in its line, and where it goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.names.grammar import NAME_WORD
from pipeline.names.lexicon import Lexicon, triggers

__all__ = [
    "JOIN",
    "KINDS",
    "PLACE",
    "WORD",
    "capitals_start",
    "is_shouted_sentence",
    "place_from",
    "trimmed",
]

WORD: Final = rf"(?:(?:St|ST|Ste|Mt)\.?(?![^\W\d_])|MT\.|{NAME_WORD}(?:['’][sS])?)"
JOIN: Final = r"(?:of|the|and|&|for|at|de|del|la|OF|THE|AND)"
PLACE: Final = re.compile(rf"{WORD}(?:[ \t](?:{JOIN}[ \t]){{0,2}}{WORD}){{0,5}}")
KINDS: Final = triggers("kinds_of_hospital")
"""Words that make the capitalised words before them the name of a hospital."""
_NOT_IN_PLACES: Final = frozenset(
    {"with", "for", "is", "are", "was", "in", "on", "by", "from", "to", "at", "or", "if", "this"}
    | {"no", "not", "his", "her", "preop", "secondary", "than", "has", "had", "be", "as"}
)
"""Words that end the search for a hospital's name in capitals (TRANSFERRED FROM ... HOSPITAL)."""
_SENTENCE: Final = re.compile(r"[ \t](?:IN|ON|AT|FOR|WITH|BY|IS|WAS|TO|FROM|AND|PERFORMED|DATED)\b")


def capitals_start(text: str, start: int, stop: int, lexicon: Lexicon) -> int:
    """Begin a hospital's name in capitals behind the last word that no such name has."""
    begin = start
    for match in re.finditer(r"\S+", text[start:stop]):
        word = match.group().strip(".:,").casefold()
        if word in ("of", "the", "and"):
            continue
        if word in _NOT_IN_PLACES or word.endswith("ed") or lexicon.opens_sentence(word):
            begin = min(stop, start + match.end() + 1)
    return begin


def trimmed(text: str, start: int, stop: int, lexicon: Lexicon) -> int:
    """Leave out words before a hospital's name that belong to the sentence or the header."""
    for match in re.finditer(r"\S+", text[start:stop]):
        if not lexicon.opens_sentence(match.group().strip(".:,")):
            return start + match.start()
    return stop


def place_from(text: str, start: int, lexicon: Lexicon, rule: str) -> Iterator[Found]:
    """Find the place that begins here, unless its words are those of a report."""
    match = PLACE.match(text, start)
    if match is None or match.group().split()[0].strip(".").casefold() in lexicon.not_names:
        return
    place = match.group()
    if place.isupper():
        place = _SENTENCE.split(place, maxsplit=1)[0]
    if not is_shouted_sentence(place, lexicon):
        yield Found(start, start + len(place), "HOSPITAL", rule, sure=False)


def is_shouted_sentence(place: str, lexicon: Lexicon) -> bool:
    """Tell whether words in capitals are a sentence of a report in capitals, not a place."""
    if not place.isupper():
        return False
    words = re.findall(r"[^\W\d_]{3,}", place)
    return not KINDS.intersection(map(str.casefold, words)) and all(map(lexicon.is_ordinary, words))
