"""spaCy tokens as plain tuples, and the sentences they form.

A token is a lower-case word with start, end, and whether space follows. Every punctuation mark is a
token of its own. Only the tokeniser of a blank English pipeline is used; it runs inside a memory
zone so that a nightly run over millions of reports stays flat. Sentences end at full stops, lists,
blank lines, and capitals where a full stop is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from extraction.vocabulary.schema import GrammarFile

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
            if word[0] in "x_" and _REDACTED.fullmatch(word):
                word = "xxxx"
            begin = start + offset
            tokens.append(Token(spelling.get(word, word), begin, begin + len(shown)))
            if word == "t":
                _write_out(tokens)
        return tokens

    def _pieces(self, text: str) -> list[tuple[str, int]]:
        if _ENDLESS.search(text):  # spaCy strips affixes one by one: quadratic on such runs
            return [(match[0], match.start()) for match in _PIECE.finditer(text)]
        return [(token.text, token.idx) for token in self._nlp.make_doc(text)]


_CONTRACTED: Final = 3
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
    last = tokens[-_CONTRACTED:]
    said = uncontracted([token.word for token in last])
    if len(said) < len(last):
        verb, mark, end = last
        tokens[-_CONTRACTED:] = [
            verb._replace(word=said[0]), mark._replace(word=said[1], end=end.end)
        ]  # fmt: skip


_BULLETS: Final = frozenset('"“”•·●▪◦*')
_DEPTH: Final = {"(": 1, "[": 1, ")": -1, "]": -1}
_STOPS: Final = frozenset(".!?")
_FULL_STOP: Final = "."
_ENDED: Final = frozenset(".!,;:")
_UNITS: Final = frozenset({"cm", "mm", "ca"})
_ANSWER: Final = re.compile(r"(?:Yes|No|None|Nil|N|Y|Neg|Negative|Absent|Present)\b(?![ \t]*\w)")
_DASHES: Final = frozenset({"-", "–", "*", "•"})
_HYPHENS, _LABEL = "-–", 3
_NUMBERS: Final = frozenset(map(str, range(1, 13)))
_OPENED_WITHIN: Final = 4
_REFERRING, _BOUND_WITHIN = frozenset({"former", "latter"}), 10
# More tokens are no sentence; cutting there keeps the work proportional to the text.
_LONGEST: Final = 200
# A line at least this long may have been wrapped by a machine rather than ended by a writer.
_LONG_LINE: Final = 55


def split(tokens: list[Token], text: str, grammar: GrammarFile) -> list[list[Token]]:
    """Group tokens into sentences; the marks that end a sentence belong to it.

    Parameters
    ----------
    tokens
        Tokens of one section, with offsets into `text`.
    text
        The whole report.
    grammar
        Its `restarts` and `abbreviations` decide where a full stop is missing or means nothing.
    """
    sentences: list[list[Token]] = []
    current: list[Token] = []
    depth = 0
    listing = False
    restarts = grammar.restarts
    tokens = _bound(tokens)
    line_start = tokens[0].start if tokens else 0
    for number, token in enumerate(tokens):
        word = token.word
        if listing or (
            (word in _NUMBERS or "\n" in word) and _opens_list(tokens, number, current, grammar)
        ):
            listing = len(current) < _LONGEST and _in_list(tokens, number)
            if listing:
                current += [] if word.isspace() else [token]
                continue
        if word.isspace():
            if "\n" in word or "\r" in word:
                if _line_ends(tokens, number, text, token.start - line_start):
                    current, depth = _close(sentences, current), 0
                line_start = token.end
            continue
        if word in _BULLETS and _opens_item(tokens, number):
            current, depth = _close(sentences, current), 0
            continue
        reopens = word in restarts and current
        if len(current) >= _LONGEST or (reopens and _restarts(current[-1], token, text, depth)):
            current, depth = _close(sentences, current), 0
        answers = word in _HYPHENS and current and _is_value(tokens, number, current)
        current.append(token._replace(word="nil") if answers else token)
        depth = max(0, depth + _DEPTH[word]) if word in _DEPTH else depth
        if word in _STOPS and _ends(tokens, number, text, depth, grammar):
            current, depth = _close(sentences, current), 0
    _close(sentences, current)
    return sentences


def _bound(tokens: list[Token]) -> list[Token]:
    """Bind a sentence to the one that it speaks of: "Edema or pneumonia. Favor the latter."."""
    for at in [at for at, token in enumerate(tokens) if token.word in _REFERRING]:
        stop = next((k for k in range(at, max(at - _BOUND_WITHIN, 0), -1) if _parts(tokens, k)), at)
        if stop < at:
            line = [t._replace(word=" ") if t.word.isspace() else t for t in tokens[stop + 1 : at]]
            tokens = [*tokens[:stop], tokens[stop]._replace(word=";"), *line, *tokens[at:]]
    return tokens


def _parts(tokens: list[Token], number: int) -> bool:
    """Whether a mark may end a sentence: one with a blank behind it."""
    behind = tokens[min(number + 1, len(tokens) - 1)]
    apart = behind.word.isspace() or behind.start > tokens[number].end
    return tokens[number].word in _STOPS and apart


def _is_value(tokens: list[Token], number: int, current: list[Token]) -> bool:
    """Whether a dash is the answer to a label: "PTX: -"."""
    following = tokens[number + 1].word if number + 1 < len(tokens) else "\n"
    labelled = current[-1].word == ":" or len(current) < _LABEL
    return labelled and (following in _ENDED or "\n" in following)


def _opens_list(
    tokens: list[Token], number: int, current: list[Token], grammar: GrammarFile
) -> bool:
    """Whether a differential's first item starts here: "D/D: 1. …", "Differential:" and a dash."""
    if not any(token.word in grammar.differentials for token in current[-_OPENED_WITHIN:]):
        return False
    if tokens[number].word in _NUMBERS:
        return _numbers_item(tokens, number)
    return number + 1 < len(tokens) and _opens_line(tokens, number + 1)


def _in_list(tokens: list[Token], number: int) -> bool:
    """Whether a differential's list goes on: it ends where no item follows a line or sentence."""
    word = tokens[number].word
    ends = word in {".", ";"} or (word.isspace() and ("\n" in word or "\r" in word))
    if not ends or tokens[number - 1].word in _NUMBERS:
        return True
    k = number + 1
    while k < len(tokens) and tokens[k].word.isspace():
        k += 1
    return k < len(tokens) and _opens_line(tokens, k)


def _opens_line(tokens: list[Token], k: int) -> bool:
    """Whether a line or sentence that starts here is an item of a list."""
    word = tokens[k].word
    return word in _DASHES or (word in _NUMBERS and _numbers_item(tokens, k))


def _close(sentences: list[list[Token]], current: list[Token]) -> list[Token]:
    """End a sentence, with a full stop of no width where the writer made no mark."""
    if current:
        end = current[-1].end
        marked = current[-1].word in _ENDED
        sentences.append(current if marked else [*current, Token(_FULL_STOP, end, end)])
    return []


def _ends(tokens: list[Token], number: int, text: str, depth: int, grammar: GrammarFile) -> bool:
    token = tokens[number]
    following = tokens[number + 1] if number + 1 < len(tokens) else None
    if following is None:
        return True
    joined = following.start == token.end and not following.word.isspace()
    before = tokens[number - 1] if number else None
    if token.word == "?":
        apart = before is None or before.end < token.start or before.word in ",;:(\r\n"
        shouted = before is not None and text[before.start : before.end].isupper()
        opens_word = apart and (joined or shouted or following.word not in grammar.restarts)
        goes_on = depth > 0 or opens_word or _ANSWER.match(text, following.start) is not None
        return not goes_on and text[following.start].isupper()
    if before is None or token.word == "!":
        return True
    if before.end == token.start:
        number = before.word[-1].isdigit() and following.word[0].isdigit()
        initial = len(before.word) == 1 and before.word.isalpha()
        short = before.word in grammar.abbreviations
        if (short and before.word not in _UNITS) or (joined and (number or initial or short)):
            return False
    return not (joined and following.word in {",", ")", ";"})


def _restarts(before: Token, token: Token, text: str, depth: int) -> bool:
    """Whether a capitalised word in running text opens a sentence whose full stop is missing."""
    shown = text[token.start : token.end]
    if depth or not shown[0].isupper() or (len(shown) > 1 and shown.isupper()):
        return False
    previous = text[before.start : before.end]
    return previous.isalpha() and previous.islower() and len(previous) > 2


def _opens_item(tokens: list[Token], number: int) -> bool:
    """Whether a bullet or quotation mark starts or ends a list item rather than a quoted word."""
    token = tokens[number]
    before = tokens[number - 1] if number else None
    following = tokens[number + 1] if number + 1 < len(tokens) else None
    if before is None or following is None or token.word not in '"“”':
        return True
    apart = following.start > token.end or before.end < token.start
    return apart or before.word in {".", "?", ")", '"'}


def _line_ends(tokens: list[Token], number: int, text: str, length: int) -> bool:
    if text.count("\n", tokens[number].start, tokens[number].end) > 1:
        return True
    following = tokens[number + 1] if number + 1 < len(tokens) else None
    if following is None:
        return True
    shown = text[following.start : following.end]
    if shown in _DASHES | {'"', "“"} or (shown.isdigit() and _numbers_item(tokens, number + 1)):
        return True
    labels = any(token.word == ":" for token in tokens[number + 2 : number + 4])  # "Right lung:"
    return shown[0].isupper() and (labels or length < _LONG_LINE)


def _numbers_item(tokens: list[Token], number: int) -> bool:
    return number + 1 < len(tokens) and tokens[number + 1].word in {".", ")"}
