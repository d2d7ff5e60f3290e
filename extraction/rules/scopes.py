"""Which scopes the cues of a clause have: forward, backward, or to both neighbours.

Scopes are ranges of item positions inside one clause; every rule exists because of a sentence in
tests/clinical.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from extraction.rules.lexicon import Cue, Part
from extraction.rules.reach import absorbed_until, backward, forward, meant, without_places
from extraction.rules.scan import Clause, Item, Scope, governs
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

_SHORT: Final = 3
"""Words that may name a cause of no name of ours."""
_RELATING: Final = frozenset({"with", "for", "of", "to", "in", "favor"})
_UNSURE: Final = frozenset({"possibly", "probably", "likely", "most likely", "question of"})
_CHANGE_WITHIN: Final = 4


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
            found += without_places(items, scope, tokens, grammar)
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
    if _opens_word(items[at], tokens) or _weighs_second(items, at):
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
    if _grades_change(item, tokens, grammar):
        return False
    word = tokens[item.first].word
    awaited = grammar.awaiting.get(word)
    if awaited is not None and item.last - item.first == 1:
        return any(token.word in awaited for token in tokens[item.last : items[-1].last])
    preferring = grammar.weighing.get(word)
    if preferring is None:
        return True
    if not {token.word for token in tokens[item.first + 1 : item.last]} <= _RELATING:
        return True
    begin = max(items[0].first - _SHORT, 0)
    return any(token.word in preferring for token in tokens[begin : item.first])


def _grades_change(item: Item, tokens: list[Token], grammar: GrammarFile) -> bool:
    """Whether the cue doubts a change: "perhaps slight worsening of the effusion"."""
    if item.lexeme.cues[0].phrase not in _UNSURE:
        return False
    if item.last - item.first > 1 and tokens[item.last - 1].word in grammar.transitive:
        return False
    behind = [token.word for token in tokens[item.last : item.last + _CHANGE_WITHIN + 1]]
    first = 1 if behind and behind[0].endswith("ly") else 0
    if behind[first : first + 1] and behind[first] in grammar.compared:
        return True
    for word, following in pairwise(behind):
        if word in grammar.changes:
            return following in {"of", "in"}
        if not word.isalpha():
            return False
    return False


def _inverted(
    items: list[Item], at: int, cue: Cue, tokens: list[Token], grammar: GrammarFile
) -> Scope | None:
    """Scope of a predicate that opens its clause: "not excluded is a small effusion"."""
    following = items[at + 1] if at + 1 < len(items) else None
    if following is None or governs(items, 0, at):
        return None
    verb = following.lexeme.parts & Part.VERB and following.first == items[at].last
    if not verb and tokens[items[at].last].word not in grammar.articles:
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


def _weighs_second(items: list[Item], at: int) -> bool:
    """Whether the cue grades the second of two: "edema or, less likely, pneumonia"."""
    j = at - 1
    if j > 0 and items[j].lexeme.parts & Part.COMMA:
        j -= 1
    if j < 0 or not items[j].lexeme.parts & (Part.OR | Part.AND):
        return False
    return items[j + 1].first == items[j].last and governs(items, at + 1, len(items))


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


def alternative_of(items: Sequence[Item], at: int, found: Sequence[Scope]) -> int | None:
    """Item that offers a mention as one of several: "versus", or a bare "or" beside it."""
    around = {scope.at for scope in found if scope.side == "around"}
    for step in (-1, 1):
        j = at + step
        joined = -1
        while 0 <= j < len(items):
            parts = items[j].lexeme.parts
            if parts & Part.MENTION:
                if joined >= 0:
                    return joined
                break
            if j in around:
                return j
            if parts & Part.OR:
                joined = j
                if step > 0 and _graded_after(items, j):
                    return j
            elif parts & (Part.CUE | Part.COMPANION | Part.VERB | Part.COMMA):
                break
            j += step
    return None


def _graded_after(items: Sequence[Item], either: int) -> bool:
    """Whether a graded alternative follows: "or, less likely, pneumonia"."""
    j = either + 1
    if j < len(items) and items[j].lexeme.parts & Part.COMMA:
        j += 1
    touches = j < len(items) and items[j].first == items[j - 1].last
    return touches and any(cue.kind == "hedge" for cue in items[j].lexeme.cues)


def one_of_two(clause: Clause, at: int, tokens: list[Token], grammar: GrammarFile) -> int | None:
    """Item of an "or" in apposition whose other side has no name of ours: "…, infarct or edema"."""
    items = clause.items
    for either, before in ((at - 1, at - 2), (at + 1, at - 1)):
        if not 0 <= either < len(items) or not items[either].lexeme.parts & Part.OR:
            continue
        if before >= 0 and not items[before].lexeme.parts & (Part.COMMA | Part.COLON):
            continue
        if either < at:
            begin, stop = items[before].last if before >= 0 else clause.first, items[either].first
        else:
            begin = items[either].last
            stop = items[either + 1].first if either + 1 < len(items) else len(tokens)
        words = [token.word for token in tokens[begin:stop] if token.word.isalpha()]
        if 0 < len(words) <= _SHORT and not any(word in grammar.vague for word in words):
            return either
    return None
