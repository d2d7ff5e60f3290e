"""The sentences that tokens form.

They end at full stops, lists, blank lines, and capitals where a full stop is missing. A line that a
writer ended is told from one that a machine wrapped by the next line's first letter and, in a text
of one case, by the room that the next word would have had.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Final

from extraction.rules.tokens import Token
from extraction.vocabulary.patterns import expand
from extraction.vocabulary.schema import GrammarFile

_BULLETS: Final = frozenset('"“”•·●▪◦*‣➢→§■□▶►✓')
# Before a blank, at a line's start, these are bullets too.
_LINE_BULLETS: Final = frozenset({">", "o", "+", "~", "#"})
_DASHES: Final = frozenset({"-", "–", "*", "•"})
_NUMBERS: Final = frozenset(map(str, range(1, 13)))
_NUMBERED: Final = _NUMBERS | {"#", "("}
_MARKING: Final = _NUMBERED | _BULLETS
_PARTING, _NEITHER = frozenset({"-", "–", ":"}), frozenset({"or", "nor", "without", "any"})
# A line at least this long may have been wrapped by a machine rather than ended by a writer; in
# capitals, where no letter tells, also a shorter one that had no room for the next word.
_LONG_LINE, _WIDEST = 55, 40
_BLANK: Final = re.compile(r"\s")
_DEPTH: Final = {"(": 1, "[": 1, ")": -1, "]": -1}
_STOPS: Final = frozenset(".!?")
_BEFORE_QUESTION: Final = frozenset(",;:-–")
_FULL_STOP: Final = "."
_ENDED: Final = frozenset(".!,;:")
_ASKING_LINE: Final = re.compile(r"(?m)^[ \t]{0,8}\?")
_UNITS: Final = frozenset({"cm", "mm", "ca"})
_ANSWER_WITHIN, _NAME_WITHIN = 10, 6
_HYPHENS, _LABEL, _TWO = "-–", 3, 2
_NEITHER_ONE, _HELPING = frozenset({"nor", "neither"}), frozenset({"can", "could", "has", "have"})
_OPENED_WITHIN: Final = 4
_BOUND_WITHIN: Final = 10
# More tokens are no sentence; cutting there keeps the work proportional to the text.
_LONGEST: Final = 200


def split(tokens: list[Token], text: str, grammar: GrammarFile) -> list[list[Token]]:
    """Group tokens into sentences; the marks that end a sentence belong to it.

    Parameters
    ----------
    tokens
        Tokens of one section, with offsets into `text`.
    text
        The whole report.
    grammar
        Its `restarts` and `abbreviations` decide where a full stop is missing or means nothing.
    """
    sentences: list[list[Token]] = []
    current: list[Token] = []
    depth = item = skipped = 0
    listing = False
    restarts = grammar.restarts
    tokens = _bound(tokens, grammar)
    for number, token in enumerate(tokens):
        word = token.word
        if number < skipped:
            continue
        if listing or (
            (word in _NUMBERED or "\n" in word) and _opens_list(tokens, number, current, grammar)
        ):
            listing = len(current) < _LONGEST and _in_list(tokens, number)
            if listing:
                current += [] if word.isspace() else [token]
                continue
        if word.isspace():
            if "\n" in word and _line_ends(tokens, number, text, grammar):
                current, depth = _close(sentences, current), 0
            continue
        marked = _item_mark(tokens, number, item + 1, depth) if word in _MARKING else 0
        if marked:
            current, depth = _close(sentences, current), 0
            item, skipped = item + (word in _NUMBERED), number + marked
            continue
        reopens = word in restarts and current
        opens = reopens and _restarts(current, token, text, depth, grammar)
        if opens or len(current) >= _LONGEST:
            current, depth = _close(sentences, current), 0
        answers = word in _HYPHENS and current and _is_value(tokens, number, current)
        current.append(token._replace(word="nil") if answers else token)
        depth = max(0, depth + _DEPTH[word]) if word in _DEPTH else depth
        asks = word == "?" and _asks(tokens, number, current, text)
        if word in _STOPS and not asks and _ends(tokens, number, text, depth, grammar):
            current, depth = _close(sentences, current), 0
    _close(sentences, current)
    return sentences


def _bound(tokens: list[Token], grammar: GrammarFile) -> list[Token]:
    """Bind a sentence to the one that it speaks of: "Edema or pneumonia. Favor the latter.".

    A name alone that the next sentence tells is a question.
    """
    referring = grammar.referring
    told = [k for k, t in enumerate(tokens) if t.word in referring or t.word in _NEITHER_ONE]
    for at in [at for at in told if _refers(tokens, at, grammar)]:
        stop = next((k for k in range(at, max(at - _BOUND_WITHIN, 0), -1) if _parts(tokens, k)), at)
        if stop < at:
            line = [t._replace(word=" ") if t.word.isspace() else t for t in tokens[stop + 1 : at]]
            tokens = [*tokens[:stop], tokens[stop]._replace(word=";"), *line, *tokens[at:]]
    stops = [k + 1 for k in range(len(tokens) - 1) if tokens[k].word == _FULL_STOP]
    answers, opening = _written(tuple(grammar.answers.values()))
    for k in stops:
        first = tokens[k].word if not tokens[k].word.isspace() else tokens[k : k + _TWO][-1].word
        if first in opening and _is_answered(tokens, k - 1, answers, grammar):
            tokens[k - 1] = tokens[k - 1]._replace(word="?")
    return tokens


def _refers(tokens: list[Token], at: int, grammar: GrammarFile) -> bool:
    """Whether a word speaks of the sentence before it: "the latter", "Nor can edema."."""
    if tokens[at].word in grammar.referring:
        return True
    if tokens[at].word not in _NEITHER_ONE or at + _TWO >= len(tokens):
        return False
    return tokens[at + 1 + tokens[at + 1].word.isspace()].word in _HELPING


def _parts(tokens: list[Token], number: int) -> bool:
    """Whether a mark may end a sentence: one with a blank behind it."""
    behind = tokens[min(number + 1, len(tokens) - 1)]
    apart = behind.word.isspace() or behind.start > tokens[number].end
    return tokens[number].word in _STOPS and apart


def _is_value(tokens: list[Token], number: int, current: list[Token]) -> bool:
    """Whether a dash is the answer to a label: "PTX: -"."""
    following = tokens[number + 1].word if number + 1 < len(tokens) else "\n"
    labelled = current[-1].word == ":" or len(current) < _LABEL
    return labelled and (following in _ENDED or "\n" in following)


def _opens_list(
    tokens: list[Token], number: int, current: list[Token], grammar: GrammarFile
) -> bool:
    """Whether a differential's first item starts here: "D/D: 1. …", "Differential:" and a dash."""
    if not any(token.word in grammar.differentials for token in current[-_OPENED_WITHIN:]):
        return False
    if tokens[number].word in _NUMBERED:
        return _numbers_item(tokens, number + (tokens[number].word not in _NUMBERS))
    return number + 1 < len(tokens) and _opens_line(tokens, number + 1)


def _in_list(tokens: list[Token], number: int) -> bool:
    """Whether a differential's list goes on: it ends where no item follows a line or sentence."""
    word = tokens[number].word
    ends = word in {".", ";"} or (word.isspace() and ("\n" in word or "\r" in word))
    if not ends or tokens[number - 1].word in _NUMBERS:
        return True
    k = number + 1
    while k < len(tokens) and tokens[k].word.isspace():
        k += 1
    return k < len(tokens) and _opens_line(tokens, k)


def _opens_line(tokens: list[Token], k: int) -> bool:
    """Whether a line or sentence that starts here is an item of a list."""
    word = tokens[k].word
    return word in _DASHES or (word in _NUMBERS and _numbers_item(tokens, k))


def _close(sentences: list[list[Token]], current: list[Token]) -> list[Token]:
    """End a sentence, with a full stop of no width where the writer made no mark."""
    if current:
        end = current[-1].end
        marked = current[-1].word in _ENDED
        sentences.append(current if marked else [*current, Token(_FULL_STOP, end, end)])
    return []


def _ends(tokens: list[Token], number: int, text: str, depth: int, grammar: GrammarFile) -> bool:
    token = tokens[number]
    following = tokens[number + 1] if number + 1 < len(tokens) else None
    if following is None:
        return True
    joined = following.start == token.end and not following.word.isspace()
    before = tokens[number - 1] if number else None
    if token.word == "?":
        apart = before is None or before.end < token.start or before.word in ",;:(\r\n"
        shouted = before is not None and text[before.start : before.end].isupper()
        asked = grammar.asked if before is not None and before.word.isalnum() else frozenset()
        opens = following.word in grammar.restarts - asked
        opens_word = apart and (joined or shouted or not opens)
        goes_on = depth > 0 or opens_word or not text[following.start].isupper()
        return not goes_on and not _answers(tokens, number, grammar)
    if before is None or token.word == "!":
        return True
    if before.end == token.start:
        number = before.word[-1].isdigit() and following.word[0].isdigit()
        initial = len(before.word) == 1 and before.word.isalpha()
        short = before.word in grammar.abbreviations
        if (short and before.word not in _UNITS) or (joined and (number or initial or short)):
            return False
    return not (joined and following.word in {",", ")", ";"})


def _asks(tokens: list[Token], number: int, current: list[Token], text: str) -> bool:
    """Whether a question mark asks what follows: "Heart normal. ? Edema.", "Opacity, ? Edema.".

    At the start of several lines it is a bullet that lost its shape on the way, as three are.
    """
    first, furthest = number, max(number - len(current) - 1, 0)
    while first > furthest and (tokens[first - 1].word == "?" or tokens[first - 1].word.isspace()):
        first -= 1
    if sum(token.word == "?" for token in tokens[first : number + 1]) > _TWO:
        return False
    if any(token.word != "?" for token in current):
        return first > 0 and tokens[first - 1].word in _BEFORE_QUESTION
    opens_line = first == 0 or "\n" in tokens[first].word
    return not opens_line or sum(1 for _ in islice(_ASKING_LINE.finditer(text), _TWO)) < _TWO


def _answers(tokens: list[Token], number: int, grammar: GrammarFile) -> bool:
    """Whether what follows a question mark answers it: "Effusion? Not convincing."."""
    behind = (token.word for token in tokens[number + 1 : number + _ANSWER_WITHIN])
    words = [*(word for word in behind if not word.isspace() or "\n" in word), _FULL_STOP]
    known, _ = _written(tuple(grammar.answers.values()))
    ends = (k for k in range(1, len(words)) if "\n" in words[k] or words[k] in grammar.answered)
    return any(tuple(words[:k]) in known for k in ends)


def _is_answered(
    tokens: list[Token], number: int, answers: frozenset[tuple[str, ...]], grammar: GrammarFile
) -> bool:
    """Whether a name alone is told by the next sentence: "Pneumonia. Unlikely."."""
    behind = [t.word for t in tokens[number + 1 : number + _ANSWER_WITHIN] if not t.word.isspace()]
    end = behind.index(_FULL_STOP) if _FULL_STOP in behind else 0
    if tuple(behind[:end]) not in answers:
        return False
    named = [token.word for token in tokens[max(number - _NAME_WITHIN, 0) : number]]
    marks = [k for k, word in enumerate(named) if word in _STOPS or "\n" in word]
    words = [word for word in named[marks[-1] + 1 if marks else 0 :] if not word.isspace()]
    whole = bool(marks) or number <= _NAME_WITHIN
    verbs = grammar.copulas | grammar.finite
    return whole and bool(words) and all(w.isalpha() and w not in verbs for w in words)


@lru_cache(maxsize=4)
def _written(
    patterns: tuple[tuple[str, ...], ...],
) -> tuple[frozenset[tuple[str, ...]], frozenset[str]]:
    """Give all that answers a question, and the words with which an answer opens."""
    every = frozenset(said for some in patterns for pattern in some for said in expand(pattern))
    return every, frozenset(said[0] for said in every)


def _restarts(
    current: list[Token], token: Token, text: str, depth: int, grammar: GrammarFile
) -> bool:
    """Whether a capitalised word in running text opens a sentence whose full stop is missing."""
    shown = text[token.start : token.end]
    if depth or not shown[0].isupper() or (len(shown) > 1 and shown.isupper()):
        return False
    before = current[-1]
    previous = text[before.start : before.end]
    ended = previous.isalpha() and previous.islower() and len(previous) > 2
    return ended and not _hangs(current, token, grammar)


def _hangs(current: list[Token], token: Token, grammar: GrammarFile) -> bool:
    """Whether the last word waits for what it is of: "with Pneumonia", "no right Effusion"."""
    word = current[-1].word
    if word not in grammar.sides:
        return word in grammar.unending
    placed = len(current) > 1 and current[-2].word in {"the", "on", "in", "at"}
    return not placed and token.word not in grammar.opening


def _item_mark(tokens: list[Token], number: int, item: int, depth: int) -> int:
    """How many tokens mark a list's next item: a bullet, "#1", "(1)", "1)", or "1 -" on a line."""
    token = tokens[number]
    if token.word in _BULLETS:
        return int(_opens_item(tokens, number))
    before = tokens[number - 1] if number else None
    if depth or not (before is None or before.word.isspace() or before.end < token.start):
        return 0
    shown = [each.word for each in tokens[number : number + 3]]
    if shown == ["(", str(item), ")"]:
        return 3
    last, said = number + 1, str(item)
    if len(shown) <= _TWO or said not in shown[:2]:
        return 0
    tight, apart = tokens[last].start == token.end, tokens[last].end < tokens[last + 1].start
    if shown[0] == "#":
        return 2 if tight and apart else 0
    if shown[1] == ")":
        return 2 if tight else 0
    line = before is None or "\n" in before.word
    parts = line and shown[1] in _PARTING and shown[2][0].isalpha() and apart
    return 2 if parts and shown[0] == said else 0


def _opens_item(tokens: list[Token], number: int) -> bool:
    """Whether a bullet or quotation mark starts or ends a list item rather than a quoted word."""
    token = tokens[number]
    before = tokens[number - 1] if number else None
    following = tokens[number + 1] if number + 1 < len(tokens) else None
    if before is None or following is None or token.word not in '"“”':
        return True
    apart = following.start > token.end or before.end < token.start
    return apart or before.word in {".", "?", ")", '"'}


def _line_ends(tokens: list[Token], number: int, text: str, grammar: GrammarFile) -> bool:
    """Whether a sentence ends with its line."""
    if text.count("\n", tokens[number].start, tokens[number].end) > 1:
        return True
    following = tokens[number + 1] if number + 1 < len(tokens) else None
    if following is None or number == 0:
        return True
    shown = text[following.start : following.end]
    if shown in _DASHES | {'"', "“"} or (shown.isdigit() and _numbers_item(tokens, number + 1)):
        return True
    after = tokens[number + 2] if number + 2 < len(tokens) else following
    if shown in _LINE_BULLETS and (after.start > following.end or shown == "#"):
        return True
    labels = any(token.word == ":" for token in tokens[number + 2 : number + 4])  # "Right lung:"
    before = tokens[number - 1]
    if labels and shown[0].isupper() and before.word not in grammar.differentials:
        return True
    asks = before.word == "?" and number > 1 and tokens[number - 2].end < before.start
    if before.word == ":" or asks or _waits(before.word, grammar):
        return False
    if (shown[0].isupper() and shown[1:2].islower()) or (shown == "?" and before.word != ","):
        return True
    if shown[0].isupper() and text[before.start : before.end].islower():
        return _line_length(text, before.end) < _LONG_LINE
    one_case = shown.isupper() or (shown.islower() and text.islower())
    if not one_case or before.word == ",":
        return False
    return following.word in grammar.opening or _had_room(text, before.end, following)


def _waits(word: str, grammar: GrammarFile) -> bool:
    """Whether no sentence can end behind a word."""
    waits = word in grammar.transitive or word in grammar.finite or word in grammar.prepositions
    return waits or word in _NEITHER


def _line_length(text: str, end: int) -> int:
    return end - text.rfind("\n", 0, end) - 1


def _had_room(text: str, end: int, following: Token) -> bool:
    """Whether the next word would have fitted into the line, which was then ended on purpose."""
    lines = text.split("\n")
    widest = max(map(len, lines))
    line = _line_length(text, end)
    blank = _BLANK.search(text, following.start)
    word = (blank.start() if blank else len(text)) - following.start
    return widest < _WIDEST or line + 1 + word <= widest


def _numbers_item(tokens: list[Token], number: int) -> bool:
    """Whether a number is an item's: "1." or "1)"."""
    return number + 1 < len(tokens) and tokens[number + 1].word in {".", ")"}
