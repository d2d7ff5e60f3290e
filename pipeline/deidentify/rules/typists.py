"""Initials of those who typed, read, measured or marked something: /vl · Measured by HB: · "RH"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Finder, Rule, Word, line_before
from pipeline.names.lexicon import Lexicon

__all__ = ["RULES", "find"]

_ANY: Final = r"([^\W\d_]{2,3})"
_CAPITALS: Final = r"([A-ZÀ-ÖØ-Þ]{2,3})"
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[ ]\d"
_BOTH: Final = r"([^\W\d_]{2,3}(?:[/:][^\W\d_]{2,3})?)"
_TYPED: Final = re.compile(
    rf"(?:[ ]by)?:?[ ]{_BOTH}(?=[ ]{{2}}|,[ ]\d|[ ](?:on|at)[ ]|[ ](?:\d|{_MONTH})|[ ]*(?:\n|\Z))",
    re.I,
)
_BY_FIELD: Final = re.compile(rf":\s{{0,8}}{_ANY}[ \t]*(?:\n|\Z)")
_BESIDE_NAME: Final = re.compile(
    rf"[ ](?:(?:[^\W\d_]\.?){{1,2}}[ ])?[^\s(]{{2,30}}[ ]\({_ANY}\)(?=[ ](?:on|at)[ ]\w|[.,;\n]|\Z)"
)
_BY: Final = re.compile(rf"[ ]{_CAPITALS}(?=[.:;]|[ ]*(?:\n|\Z)|[ ]\d{{1,2}}[-/])")
_TECH: Final = re.compile(r"[ ]([a-z]{2,3})(?=[ ]*(?:\n|\Z|,))")
_COMMENT: Final = re.compile(rf":[ ][^.:\n]{{3,60}},[ ]{_ANY}(?=\.(?:[ ]|\n|\Z))")
_PERSON: Final = re.compile(r"\btech(?:nologist)?(?:['’]s)?[ ]\Z", re.IGNORECASE)
_REF: Final = re.compile(r"[ ]([a-z]{2,3}/[a-z]{2,3})(?=[.\n]|\Z)")
_OWNER: Final = re.compile(r"[ ]([A-Z]{2,3})(?=[ ](?:born|DOB|D\.O\.B|ID|MRN)\b)")
_MEASURED: Final = re.compile(rf"[ ]{_ANY}(?=[:,.;])")
_BRACKETED: Final = re.compile(
    r"\.?[ ]\(((?<!D\.[ ]\()(?<!D[ ]\()[A-Z]{2,3}|[^\W\d_]{2,3}/[^\W\d_]{2,3})\)"
    r"(?=[:.,;]|[ ]*(?:\n|\Z))"
)
_OPERATOR: Final = re.compile(rf"\s{{1,6}}{_CAPITALS}(?=[.,;]|[ ]*(?:\n|\Z))")
_QUOTED: Final = re.compile(rf"[ ][\"“]{_CAPITALS}(?=[\"”]|[ ]\d)")
_VERSION: Final = re.compile(rf"[ ]\#?\d{{1,2}}[ ]{{1,3}}{_CAPITALS}(?=[ ]{{1,3}}\d)")
_ENTRY: Final = re.compile(rf"[^\n]{{0,24}}\d\d:\d\d[ ]{_ANY}:")
_NOTE: Final = re.compile(rf"[ ]{_ANY}[ ]note\b", re.IGNORECASE)
_PATIENT: Final = re.compile(r"[ ]([A-Z]{2}|[a-z]{2}),[ ]")
_AFTER_CLOCK: Final = re.compile(rf"\.?[ ]{_ANY}\.(?=[ ][A-Z]|[ ]*(?:\n|\Z))")
_BEFORE_CLOCK: Final = re.compile(r"\d[:.]\d\d[ ]?(?:[ap]\.)?$", re.IGNORECASE)
_SLASH: Final = re.compile(rf"/(?:(?<=^.)|(?<=[ ]{{2}}.)){_ANY}[ \t]*$", re.MULTILINE)
_STAMPED: Final = re.compile(rf",(?<=\d,)[ ]{_CAPITALS}\)")
_STAMP: Final = re.compile(r"\(\d[\d/.: -]{6,20}$")
_WORDS: Final = frozenset(
    {"is", "on", "in", "to", "of", "at", "as", "no", "up", "he", "we", "or", "if", "so", "do", "an"}
    | {"by", "hx", "dx", "sx", "tx", "fx", "po", "iv", "ed", "er", "rt", "lt", "md", "rn", "her"}
    | {"the", "and", "est", "pst", "cst", "mst", "gmt", "utc", "his", "was", "has", "pt", "you"}
    | {"may", "can", "ap", "pa", "ct", "mr", "us", "xr", "icu", "ccu", "op", "ems", "gp", "pcp"}
)


def find(text: str) -> Iterator[Found]:
    """Find initials behind a stroke at the end of a line and behind the date of a stamp."""
    if "/" in text:
        for match in _SLASH.finditer(text):
            yield Found(*match.span(1), "NAME", "initials-done")
    for match in _STAMPED.finditer(text):
        if _STAMP.search(text, max(0, match.start() - 24), match.start()):
            yield Found(*match.span(1), "NAME", "initials-done")


def _typed(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    yield from _matched(_TYPED, text, word)


def _by(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    before = line_before(text, word.start, 9)
    if before.rstrip(" ")[-1:].isdigit():
        yield from _matched(_BY_FIELD, text, word)
    if before.casefold().endswith("measured "):
        yield from _initials(_MEASURED, text, word, lexicon)
    yield from _matched(_BESIDE_NAME, text, word)
    match = _BY.match(text, word.end)
    if match and not _is_known(match.group(1).casefold(), lexicon):
        yield Found(*match.span(1), "NAME", "initials-done", sure=False)


def _beside(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the initials in "per technologist (SM): cough" and "J. Doe, M.D. (jd/ab)"."""
    yield from _matched(_BRACKETED, text, word)


def _commented(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the initials in "Tech comment: could not raise arms, ab."."""
    if _PERSON.search(text, max(0, word.start - 16), word.start):
        yield from _initials(_COMMENT, text, word, lexicon)


def _told_by(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the initials in "at Beth Israel, tech ab"."""
    if not word.capital:
        yield from _initials(_TECH, text, word, lexicon)


def _owned(pattern: re.Pattern[str]) -> Finder:
    """Make a rule of a pattern behind its word."""

    def finder(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
        yield from _matched(pattern, text, word)

    return finder


def _operator(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    yield from _matched(_OPERATOR, text, word)


def _quoted(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    yield from _matched(_QUOTED, text, word)


def _version(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    yield from _matched(_VERSION, text, word)


def _entry(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    yield from _matched(_ENTRY, text, word)


def _noted(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    yield from _initials(_NOTE, text, word, lexicon)


def _patient(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    yield from _initials(_PATIENT, text, word, lexicon)


def _timed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if _BEFORE_CLOCK.search(text, max(0, word.start - 9), word.start):
        yield from _initials(_AFTER_CLOCK, text, word, lexicon)


def _matched(pattern: re.Pattern[str], text: str, word: Word) -> Iterator[Found]:
    match = pattern.match(text, word.end)
    if match:
        yield Found(*match.span(1), "NAME", "initials-done")


def _initials(pattern: re.Pattern[str], text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Accept initials unless they are a word; in a report in capitals most are."""
    match = pattern.match(text, word.end)
    folded = match.group(1).casefold() if match else ""
    if match and folded not in _WORDS and not (text.isupper() and _is_known(folded, lexicon)):
        yield Found(*match.span(1), "NAME", "initials-done", sure=False)


def _is_known(folded: str, lexicon: Lexicon) -> bool:
    return folded in lexicon.familiar or folded in lexicon.acronyms


RULES: Final = (
    Rule(frozenset({"typed", "transcribed", "written", "transcriptionist", "typist"}), _typed),
    Rule(frozenset({"by"}), _by),
    Rule(frozenset({"operator", "reviewer"}), _operator),
    Rule(frozenset({"comment", "note"}), _commented),
    Rule(frozenset({"tech", "user"}), _told_by),
    Rule(frozenset({"ref"}), _owned(_REF)),
    Rule(frozenset({"initials"}), _owned(_OWNER)),
    Rule(frozenset({"technologist", "tech", "radiographer", "sonographer", "d", "md"}), _beside),
    Rule(
        frozenset({"annotation", "label", "labeled", "labelled", "marked", "initialed", "marker"}),
        _quoted,
    ),
    Rule(frozenset({"version"}), _version),
    Rule(frozenset({"entry", "addendum"}), _entry),
    Rule(frozenset({"per"}), _noted),
    Rule(frozenset({"pt"}), _patient),
    Rule(frozenset({"m", "pm", "am"}), _timed),
)
