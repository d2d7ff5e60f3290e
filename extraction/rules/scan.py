"""From tokens to items (longest match), from items to clauses, and what a scope in one is.

A clause ends at a contrast ("but"), at a semicolon, before "there is", and at the first comma or
"and" between two finite verbs. What stands in parentheses is a clause of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile, pairwise, takewhile
from typing import Final, NamedTuple

from extraction.rules.lexicon import END, INSERTED, TENSES, Cue, Lexeme, Node, Part
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

# What a cue can speak of.
GOVERNABLE: Final = Part.MENTION | Part.PREDICATE | Part.SPLIT_SUBJECT

_HYPHEN: Final = "-"
# How what excludes begins ("exclude", "excluding", "dismissed", "rule out", "write off").
_EXCLUDING: Final = (
    "exclud", "dismiss", "discount", "deny", "ignor", "overlook", "disregard", "out", "off",
)  # fmt: skip
_DENYING: Final = frozenset(
    {"not", "cannot", "cant", "hardly", "neither", "nor", "never", "reluctant", "hesitate"}
    | {"hesitant", "loath", "unwilling", "unwise", "premature", "rash", "wrong", "foolish"}
)
_OPEN_AHEAD, _OPEN_BEHIND = (
    Lexeme(Part.CUE, cues=(Cue("cannot exclude", "denial", side),), loose=True, finite=True)
    for side in ("before", "after")
)
_APART: Final = frozenset({"but", "and", "or", "to", "the", "is", "are", "a", "then", "ct"})
_UNDOABLE: Final = frozenset({"negation", "ignore"})
_DENIED_WITHIN: Final = 6
_NEITHER, _ABLE = frozenset({"nor", "neither"}), frozenset({"can", "could", "may", "should"})
_HARD: Final = frozenset({"unable", "hard", "difficult", "impossible"})
_SAYING: Final = Lexeme(parts=Part.VERB)
_WEIGHTLESS, _COLON, _LISTING = Lexeme(), Lexeme(Part.COLON), Lexeme(Part.COMMA)
_ASIDES: Final = {",": ",", "(": ")", "[": "]", _HYPHEN: _HYPHEN}
_ASIDE_WITHIN: Final = 10
_TELLING: Final = frozenset({"negation", "assertion"})
_RESUMING: Final = frozenset(
    {"for", "of", "with", "represents", "represent", "reflects", "reflect", "is", "are", "be"}
)
_CHOOSING: Final = frozenset({"or", "vs", "versus", "v", "differential", "knows", "pick", "guess"})


class Item(NamedTuple):
    """A matched expression: its token range in the sentence and what it is."""

    first: int
    last: int
    lexeme: Lexeme


class Clause(NamedTuple):
    """Consecutive items, their sentence, the token they begin at, whether in parentheses."""

    items: list[Item]
    tokens: list[Token]
    grammar: GrammarFile
    first: int
    aside: bool


class Scope(NamedTuple):
    """A cue (the item at `at`) and the item positions ``first <= i < last`` it governs."""

    at: int
    cue: Cue
    first: int
    last: int
    side: str


def governs(items: Sequence[Item], first: int, last: int) -> bool:
    """Tell whether a cue has anything to speak of between two positions."""
    return any(item.lexeme.parts & GOVERNABLE for item in items[first:last])


def scan(tokens: list[Token], root: Node, text: str) -> list[Item]:
    """Longest non-overlapping matches of the lexicon, from left to right."""
    items: list[Item] = []
    at, count = 0, len(tokens)
    while at < count:
        word = tokens[at].word
        node = root.get(word)
        if word == _HYPHEN and _opens_list(items, tokens, at):
            items.append(Item(at, at + 1, _COLON))
            node = None
        if node is None:
            at += 1
            continue
        found, after = _longest(tokens, (at, at + 1, node), root, text)
        if found is None:
            at += 1
            continue
        if found.parts:
            item = Item(at, after, found)
            if found.parts & Part.CUE:
                item = _undone(items, item, tokens) or item
                _yield_to(items, item.first)
            items.append(item)
        at = after
    return items


def _opens_list(items: list[Item], tokens: list[Token], at: int) -> bool:
    """Whether a dash stands for a colon before alternatives: "opacity - pneumonia vs edema"."""
    spaced = at > 0 and tokens[at - 1].end < tokens[at].start
    chosen = spaced and any(token.word in _CHOOSING for token in tokens[at:])
    return chosen and governs(items, 0, at) and not any(i.lexeme.parts & Part.CUE for i in items)


def _undone(items: list[Item], item: Item, tokens: list[Token]) -> Item | None:
    """Give what an exclusion is behind a denial: "cannot at this time be excluded".

    What stood between belongs to it; a "neither … nor" denies both.
    """
    cue = item.lexeme.cues[0]
    if cue.kind not in _UNDOABLE or not tokens[item.last - 1].word.startswith(_EXCLUDING):
        return None
    for at in range(item.first - 1, max(item.first - _ASIDE_WITHIN, 0) - 1, -1):
        word = tokens[at].word
        if word in _NEITHER and tokens[at + 1].word in _ABLE:  # "nor can a mass be excluded"
            items[:] = [each for each in items if each.last <= at or each.first > at + 1]
            return item._replace(lexeme=_OPEN_BEHIND)
        if not word.isalpha():
            break
    for at in range(item.first - 1, max(item.first - _DENIED_WITHIN, 0) - 1, -1):
        word = tokens[at].word
        if word in _DENYING or (word == "to" and tokens[at - 1].word in _HARD):
            while items and items[-1].first >= at:
                items.pop()
            return Item(at, item.last, _OPEN_BEHIND if cue.side == "after" else _OPEN_AHEAD)
        if not word.isalpha() or word in _APART:
            return None
    return None


def _yield_to(items: list[Item], at: int) -> None:
    """Take the weight from a judgement that a cue at `at` touches, or has but a verb before it.

    "Considered compatible with", "which I think is probably".
    """
    behind = items[-1:] if not items or items[-1].lexeme.parts & Part.JUDGING else items[-2:-1]
    for judgement in behind:
        verb_only = judgement is items[-1] or is_finite(items[-1])
        if judgement.lexeme.parts & Part.JUDGING and verb_only and at - judgement.last <= 1:
            lexeme = _SAYING if judgement.lexeme.finite else _WEIGHTLESS
            items[items.index(judgement)] = judgement._replace(lexeme=lexeme)


def _longest(
    tokens: list[Token], reached: tuple[int, int, Node | None], root: Node, text: str
) -> tuple[Lexeme | None, int]:
    first, at, node = reached
    best: Lexeme | None = None
    after = first + 1
    start, count = tokens[first].start, len(tokens)
    inserted, passed = root[INSERTED], None
    while node is not None:
        lexeme = node.get(END)
        if lexeme is not None and (
            lexeme.loose or text[start : tokens[at - 1].end] in lexeme.exact
        ):
            best, after = lexeme, at
        if at >= count:
            break
        word = tokens[at].word
        if word == _HYPHEN and _HYPHEN not in node and at + 1 < count:
            parts = _apart(tokens, at) and _resumed(tokens, at, node, root, text)[0] is not None
            at += not parts
            word = tokens[at].word
        following = node.get(word)
        if following is None:
            following, at = _beyond(tokens, at, node, root, text)
        elif word in inserted or word in _ASIDES:
            passed = node, at
        node = following
        at += 1
    if passed is not None:  # "is also a concern", where some cue has an "also" of its own
        node, at = _beyond(tokens, passed[1], passed[0], root, text)
        if node is not None:
            other, end = _longest(tokens, (first, at + 1, node), root, text)
            best, after = (other, end) if other is not None and end > after else (best, after)
    return best, after


def _beyond(
    tokens: list[Token], at: int, node: Node, root: Node, text: str
) -> tuple[Node | None, int]:
    """Give what a cue goes on with behind words or an aside that are none of it."""
    following, last = _passed(tokens, at, node, root)
    if following is None and tokens[at].word in _ASIDES:
        return _resumed(tokens, at, node, root, text)
    return following, last


def _passed(tokens: list[Token], at: int, node: Node, root: Node) -> tuple[Node | None, int]:
    """Give what a cue goes on with behind words that change nothing, or in the past."""
    word = tokens[at].word
    for other in root[TENSES].get(word, ()):
        if other in node:
            return node[other], at
    within, after = root[INSERTED].get(word), at
    while within is not None:
        after += 1
        if after >= len(tokens):
            break
        if END in within and tokens[after].word in node:
            return node[tokens[after].word], after
        within = within.get(tokens[after].word)
    return None, at


def _apart(tokens: list[Token], at: int) -> bool:
    """Whether a dash stands between blanks, as one does that parts words and joins none."""
    before, behind = tokens[at - 1], tokens[min(at + 1, len(tokens) - 1)]
    return before.end < tokens[at].start and tokens[at].end < behind.start


def _resumed(
    tokens: list[Token], at: int, node: Node, root: Node, text: str
) -> tuple[Node | None, int]:
    """Give what a cue goes on with behind an aside: "may, given the history, represent".

    A whole one is cut by it but before a verb or the word that takes its object; what the aside
    says of a finding is said for itself.
    """
    closing = _ASIDES[tokens[at].word]
    within = range(at + 1, min(at + _ASIDE_WITHIN, len(tokens) - 1))
    ends = (k for k in within if tokens[k].word == closing)
    last = next((k for k in ends if closing != _HYPHEN or _apart(tokens, k)), at)
    word = tokens[last + 1].word if last > at else ""
    if last == at or (END in node and word not in _RESUMING):
        return None, at
    for k in range(at + 1, last):
        inside = root.get(tokens[k].word)
        said = inside and _longest(tokens[:last], (k, k + 1, inside), root, text)[0]
        if said and said.parts & GOVERNABLE:
            return None, at
    return node.get(word), last + 1


def clauses(items: list[Item], tokens: list[Token], grammar: GrammarFile) -> list[Clause]:
    """Cut a sentence's items into clauses, main ones first, asides after the clause they sit in."""
    main: list[Item] = []
    asides: list[list[Item]] = []
    inside: list[Item] | None = None
    ends = Part.CLOSING
    for at, item in enumerate(items):
        parts = item.lexeme.parts
        if parts & Part.OPENING and inside is None:
            inside, ends = [], Part.CLOSING
        elif inside is None and main and _interrupts(items, at, main[-1]):
            main.pop()
            inside, ends = [item], Part.COMMA
        elif inside is None and main and _waits(items, at, main, grammar):
            inside, ends = ([], Part.COMMA) if not parts & Part.CUE else (None, ends)
        elif inside is None and governs(main, 0, len(main)) and _qualifies(items, at):
            inside, ends = [], Part.COMMA
        elif parts & ends and inside is not None:
            asides.append(inside)
            inside = None
        elif inside is not None:
            inside.append(item)
        else:
            main.append(item)
    if inside:
        asides.append(inside)
    found = [Clause(part, tokens, grammar, first, aside=False) for part, first in _cut(main)]
    for content in asides:
        found += [Clause(p, tokens, grammar, first, aside=True) for p, first in _cut(content)]
    return found


def _interrupts(items: list[Item], at: int, last: Item) -> bool:
    """Whether a contrast between commas only interrupts: "the heart, although rotated, is big"."""
    if not (items[at].lexeme.parts & Part.BOUNDARY and last.lexeme.parts & Part.COMMA):
        return False
    rest = dropwhile(lambda item: not item.lexeme.parts & Part.COMMA, items[at:])
    comma, behind = next(rest, last), next(rest, last)
    resumes = is_finite(behind) and behind.first == comma.last
    return resumes or (behind is not last and bool(items[at - 2].lexeme.parts & Part.OR))


def _waits(items: list[Item], at: int, main: list[Item], grammar: GrammarFile) -> bool:
    """Whether an aside parts a hedge from what it is of: "the opacity is likely, I think, edema".

    Of a thing that is there it says what it may be; of a finding ("edema is likely, …") whether.
    """
    cue, hedges = main[-1], any(cue.kind == "hedge" for cue in main[-1].lexeme.cues)
    said = cue.lexeme.finite or any(is_finite(i) and i.last == cue.first for i in main[-2:-1])
    if not (items[at].lexeme.parts & Part.COMMA and hedges and said) or cue.last != items[at].first:
        return False
    named = next((i for i in reversed(main) if i.lexeme.parts & Part.MENTION), None)
    thing = named is None or grammar.things.issuperset(named.lexeme.pathologies)
    if items[at].lexeme.parts & Part.CUE:  # ", in my view ,"
        closing = at
    else:
        commas = (k for k in range(at + 1, len(items)) if items[k].lexeme.parts & Part.COMMA)
        closing = next(commas, at)
    apart = items[closing].last - items[at].first
    object_ = [item for item in items[closing + 1 :] if not item.lexeme.parts & Part.ASSERTING][:1]
    told = Part.MENTION | Part.CAUSE if thing else Part.CAUSE
    found = bool(object_) and object_[0].lexeme.parts & told
    return bool(found) and 1 < apart <= _ASIDE_WITHIN and not governs(items, at, closing)


def _qualifies(items: list[Item], at: int) -> bool:
    """Whether an aside parts a subject from its verb: "pneumonia, with no fever, is unlikely"."""
    if items[at].lexeme.parts & (Part.CUE | Part.COMMA) != Part.COMMA:
        return False
    commas = (k for k in range(at + 1, len(items)) if items[k].lexeme.parts & Part.COMMA)
    closing = next(commas, at)
    behind = items[closing + 1 : closing + 2]
    apart = items[closing].last - items[at].first
    if not 1 < apart <= _ASIDE_WITHIN or not behind or behind[0].first != items[closing].last:
        return False
    aside = items[at + 1 : closing]
    if any(i.lexeme.parts & (Part.SPLIT_PROPERTY | Part.OR | GOVERNABLE) for i in aside):
        return False
    told = {cue.kind for item in aside for cue in item.lexeme.cues}
    return is_finite(behind[0]) and told <= _TELLING


def is_finite(item: Item) -> bool:
    """Whether the item contains a finite verb."""
    return bool(item.lexeme.parts & Part.VERB) or item.lexeme.finite


def _cut(items: list[Item]) -> list[tuple[list[Item], int]]:
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
        if parts & Part.OPENER and current and not _subordinate(current, item):
            pieces.append((current, first))
            current, first, verb_seen, candidate = [], item.first, False, -1
        elif is_finite(item):
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


def _subordinate(before: list[Item], opener: Item) -> bool:
    """Whether a cue waits for what the opener begins: "I do not think there is"."""
    waits = any(cue.side != "after" for cue in before[-1].lexeme.cues)
    parts = (k + 1 for k, item in enumerate(before) if item.lexeme.parts & (Part.AND | Part.COMMA))
    begin = max(parts, default=0)  # "the heart is normal and perhaps there is"
    return waits and opener.first == before[-1].last and not governs(before, begin, len(before))
