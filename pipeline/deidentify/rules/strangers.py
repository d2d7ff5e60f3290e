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
from collections.abc import Callable, Iterator
from typing import Final

from pipeline.deidentify.result import Category
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.uncued import is_eponym
from pipeline.deidentify.rules.words import Word, Words
from pipeline.names.grammar import LOWER, UPPER
from pipeline.names.lexicon import Lexicon

__all__ = ["find"]

_LEFT: Final = re.compile(r"(?:^|[:;,|=(\[^/>\n\t]|[.!?][ ]|[ ]{2}|[ ][-–][ ])[ ]{0,12}$")
_RIGHT: Final = re.compile(
    r"(?:['’][sS])?[ ]{0,3}(?:\Z|[:;,|)\]^/<\n\t]|\.(?:\s|\Z)|[ ]{2}|[ ][-–][ ])"
)
_INSIDE: Final = re.compile(rf"(?:[{LOWER}][,;]?|\b[A-Z]{{2,4}}|[{LOWER}][ ]\()[ ]?$")
_TELLING: Final = re.compile(
    r"\b(?:WITH|TO|BY|TOLD|FROM|CALLED|PAGED|INFORMED|VIA|PER|BLEEPED|RANG|ASKED|ATTN|CC|AND)"
    r"\.?[ ]$"
)
_AFTER_TOLD: Final = re.compile(r"[ ](?:AT|ON|WHO|BY|VIA|FROM|IN|AND|\d)")
_INNER: Final = re.compile(
    rf"(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O['’]|D['’])?[{UPPER}][{LOWER}'’]+"
)
_PLACE: Final = re.compile(r"\b(?:[Ii]n|[Nn]ear|lives|resident)[ ]$")
_STREETS: Final = (
    "strasse", "gasse", "straat", "gracht", "platz", "gatan", "vagen", "gade", "veien", "laan",
    "allee", "dstr", "fstr", "gstr", "lstr", "nstr", "rstr", "tstr",
)  # fmt: skip
_KIND: Final = re.compile(
    r"..(?:klinik(?:um)?|spital|krankenhaus|sjukhus(?:et)?|sykehus(?:et)?|ziekenhuis|hospital(?:et)?)$"
    rf"|(?P<street>..(?:{'|'.join(_STREETS)}))$"
)
_HOUSE: Final = re.compile(
    r"\.?[ ]\d{1,4}[a-zA-Z]?(?!\w|[.,]\d)"
    rf"(?:,[ ](?:[A-Z]{{1,2}}-)?(?:\d{{4,5}}|\d{{3}}[ ]\d\d)(?!\w)"
    rf"(?:[ ][{UPPER}][{UPPER}{LOWER}]+){{0,2}})?"
)
_JOINS: Final = (" ", "-", ". ", ".")
_ACRONYM: Final = 4
_REACH: Final = 32
_MAX: Final = 4


def find(
    text: str, found_words: Words, lexicon: Lexicon, is_taken: Callable[[int], bool]
) -> Iterator[Found]:
    """Find the names among the words that are none of a report's and that no rule has taken."""
    done = -1
    for at in found_words.strangers(lexicon.familiar):
        word = found_words.plain[at]
        if at <= done or not found_words.capital[at]:
            continue
        if found_words.is_settled(at, is_taken) and not word.endswith(_STREETS):
            continue
        if not lexicon.is_stranger(word) or _is_acronym(text, found_words[at], lexicon):
            continue
        kind = _KIND.search(word)
        if kind:
            yield _named_by_ending(text, found_words[at], street=kind.lastgroup == "street")
            continue
        first, last = _run(found_words, at, lexicon)
        start, end = found_words[first].start, found_words[last].end
        if word not in lexicon.all_names and text[end : end + 1] == ":":
            continue  # a label that we do not know
        if _is_name(text, start, end) and not is_eponym(text, found_words[last], lexicon):
            done = last
            yield Found(start, end, _category(text, start), "name-stranger", sure=False)


def _named_by_ending(text: str, word: Word, *, street: bool) -> Found:
    """Give the hospital or street that a compound names (Inselspital, Hauptstrasse 12)."""
    if street:
        number = _HOUSE.match(text, word.end)
        return Found(
            word.start, number.end() if number else word.end, "LOCATION", "street", sure=False
        )
    return Found(word.start, word.end, "HOSPITAL", "hospital-kind", sure=False)


def _is_acronym(text: str, word: Word, lexicon: Lexicon) -> bool:
    """Tell whether a few capitals that no name list has are short for something (CRF, MNG)."""
    short = word.end - word.start <= _ACRONYM and text[word.start : word.end].isupper()
    return short and word.folded not in lexicon.surnames and word.folded not in lexicon.unreported


def _run(found_words: Words, at: int, lexicon: Lexicon) -> tuple[int, int]:
    """Follow the names and initials on both sides of a stranger."""
    first = last = at
    while first > 0 and at - first < _MAX and _joins(found_words, first, lexicon, first - 1):
        first -= 1
    while last + 1 < len(found_words) and last - at < _MAX:
        if not _joins(found_words, last + 1, lexicon, last + 1):
            break
        last += 1
    return first, last


def _joins(found_words: Words, right: int, lexicon: Lexicon, new: int) -> bool:
    """Tell whether a word stands directly beside its neighbour and can be part of its name."""
    gap = found_words.gap(right)
    if gap not in _JOINS or not found_words.capital[new]:
        return False
    name = found_words.plain[new]
    if len(name) == 1:
        return "/" not in found_words.gap(new)
    if gap == ". " and len(found_words.plain[right - 1]) > 1:
        return False
    return name not in lexicon.eponym_nouns and (
        lexicon.is_stranger(name)
        or (name in lexicon.names and name not in lexicon.not_names and lexicon.reads_as_name(name))
    )


def _is_name(text: str, start: int, end: int) -> bool:
    """Tell whether nothing but a name explains the capitals here."""
    name = text[start:end]
    before = text[max(0, start - _REACH) : start]
    shouted = name.isupper()
    if not shouted and not all(map(_INNER.fullmatch, re.findall(r"[^\W\d_]{2}[\w'’]*", name))):
        return False
    if _LEFT.search(before) and _RIGHT.match(text, end):
        return True
    if shouted:
        return _TELLING.search(before) is not None and (
            _AFTER_TOLD.match(text, end) is not None or _RIGHT.match(text, end) is not None
        )
    return _INSIDE.search(before) is not None


def _category(text: str, start: int) -> Category:
    return "LOCATION" if _PLACE.search(text, max(0, start - 12), start) else "NAME"
