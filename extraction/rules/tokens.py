"""spaCy tokens as plain tuples: lower-case word, start, end, and whether space follows.

Every punctuation mark is a token of its own. Only the tokeniser of a blank English pipeline is
used; it runs inside a memory zone so that a nightly run over millions of reports stays flat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

import spacy
from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]  # compiled, no stub

__all__ = ["Token", "TokenReader"]

_MARK: Final = re.compile(r"[^\w\s]")
_FIRST: Final = re.compile(r"^[^\w\s]")
_LAST: Final = re.compile(r"[^\w\s]$")
_ENDLESS: Final = re.compile(r"\S{400}")
_PIECE: Final = re.compile(r"\w+|[^\w\s]|\s+")
_REDACTED: Final = re.compile(r"x{3,}|_{2,}")
_INVISIBLE: Final = frozenset(
    "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff\ufe0f"
)


class Token(NamedTuple):
    """One token: `word` is normalised, `start` and `end` are offsets into the text."""

    word: str
    start: int
    end: int


class TokenReader:
    """Splits text into tokens; spellings are normalised by a table (``oedema`` → ``edema``)."""

    def __init__(self, spelling: Mapping[str, str]) -> None:
        self._nlp = spacy.blank("en")
        self._nlp.max_length = 2**31 - 1
        self._nlp.tokenizer = Tokenizer(
            self._nlp.vocab,
            prefix_search=_FIRST.search,
            suffix_search=_LAST.search,
            infix_finditer=_MARK.finditer,
        )
        self._spelling = dict(spelling)

    @contextmanager
    def session(self) -> Iterator[None]:
        """Free whatever was tokenised inside when it ends; no token may outlive it."""
        with self._nlp.memory_zone():
            yield

    def read(self, text: str, *, offset: int = 0) -> list[Token]:
        """Tokens of a text; `offset` is added to every position."""
        spelling = self._spelling
        tokens = []
        for shown, start in self._pieces(text):
            word = shown.lower()
            if word in _INVISIBLE:
                continue
            if _REDACTED.fullmatch(word):
                word = "xxxx"
            begin = start + offset
            tokens.append(Token(spelling.get(word, word), begin, begin + len(shown)))
        return tokens

    def _pieces(self, text: str) -> list[tuple[str, int]]:
        if _ENDLESS.search(text):  # spaCy strips affixes one by one: quadratic on such runs
            return [(match[0], match.start()) for match in _PIECE.finditer(text)]
        return [(token.text, token.idx) for token in self._nlp.make_doc(text)]
