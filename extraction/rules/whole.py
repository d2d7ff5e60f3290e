"""What a whole sentence makes of its decisions: labels, conditions, and the two sides of a body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from extraction.rules.decide import PLAIN, Decision
from extraction.rules.lexicon import Cue
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

_LABEL_WITHIN: Final = 7
"""A template's label is of so many words at most, its colon among them."""
_SUPPOSED: Final = Cue(None, "ignore", "before")
_ENDS_CONDITION: Final = frozenset({",", ";", "then"})
_TO_SIDE: Final = frozenset({"on", "in", "at", "the", "of", "to"})
_PARTS: Final = frozenset({",", ";", "but", "and", "present", "-", "–"})
_LASTING_WITHIN, _BESIDE = 9, 3


def settled(
    decisions: Sequence[Decision], tokens: Sequence[Token], grammar: GrammarFile
) -> list[Decision]:
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
    sides = _Sides(words, grammar, {said.mention.first for said in decisions})
    return [each for said in kept for each in _by_side(_unsupposed(said, supposed), sides)]


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


class _Sides(NamedTuple):
    """The words of a sentence, and where one of its findings is named."""

    words: Sequence[str]
    grammar: GrammarFile
    named: set[int]

    def other(self, begin: int) -> bool:
        """Whether a side follows at once: "none on the left"."""
        side = next((word for word in self.words[begin:] if word not in _TO_SIDE), "")
        return side in self.grammar.sides

    def lasts(self, begin: int) -> bool:
        """Whether the other side is said to last, and nothing else: "…, but the left persists"."""
        for at in range(begin, min(begin + _LASTING_WITHIN, len(self.words))):
            if at in self.named:
                return False
            beside = self.words[max(at - _BESIDE, begin) : at + _BESIDE + 1]
            if self.words[at] in self.grammar.lasting and not self.grammar.sides.isdisjoint(beside):
                return True
        return False


def _by_side(said: Decision, sides: _Sides) -> Iterator[Decision]:
    """Let what is denied of one side leave the other: "a right effusion, none on the left"."""
    if said.cue.kind == "negation" and said.rule in {"cue after", "carried back"}:
        parted = not _PARTS.isdisjoint(sides.words[said.mention.last : said.cue_last - 1])
        if (parted and sides.other(said.cue_last)) or sides.lasts(said.cue_last):
            first, last = said.mention.first, said.mention.last
            yield Decision(said.mention, PLAIN, first, last, first, last, "said of one side")
    yield said
