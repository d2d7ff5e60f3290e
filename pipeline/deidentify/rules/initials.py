"""Initials at the edges of a line or behind a label: jd/ab · DICT: JD · T: ab 3/4 · - KLM.

They say who dictated, typed or read; `typists` finds those inside a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word, lines
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["RULES", "find"]

_LINE: Final = re.compile(
    r"^[ \t]{0,8}([A-Za-z]{2,4}(?:[ \t]?/[ \t]?|:)[A-Za-z]{2,4})(?=[ \t]*(?:$|\[)"
    r"|:?(?:[ ]-)?[ \t]+(?:\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)))",
    re.M,
)
_LABEL: Final = re.compile(
    r"(?:[ \t](?:by|initials))?[ \t]?:[ \t]{0,4}([A-Za-z]{2,4}"
    r"(?:[ \t]?[/:][ \t]?[A-Za-z]{2,4})?)(?![\w'’]|[/:]\w|\.\w|[ \t][a-z](?!:))",
    re.I,
)
_END: Final = re.compile(
    r"^[^\n]{0,60}\b(?:[DT]{1,2}|dict\w{0,8}|trans\w{0,10})\b[^\n]{0,80}?\d[ \t]{1,4}(?:by[ \t])?"
    r"(?!(?:mm|cm|ml|mg|kg|hu)\b)"
    r"([^\W\d_]{2,3}[/:][^\W\d_]{2,3}|(?<=by )[A-Z]{2,4}|[^\W\d_]{2,3})\.?[ \t]*$",
    re.M | re.I,
)
_AFTER: Final = re.compile(
    r"[MD](?<!\w[MD])(?:(?<=M)\.?D|(?<=D)\.?O)\.?[ \t]?[/|][ \t]?"
    r"([A-Za-z]{2,4}(?:/[A-Za-z]{2,4})?)(?=[ \t]*$)",
    re.M,
)
_DATED: Final = re.compile(
    r"^[ \t]{0,8}([A-Za-z]{2,4}(?:/[A-Za-z]{2,4})?)[ \t]{1,4}(?:[DT]|DD|DT|TD|TT):", re.M
)
_DASHED: Final = re.compile(r"[.;][ \t]{1,2}[-–][ \t]?([A-Z]{2,4})[ \t]*$", re.M)
_TYPED: Final = re.compile(
    r"[DdTt](?<!\w.)(?i:ict(?:ation[ \t]ref\.)?|elephoned|yped|rans(?:cri(?:ptionist|bed))?)"
    r"(?:[ \t]by)?:?[ \t]"
    r"([A-Za-z]{2,3}(?:[ \t]?[/:][ \t]?[A-Za-z]{2,3})?)(?![\w'’/])"
    r"(?=[ \t]*(?:$|[\d.,;]|\[))",
    re.M,
)
_BY: Final = re.compile(
    r"\d[ \t](?:by|BY)[ \t]([A-Za-z]{2,3}(?:/[A-Za-z]{2,3})?)(?=\.?[ \t]*$)", re.M
)
_TAIL: Final = re.compile(
    r"-(?:(?<=^.)|(?<=[.;][ ].))[ \t]?([A-Za-z]{2,4}(?:/[A-Za-z]{2,3})?)(?=[ \t]*$)", re.M
)
_SIGN: Final = re.compile(
    r"-(?:(?<=^.)|(?<=[.;][ ].))[ \t]?([A-Za-z]{2,4}(?:/[A-Za-z]{2,3})?)(?=,[ \t]\d)", re.M
)
_TIMED: Final = re.compile(r"[\dM][ \t]{2,6}([A-Za-z]{2,3}[:/][A-Za-z]{2,3})(?=[ \t]*$)", re.M)
_PAIR: Final = re.compile(r"[ ]((?!and/or|w/|pos/)[a-z]{2,3}/[a-z]{2,3})[ \t]*$", re.M)
_LAST: Final = re.compile(r"\n[ \t]{0,8}([A-Z]{2,4}|[A-Za-z]{2,4}/[A-Za-z]{2,4})\s{0,9}\Z")
_REACH: Final = 180
"""How far back from its end the shapes that close a line can begin."""
_HEAD: Final = 26
"""How far from its beginning a line that initials open has its stroke or colon."""
_OPEN_A_LINE: Final = (_LINE, _DATED)
_CLOSE_A_LINE: Final = (
    _END, _AFTER, _DASHED, _BY, _TAIL, _TIMED,
    _PAIR,
)  # fmt: skip


def find(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find initials by the shape of their line."""
    for match in _of_lines(text):
        if match.group(1).casefold() not in lexicon.not_names:
            yield Found(*match.span(1), "NAME", "initials")


def _of_lines(text: str) -> Iterator[re.Match[str]]:
    """Find initials that open or close a line; most lines close with a longer word."""
    for start, end in lines(text):
        head = text[start : start + _HEAD]
        for pattern in _OPEN_A_LINE if ":" in head or "/" in head else ():
            match = pattern.match(text, start)
            if match:
                yield match
        close = text[max(start, end - 40) : end].rstrip(" \t.")[-5:]
        if close[-2:].isalpha() and not (len(close) == 5 and close.isalpha()):
            for pattern in _CLOSE_A_LINE:
                match = pattern.search(text, max(start, end - _REACH), end)
                if match:
                    yield match
    if ", " in text:
        yield from _SIGN.finditer(text)
    last = _LAST.search(text, max(0, len(text) - 30))
    if last:
        yield last


def _typed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the initials in "Dictated by ab" and "T: cd"."""
    match = _TYPED.match(text, word.start)
    if match and match.group(1).casefold() not in lexicon.not_names:
        yield Found(*match.span(1), "NAME", "initials")


def _initials(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _LABEL.match(text, word.end)
    typist = word.folded in _TYPISTS
    if match and (typist or match.group(1).casefold() not in lexicon.not_names):
        yield Found(*match.span(1), "NAME", "initials")


_TYPISTS: Final = frozenset({"typist", "transcriptionist", "transcriber"})
_TYPISTS_WORDS: Final = frozenset(
    {"dict", "dictation", "telephoned", "typed", "trans", "transcriptionist", "transcribed"}
)

RULES: Final = (
    Rule(triggers("labels_of_initials"), _initials),
    Rule(_TYPISTS_WORDS, _typed),
)
