"""How far a cue reaches back that stands after what it governs, and what it means there."""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile
from typing import Final

from extraction.rules.lexicon import Cue, Part
from extraction.rules.reach import DOUBTS, is_place
from extraction.rules.scan import GOVERNABLE, Clause, Item, Scope, denies, governs, is_finite
from extraction.rules.tokens import Token
from extraction.vocabulary.patterns import expand
from extraction.vocabulary.schema import GrammarFile

_STATED: Final = Part.ASSERTING | Part.PARTICIPLE | Part.PREDICATE | Part.COMMA
_POSSESSIVE, _HYPHEN = "'", "-"
_JOINS: Final = frozenset({"and", "but", "while", "although", "though", "whereas"})
_STILL: Final = Cue("present", "assertion", "after")
_ADVICE: Final = Cue(None, "ignore", "after")
_EARLIER_WITHIN, _YEAR, _ADVERBS, _QUANTIFIED = 7, 4, 2, 2
_ONCE: Final = frozenset({"suspected", "queried", "questioned", "suggested", "possible"})
_HELPS: Final = frozenset({",", "-", "(", ")", "been", "now", "since", "also"})


def backward(clause: Clause, at: int, cue: Cue) -> Scope:
    """Scope of a cue that stands after what it governs.

    It ends at "with", at another cue, at a comma that no "or"/"and" ties to the list, and at a
    finite verb once something was found; a hedge also at a second mention nothing joins to it.
    """
    items, tokens, first = clause.items, clause.tokens, at
    governed = joined = renamed = False
    comma = at > 0 and items[at - 1].lexeme.parts & Part.COMMA
    tied = picks = bool(comma) and cue.phrase == "versus" and items[at - 1].last == items[at].first
    told = any(item.lexeme.parts & Part.SUBJECT for item in items[:at])
    named = GOVERNABLE if told else GOVERNABLE & ~Part.PREDICATE
    for j in range(_subject_ends(items, at) - 1, -1, -1):
        parts = items[j].lexeme.parts
        if governed and _sets_against(items[j], tokens):  # "A rather than B is suggested"
            first, tied, governed, joined = j, False, False, False
            continue
        passed = not governed and (  # "not seen, one not excluded"; "suspected then, is not seen"
            (renamed and cue.kind == "denial")
            or (cue.kind != "hedge" and tokens[items[j].last - 1].word in _ONCE)
            or (is_finite(items[at]) and _is_aside(items, j, cue))
        )
        if parts & Part.COMPANION and not governed and is_finite(items[at]):  # "A with B is likely"
            passed = all(t.word.isalpha() for t in tokens[items[j].last : items[at].first])
        beside = governed and parts & Part.CAUSE and tokens[items[j].first].word == "with"
        ends = parts & (Part.CUE | Part.COMPANION) and not parts & Part.MENTION and not passed
        seen = picks and clause.grammar.signs.issuperset(items[j].lexeme.pathologies or "-")
        if ends or beside or (governed and (seen or is_finite(items[j]))):
            break
        renamed = renamed or bool(parts & Part.PRONOUN)
        if parts & Part.MENTION and not governed and is_place(clause, j):
            first = j
            continue
        if parts & Part.COMMA and governed and _list_ends(clause, j, at, cue, tied=tied):
            break
        if parts & (Part.COMMA | Part.COLON) and not governed and _named(clause, j, at):
            listed = (tied and cue.phrase == "versus") or _last_of_list(items, j)
            if parts & Part.COLON or not listed:
                break
            tied = True
        second = governed and not joined and bool(parts & Part.MENTION)
        if second and cue.kind != "negation" and not _one_thing(items, j, tokens):
            break
        tied = tied or bool(parts & Part.COORDINATOR)
        joined = bool(parts & (Part.COORDINATOR | Part.COMMA)) or (
            joined and not parts & Part.MENTION
        )
        governed = governed or bool(parts & (Part.MENTION if renamed else named))
        first = j
    return Scope(at, cue, first, at, "after")


def _subject_ends(items: list[Item], at: int) -> int:
    """Give where a predicate's subject ends, before an aside: "effusion, seen then, is gone"."""
    head = at  # with the verbs before it: "…, is thought unlikely"
    while (
        head > 1 and items[head].first - items[head - 1].last < _ADVERBS and _tells(items[head - 1])
    ):
        head -= 1
    near = head > 1 and items[head].first - items[head - 1].last < _ADVERBS
    if not near or not is_finite(items[head]):
        return at
    aside = [*takewhile(lambda item: not item.lexeme.parts & Part.COMMA, items[head - 2 :: -1])]
    opens = head - 2 - len(aside)
    said = any(is_finite(item) or denies(item) for item in aside)
    comma = items[head - 1].lexeme.parts & Part.COMMA
    return opens if comma and not said and opens > 0 and governs(items, 0, opens) else at


def _tells(item: Item) -> bool:
    """Whether it is a verb and nothing else, or a judgement that gave its weight away."""
    return not item.lexeme.parts & ~Part.VERB


def _one_thing(items: list[Item], j: int, tokens: list[Token]) -> bool:
    """Whether nothing parts a name from the next: "TB pneumonia?", "collapse-consolidation"."""
    last, first = items[j].last, items[j + 1].first
    named = bool(items[j + 1].lexeme.parts & Part.MENTION)
    tight = first == last or tokens[last].start == tokens[last - 1].end
    return named and tight and all(token.word == _HYPHEN for token in tokens[last:first])


def _sets_against(item: Item, tokens: list[Token]) -> bool:
    """Whether the cue doubts what follows in favour of what stands before it: "rather than"."""
    doubts = any(c.side == "before" and c.phrase in DOUBTS for c in item.lexeme.cues)
    return doubts and tokens[item.last - 1].word in {"than", "of", "to"}


def _named(clause: Clause, comma: int, at: int) -> bool:
    """Whether the cue has a subject of its own, outside the vocabulary, after the comma."""
    between = clause.tokens[clause.items[comma].last : clause.items[at].first]
    return any(t.word.isalpha() and t.word not in clause.grammar.fillers for t in between)


def _last_of_list(items: list[Item], comma: int) -> bool:
    """Whether what follows the comma is the last of a list: "a, b, and blunting have cleared"."""
    following = items[comma + 1].lexeme.parts if comma + 1 < len(items) else 0
    return bool(following & Part.COORDINATOR) and any(
        item.lexeme.parts & Part.COMMA for item in items[:comma]
    )


def _list_ends(clause: Clause, comma: int, at: int, cue: Cue, *, tied: bool) -> bool:
    """Whether a comma separates statements.

    Always an untied one for a hedge; for a negation when what stands before is asserted ("minimal
    effusion, …"); for a denial one before "and" that closes no list ("no X, and Y not excluded").
    """
    items = clause.items
    if tied:
        opens = cue.kind == "denial" and items[comma + 1].lexeme.parts & Part.AND
        return bool(opens) and not _last_of_list(items, comma)
    if cue.kind != "negation" or _graded(items[:comma]):  # "likely edema, effusion absent"
        return True
    ahead = (item.lexeme.parts & _STATED for item in reversed(items[:comma]))
    stated = not next(filter(None, ahead), Part.COMMA) & Part.COMMA
    return stated or _stands(clause, comma, at)


def _is_aside(items: list[Item], j: int, cue: Cue) -> bool:
    """Whether a predicate is of what stands before a cue: "a nodule flagged by AI is not seen".

    So is a denial, of what a hedge tells of a cause without a name of ours ("nodules suspicious for
    metastases are not seen").
    """
    if any(told.kind == "ignore" and told.side == "after" for told in items[j].lexeme.cues):
        return True
    named = j > 0 and items[j - 1].lexeme.parts & Part.MENTION
    tells = named and items[j - 1].last == items[j].first and not is_finite(items[j])
    hedges = any(told.kind == "hedge" and told.side != "after" for told in items[j].lexeme.cues)
    return bool(tells) and hedges and cue.kind == "negation"


def _graded(before: list[Item]) -> bool:
    """Whether the stretch before a comma has a grade of its own."""
    told = takewhile(lambda item: not item.lexeme.parts & Part.COMMA, reversed(before))
    return any(cue.kind == "hedge" and cue.side != "after" for i in told for cue in i.lexeme.cues)


def _stands(clause: Clause, comma: int, at: int) -> bool:
    """Whether what a comma parts from a denial is there: "cardiomegaly, effusion not seen".

    It has a size or an article, or nobody denies it in passing, as in front of a list.
    """
    items, undenied = clause.items, clause.grammar.undenied
    opens = next((k + 1 for k in range(comma - 1, -1, -1) if items[k].lexeme.parts & Part.COMMA), 0)
    begin = items[opens].first
    while begin and clause.tokens[begin - 1].word.isalnum():
        begin -= 1
    if clause.tokens[begin].word[0].isdigit() or clause.tokens[begin].word in {"a", "an", "there"}:
        return True
    named = {name for item in items[opens:comma] for name in item.lexeme.pathologies}
    denied = {name for item in items[comma:at] for name in item.lexeme.pathologies}
    return not named.isdisjoint(undenied) and denied.isdisjoint(undenied)


def meant(clause: Clause, at: int, cue: Cue) -> Cue:
    """Return what a cue behind its object means.

    That is an assertion when it denies something about an earlier examination, and nothing when it
    advises one ("CT of the nodule is suggested").
    """
    item, tokens, grammar = clause.items[at], clause.tokens, clause.grammar
    if item.lexeme.parts & Part.RECOMMENDING and _examines(item, tokens, grammar):
        return _ADVICE
    if cue.kind != "negation":
        return cue
    if tokens[item.last - 1].word in grammar.going and _in_part(item, tokens, grammar):
        return _STILL
    relative = item.first > 0 and tokens[item.first - 1].word in {"which", "that", ","}
    behind = clause.items[at + 1 : at + 2]
    relative = relative or bool(behind and not is_finite(item) and is_finite(behind[0]))
    for token in tokens[item.last : item.last + _EARLIER_WITHIN]:
        if token.word in {"this", "today", "current", "now", "since", "compared"}:
            break
        word = token.word
        year = len(word) == _YEAR and word.isdigit()
        if year or word in grammar.earlier or (relative and word in grammar.examinations):
            return _STILL
        if (not token.word.isalnum() and token.word != _POSSESSIVE) or token.word in _JOINS:
            break
    return cue


def _in_part(item: Item, tokens: list[Token], grammar: GrammarFile) -> bool:
    """Whether what went did so in part: "has, in the main, cleared", "has resolved for the most".

    The words stand before the last one of the cue, over marks and helping verbs, or behind it.
    """
    words = [token.word for token in tokens]
    opens = max((k + 1 for k in range(item.first) if not words[k].isalnum()), default=0)
    if not grammar.quantities.isdisjoint(words[opens : opens + _QUANTIFIED]):
        return True  # "most of the nodules have gone"
    first, idle = item.last - 1, grammar.copulas | _HELPS
    while first and words[first - 1] in idle:
        first -= 1
    behind = words[item.last + (words[item.last : item.last + 1] == [","]) :]
    for said in _partly(grammar.partly):
        if tuple(words[max(first - len(said), 0) : first]) == said:
            return True
        ends = behind[len(said) : len(said) + 1] or ["."]
        if tuple(behind[: len(said)]) == said and (
            ends[0] in _JOINS or not ends[0].isalnum() or said[-1] == "not"
        ):
            return True
    return False


@lru_cache(maxsize=4)
def _partly(patterns: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(said for pattern in patterns for said in expand(pattern))


def _examines(item: Item, tokens: list[Token], grammar: GrammarFile) -> bool:
    """Whether an examination of something is the subject: "follow up of the small effusion"."""
    ahead = takewhile(lambda j: tokens[j].word.isalnum(), range(item.first - 1, 0, -1))
    told = (tokens[j - 1].word for j in ahead if tokens[j].word in {"of", "for", "to"})
    return any(word in grammar.examinations for word in told)
