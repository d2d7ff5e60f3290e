"""The one pass over a text that everything else hangs on: its words, and what each one triggers.

A rule names the words it hangs on and is called only where one of them stands, with the text and
the word's place; so a report costs one pass, however many rules there are. Rules look around with
patterns anchored at that place, over a bounded stretch, so no text can make them slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from pipeline.deidentify.grammar import LOWER, UPPER
from pipeline.deidentify.lexicon import Lexicon
from pipeline.deidentify.rules.found import Found

__all__ = ["Finder", "Index", "Rule", "Word", "capital_words", "capitals", "line_before", "words"]

_CAPITAL: Final = re.compile(
    rf"[{UPPER}](?<![{UPPER}{LOWER}][{UPPER}])[{UPPER}{LOWER}]*(?:['’][{UPPER}{LOWER}]+)*"
)
_WORD: Final = re.compile(rf"[{UPPER}{LOWER}]+(?:['’][{UPPER}{LOWER}]+)*")


class Word(NamedTuple):
    """A word's place, its folded form, and whether it begins with a capital."""

    start: int
    end: int
    folded: str
    capital: bool


Finder: TypeAlias = Callable[[str, Word, Lexicon], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A finder and the folded words that call it."""

    triggers: frozenset[str]
    find: Finder


class Index:
    """Rules by trigger; calls them in the order in which they were given."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_word: dict[str, list[tuple[int, Finder]]] = {}
        for rank, rule in enumerate(rules):
            for word in rule.triggers:
                self._by_word.setdefault(word, []).append((rank, rule.find))

    def find(self, text: str, found_words: Iterable[Word], lexicon: Lexicon) -> list[Found]:
        """Give every candidate, rules first, then place."""
        by_word = self._by_word
        ranked: list[tuple[int, Found]] = []
        for word in found_words:
            for rank, finder in by_word.get(word.folded, ()):
                ranked.extend((rank, found) for found in finder(text, word, lexicon))
        ranked.sort(key=_rank)
        return [found for _, found in ranked]


def words(text: str) -> list[Word]:
    """Split a text into words; hyphens part them, apostrophes do not, a final 's is folded away."""
    return [_word(match) for match in _WORD.finditer(text)]


def capitals(found_words: Iterable[Word]) -> list[Word]:
    """Give the words that begin with a capital."""
    return [word for word in found_words if word.capital]


def capital_words(text: str) -> list[Word]:
    """Give the words that begin with a capital, without looking at the others."""
    return [_word(match) for match in _CAPITAL.finditer(text)]


def line_before(text: str, at: int, length: int) -> str:
    """Give at most `length` characters before a place, of its own line."""
    start = max(0, at - length)
    return text[max(start, text.rfind("\n", start, at) + 1) : at]


def _word(match: re.Match[str]) -> Word:
    word = match.group()
    folded = word.casefold()
    if len(folded) > 2 and folded[-2] in "'’" and folded[-1] == "s":
        folded = folded[:-2]
    return Word(*match.span(), folded, word[0].isupper())


def _rank(ranked: tuple[int, Found]) -> int:
    return ranked[0]
