"""A text as the rules see it: its words by column, and its lines.

Most words of a report concern no rule. A text is therefore split by column (see `Words`), sets pick
the places that matter, and a `Word` is made only there.
"""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import accumulate, compress, count
from typing import Final, NamedTuple

from pipeline.names.grammar import LOWER, UPPER
from pipeline.names.lexicon import Lexicon, unaccented

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
    capitals
        The numbers of those that do.
    """

    __slots__ = ("_edges", "_text", "capital", "capitals", "folded", "plain")

    def __init__(self, text: str) -> None:
        is_plain = text.isascii()
        pieces = (_ASCII_WORD if is_plain else _WORD).split(text)  # gap, word, gap, ..., gap
        words = pieces[1::2]
        self._text = text
        self._edges = list(accumulate(map(len, pieces)))
        self.folded = list(map(str.casefold, words))
        if is_plain:
            self.capital = [word < "a" for word in words]
        else:
            self.capital = [word[0].isupper() for word in words]
        self.capitals = list(compress(count(), self.capital))
        if ("'" in text or "’" in text) and any(map(text.casefold().__contains__, _GENITIVES)):
            self.folded = list(map(_without_genitive, self.folded))
        self.plain = self.folded if is_plain else list(map(unaccented, self.folded))
        if "'" in text:
            self.plain = [w.replace("'", "") if "'" in w else w for w in self.plain]

    def __len__(self) -> int:
        """Count the words."""
        return len(self.folded)

    def __getitem__(self, at: int) -> Word:
        """Give one word with its place."""
        edges = self._edges
        return _new(Word, (edges[2 * at], edges[2 * at + 1], self.folded[at], self.capital[at]))

    def gap(self, at: int) -> str:
        """Give what stands between a word and the one before it."""
        return self._text[self._edges[2 * at - 1] : self._edges[2 * at]]

    def span(self, at: int) -> tuple[int, int]:
        """Give where a word begins and ends."""
        return self._edges[2 * at], self._edges[2 * at + 1]

    def among(self, vocabulary: Container[str]) -> list[int]:
        """Give the numbers of the words whose folded form a vocabulary holds."""
        return list(compress(count(), map(vocabulary.__contains__, self.folded)))

    def capitals_among(self, vocabulary: Container[str]) -> list[int]:
        """Give the numbers of the capitalised words whose plain form a vocabulary holds."""
        plain = compress(self.plain, self.capital)
        return list(compress(self.capitals, map(vocabulary.__contains__, plain)))


class Window(NamedTuple):
    """A text with its words, and the word lists."""

    text: str
    words: Words
    lexicon: Lexicon


def capital_forms(text: str) -> set[str]:
    """Give the plain forms of the words that begin with a capital, without their places."""
    pattern = _ASCII_CAPITAL if text.isascii() else _CAPITAL
    return set(map(_plain, set(pattern.findall(text))))


def capital_words(text: str) -> list[Word]:
    """Give the words that begin with a capital, also behind an apostrophe (d'Arc), unaccented."""
    return [
        Word(*match.span(), _plain(match.group()), capital=True)
        for match in _CAPITAL.finditer(text)
    ]


def line_before(text: str, at: int, length: int) -> str:
    """Give at most `length` characters before a place, of its own line."""
    start = max(0, at - length)
    return text[max(start, text.rfind("\n", start, at) + 1) : at]


def past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Give the end of what a pattern matches at a place; the place itself where it does not."""
    match = pattern.match(text, at)
    return match.end() if match else at


def back(pattern: re.Pattern[str], text: str, at: int, reach: int) -> int:
    """Give the start of what a pattern finds up to a place; the place itself where it does not."""
    first = max(0, at - reach)
    match = pattern.search(text[first:at])
    return first + match.start() if match else at


def _plain(word: str) -> str:
    """Fold a word without accents, apostrophes and a final 's."""
    return _without_genitive(unaccented(word)).replace("'", "").replace("’", "")


def _without_genitive(folded: str) -> str:
    return folded[:-2] if len(folded) > 2 and folded.endswith(_GENITIVES) else folded


_new: Final = tuple.__new__
"""Makes a `Word` without the detour over its keyword arguments."""
