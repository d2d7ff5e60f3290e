"""Which scopes the cues of a clause have: forward, backward, or to both neighbours.

Scopes are ranges of item positions inside one clause; every rule exists because of a sentence in
tests/clinical.
"""

from __future__ import annotations

from typing import Final

from extraction.rules.backward import backward, meant
from extraction.rules.forward import absorbed_until, forward
from extraction.rules.lexicon import Cue, Part
from extraction.rules.scan import Item
from extraction.rules.scope import Scope, governs
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

__all__ = ["Scope", "scopes"]


_RELATING: Final = frozenset({"with", "for", "of", "to"})


def scopes(items: list[Item], tokens: list[Token], grammar: GrammarFile) -> list[Scope]:
    """Scopes of every cue in a clause, in the order of the cues."""
    found: list[Scope] = []
    absorbed = -1
    for at, item in enumerate(items):
        if not item.lexeme.parts & Part.CUE or at <= absorbed:
            continue
        if not _weighs(items, at, tokens, grammar):
            continue
        for scope in _scopes_of(items, at, tokens, grammar):
            if scope.side == "before":
                absorbed = absorbed_until(items, scope)
            found.append(scope)
    return found


def _scopes_of(
    items: list[Item], at: int, tokens: list[Token], grammar: GrammarFile
) -> list[Scope]:
    cues = {cue.side: cue for cue in items[at].lexeme.cues}
    if "around" in cues:
        return [Scope(at, cues["around"], at, at + 1, "around")]
    ahead = cues.get("before") or cues.get("either")
    behind = cues.get("after") or cues.get("either")
    reach = None if ahead is None else forward(items, at, ahead, tokens, grammar)
    if behind is None:
        return [reach] if reach is not None else []
    back = backward(items, at, meant(items, at, behind, tokens, grammar), tokens, grammar)
    if reach is None:
        return [_inverted(items, at, behind, tokens, grammar) or back]
    if _opens_word(items[at], tokens):
        return [reach]
    if _stands_free(items[at], tokens) and (
        governs(items, at + 1, reach.last) or items[at - 1].lexeme.parts & Part.COMMA
    ):
        return [reach]
    if reach.cue.phrase != back.cue.phrase:  # "favored over": one thing likely, one not
        return [back, reach]
    found = governs(items, at + 1, reach.last)
    if behind.side == "either":
        if found and not _ends_here(items, at):
            return [reach]
        return [back] if found or _may_look_back(items, at, tokens, grammar) else []
    return [back] if governs(items, back.first, at) or not found else [reach]


def _weighs(items: list[Item], at: int, tokens: list[Token], grammar: GrammarFile) -> bool:
    """Whether the cue is one at all: "over" only after a word of preference in its clause."""
    item = items[at]
    word = tokens[item.first].word
    awaited = grammar.awaiting.get(word)
    if awaited is not None and item.last - item.first == 1:
        return any(token.word in awaited for token in tokens[item.last : items[-1].last])
    preferring = grammar.weighing.get(word)
    if preferring is None or tokens[item.last - 1].word not in {word, *_RELATING}:
        return True
    return any(token.word in preferring for token in tokens[items[0].first : item.first])


def _inverted(
    items: list[Item], at: int, cue: Cue, tokens: list[Token], grammar: GrammarFile
) -> Scope | None:
    """Scope of a predicate that opens its clause: "not excluded is a small effusion"."""
    following = items[at + 1] if at + 1 < len(items) else None
    if following is None or following.first > items[at].last or governs(items, 0, at):
        return None
    if not following.lexeme.parts & Part.VERB:
        return None
    reach = forward(items, at, cue, tokens, grammar)
    return reach if governs(items, at + 1, reach.last) else None


def _stands_free(item: Item, tokens: list[Token]) -> bool:
    """Whether a question mark stands between two words: "opacities ? infective"."""
    first = item.first
    return (
        tokens[first].word == "?"
        and 0 < first < len(tokens) - 1
        and tokens[first - 1].end < tokens[first].start
        and tokens[first + 1].word.isalnum()
    )


def _opens_word(item: Item, tokens: list[Token]) -> bool:
    """Whether a question mark clings to the word behind it: "nodule, ?granuloma"."""
    first = item.first
    if tokens[first].word != "?" or first + 1 >= len(tokens):
        return False
    before = tokens[first - 1].end if first else -1
    return before < tokens[first].start and tokens[first + 1].start == tokens[first].end


def _ends_here(items: list[Item], at: int) -> bool:
    """Whether a comma follows at once: "atelectasis is likely, …" looks back."""
    following = items[at + 1] if at + 1 < len(items) else None
    return (
        following is not None
        and bool(following.lexeme.parts & Part.COMMA)
        and following.first == items[at].last
        and governs(items, 0, at)
    )


def _may_look_back(items: list[Item], at: int, tokens: list[Token], grammar: GrammarFile) -> bool:
    """Whether a cue without an object in the vocabulary speaks of what stands before it.

    "An effusion is likely" does; "an effusion, likely physiologic" and "likely related to
    hypoventilation" speak of something else.
    """
    last = items[at].last
    if tokens[last - 1].word in grammar.transitive:
        return False
    while last < len(tokens) and tokens[last].word in grammar.trailing:
        last += 1
    if last >= len(tokens):
        return True
    following = tokens[last].word
    return not following[0].isalnum() or following in grammar.adjuncts
