"""Numbers beside a person: phones in pairs, pagers in brackets, dotted times, short dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import digits
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word
from pipeline.names.lexicon import Lexicon

__all__ = ["RULES", "find"]

_PAIRS: Final = re.compile(
    r"[ (\n](?:\+\d{1,3}[ ])?(?:\(0\d{1,3}\)[ ]\d{2,3}|0\d{1,3}[- ]\d{2,3}|\d\d[ ]\d\d)"
    r"(?:[ ]\d\d){2}(?![\w/-]|\.\d|[ ]\d(?!\d?:\d)|[ ]?(?:mm|cm|HU|mg|ml))"
)
_SLASHED: Final = re.compile(
    r"0 (?<![\w.,]0 )\d\d[ ]\d\d[ ]?/[ ]?\d\d[- ]?\d\d(?:[ -]?\d\d)?(?![\w/-]|\.\d)"
)
_HINT: Final = re.compile(r" (?<=\d )\d\d \d\d\b")
_ABROAD: Final = re.compile(
    r"\+\d{1,3}(?:[ ]?\n[ ]{0,8}|[ .-])\d{1,4}(?:[ .-]\d{2,4}){1,4}(?![\w/])"
    r"|\+\d{1,3}(?:[ .-]\d{1,4}){1,4}[ ]?\n[ ]{0,8}\d{3,4}(?=[ ]\d{3,4}|[.,;)\n]|\Z)(?:[ ]\d{3,4})?"
)
_PAGER: Final = re.compile(r"\((?:p|P)(?:\.[ ]?|[ ]|er[ ])?(\d{4,6})\)")
_DOTTED: Final = re.compile(
    r"(?:[^\n;]{0,70}?(?:,|\bat))?[ ]((?:[01]\d|2[0-3])\.[0-5]\d)(?![ ]?(?:[mc]m|HU)\b)"
    r"(?=[,.;]?(?:[ ]|\n|\Z))"
)
_AT: Final = re.compile(
    r"[ ]((?:[01]?\d|2[0-3]):[0-5]\d(?=:[ \n])|(?:[01]\d|2[0-3])\.[0-5]\d(?!\d|[.]\d|[-/x×%]"
    r"|[ ]?(?:[Uu]hr|UHR|hrs|h|mm|cm|m|HU|hu|ml|mL|mGy|mg|g|kV|kVp|s|sec|degrees|ng|x|×|per|of"
    r"|and|to)\b))"
)
_INTERNAL: Final = re.compile(r"[ ]((?!19|20)\d{4,5})(?=[.,;)\n]|\Z)")
_CONTACT: Final = re.compile(
    r"\b(?:contact|discuss|call|ring|bleep|page|speak|spoke|phone|reach|inform)[^.\n]{0,40}"
    r"[A-Z][\w'’-]+[ ]\Z",
    re.IGNORECASE,
)
_BEEPER: Final = re.compile(r"[ ](\d{4,5})(?=[.,;)\n]|\Z)")
_ON_UNIT: Final = re.compile(r"[ ]((?:[01]\d|2[0-3])[0-5]\d)(?=,)")
_STAMPED: Final = re.compile(
    r"(?<![\w.,/])(?:3[01]|[12]\d|0?[1-9])\.(?:1[0-2]|0?[1-9])\."
    r"[ ](?:[01]\d|2[0-3])[0-5]\d(?=:[ ])"
)
_HINT_OF_STAMP: Final = re.compile(r"\. \d{4}: ")
_SHORT: Final = re.compile(
    r"[ ]((?:1[0-2]|0?[1-9])/(?:3[01]|[12]\d|0?[1-9]))(?![\w/%-]|\.\d|[ ](?:of|cm|mm|inch|lobes?))"
)


def find(text: str) -> Iterator[Found]:
    """Find telephone numbers in pairs of figures and pagers in brackets."""
    if _HINT.search(text):
        for match in _PAIRS.finditer(text):
            yield Found(match.start() + 1, match.end(), "PHONE", "phone-pairs", sure=False)
    if " / " in text:
        for match in _SLASHED.finditer(text):
            yield Found(*match.span(), "PHONE", "phone-pairs", sure=False)
    if "+" in text:
        for match in _ABROAD.finditer(text):
            yield Found(*match.span(), "PHONE", "phone-pairs")
    if "(p" in text or "(P" in text:
        for match in _PAGER.finditer(text):
            yield Found(*match.span(1), "PHONE", "phone-pager")
    yield from _stamps(text)


def _stamps(text: str) -> Iterator[Found]:
    """Find the day and the clock that a message begins with (3.3. 0215: seen)."""
    if _HINT_OF_STAMP.search(text):
        for match in _STAMPED.finditer(text):
            yield Found(*match.span(), "DATE", "date-dots", sure=False)


def _told(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the time in "Informed Doe, 17.48"."""
    match = _DOTTED.match(text, word.end)
    if match:
        yield Found(*match.span(1), "TIME", "time-dotted")


def _clock(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the time in "at 00:09: possible embolism" and "at 16.41 on"."""
    match = _AT.match(text, word.end)
    if match:
        yield Found(*match.span(1), "TIME", "time-colon")


def _done(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the date in "placed 5/5" and "tumour board 7/10"."""
    match = _SHORT.match(text, word.end)
    if match:
        yield Found(*match.span(1), "DATE", "date-done", sure=False)


def _beeper(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the pager in "P. Doe, bp 8082"; a pressure has a stroke and fewer figures."""
    match = _BEEPER.match(text, word.end)
    if match:
        yield Found(*match.span(1), "PHONE", "phone-pager", sure=False)


def _unit(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the time in "Doe on the stroke unit 1634, patient fasting"."""
    match = _ON_UNIT.match(text, word.end)
    if match:
        yield Found(*match.span(1), "TIME", "time", sure=False)


def _on(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the extension in "Contact Dr Doe on 8513."."""
    match = _INTERNAL.match(text, word.end)
    if match and _CONTACT.search(text, max(0, word.start - 60), word.start):
        yield Found(*match.span(1), "PHONE", "phone-internal")


RULES: Final = (
    Rule(frozenset({"on"}), _on, then=digits),
    Rule(frozenset({"bp"}), _beeper, then=digits),
    Rule(frozenset({"unit", "ward"}), _unit, then=digits),
    Rule(
        frozenset({"informed", "called", "phoned", "notified", "doctor", "contacted"})
        | {"telephoned", "discussed", "given", "bleeped", "relayed", "arrived", "updated", "ref"}
        | {"ext", "extension"},
        _told,
    ),
    Rule(frozenset({"at", "om", "kl", "um"}), _clock, then=digits),
    Rule(
        frozenset({"board", "placed", "inserted", "exchanged", "mdt", "conference", "surgery"})
        | {"extubated", "intubated", "care", "biopsied", "drained", "clinic"},
        _done,
        then=digits,
    ),
)
