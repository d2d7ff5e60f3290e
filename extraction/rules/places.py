"""Where a finding is, when another one names the place: "pneumonia within the collapsed lobe".

A cue speaks of the finding, not of its place. A place is a preposition of `nesting`, words that
qualify, and the mention; with a definite article it is known to be there whatever stands before it,
without one only where another finding does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from extraction.rules.lexicon import Cue, Part
from extraction.rules.scan import Item, Scope
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

__all__ = ["is_place", "without_places"]

_WITHIN: Final = 6
_BREAKS: Final = (
    Part.CUE | Part.COMMA | Part.COORDINATOR | Part.OR | Part.AND | Part.COMPANION | Part.VERB
)
_SOMEWHERE: Final = Part.LUNG | Part.ELSEWHERE
_KINDS: Final = frozenset({"negation", "hedge", "denial"})


def is_place(
    items: list[Item], j: int, cue: Cue, tokens: list[Token], grammar: GrammarFile
) -> bool:
    """Whether the mention at `j` says where the finding is that `cue` speaks of."""
    mention = items[j]
    before = items[j - 1] if j else None
    if before is not None and before.last == mention.first and before.lexeme.parts & _BREAKS:
        return False
    first = _preposition(mention.first, tokens, grammar)
    if first < 0 or (before is not None and before.lexeme.parts & Part.CUE and before.last > first):
        return False
    organ = _organ_between(items, j, first)
    if tokens[first + 1].word in grammar.definite and not organ:
        return True
    return _heads(items, j, first) and not (organ and cue.kind == "negation")


def without_places(
    items: list[Item], scope: Scope, tokens: list[Token], grammar: GrammarFile
) -> Iterator[Scope]:
    """Give a scope in the pieces that its places leave of it."""
    first = scope.first
    if scope.cue.kind in _KINDS and scope.cue.phrase and scope.side != "around":
        for j in range(scope.first, scope.last):
            parts = items[j].lexeme.parts
            if parts & Part.MENTION and is_place(items, j, scope.cue, tokens, grammar):
                yield scope._replace(first=first, last=j)
                first = j + 1
    yield scope if first == scope.first else scope._replace(first=first)


def _preposition(at: int, tokens: list[Token], grammar: GrammarFile) -> int:
    """Token of the preposition whose object starts or ends at `at`; -1 if there is none."""
    article = False
    k = at - 1
    while k >= max(at - _WITHIN, 0):
        word = tokens[k].word
        if word in grammar.nesting:
            return k
        if word == "of" and k and tokens[k - 1].word in grammar.regions:
            k -= 1
            article = False
        elif (
            article or not word.isalpha() or word in grammar.prepositions or word in grammar.finite
        ):
            return -1
        else:
            article = word in grammar.articles or word in grammar.definite
        k -= 1
    return -1


def _organ_between(items: list[Item], j: int, first: int) -> bool:
    """Whether an organ stands between: "in the right lung effusion" may be two statements."""
    for k in range(j - 1, -1, -1):
        if items[k].last <= first:
            return False
        if items[k].lexeme.parts & _SOMEWHERE:
            return True
    return False


def _heads(items: list[Item], j: int, first: int) -> bool:
    """Whether a finding stands before the preposition with nothing that parts them."""
    for k in range(j - 1, -1, -1):
        parts = items[k].lexeme.parts
        if items[k].first >= first:
            continue
        if parts & Part.MENTION:
            return True
        if parts & _BREAKS:
            return False
    return False
