"""What a clause speaks about: a pathology's name, a subject and predicate, or a split expression.

"Heart size is normal" is a mention of cardiomegaly that carries its own answer (`base` = absent);
"lymph nodes … in pathological size" is one mention spread over the clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from extraction.rules.lexicon import Part
from extraction.rules.scan import Item, is_finite
from extraction.rules.tokens import Token
from extraction.vocabulary import Vocabulary

__all__ = ["Mention", "MentionFinder"]

_NEAR: Final = 3


class Mention(NamedTuple):
    """One pathology spoken about.

    `at` is the item that carries it for the scopes; `first` and `last` are tokens; `base` is the
    phrase the words themselves carry ("" for most), `cue_first`/`cue_last` the tokens saying so.
    """

    pathology: str
    at: int
    first: int
    last: int
    base: str = ""
    cue_first: int = 0
    cue_last: int = 0


class MentionFinder:
    """Finds the mentions of a clause."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._attributes = [entry.pathology for entry in vocabulary.grammar.attribute]
        self._limiting = vocabulary.grammar.limiting
        self._elsewhere = {entry.name: frozenset(entry.elsewhere) for entry in vocabulary.entries}

    def find(
        self, items: Sequence[Item], sentence: Sequence[Item], tokens: Sequence[Token]
    ) -> list[Mention]:
        """Mentions of a clause in order; `sentence` are all items, for the place they speak of."""
        found: list[Mention] = []
        seen = Part(0)
        for at, item in enumerate(items):
            parts = item.lexeme.parts
            seen |= parts
            if parts & Part.MENTION:
                found += [
                    Mention(name, at, item.first, item.last)
                    for name in item.lexeme.pathologies
                    if item.lexeme.placed or not self._is_elsewhere(name, items, sentence)
                ]
        if seen & Part.SUBJECT and seen & Part.PREDICATE:
            found += self._attributed(items, tokens)
        if seen & Part.SPLIT_SUBJECT and seen & Part.SPLIT_PROPERTY:
            found += self._split(items, tokens)
        return sorted(found, key=lambda mention: mention.first)

    def _is_elsewhere(self, name: str, clause: Sequence[Item], sentence: Sequence[Item]) -> bool:
        groups = self._elsewhere[name]
        if not groups:
            return False
        for items in (clause, sentence):
            elsewhere = lung = False
            for item in items:
                parts = item.lexeme.parts
                lung = lung or bool(parts & Part.LUNG) or item.lexeme.placed
                if parts & Part.ELSEWHERE:
                    elsewhere = elsewhere or not groups.isdisjoint(item.lexeme.groups)
            if elsewhere or lung:
                return elsewhere and not lung
        return False

    def _attributed(self, items: Sequence[Item], tokens: Sequence[Token]) -> list[Mention]:
        found = []
        used: set[int] = set()
        for at, item in enumerate(items):
            for number in item.lexeme.subjects:
                predicate = _predicate(items, at, number, used, tokens)
                if predicate is None:
                    continue
                used.add(predicate)
                said = items[predicate]
                absent = number in said.lexeme.absent
                if absent and _denied(items, predicate):
                    continue
                found.append(
                    Mention(
                        self._attributes[number],
                        predicate,
                        min(item.first, said.first),
                        max(item.last, said.last),
                        base="absent" if absent else "",
                        cue_first=said.first,
                        cue_last=said.last,
                    )
                )
        return found

    def _split(self, items: Sequence[Item], tokens: Sequence[Token]) -> list[Mention]:
        found = []
        for at, item in enumerate(items):
            if not item.lexeme.parts & Part.SPLIT_SUBJECT:
                continue
            for j in range(at + 1, len(items)):
                other = items[j]
                if other.lexeme.parts & Part.SPLIT_SUBJECT:
                    break
                if not other.lexeme.parts & Part.SPLIT_PROPERTY:
                    continue
                for name in item.lexeme.splits:
                    if name in other.lexeme.splits:
                        found.append(self._spread(name, at, item, other, tokens))
                break
        return found

    def _spread(
        self, name: str, at: int, item: Item, other: Item, tokens: Sequence[Token]
    ) -> Mention:
        for position in range(item.last, other.first):
            if tokens[position].word in self._limiting:
                return Mention(name, at, item.first, other.last, "absent", position, other.last)
        return Mention(name, at, item.first, other.last)


def _says(item: Item, number: int) -> bool:
    return number in item.lexeme.absent or number in item.lexeme.present


def _predicate(
    items: Sequence[Item], at: int, number: int, used: set[int], tokens: Sequence[Token]
) -> int | None:
    """Item that says something of the subject at `at`: just before it, else the first after it."""
    subject = items[at]
    for j in range(at - 1, -1, -1):
        if subject.first - items[j].last > _NEAR or is_finite(items[j]):
            break
        if _says(items[j], number):
            return None if j in used and not items[j].lexeme.absent else j
        if items[j].lexeme.parts & (Part.COMMA | Part.SUBJECT):
            break
    verb = False
    comma = -1
    for j in range(at + 1, len(items)):
        item = items[j]
        verb = verb or is_finite(item)
        if item.lexeme.parts & Part.COMMA:
            comma, verb = j, False
        if number in item.lexeme.absent:
            return j
        if number in item.lexeme.present:
            closes = j + 1 == len(items) or items[j + 1].lexeme.parts & (
                Part.COMMA | Part.COORDINATOR
            )
            loose = tokens[item.last].word.isalpha() if item.last < len(tokens) else False
            return j if comma < 0 or verb or (closes and not loose) else None
        if number in item.lexeme.subjects and verb:
            return None
    return None


def _denied(items: Sequence[Item], at: int) -> bool:
    """Whether "not" stands right before the predicate."""
    if at == 0:
        return False
    before = items[at - 1]
    return items[at].first - before.last <= 1 and any(
        cue.kind == "negation" for cue in before.lexeme.cues
    )
