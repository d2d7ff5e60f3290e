"""What only looks like a cue: "over" of a place, "suspicious" of a nodule, a judgement that yields.

It is taken out of its clause before scopes are drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from extraction.rules.lexicon import Part
from extraction.rules.scan import Clause, Item, governs
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

# So many words may stand between a cue and the word that weighs it, two findings, a change.
_SHORT, _BESIDE, _CHANGE_WITHIN = 5, 6, 4
_UNSURE: Final = frozenset({"possibly", "probably", "likely", "most likely", "question of"})
_QUALITY: Final = Part.ASSERTING | Part.LUNG | Part.ELSEWHERE
# The first between two findings: it is likelier ("atelectasis > infection").
_GREATER, _SUSPICIOUS = ">", "suspicious"


def weighed(clause: Clause) -> Clause:
    """Give a clause in which what only looks like a cue is none ("over the left base")."""
    items = clause.items
    cues = [at for at, item in enumerate(items) if item.lexeme.parts & Part.CUE]
    idle = [at for at in cues if not _weighs(clause, at)]
    idle += [k for k in cues if _goes_unsaid(clause, idle, k)]
    idle += [k for at in cues if at > 1 and _grades_nobody(items, at) for k in (at - 1, at, at + 1)]
    if not idle:
        return clause
    plain = list(items)
    for at in idle:
        lexeme = items[at].lexeme
        said = replace(lexeme, parts=lexeme.parts & ~(Part.CUE | Part.COMMA), cues=())
        plain[at] = items[at]._replace(lexeme=said)
    return clause._replace(items=plain)


def _grades_nobody(items: list[Item], at: int) -> bool:
    """Whether it grades what has no name of ours: "edema and, least likely, lymphoma"."""
    before, after = items[at - 1].lexeme.parts, items[at + 1 : at + 2]
    commas = before & Part.COMMA and after and after[0].lexeme.parts & Part.COMMA
    joins = commas and items[at - 2].lexeme.parts & (Part.AND | Part.OR)
    return bool(joins) and not governs(items, at + 1, len(items))


def _goes_unsaid(clause: Clause, idle: list[int], k: int) -> bool:
    """Whether nothing of a thing went: "none of the nodules has gone"."""
    if clause.tokens[clause.items[k].last - 1].word not in clause.grammar.going:
        return False
    return any(at < k and clause.items[at].lexeme.said in clause.grammar.yielding for at in idle)


def _weighs(clause: Clause, at: int) -> bool:
    """Whether the cue is one at all: "over" only after a word of preference in its clause."""
    items, tokens, grammar = clause.items, clause.tokens, clause.grammar
    item = items[at]
    if _is_predicate(items, at):
        return False
    if _grades_change(items, at, tokens, grammar) or _yields(items, at):
        return False
    word = tokens[item.first].word
    if word in {"n", "y"} and item.lexeme.cues[0].side == "after":  # "PTX N"
        return at > 0 and item.first - items[at - 1].last <= 1 and governs(items, at - 1, at)
    if word == "of" and item.lexeme.cues[0].kind != "hedge":  # "of the two nodules one has gone"
        opens = at == 0 or items[at - 1].lexeme.parts & (Part.COMMA | Part.AND)
        return bool(opens and _qualified(items, at))
    if word in {"vs", "versus", "v"}:
        return not _compares(item, tokens, grammar)
    if word == _GREATER:
        beside = [items[at - 1], items[at + 1]] if 0 < at < len(items) - 1 else []
        near = bool(beside) and beside[1].first - beside[0].last <= _BESIDE
        return near and all(side.lexeme.parts & Part.MENTION for side in beside)
    if tokens[item.last - 1].word == _SUSPICIOUS and item.lexeme.cues[0].kind == "hedge":
        return not _is_of_a_thing(items, at, grammar)
    said = item.lexeme.said
    if said in grammar.awaiting:
        return any(token.word in grammar.awaiting[said] for token in tokens[item.last :])
    named = _qualified(items, at) if said in grammar.yielding else None
    if named and tokens[named.first - 1].word != "of":
        own = bool(named.lexeme.parts & Part.SPLIT_SUBJECT)  # enlarged is what nodes are named for
        return own or not any(t.word in grammar.yielding[said] for t in tokens[named.last :])
    begin = max(items[0].first - _SHORT, 0)
    ahead = tokens[begin : item.first]
    return said not in grammar.weighing or any(t.word in grammar.weighing[said] for t in ahead)


def _yields(items: list[Item], at: int) -> bool:
    """Whether a judgement leaves the grade to a hedge of its own: "In my view, … may be edema"."""
    if not items[at].lexeme.parts & Part.JUDGING:
        return False
    later = next((k for k in range(at + 1, len(items)) if items[k].lexeme.parts & Part.CUE), at)
    grades = later > at and any(cue.kind == "hedge" for cue in items[later].lexeme.cues)
    open_ = items[later].lexeme.finite or not governs(items, at + 1, later)
    return grades and open_ and governs(items, later + 1, len(items))


def _is_predicate(items: list[Item], at: int) -> bool:
    """Whether an assertion is what a subject's own words say: "heart not enlarged, no effusion"."""
    item = items[at]
    if not item.lexeme.parts & Part.PREDICATE or item.lexeme.cues[0].kind != "assertion":
        return False
    ahead = items[max(at - 2, 0) : at]
    return any(i.lexeme.parts & Part.SUBJECT for i in ahead) and not any(
        i.lexeme.parts & Part.COMMA for i in ahead
    )


def _is_of_a_thing(items: list[Item], at: int, grammar: GrammarFile) -> bool:
    """Whether what is suspicious is there to be seen: a "suspicious nodule" is no doubtful one."""
    named = None if items[at].lexeme.finite else _qualified(items, at)
    if named is None:
        named = next((i for i in reversed(items[:at]) if i.lexeme.parts & Part.MENTION), None)
    return named is not None and grammar.things.issuperset(
        [*named.lexeme.pathologies, *named.lexeme.splits]
    )


def _qualified(items: list[Item], at: int) -> Item | None:
    """Give the thing that a quality before it is of, over places and other qualities."""
    item = next((item for item in items[at + 1 :] if item.lexeme.parts & ~_QUALITY), items[at])
    return item if item.lexeme.parts & (Part.MENTION | Part.SPLIT_SUBJECT) else None


def _compares(item: Item, tokens: list[Token], grammar: GrammarFile) -> bool:
    """Whether "vs" only names what is compared with: "unchanged vs 2019", "vs prior"."""
    after = tokens[item.last].word if item.last < len(tokens) else ""
    return not after.isalpha() or after in grammar.earlier


def _grades_change(items: list[Item], at: int, tokens: list[Token], grammar: GrammarFile) -> bool:
    """Whether the cue doubts a change: "perhaps slight worsening of the effusion"."""
    item = items[at]
    if item.lexeme.cues[0].phrase not in _UNSURE:
        return False
    if item.last - item.first > 1 and tokens[item.last - 1].word in grammar.transitive:
        return False
    behind = [token.word for token in tokens[item.last : item.last + _CHANGE_WITHIN + 1]]
    first = bool(behind) and behind[0].endswith("ly")
    if not grammar.compared.isdisjoint(behind[first : first + 1]):
        return True
    ends = (k for k, word in enumerate(behind) if word in grammar.changes or not word.isalpha())
    change = next(ends, len(behind))
    if behind[change + 1 : change + 2] not in (["of"], ["in"]) or not behind[change].isalpha():
        return False
    named = (i for i in items[at + 1 :] if i.lexeme.parts & Part.MENTION)  # "infective change in"
    return not any(i.first <= item.last + change < i.last for i in named)
