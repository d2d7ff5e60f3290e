"""Clinical expressions that look like names, dates or numbers and must stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.words import Words
from pipeline.names.grammar import NAME_WORD
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["find"]

_BEFORE_NOUN: Final = re.compile(rf"(?<![\w.^])(?:{NAME_WORD}(?:['’]s)?[ \t]){{1,2}}$")
_GAPS: Final = frozenset({" ", "\t", " \n", "\t\n"})
_MEASURES: Final = re.compile(
    r"[\dCTLS](?:"
    r"(?<=\d)\d{0,2}(?:\.\d{1,2})?[ \t]?(?:x|×|by)[ \t]?\d{1,3}(?:\.\d{1,2})?(?:[ \t]?(?:x|×"
    r"|by)[ \t]?\d{1,3}(?:\.\d{1,2})?)?"
    r"|(?<=\d)\d{0,2}(?:\.\d{1,2})?[ \t]?(?:[mc]m|HU|m[Ll]|mGy)\b"
    r"|(?<=[CTLS])\d{1,2}(?:[ \t]?[-/–][ \t]?[CTLS]?\d{1,2})?\b(?!\w|[ ]\d[A-Z]{2}\b)"
    r"|(?<=\d)[ \t]of[ \t]\d\b)"
)
"""Measures and vertebrae; their first characters stand in front, to be found fast."""
_LETTER: Final = re.compile(r"[ ][A-D]\b(?![.'’-])")
"""The kind of a line or a stage behind its name (Kerley B)."""
_IMAGE: Final = re.compile(r"[ \t]?[:#]?[ \t]?\d{1,4}(?:[ \t]?[-/,][ \t]?\d{1,4})?\b")
_TIMES: Final = re.compile(r"[ \t]?[1-9]\b")
_CLASS: Final = re.compile(
    r"W(?:illis|ILLIS)\b(?<=[rR][cC][lL][eE] [oO][fF] .{6})"
    r"|D(?:ouglas|OUGLAS)\b(?<=[uU][cC][hH] [oO][fF] .{7})"
    r"|N(?:ew|EW)[ ]Y(?:ork|ORK)[ ]H(?:eart|EART)\b"
    r"|B(?:ethesda|ETHESDA)[ ]"
    r"(?:system|SYSTEM|category|CATEGORY|criteria|CRITERIA|(?:and|AND)[ ]TI)"
)
"""Classes of disease that are named after a town, and two places in the body."""
_NUMBERED: Final = triggers("words_before_a_count")


def find(text: str, found_words: Words, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Find the spans that rules going by looks alone must leave."""
    for match in _MEASURES.finditer(text):
        if not text[match.start() - 1 : match.start()].isalnum():
            yield match.span()
    yield from (match.span() for match in _CLASS.finditer(text))
    capital, folded = found_words.capital, found_words.folded
    for at in found_words.among(lexicon.guarding):
        if capital[at]:
            if folded[at] in lexicon.eponyms:
                start, end = found_words.span(at)
                letter = _LETTER.match(text, end)
                yield start, letter.end() if letter else end
        elif folded[at] in _NUMBERED:
            start, end = found_words.span(at)
            number = (_TIMES if folded[at] == "x" else _IMAGE).match(text, end)
            if number and not text[start - 1 : start].isalnum():
                yield start, number.end()
        elif (
            at
            and capital[at - 1]
            and folded[at] in lexicon.eponym_nouns
            and found_words.gap(at) in _GAPS
        ):
            start, end = found_words.span(at)
            before = _BEFORE_NOUN.search(text[max(0, start - 40) : start])
            if before:
                yield start - len(before.group()), end
