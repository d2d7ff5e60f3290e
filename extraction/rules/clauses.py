"""From items to clauses.

A clause ends at a contrast ("but"), at a semicolon, before "there is", and at the first comma or
"and" between two finite verbs. What stands in parentheses is a clause of its own, and so is an
aside between a finding and what is said of it.
"""

from __future__ import annotations

from itertools import dropwhile, pairwise, takewhile
from typing import Final

from extraction.rules.lexicon import Lexeme, Part
from extraction.rules.scan import (
    ASIDE_WITHIN,
    GOVERNABLE,
    Clause,
    Item,
    denies,
    governs,
    is_finite,
)
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

_LISTING: Final = Lexeme(Part.COMMA)
_PLACED: Final = Part.LUNG | Part.ELSEWHERE | Part.ASSERTING
_TELLING: Final = frozenset({"negation", "assertion"})
_ALONE: Final = 0
"""What ends an aside of one expression: ", in my view ,"."""
_RELATIVE = "which"
_YET, _DOUBT_WITHIN = frozenset({"but", "yet", "though", "although", "if", "not", "unproven"}), 5
_ENDS, _ANSWERS = frozenset({".", ",", ";"}), frozenset({"no", "not", "nor", "nil", "never"})
_SPEAKERS: Final = frozenset({"i", "we"})


def clauses(items: list[Item], tokens: list[Token], grammar: GrammarFile) -> list[Clause]:
    """Cut a sentence's items into clauses, main ones first, asides after the clause they sit in."""
    main, asides = _parted(items, tokens, grammar)
    found = [
        Clause(part, tokens, grammar, first, aside=False)
        for part, first in _cut(main, tokens, grammar)
    ]
    for content in asides:
        found += [
            Clause(p, tokens, grammar, first, aside=True)
            for p, first in _cut(content, tokens, grammar)
        ]
    return found


def _parted(
    items: list[Item], tokens: list[Token], grammar: GrammarFile
) -> tuple[list[Item], list[list[Item]]]:
    """Part what a sentence says from its asides."""
    main: list[Item] = []
    asides: list[list[Item]] = []
    inside: list[Item] | None = None
    ends, resumes = Part.CLOSING, 0
    for at, item in enumerate(items):
        if at < resumes:
            continue
        if inside is not None:
            if item.lexeme.parts & ends:
                asides.append(inside)
                inside = None
            else:
                inside.append(item)
            continue
        if main and tokens[item.first].word == _RELATIVE:
            resumes = _resumes(items, at, main)
        if main and any(cue.kind == "hedge" for cue in main[-1].lexeme.cues):
            resumes = _unproven(items, at, tokens, grammar)
        if at < resumes:
            asides.append(items[at:resumes])
            continue
        inside, ends = _aside(items, at, main, tokens, grammar)
        if inside is None:
            main.append(item)
        elif ends == _ALONE:
            asides.append(inside)
            inside = None
    return main, [*asides, inside] if inside else asides


def _aside(
    items: list[Item], at: int, main: list[Item], tokens: list[Token], grammar: GrammarFile
) -> tuple[list[Item] | None, int]:
    """Give what an aside that begins here begins with, and what ends it; None if none begins."""
    item = items[at]
    if item.lexeme.parts & Part.OPENING:
        return [], Part.CLOSING
    if main and _interrupts(items, at, main, tokens, grammar):
        main.pop()
        return [item], Part.COMMA
    if main and _waits(items, at, main, tokens, grammar):
        return ([item], _ALONE) if item.lexeme.parts & Part.CUE else ([], Part.COMMA)
    if _qualifies(items, at, main, tokens):
        return [], Part.COMMA
    return None, Part.CLOSING


def _resumes(items: list[Item], at: int, main: list[Item]) -> int:
    """Where a subject's verb follows what tells which it is; 0 where no such clause stands there.

    "The effusion which was seen yesterday has resolved."
    """
    if not governs(main, 0, len(main)) or any(map(is_finite, main)):
        return 0
    if main[-1].lexeme.parts & Part.COMMA:
        return 0
    parted = Part.COMMA | Part.AND | Part.OR | Part.BOUNDARY | Part.OPENING
    within = takewhile(lambda k: not items[k].lexeme.parts & parted, range(at + 1, len(items)))
    verbs = [k for k in (at, *within) if is_finite(items[k])]
    return verbs[1] if len(verbs) > 1 else 0


def _unproven(items: list[Item], at: int, tokens: list[Token], grammar: GrammarFile) -> int:
    """Where a hedge's object follows behind what only says that nothing proves it; 0 for nowhere.

    "Suspected, but not proven, pneumonia."
    """
    first = items[at].first + bool(items[at].lexeme.parts & Part.COMMA)
    words = [token.word for token in tokens[first : first + _DOUBT_WITHIN]]
    if words[:1] and words[0] not in _YET:
        return 0
    proved = (k for k, w in enumerate(words) if w.removeprefix("un") in grammar.proving)
    last = first + next(proved, len(tokens)) + 1
    last += [token.word for token in tokens[last : last + 1]] == [","]
    behind = next((k for k in range(at, len(items)) if items[k].first >= last), len(items))
    return behind if governs(items, behind, behind + 1) else 0


def _interrupts(
    items: list[Item], at: int, main: list[Item], tokens: list[Token], grammar: GrammarFile
) -> bool:
    """Whether a contrast between commas only interrupts: "the heart, although rotated, is big"."""
    last = main[-1]
    if not (items[at].lexeme.parts & Part.BOUNDARY and last.lexeme.parts & Part.COMMA):
        return False
    rest = dropwhile(lambda item: not item.lexeme.parts & Part.COMMA, items[at:])
    comma, behind = next(rest, last), next(rest, last)
    resumes = is_finite(behind) and behind.first == comma.last
    if main[-2:-1] and main[-2].last == last.first and behind.lexeme.parts & ~Part.CUE:
        ends = (
            tokens[last.first - 1].word in grammar.transitive and main[-2].lexeme.parts & Part.CUE
        )
        resumes = resumes or bool(ends)  # "suggestive of, but not specific for, edema"
    told = governs(items, at, next((k for k, i in enumerate(items) if i is comma), at))
    joins = items[at - 2].lexeme.parts | (0 if told else behind.lexeme.parts)
    return resumes or (behind is not last and bool(joins & Part.OR))


def _waits(
    items: list[Item], at: int, main: list[Item], tokens: list[Token], grammar: GrammarFile
) -> bool:
    """Whether an aside parts a hedge from what it is of: "the opacity is likely, I think, edema".

    Of a thing that is there it says what it may be; of a finding ("edema is likely, …") whether.
    """
    last, comma = main[-1], items[at]
    if not comma.lexeme.parts & Part.COMMA or last.last != comma.first:
        return False
    closing = at if comma.lexeme.parts & Part.CUE else _closing(items, at)  # ", in my view ,"
    if not 1 < items[closing].last - comma.first <= ASIDE_WITHIN or governs(items, at, closing):
        return False
    inside = items[min(at + 1, len(items) - 1)]
    grades = any(cue.side == "either" for cue in inside.lexeme.cues)
    whole = (inside.first, inside.last) == (comma.last, items[closing].first)
    if grades and whole and not inside.lexeme.parts & Part.JUDGING:
        return False  # "represents, probably, edema"
    told = _awaited(main, tokens, grammar)
    qualities = Part.ASSERTING | Part.LUNG
    object_ = next((i for i in items[closing + 1 :] if i.lexeme.parts & ~qualities), comma)
    return bool(object_.lexeme.parts & told)


def _awaited(main: list[Item], tokens: list[Token], grammar: GrammarFile) -> int:
    """Give the parts of what a clause's last item waits for, 0 for none."""
    last = main[-1]
    if last.lexeme.parts & (Part.OR | Part.AND):  # "or, in this setting, pneumonia"
        return Part.MENTION if governs(main, 0, len(main)) else 0
    kinds = {cue.kind for cue in last.lexeme.cues if cue.side != "after"}
    denies = "negation" in kinds and tokens[last.last - 1].word not in _ANSWERS
    if denies or "denial" in kinds or (kinds and tokens[last.last - 1].word in grammar.transitive):
        return Part.MENTION | Part.CAUSE
    spoken = tokens[last.first].word in _SPEAKERS
    verb = any(is_finite(i) and i.last == last.first for i in main[-2:-1])
    said = spoken or last.lexeme.finite or verb
    if not said or "hedge" not in kinds:
        return 0
    named = next((i for i in reversed(main) if i.lexeme.parts & Part.MENTION), None)
    thing = named is None or grammar.things.issuperset(named.lexeme.pathologies)
    return Part.MENTION | Part.CAUSE if thing else Part.CAUSE


def _closing(items: list[Item], at: int) -> int:
    """Give the comma that ends an aside, the one that opens it if none does."""
    commas = (k for k in range(at + 1, len(items)) if items[k].lexeme.parts & Part.COMMA)
    return next(commas, at)


def _qualifies(items: list[Item], at: int, main: list[Item], tokens: list[Token]) -> bool:
    """Whether an aside parts a subject from its verb: "pneumonia, with no fever, is unlikely"."""
    if items[at].lexeme.parts & (Part.CUE | Part.COMMA) != Part.COMMA:
        return False
    if not governs(main, 0, len(main)):
        return False
    closing = _closing(items, at)
    behind = items[closing + 1 : closing + 2]
    apart = items[closing].last - items[at].first
    if not 1 < apart <= ASIDE_WITHIN or not behind or behind[0].first != items[closing].last:
        return False
    aside = items[at + 1 : closing]
    if any(i.lexeme.parts & (Part.SPLIT_PROPERTY | Part.OR | GOVERNABLE) for i in aside):
        return False
    told = {cue.kind for item in aside for cue in item.lexeme.cues}
    ends = tokens[min(behind[0].last, len(tokens) - 1)].word in _ENDS
    parted = any(i.lexeme.parts & (Part.AND | Part.VERB) for i in aside)
    alone = ends and not parted and any(cue.side != "before" for cue in behind[0].lexeme.cues)
    return (is_finite(behind[0]) or alone) and told <= _TELLING


def _cut(
    items: list[Item], tokens: list[Token], grammar: GrammarFile
) -> list[tuple[list[Item], int]]:
    pieces: list[tuple[list[Item], int]] = []
    current: list[Item] = []
    first = items[0].first if items else 0
    verb_seen, candidate = False, -1
    for at, item in enumerate(items):
        parts = item.lexeme.parts
        if parts & Part.BOUNDARY:
            if _told_late(current, items[at:]):
                continue
            if _lists_on(current, items[at:]):
                current.append(item._replace(lexeme=_LISTING))
                continue
            pieces.append((current, first))
            current, first, verb_seen, candidate = [], item.last, False, -1
            continue
        copula = tokens[item.first].word in grammar.copulas  # "emphysema is again noted"
        if parts & Part.OPENER and current and not (copula or _subordinate(current, item)):
            pieces.append((current, first))
            current, first, verb_seen, candidate = [], item.first, False, -1
        elif is_finite(item) or _speaks(item, tokens):
            if verb_seen and candidate >= 0:
                pieces.append((current[:candidate], first))
                first = current[candidate].last
                current = current[candidate + 1 :]
            verb_seen, candidate = True, -1
        elif verb_seen and parts & (Part.COMMA | Part.AND):
            ended = parts & Part.AND and any(i.lexeme.parts & Part.OR for i in current[candidate:])
            candidate = len(current) if candidate < 0 or ended else candidate  # "A, B or C, and D"
        current.append(item)
    pieces.append((current, first))
    return [(piece, begin) for piece, begin in pieces if piece]


def _told_late(before: list[Item], rest: list[Item]) -> bool:
    """Whether a subject has its predicate behind a "but": "magnified but probably enlarged"."""
    if governs(before, 0, len(before)) or not any(i.lexeme.parts & Part.SUBJECT for i in before):
        return False
    for last, item in pairwise(rest):
        parts = item.lexeme.parts
        if last.lexeme.parts & Part.PREDICATE:
            return bool(parts & Part.COMMA) or item.first > last.last
        if item.first != last.last or not parts & (Part.CUE | Part.VERB | Part.PREDICATE):
            return False
    return bool(rest[-1].lexeme.parts & Part.PREDICATE)


def _lists_on(before: list[Item], rest: list[Item]) -> bool:
    """Whether a list of alternatives goes on behind a semicolon: "differential: edema; blood"."""
    offered = any(
        cue.phrase == "versus" and cue.side == "before" for i in before for cue in i.lexeme.cues
    )
    if not offered or rest[0].last - rest[0].first > 1:
        return False
    following = [*takewhile(lambda i: not i.lexeme.parts & Part.BOUNDARY, rest[1:])]
    return not any(i.lexeme.parts & (Part.CUE | Part.OPENER) or is_finite(i) for i in following)


def _speaks(item: Item, tokens: list[Token]) -> bool:
    """Whether a cue is a statement of the writer's, and no aside: "I suspect a fracture"."""
    said = bool(item.lexeme.parts & Part.CUE) and tokens[item.first].word in _SPEAKERS
    return said and tokens[min(item.last, len(tokens) - 1)].word != ","


def _subordinate(before: list[Item], opener: Item) -> bool:
    """Whether a cue waits for what the opener begins: "I do not think there is"."""
    waits = any(cue.side != "after" for cue in before[-1].lexeme.cues)
    placed = [i for i in before if not i.lexeme.parts & _PLACED]
    if placed and all(map(denies, placed)):  # "neither on the left nor on the right there is"
        return True
    parts = (k + 1 for k, item in enumerate(before) if item.lexeme.parts & (Part.AND | Part.COMMA))
    begin = max(parts, default=0)  # "the heart is normal and perhaps there is"
    return waits and opener.first == before[-1].last and not governs(before, begin, len(before))
