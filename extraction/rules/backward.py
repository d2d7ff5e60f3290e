"""How far a cue reaches that stands after what it governs."""

from __future__ import annotations

from typing import Final

from extraction.rules.lexicon import Cue, Part
from extraction.rules.scan import GOVERNABLE, Item, Scope, is_finite
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

__all__ = ["backward", "meant"]

_POSSESSIVE: Final = frozenset({"'", "’"})
_STILL: Final = Cue("present", "assertion", "after")
_ADVICE: Final = Cue(None, "ignore", "after")
_EARLIER_WITHIN: Final = 7
_PURPOSE: Final = frozenset({"of", "for", "to"})


def backward(
    items: list[Item], at: int, cue: Cue, tokens: list[Token], grammar: GrammarFile
) -> Scope:
    """Scope of a cue that stands after what it governs.

    It ends at "with", at another cue, at a comma that no "or"/"and" ties to the list, and at a
    finite verb once something was found; a hedge also at a second mention nothing joins to it.
    """
    first = at
    tied = governed = joined = False
    for j in range(at - 1, -1, -1):
        parts = items[j].lexeme.parts
        if parts & (Part.CUE | Part.COMPANION) and not parts & Part.MENTION:
            break
        if governed and is_finite(items[j]):
            break
        if parts & Part.COMMA and governed and not tied and _list_ends(items, j, cue):
            break
        if parts & Part.COMMA and not governed and _named(items, j, at, tokens, grammar):
            if not _last_of_list(items, j):
                break
            tied = True
        if governed and not joined and parts & Part.MENTION and cue.kind != "negation":
            break
        tied = tied or bool(parts & Part.COORDINATOR)
        joined = bool(parts & (Part.COORDINATOR | Part.COMMA)) or (
            joined and not parts & Part.MENTION
        )
        governed = governed or bool(parts & GOVERNABLE)
        first = j
    return Scope(at, cue, first, at, "after")


def _named(
    items: list[Item], comma: int, at: int, tokens: list[Token], grammar: GrammarFile
) -> bool:
    """Whether the cue has a subject of its own, outside the vocabulary, after the comma."""
    between = tokens[items[comma].last : items[at].first]
    return any(token.word.isalpha() and token.word not in grammar.fillers for token in between)


def _last_of_list(items: list[Item], comma: int) -> bool:
    """Whether what follows the comma is the last of a list: "a, b, and blunting have cleared"."""
    following = items[comma + 1].lexeme.parts if comma + 1 < len(items) else 0
    return bool(following & Part.COORDINATOR) and any(
        item.lexeme.parts & Part.COMMA for item in items[:comma]
    )


def _list_ends(items: list[Item], comma: int, cue: Cue) -> bool:
    """Whether an untied comma separates statements.

    Always for a hedge; for a negation when what stands before is asserted: "minimal effusion, …".
    """
    if cue.kind != "negation":
        return True
    for j in range(comma - 1, -1, -1):
        parts = items[j].lexeme.parts
        if parts & (Part.ASSERTING | Part.PARTICIPLE):
            return True
        if parts & Part.COMMA:
            return False
    return False


def meant(items: list[Item], at: int, cue: Cue, tokens: list[Token], grammar: GrammarFile) -> Cue:
    """Return what a cue behind its object means.

    That is an assertion when it denies something about an earlier examination, and nothing when it
    advises one ("CT of the nodule is suggested").
    """
    if items[at].lexeme.parts & Part.RECOMMENDING and _examines(items[at], tokens, grammar):
        return _ADVICE
    if cue.kind != "negation":
        return cue
    last = items[at].last
    for token in tokens[last : last + _EARLIER_WITHIN]:
        if token.word in grammar.earlier:
            return _STILL
        if not token.word.isalnum() and token.word not in _POSSESSIVE:
            break
    return cue


def _examines(item: Item, tokens: list[Token], grammar: GrammarFile) -> bool:
    """Whether an examination of something is the subject: "follow up of the small effusion"."""
    for j in range(item.first - 1, 0, -1):
        if tokens[j].word in _PURPOSE and tokens[j - 1].word in grammar.examinations:
            return True
        if not tokens[j].word.isalnum():
            return False
    return False
