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

__all__ = [
    "Finder",
    "Index",
    "Rule",
    "Word",
    "capital_forms",
    "capital_words",
    "capitals",
    "line_before",
    "words",
]

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
    """A finder and the folded words that call it, only where they are capitalised if so said."""

    triggers: frozenset[str]
    find: Finder
    capital: bool = False


class Index:
    """Rules by trigger; calls them in the order in which they were given."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._capital: dict[str, list[tuple[int, Finder]]] = {}
        self._small: dict[str, list[tuple[int, Finder]]] = {}
        for rank, rule in enumerate(rules):
            for word in rule.triggers:
                self._capital.setdefault(word, []).append((rank, rule.find))
                if not rule.capital:
                    self._small.setdefault(word, []).append((rank, rule.find))

    def find(self, text: str, found_words: Iterable[Word], lexicon: Lexicon) -> list[Found]:
        """Give every candidate, rules first, then place."""
        capital, small = self._capital, self._small
        ranked: list[tuple[int, Found]] = []
        for word in found_words:
            for rank, finder in (capital if word[3] else small).get(word[2], ()):
                for found in finder(text, word, lexicon):
                    ranked.append((rank, found))  # most finders give nothing
        ranked.sort(key=_rank)
        return [found for _, found in ranked]


def words(text: str) -> list[Word]:
    """Split a text into words; hyphens part them, apostrophes do not, a final 's is folded away."""
    return _split(_WORD, text)


def capitals(found_words: Iterable[Word]) -> list[Word]:
    """Give the words that begin with a capital."""
    return [word for word in found_words if word.capital]


def capital_words(text: str) -> list[Word]:
    """Give the words that begin with a capital, without looking at the others."""
    return _split(_CAPITAL, text)


def capital_forms(text: str) -> set[str]:
    """Give the folded forms of those words, without their places."""
    forms = set(map(str.casefold, _CAPITAL.findall(text)))
    return forms | {form[:-2] for form in forms if form.endswith(("'s", "’s"))}


def line_before(text: str, at: int, length: int) -> str:
    """Give at most `length` characters before a place, of its own line."""
    start = max(0, at - length)
    return text[max(start, text.rfind("\n", start, at) + 1) : at]


def _split(pattern: re.Pattern[str], text: str) -> list[Word]:
    """Make the words a pattern finds; one pass over every character, so it counts its steps."""
    found = []
    for match in pattern.finditer(text):
        word = match.group()
        folded = word.casefold()
        if folded[-1] == "s" and len(folded) > 2 and folded[-2] in "'’":
            folded = folded[:-2]
        found.append(_new(Word, (*match.span(), folded, word[0].isupper())))
    return found


_new: Final = tuple.__new__
"""Makes a `Word` without the detour over its keyword arguments."""


def _rank(ranked: tuple[int, Found]) -> int:
    return ranked[0]
