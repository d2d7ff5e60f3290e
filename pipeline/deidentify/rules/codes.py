"""Bare identifiers: numbers and codes known by their shape, or by the field before them.

A shape that nothing else has (483-22-9981, CT21-0045-1) needs no word. A looser one, figures with
letters or strokes, needs a field: an equals sign, a bar, a bracket, a word that ends as "number"
does in any language (Fall-Nr. 2021-47, X-ray no 4711), or an acronym (AHV 756.1234.5678.97). What a
unit follows, or a word of measuring precedes, is a measurement.
"""

from __future__ import annotations

import re
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.names.lexicon import triggers

__all__ = ["bare", "counted", "dotted", "in_field", "masked"]

_BARE: Final = re.compile(
    r"(?:\d{3}-\d{2}-\d{4}|\d\d:[A-Z]{2}-\d{3,6}|XXX-?XX-?\d{4}"
    r"|\d{2}-\d{2}-\d{2}(?:-\d{1,2})?"
    r"|[A-Z]{2,4}\d{5,9}[A-Z]|\d{6,8}[A-FHJLNP-TV-Z]|\d{7,8}[A-Z]"
    r"|[A-Z]\d\d/\d{4,6}|[A-Z]{2,3}/\d{3,6}/\d{2,4}"
    r"|\d{7,18}(?:(?:-[A-Z\d]{1,6}){1,3}|(?:[ ]\d{2,4}){1,3}[ ]\d{1,2}(?![\d./:]))?"
    r"|\d{6}(?:[ ]|[ ]?\n[ ]?)\d{5}"
    r"|\d{6}(?![ \t]?(?:/\w|x|k|u\b|iu|units?|cells|mg|ml|mm|cm))"
    r"|(?=(?:-?\d){7})\d{1,5}(?:-\d{1,5}){2,5}(?:-[A-Z])?"
    r"|\d{3}[ ]\d{3}[ ]\d{3,4}"
    r"|\d{1,2}\.\d{3}\.\d{3}-[\dkK]"
    r"|[A-Z]{1,5}\.\d{1,4}\.\d{3,10}"
    r"|\d{1,5}(?:\.\d{1,40}){5,24}"
    r"|[A-Z]{1,5}-?\d{5,14}(?:-\d{1,6})?"
    r"|[A-Z]{1,5}(?:-[A-Z]{1,4})?-\d{2,4}-\d{3,10}"
    r"|\d{2,8}-?[A-Z]{1,4}-?\d{4,10}|\d{4,8}-[A-Z]{1,4}\d{3}|[A-Z]\d-\d{5}"
    r"|\d{6}[-+]\d{4}"
    r"|[A-Z]{1,3}\d{2,4}-\d{3,8}(?:-\d{1,6})?"
    r"|\d{2,4}-\d{2,4}-\d{4,8}(?:-\d{1,6})?"
    r"|\d{2,4}-\d{5,8}"
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
    r"|(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}"
    r")(?![\w^]|-\d|\.\d)"
)
_GOES_ON: Final = frozenset("0123456789-.abcdef:")
"""What stands behind the first figure of every such shape that begins with one."""
_STARS: Final = "***-**-"
_MASKED: Final = re.compile(r"\*{3}-\*{2}-\d{4}(?!\w)")
_LETTERS_DOT: Final = re.compile(r"(?<![A-Za-z/])[A-Z]{1,5}[./]$")
_DOTTED: Final = re.compile(
    r"(?:[A-Z]{1,5}\.\d{1,4}\.\d{3,10}|[A-Z]{2,3}/\d{3,6}/\d{2,4})(?![\w/])"
)
_COUNT_FIGURES: Final = 6
_COUNTED: Final = re.compile(
    r"(?:platelets?|plt|wbc|counts?|cells|units|score|titer)[ \t:=(of]{0,5}$", re.IGNORECASE
)
"""Words before a number of six figures that is a count and not a code."""
_BEFORE_CHUNK: Final = re.compile(r"[A-Za-z0-9-]{1,24}$")
_CODE: Final = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9]|[-./_](?=[A-Za-z0-9])){2,40}(?:\(\d\))?(?![\w/]|\.\d|-\d)"
    r"(?![ \t]?(?:[x×]|m?m\b|cm|mgy|msv|m?gy|kv|ma|hu\b|ml|mg|mcg|g\b|kg|%|fr\b|french|gauge|sec"
    r"|s\b|hz|mci|mbq|bpm|iu|units?|cc\b|days?|weeks?|months?|years?|yrs?|degrees|inch))",
    re.IGNORECASE,
)
_GROUPS: Final = re.compile(r"\d{1,4}(?:[ ]\d{2,4}){3,7}(?![\w.,/:-])")
_NOUNS: Final = triggers("words_for_number")
_ENDINGS: Final = ("nummer", "numero", "número", "numéro", "-nr", "number", "-no", "-id", "patid")
_MEASURED: Final = triggers("words_of_measuring")
_ACRONYM: Final = range(2, 7)
_FIELD: Final = frozenset("=|[^#:")
_AFTER_WORD: Final = " \t.:#=|[^(-"
_REACH: Final = 32
_EDGES: Final = frozenset(_AFTER_WORD)
_ORDINARY: Final = re.compile(
    r"\d{1,5}(?:\.\d+)?$|\d{1,2}\.\d+[/-]|[A-Z]\d\d\.\d{1,4}$|\d{1,3}/\d{1,3}$|\d+\.\d{1,3}$|[CTLS]\d{1,2}(?:[-/][CTLS]?\d{1,2})*$"
    r"|\d{4}(?:-\d{2,4})?$|p?[TNM]\d\w*$|[A-Za-z]{6,}\d+$|[A-Z][a-z]?-?\d{2,3}m?$"
    r"|(?:covid|sars|influenza|h\dn\d)\b",
    re.IGNORECASE,
)
_ONE_FIGURE: Final = re.compile(r"\d(?![\w./-]|[ ]\d)")
"""A figure by itself, which no code ends in that was not tried at an earlier figure."""
_DIAGNOSIS: Final = re.compile(r"[A-Z]\d\d(?:\.\d{1,4})?")
"""A code of the ICD."""
_LONGEST: Final = 64
"""How far before a figure its code can begin."""
_MIN_FIGURES: Final = 3
_MIN_CODE: Final = 5


def bare(text: str, start: int, done: int) -> Found | None:
    """Find a code around a figure that letters or a hyphen precede."""
    before = _BEFORE_CHUNK.search(text[max(done, start - 24) : start])
    return _shaped(text, start - len(before.group()) if before else start)


def masked(text: str, start: int) -> Found | None:
    """Find the rest of a number whose first figures are stars (***-**-1234)."""
    match = _MASKED.match(text, max(0, start - len(_STARS)))
    return Found(*match.span(), "ID", "id-shape") if match else None


def counted(text: str, start: int, before: str) -> Found | None:
    """Find a code that begins with a figure, unless it is a count."""
    found = _shaped(text, start)
    is_count = found is not None and found.end - start == _COUNT_FIGURES
    return None if is_count and _COUNTED.search(before) else found


def dotted(text: str, start: int, done: int) -> Found | None:
    """Find letters, a dot or stroke, and figures (DX.21.004561, WB/813/58)."""
    before = _LETTERS_DOT.search(text[max(done, start - 8) : start])
    match = _DOTTED.match(text, start - len(before.group())) if before else None
    return Found(match.start(), match.end(), "ID", "id-shape") if match else None


def in_field(text: str, start: int, done: int) -> Found | None:
    """Find a code of a looser shape behind a field, a word for number or an acronym."""
    if _ONE_FIGURE.match(text, start):
        return None
    begin, farthest = start, max(done, start - _LONGEST)
    while begin > farthest and (text[begin - 1].isalnum() or text[begin - 1] in "-./_"):
        begin -= 1
    line = text[max(done, begin - _REACH) : begin]
    if line[-1:] not in _EDGES:
        return None
    stem = line.rstrip(_AFTER_WORD)
    at = len(stem)
    while at and (stem[at - 1].isalpha() or stem[at - 1] in "/-"):
        at -= 1
    word, gap = stem[at:], line[len(stem) :]
    folded = word.casefold()
    noun = folded in _NOUNS or folded.endswith(_ENDINGS)
    acronym = word.isupper() and len(word) in _ACRONYM and "(" not in gap
    measured = folded.rsplit("/", 1)[-1] in _MEASURED
    if measured or not (noun or acronym or not _FIELD.isdisjoint(gap)):
        return None
    code = _GROUPS.match(text, begin)
    if code is None:
        code = _CODE.match(text, begin)
        if code is None or not _is_code(code.group(), noun=noun):
            return None
    return Found(begin, code.end(), "ID", "id-field", sure=False)


def _is_code(value: str, *, noun: bool) -> bool:
    """Tell a code from a measurement, a level, a year or a score."""
    figures = sum(map(str.isdigit, value))
    if _DIAGNOSIS.fullmatch(value):
        return False
    if noun:
        return figures > _MIN_FIGURES or (figures > 1 and len(value) >= _MIN_CODE)
    return figures >= _MIN_FIGURES and _ORDINARY.match(value) is None


def _shaped(text: str, start: int) -> Found | None:
    if text[start].isdigit() and text[start + 1 : start + 2] not in _GOES_ON:
        return None
    match = _BARE.match(text, start)
    return Found(start, match.end(), "ID", "id-shape") if match else None
