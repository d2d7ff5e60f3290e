"""From tokens to items (longest match), and what a clause of items and a scope in one are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from extraction.rules.lexicon import END, INSERTED, TENSES, Cue, Lexeme, Node, Part
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

# What a cue can speak of.
GOVERNABLE: Final = Part.MENTION | Part.PREDICATE | Part.SPLIT_SUBJECT

_HYPHEN: Final = "-"
# How what excludes begins ("exclude", "excluding", "dismissed", "rule out", "write off").
_EXCLUDING: Final = (
    "exclud", "dismiss", "discount", "discard", "den", "ignor", "overlook", "disregard", "out",
    "off", "aside", "negated",
)  # fmt: skip
_DENYING: Final = frozenset(
    {"not", "cannot", "cant", "hardly", "neither", "nor", "never", "reluctant", "hesitate"}
    | {"hesitant", "loath", "unwilling", "unwise", "premature", "rash", "wrong", "foolish"}
    | {"slow", "chary", "wary", "shy"}
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
_JOINING: Final = Lexeme(Part.OR | Part.COORDINATOR)
_WEIGHTLESS, _COLON, _PAUSE = Lexeme(), Lexeme(Part.COLON), Lexeme(Part.COMMA)
_ASIDES: Final = {",": ",", "(": ")", "[": "]", _HYPHEN: _HYPHEN}
ASIDE_WITHIN: Final = 10
_RESUMING: Final = frozenset(
    {"for", "of", "with", "represents", "represent", "reflects", "reflect", "is", "are", "be"}
    | {"to", "that"}
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
    at, count, closes = 0, len(tokens), -1
    while at < count:
        word = tokens[at].word
        node = root.get(word)
        if word == _HYPHEN and (at == closes or _opens_list(items, tokens, at)):
            items.append(Item(at, at + 1, _PAUSE if at == closes else _COLON))
            node = None
        elif word == _HYPHEN and (closes := _closes_aside(items, tokens, at)) > 0:
            items.append(Item(at, at + 1, _PAUSE))
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


def lexemes(tokens: list[Token], root: Node) -> Iterator[Item]:
    """Give every longest expression of a graph, also those that say nothing."""
    at = 0
    while at < len(tokens):
        node = root.get(tokens[at].word)
        found, after = _longest(tokens, (at, at + 1, node), root, "") if node else (None, at + 1)
        if found is not None:
            yield Item(at, after, found)
        at = after


def _opens_list(items: list[Item], tokens: list[Token], at: int) -> bool:
    """Whether a dash stands for a colon before alternatives: "opacity - pneumonia vs edema"."""
    spaced = at > 0 and tokens[at - 1].end < tokens[at].start
    if spaced and items and items[-1].last == at and not governs(items, 0, len(items)):
        return any(cue.side == "after" for cue in items[-1].lexeme.cues)  # "Not seen - effusion"
    chosen = spaced and any(token.word in _CHOOSING for token in tokens[at:])
    return chosen and governs(items, 0, at) and not any(i.lexeme.parts & Part.CUE for i in items)


def _closes_aside(items: list[Item], tokens: list[Token], at: int) -> int:
    """Give the dash that closes an aside behind a cue that waits: "nothing to suggest - … - TB"."""
    waits = bool(items) and items[-1].last == at and bool(items[-1].lexeme.cues)
    if not waits or any(cue.side != "before" for cue in items[-1].lexeme.cues):
        return 0
    within = range(at + 2, min(at + ASIDE_WITHIN, len(tokens) - 1))
    ends = (k for k in within if tokens[k].word == _HYPHEN and _apart(tokens, k))
    return next(ends, 0) if _apart(tokens, at) else 0


def _undone(items: list[Item], item: Item, tokens: list[Token]) -> Item | None:
    """Give what an exclusion is behind a denial: "cannot at this time be excluded".

    What stood between belongs to it; a "neither … nor" denies both.
    """
    cue = item.lexeme.cues[0]
    if cue.kind not in _UNDOABLE or not tokens[item.last - 1].word.startswith(_EXCLUDING):
        return None
    for at in range(item.first - 1, max(item.first - ASIDE_WITHIN, 0) - 1, -1):
        word = tokens[at].word
        if word in _NEITHER and tokens[at + 1].word in _ABLE:  # "nor can a mass be excluded"
            return _both_open(items, item, at, tokens)
        if not word.isalpha():
            break
    for at in _before_aside(tokens, item.first):
        word = tokens[at].word
        if word in _DENYING or (word == "to" and tokens[at - 1].word in _HARD):
            # "Neither edema nor pneumonia can be excluded."
            if any(i.first >= at and i.lexeme.parts & Part.MENTION for i in items):
                return _both_open(items, item, at, tokens)
            while items and items[-1].first >= at:
                items.pop()
            return Item(at, item.last, _OPEN_BEHIND if cue.side == "after" else _OPEN_AHEAD)
        # "Cannot be confirmed or excluded."
        paired = word in {"or", "nor"} and tokens[at - 1].word.endswith("ed")
        if not word.isalpha() or (word in _APART and not paired):
            return None
    return None


def _before_aside(tokens: list[Token], first: int) -> Iterator[int]:
    """Give the tokens in front of one, nearest first, over an aside: "not, on this, care to"."""
    at, left = first - 1, _DENIED_WITHIN
    while at >= 0 and left:
        if tokens[at].word == ",":
            opens = (
                k for k in range(at - 1, max(at - ASIDE_WITHIN, 0), -1) if tokens[k].word == ","
            )
            opening = next(opens, at)
            yield from () if opening < at else (at,)
            at = opening - 1
            continue
        yield at
        at, left = at - 1, left - 1


def _both_open(items: list[Item], item: Item, at: int, tokens: list[Token]) -> Item:
    """Take the denial at a token out of what it is of, and give the exclusion that it undoes."""
    both = any(i.lexeme.parts & Part.CUE and tokens[i.first].word == "neither" for i in items)
    joined = [Item(at, at + 1, _JOINING)] if both else []
    ahead = [i for i in items if i.last <= at and not (both and tokens[i.first].word == "neither")]
    items[:] = [*ahead, *joined, *(i for i in items if i.first > at)]
    return item._replace(lexeme=_OPEN_BEHIND)


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
    within = range(at + 1, min(at + ASIDE_WITHIN, len(tokens) - 1))
    ends = (k for k in within if tokens[k].word == closing)
    last = next((k for k in ends if closing != _HYPHEN or _apart(tokens, k)), at)
    word = tokens[last + 1].word if last > at else ""
    whole = END in node and node[END].parts != Part.VERB
    if last == at or (whole and word not in _RESUMING):
        return None, at
    for k in range(at + 1, last):
        inside = root.get(tokens[k].word)
        said = inside and _longest(tokens[:last], (k, k + 1, inside), root, text)[0]
        if said and said.parts & GOVERNABLE:
            return None, at
    return node.get(word), last + 1


def is_finite(item: Item) -> bool:
    """Whether the item contains a finite verb."""
    return bool(item.lexeme.parts & Part.VERB) or item.lexeme.finite


def denies(item: Item) -> bool:
    """Whether the item denies what follows it."""
    return any(cue.kind == "negation" and cue.side != "after" for cue in item.lexeme.cues)
