"""A text as the rules see it: its words by column, and its lines.

Most words of a report concern no rule. The words of many texts are therefore found at once, from
the kinds of their characters (see `Runs`); sets pick the places that matter, and a `Word` is made
only there.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import compress, count
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.names.grammar import LOWER, UPPER
from pipeline.names.lexicon import Lexicon, unaccented

_CAPITAL: Final = re.compile(
    rf"[{UPPER}](?<![{UPPER}{LOWER}][{UPPER}])[{UPPER}{LOWER}]*(?:['’][{UPPER}{LOWER}]+)*"
)
_ASCII_CAPITAL: Final = re.compile(r"[A-Z](?<![A-Za-z][A-Z])[A-Za-z]*(?:'[A-Za-z]+)*")
"""The same where every character is one of ASCII, and faster."""
_WORD: Final = re.compile(rf"[{UPPER}{LOWER}]+(?:['’][{UPPER}{LOWER}]+)*")
_GENITIVES: Final = ("'s", "’s")
_ASCII: Final = 0x80
_BEYOND: Final = 0x1F00
"""No character from here on is of a word."""
_PAIRS: Final = 4096
_IN_CODES: Final = tuple(map(ord, "+-/_"))
_SMALL, _LARGE, _FIGURE, _APOSTROPHE = 1, 2, 4, 8
_KINDS: Final = np.zeros(_BEYOND + 1, dtype=np.uint8)
for _kind, _signs in ((_SMALL, LOWER), (_LARGE, UPPER), (_FIGURE, "0-9"), (_APOSTROPHE, "'")):
    for _found in re.finditer(f"[{_signs}]", "".join(map(chr, range(_BEYOND)))):
        _KINDS[_found.start()] = _kind


class Runs:
    """The runs of letters of some texts, an apostrophe before a letter in them.

    Attributes
    ----------
    text, bases
        The texts as one, with a line break behind each; where each begins there, and the end.
    signs, kinds
        (characters,) the code of each, and whether it is a letter, a figure or an apostrophe.
    starts, ends
        Where each run begins and ends.
    shown
        The text of every run, blanks between.
    """

    def __init__(self, texts: Sequence[str], *, figures: bool) -> None:
        """Find the runs of letters, or of letters and figures."""
        self.text = "".join(f"{each}\n" for each in texts)
        self.bases = np.cumsum([0, *(len(each) + 1 for each in texts)])
        self.signs = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        self.kinds = _KINDS.take(self.signs, mode="clip")
        self.kinds[self.signs == ord("’")] = _APOSTROPHE
        is_letter = (self.kinds & (_SMALL | _LARGE)) > 0
        inside = np.zeros(len(is_letter) + 1, dtype=bool)
        inside[1:] = is_letter | (self.kinds == _FIGURE) if figures else is_letter
        marks = np.flatnonzero(self.kinds == _APOSTROPHE)
        marks = marks[inside[marks] & is_letter[marks + 1]]
        inside[marks + 1] = True
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        shown = np.where(inside[1:], self.signs, ord(" ")).astype("<u4")
        if figures and len(marks):  # no figure goes on behind the letters behind an apostrophe
            others = np.flatnonzero(~is_letter)
            cuts = others[np.searchsorted(others, marks, side="right")]
            cuts = cuts[self.kinds[cuts] == _FIGURE]
            if len(cuts):
                edges = np.sort(np.concatenate([edges, cuts, cuts]))
                shown = np.insert(shown, cuts, ord(" "))
        self.starts, self.ends = edges[::2], edges[1::2]
        self.shown = shown.tobytes().decode("utf-32-le")


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
    starts, ends
        Where each stands in the text.
    folded
        Each word in small letters, without a final 's.
    plain
        The same without accents and straight apostrophes, as the name lists are written.
    capital
        Whether each begins with a capital.
    pairs
        (4096,) whether a pair of characters with this number (`pairs_of`) stands in the text.
    longest
        How long its longest stretch of letters, figures and + - / _ is.
    """

    __slots__ = ("_text", "capital", "ends", "folded", "longest", "pairs", "plain", "starts")

    def __init__(
        self, text: str, columns: Iterable[list[Any]], pairs: NDArray[np.bool_], longest: int
    ) -> None:
        self._text, self.pairs, self.longest = text, pairs, longest
        self.starts, self.ends, self.folded, self.plain, self.capital = columns

    @classmethod
    def of(cls, text: str) -> Words:
        """Find the words of a text."""
        return next(cls.each([text]))

    @classmethod
    def each(cls, texts: Sequence[str]) -> Iterator[Words]:
        """Find the words of some texts, those of each by themselves."""
        runs = Runs(texts, figures=False)
        folded = runs.shown.casefold().split()
        plain = list(folded)
        odd = np.flatnonzero((runs.signs >= _ASCII) | (runs.kinds == _APOSTROPHE))
        for at in np.unique(np.searchsorted(runs.ends, odd, side="right")).tolist():
            if at < len(folded):
                folded[at] = _without_genitive(folded[at])
                plain[at] = unaccented(folded[at]).replace("'", "")
        cuts = np.searchsorted(runs.starts, runs.bases)
        before = np.repeat(runs.bases[:-1], np.diff(cuts))
        capital = runs.kinds[runs.starts] == _LARGE
        starts, ends = (runs.starts - before).tolist(), (runs.ends - before).tolist()
        columns = starts, ends, folded, plain, capital.tolist()
        stretches = zip(cuts.tolist(), cuts[1:].tolist(), strict=False)
        rows = zip(texts, stretches, _pairs(runs), _longest(runs).tolist(), strict=True)
        for text, (first, last), pairs, longest in rows:
            yield cls(text, (each[first:last] for each in columns), pairs, longest)

    def __len__(self) -> int:
        """Count the words."""
        return len(self.folded)

    def __getitem__(self, at: int) -> Word:
        """Give one word with its place."""
        return _new(Word, (self.starts[at], self.ends[at], self.folded[at], self.capital[at]))

    def gap(self, at: int) -> str:
        """Give what stands between a word and the one before it."""
        return self._text[self.ends[at - 1] : self.starts[at]]

    def span(self, at: int) -> tuple[int, int]:
        """Give where a word begins and ends."""
        return self.starts[at], self.ends[at]

    def among(self, vocabulary: Container[str]) -> list[int]:
        """Give the numbers of the words whose folded form a vocabulary holds."""
        return list(compress(count(), map(vocabulary.__contains__, self.folded)))

    def capitals_among(self, vocabulary: Container[str]) -> list[int]:
        """Give the numbers of the capitalised words whose plain form a vocabulary holds."""
        numbers, plain = compress(count(), self.capital), compress(self.plain, self.capital)
        return list(compress(numbers, map(vocabulary.__contains__, plain)))


class Window(NamedTuple):
    """A text with its words, and the word lists."""

    text: str
    words: Words
    lexicon: Lexicon


def pairs_of(signs: NDArray[np.uint32]) -> NDArray[np.signedinteger]:
    """Give each pair of neighbours a number, which others may have too."""
    return ((signs[:-1] << 5) ^ signs[1:]) & (_PAIRS - 1)


def _pairs(runs: Runs) -> NDArray[np.bool_]:
    held = np.zeros((len(runs.bases) - 1, _PAIRS), dtype=bool)
    held[np.repeat(np.arange(len(held)), np.diff(runs.bases))[:-1], pairs_of(runs.signs)] = True
    return held


def _longest(runs: Runs) -> NDArray[np.intp]:
    of_codes = (runs.kinds & (_SMALL | _LARGE | _FIGURE) > 0) | (runs.signs >= _ASCII)
    of_codes |= np.isin(runs.signs, _IN_CODES)
    others = np.flatnonzero(~of_codes)  # the break behind each text among them
    gaps = np.diff(others, prepend=-1) - 1
    return np.maximum.reduceat(gaps, np.searchsorted(others, runs.bases[:-1]))


def folded_words(text: str) -> list[str]:
    """Give the words of a short text in small letters, without a final 's."""
    return [_without_genitive(word.casefold()) for word in _WORD.findall(text)]


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
