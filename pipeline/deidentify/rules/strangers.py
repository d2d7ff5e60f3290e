"""Names by the vocabulary turned round: capitalised words that no report would use.

The other rules know names; this one knows words. A **stranger** is a word that neither English nor
medicine has (`Lexicon.is_stranger`), or a name that is a word of English but hardly ever of a
report (Grace, Fox). A stranger's capital is a name's where it stands between two separators, alone
or among other names and initials (Cons: FOX · Precious Pipe⏎ · (Grace, 10 Sept)), and inside a
sentence of small letters (and HCA Blessing aware), there only in mixed case: in capitals it needs a
word of telling before it. An eponym before its noun, an acronym and a device's inner capitals stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.fragments import patterns
from pipeline.deidentify.rules.lists import is_eponym
from pipeline.deidentify.rules.window import Window, Word, Words
from pipeline.deidentify.spans import Found
from pipeline.names.lexicon import Lexicon

__all__ = ["find"]

_P: Final = patterns("strangers")
_STREETS: Final = (
    "strasse", "gasse", "straat", "gracht", "platz", "gatan", "vagen", "gade", "veien", "laan",
    "allee", "dstr", "fstr", "gstr", "lstr", "nstr", "rstr", "tstr",
)  # fmt: skip
_JOINS: Final = (" ", "-", ". ", ".")
_ACRONYM: Final = 4
_REACH: Final = 32
_MAX: Final = 4


def find(window: Window) -> Iterator[Found]:
    """Find the names among the words that are none of a report's and that no rule has taken."""
    text, words, lexicon = window.text, window.words, window.lexicon
    done = -1
    for at in words.strangers(lexicon.familiar):
        word = words.plain[at]
        if at <= done or not words.capital[at]:
            continue
        if words.is_settled(at, window.is_taken) and not word.endswith(_STREETS):
            continue
        if not lexicon.is_stranger(word) or _is_acronym(text, words[at], lexicon):
            continue
        kind = _P["kind"].search(word)
        if kind:
            yield _named_by_ending(text, words[at], street=kind.lastgroup == "street")
            continue
        first, last = _run(words, at, lexicon)
        start, end = words.start(first), words.span(last)[1]
        if word not in lexicon.all_names and text[end : end + 1] == ":":
            continue  # a label that we do not know
        if _is_name(text, start, end) and not is_eponym(text, words[last], lexicon):
            done = last
            place = _P["in_place"].search(text, max(0, start - 12), start)
            yield Found(start, end, "LOCATION" if place else "NAME", "name-stranger", sure=False)


def _named_by_ending(text: str, word: Word, *, street: bool) -> Found:
    """Give the hospital or street that a compound names (Inselspital, Hauptstrasse 12)."""
    if not street:
        return Found(word.start, word.end, "HOSPITAL", "hospital-kind", sure=False)
    number = _P["house"].match(text, word.end)
    return Found(word.start, number.end() if number else word.end, "LOCATION", "street", sure=False)


def _is_acronym(text: str, word: Word, lexicon: Lexicon) -> bool:
    """Tell whether a few capitals that no name list has are short for something (CRF, MNG)."""
    short = word.end - word.start <= _ACRONYM and text[word.start : word.end].isupper()
    return short and word.folded not in lexicon.surnames and word.folded not in lexicon.unreported


def _run(words: Words, at: int, lexicon: Lexicon) -> tuple[int, int]:
    """Follow the names and initials on both sides of a stranger."""
    first = last = at
    while first > 0 and at - first < _MAX and _joins(words, first, lexicon, first - 1):
        first -= 1
    while last + 1 < len(words) and last - at < _MAX:
        if not _joins(words, last + 1, lexicon, last + 1):
            break
        last += 1
    return first, last


def _joins(words: Words, right: int, lexicon: Lexicon, new: int) -> bool:
    """Tell whether a word stands directly beside its neighbour and can be part of its name."""
    gap, name = words.gap(right), words.plain[new]
    if gap not in _JOINS or not words.capital[new]:
        return False
    if len(name) == 1:
        return "/" not in words.gap(new)
    if name in lexicon.eponym_nouns or (gap == ". " and len(words.plain[right - 1]) > 1):
        return False
    named = name in lexicon.names and name not in lexicon.not_names and lexicon.reads_as_name(name)
    return named or lexicon.is_stranger(name)


def _is_name(text: str, start: int, end: int) -> bool:
    """Tell whether nothing but a name explains the capitals here."""
    name = text[start:end]
    before = text[max(0, start - _REACH) : start]
    shouted = name.isupper()
    inner = _P["inner"].fullmatch
    if not shouted and not all(map(inner, re.findall(r"[^\W\d_]{2}[\w'’]*", name))):
        return False
    closes = _P["right"].match(text, end) is not None
    if closes and _P["left"].search(before):
        return True
    if not shouted:
        return _P["inside"].search(before) is not None
    told = _P["telling"].search(before) is not None
    return told and (closes or _P["after_told"].match(text, end) is not None)
