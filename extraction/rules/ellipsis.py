"""What a sentence leaves out because it was just said.

"The one on the right", "that at the left base" and a bare side with a size or a verb name the
finding again that was named of the other side, in the sentence or in the one before it: they
become mentions, and are decided as such. "Nor can edema", "as is edema" and "edema too" share what
was said of the finding before them. "The latter" is the alternative that it means.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from extraction.rules.decide import Decision
from extraction.rules.lexicon import Lexeme, Part
from extraction.rules.scan import Item
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

_JOINTS: Final = frozenset(
    {",", ";", ".", "(", ")", "but", "and", "or", "while", "whereas", "though", "although", "yet"}
)
_EXCEPT: Final = frozenset({"except", "save", "bar", "barring", "beyond", "besides"})
_PARTING: Final = _JOINTS | _EXCEPT | {"than", "from", "for"}
_LEFT: Final = frozenset(
    {"trace", "traces", "sliver", "remnant", "residue", "rest", "part", "little", "bit"}
)
_ONE: Final = _LEFT | {"one", "ones"}
_THAT: Final = frozenset({"that", "those"})
_HEADS: Final = _ONE | _THAT
_QUALITY: Final = frozenset({"known", "old", "new", "previous", "other", "tiny", "little", "trace"})
_AT: Final = frozenset({"on", "in", "at", "over"})
_PLACING: Final = _AT | {"the", "to", "of", "side", "sided", "-", "base", "apex"}
_PARTS: Final = frozenset({"base", "bases", "apex", "lobe", "zone", "lung"})
_WHOLE: Final = frozenset({"lung", "lungs", "hemithorax", "chest"})
_TOLD: Final = frozenset({"only", "yes", "seen", "does", "do", "has", "have", "today", "now"})
_IDLE: Final = (
    _PLACING | _TOLD | {":", "?", "not", "still", "again", "just", "if", "anything", "week"}
)
_UNSAID: Final = frozenset({"none", "nil", "no", "neither", "nor", "clear", "normal"})
_BESIDE, _WITHIN = 3, 6
# "Nor can", "so is", "as has": what follows shares what was said.
_SHARING: Final = frozenset({"nor", "neither", "so", "as"})
_HELPING: Final = frozenset({
    "is", "are", "was", "were", "has", "have", "had", "can", "could", "cannot", "may", "might",
    "would", "does", "do", "did", "well",
})  # fmt: skip
_SAME, _FOR = "same", frozenset({"for", "of", "to"})
_TOO: Final = frozenset({"too", "likewise"})
_CALLING: Final = _SHARING | _TOO | {_SAME}
_DENYING: Final = frozenset({"not", "cannot", "never", "no", "neither", "nor", "unable"})
_ENDS: Final = frozenset({".", ",", ";", ")", "either", "too", "and", "or", "but", "however"})
_JOINING: Final = frozenset({"or", "and", "vs", "versus"})
_LISTING: Final = frozenset({"or", "and", ","})
_FORMER, _BOTH = "former", 2


class Named(NamedTuple):
    """What was named last, the sides spoken of, whether it was denied, whether of a whole lung."""

    pathologies: tuple[str, ...] = ()
    sides: frozenset[str] = frozenset()
    denied: bool = False
    whole: bool = False
    placed: bool = True
    last: int = 0


NOTHING: Final = Named()


def with_stand_ins(
    items: list[Item],
    tokens: Sequence[Token],
    grammar: GrammarFile,
    before: tuple[Sequence[Decision], Sequence[Token]],
) -> list[Item]:
    """Let what names a finding again, of the other side, be a mention of it.

    `before` is what was decided of the sentence before, and its tokens.
    """
    words = [token.word for token in tokens]
    if grammar.sides.isdisjoint(words) and _HEADS.isdisjoint(words):
        return items
    if not before[0] and not any(item.lexeme.parts & Part.MENTION for item in items):
        return items
    parts = _segments(words)
    for k, (first, last) in enumerate(parts):
        told = words[first:last]
        if grammar.sides.isdisjoint(told) and _HEADS.isdisjoint(told):
            continue
        if _names(items, first, last) or not (first or before[0]):
            continue
        named = _named_before(items, words, first, grammar) or _left_over(*before, grammar)
        at = _stands(items, words, parts, k, named, grammar)
        items = _put(items, at, named) if at >= 0 else items
    return items


def _stands(
    items: Sequence[Item], words: Sequence[str], parts: list[tuple[int, int]], k: int,
    named: Named, grammar: GrammarFile,
) -> int:  # fmt: skip
    """Give the token of a stretch that stands for what was named, -1 for none.

    It is of another side, or excepted from what was denied ("no effusion save a trace").
    """
    first, last = parts[k]
    sides = _sides(words[first:last], grammar)
    other = bool(sides and named.sides) and sides.isdisjoint(named.sides)
    excepted = named.denied and _is_joint(words, first - 1) and words[first - 1] not in _JOINTS
    again = named.denied and not _strange(items, words, named, first, grammar)
    if not (other or excepted or again):
        return -1
    at = _head(words, first, last, grammar)
    if at < 0 and other and (_PLACING | grammar.sides).issuperset(words[first:last]):
        beside = [part for part in parts[max(k - 1, 0) : k + 2] if part[0] != first]
        free = (part for part in beside if not _names(items, *part))
        at = max((_head(words, *part, grammar) for part in free), default=-1)
    alone = bool(sides) and (excepted or (other and named.denied and not named.whole))
    if at < 0 and alone and (excepted or _told(items, words, first, last, grammar)):
        return _bare(items, words, first, last, grammar)
    return at


def _left_over(
    decisions: Sequence[Decision], tokens: Sequence[Token], grammar: GrammarFile
) -> Named:
    """Give what a sentence leaves for the next one to speak of."""
    words = [token.word for token in tokens] if decisions else []
    if not words:
        return NOTHING
    sides, last = _sides(words, grammar), max(said.mention.first for said in decisions)
    named = [said for said in decisions if said.mention.first == last]
    names = tuple({said.mention.pathology: None for said in named})
    denied = any(said.cue.kind == "negation" for said in named)
    return Named(names, sides, denied, not _WHOLE.isdisjoint(words))


def _segments(words: Sequence[str]) -> list[tuple[int, int]]:
    """Give the stretches of a sentence between its marks and joining words."""
    joints = [k for k, word in enumerate(words) if word in _PARTING and _is_joint(words, k)]
    return [(a + 1, b) for a, b in pairwise([-1, *joints, len(words)]) if b > a + 1]


def _is_joint(words: Sequence[str], k: int) -> bool:
    """Whether a word parts two stretches: a mark, "and", "but", "except for", "other than"."""
    if k < 0 or words[k] not in _PARTING:
        return False
    if words[k] in {"than", "from"}:
        return (words[k - 1], words[k]) in {("other", "than"), ("apart", "from"), ("aside", "from")}
    return words[k] != "for" or words[k - 1] in _EXCEPT or words[k - 1] == "but"


def _strange(
    items: Sequence[Item], words: Sequence[str], named: Named, first: int, grammar: GrammarFile
) -> bool:
    """Whether something without a name of ours stands between, that "one" may speak of."""
    over = {k for item in items for k in range(item.first, item.last)}
    known = _IDLE | _QUALITY | grammar.fillers | grammar.vague | grammar.articles
    known |= grammar.earlier | grammar.copulas | grammar.lasting
    between = (k for k in range(named.last, first) if words[k].isalpha() and k not in over)
    return any(words[k] not in known for k in between)


def _sides(words: Sequence[str], grammar: GrammarFile) -> frozenset[str]:
    """Give the sides that are spoken of by their first letter: "LUL" is left."""
    return frozenset(word[0] for word in words if word in grammar.sides)


def _names(items: Sequence[Item], first: int, last: int) -> bool:
    """Whether a stretch names something itself."""
    named = Part.MENTION | Part.SUBJECT | Part.SPLIT_SUBJECT
    return any(i.lexeme.parts & named for i in items if first <= i.first < last)


def _named_before(
    items: Sequence[Item], words: Sequence[str], first: int, grammar: GrammarFile
) -> Named | None:
    """Give what the sentence named last before a token, None for nothing."""
    ahead = [item for item in items if item.last <= first]
    named = next((item for item in reversed(ahead) if item.lexeme.parts & Part.MENTION), None)
    if named is None or not named.lexeme.pathologies:
        return None
    denied = any(cue.kind == "negation" for item in ahead for cue in item.lexeme.cues)
    sides, whole = _sides(words[:first], grammar), not _WHOLE.isdisjoint(words[:first])
    return Named(named.lexeme.pathologies, sides, denied, whole, named.lexeme.placed, named.last)


def _head(words: Sequence[str], first: int, last: int, grammar: GrammarFile) -> int:
    """Give where "one" or "that" stands for a finding, -1 for nowhere.

    "One catheter" does not, nor does a "thymic remnant".
    """
    behind = grammar.copulas | grammar.lasting | grammar.sides | _AT | _TOLD
    known = _IDLE | _QUALITY | grammar.fillers | grammar.vague | grammar.articles | grammar.sides
    for k in range(first, last):
        following = words[k + 1] if k + 1 < len(words) else "."
        free = not following.isalnum() or following in behind
        sized = k > first and words[k - 1] in grammar.sides | grammar.vague | _QUALITY
        own = words[k] in _LEFT and any(w.isalpha() and w not in known for w in words[first:k])
        of_film = k > first and words[k - 1] in grammar.earlier  # "in contrast to the last one"
        if words[k] in _ONE and (free or sized) and not (own or of_film):
            return k
        if words[k] in _THAT and following in _AT:
            return k
    return -1


def _bare(
    items: Sequence[Item], words: Sequence[str], first: int, last: int, grammar: GrammarFile
) -> int:
    """Give the side that alone stands for what is there: "small on the right", "the left persists".

    A lobe that is named without a preposition is a thing of its own ("left base stable").
    """
    within = [item for item in items if first <= item.first < last]
    said = Part.CUE | Part.VERB | Part.ASSERTING
    over = {k for i in within if i.lexeme.parts & said for k in range(i.first, i.last)}
    at = next(k for k in range(first, last) if words[k] in grammar.sides)
    ahead = [i.lexeme.cues for i in within if i.first > at and i.lexeme.cues]
    if any(cue.side == "before" for cues in ahead for cue in cues[-1:]):
        return -1  # "on the right I cannot tell"
    idle = _IDLE | grammar.fillers | grammar.lasting | grammar.copulas | grammar.sides
    rest = {words[k] for k in range(first, last) if k not in over}
    lobe = not _PARTS.isdisjoint(words[at : at + _BESIDE])
    apart = lobe and _AT.isdisjoint(words[max(at - _BESIDE, first) : at])
    if apart or not idle.issuperset(rest) or not _UNSAID.isdisjoint(words[first:last]):
        return -1
    return at


def _told(
    items: Sequence[Item], words: Sequence[str], first: int, last: int, grammar: GrammarFile
) -> bool:
    """Whether a side alone has a size, a verb or a cue, as what is there has."""
    said = Part.CUE | Part.VERB | Part.ASSERTING
    within = (i for i in items if first <= i.first < last and words[i.first] not in grammar.sides)
    sized = any(item.lexeme.parts & said for item in within)
    return sized or not (_TOLD | grammar.lasting).isdisjoint(words[first:last])


def _put(items: list[Item], at: int, named: Named) -> list[Item]:
    """Put a mention of what was named in the place of what stands at a token, if that is no cue."""
    over = [item for item in items if item.first <= at < item.last]
    if any(item.lexeme.parts & Part.CUE for item in over):
        return items
    parts = Part.MENTION | Part.ASSERTING
    lexeme = Lexeme(parts, named.pathologies, placed=named.placed)
    rest = [item for item in items if item not in over]
    return sorted([*rest, Item(at, at + 1, lexeme)], key=lambda item: item.first)


def completed(
    decisions: Sequence[Decision], tokens: Sequence[Token], grammar: GrammarFile
) -> list[Decision]:
    """Give what is said of a sentence's findings, also of those that share it."""
    said = referred(decisions, tokens, grammar.referring)
    words = [token.word for token in tokens] if len(said) > 1 else []
    if _CALLING.isdisjoint(words):
        return said
    for at in range(1, len(said)):
        hosts = [each for each in said[:at] if each.mention.last < said[at].mention.first]
        host = max(hosts, key=lambda each: each.mention.last, default=None)
        if host is not None and _shares(said[at], host, words, grammar):
            by, mention = host[1:4], said[at].mention
            said[at] = Decision(mention, *by, host.scope_first, mention.last, _SHARED)
    return said


def corrected(
    decisions: list[Decision], items: Sequence[Item], tokens: Sequence[Token], grammar: GrammarFile
) -> list[Decision]:
    """Leave out what a sentence takes back: "a small effusion, correction, no effusion".

    That is what is said anew behind it, or else the thing that another one at once replaces; a side
    ("left, correction, right") takes nothing back.
    """
    mark = next((item for item in items if item.lexeme.parts & Part.CORRECTING), None)
    before = [said for said in decisions if mark and said.mention.last <= mark.first]
    anew = decisions[len(before) :]
    if mark is None or not before or not anew:
        return decisions
    ahead = {token.word for token in tokens[max(mark.first - _BOTH, 0) : mark.first]}
    behind = {token.word for token in tokens[mark.last : mark.last + 1]}
    if not (grammar.sides.isdisjoint(ahead) or grammar.sides.isdisjoint(behind)):
        return decisions
    last, first = max(said.mention.last for said in before), anew[0].mention
    replaced = first.first - mark.last <= _BESIDE and mark.first - last <= 1
    names = {first.pathology}
    if replaced and grammar.definite.isdisjoint(behind):
        names |= {said.mention.pathology for said in before if said.mention.last == last}
    return [said for said in before if said.mention.pathology not in names] + anew


_SHARED: Final = "shared"


def _shares(said: Decision, host: Decision, words: Sequence[str], grammar: GrammarFile) -> bool:
    """Whether a finding is told by what was said of the one before: "…, nor can edema"."""
    (_, _, begin, end, base, *_), last = said.mention, host.mention.last
    behind = words[end] if end < len(words) else "."
    if base or behind not in _ENDS | _TOO or said.cue_first >= end:
        return False
    between = words[last:begin]
    if host.rule == _SHARED and _LISTING.issuperset(between):
        return True
    follows = host.cue_first >= last
    if behind in _TOO:
        return follows and said.rule == "plain assertion" and words[host.cue_last] in _LISTING
    for k in range(max(last, begin - _WITHIN), begin):
        helped = k + 1 < begin and words[k + 1] in _HELPING
        if words[k] == _SAME:
            rest = words[k:begin]
            return any(w in _FOR for w in rest)
        if words[k] not in _SHARING:
            continue
        well = helped and words[k + 1] == "well"
        if well:
            return follows and k - host.cue_last <= 1
        if helped or words[k] in {"nor", "neither"}:
            free = words[k + 1 + helped : begin]
            denied = not _DENYING.isdisjoint(words[host.cue_first : host.cue_last])
            return (helped or denied) and not any(
                not w.isalpha() or w in grammar.prepositions or w == "there" for w in free
            )
    return False


def referred(
    decisions: Sequence[Decision], tokens: Sequence[Token], referring: Container[str]
) -> list[Decision]:
    """Let what is graded of "the latter" be graded of the alternative that it means.

    Only where all alternatives are known to us: of "scar or malignancy" the latter is no scar.
    """
    named: list[Decision] = []
    for said in decisions:
        which = said.mention.pathology
        if which not in referring:
            named.append(said)
            continue
        among = [at for at, each in enumerate(named) if each[1:4] == named[-1][1:4]]
        if said.cue.kind not in {"hedge", "denial", "negation"} or len(among) < _BOTH:
            continue
        at, last = among[0 if which == _FORMER else -1], named[-1].mention.last
        if _JOINING.isdisjoint(token.word for token in tokens[last : said.mention.first]):
            meant = named[at].mention
            named[at] = said._replace(mention=meant, scope_first=meant.first, rule="referred")
    return named
