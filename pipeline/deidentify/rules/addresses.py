"""Streets, postcodes and towns with what belongs to their address; towns of the lists.

The state with its postcode is the anchor of an address; what stands before it on up to two lines is
taken from the number of the house. Without a house the town is taken, also where it is a word
(Normal, IL), if a word of place stands before it or if its state is no word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pipeline.deidentify.rules.checks import KINDS, patterns, word_list
from pipeline.deidentify.rules.places import capitals_start, trimmed
from pipeline.deidentify.rules.rows import Compiled, Finder, Hit
from pipeline.deidentify.rules.window import Window, Word, line_before
from pipeline.deidentify.spans import Found
from pipeline.names.lexicon import Lexicon

_P: Final = patterns("addresses")
_STREETS: Final = word_list("streets")
_UNITS: Final = word_list("address_units")
_MAX_PIECES: Final = 5
_DOUBTFUL: Final = frozenset({"MD", "PA", "OR", "IN", "ME", "CT", "MS", "MB", "DE", "ON", "NB"})
_PLAIN_STATES: Final = word_list("states_that_are_no_words")
_CREDENTIAL_STATES: Final = frozenset({"md", "pa", "ct", "ms", "mb", "or", "in"})
"""States that stand behind a name or a comma for something else (Smith, MD; CHEST, PA)."""
_ENDS_TOWN: Final = ("", " ", "\n", ".", ",", ";", ")")
_HEADERS: Final = ("department", "hospital", "clinic", "center", "centre")
_HEART: Final = ["new", "york", "heart"]
"""The association whose classes of heart failure are named after a town."""
_SHORT_STATE: Final = 3


def _street(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Find a house and its street, with the unit before and the suite or town behind."""
    text, word = window.text, hit.place
    match = _P["street"].search(line_before(text, word.start, 60))
    suite = _P["suite"].match(text, word.end)
    if match is None or suite is None or _is_scan(text, word, match.group(), window.lexicon):
        return
    start = word.start - len(match.group())
    unit = _P["unit_before"].search(line_before(text, start, 20))
    numbered = "ounty" in match.group() and _P["numbered"].match(text, suite.end())
    last = numbered or _P["town_behind"].match(text, suite.end()) or suite
    yield row.found(start - (len(unit.group()) if unit else 0), last.end())


def _is_scan(text: str, word: Word, before: str, lexicon: Lexicon) -> bool:
    """Tell CT the scan from Ct the court: a sentence in capitals stands before it."""
    if word.folded == "dr" and _P["person"].search(before):
        return True  # placed 2/1 BY DR. HAMILTON
    words = re.findall(r"[^\W\d_]{3,}", before)
    return text[word.start : word.end] == "CT" and any(map(lexicon.is_ordinary, words))


def _address(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Find an address by its postcode; where a town stands in the anchor, only with a house."""
    match = hit.anchor
    if match is None or _is_cut(window.text, match.start()):
        return
    town = match.end(1) if match.re.groups else -1
    stop = match.start() if town < 0 else town
    start = _address_start(window.text, stop, window.lexicon)
    housed = any(map(str.isdigit, window.text[start : match.start(1)])) if town > 0 else True
    if housed:
        yield row.found(start, match.end())


def _is_cut(text: str, at: int) -> bool:
    """Tell whether a place lies inside a word."""
    return at > 0 and text[at - 1].isalnum() and text[at].isalnum()


def _address_start(text: str, stop: int, lexicon: Lexicon) -> int:
    """Begin an address at the first of the pieces between commas that can belong to it."""
    line = line_before(text, stop, 120)
    apart = max((match.end() for match in _P["apart"].finditer(line)), default=0)
    at = stop
    for count, piece in enumerate(reversed(line[apart:].split(","))):
        if not _is_piece(piece.split(), lexicon):
            break
        at -= len(piece) + (count > 0)
    if at == stop:
        town = _P["before_post"].search(line[-24:])
        return stop - (len(town[1]) if town else 0)
    return at + len(text[at:stop]) - len(text[at:stop].lstrip(" ,\t"))


def _is_piece(words: list[str], lexicon: Lexicon) -> bool:
    """Tell whether words between commas can be a line of an address: capitals and figures."""
    folded = [word.casefold() for word in words]
    if not 0 < len(words) <= _MAX_PIECES or not KINDS.isdisjoint(folded):
        return False
    return all(map(_P["piece"].fullmatch, words)) and not any(
        lexicon.is_report_word(word) and word not in _UNITS and word not in _STREETS
        for word in folded
        if len(word) > len("Ave")
    )


def postal(window: Window) -> Iterator[Found]:
    """Find addresses and towns by their states."""
    text, lexicon = window.text, window.lexicon
    for match in _P["postal_state"].finditer(text):
        before = text[max(0, match.start() - 120) : match.start()]
        town = _P["postal_town"].search(before)
        if town is None:
            continue
        at = match.start() - len(before)
        start = at + town.start(1) + _skipped(town[1])
        house = _P["postal_house"].search(before) if match["post"] else None
        if match["post"] or _is_town(text, start, match, lexicon):
            start = at + house.start(1) if house else start
            yield Found(start, match.end(), "LOCATION", "town-postal", sure=house is not None)


def _skipped(town: str) -> int:
    """Leave out what stands before the last word of place in capitals (MACHINIST FROM HOPE)."""
    last = 0
    for match in _P["postal_preposition"].finditer(f" {town}"):
        if match.group().strip() not in ("of", "OF") or match.start() == 0:
            last = match.end() - 1
    return last


def _is_town(text: str, start: int, match: re.Match[str], lexicon: Lexicon) -> bool:
    """Tell Hope, AR from CHEST, PA: by the word of place before it and by what the words are."""
    cue = _P["postal_cue"].search(text, max(0, start - 12), start)
    if cue is None:
        return False
    place = text[start : match.start()]
    certain = match["state"] not in _DOUBTFUL
    preposition = cue.group().strip(" ,;:(\n") != ""
    if any(map(lexicon.is_report_word, re.findall(r"[^\W\d_]+", place))):
        return certain and preposition and not place.isupper()
    return certain or preposition or place.casefold() in lexicon.cities


def _state(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Find a town before its state."""
    text, lexicon, word = window.text, window.lexicon, hit.place
    short = word.end - word.start <= _SHORT_STATE
    if short and not text[word.start : word.end].isupper():
        return
    if not text[max(0, word.start - 3) : word.start].rstrip(" \t").endswith(","):
        return
    match = _P["state_town"].search(line_before(text, word.start, 50))
    if match is None:
        return
    post = _P["then_post"].match(text, word.end)
    town = match[1].casefold()
    last = town.split()[-1]
    named = not lexicon.is_ordinary(last) and word.folded not in _CREDENTIAL_STATES
    ends = named and text[word.end : word.end + 1] in _ENDS_TOWN
    if post or town in lexicon.cities or ends or _heads(text, word, last, lexicon):
        start = trimmed(text, word.start - len(match.group()), word.start, lexicon)
        if text[start : word.end].isupper():
            start = capitals_start(text, start, word.start - 1, lexicon)
        sure = named and town in lexicon.eponyms
        yield row.found(start, post.end() if post else word.end)._replace(sure=sure)


def _heads(text: str, word: Word, town: str, lexicon: Lexicon) -> bool:
    """Tell whether a state ends the line of a header."""
    ends = _P["ends_line"].match(text, word.end) is not None and word.folded != "md"
    if not ends or lexicon.is_report_word(town):
        return False
    line = line_before(text, word.start, 120).casefold()
    plain = word.folded in _PLAIN_STATES or word.end - word.start > _SHORT_STATE
    return plain or any(each in line for each in _HEADERS)


def listed(window: Window) -> Iterator[Found]:
    """Find towns and hospitals of the word lists, of one word or two."""
    text, words, lexicon = window.text, window.words, window.lexicon
    for at in words.among(lexicon.place_starts):
        if not words.capital[at]:
            continue
        word = words[at]
        joined = at + 1 < len(words) and words.capital[at + 1]
        after = words[at + 1] if joined else None
        near = after is not None and after.start - word.end <= len(", ")
        pair = f"{word.folded} {after.folded}" if after is not None and near else ""
        if words.folded[at : at + 3] != _HEART and not _names_a_thing(after, lexicon):
            end = after.end if after else 0
            yield from _listed(text, word, pair, end, lexicon)


def _listed(text: str, word: Word, pair: str, pair_end: int, lexicon: Lexicon) -> Iterator[Found]:
    for name, stop in ((pair, pair_end), (word.folded, word.end)):
        if name in lexicon.eponyms:
            if name in lexicon.cities and _is_place(text, word.start, stop):
                yield Found(word.start, stop, "LOCATION", "town-listed", sure=True)
            return
        city = pair.endswith(" city") and word.folded in lexicon.cities
        end = pair_end if city else stop
        if name in lexicon.hospitals:
            yield Found(word.start, end, "HOSPITAL", "hospital-listed", sure=False)
        elif name in lexicon.cities:
            yield Found(word.start, end, "LOCATION", "town-listed", sure=" " in name)


def _is_place(text: str, start: int, end: int) -> bool:
    """Tell the town from the score named after it (on arrival from Glasgow)."""
    near = _P["before_town"].search(text, max(0, start - 6), start)
    return near is not None and _P["behind_town"].match(text, end) is not None


def _names_a_thing(after: Word | None, lexicon: Lexicon) -> bool:
    """Tell Boston Scientific and Montreal A2 from the towns."""
    if after is None:
        return False
    return after.folded in lexicon.eponym_nouns or after.end - after.start == 1


FINDERS: Final[Mapping[str, Finder]] = {"address": _address, "state": _state, "street": _street}
