"""Names that a cue follows: a credential, an age, a verb, a number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.titles import TITLES
from pipeline.deidentify.rules.words import Rule, Word, line_before
from pipeline.names.grammar import LOWER, NAME_WORD, UPPER, name_end, reads_as_name
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["RULES", "find"]

_PART: Final = (
    rf"(?:(?:al|el|Al|El)-{NAME_WORD}|{NAME_WORD}|St\.(?=[ \t])|[{UPPER}]\.?(?!\w)"
    r"|(?:van|von|de|der|den|del|la|da|dos|al|bin|ter)(?=[ \t]))"
)
_LAST: Final = rf"(?:,[ \t]{{0,2}}{NAME_WORD}(?:[ \t](?:{NAME_WORD}|[{UPPER}]\.?)){{0,2}})?"
_SMALL: Final = r"(?:(?:van|von|de|der|den|del|della|la|da|dos|al|bin|ter|di|[Ss]t\.)[ \t]){0,3}"
_NAME: Final = (
    rf"(?:[{UPPER}]\.[ \t-]?){{0,2}}{_SMALL}(?:al-|el-)?{NAME_WORD}"
    rf"(?:[ \t]{{1,2}}{_PART}){{0,4}}{_LAST}"
)
_NAME_AT_END: Final = re.compile(rf"(?<![\w.'’^-])({_NAME}),?[ \t]{{0,2}}\(?$")
_OPENING_NAME: Final = re.compile(
    rf"(?:^|[:.;][ \t]{{1,6}}|^[ \t]{{1,8}}|\b(?:[Tt]he"
    rf"|[Tt]his)[ \t][Pp]atient,?[ \t])({_NAME})[, \t]{{1,3}}(?:an?[ \t])?$"
)
_INITIALLED: Final = re.compile(rf"(?:(?<=\s)|^)({NAME_WORD}[ \t][{UPPER}]\.),?[ \t]{{0,2}}$")
_CREDENTIAL: Final = re.compile(
    r"(?:M\.?D|D\.?O|R\.?N|N\.?P|P\.?A(?:-C)?|Ph\.?D|MB[ ,]?B\.?Ch|MBBS|MBChB|FRC[RSP]C?"
    r"|FACR|F?ARNP|APRN|CRNP|DNP"
    r"|FRANZCR|FRACP|MRCP|DMRD|DNB|RMO|SHO|SpR|SPR|CRNA|LPN|BSN|MSN|FNP(?:-C)?|R\.?T(?:\(R\))?|RRT|DDS|DMD|DPM|PGY-?\d?|MPH|CNM|FSIR"
    r"|PharmD)\.?(?![\w'’])"
)
_PROJECTION: Final = re.compile(
    r"(?:[ ]?(?:/|&)[ ]?|[ ](?:and[ ])?)(?:lat|view|project)", re.IGNORECASE
)
_VIEWS: Final = frozenset({"pa", "do", "rt", "np"})
"""Credentials that are words or views as well (CHEST PA, DO NOT); they need a comma before them."""
_AGED: Final = re.compile(
    r"[ \t](?:is|was)[ \t](?:an?[ \t])?(?:\w{3,12}[ \t]){0,2}?(?:\d{1,3}[ \t-]?(?:y|m|f|mo"
    r"|wk|week|day|d)|\[AGE"
    r"|woman|man|male|female|lady|gentleman|boy|girl|patient|smoker|infant|child|former|retired)",
    re.IGNORECASE,
)
_AGE_BEFORE: Final = re.compile(r"(?:an?[ \t])?\(?\d{1,3}[ \t-]{0,2}$")
_DOES: Final = re.compile(
    r"[ \t](?:with|for|a[ \t]|to|from|that|on|severe|acute|chronic|increasing|worsening|new"
    r"|no|any|after|chest|cough|fever|today|status|having)"
)
_WAS: Final = re.compile(
    r"[ \t]was[ \t](?:admitted|seen|referred|transferred|brought|notified|informed|called"
    r"|paged|contacted|reached|given|told|updated|advised|made[ \t]aware)\b"
)
_ACTED: Final = re.compile(
    r"[ \t](?:acknowledged|verbalized|confirmed[ \t]receipt|read[ \t]back|repeated|agrees"
    r"|is[ \t]under|agreed|has[ \t]been[ \t]notified|aware|is[ \t]aware)"
)
_SENTENCE_NAME: Final = re.compile(rf"(?:^|[:.;\])][ \t]{{1,6}}|^[ \t]{{1,8}})({_NAME})$")
_CARET: Final = re.compile(
    rf"(?<![\w^.])[{UPPER}{LOWER}'’._-]{{1,40}}(?:\^{{1,4}}[{UPPER}{LOWER}'’._-]{{1,40}}"
    rf"(?:[ ](?=[^\s^]{{1,30}}\^))?){{1,5}}"
)
_SLASHED: Final = re.compile(
    rf"^[ \t]{{0,8}}({_NAME})(?:,?[ \t](?:M\.?D\.?|D\.?O\.?))?[ \t]?[/|][ \t]?(?:NPI|#|\d"
    rf"|M\.?D|D\.?O|\[)",
    re.M,
)
_SLASH: Final = re.compile(r"[/|](?<!\d.)[ \t]?(?:NPI|#|\d|M\.?D|D\.?O|\[)")
"""What such a line has behind its name; most strokes stand in dates."""
_TIMED: Final = re.compile(
    rf"\(({_NAME}),?[ \t](?:at[ \t]|@[ \t]?)?(?=\d{{1,2}}:\d\d|\d{{1,2}}[ \t]?[apAP]\.?[mM]"
    rf"|\d{{4}}[ \t]?[hH])",
)
_NOBODY: Final = frozenset({"patient", "pt", "he", "she", "this", "there", "man", "woman"})
_NUMBERED: Final = re.compile(
    rf"(?:^|[:.;][ \t]{{1,6}}|^[ \t]{{1,8}})({_NAME})[ \t]{{0,2}}[(,]?[ \t]{{0,2}}$"
)
_LOWER_NAME: Final = re.compile(
    r"\b(?:to|with|by|notified|informed|told)[ \t]([a-z'-]{2,20}(?:[ \t][a-z'-]{2,20})?),?[ \t]$"
)


_CAPITAL_BEFORE: Final = re.compile(rf"[{UPPER}][^\s]{{0,22}}$|[{UPPER}][^\s]{{0,18}},?[ ]an?$")
_WEAK: Final = frozenset({"name-opening", "name-acting"})
"""Shapes that a sentence of a report in capitals has as well (THE AORTIC ARCH IS 35 MM)."""


def find(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find names by the shape of their line."""
    if "^" in text:
        for match in _CARET.finditer(text):
            if not text[match.end() : match.end() + 1].isdigit():  # ORU^R01, a type of message
                yield Found(match.start(), match.end(), "NAME", "name-caret")
    if _SLASH.search(text):
        for match in _SLASHED.finditer(text):
            yield from _trimmed(text, match, lexicon, "name-slash")
    if "(" in text:
        for match in _TIMED.finditer(text):
            yield from _trimmed(text, match, lexicon, "name-timed")


def _credential(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not word.capital or _CREDENTIAL.match(text, word.start) is None:
        return
    if text[word.end : word.end + 1] == ":" or _PROJECTION.match(text, word.end):
        return
    comma = (
        text[max(0, word.start - 4) : word.start].rstrip(" \t(").endswith(",")
        if word.folded in _VIEWS
        else True
    )
    if comma or text[word.end : word.end + 2] == "-C":
        yield from _before(_NAME_AT_END, text, word.start, 60, lexicon, "name-credential")


def _is(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    at = word.start - 1
    near = text[max(0, at - 24) : at]
    last = near[near.rfind(" ") + 1 :]
    if text[at : at + 1] not in (" ", "\t") or (last.islower() and last not in ("a", "an")):
        return
    if not _CAPITAL_BEFORE.search(near):
        return
    if _AGED.match(text, at):
        yield from _before(_OPENING_NAME, text, word.start, 60, lexicon, "name-opening")
    elif _WAS.match(text, at) or _ACTED.match(text, at):
        yield from _before(_SENTENCE_NAME, text, at, 60, lexicon, "name-acting")


def _presents(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not word.capital and _DOES.match(text, word.end):
        yield from _before(_SENTENCE_NAME, text, word.start - 1, 60, lexicon, "name-acting")


def _year_old(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    age = _AGE_BEFORE.search(line_before(text, word.start, 10))
    if age:
        start = word.start - len(age.group())
        yield from _before(_OPENING_NAME, text, start, 60, lexicon, "name-opening")


def _before(
    pattern: re.Pattern[str], text: str, at: int, length: int, lexicon: Lexicon, rule: str
) -> Iterator[Found]:
    line = line_before(text, at, length)
    match = pattern.search(line)
    name = match.group(1).casefold() if match else ""
    if match is None or name in lexicon.cities or name in _NOBODY:
        return
    if rule == "name-opening" and name in lexicon.eponyms and name not in lexicon.surnames:
        return
    yield from _trimmed(text, match, lexicon, rule, offset=at - len(line))


def _trimmed(
    text: str, match: re.Match[str], lexicon: Lexicon, rule: str, *, offset: int = 0
) -> Iterator[Found]:
    """Accept what a shape calls a name from its last word that cannot be in one."""
    start, stop = (offset + at for at in match.span(1))
    begin = start
    while begin < stop:
        space = text.find(" ", begin, stop)
        if space > 0 and text[begin:space].strip(".").casefold() in _NOT_FIRST:
            begin = space + 1
            continue
        if space > 0 and lexicon.ends_capitals(text[begin:space].strip(".,:;")):
            begin = space + 1
            continue
        end = name_end(text, begin, lexicon, comma=True)
        if end >= stop:
            weak = rule == "name-numbered" or (rule in _WEAK and text[begin:stop].isupper())
            if not weak or reads_as_name(text, begin, stop, lexicon):
                yield Found(begin, stop, "NAME", rule)
            return
        space = text.find(" ", max(begin, end), stop)
        begin = space + 1 if space >= 0 else stop


def _numbered(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Jane Doe (MRN 123): a name that a record number follows."""
    yield from _before(_NUMBERED, text, word.start, 60, lexicon, "name-numbered")


def _lower_credential(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find a name dictated without capitals (called to mary jones rn)."""
    line = line_before(text, word.start, 60)
    match = None if word.capital else _LOWER_NAME.search(line)
    if match and not any(part in lexicon.not_names for part in match.group(1).split()):
        start = word.start - len(line) + match.start(1)
        yield Found(start, start + len(match.group(1)), "NAME", "name-lower", sure=False)


_NOT_FIRST: Final = TITLES | {"patient", "child", "infant", "pt"}
"""Words before a name that are not part of it."""
RULES: Final = (
    Rule(triggers("labels_after_a_name"), _numbered),
    Rule(triggers("credentials_in_small_letters"), _lower_credential),
    Rule(triggers("credentials"), _credential, capital=True),
    Rule(triggers("verbs_of_persons"), _is),
    Rule(triggers("verbs_of_patients"), _presents),
    Rule(triggers("units_of_age"), _year_old),
)
