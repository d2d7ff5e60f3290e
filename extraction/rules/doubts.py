"""What is said of certainty in words that no cue knows, or of another day, is not read as certain.

A finding is plainly there, or plainly not, only where nothing beside it doubts, judges or prefers.
Where a word of `doubting` (grammar.toml) stands there that no cue, advice, history or question
accounts for ("pneumonia is where I would place my vote"), nobody can tell which certainty was
meant: the statement is left unmapped with those words, never guessed. It is looked for in the
finding's own stretch, between commas, contrasts and what opens another statement, and in a stretch
beside it that names nothing. So is a finding behind which a participle is denied that no cue knows
("not borne out"), unless it only describes (`describing`).

What an earlier examination showed, what was there on another day and what an examination is ordered
for state nothing of today (`of_today`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from extraction.rules.decide import Decision
from extraction.rules.lexicon import DOUBTING, Cue, Part, Root
from extraction.rules.scan import Item, lexemes
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

_SILENT: Final = Cue(None, "ignore", "before")
_NOT, _PARTICIPLES = (
    frozenset({"not", "never", "cannot"}),
    ("ed", "en", "wn", "rne", "eld", "able", "ible"),
)
_BETWEEN: Final = frozenset({"be", "been", "yet", "as", "so", "far", "being", "at", "all"})
_PAST: Final = frozenset({"was", "were", "been"})
_RELATIVE: Final = frozenset({"which", "that"})
_AGAIN: Final = frozenset({"this", "these", "it", "that", "they", "both", "no", "there", "the"})
_PARTED: Final = frozenset({";", "(", ")", ":", "but", "while", "whereas", "however", "although"})
_TYING: Final = frozenset({"which", "that", "and"})
_TODAY: Final = frozenset({"is", "are", "has", "have"})
_DAYS: Final = frozenset({"ago", "yesterday"})
_ON, _FOR, _WITHIN, _NEAR, _YEAR = frozenset({"on", "in", "at", "of", "from"}), "for", 6, 9, 4
_UNKNOWN: Final = Cue(None, "hedge", "before")
_PARTING: Final = Part.COMMA | Part.BOUNDARY | Part.COLON | Part.OPENING | Part.CLOSING
_BARE: Final = frozenset({"present", "absent"})
_JOINS, _ASIDE = "and", frozenset({",", "-", "("})


def guarded(
    decisions: Sequence[Decision], items: Sequence[Item], tokens: list[Token], root: Root,
    grammar: GrammarFile,
) -> list[Decision]:  # fmt: skip
    """Leave unmapped what would be read as certain beside a doubt that nothing accounts for."""
    words = [token.word for token in tokens]
    told = _denied(decisions, items, words, grammar)
    if root[DOUBTING][0].isdisjoint(words) or not any(map(_is_bare, told)):
        return told
    decisions, stretches = told, _stretches(items, words, grammar)
    told = [*decisions]
    for first, last in _doubts(items, tokens, words, root, grammar):
        for at in _beside(decisions, stretches, words, first, grammar):
            told[at] = decisions[at]._replace(
                cue=_UNKNOWN, cue_first=first, cue_last=last, rule="in words unknown"
            )
    return told


def _denied(
    decisions: Sequence[Decision], items: Sequence[Item], words: Sequence[str],
    grammar: GrammarFile,
) -> list[Decision]:  # fmt: skip
    """Leave unmapped what stands before a denied participle that no cue knows: "not borne out"."""
    told = [*decisions]
    if _NOT.isdisjoint(words):
        return told
    alone = {i.first for i in items if i.last == i.first + 1 and words[i.first] in _NOT}
    over = {k for item in items for k in range(item.first, item.last)} - alone
    for first in (k for k, word in enumerate(words) if word in _NOT and k not in over):
        last = first + 1
        while last < len(words) and (words[last] in _BETWEEN or words[last].endswith("ly")):
            last += 1
        word = words[last] if last < len(words) else "."
        if last in over or not word.endswith(_PARTICIPLES) or word in grammar.describing:
            continue
        begin, end = next(s for s in _stretches(items, words, grammar) if first < s[1])
        named = _within(decisions, begin, end)
        seen = any(decisions[at].mention.pathology in grammar.things for at in named)
        for at in [] if seen and word in grammar.told_apart else named:
            before = decisions[at].mention.last <= first and not _is_site(
                decisions[at], words, grammar
            )
            if before and _is_bare(told[at]) and told[at].cue.phrase == "present":
                told[at] = told[at]._replace(
                    cue=_UNKNOWN, cue_first=first, cue_last=last + 1, rule="in words unknown"
                )
    return told


def _is_site(said: Decision, words: Sequence[str], grammar: GrammarFile) -> bool:
    """Whether a finding is where another one is: "an infiltrate in the atelectasis"."""
    where = words[max(said.mention.first - 2, 0) : said.mention.first]
    return len(where) > 1 and where[0] in grammar.nesting and where[1] in grammar.definite


def of_today(
    decisions: Sequence[Decision], tokens: Sequence[Token], following: Sequence[Token],
    grammar: GrammarFile,
) -> list[Decision]:  # fmt: skip
    """Let what a sentence tells of another day, or orders an examination for, state nothing.

    `following` is the sentence behind it, which may say that it lasted ("This is unchanged").
    """
    words = [token.word for token in tokens] if decisions else []
    then = _is_dated(words, grammar)
    if not decisions or (_FOR not in words and not then):
        return [*decisions]
    behind = [token.word for token in following[:_NEAR]]
    lasts = behind[:1] and (behind[0] in _AGAIN or behind[0] in grammar.lasted)
    lasts = lasts and not grammar.lasted.isdisjoint(behind)
    lasts = lasts and ("not" in behind or grammar.going.isdisjoint(behind))
    return [
        said._replace(cue=_SILENT, rule="no statement")
        if _is_ordered(said, words, grammar)
        or (then and not lasts and _is_past(said, words, grammar))
        else said
        for said in decisions
    ]


def _is_ordered(said: Decision, words: Sequence[str], grammar: GrammarFile) -> bool:
    """Whether an examination is ordered for a finding: "repeat film for pneumothorax"."""
    first = said.mention.first
    ahead = range(max(first - _WITHIN, 0), first)
    at = next((k for k in reversed(ahead) if not words[k].isalpha() or words[k] == _FOR), -1)
    if at < 1 or words[at] != _FOR or not (said.cue_first > at or said.rule == "plain assertion"):
        return False
    told = said.rule not in {"plain assertion", "between alternatives"}
    if (told and said.cue_first >= said.mention.last) or not _open(words[at + 1 : first], grammar):
        return False
    exam = at - 1
    while exam >= 0 and words[exam] not in grammar.ordered and _passes(words[exam], grammar):
        exam -= 1
    if exam < 0 or words[exam] not in grammar.ordered:
        return False
    begin = max(
        (k + 1 for k in range(exam) if not words[k].isalnum() and words[k] != "-"), default=0
    )
    return exam - begin <= _WITHIN and _open(words[begin:exam], grammar)


def _open(words: Sequence[str], grammar: GrammarFile) -> bool:
    """Whether no finite verb stands among some words, and nothing that is known to be there."""
    closed = grammar.copulas | grammar.definite | grammar.showed
    return closed.isdisjoint(words) and not any(word.endswith("shows") for word in words)


def _passes(word: str, grammar: GrammarFile) -> bool:
    return word in grammar.between_orders or word[0].isdigit()


def _is_year(word: str) -> bool:
    return len(word) == _YEAR and word.isdigit() and word.startswith(("19", "20"))


def _is_dated(words: Sequence[str], grammar: GrammarFile) -> bool:
    year = any(map(_is_year, words))
    may = any(day.isdigit() and month == "may" for day, month in pairwise(words))
    return year or may or not grammar.earlier.isdisjoint(words)


def _is_then(words: Sequence[str], grammar: GrammarFile) -> bool:
    """Whether some words name an earlier examination or a past day."""
    marks = _is_dated(words, grammar)
    day = not _DAYS.isdisjoint(words) or any(
        w in grammar.earlier or _is_year(w) for w in words[-2:]
    )
    return marks and (day or not grammar.examinations.isdisjoint(words))


def _is_past(said: Decision, words: Sequence[str], grammar: GrammarFile) -> bool:
    """Whether a finding is told of an earlier examination, or of another day, alone."""
    first, last = said.mention.first, said.mention.last
    if said.cue.kind == "assertion" and said.rule != "plain assertion":
        return False
    if said.cue_first >= last and said.cue.kind in {"negation", "denial"}:
        return False
    begin = max((k + 1 for k in range(first) if words[k] in _PARTED), default=0)
    end = next((k for k in range(last, len(words)) if words[k] in _PARTED), len(words))
    comma = max((k for k in range(begin, first) if words[k] == ","), default=begin)
    told = next((k for k in range(first - 1, begin, -1) if words[k] in grammar.showed), 0)
    relative = told > comma and words[told - 1] in _RELATIVE
    if relative:
        stop = next((k for k in range(last, end) if words[k] == ","), end)
        return _is_then(words[begin : told - 1], grammar) and grammar.lasted.isdisjoint(
            words[told:stop]
        )
    if not grammar.lasted.isdisjoint([*words[begin:first], *words[last:]]):
        return False
    if told and comma < told and _is_then(words[comma:told], grammar):
        return _is_subject(words[told - 1], grammar)
    return _was_there(words, (begin, first, last, end), grammar)


def _own(words: Sequence[str]) -> Sequence[str]:
    """Give the words in front of a finding that are of it: behind the last comma, a few."""
    comma = max((k + 1 for k, word in enumerate(words) if word == ","), default=0)
    return words[max(comma, len(words) - 3) :]


def _is_subject(word: str, grammar: GrammarFile) -> bool:
    """Whether a verb's subject is an examination by its last word: "the film of 3 May showed"."""
    told = grammar.examinations | {"chest", "thorax", "may"}
    return word in told or word in grammar.earlier - {"previously"} or word.isdigit()


def _was_there(words: Sequence[str], at: tuple[int, int, int, int], grammar: GrammarFile) -> bool:
    """Whether a finding was there then: "on the previous film there was an effusion"."""
    begin, first, last, end = at
    there = any(
        words[k] in _PAST and words[k - 1] in {"there", "had"} for k in range(begin + 1, first)
    )
    verb = next((k for k in range(last, end) if words[k] in _PAST), end)
    seen = verb < end and not grammar.seen_then.isdisjoint(words[verb : verb + 3])
    plain = all(word.isalpha() and word not in _TYING for word in words[last:verb])
    plain = plain and _TODAY.isdisjoint(words[begin:first])
    plain = plain and grammar.definite.isdisjoint(_own(words[begin:first]))
    if not (there or (seen and plain)):
        return False
    opens = words[begin] in _ON | grammar.earlier or not _DAYS.isdisjoint(words[begin:first])
    ahead = opens and _is_then(words[begin:first], grammar)
    return ahead or _is_then(words[verb if seen else last : end], grammar)


def _is_bare(said: Decision) -> bool:
    return said.states and said.cue.phrase in _BARE and not said.mention.base


def _doubts(
    items: Iterable[Item], tokens: list[Token], words: Sequence[str], root: Root,
    grammar: GrammarFile,
) -> list[tuple[int, int]]:  # fmt: skip
    """Give the token ranges of doubting words that nothing accounts for.

    Helping words that touch a cue are its own ("I would" of "I would favor").
    """
    known = (*items, *lexemes(tokens, root))
    over = {k for item in known for k in range(item.first, item.last)}
    for item in items:
        at = item.first - 1 if item.lexeme.parts & (Part.CUE | Part.RECOMMENDING) else -1
        while at >= 0 and words[at] in grammar.helping:
            over.add(at)
            at -= 1
    return [
        (first, last)
        for first, last, lexeme in lexemes(tokens, root[DOUBTING][1])
        if lexeme.parts and over.isdisjoint(range(first, last))
    ]


def _stretches(
    items: Iterable[Item], words: Sequence[str], grammar: GrammarFile
) -> list[tuple[int, int]]:
    """Give the stretches of a sentence between its marks and what opens another statement."""
    cuts = {item.first for item in items if item.lexeme.parts & _PARTING}
    cuts |= {
        k
        for k, (word, after) in enumerate(pairwise(words))
        if word == _JOINS and after in grammar.helping
    }
    return [*pairwise([0, *sorted(cuts), len(words)])]


def _beside(
    decisions: Sequence[Decision], stretches: list[tuple[int, int]], words: Sequence[str],
    doubt: int, grammar: GrammarFile,
) -> list[int]:  # fmt: skip
    """Give which findings a doubt at a token may be of.

    Those of its stretch, and if it names none those that a comma parts from it. What is there to
    be seen is doubted only where nothing else is named, and nothing parts it.
    """
    own = next(k for k, (_, last) in enumerate(stretches) if doubt < last)
    within = _within(decisions, *stretches[own])
    parted = not within and own > 0 and words[stretches[own][0]] in _ASIDE
    within = _within(decisions, *stretches[own - 1]) if parted else within
    concluded = [k for k in within if decisions[k].mention.pathology not in grammar.things]
    meant = concluded if concluded or parted else within
    return [k for k in meant if _is_bare(decisions[k])]


def _within(decisions: Sequence[Decision], first: int, last: int) -> list[int]:
    return [k for k, said in enumerate(decisions) if first <= said.mention.first < last]
