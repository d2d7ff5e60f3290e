"""The one pass over a text that everything else hangs on: its words, and what each one triggers.

A rule names the words it hangs on and is called only where one of them stands, with the text and
the word's place; so a report costs one pass, however many rules there are. Rules look around with
patterns anchored at that place, over a bounded stretch, so no text can make them slow.

Most words of a report concern no rule. A text is therefore split by column (see `Words`), sets pick
the places that matter, and a `Word` is made only there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, compress, count
from operator import not_
from typing import Final, NamedTuple, TypeAlias

from pipeline.deidentify.rules.found import Found
from pipeline.names.grammar import LOWER, UPPER
from pipeline.names.lexicon import Lexicon, unaccented

__all__ = [
    "Finder",
    "Index",
    "Rule",
    "Word",
    "Words",
    "capital_forms",
    "capital_words",
    "line_before",
    "lines",
]

_CAPITAL: Final = re.compile(
    rf"[{UPPER}](?<![{UPPER}{LOWER}][{UPPER}])[{UPPER}{LOWER}]*(?:['’][{UPPER}{LOWER}]+)*"
)
_ASCII_CAPITAL: Final = re.compile(r"[A-Z](?<![A-Za-z][A-Z])[A-Za-z]*(?:'[A-Za-z]+)*")
_WORD: Final = re.compile(rf"([{UPPER}{LOWER}]+(?:['’][{UPPER}{LOWER}]+)*)")
_ASCII_WORD: Final = re.compile(r"([A-Za-z]+(?:'[A-Za-z]+)*)")
"""Both, where every character is one of ASCII, and faster."""
_GENITIVES: Final = ("'s", "’s")


class Word(NamedTuple):
    """A word's place, its folded form, and whether it begins with a capital."""

    start: int
    end: int
    folded: str
    capital: bool


class Words:
    """The words of a text in order; hyphens part them, apostrophes do not.

    Attributes
    ----------
    folded
        Each word in small letters, without a final 's.
    plain
        The same without accents and straight apostrophes, as the name lists are written.
    capital
        Whether each begins with a capital.
    """

    __slots__ = (
        *("_capital_plain", "_capitals", "_edges", "_strangers", "_text"),
        *("capital", "folded", "plain"),
    )

    def __init__(self, text: str) -> None:
        is_plain = text.isascii()
        pieces = (_ASCII_WORD if is_plain else _WORD).split(text)  # gap, word, gap, ..., gap
        words = pieces[1::2]
        self._text = text
        self._capitals: list[int] | None = None
        self._capital_plain: list[str] | None = None
        self._strangers: list[int] | None = None
        self._edges = list(accumulate(map(len, pieces)))
        self.folded = list(map(str.casefold, words))
        if is_plain:
            self.capital = [word < "a" for word in words]
        else:
            self.capital = [word[0].isupper() for word in words]
        small = text.casefold()
        if any(ending in small for ending in _GENITIVES):
            self.folded = list(map(_without_genitive, self.folded))
        self.plain = self.folded
        if not is_plain:
            self.plain = [w if w.isascii() else unaccented(w) for w in self.plain]
        if "'" in text:
            self.plain = [w.replace("'", "") if "'" in w else w for w in self.plain]

    def __len__(self) -> int:
        """Count the words."""
        return len(self.folded)

    def __getitem__(self, at: int) -> Word:
        """Give one word with its place."""
        edges = self._edges
        return _new(Word, (edges[2 * at], edges[2 * at + 1], self.folded[at], self.capital[at]))

    def __iter__(self) -> Iterator[Word]:
        """Give all words with their places; `among` is much cheaper where only some matter."""
        return map(self.__getitem__, range(len(self.folded)))

    def gap(self, at: int) -> str:
        """Give what stands between a word and the one before it."""
        return self._text[self._edges[2 * at - 1] : self._edges[2 * at]]

    def span(self, at: int) -> tuple[int, int]:
        """Give where a word begins and ends."""
        return self._edges[2 * at], self._edges[2 * at + 1]

    def start(self, at: int) -> int:
        """Give where a word begins."""
        return self._edges[2 * at]

    def among(self, vocabulary: Container[str]) -> list[int]:
        """Give the numbers of the words whose folded form a vocabulary holds."""
        return list(compress(count(), map(vocabulary.__contains__, self.folded)))

    @property
    def capitals(self) -> list[int]:
        """The numbers of the words that begin with a capital."""
        if self._capitals is None:
            self._capitals = list(compress(count(), self.capital))
        return self._capitals

    def capitals_among(self, vocabulary: Container[str]) -> list[int]:
        """Give the numbers of the capitalised words whose plain form a vocabulary holds."""
        if self._capital_plain is None:
            self._capital_plain = list(compress(self.plain, self.capital))
        return list(compress(self.capitals, map(vocabulary.__contains__, self._capital_plain)))

    def strangers(self, vocabulary: Container[str]) -> list[int]:
        """Give the numbers of the words whose plain form a vocabulary, always the same, lacks."""
        if self._strangers is None:
            familiar = map(vocabulary.__contains__, self.plain)
            self._strangers = list(compress(count(), map(not_, familiar)))
        return self._strangers

    def named(self, names: Container[str], is_taken: Callable[[int], bool]) -> list[int]:
        """Give the numbers of the capitalised words that are one of the names, unless settled."""
        return [at for at in self.capitals_among(names) if not self.is_settled(at, is_taken)]

    def is_settled(self, at: int, is_taken: Callable[[int], bool]) -> bool:
        """Tell whether a word and the capitalised words on both sides are taken already."""
        edges, capital, after = self._edges, self.capital, at + 1
        if not is_taken(edges[2 * at]):
            return False
        if at and capital[at - 1] and not is_taken(edges[2 * at - 2]):
            return False
        return after == len(capital) or not capital[after] or is_taken(edges[2 * after])


Finder: TypeAlias = Callable[[str, Word, Lexicon], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A finder and the folded words that call it, only where they are capitalised if so said.

    ``then`` are the characters one of which must stand behind the blank that follows; ``to_name``
    spares the call where that character is a small letter of English.
    """

    triggers: frozenset[str]
    find: Finder
    capital: bool = False
    then: str = ""
    to_name: bool = False


_Called: TypeAlias = tuple[int, str, bool, Finder]


class Index:
    """Rules by trigger; calls them in the order in which they were given."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._capital: dict[str, list[_Called]] = {}
        self._small: dict[str, list[_Called]] = {}
        for rank, rule in enumerate(rules):
            for word in rule.triggers:
                called = (rank, rule.then, rule.to_name, rule.find)
                self._capital.setdefault(word, []).append(called)
                if not rule.capital:
                    self._small.setdefault(word, []).append(called)

    def find(self, text: str, found_words: Words, lexicon: Lexicon) -> list[Found]:
        """Give every candidate, rules first, then place."""
        capital, uncapital = self._capital, self._small
        ranked: list[tuple[int, Found]] = []
        for at in found_words.among(capital):
            rules = capital if found_words.capital[at] else uncapital
            word = found_words[at]
            following = text[word[1] + 1 : word[1] + 2]
            small = "a" <= following <= "z"
            for rank, then, to_name, finder in rules.get(word[2], ()):
                if (small and to_name) or (then and following not in then):
                    continue
                for found in finder(text, word, lexicon):
                    ranked.append((rank, found))  # most finders give nothing
        ranked.sort(key=_rank)
        return [found for _, found in ranked]


def capital_forms(text: str) -> set[str]:
    """Give the folded forms of the words that begin with a capital, without their places."""
    pattern = _ASCII_CAPITAL if text.isascii() else _CAPITAL
    forms = set(map(str.casefold, pattern.findall(text)))
    return forms | {form[:-2] for form in forms if form.endswith(_GENITIVES)}


def capital_words(text: str) -> list[Word]:
    """Give the words that begin with a capital, also behind an apostrophe (d'Arc)."""
    return [
        Word(*match.span(), _without_genitive(match.group().casefold()), capital=True)
        for match in _CAPITAL.finditer(text)
    ]


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Give where each line begins and ends."""
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def line_before(text: str, at: int, length: int) -> str:
    """Give at most `length` characters before a place, of its own line."""
    start = max(0, at - length)
    return text[max(start, text.rfind("\n", start, at) + 1) : at]


def _without_genitive(folded: str) -> str:
    return folded[:-2] if len(folded) > 2 and folded.endswith(_GENITIVES) else folded


_new: Final = tuple.__new__
"""Makes a `Word` without the detour over its keyword arguments."""


def _rank(ranked: tuple[int, Found]) -> int:
    return ranked[0]
