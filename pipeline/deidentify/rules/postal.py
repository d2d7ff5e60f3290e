"""Addresses that end in a state: a house, a street of any kind, a flat, a town of any spelling.

The state with its postcode is the anchor; what stands before it on up to two lines is taken from
the number of the house. Without a house the town is taken, also where it is a word (Normal, IL), if
a word of place stands before it or if its state is no word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.names.grammar import NAME_WORD, UPPER
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["find"]

_ABBREVIATIONS: Final = "|".join(
    sorted(state.upper() for state in triggers("states") if len(state) == 2)
)
_STATE: Final = re.compile(
    rf",[ \t]?(?:\n[ ]{{0,8}})?(?P<state>{_ABBREVIATIONS})\b"
    r"(?P<post>,?[ \t]{1,2}(?:\n[ \t]{0,8})?\d{5}(?:-\d{4})?(?![\d/]|[.-]\d))?"
)
_TOWN: Final = re.compile(
    rf"(?<![\w'’-])((?:(?:St|Ste|Ft|Mt|ST|STE|FT|MT)\.?[ ])?{NAME_WORD}"
    rf"(?:[ ](?:(?:or|of|on|the|du|de|la|OR|OF|ON|THE)(?:[ ]|\n[ ]{{0,8}})){{0,2}}"
    rf"(?:[dD]['’])?{NAME_WORD}){{0,3}})$"
)
_HOUSE: Final = re.compile(
    rf"(?<![\w./:-])(\d{{1,5}}[A-Z]?\s{{1,8}}(?:[NSEW]\.?[ ])?(?:[{UPPER}]|\d)[^:;()\n]{{3,60}}"
    r"(?:\n[^:;()\n]{2,50})?)$"
)
_CUE: Final = re.compile(
    r"\b(?:from|in|to|near|of|at|visiting|around|outside)[ ]$|(?:^|[,;:(\n])[ ]{0,4}$", re.I
)
_PREPOSITION: Final = re.compile(r"[ ](?:FROM|IN|TO|NEAR|OF|AT|VISITING|OUTSIDE)[ ]", re.IGNORECASE)
_DOUBTFUL: Final = frozenset({"MD", "PA", "OR", "IN", "ME", "CT", "MS", "MB", "DE", "ON", "NB"})
_REACH: Final = 120


def find(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find addresses and towns by their states."""
    for match in _STATE.finditer(text):
        before = text[max(0, match.start() - _REACH) : match.start()]
        town = _TOWN.search(before)
        if town is None:
            continue
        at = match.start() - len(before)
        start = at + town.start(1) + _skipped(town.group(1))
        if match.group("post"):
            house = _HOUSE.search(before)
            sure = house is not None
            start = at + house.start(1) if house else start
        elif not _is_town(text, start, match, lexicon):
            continue
        else:
            sure = False
        yield Found(start, match.end(), "LOCATION", "town-postal", sure=sure)


def _skipped(town: str) -> int:
    """Leave out what stands before the last word of place in capitals (MACHINIST FROM HOPE)."""
    last = 0
    for match in _PREPOSITION.finditer(f" {town}"):
        if match.group().strip() not in ("of", "OF") or match.start() == 0:
            last = match.end() - 1
    return last


def _is_town(text: str, start: int, match: re.Match[str], lexicon: Lexicon) -> bool:
    """Tell Hope, AR from CHEST, PA: by the word of place before it and by what the words are."""
    cue = _CUE.search(text, max(0, start - 12), start)
    place = text[start : match.start()]
    if cue is None:
        return False
    certain = match.group("state") not in _DOUBTFUL
    preposition = cue.group().strip(" ,;:(\n") != ""
    if any(map(lexicon.is_report_word, re.findall(r"[^\W\d_]+", place))):
        return certain and preposition and not place.isupper()
    if certain:
        return True
    return preposition or place.casefold() in lexicon.cities
