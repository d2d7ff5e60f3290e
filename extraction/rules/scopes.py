"""Which scopes the cues of a clause have: forward, backward, or to both neighbours.

Scopes are ranges of item positions inside one clause; every rule exists because of a sentence in
tests/clinical.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from extraction.rules.backward import backward, meant
from extraction.rules.lexicon import Cue, Part
from extraction.rules.reach import absorbed_until, forward, without_places
from extraction.rules.scan import GOVERNABLE, Clause, Item, Scope, governs, is_finite

_SHORT, _BEHIND_VERB = 5, 2
# So many words may name a cause of no name of ours, part a place.
_CAUSE, _PLACED = 4, 2
# So many words may stand between a cue and the colon behind which its list is.
_LABEL, _COLONS = 4, frozenset({":", "-"})
_FIRM: Final = (
    Part.MENTION | Part.CUE | Part.VERB | Part.OR | Part.AND | Part.COMPANION | Part.COMMA
    | Part.COLON
)  # fmt: skip
_PLACE: Final = Part.LUNG | Part.ELSEWHERE | Part.SUBJECT
_SITED: Final = Part.ASSERTING | Part.LUNG
_THERE: Final = frozenset({"there", "or"})
_LIMITS: Final = frozenset({"limit", "limits", "limitations", "constraints", "confines"})
_HANGING: Final = frozenset({"and", "or", "in", "at", "on", "over", "within", "along", "with"})
_OBJECT: Final = Part.MENTION | Part.CAUSE | Part.ASSERTING
_PAUSES: Final = frozenset({",", "and"})


def scopes(clause: Clause) -> list[Scope]:
    """Scopes of every cue in a clause, in the order of the cues."""
    found: list[Scope] = []
    absorbed = -1
    for at, item in enumerate(clause.items):
        if not item.lexeme.parts & Part.CUE or at <= absorbed:
            continue
        for scope in _scopes_of(clause, at):
            if scope.side == "before":
                absorbed = absorbed_until(clause.items, scope)
            found += without_places(clause, scope)
    return found


def _scopes_of(clause: Clause, at: int) -> list[Scope]:
    items = clause.items
    cues = {cue.side: cue for cue in items[at].lexeme.cues}
    if "around" in cues:
        return [Scope(at, cues["around"], at, at + 1, "around")]
    if _heads_list(clause, at):
        cue = cues.get("after") or cues.get("either") or cues["before"]
        return [Scope(at, meant(clause, at, cue), at + 1, _listed_until(items, at), "before")]
    ahead = cues.get("before") or cues.get("either")
    behind = cues.get("after") or cues.get("either")
    reach = None if ahead is None else forward(clause, at, ahead)
    if reach is not None and _values(clause, at, reach):
        return [backward(clause, at, reach.cue)]
    if behind is None:
        return [reach] if reach is not None else []
    told = meant(clause, at, behind)
    back = backward(clause, at, told)
    if reach is None or told.kind != behind.kind:  # "an opacity, not seen before, likely is edema"
        return [(reach is None and _inverted(clause, at, behind)) or back]
    return _of_two(clause, at, behind, back, reach)


def _heads_list(clause: Clause, at: int) -> bool:
    """Whether a cue heads what it is of, with a colon: "Not seen: effusion, pneumothorax"."""
    items, tokens = clause.items, clause.tokens
    item = items[at]
    marks = (i.first for i in items[at + 1 :] if i.lexeme.parts & (Part.COLON | GOVERNABLE))
    ends = tokens[item.last - 1].word == ":" and item.last - item.first > 1
    colon = item.last - 1 if ends else next(marks, 0)
    opens = item.first <= _LABEL and not item.lexeme.parts & Part.RECOMMENDING
    if not opens or governs(items, 0, at) or tokens[colon].word not in _COLONS:
        return False
    between = tokens[item.last : colon]
    near = _LABEL if any(cue.side != "before" for cue in item.lexeme.cues) else 0
    return len(between) <= near and all(token.word.isalpha() for token in between)


def _listed_until(items: Sequence[Item], at: int) -> int:
    """Give where a list behind a colon ends: at a comma before another cue."""
    for k in range(at + 2, len(items)):
        ahead = items[k - 1].lexeme.parts & Part.COMMA
        if ahead and any(cue.side != "after" for cue in items[k].lexeme.cues):
            return k
    return len(items)


def _of_two(clause: Clause, at: int, behind: Cue, back: Scope, reach: Scope) -> list[Scope]:
    """Choose between what stands before a cue and what follows it."""
    items = clause.items
    found = governs(items, at + 1, reach.last) and not _denies_another(clause, at, behind)
    listed = items[max(at - 1, 0)].lexeme.parts & Part.COMMA
    free = _stands_free(clause, items[at]) and (found or listed or _of_another(clause, at))
    if free or _weighs_second(items, at):
        return [reach]
    if reach.cue.phrase != back.cue.phrase:  # "favored over": one thing likely, one not
        beside = items[at - 1].lexeme.parts & Part.MENTION and items[at - 1].last == items[at].first
        return [back, reach] if found or beside or items[at].lexeme.finite else [reach]
    if found and behind.kind == "negation" and listed:
        return [reach]  # "heart normal, nil effusion"
    if behind.side == "either":
        if found and not _ends_here(clause, at):
            return [reach]
        return [back] if found or _may_look_back(clause, at) else []
    return [back] if governs(items, back.first, at) or not found else [reach]


def _denies_another(clause: Clause, at: int, cue: Cue) -> bool:
    """Whether it denies a subject of no name of ours: "cavity not seen, left apical scarring"."""
    (first, last, _), tokens = clause.items[at], clause.tokens
    if cue.side != "after" or tokens[first].word not in {"not", "is", "are", "was", "were"}:
        return False
    subject = first > 0 and tokens[first - 1].word.isalpha()
    told = (
        subject
        and tokens[first - 1].word not in clause.grammar.fillers | clause.grammar.copulas | _THERE
    )
    return told or not tokens[last].word.isalnum()


def _values(clause: Clause, at: int, reach: Scope) -> bool:
    """Whether a cue without an object is the value of a label: "Consolidation: cannot exclude".

    What cannot be excluded at a clause's end is what stands before it, label or not.
    """
    items = clause.items
    if reach.cue.kind == "denial" and not clause.tokens[items[at].last].word.isalnum():
        return governs(items, 0, at) or (clause.aside and len(items) == 1)  # "(cannot exclude)"
    label = at > 1 and items[at - 1].lexeme.parts & Part.COLON and governs(items, 0, at - 1)
    named = Part.MENTION | Part.SPLIT_SUBJECT
    return bool(label) and not any(i.lexeme.parts & named for i in items[at + 1 : reach.last])


def _inverted(clause: Clause, at: int, cue: Cue) -> Scope | None:
    """Scope of a predicate that opens its clause: "not excluded is a small effusion"."""
    items = clause.items
    following = items[at + 1] if at + 1 < len(items) else None
    transitive = clause.tokens[items[at].last - 1].word in clause.grammar.transitive
    if following is None or transitive or governs(items, 0, at):
        return None
    verb = following.lexeme.parts & Part.VERB and following.first == items[at].last
    if not verb and clause.tokens[items[at].last].word not in clause.grammar.articles:
        return None
    reach = forward(clause, at, cue)
    return reach if governs(items, at + 1, reach.last) else None


def _stands_free(clause: Clause, item: Item) -> bool:
    """Whether a question mark stands between two words: "opacities ? infective", "(?) infective".

    What hangs on the word before it, or opens another statement, is not what it asks about.
    """
    tokens, grammar, first, last = clause.tokens, clause.grammar, item.first, item.last
    # "?" or "(?)"
    if not (tokens[first].word in {"?", "("} and 0 < first < last < len(tokens)):
        return False
    word, apart = tokens[last].word, tokens[first - 1].end < tokens[first].start
    opens = word in grammar.restarts - grammar.asked
    return apart and word.isalnum() and word not in _HANGING and not opens


def _of_another(clause: Clause, at: int) -> bool:
    """Whether what follows the mark has no name of ours: "a nodule ? metastasis"."""
    last = clause.items[at].last
    beside = at + 1 < len(clause.items) and clause.items[at + 1].first == last
    return not beside and clause.tokens[last].word not in clause.grammar.fillers


def _weighs_second(items: list[Item], at: int) -> bool:
    """Whether the cue grades the second of two: "edema or, less likely, pneumonia"."""
    j = at - 1
    if j > 0 and items[j].lexeme.parts & Part.COMMA:
        j -= 1
    joins = j >= 0 and items[j].lexeme.parts & (Part.OR | Part.AND)
    touches = bool(joins) and items[j + 1].first == items[j].last
    return touches and governs(items, at + 1, len(items))


def _interposed(clause: Clause, at: int) -> bool:
    """Whether a cue between commas grades what a verb goes on to say: "is, I think, an infarct"."""
    items, last = clause.items, clause.items[at].last
    verb, comma = items[at - 2 : at] if at >= _BEHIND_VERB else (items[at], items[at])
    parted = comma.lexeme.parts & Part.COMMA and verb.last == comma.first
    return (
        bool(parted)
        and is_finite(verb)
        and [t.word for t in clause.tokens[last : last + 1]] == [","]
    )


def _ends_here(clause: Clause, at: int) -> bool:
    """Whether a comma follows at once: "atelectasis is likely, …" looks back."""
    last = clause.items[at].last
    comma = any(token.word in _PAUSES for token in clause.tokens[last : last + 1])
    following = clause.items[at + 1 : at + 2]  # behind an aside its object, and no comma
    if following and following[0].first > last and following[0].lexeme.parts & _OBJECT:
        return False
    return comma and governs(clause.items, 0, at) and not _interposed(clause, at)


def _may_look_back(clause: Clause, at: int) -> bool:
    """Whether a cue without an object in the vocabulary speaks of what stands before it.

    "An effusion is likely" does; "an effusion, likely physiologic" and "likely related to
    hypoventilation" speak of something else.
    """
    items, tokens, grammar = clause.items, clause.tokens, clause.grammar
    item, last = items[at], items[at].last
    if tokens[last - 1].word in grammar.transitive:
        return False
    if item.lexeme.finite and tokens[last - 1].word in grammar.predicative:
        return True
    if _interposed(clause, at):  # "is, I think, the cause"
        told = (t.word for t in tokens[last + 1 :] if t.word not in grammar.definite)
        return next(told, "") in grammar.trailing
    while last < len(tokens) and tokens[last].word in grammar.trailing:
        last += 1
    if last >= len(tokens):
        return True
    following = tokens[last].word
    if following in grammar.sides:  # "aspiration possible RLL"
        return at > 0 and items[at - 1].last == item.first and governs(items, at - 1, at)
    if following == "within":  # "is likely within the limits of this study", not "within the lobe"
        return not _LIMITS.isdisjoint(token.word for token in tokens[last : last + _SHORT])
    if following == "of" and last > item.last:  # "is a possible cause of the cough"
        return True
    return not following[0].isalnum() or following in grammar.adjuncts


def alternative_of(clause: Clause, at: int, found: Sequence[Scope]) -> int | None:
    """Item that offers a mention as one of several: "versus", or a bare "or" beside it."""
    around = {scope.at for scope in found if scope.side == "around"}
    before = _offering(clause, range(at - 1, -1, -1), at, around)
    if before is not None:
        return before
    return _offering(clause, range(at + 1, len(clause.items)), at, around)


def _offering(clause: Clause, beside: range, at: int, around: Container[int]) -> int | None:
    """Look for that item on one side of a mention, from the nearest on."""
    items, ahead = clause.items, beside.step > 0
    joined = None
    for j in beside:
        parts = items[j].lexeme.parts
        if parts & Part.MENTION:
            return joined
        if j in around:
            return None if ahead and _another(clause, at, j) else j
        if parts & Part.OR:
            joined = j
            if ahead and _graded_after(items, j):
                return j
        elif parts & Part.CAUSE and joined is None:  # "edema or asthma with superimposed nodule"
            return None
        elif parts & (Part.CUE | Part.COMPANION | Part.VERB | Part.COMMA | Part.COLON):
            listed = _lists_causes(items, min(at, j), j)
            return listed if ahead or listed == joined else None
    return None


def _lists_causes(items: Sequence[Item], at: int, comma: int) -> int | None:
    """Item of the "or" that ends a list of causes: "consolidation: collapse, edema or blood"."""
    plain = Part.MENTION | Part.COMMA | Part.LUNG | Part.ASSERTING
    colon = next((k for k in range(at) if items[k].lexeme.parts & Part.COLON), 0)
    ends = (k for k in range(comma, len(items)) if not items[k].lexeme.parts & plain)
    either = next(ends, at) if governs(items, 0, colon) else at
    return either if items[either].lexeme.parts & Part.OR else None


def _another(clause: Clause, at: int, around: int) -> bool:
    """Whether a cause of no name of ours stands behind the place of a finding.

    "Opacity in the right lung contusion versus aspiration" leaves the opacity to be seen.
    """
    place = clause.items[around - 1]
    if around - at < _PLACED or not place.lexeme.parts & _PLACE:
        return False
    between = clause.tokens[place.last : clause.items[around].first]
    return any(t.word.isalpha() and t.word not in clause.grammar.fillers for t in between)


def _graded_after(items: Sequence[Item], either: int) -> bool:
    """Whether a graded alternative follows: "or, less likely, pneumonia"."""
    j = either + 1
    if j < len(items) and items[j].lexeme.parts & Part.COMMA:
        j += 1
    touches = j < len(items) and items[j].first == items[j - 1].last
    return touches and any(cue.kind == "hedge" for cue in items[j].lexeme.cues)


def one_of_two(clause: Clause, at: int) -> int | None:
    """Item of an "or" in apposition whose other side has no name of ours: "…, infarct or edema"."""
    items, tokens, grammar = clause.items, clause.tokens, clause.grammar
    ahead = at - 1
    if ahead > 0 and tokens[items[ahead].first].word in grammar.articles:  # "or a small effusion"
        ahead -= 1
    for either, step in ((ahead, -1), (at + 1, 1)):
        if not 0 <= either < len(items) or not items[either].lexeme.parts & Part.OR:
            continue
        before = _opens_apposition(items, min(either, at) - 1)
        if before is None:
            continue
        if step < 0:
            begin, stop = items[before].last if before >= 0 else clause.first, items[either].first
            places = (i.last for i in items[before + 1 : either] if i.lexeme.parts & _SITED)
            marks = (k for k in range(stop, 0, -1) if not tokens[k - 1].word.isalpha())
            named = (k for k in range(stop, next(marks, 0), -1) if tokens[k - 1].word == "of")
            begin = max([next(named, begin), *places])  # "changes of [bronchitis] or edema"
        else:
            begin = items[either].last
            later = (item.first for item in items[either + 1 :] if item.lexeme.parts & _FIRM)
            stop = next(later, len(tokens))
            ends = grammar.prepositions | _PAUSES
            stop = next((k for k in range(begin, stop) if tokens[k].word in ends), stop)
        words = [token.word for token in tokens[begin:stop] if token.word.isalpha()]
        open_ = not words or words[-1] in grammar.unending  # "viral or bacterial pneumonia"
        if not open_ and len(words) <= _CAUSE and grammar.vague.isdisjoint(words):
            return either
    return None


def _opens_apposition(items: Sequence[Item], j: int) -> int | None:
    """Position of the comma or colon that opens it, -1 for the clause's start; None for neither."""
    while j >= 0 and not items[j].lexeme.parts & _FIRM:
        j -= 1
    return j if j < 0 or items[j].lexeme.parts & (Part.COMMA | Part.COLON) else None
