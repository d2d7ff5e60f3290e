"""Clinical expressions that look like names, dates or numbers and must stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.grammar import NAME_WORD
from pipeline.deidentify.lexicon import Lexicon
from pipeline.deidentify.rules.words import Words

__all__ = ["find"]

_BEFORE_NOUN: Final = re.compile(rf"(?<![\w.^])(?:{NAME_WORD}(?:['’]s)?[ \t]){{1,2}}$")
_GAPS: Final = frozenset({" ", "\t", " \n", "\t\n"})
_MEASURES: Final = re.compile(
    r"[\dCTLSsix](?:"
    r"(?<=\d)\d{0,2}(?:\.\d{1,2})?[ \t]?(?:x|×|by)[ \t]?\d{1,3}(?:\.\d{1,2})?(?:[ \t]?(?:x|×"
    r"|by)[ \t]?\d{1,3}(?:\.\d{1,2})?)?"
    r"|(?<=[CTLS])\d{1,2}(?:[ \t]?[-/–][ \t]?[CTLS]?\d{1,2})?\b(?!\w)"
    r"|(?:(?<=s)(?:eries|lice)|(?<=i)(?:mage|mg))s?[ \t]?[:#]?[ \t]?\d{1,4}"
    r"(?:[ \t]?[-/,][ \t]?\d{1,4})?\b"
    r"|(?<=\d)[ \t]of[ \t]\d\b|(?<=x)[ \t]?[1-9]\b(?!\d))"
)
"""Measures, vertebrae, image numbers; their first characters stand in front, to be found fast."""


def find(text: str, found_words: Words, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Find the spans that rules going by looks alone must leave."""
    for match in _MEASURES.finditer(text):
        if not text[match.start() - 1 : match.start()].isalnum():
            yield match.span()
    for at in found_words.among(lexicon.guarding):
        word = found_words[at]
        if word.capital:
            if word.folded in lexicon.eponyms:
                yield word.start, word.end
        elif (
            at
            and found_words.gap(at) in _GAPS
            and found_words.is_capital(at - 1)
            and word.folded in lexicon.eponym_nouns
        ):
            before = _BEFORE_NOUN.search(text[max(0, word.start - 40) : word.start])
            if before:
                yield word.start - len(before.group()), word.end
