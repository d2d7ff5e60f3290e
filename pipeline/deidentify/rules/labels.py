"""Numbers behind a word that says what they are: record numbers, accessions, phones, pagers.

Whatever follows such a word and holds two figures is taken, in whatever form the system prints it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Finder, Rule, Word
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["ID_RULES", "PHONE_RULES"]

_STRONG: Final = triggers("labels_of_numbers")
_WEAK: Final = triggers("labels_of_numbers_with_a_noun")
_SEPARATORS: Final = (
    r"[ \t]{0,3}(?:(?:is|was|of)\b|[:#=–|-])?[ \t]{0,3}[#:]?[ \t]{0,8}(?:\n[ \t]{0,4})?"
)
_NOUN: Final = (
    r"(?:id(?:entifier)?\b|plate\b|#|no\b\.?|nos\b\.?|num\b\.?|numbers?\b|nbr\b\.?|code\b|nr\b\.?)"
)
_VALUE: Final = (
    r"((?=[A-Za-z._/-]{0,12}\d)[A-Za-z0-9](?:[A-Za-z0-9]|[-._/](?=[A-Za-z0-9])){1,63}"
    r"(?:(?:[ ]\d{2,5}(?![\d/:-]|\.\d)){1,4}(?:[ ]\d(?=[ \t]{0,3}(?:[\n.,;)]|$)|[ ]{2}))?)?)"
)
_AFTER_STRONG: Final = re.compile(
    rf"\.?(?:/[A-Za-z]{{1,10}}|[ \t](?:record"
    rf"|rec)\b)?[ \t]?(?:\([A-Za-z /]{{1,12}}\)[ \t]?)?{_NOUN}?{_SEPARATORS}{_VALUE}",
    re.IGNORECASE,
)
_AFTER_WEAK: Final = re.compile(
    rf"\.?[ \t]?(?:{_NOUN}{_SEPARATORS}|[ \t]?[:#=][ \t]{{0,8}}){_VALUE}", re.IGNORECASE
)
_MORE: Final = re.compile(rf"[ \t]?(?:,|/|&|and|or|;)[ \t]{{0,2}}{_VALUE}", re.IGNORECASE)
_DATE_LIKE: Final = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}$|\d{1,2}/\d{2,4}$")
_REF: Final = re.compile(
    r"\.?(?:[ \t]no\.?)?[ \t]((?=[A-Z\d]{0,6}[-/])[A-Z\d]{1,6}(?:[-/][A-Z\d]{1,10}){1,4})(?![\w/-])"
)

_LAST_FOUR: Final = re.compile(
    r"[ ](?:4|four)(?:[ ](?:digits|ssn))?(?:[ ]?[:=#])?[ ]{0,2}(\d{4})(?!\w)", re.I
)
_CODED: Final = re.compile(
    r":?[ ]{1,2}((?=[A-Z\d/:-]*\d\d)[A-Z\d]{1,6}(?:[-/:][A-Z\d]{1,12}){1,3}"
    r"|\d{4}(?:[ ]\d{3}){2}|\d{5,10})(?![\w/-])"
)
_NODE: Final = re.compile(r":?[ ]([A-Z]{2,12}\d{1,4}(?:-?[A-Z]{1,10}\d{0,3})?)(?!\w)")
_HEALTH: Final = re.compile(r"[ ]?[:#]?[ ]?([A-Z]{4}[ ]?\d{4}[ ]?\d{4})(?!\w)")
_PROVIDER: Final = re.compile(r"[ ](\d{6}[A-Z]{2}|\d{4})(?=\)|[ ]*(?:\n|\Z))")
_ALIAS: Final = re.compile(r"[ ]([A-Z]\d{4})(?!\w)")
_FIGURE: Final = re.compile(r"\d")
_PLATE: Final = re.compile(
    r"s?(?:[ \t](?:is|no\.?|number))?[ \t]?[:#]?[ \t]?([A-Z\d]{1,4}[ -]?[A-Z\d]{2,5})(?!\w)"
)
_TELEPHONES: Final = triggers("labels_of_telephones")
"""Words that nothing but a telephone number follows, whatever it looks like (Tel. 01/23 45 67)."""
_PHONE_WORDS: Final = triggers("labels_of_phones")
_AFTER_PHONE: Final = re.compile(
    r"(?:[ \t](?:number|no|at|on|is|phone|id))?\.?[ \t]?[.:#=(]{0,3}[ \t]{0,3}(?:at[ \t])?"
    r"((?:\+?\d|\(\d|-(?=\d{3}))(?:\d|[() ./-](?=[\d(])|[ ][/-][ ](?=\d)){2,20}"
    r"(?:[ \t]?(?:x|ext\.?)[ \t]?\d{2,6})?)"
    r"(?![\w/]|:\d|\.\d|[ \t]?(?:mm|cm|HU|[ap]\.?m\b|days?|weeks?|hours?|minutes?|hrs?\b))",
    re.IGNORECASE,
)
_A_DATE: Final = re.compile(r"\d{1,2}/\d{1,2}/(?:19|20)?\d\d$")
"""When somebody was told (on the telephone on 3/4/2021)."""
_EXTENSION: Final = re.compile(
    r"\.?(?:[ \t](?:number|no\.?))?[ \t]?[:#]?[ \t]{0,2}(\d[\d-]{0,6}\d)(?![\w])"
)
_X: Final = re.compile(r"[ \t]?\d{4,6}(?!\d|\.\d)|\d{3}(?=\))|-\d{4,5}\b")


_NO_NOUN: Final = frozenset("abdefghjklmoqrstuvwxyzABDEFGHJKLMOQRSTUVWXYZ")
"""What no noun for a number begins with."""
_RECORD: Final = frozenset(
    {"mrn", "mr", "chart", "pid", "lmrn", "emrn", "record", "nhs", "urn", "ur"}
)
"""Labels of numbers that may be written as a date is (MRN: 63-60-52)."""


def _is_value(value: str, figures: int) -> bool:
    return len(value) >= 3 and sum(c.isdigit() for c in value) >= figures


def _labelled(pattern: re.Pattern[str], text: str, word: Word, *, figures: int) -> Iterator[Found]:
    match = pattern.match(text, word.end) if _FIGURE.search(text, word.end, word.end + 60) else None
    if match is None or not _is_value(match.group(1), figures):
        return
    if _DATE_LIKE.match(match.group(1)) and word.folded not in _RECORD:
        return
    while match is not None and _is_value(match.group(1), figures):
        yield Found(*match.span(1), "ID", "id-labelled")
        match = _MORE.match(text, match.end(1))


def _strong(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    yield from _labelled(_AFTER_STRONG, text, word, figures=2)


def _weak(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    follows = text[word.end : word.end + 2]
    if follows[:1] == " " and (follows[1:].isdigit() or follows[1:] in _NO_NOUN):
        return  # image 45
    yield from _labelled(_AFTER_WEAK, text, word, figures=4)


def _reference(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the number in "ref HJ/8548/MD", which no noun and no colon announces."""
    match = _REF.match(text, word.end)
    if match and not _DATE_LIKE.match(match.group(1)) and _is_value(match.group(1), 4):
        yield Found(*match.span(1), "ID", "id-labelled")


def _coded(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the code in "badge E-5615", "policy 1EG5-TE2-MK30" and "MCNZ 80865"."""
    match = _CODED.match(text, word.end)
    if match and not _DATE_LIKE.match(match.group(1)) and _is_value(match.group(1), 4):
        yield Found(*match.span(1), "ID", "id-labelled")


def _behind(pattern: re.Pattern[str]) -> Finder:
    """Make a rule of a pattern behind its word, whose group is the code."""

    def finder(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
        match = pattern.match(text, word.end)
        if match:
            yield Found(*match.span(1), "ID", "id-labelled")

    return finder


def _plate(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _PLATE.match(text, word.end)
    if match and any(c.isdigit() for c in match.group(1)):
        yield Found(*match.span(1), "ID", "id-labelled")


def _last_four(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _LAST_FOUR.match(text, word.end)
    if match:
        yield Found(*match.span(1), "ID", "id-labelled")


def _phone(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _AFTER_PHONE.match(text, word.end)
    if match and text[word.start : word.end] != "pH" and not _A_DATE.match(match.group(1)):
        rule = "telephone" if word.folded in _TELEPHONES else "phone-labelled"
        start = word.start if word.folded == "dect" else match.start(1)  # as an extension's
        yield Found(start, match.end(1), "PHONE", rule)


def _extension(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _EXTENSION.match(text, word.end)
    if match:
        yield Found(word.start, match.end(), "PHONE", "extension")


def _x(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    match = _X.match(text, word.end)
    if match and not text[word.start - 1 : word.start].isalnum():
        yield Found(word.start, match.end(), "PHONE", "extension")


ID_RULES: Final = (
    Rule(_STRONG, _strong),
    Rule(_WEAK, _weak),
    Rule(frozenset({"ref", "reference"}), _reference),
    Rule(frozenset({"plate", "plates"}), _plate),
    Rule(
        frozenset({"badge", "mcnz", "policy", "claim", "workstation", "specimen", "subject"})
        | {"participant", "flag", "chart"},
        _coded,
    ),
    Rule(frozenset({"ws", "workstation", "node", "title", "station", "lot"}), _behind(_NODE)),
    Rule(frozenset({"unknown", "trauma"}), _behind(_ALIAS), capital=True),
    Rule(frozenset({"ramq"}), _behind(_HEALTH)),
    Rule(frozenset({"prov", "provider", "dictator"}), _behind(_PROVIDER)),
    Rule(frozenset({"last"}), _last_four, then="4fF"),
)
PHONE_RULES: Final = (
    Rule(_PHONE_WORDS | _TELEPHONES, _phone),
    Rule(frozenset({"ext", "extension", "extn", "exten"}), _extension),
    Rule(frozenset({"x"}), _x),
)
