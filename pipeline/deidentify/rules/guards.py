"""Clinical expressions that look like names, dates or numbers and must stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from pipeline.deidentify.grammar import NAME_WORD
from pipeline.deidentify.lexicon import Lexicon
from pipeline.deidentify.rules.words import Word

__all__ = ["find"]

_BEFORE_NOUN: Final = re.compile(rf"(?<![\w.^])(?:{NAME_WORD}(?:['’]s)?[ \t]){{1,2}}$")
_MEASURES: Final = re.compile(
    r"\d{1,3}(?:\.\d{1,2})?[ \t]?(?:x|×|by)[ \t]?\d{1,3}(?:\.\d{1,2})?(?:[ \t]?(?:x|×"
    r"|by)[ \t]?\d{1,3}(?:\.\d{1,2})?)?"
    r"|[CTLS]\d{1,2}(?:[ \t]?[-/–][ \t]?[CTLS]?\d{1,2})?\b(?!\w)"
    r"|(?:series|image|img|slice)s?[ \t]?[:#]?[ \t]?\d{1,4}(?:[ \t]?[-/,][ \t]?\d{1,4})?\b"
    r"|\d[ \t]of[ \t]\d\b|x[ \t]?[1-9]\b(?!\d)"
)


def find(text: str, found_words: Iterable[Word], lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Find the spans that rules going by looks alone must leave."""
    for match in _MEASURES.finditer(text):
        if not text[match.start() - 1 : match.start()].isalnum():
            yield match.span()
    eponyms, nouns = lexicon.eponyms, lexicon.eponym_nouns
    after_capital = False
    for word in found_words:
        start, end, folded, capital = word
        follows, after_capital = after_capital, capital
        if capital:
            if folded in eponyms:
                yield start, end
        elif follows and folded in nouns:
            before = _BEFORE_NOUN.search(text[max(0, word.start - 40) : word.start])
            if before:
                yield word.start - len(before.group()), word.end
