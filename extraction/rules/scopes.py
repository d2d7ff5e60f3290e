"""How far each cue reaches: forward, backward, or to both neighbours.

Scopes are ranges of item positions inside one clause. What ends them is listed with each function;
every rule exists because of a sentence in tests/clinical.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from extraction.rules.lexicon import Cue, Part
from extraction.rules.scan import Item, is_finite
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

__all__ = ["Scope", "scopes"]

_GOVERNABLE: Final = Part.MENTION | Part.PREDICATE | Part.SPLIT_SUBJECT
_SILENT: Final = frozenset({"ignore", "not evaluable"})
_ENDING: Final = frozenset({"negation", "ignore", "not evaluable"})
_STILL: Final = Cue("present", "assertion", "after")
_EARLIER_WITHIN: Final = 5
_TOUCHING: Final = 4
_STANDALONE: Final = frozenset({"unlikely", "very unlikely"})


class Scope(NamedTuple):
    """A cue (the item at `at`) and the item positions ``first <= i < last`` it governs."""

    at: int
    cue: Cue
    first: int
    last: int
    side: str


def scopes(items: list[Item], tokens: list[Token], grammar: GrammarFile) -> list[Scope]:
    """Scopes of every cue in a clause, in the order of the cues."""
    found: list[Scope] = []
    absorbed = -1
    for at, item in enumerate(items):
        if not item.lexeme.parts & Part.CUE or at <= absorbed:
            continue
        for scope in _scopes_of(items, at, tokens, grammar):
            if scope.side == "before":
                absorbed = _absorbed_until(items, scope)
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
    forward = None if ahead is None else _forward(items, at, ahead, tokens, grammar)
    if behind is None:
        return [forward] if forward is not None else []
    backward = _backward(items, at, _today(items, at, behind, tokens, grammar))
    if forward is None:
        return [backward]
    if forward.cue.phrase != backward.cue.phrase:  # "favored over": one thing likely, one not
        return [backward, forward]
    if behind.side == "either":
        ahead_governs = _governs(items, at + 1, forward.last)
        if ahead_governs and not _ends_here(items, at):
            return [forward]
        looks_back = ahead_governs or _may_look_back(items, at, tokens, grammar)
        return [backward] if looks_back else []
    if _governs(items, backward.first, at) or not _governs(items, at + 1, forward.last):
        return [backward]
    return [forward]


def _governs(items: list[Item], first: int, last: int) -> bool:
    return any(item.lexeme.parts & _GOVERNABLE for item in items[first:last])


def _ends_here(items: list[Item], at: int) -> bool:
    """Whether a comma follows at once: "atelectasis is likely, …" looks back."""
    following = items[at + 1] if at + 1 < len(items) else None
    return (
        following is not None
        and bool(following.lexeme.parts & Part.COMMA)
        and following.first == items[at].last
        and _governs(items, 0, at)
    )


def _may_look_back(items: list[Item], at: int, tokens: list[Token], grammar: GrammarFile) -> bool:
    """Whether a cue without an object in the vocabulary speaks of what stands before it.

    "An effusion is likely" does; "an effusion, likely physiologic" and "likely related to
    hypoventilation" speak of something else.
    """
    item = items[at]
    if tokens[item.last - 1].word in grammar.transitive:
        return False
    if item.last >= len(tokens):
        return True
    following = tokens[item.last].word
    return not following[0].isalnum() or following in grammar.adjuncts


def _today(items: list[Item], at: int, cue: Cue, tokens: list[Token], grammar: GrammarFile) -> Cue:
    """Return the cue, or an assertion when it denies something about an earlier examination."""
    if cue.kind != "negation":
        return cue
    last = items[at].last
    for token in tokens[last : last + _EARLIER_WITHIN]:
        if token.word in grammar.earlier:
            return _STILL
        if not token.word.isalnum():
            break
    return cue


def _forward(
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
        if parts & Part.CUE and _cue_ends(items, j, cue, tokens, grammar, governed=governed):
            return Scope(at, cue, at + 1, j, "before")
        if governed and _opens_anew(items, j, cue):
            return Scope(at, cue, at + 1, j, "before")
        governed = governed or bool(parts & _GOVERNABLE)
    return Scope(at, cue, at + 1, len(items), "before")


def _joined(items: list[Item], j: int) -> bool:
    return bool(items[j - 1].lexeme.parts & Part.OR)


def _missed(items: list[Item], at: int, comma: int, cue: Cue) -> bool:
    """Whether a hedge already had its object, outside the vocabulary ("consistent with …, …")."""
    if cue.kind != "hedge" or cue.phrase == "versus" or items[comma].first == items[at].last:
        return False
    joined = False
    for item in items[comma + 1 :]:
        parts = item.lexeme.parts
        if parts & Part.MENTION and joined:
            return False
        if parts & Part.CUE:
            break
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
            or other.kind in _ENDING
            or other.phrase in _STANDALONE
            or items[j].first - items[j - 1].last > _TOUCHING
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


def _absorbed_until(items: list[Item], scope: Scope) -> int:
    """Position of the last cue swallowed by a touching hedge before it ("likely represents")."""
    last = scope.at
    if scope.cue.kind == "negation":
        return last
    for j in range(scope.at + 1, scope.last):
        parts = items[j].lexeme.parts
        if parts & (_GOVERNABLE | Part.COMMA):
            break
        if parts & Part.CUE and any(c.side in {"before", "either"} for c in items[j].lexeme.cues):
            last = j
    return last


def _backward(items: list[Item], at: int, cue: Cue) -> Scope:
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
        if governed and not joined and parts & Part.MENTION and cue.kind != "negation":
            break
        tied = tied or bool(parts & Part.COORDINATOR)
        joined = bool(parts & (Part.COORDINATOR | Part.COMMA)) or (
            joined and not parts & Part.MENTION
        )
        governed = governed or bool(parts & _GOVERNABLE)
        first = j
    return Scope(at, cue, first, at, "after")


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
