"""Ages over 89, in figures and in words, with their unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["RULES", "find"]

_ONES: Final = r"(?:one|two|three|four|five|six|seven|eight|nine)"
_FIGURES: Final = re.compile(r"(?:9\d|1[0-3]\d)(?!\d)")
_SEX_BEFORE: Final = re.compile(r"(?<![\w/])[MF]/$", re.IGNORECASE)
_UNIT: Final = re.compile(
    r"[ \t-]{0,2}(?:(?:years?|yrs?\.?|y\.?)"
    r"(?:[ \t-]{0,2}(?:of[ \t]age|(?:and[ \t])?olds?\b|o\b\.?)"
    r"|[ \t]?/[ \t]?o\b)?(?![a-z])(?:[ \t]?/?[ \t]?[mf]\b)?"
    r"|(?:st|nd|rd|th)[ \t-](?:year|birthday)\b"
    r"|jahre?\b|jährige[rnms]?\b|j\b\.?|ans\b|años\b|anos\b|anni\b|jaar\b|/[mf]\b"
    r"|(?=(?:male|female|man|woman|gentleman|lady)\b)"
    r"|[mf](?=[,;.]?[ \t](?:with|who|presents|presenting|h/o|s/p|p/w|here|for|status|c/o|hx"
    r"|history|and)\b)"
    r"|[mf](?=[ \t]{0,3}(?:[,;|]|$))|(?<=\d)[mf](?=\.(?:[ \t\n]|$)|\n)|yo[mf]\b)",
    re.IGNORECASE,
)
_SEX: Final = re.compile(r"[MF](?!\w)")
_OPENS: Final = re.compile(r"(?:[:;,(\n][ ]?|\A)\Z")
"""What stands before an age and a sex that need no more words (HISTORY: 98F staging)."""
_SEX_FIRST: Final = re.compile(r"/(?<![\w/][MFmf]/)(?<=[MFmf]/)(9\d|1[0-3]\d)(?![\w/]|[.]\d)")
_SPELT: Final = re.compile(
    rf"(?:[ \t-](?:and[ \t-])?(?:{_ONES}|ten|eleven|twelve))?[ \t-](?:years?|yrs?|yo"
    rf"|y/o)(?:[ \t-](?:old|of[ \t]age))?\b",
    re.IGNORECASE,
)
_HUNDRED: Final = re.compile(rf"[ \t-]hundred{_SPELT.pattern}", re.IGNORECASE)
_AGED: Final = re.compile(
    r"(?:[ \t]at[ \t][a-z]{3,12})?\.?(?:[ \t]?[:=(]|[ \t]of|[ \t]is)?[ \t]{0,3}(0?(?:9\d|1[0-3]\d)"
    r"(?:[ \t]?(?:years?|yrs?|yo|y)\b)?)"
    r"(?!\d|[/.]\d|[ \t]?(?:mm|cm|%|days|months|weeks|hours|deg|°))",
    re.IGNORECASE,
)
_DECADE: Final = re.compile(
    r"[ \t](?:early[ \t-]|mid[ \t-]|late[ \t-])?(?:90['’]?s|nineties|100['’]?s)\b", re.I
)


def find(text: str) -> Iterator[Found]:
    """Find ages in figures."""
    if "9" not in text and "1" not in text:
        return
    for match in _SEX_FIRST.finditer(text):
        yield Found(*match.span(1), "AGE", "age-sex")
    for match in _FIGURES.finditer(text):
        start = match.start()
        if _SEX_BEFORE.search(text, max(0, start - 3), start):
            yield Found(start, match.end(), "AGE", "age-figures")
        if text[start - 1 : start] == "0":
            start -= 1  # 094Y, as DICOM writes it
        if start and (text[start - 1].isalnum() or text[start - 1] in "./-"):
            continue
        unit = _UNIT.match(text, match.end())
        if unit is None and _OPENS.search(text, max(0, start - 3), start):
            unit = _SEX.match(text, match.end())
        if unit:
            yield Found(start, unit.end(), "AGE", "age-figures")


def _spelt(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = (_SPELT if word.folded == "ninety" else _HUNDRED).match(text, word.end)
    if match:
        yield Found(word.start, match.end(), "AGE", "age-words")


def _hundred(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _SPELT.match(text, word.end)
    if match:
        yield Found(word.start, match.end(), "AGE", "age-words")


def _aged(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _AGED.match(text, word.end)
    if match:
        yield Found(*match.span(1), "AGE", "age-labelled")


def _decade(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _DECADE.match(text, word.end)
    if match:
        yield Found(match.start() + 1, match.end(), "AGE", "age-decade")


def _nineties(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find "early nineties" where no possessive announces it."""
    if text[word.end : word.end + 9].lower() in (" nineties", "-nineties"):
        yield Found(word.start, word.end + 9, "AGE", "age-decade", sure=False)


def _apart(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the age in "Woman, 104, with fever", "(F, 100)" and "grandmother (101)"."""
    match = _APART.match(text, word.end)
    if match:
        yield Found(*match.span(1), "AGE", "age-apart")


def _very_old(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    yield Found(word.start, word.end, "AGE", "age-words")


_APART: Final = re.compile(r"(?:,[ ]|[ ]\()(9\d|1[0-3]\d)(?=[,;)]|\.(?!\d))")
_PERSONS: Final = frozenset(
    {"woman", "man", "lady", "gentleman", "male", "female", "patient", "pt", "veteran", "widow"}
    | {"widower", "nun", "priest", "mum", "granny", "pensioner", "f", "m"}
)

RULES: Final = (
    Rule(frozenset({"ninety"}), _spelt),
    Rule(frozenset({"one", "a"}), _spelt, then="hH"),
    Rule(frozenset({"hundred"}), _hundred),
    Rule(frozenset({"age", "aged", "ages", "turned", "turning"}), _aged),
    Rule(triggers("words_for_age"), _aged),
    Rule(triggers("relatives") | _PERSONS, _apart),
    Rule(frozenset({"early", "mid", "late"}), _nineties),
    Rule(frozenset({"his", "her", "their", "the"}), _decade, then="emlnEMLN91"),
    Rule(
        frozenset({"nonagenarian", "centenarian", "nonagenarians", "supercentenarian"}), _very_old
    ),
)
