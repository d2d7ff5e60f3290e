"""Streets, postcodes and the addresses that end in one, boxes, rooms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.placenames import KINDS
from pipeline.deidentify.rules.words import Rule, Word, line_before
from pipeline.names.grammar import NAME_WORD
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["POSTCODE", "RULES", "find"]

POSTCODE: Final = (
    r"(?:\d{5}(?:-\d{4})?(?!\d)|[A-Z]\d[A-Z][ ]?\d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]?[ ]\d[A-Z]{2})"
)
_THEN_POST: Final = re.compile(rf",?[ \t]{{1,2}}{POSTCODE}")
_MORE_STREET: Final = rf"(?:[ \t]{NAME_WORD}){{0,2}}"
_STREET: Final = re.compile(
    rf"(?<![\w.])\d{{1,5}}[A-Z]?[ \t](?:[NSEW]\.?[ \t]|(?:North|South|East"
    rf"|West)[ \t])?(?:(?:St|ST)\.?[ \t])?(?:{NAME_WORD}(?:['’][sS])?"
    rf"|\d{{1,3}}(?:st|nd|rd|th|ST|ND|RD|TH)){_MORE_STREET}[ \t]$"
)
_SUITE: Final = re.compile(
    r"(?:\.(?=,|[ \t]\w))?"
    r"(?:,?[ \t](?:Suite|Ste|Apt|Apartment|Unit|Floor|Fl|Rm|Room|#)\.?[ \t]?[\w-]{1,6})?",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(r"[ ]\d{1,4}(?!\w)")
_PERSON: Final = re.compile(r"\b(?:by|with|to|from|per|and|for)[ ]$", re.IGNORECASE)
_UNIT_BEFORE: Final = re.compile(
    r"(?:Unit|Flat|Apt\.?|Suite)[ ][\w-]{1,5}(?:/|,[ ])$", re.IGNORECASE
)
_BOX: Final = re.compile(r"[ \t]\d{1,6}\b")
_ZIP: Final = re.compile(rf"(?:[ \t]code)?[ \t]?[:#]?[ \t]{{0,2}}({POSTCODE})")
_BRITISH: Final = re.compile(r"[A-Z][A-Z]?\d[A-Z\d]? \d(?!TH|ST|ND|RD|MM|CM)[A-Z]{2}(?!\w)")
_BEFORE_POST: Final = re.compile(rf"(?:^|[,;(][ \t]|\b(?:in|from|near|of)[ \t])({NAME_WORD}[ \t])$")
_CANADIAN: Final = re.compile(
    r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ ]\d[ABCEGHJ-NPRSTV-Z]\d(?!\w)"
)
_POSTS: Final = (
    _CANADIAN,
    _BRITISH,
    re.compile(r"[AC-FHKNPRTV-Y]\d[\dW] [AC-FHKNPRTV-Y\d]{4}(?!\w)(?<![A-Z]{4})"),  # Irish
    re.compile(r"(?:VIC|NSW|QLD|WA|SA|TAS|ACT|NT)[ ]\d{4}(?![\w/-]|\.\d)"),
)
_LIKE_POST: Final = re.compile(
    r" (?:(?<=[A-Z\d] )\d[A-Z][A-Z\d]|(?<=\d[\dW] )[A-Z\d]{4}|(?<=[A-Z][A-Z] )\d{4}(?!\d))"
)
"""What each of these has about its blank, found fast; few reports have it anywhere."""
_POST_BEFORE: Final = 4
_POST_BEHIND: Final = 8
"""How far such a postcode reaches before its blank, and what to look at behind it."""
_SIX: Final = re.compile(rf",[ ]({NAME_WORD}[ -])\d{{3}}[ ]?\d{{3}}(?![\w/-]|\.\d)")
"""An Indian postcode behind its town."""
_PIECE: Final = re.compile(
    rf"{NAME_WORD}\.?|No\.|[\w/-]*\d[\w/-]*|na|of|the|des|de|la|le|du|upon|on"
)
_APART: Final = re.compile(r"[:(;|]|[ \t]{2}")
_UNITS: Final = frozenset({"unit", "flat", "suite", "apt", "floor", "no", "block", "room"})
_MAX_PIECES: Final = 5
_TOWN_BEHIND: Final = re.compile(
    rf",[ ]{NAME_WORD}(?:[ -]{NAME_WORD}){{0,2}}(?:[ ]\d{{4}}(?![\w/-]|\.\d))?"
    r"(?=[ \t]*(?:[\n.;)]|$))"
)
_ROOM: Final = re.compile(
    r"[ \t]?(?:[:#]|no\.?|number)?[ \t]?([A-Z]?\d{2,5}[A-Z]?(?:-\d{1,3})?|\d[A-Z])(?!\w|\.\d)"
)


def _is_scan(text: str, word: Word, before: str, lexicon: Lexicon) -> bool:
    """Tell CT the scan from Ct the court: a sentence in capitals stands before it."""
    words = re.findall(r"[^\W\d_]{3,}", before)
    if word.folded == "dr" and _PERSON.search(before):
        return True  # placed 2/1 BY DR. HAMILTON
    return text[word.start : word.end] == "CT" and any(map(lexicon.is_ordinary, words))


def _street(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _STREET.search(line_before(text, word.start, 60)) if word.capital else None
    suite = _SUITE.match(text, word.end)
    if match and suite and not _is_scan(text, word, match.group(), lexicon):
        start = word.start - len(match.group())
        unit = _UNIT_BEFORE.search(line_before(text, start, 20))
        town = _TOWN_BEHIND.match(text, suite.end())
        start -= len(unit.group()) if unit else 0
        numbered = _NUMBERED.match(text, suite.end()) if "ounty" in match.group() else None
        end = numbered.end() if numbered else town.end() if town else suite.end()
        yield Found(start, end, "LOCATION", "street")


def _box(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _BOX.match(text, word.end)
    before = re.search(r"P\.?[ ]?O\.?[ ]?$", text[max(0, word.start - 6) : word.start], re.I)
    if match and before:
        yield Found(word.start - len(before.group()), match.end(), "LOCATION", "box")


def _zip(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _ZIP.match(text, word.end)
    if match:
        yield Found(*match.span(1), "LOCATION", "postcode")


def _room(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _ROOM.match(text, word.end)
    if match:
        yield Found(*match.span(1), "LOCATION", "room", sure=False)


def _address_start(text: str, stop: int, lexicon: Lexicon) -> int:
    """Begin an address at the first of the pieces between commas that can belong to it."""
    line = line_before(text, stop, 120)
    apart = max((match.end() for match in _APART.finditer(line)), default=0)
    at = stop
    for count, piece in enumerate(reversed(line[apart:].split(","))):
        if not _is_piece(piece.split(), lexicon):
            break
        at -= len(piece) + (count > 0)
    if at == stop:
        town = _BEFORE_POST.search(line[-24:])
        return stop - (len(town.group(1)) if town else 0)
    return at + len(text[at:stop]) - len(text[at:stop].lstrip(" ,\t"))


def _is_piece(words: list[str], lexicon: Lexicon) -> bool:
    """Tell whether words between commas can be a line of an address: capitals and figures."""
    folded = [word.casefold() for word in words]
    if not 0 < len(words) <= _MAX_PIECES or not KINDS.isdisjoint(folded):
        return False
    return all(map(_PIECE.fullmatch, words)) and not any(
        lexicon.is_report_word(word) and word not in _UNITS and word not in _STREETS
        for word in folded
        if len(word) > 3
    )


_STREETS: Final = triggers("streets")


def find(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find addresses by their postcodes."""
    for blank in _LIKE_POST.finditer(text):
        at = max(0, blank.start() - _POST_BEFORE)
        for pattern in _POSTS:
            match = pattern.search(text, at, blank.end() + _POST_BEHIND)
            if match and not text[match.start() - 1 : match.start()].isalnum():
                start = _address_start(text, match.start(), lexicon)
                yield Found(start, match.end(), "LOCATION", "postcode", sure=False)
    for match in _SIX.finditer(text):
        start = _address_start(text, match.end(1), lexicon)
        if start < match.start(1) and any(map(str.isdigit, text[start : match.start(1)])):
            yield Found(start, match.end(), "LOCATION", "postcode", sure=False)


RULES: Final = (
    Rule(_STREETS, _street, capital=True),
    Rule(frozenset({"box"}), _box),
    Rule(frozenset({"zip", "postcode", "postal"}), _zip),
    Rule(frozenset({"room", "rm", "bed", "ward"}), _room),
)
