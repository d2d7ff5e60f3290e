"""Clinical expressions that look like names, dates or numbers and must stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.fragments import patterns, word_list
from pipeline.deidentify.rules.window import Words
from pipeline.names.lexicon import Lexicon

__all__ = ["find"]

_P: Final = patterns("guards")
_GAPS: Final = frozenset({" ", "\t", " \n", "\t\n"})
_NUMBERED: Final = word_list("words_before_a_count")


def find(text: str, words: Words, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Find the spans that rules going by looks alone must leave."""
    for match in _P["measures"].finditer(text):
        if not text[match.start() - 1 : match.start()].isalnum():
            yield match.span()
    yield from (match.span() for match in _P["class_of_disease"].finditer(text))
    capital, folded = words.capital, words.folded
    for at in words.among(lexicon.guarding):
        start, end = words.span(at)
        if capital[at]:
            if folded[at] in lexicon.eponyms:
                letter = _P["letter"].match(text, end)
                yield start, letter.end() if letter else end
        elif folded[at] in _NUMBERED:
            number = _P["times" if folded[at] == "x" else "image"].match(text, end)
            if number and not text[start - 1 : start].isalnum():
                yield start, number.end()
        elif at and capital[at - 1] and folded[at] in lexicon.eponym_nouns:
            near = text[max(0, start - 40) : start] if words.gap(at) in _GAPS else ""
            before = _P["before_noun"].search(near)
            if before:
                yield start - len(before.group()), end
