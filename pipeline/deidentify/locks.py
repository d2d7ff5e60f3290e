"""Which certainty phrases are locked, and the proof that all of them are still there.

Every phrase is locked, so that no rule can take it, with one exception: a single letter (the V of
``Dr. V. Young``, which elsewhere is *versus*) and a capitalised word behind another capitalised
word (``Mount Hope Clinic``) stay open to rules, for there they may be a name. An open phrase that
no rule took is expected in the result like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pipeline.deidentify.result import Removed
from pipeline.deidentify.rules.places import KINDS

__all__ = ["firm", "kept", "words"]

Span = tuple[int, int]
_INITIALS: Final = re.compile(r"(?:[A-Za-z]\.?[ ]?){1,2}")


def firm(text: str, phrases: Sequence[Span]) -> list[Span]:
    """Give the phrases that no rule may take."""
    return [span for span in phrases if not _may_be_name(text, *span)]


def kept(text: str, phrases: Sequence[Span], removed: Sequence[Removed]) -> list[str]:
    """Give the words of the phrases that must stand in the result, in order."""
    spans = [
        (start, end)
        for start, end in phrases
        if not (_may_be_name(text, start, end) and _is_inside(start, end, removed))
    ]
    return words(text, spans)


def words(text: str, spans: Sequence[Span]) -> list[str]:
    """Give the words of spans."""
    return [text[start:end] for start, end in spans]


def _may_be_name(text: str, start: int, end: int) -> bool:
    word = text[start:end]
    if _INITIALS.fullmatch(word):
        return True
    if not word[0].isupper() or not word.isalpha():
        return False
    if word.isupper():
        return word.casefold() in KINDS
    before = text[max(0, start - 24) : start]
    return before.endswith(" ") and " ".join(before.split()[-1:]).istitle()


def _is_inside(start: int, end: int, removed: Sequence[Removed]) -> bool:
    return any(each.start <= start and end <= each.end for each in removed)
