"""Hospitals: by the word of their kind, by what staff call them.

The name of a place is a word, a person or a method as well (CHOP, Stanford type A), so the sentence
must put a place there, or the word for a kind must stand beside it (Oaks Skilled Nursing). What is
known by a word of another language (Akademiska sjukhuset), or by initials, is left to the judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pipeline.deidentify.rules.checks import patterns, word_list
from pipeline.deidentify.rules.rows import Compiled, Finder, Hit
from pipeline.deidentify.rules.window import Window, line_before, past
from pipeline.deidentify.spans import Found
from pipeline.names.lexicon import Lexicon

_P: Final = patterns("places")
_STRONG: Final = word_list("strong_kinds")
"""Kinds that make a clinical name before them part of a hospital's (Golden Oaks, Salem)."""
_PARTIAL: Final = word_list("partial_kinds")
"""Kinds that say nothing without the word behind them (Cancer Institute, Assisted Living)."""
_UNITS: Final = word_list("units_of_care")
"""Kinds that with no other word than a weak kind before them are a unit (HEALTH CLINIC)."""
_WEAK: Final = word_list("weak_kinds")
_NOT_IN_PLACES: Final = word_list("not_in_places")
"""Words that end the search for a hospital's name in capitals (TRANSFERRED FROM ... HOSPITAL)."""
_SHORTEST: Final = 3
_SITE_WORDS: Final = 3


def capitals_start(text: str, start: int, stop: int, lexicon: Lexicon) -> int:
    """Begin a hospital's name in capitals behind the last word that no such name has."""
    begin = start
    for match in re.finditer(r"\S+", text[start:stop]):
        word = match.group().strip(".:,").casefold()
        if word in ("of", "the", "and"):
            continue
        if word in _NOT_IN_PLACES or word.endswith("ed") or word in lexicon.openers:
            begin = min(stop, start + match.end() + 1)
    return begin


def trimmed(text: str, start: int, stop: int, lexicon: Lexicon) -> int:
    """Leave out words before a hospital's name that belong to the sentence or the header."""
    for match in re.finditer(r"\S+", text[start:stop]):
        if match.group().strip(".:,").casefold() not in lexicon.openers:
            return start + match.start()
    return stop


def _kind(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    text, lexicon, word = window.text, window.lexicon, hit.place
    line, end = line_before(text, word.start, 80), past(_P["more_kind"], text, word.end)
    qualified = _P.get(f"qualified_{word.folded}")
    if qualified is not None and qualified.search(line) is None:
        return
    if word.folded in _PARTIAL and end == word.end:
        return  # a word of its own, unless a centre or home follows
    match = _P["before_kind"].search(line)
    start = word.start - (len(match.group()) if match else 0)
    start = trimmed(text, start, word.start, lexicon) if match else start
    inner = max(text.rfind(" at ", start, word.start), text.rfind(" AT ", start, word.start))
    start = inner + len(" at ") if inner > 0 else start
    if text[start:end].isupper():
        start = capitals_start(text, start, word.start, lexicon)
        before = text[start : word.start]
        town = before.strip()
        if word.folded in _UNITS and end == word.end and town.casefold() in lexicon.cities:
            yield Found(start, start + len(town), "LOCATION", "town-listed")  # the unit stays
            return
        if _is_unit(word.folded, before, lexicon, goes_on=end > word.end):
            return
    tail = _P["tail"].match(text, end)
    if start == word.start and not (tail and tail.group().lstrip().lower().startswith("of")):
        return
    length = _tail_length(tail.group(), lexicon) if tail else 0
    if start == word.start and tail and not length:
        return  # Institute of Radiology
    end = past(_P["more_kind"], text, end + length)
    sure = (word.folded in _STRONG or end > word.end) and start < word.start
    begin = start - len("The ") * bool(_P["the"].search(text, max(0, start - 6), start))
    yield row.found(begin, end)._replace(sure=sure)


def _is_unit(kind: str, before: str, lexicon: Lexicon, *, goes_on: bool) -> bool:
    """Tell whether a kind in capitals is a unit or a word of the sentence (SURGERY, IMAGING)."""
    words = before.casefold().split()
    if kind in _UNITS and (_WEAK.issuperset(words) or all(map(lexicon.is_ordinary, words))):
        return True
    if goes_on:
        return False
    long = re.findall(r"[^\W\d_]{3,}", before)
    bare = before.strip().casefold() in ("the", "a", "our", "of the", "")
    return bare or (kind in _WEAK and all(map(lexicon.is_ordinary, long)))


def _tail_length(tail: str, lexicon: Lexicon) -> int:
    """Measure what of a hospital's tail is a name (of Ashford, not of Ashford Comparison)."""
    length = 0
    named = tail.startswith(" of ") and not tail.isupper()
    for match in re.finditer(r"[^\W\d_][^\s]*", tail):
        word = match.group().strip(".,;:")
        is_join = word.casefold() in ("of", "at", "in", "the")
        plain = lexicon.is_word(word) or lexicon.is_ordinary(word)
        if not is_join and (word.casefold() in lexicon.not_names if named else plain):
            break
        length = length if is_join else match.start() + len(word)
    return length


def sites(window: Window) -> Iterator[Found]:
    """Find the listed names of hospitals where the sentence puts a place (at Duke, site UCLA)."""
    text, words = window.text, window.words
    for at in words.capitals_among(window.lexicon.site_starts):
        start, _ = words.span(at)
        for last in range(min(at + _SITE_WORDS, len(words)) - 1, at - 1, -1):
            end = _site_end(text, start, words.span(last)[1], window.lexicon)
            if end:
                if _stands_as_place(text, start, end):
                    yield Found(start, end, "HOSPITAL", "hospital-site")
                break


def _site_end(text: str, start: int, end: int, lexicon: Lexicon) -> int:
    if text[start:end].casefold().replace("’", "'") in lexicon.sites:
        return end
    return end + 1 if text[start : end + 1].casefold() in lexicon.sites else 0


def _stands_as_place(text: str, start: int, end: int) -> bool:
    if text[start - 1 : start].isalnum() or _P["site_goes_on"].match(text, end) is None:
        return False
    first = max(0, start - 40)
    if _P["site_placed"].search(text, first, start):
        return True
    if text[start - 1 : start] == "(" and text[end : end + 1] in (")", ","):
        return _P["site_doctor"].search(text, first, start) is not None
    shouted = text[start:end].isupper() and end - start >= _SHORTEST
    heads = _P["site_ends"].match(text, end) and _P["site_heads"].search(text, first, start)
    return shouted and heads is not None


FINDERS: Final[Mapping[str, Finder]] = {"kind": _kind}
