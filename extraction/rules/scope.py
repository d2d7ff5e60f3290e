"""A scope: the items of a clause that one cue governs."""

from __future__ import annotations

from typing import Final, NamedTuple

from extraction.rules.lexicon import Cue, Part
from extraction.rules.scan import Item

__all__ = ["GOVERNABLE", "Scope", "governs"]

GOVERNABLE: Final = Part.MENTION | Part.PREDICATE | Part.SPLIT_SUBJECT
"""What a cue can speak of."""


class Scope(NamedTuple):
    """A cue (the item at `at`) and the item positions ``first <= i < last`` it governs."""

    at: int
    cue: Cue
    first: int
    last: int
    side: str


def governs(items: list[Item], first: int, last: int) -> bool:
    """Tell whether a cue has anything to speak of between two positions."""
    return any(item.lexeme.parts & GOVERNABLE for item in items[first:last])
