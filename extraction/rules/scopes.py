"""How far each cue reaches: forward, backward, or to both neighbours.

Scopes are ranges of item positions inside one clause. What ends them is listed with each function;
every rule exists because of a sentence in tests/clinical.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from extraction.rules.lexicon import Cue, Part
from extraction.rules.scan import Item, is_finite

__all__ = ["Scope", "scopes"]

_GOVERNABLE: Final = Part.MENTION | Part.PREDICATE | Part.SPLIT_SUBJECT
_DENYING: Final = frozenset({"negation"})
_SILENT: Final = frozenset({"ignore", "not evaluable"})


class Scope(NamedTuple):
    """A cue (the item at `at`) and the item positions ``first <= i < last`` it governs."""

    at: int
    cue: Cue
    first: int
    last: int
    side: str


def scopes(items: list[Item]) -> list[Scope]:
    """Scopes of every cue in a clause, in the order of the cues."""
    found: list[Scope] = []
    absorbed = -1
    for at, item in enumerate(items):
        if not item.lexeme.parts & Part.CUE or at <= absorbed:
            continue
        scope = _scope(items, at)
        if scope.side == "before":
            absorbed = _absorbed_until(items, scope)
        found.append(scope)
    return found


def _scope(items: list[Item], at: int) -> Scope:
    cues = {cue.side: cue for cue in items[at].lexeme.cues}
    if "around" in cues:
        return Scope(at, cues["around"], at, at + 1, "around")
    ahead = cues.get("before") or cues.get("either")
    behind = cues.get("after") or cues.get("either")
    if ahead is None and behind is not None:
        return _backward(items, at, behind)
    if ahead is not None and behind is not None:
        if _ends_here(items, at) or not _governs(items, at + 1, _forward_end(items, at, ahead)):
            return _backward(items, at, behind)
        if "after" in cues and _governs(items, _backward(items, at, behind).first, at):
            return _backward(items, at, behind)
    if ahead is None:
        msg = "a cue item without a cue"
        raise ValueError(msg)  # the lexicon never builds one
    return Scope(at, ahead, at + 1, _forward_end(items, at, ahead), "before")


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


def _forward_end(items: list[Item], at: int, cue: Cue) -> int:
    """First item a forward cue no longer reaches.

    It ends at "with"; at the next cue, unless a negation meets a hedge ("no … to suggest") or two
    hedges touch ("may be compatible with"); and at a comma or "and" that opens a fresh assertion.
    """
    governed = False
    for j in range(at + 1, len(items)):
        parts = items[j].lexeme.parts
        if parts & Part.COMPANION and not items[j - 1].lexeme.parts & Part.OR:
            return j
        if parts & Part.CUE and _cue_ends(items, at, j, cue, governed=governed):
            return j
        separated = bool(items[j - 1].lexeme.parts & (Part.COMMA | Part.COORDINATOR))
        if governed and separated and parts & Part.ASSERTING and _fresh(items, j):
            return j
        if governed and cue.kind in _SILENT and parts & Part.COMMA and not _or_later(items, j):
            return j
        governed = governed or bool(parts & _GOVERNABLE)
    return len(items)


def _cue_ends(items: list[Item], at: int, j: int, cue: Cue, *, governed: bool) -> bool:
    following = {other.side: other for other in items[j].lexeme.cues}
    other = following.get("before") or following.get("either")
    if other is None:
        return False
    if "after" in following and governed:
        return False
    if cue.kind not in _DENYING:
        return governed or other.kind in _DENYING or items[j].first - items[j - 1].last > 4
    if other.kind != "hedge":
        return True
    before = items[j - 1].lexeme.parts
    separated = bool(before & Part.COMMA) or (
        bool(before & Part.COORDINATOR) and not before & Part.OR
    )
    return governed and separated and other.phrase != "suspicious for"


def _fresh(items: list[Item], j: int) -> bool:
    """Whether the comma or "and" before item `j` opens a new statement, not a list member."""
    before = items[j - 1].lexeme.parts
    return not before & Part.OR and not _or_later(items, j)


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
    if scope.cue.kind in _DENYING:
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
    finite verb once something was found.
    """
    first = at
    tied = governed = False
    for j in range(at - 1, -1, -1):
        parts = items[j].lexeme.parts
        if parts & Part.CUE and not parts & Part.MENTION:
            break
        if parts & Part.COMPANION or (governed and is_finite(items[j])):
            break
        if parts & Part.COORDINATOR:
            tied = True
        if parts & Part.COMMA and governed and not tied and cue.kind not in _DENYING:
            break
        governed = governed or bool(parts & _GOVERNABLE)
        first = j
    return Scope(at, cue, first, at, "after")
