"""What a whole sentence makes of its decisions: labels, conditions, and the two sides of a body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from extraction.rules.decide import PLAIN, Decision
from extraction.rules.lexicon import Cue
from extraction.rules.tokens import Token

_LABEL_WITHIN: Final = 7
"""A template's label is of so many words at most, its colon among them."""
_SUPPOSED: Final = Cue(None, "ignore", "before")
_ENDS_CONDITION: Final = frozenset({",", ";", "then"})
_SIDES: Final = frozenset({"left", "right", "contralateral", "opposite", "other"})
_TO_SIDE: Final = frozenset({"on", "in", "at", "the", "of", "to"})
_PARTS: Final = frozenset({",", ";", "but", "and", "present", "-", "–"})
_LASTING: Final = frozenset(
    "persists persist remains remain unchanged stable present larger smaller increased".split()
)
_LASTING_WITHIN, _BESIDE = 9, 3


def settled(decisions: Sequence[Decision], tokens: Sequence[Token]) -> list[Decision]:
    """Give a sentence's decisions as they stand once all of it is read."""
    if not decisions:
        return []
    words = [token.word for token in tokens]
    mark = words.index(":", 0, _LABEL_WITHIN) if ":" in words[:_LABEL_WITHIN] else 0
    valued = {said.mention.pathology for said in decisions if said.mention.first > mark}
    kept = (
        said
        for said in decisions
        if said.mention.last > mark
        or said.mention.pathology not in valued
        or said.rule != "plain assertion"
    )
    supposed = _condition(words)
    named = {said.mention.first for said in decisions}
    return [each for said in kept for each in _by_side(_unsupposed(said, supposed), words, named)]


def _condition(words: Sequence[str]) -> range:
    """Give the tokens of a condition: "if PE is suspected, …"."""
    if "if" not in words:
        return range(0)
    first = words.index("if")
    ends = (k for k in range(first, len(words)) if words[k] in _ENDS_CONDITION)
    return range(first + 1, next(ends, len(words)))


def _unsupposed(said: Decision, condition: range) -> Decision:
    """Let what a condition only supposes state nothing."""
    if said.cue.kind not in {"hedge", "denial"} or said.mention.first not in condition:
        return said
    return said._replace(cue=_SUPPOSED) if said.cue_first in condition else said


def _by_side(said: Decision, words: Sequence[str], named: set[int]) -> Iterator[Decision]:
    """Let what is denied of one side leave the other: "a right effusion, none on the left"."""
    if said.cue.kind == "negation" and said.rule in {"cue after", "carried back"}:
        end = said.cue_last
        parted = not _PARTS.isdisjoint(words[said.mention.last : said.cue_last - 1])
        side = next((word for word in words[end:] if word not in _TO_SIDE), "")
        if (parted and side in _SIDES) or _lasts(words, end, named):
            first, last = said.mention.first, said.mention.last
            yield Decision(said.mention, PLAIN, first, last, first, last, "said of one side")
    yield said


def _lasts(words: Sequence[str], begin: int, named: set[int]) -> bool:
    """Whether the other side is said to last, and nothing else: "…, but the left persists"."""
    for at in range(begin, min(begin + _LASTING_WITHIN, len(words))):
        if at in named:
            return False
        beside = words[max(at - _BESIDE, begin) : at + _BESIDE + 1]
        if words[at] in _LASTING and not _SIDES.isdisjoint(beside):
            return True
    return False
