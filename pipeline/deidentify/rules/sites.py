"""Hospitals by what staff call them: at Duke · from MGH · site UCLA · Dr. Doe (Mercy).

Such a name is a word, a person or a method as well (CHOP, Stanford type A), so the sentence must
put a place there. Names on the list (`words/sites.txt`) need a word of place, a bracket behind a
doctor or the department before them; others only stand behind *at*, and no word of a report may
be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_uppercase
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word, Words
from pipeline.names.grammar import NAME_WORD, UPPER
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["RULES", "find"]

_PLACED: Final = re.compile(
    r"(?:\b(?:at|from|to|via|under|site:?|since|versus|by|@)[ ](?:the[ ])?"
    r"|\b(?:reported|read)[ ]for[ ]"
    r"|\bcent(?:er|re)[ ]of[ ]|\bon[ ]the[ ]|\d[ ]\(|\bexternally[ ]\(|\belsewhere[ ]\("
    r"|\bradiology,?[ ]|\b(?:MD|RN|NP|DO),[ ])$",
    re.IGNORECASE,
)
_BEHIND_DOCTOR: Final = re.compile(
    rf"\b(?:[Dd]rs?|DR|[Pp]rof)\.?[ ](?:[{UPPER}][^\s()]*[ ]){{1,3}}\($"
)
_HEADS: Final = re.compile(r"(?:\d[ ]|^[ ]{0,4})$", re.MULTILINE)
_ENDS: Final = re.compile(r"[ ]{0,4}(?:\n|\Z)")
_GOES_ON: Final = re.compile(
    r"(?=[.,;:)/\n]|\Z|[ ][(\d]"
    r"|[ ](?:on|in|for|and|with|who|where|by|today|CT|CXR|ED|MRI|dated|portable|film|system"
    r"|ON|IN|FOR|MARCH|[A-Z][a-z]{2}[ ]\d)\b)"
)
_AT: Final = re.compile(
    rf"[ ](?:the[ ])?({NAME_WORD}(?:['’]s)?(?:[ ]{NAME_WORD}(?:['’]s)?){{0,2}})"
)
_REACH: Final = 40
_MOST: Final = 3
_UNITS: Final = frozenset(
    {"carina", "baseline", "level", "rest", "stage", "series", "image", "grade", "levels", "apex"}
    | {"cardiology", "oncology", "radiology", "pulmonology", "surgery", "neurology", "clinic"}
    | {"triage", "dialysis", "endoscopy", "bronchoscopy", "admission", "presentation", "discharge"}
    | {"home", "work", "bedside", "least", "most", "night", "risk", "birth", "autopsy"}
    | {"thoracotomy"}
)
"""What else has a capital behind "at" in the headings of some templates."""


def find(text: str, found_words: Words, lexicon: Lexicon) -> Iterator[Found]:
    """Find the listed names where the sentence puts a place."""
    for at in found_words.capitals_among(lexicon.site_starts):
        start, end = found_words.span(at)
        end = _listed_end(found_words, at, text, lexicon)
        if end and _is_place(text, start, end):
            yield Found(start, end, "HOSPITAL", "hospital-site")


def _listed_end(found_words: Words, at: int, text: str, lexicon: Lexicon) -> int:
    """Give the end of the longest listed name that begins here; 0 if there is none."""
    start = found_words.start(at)
    for last in range(min(at + _MOST, len(found_words)) - 1, at - 1, -1):
        end = found_words.span(last)[1]
        if text[start:end].casefold().replace("’", "'") in lexicon.sites:
            return end
        if text[start : end + 1].casefold() in lexicon.sites:
            return end + 1
    return 0


def _is_place(text: str, start: int, end: int) -> bool:
    if text[start - 1 : start].isalnum() or _GOES_ON.match(text, end) is None:
        return False
    if _PLACED.search(text, max(0, start - _REACH), start):
        return True
    if text[start - 1 : start] == "(" and text[end : end + 1] in (")", ","):
        return _BEHIND_DOCTOR.search(text, max(0, start - _REACH), start) is not None
    shouted = text[start:end].isupper() and end - start > _MOST - 1
    return (
        shouted
        and _ENDS.match(text, end) is not None
        and _HEADS.search(text, max(0, start - _REACH), start) is not None
    )


def _at(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the place in "told of a nodule at Overlake in May"."""
    match = _AT.match(text, word.end)
    if match is None or match.group(1).isupper() or text.isupper():
        return
    first = match.group(1).split()[0].casefold()
    taken = first in _NEVER or first in lexicon.not_names or lexicon.opens_sentence(first)
    if taken or lexicon.is_report_word(first) or lexicon.is_eponym_noun(first):
        return
    if _GOES_ON.match(text, match.end()) and not (
        lexicon.is_ordinary(first) and match.group(1).count(" ") == 0
    ):
        yield Found(*match.span(1), "HOSPITAL", "hospital-at", sure=False)


_NEVER: Final = _UNITS | triggers("titles")


def _signed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the place behind the date in "e-signed J. Doe 27/11/2018 17:46 Overlake"."""
    match = _SIGNED.match(text, word.end)
    if match is None:
        return
    first = match.group(1).split()[0]
    folded = first.casefold()
    shouted = first.isupper() and text.isupper()
    known = lexicon.is_report_word(folded) or folded in _ZONES or lexicon.opens_sentence(folded)
    if not known and not (shouted and lexicon.is_ordinary(folded)):
        yield Found(*match.span(1), "HOSPITAL", "hospital-signed", sure=False)


def _headed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the place in the heading "Radiology report - Arrowe Park"."""
    match = _HEADED.match(text, word.end)
    if match and not lexicon.is_report_word(match.group(1).split()[0]):
        yield Found(*match.span(1), "HOSPITAL", "hospital-heading", sure=False)


def _compared(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the place behind the date in "COMPARISON: MR 26JUN2022, Desert Springs."."""
    match = _COMPARED.match(text, word.end)
    words = match.group(1).casefold().split() if match else []
    if match and not any(lexicon.is_report_word(w) or w in _ZONES or w in _UNITS for w in words):
        yield Found(*match.span(1), "HOSPITAL", "hospital-compared", sure=False)


def _images(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the place in "compared with Blue Mesa images"."""
    match = _IMAGES.search(text, max(0, word.start - _REACH), word.start)
    words = match.group(1).casefold().split() if match else []
    if not match or match.group(1).isupper() or any(map(lexicon.is_report_word, words)):
        return
    if not any(map(lexicon.opens_sentence, words)) and (
        len(words) > 1 or not lexicon.is_ordinary(words[0])
    ):
        yield Found(*match.span(1), "HOSPITAL", "hospital-compared", sure=False)


_COMPARED: Final = re.compile(
    rf"[^\n.]{{0,100}}?\d,[ ](?:the[ ])?({NAME_WORD}(?:[ -]{NAME_WORD}){{0,2}})(?=[.;\n]|\Z)"
)
_IMAGES: Final = re.compile(
    rf"\b(?:with|to|versus)[ ](?:the[ ])?({NAME_WORD}(?:[ -]{NAME_WORD}){{0,2}})[ ]\Z"
)
_SIGNED: Final = re.compile(
    r"[^\n]{0,80}?\d(?:[ ]?[AaPp]\.?[Mm]\.?)?,?[ ](?!(?:AM|PM|am|pm)\b)"
    rf"([{UPPER}][\w'’&]+(?:[ ][{UPPER}][\w'’&]+){{0,2}})[ ]*(?:\n|\Z)"
)
_HEADED: Final = re.compile(
    rf"[ ]-[ ](?:the[ ])?([{UPPER}][\w'’&]+(?:[ ][{UPPER}][\w'’&]+){{0,2}})[ ]*(?:\n|\Z)"
)
_ZONES: Final = frozenset(
    {"est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt", "gmt", "utc", "bst", "hrs", "hours"}
    | {"md", "do", "mbbs", "frcr", "status", "page", "final", "am", "pm", "et", "ct", "mt", "pt"}
    | {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
    | {"january", "february", "march", "april", "may", "june", "july", "august", "september"}
    | {"october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep"}
    | {"sept", "oct", "nov", "dec", "est.", "local"}
)
RULES: Final = (
    Rule(
        frozenset({"signed", "verified", "final", "authorised", "authorized", "sgd", "finalized"})
        | {"finalised", "approved"},
        _signed,
    ),
    Rule(frozenset({"report"}), _headed, then="-"),
    Rule(frozenset({"comparison", "comparisons", "previous", "prior", "priors"}), _compared),
    Rule(frozenset({"images", "films", "imaging", "portable"}), _images),
    Rule(frozenset({"at"}), _at, then=ascii_uppercase + "t"),
)
