r"""A text as the judge sees it: its tokens, what stands between them, and which of them are asked.

A **token** is a run of letters and figures, an apostrophe inside it included; a **gap** is what
stands between two tokens. Both are described by short words (features) that depend on nothing but
themselves and the word lists, so that each is described once however often it stands in a batch:

    s:Xxx   the shape         l:given   a list that holds it       w:dictated   the word itself
    e:ski   its ending        g:, \n     a gap as written           k:break      its kind
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pipeline.names.grammar import LOWER, UPPER
from pipeline.names.lexicon import Lexicon, trigger_lists, triggers, unaccented

__all__ = ["Describer", "Tokens"]

_TOKEN: Final = re.compile(rf"([{UPPER}{LOWER}0-9]+(?:['’][{UPPER}{LOWER}]+)*)")
_LISTS: Final = (
    "given_names", "surnames", "frequent_surnames", "rare_names", "unreported", "ordinary",
    "known", "common_words", "report_words", "not_names", "eponyms", "eponym_nouns", "openers",
    "acronyms", "person_words", "cities", "towns", "place_starts", "site_starts",
)  # fmt: skip
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_RUNS: Final = re.compile(r"A+|a+|0+")
_LONG: Final = 4
_ENDING: Final = 3
_MIN_ENDING: Final = 5
_INITIALS: Final = range(2, 5)
_BLANKS: Final = re.compile(r"[ \t]{2,}")
_BREAKS: Final = re.compile(r"[ \t\r]*\n[ \t\r]*")
_SHOWN: Final = 5


class Tokens:
    """The tokens of a text in order.

    Attributes
    ----------
    words
        Each token as written.
    gaps
        What stands before each token, and behind the last: one more than tokens.
    starts, ends
        Where each token begins and ends.
    """

    __slots__ = ("ends", "gaps", "starts", "words")

    def __init__(self, text: str) -> None:
        pieces = _TOKEN.split(text)  # gap, token, gap, ..., gap
        edges = np.fromiter(accumulate(map(len, pieces)), dtype=np.int64, count=len(pieces))
        self.words = pieces[1::2]
        self.gaps = pieces[::2]
        self.starts: NDArray[np.int64] = edges[:-1:2]
        self.ends: NDArray[np.int64] = edges[1::2]

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self.words)


class Describer:
    """Describes tokens and gaps by the word lists of a site."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._lists = {name: getattr(lexicon, name) for name in _LISTS}
        self._lists |= {f"t-{name}": triggers(name) for name in trigger_lists()}

    @cached_property
    def _names(self) -> frozenset[str]:
        return self._lexicon.all_names

    def is_asked(self, token: str) -> bool:
        """Tell whether a token can be (part of) an identifier at all.

        Capitalised words and whatever holds a figure; of words in small letters those that are
        names and no words, and two to four letters that are no word (a typist's initials).
        """
        if not token[0].islower():
            return True
        if any(map(str.isdigit, token)):
            return True
        plain = unaccented(token)
        if self._lexicon.is_ordinary(plain) or plain in self._lexicon.known:
            return False
        return plain in self._names or len(plain) in _INITIALS

    def token(self, token: str) -> Iterator[str]:
        """Give the features of a token."""
        if not token:
            yield "pad"
            return
        yield f"s:{shape(token)}"
        if token.isdigit():
            return
        plain = plain_form(token)
        for name, words in self._lists.items():
            if plain in words:
                yield f"l:{name}"
        if not any(map(str.isdigit, token)):
            if self._lexicon.is_stranger(plain):
                yield "l:stranger"
            if self._lexicon.is_ordinary(plain):
                yield "l:formed"
            if len(plain) >= _MIN_ENDING:
                yield f"e:{plain[-_ENDING:]}"
        yield f"w:{plain}"

    @staticmethod
    def gap(gap: str) -> Iterator[str]:
        """Give the features of a gap."""
        if not gap:
            yield "k:joined"
            return
        lines = gap.count("\n")
        if lines:
            yield "k:break" if lines == 1 else "k:breaks"
        elif _BLANKS.search(gap):
            yield "k:blanks"
        marks = gap.strip()
        if marks:
            yield f"k:first{marks[0]}"
            yield f"k:last{marks[-1]}"
        elif not lines:
            yield "k:blank"
        yield f"g:{_BLANKS.sub('  ', _BREAKS.sub(chr(10), gap))[:_SHOWN]}"


def plain_form(token: str) -> str:
    """Fold a token as the name lists are written, without a final 's."""
    folded = unaccented(token).replace("’", "'")
    return folded.removesuffix("'s").replace("'", "")


def shape(token: str) -> str:
    """Give a token's letters and figures as a pattern: Xxx, XXXX, 00, A000."""
    if token.isdigit():
        if _YEAR.fullmatch(token):
            return "year"
        return f"0x{min(len(token), 10)}"
    signs = "".join("0" if c.isdigit() else "A" if c.isupper() else "a" for c in token)
    return _RUNS.sub(_shortened, signs)


def _shortened(run: re.Match[str]) -> str:
    return run.group()[:_LONG]
