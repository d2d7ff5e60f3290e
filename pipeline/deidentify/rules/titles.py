"""Names behind a title, a credential before them or a relative: Dr. Doe · RN Doe · sister Jane.

`series` says where the name begins and goes on; `cues` has the labels and words of telling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.series import ATTESTED, PLURAL, SPACE, START, series, unless_words
from pipeline.deidentify.rules.words import Rule, Word, line_before
from pipeline.names.grammar import LOWER, UPPER, name_end
from pipeline.names.lexicon import Lexicon, triggers, unaccented

__all__ = ["RULES", "TITLES"]

TITLES: Final = triggers("titles")
_NOT_OPENING: Final = frozenset({"law", "member", "named", "partner", "twin", "father", "sister"})
_WORD_TITLES: Final = triggers("titles_in_small_letters")
_WEAK_TITLES: Final = frozenset(
    {"pa", "rt", "sr", "fr", "np", "col", "lt", "father", "sister"}
    | {"sdr", "sdri", "dhr", "mw", "hr", "fru"}
)
_AFTER_TITLE: Final = re.compile(rf"(?:\.[ \t]{{0,3}}(?:\n[ \t]{{0,4}})?|[ \t]{{1,3}}){START}")
_AFTER_LOWER_TITLE: Final = re.compile(
    rf"(?:\.[ \t]{{0,3}}|[ \t]{{1,3}})([{LOWER}][{LOWER}'’-]{{1,30}})(?![\w])"
)
_TOLD_WHOM: Final = re.compile(
    r"\b(?:informed|told|notified|called|paged|bleeped|alerted|with|to|by|and)[ \t]$", re.IGNORECASE
)
_WRAPPED: Final = re.compile(rf"[ \t]?[,:(]?(?:[ \t]{{0,2}}|[ \t]?\n[ \t]{{0,4}}){START}")
_NEXT_LINE: Final = re.compile(rf"[ \t]?\n[ \t]{{0,4}}(?=[{UPPER}])")
_TO_WHOM: Final = re.compile(r"\b(?:per|to|by|with|from|told)[ \t]$", re.IGNORECASE)
_BABY: Final = re.compile(r"\b(?:baby|infant|bb|bg)[ \t]$", re.IGNORECASE)


def _titled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not word.capital and word.folded not in _WORD_TITLES:
        return
    match = _AFTER_TITLE.match(text, word.end)
    if match is None or (word.folded in _WEAK_TITLES and text[word.end] != "."):
        return
    if word.folded in _BEHIND_NAMES and text[max(0, word.start - 2) : word.start] == ", ":
        return  # J. Doe, RN. Prior studies
    is_scan = word.folded == "mr" and text[word.end] != "."  # MR BRAIN
    if is_scan or word.folded in _WEAK_TITLES or word.folded in _WORD_TITLES:
        yield from unless_words(text, word, match.end(), lexicon, "name-title")
    else:
        yield from series(text, match.end(), lexicon, "name-title", many=word.folded in PLURAL)


def _weak_titled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """RN Maria Lopez, PA Jones: only with two words, or none of them a word."""
    match = SPACE.match(text, word.end)
    if match is None or not text[word.start : word.end].isupper():
        return
    end = name_end(text, match.end(), lexicon, comma=False)
    name = text[match.end() : end].split()
    reported = _TO_WHOM.search(line_before(text, word.start, 12)) is not None
    listed = len(name) == 1 and reported and unaccented(name[0]) in lexicon.names
    if listed or (len(name) > 1 and not any(lexicon.is_word(part) for part in name)):
        yield Found(match.end(), end, "NAME", "name-title", sure=False)


def _spelt_title(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find a title in small letters (nurse Maria L.): no word, or a word with an initial."""
    match = None if word.capital else SPACE.match(text, word.end)
    if match is None:
        return
    end = name_end(text, match.end(), lexicon, comma=False)
    name = text[match.end() : end].split()
    initialled = len(name) > 1 and len(name[-1].rstrip(".")) == 1
    if name and (initialled or not lexicon.is_word(name[0])):
        yield Found(match.end(), end, "NAME", "name-title")


def _newborn(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Baby Boy Jones, Infant Girl Garcia."""
    match = SPACE.match(text, word.end)
    if match and _BABY.search(line_before(text, word.start, 8)):
        yield from series(text, match.end(), lexicon, "name-newborn")


def _lower_titled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = None if word.capital else _AFTER_LOWER_TITLE.match(text, word.end)
    if match and match.group(1) not in lexicon.not_names and not text[word.start - 1].isdigit():
        yield Found(*match.span(1), "NAME", "name-title-lower")


def _over_line(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find a name on the line after its title, where it goes on as a sentence does."""
    match = _NEXT_LINE.match(text, word.end)
    end = name_end(text, match.end(), lexicon, comma=False) if match else 0
    if match and end > match.end() and ATTESTED.match(text, end):
        yield Found(match.end(), end, "NAME", "name-title")


def _sister(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the nurse in "informed Sister Doe"; the relative has a rule of her own."""
    match = SPACE.match(text, word.end)
    if match and _TOLD_WHOM.search(line_before(text, word.start, 20)):
        yield from unless_words(text, word, match.end(), lexicon, "name-title")


def _relative(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _WRAPPED.match(text, word.end)
    if match and not (word.capital and word.folded in _NOT_OPENING):
        yield from unless_words(text, word, match.end(), lexicon, "name-relative")


_BEHIND_NAMES: Final = frozenset({"pa", "rn", "np", "rt", "aprn", "crnp", "arnp", "sho", "spr"})
_RELATIVES: Final = triggers("relatives")

RULES: Final = (
    Rule(TITLES - _WEAK_TITLES, _titled),
    Rule(_WEAK_TITLES, _titled),
    Rule(TITLES - _WEAK_TITLES, _spelt_title),
    Rule(_WORD_TITLES, _over_line),
    Rule(frozenset({"sister", "matron", "charge"}), _sister),
    Rule(_RELATIVES, _relative),
    Rule(frozenset({"boy", "girl"}), _newborn),
    Rule(frozenset({"dr", "drs", "mr", "mrs", "prof", "doctor"}), _lower_titled),
    Rule(frozenset({"rn", "pa", "np", "rt", "lpn"}), _weak_titled),
)
