"""Hospitals by what stands before or behind their name: a saint, a verb, a label, a legal form.

`hospitals` knows them by the word of their kind, `sites` by what staff call them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.placenames import (
    JOIN,
    PLACE,
    WORD,
    is_shouted_sentence,
    place_from,
    trimmed,
)
from pipeline.deidentify.rules.words import Rule, Word, line_before
from pipeline.names.grammar import NAME_WORD
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["RULES"]

_LADY: Final = re.compile(
    rf"[ ](?:Lady|LADY)(?:['’][sS]|[ ](?:of|OF)[ ](?:the[ ])?{NAME_WORD})"
    rf"(?:,[ ]{NAME_WORD}(?=[.;)\n]|$))?",
    re.M,
)
_FROM: Final = re.compile(
    r"(?:\b(?:transfer(?:red)?(?:[ \t](?:in|here))?[ \t](?:from|to)|admitted[ \t](?:to|at"
    r"|from)|referred[ \t](?:from|by|to)|outside[ \t](?:hospital|facility|institution),?"
    r"|(?:study|exam|ct|films?|images?|radiographs?|imaging|scan|mri|x-?ray|report"
    r"|hospitali[sz]ation|admission|visit|surgery|patient|presented|sent|arrived|here|direct"
    r"|facility)[ \t](?:from|at)"
    r"|(?:performed|obtained|acquired|seen|treated|hospitali[sz]ed|evaluated|done|imaged"
    r"|presented|discharged|followed|scanned|underwent|read|dictated|interpreted"
    r"|cared[ \t]for|stay)[ \t](?:at|from|to|by)"
    r"|osh[ \t]?[(,:-])[ \t]{0,2}(?:the[ \t])?|^[ \t]{0,6}(?:facility|site|location|hospital"
    r"|institution|campus|performed[ \t]at|exam[ \t]location|organization)[ \t]?:[ \t]{0,4})$",
    re.IGNORECASE,
)
_BEFORE_PLACE: Final = frozenset(
    {"acquired", "admission", "admitted", "arrived", "ct", "dictated", "direct", "discharged"}
    | {"done", "evaluated", "exam", "facility", "film", "films", "followed", "for", "here"}
    | {"hospitalisation", "hospitalised", "hospitalization", "hospitalized", "image", "imaged"}
    | {"images", "imaging", "in", "interpreted", "mri", "obtained", "patient", "performed"}
    | {"presented", "radiograph", "radiographs", "ray", "read", "referred", "report", "scan"}
    | {"scanned", "seen", "sent", "stay", "study", "surgery", "transfer", "transferred"}
    | {"treated", "underwent", "visit", "xray"}
)
"""The last words of what `_FROM` asks for: most prepositions have none of them before."""
_PARTS: Final = re.compile(r"\W+")
_LABEL_END: Final = re.compile(r"[ \t]?[:(][ \t]{0,4}")
_BEFORE_COMPANY: Final = re.compile(
    rf"(?<![\w^.-]){WORD}(?:[ \t](?:{JOIN}[ \t]){{0,2}}{WORD}){{0,5}},?[ \t]$"
)
_BOARD: Final = re.compile(
    r"[ ](?:Tayside|Lothian|Fife|Grampian|Highland|Lanarkshire|Borders|Forth[ ]Valley|Orkney"
    r"|Shetland|Western[ ]Isles|Greater[ ]Glasgow(?:[ ](?:and|&)[ ]Clyde)?|Wales|England|Scotland"
    r"|Ayrshire(?:[ ](?:and|&)[ ]Arran)?|Dumfries(?:[ ](?:and|&)[ ]Galloway)?)\b",
    re.IGNORECASE,
)
_SAINT: Final = re.compile(
    rf"\.?[ \t]{NAME_WORD}(?:['’][sS])?(?![\w'’]|[ \t]valve)"
    r"(?:[ ](?:Home|House|Lodge|Hospice|HOME|HOUSE|LODGE)"
    r"(?:[ ](?:for|FOR)[ ](?:the|THE)[ ][^\W\d_]{3,12})?)?"
)
_AT: Final = re.compile(r"\b(?:at|from|to|by|in)[ \t](?:the[ \t])?$", re.IGNORECASE)


def _company(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find a company by what its law calls it (Big Sky Remote Reads LLC)."""
    match = _BEFORE_COMPANY.search(line_before(text, word.start, 80))
    if match:
        start = trimmed(text, word.start - len(match.group()), word.start, lexicon)
        yield Found(start, word.end, "HOSPITAL", "hospital-company", sure=start < word.start)


def _board(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find a health service by its place (NHS Tayside, NHS Ayrshire and Arran)."""
    match = _BOARD.match(text, word.end)
    if match:
        yield Found(word.start, match.end(), "HOSPITAL", "hospital-board", sure=False)


def _prefixed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find a hospital whose name follows the word for it (Ysbyty Glan Afon, Klinikum Nord)."""
    match = PLACE.match(text, word.end + 1) if text[word.end : word.end + 1] == " " else None
    if match and not is_shouted_sentence(match.group(), lexicon):
        yield Found(word.start, match.end(), "HOSPITAL", "hospital-kind", sure=False)


def _our_lady(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the hospital of Our Lady (of Mercy, of Lourdes)."""
    match = _LADY.match(text, word.end)
    if match:
        yield Found(word.start, match.end(), "HOSPITAL", "hospital-saint", sure=False)


def _preposition(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    following = text[word.end + 1 : word.end + 2]
    if not following.isupper() and text[word.end + 1 : word.end + 5].lower() != "the ":
        return
    start = word.end + (5 if not following.isupper() else 1)
    line = line_before(text, start, 36)
    before = _PARTS.split(line[: word.start - start])[-2:-1]
    if before and before[0].casefold() in _BEFORE_PLACE and _FROM.search(line):
        yield from place_from(text, start, lexicon, "hospital-from")


def _labelled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _LABEL_END.match(text, word.end)
    if match and _FROM.search(line_before(text, match.end(), 40)):
        yield from place_from(text, match.end(), lexicon, "hospital-label")


def _saint(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find a hospital named after a saint, behind a word of place (at Saint Luke's)."""
    match = _SAINT.match(text, word.end) if word.capital else None
    before = line_before(text, word.start, 12)
    owned = match is not None and any(mark in match.group() for mark in ("'s", "’s", "'S"))
    if match and (_AT.search(before) or (owned and before.endswith(("(", ", ")))):
        yield Found(word.start, match.end(), "HOSPITAL", "hospital-saint", sure=False)


_LABELS: Final = frozenset(
    {"facility", "site", "location", "hospital", "institution", "campus", "osh", "organization"}
)


RULES: Final = (
    Rule(frozenset({"from", "at", "to"}), _preposition),
    Rule(frozenset({"saint", "st"}), _saint, capital=True),
    Rule(triggers("kinds_before_a_name"), _prefixed, capital=True),
    Rule(frozenset({"our"}), _our_lady, capital=True),
    Rule(_LABELS, _labelled),
    Rule(frozenset({"llc", "pllc", "llp", "inc", "ltd", "pty"}), _company, capital=True),
    Rule(frozenset({"nhs"}), _board, capital=True),
)
