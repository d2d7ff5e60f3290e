"""The decision: which cue speaks for a mention, and what it says.

Precedence: a question, history or recommendation makes no statement; a negation in front of a
hedge wins ("no … to suggest"), "cannot exclude" is never undone by a negation, a negation behind a
hedge wins ("a suspicious nodule was not seen"), then the nearest cue in front, then the one behind,
then "versus" or a bare "or" between alternatives; what no cue governs is asserted. Once all of a
sentence is read, a label gives way to its value, a condition states nothing, and what is denied of
one side leaves the other (`settled`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from extraction.rules.idle import weighed
from extraction.rules.lexicon import Cue, Part
from extraction.rules.mentions import Mention
from extraction.rules.reach import DOUBTS
from extraction.rules.scan import Clause, Item, Scope, governs, is_finite
from extraction.rules.scopes import alternative_of, one_of_two, scopes
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

_ALTERNATIVES = Cue("versus", "hedge", "around")
_OPEN = Cue("cannot exclude", "denial", "before")
_PLAIN = Cue("present", "assertion", "before")
# A template's label is of so many words at most, its colon among them.
_LABEL_WITHIN: Final = 7
_SUPPOSED: Final = Cue(None, "ignore", "before")
_SUPPOSING: Final = frozenset({"if", "unless", "provided", "assuming", "supposing", "lest"})
_IN_CASE: Final = frozenset({("in", "case"), ("the", "event")})
_WHENEVER: Final = frozenset({"when", "whenever", "until", "once"})
_INVERTED: Final = frozenset({"should", "were", "had", "where"})
_CONDITIONAL: Final = _SUPPOSING | _WHENEVER | _INVERTED | {"case", "event"}
_ENDS_CONDITION: Final = frozenset({",", ";", "then", "would", "could", "might", "may"})
_BRIEF: Final = frozenset({"any", "available", "needed", "possible", "required", "unwell", "read"})
_ADVISES: Final = Part.RECOMMENDING | Part.COMMA
_TO_SIDE: Final = frozenset({"(", "on", "in", "at", "the", "of", "to"})
_PARTS: Final = frozenset({",", ";", "but", "and", "present", "-", "–"})
_GONE: Final = frozenset({"resolved", "cleared", "interval", "resolution", "clearing", "complete"})
_CONTRASTS: Final = frozenset({"but", "though", "although", "while"})
_THEM: Final = frozenset({"it", "one", "them"})
_QUALITIES: Final = frozenset(
    {"old", "new", "definite", "moderate", "large", "mild", "acute", "nondisplaced", "displaced"}
)
_DOUBTING: Final = frozenset({"hedge", "denial"})
_HELPING: Final = frozenset({"can", "could", "cannot", "may", "is", "are", "was", "seems"})
_DENIED: Final = frozenset({"absent", "question of"})
_PAST: Final = frozenset({"was", "were", "had"})
_BESIDE, _TOUCHING, _SUPPOSED_WITHIN, _BEFORE = 3, 1, 6, 2


class Decision(NamedTuple):
    """A mention with its cue: token ranges of cue and scope, and the rule that decided."""

    mention: Mention
    cue: Cue
    cue_first: int
    cue_last: int
    scope_first: int
    scope_last: int
    rule: str

    @property
    def states(self) -> bool:
        """Whether this is a statement at all."""
        return self.cue.kind not in {"ignore", "not evaluable"}


def decide(clause: Clause, mentions: Sequence[Mention]) -> tuple[list[Decision], Scope | None]:
    """Decide every mention of a clause.

    Returns
    -------
    The decisions, and a cue that looked back and found nothing in its own clause, if there is one:
    it may speak for the clause before ("…, although it cannot be excluded").
    """
    clause = weighed(clause)
    found = scopes(clause)
    said = [_decide(clause, mention, found) for mention in mentions]
    halves = [_plain(each.mention) for each in said if _is_half(clause, each)]
    return halves + said, _dangling(clause, found)


def carry_back(decisions: Sequence[Decision], clause: Clause, scope: Scope) -> list[Decision]:
    """Let a cue of the next clause speak for what was mentioned last in the clause before it.

    Behind a "but" it is the last word on all that was graded together ("possible but unlikely").
    """
    by, cue, last = clause.items[scope.at], scope.cue, decisions[-1]
    opens = {clause.tokens[clause.first - 1].word, clause.tokens[0].word}
    anew = not opens.isdisjoint(_CONTRASTS) and last.rule == "cue after"
    unproven = clause.tokens[by.last - 1].word in clause.grammar.proving
    kept = {"denial"} if anew else {"denial", cue.kind}
    kept |= {"hedge"} if unproven else set()
    return [
        Decision(said.mention, cue, by.first, by.last, said.mention.first, by.last, "carried back")
        if (said.mention.at == last.mention.at or (anew and said[1:4] == last[1:4]))
        and not said.mention.base
        and (said.cue.kind not in kept or (clause.aside and said.cue.phrase == "versus"))
        else said
        for said in decisions
    ]


def _is_half(clause: Clause, said: Decision) -> bool:
    """Whether only the second of two is graded: "right 8th and probable 9th rib fractures"."""
    if said.rule != "cue before" or said.cue.kind != "hedge":
        return False
    words = [token.word for token in clause.tokens]
    joint = said.cue_first - 1
    first = max((k + 1 for k in range(joint) if words[k] in _PARTS), default=0)
    ahead, sides = words[first:joint], {w for w in words if w[:-2].isdigit()} | clause.grammar.sides
    sited = words[joint] == "and" and sides.issuperset([*ahead[-1:], words[said.cue_last]])
    return sited and bool(ahead) and (clause.grammar.fillers | sides | _QUALITIES).issuperset(ahead)


def _dangling(clause: Clause, found: Sequence[Scope]) -> Scope | None:
    for scope in found:
        if scope.side != "after" or scope.cue.kind not in {"denial", "negation", "hedge"}:
            continue
        item = clause.items[scope.at]
        before = clause.items[: scope.at]
        told = [i.last - i.first for i in before if not i.lexeme.parts & ~Part.VERB]  # "I think"
        between = [token.word for token in clause.tokens[clause.first : item.last]]
        words = sum(
            word not in clause.grammar.trailing for word in between[: item.first - item.last]
        )
        pronoun = any(other.lexeme.parts & (Part.PRONOUN | Part.OPENER) for other in before)
        pronoun = pronoun or between[-1] in _THEM or words == sum(told)
        beside = before and before[-1].last == item.first and before[-1].lexeme.parts & Part.PRONOUN
        close = beside and not governs(before, scope.first, scope.at)
        begun = clause.tokens[clause.first - 1].word == "," and between[0] in _HELPING
        return scope if words == 0 or (pronoun and words <= 3) or close or begun else None
    return None


def _decide(clause: Clause, mention: Mention, found: Sequence[Scope]) -> Decision:
    items = clause.items
    before = [s for s in found if s.side == "before" and s.first <= mention.at < s.last]
    after = [s for s in found if s.side == "after" and s.first <= mention.at < s.last]
    if mention.base:
        return _based(clause, mention, before)
    if before and before[-1].cue.kind == "hedge":  # "suspected A, not confirmed on the lateral"
        proving, tokens = clause.grammar.proving, clause.tokens
        begin = items[before[-1].at].first  # "the suspected A is not confirmed"
        ahead = {token.word for token in tokens[max(begin - _BEFORE, 0) : begin]}
        earlier = not ahead.isdisjoint(clause.grammar.definite | clause.grammar.earlier)
        unproven = [s for s in after if tokens[items[s.at].last - 1].word in proving]
        after = [s for s in after if earlier or s not in unproven]
    chosen, rule = _choose(items, mention, before, after)
    unknown = chosen is not None and chosen.cue.kind == "hedge" and chosen.cue.phrase is None
    listed = chosen is not None and governs(items, chosen.first, mention.at)
    if unknown and not listed and mention.pathology in clause.grammar.signs:
        chosen = None
    open_ = chosen is None or unknown
    alternative = alternative_of(clause, mention.at, found) if open_ else None
    if alternative is None and chosen is None:
        alternative = one_of_two(clause, mention.at)
    if alternative is not None:
        return _from(items, mention, alternative, _ALTERNATIVES, "between alternatives")
    if chosen is not None:
        denied = chosen.cue.kind == "negation" and chosen.side == "before"
        said = _weakened(clause, chosen, found) if denied else chosen
        if rule == "negated hedge" and said.side == "after" and is_finite(items[said.at]):
            said = _doubted(clause, said, before[-1].cue) if before else said
        return _said(items, mention, _weighing(clause, said), rule)
    advice = _advice(items, mention)
    if advice is not None:
        return _from(items, mention, advice, Cue(None, "ignore", "before"), "recommendation")
    first = mention.cue_first if mention.cue_last else mention.first
    rule = "said of the subject" if mention.cue_last else "plain assertion"
    last = mention.cue_last or first
    return Decision(mention, _PLAIN, first, last, mention.first, mention.last, rule)


def _choose(
    items: Sequence[Item], mention: Mention, before: Sequence[Scope], after: Sequence[Scope]
) -> tuple[Scope | None, str]:
    nearest = before[-1] if before else None
    behind = max(after, key=_weight) if after else None
    negation = next((s for s in before if s.cue.kind == "negation"), None)
    silent = nearest is not None and nearest.cue.kind in {"ignore", "not evaluable"}
    if (silent or negation) and behind is not None and behind.cue.kind == "denial":
        return behind, "cue after"
    if silent and behind is not None and behind.cue.kind == "negation":
        by = items[behind.at]  # "the report describes A, I see none", no "CT for A not seen before"
        if is_finite(by) or by.lexeme.said.endswith("none") or _valued(items, mention, behind):
            return behind, "cue after"
    if silent:
        return nearest, "no statement"
    if behind is not None and behind.cue.kind == "not evaluable":
        return behind, "no statement"
    if negation is not None:
        return negation, "cue before" if negation is nearest else "negated hedge"
    if behind is not None and behind.cue.kind == "negation":
        if nearest is not None and nearest.cue.kind in {"denial", "assertion"}:
            return nearest, "cue before"
        return behind, "cue after" if nearest is None else "negated hedge"
    if nearest is not None and not (behind and _outspeaks(items, mention, behind, nearest)):
        return nearest, "cue before"
    return behind, "cue after"


def _weight(scope: Scope) -> tuple[bool, ...]:
    """Of two cues behind a mention a denial speaks, a negation, a grade, no "rather than"."""
    kind = scope.cue.kind
    return kind == "denial", kind == "negation", kind != "ignore", scope.cue.phrase != "likely"


def _valued(items: Sequence[Item], mention: Mention, behind: Scope) -> bool:
    """Whether a cue is the answer to what is asked: "query edema: unlikely"."""
    return any(item.lexeme.parts & Part.COLON for item in items[mention.at : behind.at])


def _outspeaks(items: Sequence[Item], mention: Mention, behind: Scope, nearest: Scope) -> bool:
    """Whether the cue behind wins: "likely atelectasis, pneumonia less likely" is of the second."""
    if nearest.cue.kind == "assertion" or behind.cue.kind in {"denial", "ignore"}:
        return True
    if nearest.cue.phrase == "versus" and behind.cue.phrase in DOUBTS:
        return True
    if nearest.cue.phrase == "question of" and _valued(items, mention, behind):
        return True
    if items[nearest.at].lexeme.parts & Part.JUDGING:  # "I think infection is unlikely"
        return True
    if behind.cue.side == "after" and items[behind.at].lexeme.answers:  # "Query edema? Possible."
        return True
    between = items[nearest.at + 1 : mention.at]
    return behind.cue.phrase in DOUBTS and any(i.lexeme.parts & Part.MENTION for i in between)


def _weakened(clause: Clause, negation: Scope, found: Sequence[Scope]) -> Scope:
    """Turn a hedge that touches a denial and has no other object: "probably no effusion".

    So does "neither A nor B is likely", and what is denied of an absence leaves it open.
    """
    items, at = clause.items, negation.at - 1
    told = {token.word for token in clause.tokens[slice(*items[negation.at][:2])]}
    after = [scope for scope in found if scope.side == "after" and scope.at > negation.first]
    doubts = (s.cue.phrase for s in after if is_finite(items[s.at]))
    if "absence" in told and not _DENIED.isdisjoint(doubts):
        return negation._replace(cue=_OPEN)
    if not told.isdisjoint({"neither", "nor"}):
        graded = (clause.grammar.opposite.get(scope.cue.phrase or "") for scope in after)
        phrase = next(filter(None, graded), None)
        return negation._replace(cue=Cue(phrase, "hedge", "before")) if phrase else negation
    if at < 0 or items[at].last != items[at + 1].first or governs(items, 0, at):
        return negation
    hedged = next((cue.phrase for cue in items[at].lexeme.cues), "")
    phrase = clause.grammar.opposite.get(hedged or "")
    return negation._replace(at=at, cue=Cue(phrase, "hedge", "before")) if phrase else negation


def _doubted(clause: Clause, denial: Scope, doubt: Cue) -> Scope:
    """Turn a denial that is itself doubted: "I doubt that the effusion is absent"."""
    phrase = clause.grammar.opposite.get(doubt.phrase or "")
    return denial._replace(cue=Cue(phrase, "hedge", "after")) if doubt.phrase in DOUBTS else denial


def _weighing(clause: Clause, asked: Scope) -> Scope:
    """Turn what asks which of two it is: "hard to say whether this is a nodule or a nipple"."""
    item = clause.items[asked.at]
    asks = (token.word in {"whether", "if"} for token in clause.tokens[item.first : item.last])
    if asked.cue.phrase != "question of" or not any(asks):
        return asked
    either = (i for i in clause.items[asked.first : asked.last] if i.lexeme.parts & Part.OR)
    parted = any(clause.tokens[i.last].word != "not" for i in either)
    return asked._replace(cue=_ALTERNATIVES) if parted else asked


def _said(items: Sequence[Item], mention: Mention, scope: Scope, rule: str) -> Decision:
    item = items[scope.at]
    far = items[min(scope.last, len(items)) - 1 if scope.side == "before" else scope.first]
    first, last = min(item.first, far.first), max(item.last, far.last)
    kind = "not evaluable" if scope.cue.kind == "not evaluable" else rule
    return Decision(mention, scope.cue, item.first, item.last, first, last, kind)


def _based(clause: Clause, mention: Mention, before: Sequence[Scope]) -> Decision:
    """Decide what carries its own answer; a hedge of that answer weighs the other way."""
    cue, first = Cue(mention.base, "negation", "after"), mention.cue_first
    turned = clause.grammar.opposite.get(before[-1].cue.phrase or "") if before else None
    if before and before[-1].cue.kind in {"ignore", "not evaluable"}:
        cue = before[-1].cue
    elif turned is not None:
        item = clause.items[before[-1].at]
        if 0 <= mention.cue_first - item.last <= _TOUCHING:
            cue = Cue(turned, "hedge", "before")
            first = min(item.first, first)
    last = mention.cue_last
    return Decision(mention, cue, first, last, *mention[2:4], "said of the subject")


def _from(items: Sequence[Item], mention: Mention, at: int, cue: Cue, rule: str) -> Decision:
    item = items[at]
    first, last = min(mention.first, item.first), max(mention.last, item.last)
    return Decision(mention, cue, item.first, item.last, first, last, rule)


def _advice(items: Sequence[Item], mention: Mention) -> int | None:
    """Item of a recommendation the mention is the object of: before it, with no comma between."""
    stops = (j for j in reversed(range(mention.at)) if items[j].lexeme.parts & _ADVISES)
    at = next(stops, None)
    return None if at is None or not items[at].lexeme.parts & Part.RECOMMENDING else at


def settled(
    decisions: Sequence[Decision], tokens: Sequence[Token], grammar: GrammarFile
) -> list[Decision]:
    """Give a sentence's decisions as they stand once all of it is read."""
    words = [token.word for token in tokens]
    mark = words.index(":", 0, _LABEL_WITHIN) if ":" in words[:_LABEL_WITHIN] else 0
    valued = {said.mention.pathology for said in decisions if said.mention.first > mark}
    supposed = [] if _CONDITIONAL.isdisjoint(words[:-1]) else [*_conditions([*words, "."])]
    sides = _Sides(words, grammar)
    return [
        each
        for said in decisions
        if said.mention.last > mark
        or said.mention.pathology not in valued
        or said.rule != "plain assertion"
        for each in _by_side(_unsupposed(said, supposed, sides), sides)
    ]


def _conditions(words: Sequence[str]) -> Iterator[tuple[range, bool]]:
    """Give the tokens of each condition, and whether it supposes all that it names.

    "If PE is suspected, …", "should PE develop, …"; "when PE is suspected" supposes its doubt only.
    """
    for first, word in enumerate(words):
        if word not in _CONDITIONAL or words[first + 1] in _BRIEF:  # "if unwell is …"
            continue
        begins = first == 0 or (word == "should" and not words[first - 1].isalnum())
        past = word == "when" and not _PAST.isdisjoint(words[first + 1 : first + 3])
        supposes = word in _SUPPOSING or past or (words[first - 1], word) in _IN_CASE
        whole = supposes or (begins and word in _INVERTED)
        ends = (k for k in range(first, len(words)) if words[k] in _ENDS_CONDITION)
        if whole or word in _WHENEVER:
            yield range(first + 1, next(ends, len(words))), whole


def _unsupposed(
    said: Decision, conditions: Sequence[tuple[range, bool]], sides: _Sides
) -> Decision:
    """Let what a condition only supposes state nothing, nor what "should be suspected" then."""
    words, grammar, first = sides.words, sides.grammar, said.mention.first
    doubts, ahead = said.cue.kind in _DOUBTING, [".", *words[max(first - 2, 0) : first]]
    known = not grammar.definite.isdisjoint(ahead) and ahead[-1] not in grammar.copulas | {"be"}
    lasts = not grammar.lasting.isdisjoint(words[said.mention.last : said.mention.last + 1])
    given = known or (lasts and ahead[-1] != "is")
    for inside, whole in conditions:
        near = first in inside and said.cue_first in inside
        supposed = doubts or (not given and first - inside.start <= _SUPPOSED_WITHIN)
        told = words[said.cue_first : said.cue_last] == ["should", "be", "suspected"]
        if told or (near and ((whole and supposed) or said.rule == "cue after")):
            return said._replace(cue=_SUPPOSED)
    return said


class _Sides(NamedTuple):
    """The words of a sentence, and which of them are sides."""

    words: Sequence[str]
    grammar: GrammarFile

    def other(self, begin: int) -> bool:
        """Whether a side follows at once: "none on the left"."""
        rest = [word for word in self.words[begin:] if word not in _TO_SIDE]
        both = rest[2:3] == ["none"]  # "none on the right and none on the left"
        return bool(rest) and rest[0] in self.grammar.sides and not both

    def other_before(self, said: Decision) -> bool:
        """Whether the denial is of another side that stands before it: "right, left none"."""
        begin, end = said.mention.last, said.cue_first
        parted = max((k for k in range(begin, end) if self.words[k] in _PARTS), default=end)
        ahead = self.words[max(said.mention.first - _BESIDE, 0) : parted]
        own = {word[0] for word in ahead if word in self.grammar.sides}
        told = [w for w in self.words[parted + 1 : end] if w not in _TO_SIDE]
        alone = bool(told) and self.grammar.sides.issuperset(told)
        return alone and bool(own) and told[0][0] not in own


def _by_side(said: Decision, sides: _Sides) -> Iterator[Decision]:
    """Let what is denied of one side leave the other: "a right effusion, none on the left"."""
    gone = said.rule in {"cue after", "carried back"} or sides.words[said.cue_first] in _GONE
    if said.cue.kind == "negation" and gone:
        parted = not _PARTS.isdisjoint(sides.words[said.mention.last : said.cue_last - 1])
        apart = parted and sides.other(said.cue_last)
        if apart or sides.other_before(said):
            yield _plain(said.mention)
    yield said


def _plain(mention: Mention) -> Decision:
    """Assert what is denied, or graded, on the other side alone."""
    return Decision(mention, _PLAIN, *mention[2:4], *mention[2:4], "said of one side")
