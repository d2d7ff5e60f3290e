"""How far a cue reaches that stands before what it governs."""

from __future__ import annotations

from typing import Final

from extraction.rules.lexicon import Cue, Part
from extraction.rules.scan import GOVERNABLE, Item, Scope
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

__all__ = ["absorbed_until", "forward"]

_SILENT: Final = frozenset({"ignore", "not evaluable"})
_ENDING: Final = frozenset({"negation", "ignore", "not evaluable"})
_TOUCHING: Final = 2
_STANDALONE: Final = frozenset({"unlikely", "very unlikely"})


def forward(
    items: list[Item], at: int, cue: Cue, tokens: list[Token], grammar: GrammarFile
) -> Scope:
    """Scope of a cue that stands before what it governs.

    It ends at "with"; at a colon or "due to" once something is governed; at the next cue, unless
    a negation meets a hedge ("no … to suggest") or two hedges touch ("may be compatible with");
    and at a comma or "and" that opens a fresh assertion.
    """
    governed = closed = False
    for j in range(at + 1, len(items)):
        parts = items[j].lexeme.parts
        if parts & Part.COMPANION and not _joined(items, j):
            return Scope(at, cue, at + 1, j, "before")
        if governed and parts & (Part.COLON | Part.CAUSE) and not _joined(items, j):
            return Scope(at, cue, at + 1, j, "before")
        if closed and parts & (Part.COMMA | Part.AND) and not _or_later(items, j):
            return Scope(at, cue, at + 1, j, "before")
        if not governed and parts & Part.COMMA and _missed(items, at, j, cue):
            return Scope(at, cue, at + 1, j, "before")
        closed = closed or (governed and bool(parts & (Part.PARTICIPLE | Part.VERB)))
        if parts & Part.CUE and _cue_ends(items, at, j, cue, tokens, grammar, governed=governed):
            return Scope(at, cue, at + 1, j, "before")
        if governed and _opens_anew(items, j, cue):
            return Scope(at, cue, at + 1, j, "before")
        governed = governed or bool(parts & GOVERNABLE)
    return Scope(at, cue, at + 1, len(items), "before")


def _joined(items: list[Item], j: int) -> bool:
    return bool(items[j - 1].lexeme.parts & Part.OR)


def _missed(items: list[Item], at: int, comma: int, cue: Cue) -> bool:
    """Whether a hedge already had its object, outside the vocabulary ("consistent with …, …")."""
    if cue.kind != "hedge" or cue.phrase == "versus" or items[comma].first == items[at].last:
        return False
    joined = listed = False
    for item in items[comma + 1 :]:
        parts = item.lexeme.parts
        if (parts & Part.MENTION and joined) or (parts & Part.OR and listed):
            return False
        if parts & Part.CUE:
            break
        listed = listed or bool(parts & Part.MENTION)
        joined = bool(parts & (Part.OR | Part.AND)) or (joined and not parts & Part.COMMA)
    return True


def _opens_anew(items: list[Item], j: int, cue: Cue) -> bool:
    parts = items[j].lexeme.parts
    before = items[j - 1].lexeme.parts
    if parts & Part.ASSERTING and before & (Part.COMMA | Part.COORDINATOR):
        return not before & Part.OR and not _or_later(items, j)
    return cue.kind in _SILENT and bool(parts & Part.COMMA) and not _or_later(items, j)


def _cue_ends(
    items: list[Item],
    at: int,
    j: int,
    cue: Cue,
    tokens: list[Token],
    grammar: GrammarFile,
    *,
    governed: bool,
) -> bool:
    following = {other.side: other for other in items[j].lexeme.cues}
    other = following.get("before") or following.get("either")
    if other is None or ("after" in following and governed):
        return False
    if cue.kind != "negation":
        return (
            governed
            or cue.phrase is None
            or other.kind in _ENDING
            or other.phrase in _STANDALONE
            or items[j].first - items[at].last > _TOUCHING
        )
    if other.kind != "hedge":
        return True
    before = items[j - 1].lexeme.parts
    separated = bool(before & Part.COMMA) or (
        bool(before & Part.COORDINATOR) and not before & Part.OR
    )
    takes_object = tokens[items[j].last - 1].word in grammar.transitive
    return governed and separated and not takes_object and other.phrase != "suspicious for"


def _or_later(items: list[Item], j: int) -> bool:
    for item in items[j:]:
        if item.lexeme.parts & Part.OR:
            return True
        if item.lexeme.parts & Part.CUE and any(c.side != "after" for c in item.lexeme.cues):
            return False
    return False


def absorbed_until(items: list[Item], scope: Scope) -> int:
    """Position of the last cue swallowed by a touching hedge before it ("likely represents")."""
    last = scope.at
    if scope.cue.kind == "negation" or scope.cue.phrase is None:
        return last
    for j in range(scope.at + 1, scope.last):
        parts = items[j].lexeme.parts
        if parts & (GOVERNABLE | Part.COMMA):
            break
        if parts & Part.CUE and any(c.side in {"before", "either"} for c in items[j].lexeme.cues):
            last = j
    return last
