"""What is said of certainty in words that no cue knows is not read as certain.

A finding is plainly there, or plainly not, only where nothing beside it doubts, judges or prefers.
Where a word of `doubting` (grammar.toml) stands there that no cue, advice, history or question
accounts for ("pneumonia is where I would place my vote"), nobody can tell which certainty was
meant: the statement is left unmapped with those words, never guessed. It is looked for in the
finding's own stretch, between commas, contrasts and what opens another statement, and in a stretch
beside it that names nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from extraction.rules.decide import Decision
from extraction.rules.lexicon import DOUBTING, Cue, Part, Root
from extraction.rules.scan import Item, lexemes
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

_UNKNOWN: Final = Cue(None, "hedge", "before")
_PARTING: Final = Part.COMMA | Part.BOUNDARY | Part.COLON | Part.OPENING | Part.CLOSING
_BARE: Final = frozenset({"present", "absent"})
_JOINS, _ASIDE = "and", frozenset({",", "-", "("})


def guarded(
    decisions: Sequence[Decision], items: Sequence[Item], tokens: list[Token], root: Root,
    grammar: GrammarFile,
) -> list[Decision]:  # fmt: skip
    """Leave unmapped what would be read as certain beside a doubt that nothing accounts for."""
    words = [token.word for token in tokens]
    if root[DOUBTING][0].isdisjoint(words) or not any(map(_is_bare, decisions)):
        return [*decisions]
    told, stretches = [*decisions], _stretches(items, words, grammar)
    for first, last in _doubts(items, tokens, words, root, grammar):
        for at in _beside(decisions, stretches, words, first, grammar):
            told[at] = decisions[at]._replace(
                cue=_UNKNOWN, cue_first=first, cue_last=last, rule="in words unknown"
            )
    return told


def _is_bare(said: Decision) -> bool:
    return said.states and said.cue.phrase in _BARE and not said.mention.base


def _doubts(
    items: Iterable[Item], tokens: list[Token], words: Sequence[str], root: Root,
    grammar: GrammarFile,
) -> list[tuple[int, int]]:  # fmt: skip
    """Give the token ranges of doubting words that nothing accounts for.

    Helping words that touch a cue are its own ("I would" of "I would favor").
    """
    known = (*items, *lexemes(tokens, root))
    over = {k for item in known for k in range(item.first, item.last)}
    for item in items:
        at = item.first - 1 if item.lexeme.parts & (Part.CUE | Part.RECOMMENDING) else -1
        while at >= 0 and words[at] in grammar.helping:
            over.add(at)
            at -= 1
    return [
        (first, last)
        for first, last, lexeme in lexemes(tokens, root[DOUBTING][1])
        if lexeme.parts and over.isdisjoint(range(first, last))
    ]


def _stretches(
    items: Iterable[Item], words: Sequence[str], grammar: GrammarFile
) -> list[tuple[int, int]]:
    """Give the stretches of a sentence between its marks and what opens another statement."""
    cuts = {item.first for item in items if item.lexeme.parts & _PARTING}
    cuts |= {
        k
        for k, (word, after) in enumerate(pairwise(words))
        if word == _JOINS and after in grammar.helping
    }
    return [*pairwise([0, *sorted(cuts), len(words)])]


def _beside(
    decisions: Sequence[Decision], stretches: list[tuple[int, int]], words: Sequence[str],
    doubt: int, grammar: GrammarFile,
) -> list[int]:  # fmt: skip
    """Give which findings a doubt at a token may be of.

    Those of its stretch, and if it names none those that a comma parts from it. What is there to
    be seen is doubted only where nothing else is named, and nothing parts it.
    """
    own = next(k for k, (_, last) in enumerate(stretches) if doubt < last)
    within = _within(decisions, *stretches[own])
    parted = not within and own > 0 and words[stretches[own][0]] in _ASIDE
    within = _within(decisions, *stretches[own - 1]) if parted else within
    concluded = [k for k in within if decisions[k].mention.pathology not in grammar.things]
    meant = concluded if concluded or parted else within
    return [k for k in meant if _is_bare(decisions[k])]


def _within(decisions: Sequence[Decision], first: int, last: int) -> list[int]:
    return [k for k, said in enumerate(decisions) if first <= said.mention.first < last]
