"""spaCy tokens as plain tuples, their words as they are read whatever slipped in the typing.

A token is a lower-case word with start, end, and whether space follows. Every punctuation mark is a
token of its own. Only the tokeniser of a blank English pipeline is used; it runs inside a memory
zone so that a nightly run over millions of reports stays flat.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

# Words as short may have two letters swapped or one too many; as long, any slip before the ending.
_SWAPPED, _SLIPPED, _ENDING = 7, 8, 2
_VOWELS: Final = frozenset("aeiouy")
_REMEMBERED: Final = 100_000


class Spelling(dict[str, str]):
    """Every word met, as it is read: by a table, or as the known word that it is one slip from.

    A slip leaves the first letter and the ending: two letters swapped, one left out, one too many,
    a vowel for another. "Injection" is no infection, so consonants are never exchanged.

    Examples
    --------
    >>> spelling = Spelling({"oedema": "edema"}, ["pneumonia", "infection"])
    >>> [spelling[word] for word in ("oedema", "pnuemonia", "injection")]
    ['edema', 'pneumonia', 'injection']
    """

    def __init__(self, table: Mapping[str, str], known: Iterable[str]) -> None:
        super().__init__((word, word) for word in known)
        self.update(table)
        self._known = frozenset(word for word in self if len(word) >= _SWAPPED and word.isalpha())
        self._shorter: dict[str, list[tuple[int, str]]] = {}
        for word in self._known:
            if len(word) >= _SLIPPED:
                for k in range(1, len(word) - 1):
                    self._shorter.setdefault(word[:k] + word[k + 1 :], []).append((k, word))

    def __missing__(self, word: str) -> str:
        meant = self._meant(word) if len(word) >= _SWAPPED and word.isalpha() else word
        if len(self) < _REMEMBERED:
            self[word] = meant
        return meant

    def _meant(self, word: str) -> str:
        """Give the only known word that is one slip away; the word itself where none is."""
        inner = range(1, len(word) - 1)
        swapped = (f"{word[:k]}{word[k + 1]}{word[k]}{word[k + 2 :]}" for k in inner)
        cut = [f"{word[:k]}{word[k + 1 :]}" for k in inner]
        found = {other for other in (*swapped, *cut) if other in self._known}
        found.update(other for _, other in self._shorter.get(word, ()))
        for k, shorter in enumerate(cut[:-_ENDING], start=1):
            same = (other for at, other in self._shorter.get(shorter, ()) if at == k)
            found.update(other for other in same if {word[k], other[k]} <= _VOWELS)
        found = {self.get(other, other) for other in found}
        return found.pop() if len(found) == 1 else word


_MARK: Final = re.compile(r"[^\w\s]")
_FIRST: Final = re.compile(r"^[^\w\s]")
_LAST: Final = re.compile(r"[^\w\s]$")
_LONGEST_WORD, _ENDLESS = 400, re.compile(r"\S{400}")
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
    """Splits text into tokens; spellings are normalised (``oedema`` → ``edema``).

    `spelling` gives the table of spellings, which knows the vocabulary's words.
    """

    def __init__(self, spelling: Callable[[], Spelling]) -> None:
        # Here, because most of what imports this module reads nothing, and this takes a while.
        import spacy
        from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]  # compiled, no stub

        self._nlp = spacy.blank("en")
        self._nlp.max_length = 2**31 - 1
        self._nlp.vocab.lex_attr_getters = {}  # type: ignore[attr-defined]  # only letters
        self._nlp.tokenizer = Tokenizer(
            self._nlp.vocab,
            prefix_search=_FIRST.search,
            suffix_search=_LAST.search,
            infix_finditer=_MARK.finditer,
        )
        self._spelling = spelling()

    @contextmanager
    def session(self) -> Iterator[None]:
        """Free whatever was tokenised inside when it ends; no token may outlive it."""
        with self._nlp.memory_zone():
            yield

    def read(self, text: str, *, offset: int = 0) -> list[Token]:
        """Tokens of a text; `offset` is added to every position."""
        spelling, told = self._spelling, self._spelling.get
        tokens = []
        odd = not text.isascii() or "__" in text or "xxx" in text.lower()
        for shown, start in self._pieces(text):
            word = shown.lower()
            if odd and word in _INVISIBLE:
                continue
            if odd and word[0] in "x_" and _REDACTED.fullmatch(word):
                word = "xxxx"
            begin = start + offset
            said = told(word)
            tokens.append(Token(said or spelling[word], begin, begin + len(shown)))
            if word in _ABRIDGED:
                _write_out(tokens)
        broken = "-\n" in text or "- \n" in text
        return _rejoined(tokens, spelling) if broken else tokens

    def _pieces(self, text: str) -> list[tuple[str, int]]:
        # spaCy strips affixes one by one: quadratic on such runs
        if len(text) >= _LONGEST_WORD and _ENDLESS.search(text):
            return [(match[0], match.start()) for match in _PIECE.finditer(text)]
        return [(token.text, token.idx) for token in self._nlp.make_doc(text)]


def _rejoined(tokens: list[Token], known: Mapping[str, str]) -> list[Token]:
    """Join the halves of a known word that a hyphen broke at a line's end."""
    joined: list[Token] = []
    for token in tokens:
        head, mark, line = joined[-3:] if len(joined) > _TWO else (token,) * 3
        broken = mark.word == "-" and "\n" in line.word and head.end == mark.start
        whole = known.get(head.word + token.word) if broken else None
        if whole is None:
            joined.append(token)
        else:
            joined[-3:] = [Token(whole, head.start, token.end)]
    return joined


_CONTRACTED, _TWO = 3, 2
# What may end a word that is written short: don't, w/, w/o.
_ABRIDGED: Final = frozenset({"t", "/", "o"})
_WITH: Final = {("w", "/"): "with", ("with", "o"): "without"}
_VERBS: Final = {"ca": "can", "wo": "will"}
_HELPING: Final = frozenset({
    "is", "are", "was", "were", "can", "could", "will", "would", "should", "must", "need", "does",
    "do", "did", "has", "have", "had",
})  # fmt: skip


def uncontracted(words: Sequence[str]) -> tuple[str, ...]:
    """Write out what is contracted at the end: it isn ' t → it is not.

    Examples
    --------
    >>> uncontracted(["it", "can", "'", "t"])
    ('it', 'can', 'not')
    """
    head = words[-_CONTRACTED].removesuffix("n") if len(words) >= _CONTRACTED else ""
    verb = _VERBS.get(head, head)
    if verb not in _HELPING or words[-2] != "'" or words[-1] != "t":
        return tuple(words)
    return (*words[:-_CONTRACTED], verb, "not")


def _write_out(tokens: list[Token]) -> None:
    if len(tokens) > 1 and tokens[-2].end == tokens[-1].start:
        short, end = tokens[-2:]
        word = _WITH.get((short.word, end.word))
        if word is not None and (word == "with" or end.start > short.start + 1):
            tokens[-2:] = [Token(word, short.start, end.end)]
            return
    last = tokens[-_CONTRACTED:]
    said = uncontracted([token.word for token in last])
    if len(said) < len(last):
        verb, mark, end = last
        tokens[-_CONTRACTED:] = [
            verb._replace(word=said[0]), mark._replace(word=said[1], end=end.end)
        ]  # fmt: skip
