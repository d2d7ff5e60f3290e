"""Where sentences end in speech that was written down without any punctuation.

A sentence ends only behind a word that can end one: not a preposition, an article, a quality or a
cue that waits for its object. The next one starts at "no"; at a subject whose finite verb follows
("… no effusion | the heart is enlarged"); behind a finished predicate ("are present | adenopathy");
and at a quality that opens a noun phrase of its own ("no effusion | old rib fracture").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile
from typing import Final, NamedTuple

from extraction.rules.lexicon import Part
from extraction.rules.reach import DOUBTS
from extraction.rules.scan import Item, denies, is_finite
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

_MARKS: Final = frozenset(".,;:!?()-–/")
_ADJECTIVAL: Final = ("ive", "ous", "ic")
_QUALIFYING: Final = (*_ADJECTIVAL, "al", "ar", "ary", "ed", "ing", "ly")
_CAPITAL: Final = re.compile(r" (?:[A-Z][a-z]|[ALR] [a-z\d]|\?\w)")
_OPENS: Final = re.compile(rf"{_CAPITAL.pattern}|(?<=\s[-–])\s+\w|(?<=\s--)\s+\w")
_DASH: Final = re.compile(r"\s[-–—]{1,2}\s")
_PLACING, _HEADS = frozenset({"the", "on", "in", "at"}), frozenset({"rib", "lung", "bilaterally"})
_SPLICES: Final = frozenset({",", "-", "–", "|", "/"})
_TWO, _NAMELESS = 2, 3
_TELLING: Final = Part.CUE | Part.VERB | Part.PREDICATE
_SHORTEST, _SUBJECT_WITHIN, _NOUN_WITHIN = 7, 8, 4
_NAMED: Final = Part.MENTION | Part.SUBJECT | Part.SPLIT_SUBJECT
_SAID: Final = _NAMED | Part.PREDICATE | Part.VERB
_OPEN: Final = (
    Part.VERB | Part.SUBJECT | Part.SPLIT_SUBJECT | Part.COORDINATOR | Part.BOUNDARY
    | Part.COMPANION | Part.CAUSE
)  # fmt: skip
_BARS: Final = Part.CUE | Part.OR | Part.VERB | Part.COMPANION
_STOPS: Final = Part.OR | Part.BOUNDARY | Part.OPENER | Part.RECOMMENDING


class _Line(NamedTuple):
    """A sentence without marks: its tokens and, by token, the item that covers it."""

    tokens: list[Token]
    items: list[Item]
    over: dict[int, Item]
    grammar: GrammarFile
    dashes: int = 0

    def between(self, begin: int, at: int) -> Iterator[Item]:
        """Items that start in a range of tokens."""
        return (item for item in self.items if begin <= item.first < at)


def is_run_on(tokens: list[Token]) -> bool:
    """Whether a sentence is long enough for several and has no mark inside."""
    if len(tokens) < _SHORTEST:
        return False
    return next((False for token in tokens[:-1] if token.word in _MARKS), True)


def pieces(tokens: list[Token], items: list[Item], grammar: GrammarFile) -> list[list[Token]]:
    """Cut the tokens of a sentence without marks into those of its sentences."""
    if sum(bool(item.lexeme.parts & _NAMED) for item in items) < _TWO:
        return [tokens]  # one thing is spoken of: nothing to keep apart
    over = {k: item for item in items for k in range(item.first, item.last)}
    line = _Line(tokens, items, over, grammar)
    found: list[list[Token]] = []
    begin = 0
    for at in range(1, len(tokens)):
        if _could_start(line, at) and _may_end(line, begin, at) and _starts(line, begin, at):
            found.append(tokens[begin:at])
            begin = at
    return [*found, tokens[begin:]]


def opens_within(tokens: list[Token], text: str) -> bool:
    """Whether a capital stands inside a sentence, as at the start of another one, or a dash."""
    return (
        len(tokens) > _NAMELESS and _OPENS.search(text, tokens[1].end, tokens[-1].end) is not None
    )


def at_capitals(
    tokens: list[Token], items: list[Item], text: str, grammar: GrammarFile
) -> list[list[Token]]:
    """Cut the tokens of a sentence where a capital opens another one that no full stop parts.

    It stands behind a small word, a comma, a spaced dash or stroke, and what was said is complete.
    Behind a dash a small letter does too ("no embolus - small effusion"), but no bare name behind
    the only one ("collapse - consolidation").
    """
    over = {k: i for i in items for k in range(i.first, i.last)}
    dashes = len(_DASH.findall(text, tokens[0].start, tokens[-1].end))
    line = _Line(tokens, items, over, grammar, dashes)
    found: list[list[Token]] = []
    begin = 0
    at_start = {token.start: k for k, token in enumerate(tokens)}
    for capital in _OPENS.finditer(text, tokens[0].end, tokens[-1].end):
        at = at_start.get(capital.end() - len(capital[0].lstrip()), 0)
        mark = at - 1 if at and tokens[at - 1].word in _SPLICES else at
        while mark > begin + 1 and mark < at and tokens[mark - 1].word in _SPLICES:
            mark -= 1
        listed = "\n" in text[tokens[mark - 1].end : capital.start()]
        if listed or mark - begin < _TWO or not _parts(line, begin, mark, at, text):
            continue
        found.append(tokens[begin:mark])
        begin = at
    return [*found, tokens[begin:]]


def _parts(line: _Line, begin: int, mark: int, at: int, text: str) -> bool:
    """Whether what stands before a capital is a sentence, and the capital opens another one."""
    here, opening = line.over.get(at), line.tokens[at].word
    if (here is not None and here.first != at) or (opening == "?" and mark == at):
        return False
    spliced = mark < at and line.tokens[mark].word != ","
    listed = spliced and line.dashes > 1
    if spliced and not _is_splice(line, begin, mark, here):
        return False
    named = text[line.tokens[begin].end : line.tokens[mark - 1].end]
    if named.count("(") > named.count(")"):
        return False
    if not spliced and (_CAPITAL.search(named) or (mark == at and not named[-1:].islower())):
        return False  # who writes "with Pneumonia, Effusion" opens no sentence by a capital
    nameless = _NAMELESS if mark == at else 1
    if _waits_still(line, begin, mark) if listed else not _is_whole(line, begin, mark, nameless):
        return False
    if mark == at:
        return True
    after = here.last if here is not None else at + 1
    ends = after >= len(line.tokens) or line.tokens[after].word in _MARKS | line.grammar.adjuncts
    answers = (
        here is not None
        and opening != "?"
        and any(cue.side == "after" or (ends and cue.side == "either") for cue in here.lexeme.cues)
    )
    mentions = any(item.lexeme.parts & Part.MENTION for item in line.between(begin, mark))
    alone = line.tokens[at + 1].word in _MARKS if at + 1 < len(line.tokens) else True
    if listed:
        return not answers
    return not (answers or alone) and (mentions or _complete(line, begin, mark))


def _is_splice(line: _Line, begin: int, mark: int, opening: Item | None) -> bool:
    """Whether a dash parts statements and is neither a colon nor between two names of one thing."""
    over = line.over.get(mark)
    if over is not None and over.lexeme.parts & (Part.COLON | Part.COMMA):
        return False
    if opening is not None and (
        opening.lexeme.parts & Part.OR or any(c.side == "around" for c in opening.lexeme.cues)
    ):
        return False
    named = opening is not None and opening.lexeme.parts & Part.MENTION
    told = any(i.lexeme.parts & _TELLING for i in line.between(begin, mark)) and any(
        i.lexeme.parts & _TELLING for i in line.between(mark + 1, len(line.tokens))
    )
    return not named or told or line.tokens[mark].word in "|/" or line.dashes > 1


def _waits_still(line: _Line, begin: int, mark: int) -> bool:
    """Whether the last word before one of several dashes waits for what it is of."""
    before, word = line.over.get(mark - 1), line.tokens[mark - 1].word
    graded = before is not None and before.lexeme.parts & Part.CUE and before.first > begin
    return word in line.grammar.unending and word not in line.grammar.sides | _HEADS and not graded


def _is_whole(line: _Line, begin: int, at: int, nameless: int) -> bool:
    """Whether the words up to a capital can be a sentence: they say something, and none waits."""
    before, word = line.over.get(at - 1), line.tokens[at - 1].word
    grammar = line.grammar
    named = any(_says(item) for item in line.between(begin, at))
    if word in grammar.sides:
        return named and line.tokens[at - 2].word in _PLACING
    if before is not None and before.lexeme.parts & Part.CUE and not _takes(word, grammar):
        ahead = any(item.lexeme.parts & _NAMED for item in line.between(begin, before.first))
        return ahead and (_looks_back(before) or before.lexeme.finite or _doubts(before))
    if word in grammar.closing:
        return named
    waits = word in grammar.unending or _takes(word, grammar)
    opens = before is not None and before.lexeme.parts & (_OPEN | Part.ASSERTING)
    mention = before is not None and bool(before.lexeme.parts & Part.MENTION)
    qualifies = word.endswith(_ADJECTIVAL if mention else _QUALIFYING)
    if opens or ((waits or qualifies) and word not in _HEADS):
        return False
    cues = [item for item in line.between(begin, at) if item.lexeme.parts & Part.CUE]
    graded = bool(cues) and at - cues[-1].last >= nameless - denies(cues[-1])
    return named or graded or _equipped(line, begin, at)


def _takes(word: str, grammar: GrammarFile) -> bool:
    """Whether a word takes an object: "atypical for", "represents"."""
    return word in grammar.transitive


def _could_start(line: _Line, at: int) -> bool:
    here = line.over.get(at)
    if here is not None and (here.first != at or _looks_back(here)):
        return False
    if here is not None and here.lexeme.parts & (_NAMED | Part.ASSERTING):
        return True
    word, grammar = line.tokens[at].word, line.grammar
    return word in grammar.opening or word in grammar.articles or word in grammar.qualities


def _may_end(line: _Line, begin: int, at: int) -> bool:
    """Whether the words from `begin` say something and the last one can end a sentence."""
    if _doubted(line, begin, at):
        return True
    before = line.over.get(at - 1)
    word = line.tokens[at - 1].word
    if word in line.grammar.unending or word in line.grammar.transitive:
        return False
    if before is not None and not before.lexeme.parts & Part.MENTION:
        parts = before.lexeme.parts
        if parts & Part.PREDICATE and _predicated(line, begin, at):
            return True
        goes_on = parts & Part.ASSERTING and not _finished(line, begin, at)
        if parts & _OPEN or goes_on or (parts & Part.CUE and _waits(line, before, begin, at)):
            return False
    return (
        _equipped(line, begin, at)
        or _nameless(line, begin, at)
        or any(_says(item) for item in line.between(begin, at))
    )


def _says(item: Item) -> bool:
    """Whether a word can be all that a sentence says; "there is" waits for more."""
    parts = item.lexeme.parts
    return bool(parts & _SAID) and not (parts & Part.OPENER and not parts & _NAMED)


def _doubted(line: _Line, begin: int, at: int) -> bool:
    """Whether a doubt right behind the only name is complete: "infection less likely"."""
    cue = line.over.get(at - 1)
    if cue is None or cue.last != at or not _doubts(cue):
        return False
    if line.tokens[at - 1].word in line.grammar.transitive:  # "is less likely to reflect" waits
        return False
    names = [item for item in line.between(begin, at) if item.lexeme.parts & _NAMED]
    return len(names) == 1 and names[0].last == cue.first


def _doubts(item: Item) -> bool:
    cues = item.lexeme.cues
    ahead = any(cue.side == "before" for cue in cues)  # "rather than" waits for what it doubts
    return not ahead and any(cue.kind == "hedge" and cue.phrase in DOUBTS for cue in cues)


def _nameless(line: _Line, begin: int, at: int) -> bool:
    """Whether something without a name of ours was denied: "no right heart strain"."""
    last = next((item.last for item in line.between(begin, at) if denies(item)), at)
    return at - last >= _NAMELESS


def _equipped(line: _Line, begin: int, at: int) -> bool:
    """Whether hardware was spoken of, which is a statement though none of ours."""
    return any(token.word in line.grammar.devices for token in line.tokens[begin:at])


def _looks_back(item: Item) -> bool:
    """Whether all it can do is speak of what stands before it."""
    return bool(item.lexeme.cues) and all(cue.side == "after" for cue in item.lexeme.cues)


def _waits(line: _Line, cue: Item, begin: int, at: int) -> bool:
    """Whether a cue needs what comes: unless it looks back or may and "no" follows."""
    sides = {one.side for one in cue.lexeme.cues}
    if _looks_back(cue):
        return False
    named = any(item.lexeme.parts & _NAMED for item in line.between(begin, cue.first))
    return "before" in sides or not named or line.tokens[at].word not in line.grammar.opening


def _finished(line: _Line, begin: int, at: int) -> bool:
    """Whether the word before `at` ends a predicate: "are present", "is mildly enlarged"."""
    return line.tokens[at - 1].word in line.grammar.closing and any(
        token.word in line.grammar.copulas for token in line.tokens[max(begin, at - 3) : at - 1]
    )


def _complete(line: _Line, begin: int, at: int) -> bool:
    """Whether the words from `begin` are more than the beginning of a noun phrase."""
    return (
        _denied(line, begin, at)
        or _predicated(line, begin, at)
        or _graded(line, begin, at)
        or any(is_finite(item) for item in line.between(begin, at))
        or _equipped(line, begin, at)
    )


def _graded(line: _Line, begin: int, at: int) -> bool:
    """Whether a name is followed by a hedge and its object: "opacity likely an infarct"."""
    named = dropwhile(lambda item: not item.lexeme.parts & _NAMED, line.between(begin, at))
    return any(cue.kind == "hedge" for item in [*named][1:] for cue in item.lexeme.cues)


def _predicated(line: _Line, begin: int, at: int) -> bool:
    """Whether something was said of a subject: "heart size normal"."""
    said = dropwhile(lambda item: not item.lexeme.parts & Part.SUBJECT, line.between(begin, at))
    return any(item.lexeme.parts & Part.PREDICATE for item in [*said][1:])


def _starts(line: _Line, begin: int, at: int) -> bool:
    word = line.tokens[at].word
    if word in line.grammar.opening:
        return True
    here = line.over.get(at)
    named = here is not None and bool(here.lexeme.parts & _NAMED)
    asserts = here is not None and bool(here.lexeme.parts & Part.ASSERTING)
    quality = word in line.grammar.qualities or asserts
    if named and (_finished(line, begin, at) or _beside(line, at)):
        return True
    if (named or quality) and _doubted(line, begin, at):
        return True
    if quality and _finished(line, begin, at) and _noun_follows(line, at):
        return True
    complete = _complete(line, begin, at)
    if complete and _verb_follows(line, begin, at, named=named or quality):
        return True
    before = line.over.get(at - 1)
    ended = before is not None and before.lexeme.parts & Part.MENTION
    if not quality or not (complete or ended):
        return False
    weighs = ended and _denied(line, begin, at) and _sign_follows(line, at)
    return weighs or _noun_follows(line, at)


def _beside(line: _Line, at: int) -> bool:
    """Whether a name stands beside another and is doubted: "edema | infection less likely"."""
    here, before = line.over[at], line.over.get(at - 1)
    after = line.over.get(here.last)
    adjective = line.tokens[at - 1].word.endswith(_ADJECTIVAL)
    beside = before is not None and bool(before.lexeme.parts & Part.MENTION) and not adjective
    return beside and after is not None and _doubts(after)


def _sign_follows(line: _Line, at: int) -> bool:
    """Whether a sign without a name of ours is weighed here: "mild hyperinflation suggesting"."""
    near = range(at + 2, min(at + _NOUN_WITHIN, len(line.tokens)))
    cues = next((line.over[k].lexeme.cues for k in near if k in line.over), ())
    return any(cue.kind == "hedge" and cue.side != "after" for cue in cues)


def _verb_follows(line: _Line, begin: int, at: int, *, named: bool) -> bool:
    """Whether a subject starts here: an article or a name, and its finite verb not far behind."""
    if not named and line.tokens[at].word not in line.grammar.articles:
        return False
    seen = False
    for k in range(at, min(at + _SUBJECT_WITHIN, len(line.tokens))):
        if k > at and _article_opens(line, k):
            return False
        item = line.over.get(k)
        if item is None:
            continue
        parts = item.lexeme.parts
        if seen and is_finite(item):
            return not (_denied(line, begin, at) and _lists(line, item))
        if parts & (_STOPS | Part.VERB | Part.COMPANION) or (
            parts & Part.CUE and not parts & (_NAMED | Part.LUNG)
        ):
            return False
        seen = seen or bool(parts & (_NAMED | Part.LUNG))
    return False


def _article_opens(line: _Line, k: int) -> bool:
    """Whether an article stands alone, not in "at the right base"."""
    before, word = (token.word for token in line.tokens[k - 1 : k + 1])
    return word in line.grammar.articles and before not in line.grammar.unending


def _lists(line: _Line, verb: Item) -> bool:
    """Whether the verb only closes a list: "no infiltrate pleural effusion is seen"."""
    after = line.over.get(verb.last)
    listed = after is not None and bool(after.lexeme.parts & Part.PARTICIPLE)
    return listed and line.tokens[verb.last].word != "noted"


def _noun_follows(line: _Line, at: int) -> bool:
    """Whether a name follows within a few words that no cue or "or" interrupts."""
    for k in range(at, min(at + _NOUN_WITHIN, len(line.tokens))):
        item = line.over.get(k)
        parts = item.lexeme.parts if item is not None else 0
        if parts & _NAMED:
            return True
        if k > at and (parts & _BARS or line.tokens[k].word in line.grammar.prepositions):
            return False
    return False


def _denied(line: _Line, begin: int, at: int) -> bool:
    return any(denies(item) for item in line.between(begin, at))
