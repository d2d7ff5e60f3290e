"""Streets with the unit before and the suite or town behind them; towns and hospitals of the lists.

A town before its state or postcode that no list holds is left to the judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pipeline.deidentify.rules.checks import patterns
from pipeline.deidentify.rules.rows import Compiled, Finder, Hit
from pipeline.deidentify.rules.window import Window, Word, line_before
from pipeline.deidentify.spans import Found
from pipeline.names.lexicon import Lexicon

_P: Final = patterns("addresses")
_HEART: Final = ["new", "york", "heart"]
"""The association whose classes of heart failure are named after a town."""


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


def listed(window: Window) -> Iterator[Found]:
    """Find towns and hospitals of the word lists, of one word or two."""
    text, words, lexicon = window.text, window.words, window.lexicon
    for at in filter(words.capital.__getitem__, words.among(lexicon.place_starts)):
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
    things = lexicon.eponym_nouns
    return after is not None and (after.folded in things or after.end - after.start == 1)


FINDERS: Final[Mapping[str, Finder]] = {"street": _street}
