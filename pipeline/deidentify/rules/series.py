"""Where a name begins behind its cue, and the names joined to it (Drs. Doe, Roe and Poe)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Word
from pipeline.names.grammar import UPPER, name_end, reads_as_name
from pipeline.names.lexicon import Lexicon, unaccented

__all__ = [
    "ATTESTED", "NEXT_WORD", "PLURAL", "SPACE", "START", "TITLE", "following", "is_listed",
    "series", "unless_words",
]  # fmt: skip

TITLE: Final = r"(?:Drs?|DRS?|Doctor|DOCTOR|Prof|Professor|Mr|MR|Mrs|MRS|Ms|MS|Miss|Nurse|NURSE)"
START: Final = (
    rf"(?:\((?:Mrs?|Ms|Miss|Smt)\.?\)[ \t])?(?:{TITLE}(?:\.[ \t]{{0,2}}|[ \t]{{1,2}}))?"
    rf"(?=[{UPPER}]|(?:van|von|de|del|di|da|la"
    rf"|al|el|bin|ter|ten|der|den|dos|du|le)\b)"
)
SPACE: Final = re.compile(rf"[ \t]{{1,3}}(?:\n[ \t]{{0,4}})?{START}")
ATTESTED: Final = re.compile(
    r"[, \t]{1,3}(?:[A-Z][\w.]{0,9}[, \t]{1,3}){0,4}(?:have|has|was|am|attest|certify"
    r"|personally|agree|reviewed"
    r"|the|did|performed|interpreted|supervised|attending|staff|REVIEWED|HAS|ATTENDING|HAVE|WAS|AM|ATTEST|PERSONALLY|AGREE|CERTIFY)\b"
)
"""How a sentence of attestation goes on behind its name."""
NEXT_WORD: Final = re.compile(r"[ \t]{1,3}([A-Za-z]{3,20})")
_AND: Final = re.compile(
    rf"(?:,?[ \t]?(?:MD|M\.D\.|DO|D\.O\.|NP|PA|PA-C|RN)\b(?=[ \t]?;))?"
    rf"(?:[ \t]?[,;][ \t]{{0,2}}(?:(?:and|AND)[ \t]|&[ \t]?)?|[ \t](?:and|AND)[ \t]"
    rf"|[ \t]?[&/][ \t]?"
    rf"|\n[ \t]{{2,8}}){START}"
)


def series(
    text: str, start: int, lexicon: Lexicon, rule: str, *, comma: bool = False, many: bool = False
) -> Iterator[Found]:
    """Follow one name and those joined to it (Drs. Smith, Jones and Lee)."""
    end = name_end(text, start, lexicon, comma=comma)
    if end > start and not _names_a_thing(text, start, end, lexicon):
        yield Found(start, end, "NAME", rule)
        yield from following(text, end, lexicon, rule, many=many)


def unless_words(
    text: str, cue: Word, start: int, lexicon: Lexicon, rule: str, *, comma: bool = False
) -> Iterator[Found]:
    """Follow a name behind a weak cue; in capitals, only if its words are not ordinary ones."""
    if text[cue.start : cue.end].isupper():
        end = name_end(text, start, lexicon, comma=comma)
        if not reads_as_name(text, start, end, lexicon):
            return
    many = cue.folded in PLURAL
    yield from series(text, start, lexicon, rule, comma=comma, many=many)


def _names_a_thing(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """Tell whether an eponym stands before its noun (per Fleischner guidelines) or is a brand."""
    name, noun = text[start:end].casefold(), NEXT_WORD.match(text, end)
    return (" " in name and name in lexicon.eponyms) or (
        noun is not None
        and name in lexicon.eponyms
        and lexicon.is_eponym_noun(noun.group(1).casefold())
    )


def following(
    text: str, end: int, lexicon: Lexicon, rule: str, *, comma: bool = False, many: bool = False
) -> Iterator[Found]:
    """Follow the names joined to one; by a comma, without a plural, only what is known as one."""
    for _ in range(4):
        match = _AND.match(text, end)
        stop = name_end(text, match.end(), lexicon, comma=comma) if match else 0
        if match is None or stop == match.end():
            return
        if text[stop : stop + 1] == ":":
            return
        weak = text[match.end() : stop].isupper() or ";" in match.group()
        if weak and not reads_as_name(text, match.end(), stop, lexicon):
            return
        mark = match.group().strip()
        name = text[match.end() : stop]
        signs = mark == "/" and name.isupper() and text[stop : stop + 1] in ("", "\n")
        if mark in (",", "/") and not (many or signs or is_listed(name, lexicon)):
            return
        yield Found(match.end(), stop, "NAME", rule)
        end = stop


def is_listed(name: str, lexicon: Lexicon) -> bool:
    """Tell whether the first word that a comma or a stroke joins to a name can be one itself."""
    first = unaccented(name.split()[0].split("-")[0]).replace("'", "").strip(".")
    if len(first) < _MIN_LISTED or lexicon.is_report_word(first) or first in lexicon.eponyms:
        return len(first) == 1
    shouted = name.isupper() and len(first) <= _ACRONYM
    return first in lexicon.all_names or (not shouted and lexicon.is_stranger(first))


_MIN_LISTED: Final = 2
_ACRONYM: Final = 4

PLURAL: Final = frozenset({"drs", "doctors", "messrs"})
