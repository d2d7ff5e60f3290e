"""Names beside an identifier: a listed name that fills the field next to one already found.

Identifiers stand together: in a header, a signature, a message's segment. So a name that is a word
of reports too (SHORT, Wells, April Small) is a name where separators bound it on both sides and a
number, a telephone, a date or another name stands directly beyond one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pipeline.deidentify.rules import families
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Words
from pipeline.names.lexicon import Lexicon

__all__ = ["find"]

_LEFT: Final = re.compile(r"(?:^|(?:[:;,|=(\[^/>\t)\]]|[ ]{2}|[ ][-–])[ ]{0,8})$", re.M)
_RIGHT: Final = re.compile(r"(?:$|[ ]{0,2}(?:[;,|=(\[^/<\t)\]]|[ ]{2}|[ ][-–])[ ]{0,8})", re.M)
_GAPS: Final = frozenset({" ", "-", ", ", ". ", "^"})
_REACH: Final = 12
_MAX: Final = 4


def find(
    text: str, found_words: Words, lexicon: Lexicon, is_taken: Callable[[int], bool]
) -> Iterator[Found]:
    """Find names beside what `is_taken` says was found already."""
    done = -1
    for at in found_words.capitals_among(lexicon.fillers):
        start = found_words.start(at)
        if at <= done or is_taken(start) or not _fills(found_words, at, lexicon):
            continue
        last = at
        while last + 1 < len(found_words) and last - at < _MAX:
            if found_words.gap(last + 1) not in _GAPS:
                break
            if not _fills(found_words, last + 1, lexicon):
                is_given = last == at and found_words.plain[at] in lexicon.given_names
                if is_given and _is_family(text, found_words, last + 1, lexicon):
                    last += 1
                break
            last += 1
        done = last
        end = found_words[last].end
        right = _RIGHT.match(text, end) if end - start >= _MIN else None
        left = _LEFT.search(text, max(0, start - _REACH), start) if right else None
        if left and right and (is_taken(left.start() - 1) or is_taken(right.end())):
            yield Found(start, end, "NAME", "name-neighbour")


def _fills(found_words: Words, at: int, lexicon: Lexicon) -> bool:
    """Tell whether a capitalised word is a listed name or an initial."""
    if not found_words.capital[at]:
        return False
    return len(found_words.plain[at]) == 1 or found_words.plain[at] in lexicon.fillers


def _is_family(text: str, found_words: Words, at: int, lexicon: Lexicon) -> bool:
    """Tell whether a word in small letters but the first may be the family name behind a given."""
    start, end = found_words.span(at)
    shown = text[start:end]
    return (
        found_words.gap(at) == " "
        and shown[:1].isupper()
        and shown[1:].islower()
        and families.may_be_family(found_words.plain[at], lexicon)
    )


_MIN: Final = 3
