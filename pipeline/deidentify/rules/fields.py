"""Names in fields and at fixed places of a form, where also a word may be a name (CLEAR, DAWN)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_uppercase
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Finder, Rule, Word, line_before
from pipeline.names.grammar import NAME_WORD, UPPER
from pipeline.names.lexicon import Lexicon, unaccented

__all__ = ["RULES", "find"]

_PARTICLES: Final = (
    r"(?:(?:VAN|VON|DE|DEN|DER|OP|EL|AL|LA|DI|[Vv]an|[Dd]e[nr]?|[Ee]l|[Aa]l)[ ]){0,2}"
)
_INVERTED: Final = re.compile(
    rf",(?<=[{UPPER}a-z],)(?:[ ]{{0,2}}|[ ]?\n[ ]{{1,8}})(?P<given>{NAME_WORD})(?:-{NAME_WORD})?"
    rf"(?:[ ][{UPPER}]\b\.?)?(?P<end>[ ]*(?=[;|\"(]|$)|(?=[ ]{{2}})|(?=,[ ](?:MD|DO|RN)\b)"
    r"|(?=[ ](?:[Pp]age|PAGE|on|ON)[ ]\d)|(?=[ ](?:[MF][ ])?\d{1,2}[/.-]\d))",
    re.MULTILINE,
)
_FAMILY: Final = re.compile(
    rf"(?:^|[;|\"“][ ]{{0,3}}|[:][ ]{{0,12}}|\d[ ]{{1,4}}|[ ]{{2}}|\b(?:to|TO|with|WITH)[ ])"
    rf"({_PARTICLES}{NAME_WORD}(?:[ -]{NAME_WORD})?)$"
)
_NAME: Final = rf"{NAME_WORD}(?:[ ][{UPPER}]\.?)?(?:[ ]{NAME_WORD})"
_OPENS: Final = re.compile(rf"[ ]{{0,8}}({_NAME}(?:[ ]{NAME_WORD})?)[ ]{{4,}}[MF]\b")
_BEFORE_BIRTH: Final = re.compile(
    rf"(?:\d|^)[ ]{{2,}}({NAME_WORD}(?:[ ]{NAME_WORD}){{1,2}})[ ]{{2,}}(?:D\.)?(?:O\.)?$"
)
_COLON: Final = re.compile(
    rf":[ ](?:({NAME_WORD},[ ][{UPPER}]\.(?:[ ]?[{UPPER}]\.)?)(?=[ ]{{2}}|$)"
    rf"|(?<=\d:[ ])({_NAME})(?=\.[ ]))",
    re.MULTILINE,
)
_BRACKET: Final = re.compile(
    r"[ ]\((?:[pPxX]\.?[ ]?\d{3}|ext|\d{3}-|\(?\+?\d{3}[) ])", re.MULTILINE
)
_BEFORE_BRACKET: Final = re.compile(rf"[:;][ ]({NAME_WORD})$")
_END: Final = 60
_TIMED: Final = re.compile(rf"\.?[ ]({NAME_WORD})(?=[ ]\d{{1,2}}(?:[:.]\d\d|[ ][A-Z][a-z]{{2}}))")
_SIGNATURE: Final = re.compile(
    rf"/[ ]({NAME_WORD}(?:[ ](?:[{UPPER}]\.[ ])?{NAME_WORD}){{1,2}})(?=[ ]\d|[ ]*(?:\n|\Z))"
)
_WITH_LETTER: Final = re.compile(rf"[ ]([{UPPER}]{{2,24}}[ ][{UPPER}])(?=[ ]*(?:\n|\Z))")
_NURSE: Final = re.compile(rf",[ ]({NAME_WORD}[ ][{UPPER}]\.)(?=,)")
_OF: Final = re.compile(rf"[ ]of[ ]({_NAME})(?=[ ]and[ ])")
_BY: Final = re.compile(rf"[ ]({_NAME})(?=,[ ](?:MS\d|PGY|MD|DO|RN|NP))")
_STROKE: Final = re.compile(rf"[ ]({_NAME})(?=[ ]/)")
_RANKED: Final = re.compile(rf"[ ]({NAME_WORD}(?:[ ]{NAME_WORD})?)")
_STAFF_NURSE: Final = re.compile(
    rf"/N[ ]({NAME_WORD})(?=,|[ ](?:informed|notified|aware|told|called|paged|at|on)\b)"
)
_REQUESTER: Final = re.compile(rf":[ ]{{1,4}}({NAME_WORD}[ ][{UPPER}])(?=[ ]*(?:\n|\Z)|[ ]{{2}})")
_NAMES: Final = "(?:[ ]?names?)?"
_PART: Final = re.compile(
    rf"{_NAMES}[ ]?[:=][ ]{{0,8}}({NAME_WORD}(?:[ -]{NAME_WORD}){{0,2}})"
    r"(?=[ ]*(?:\n|\Z)|[ ]{2}|[,;|]|[ ](?:Forenames?|Date|DOB|D\.O\.B|Sex|Gender|First|Given|Title"
    r"|NHS|MRN|Hosp|FORENAMES?|DATE|SEX|FIRST)\b)"
)
_NAMED: Final = re.compile(rf"[ ][Nn](?:ame|AME)s?{_PART.pattern[len(_NAMES) :]}")
_NOBODY: Final = frozenset(
    {"unknown", "none", "redacted", "withheld", "anonymous", "not", "see", "patient", "test"}
)
_COLUMN: Final = re.compile(r"(?<! ) {2,60}(?=[A-Z]{0,3}\d{4})")
_FOUR: Final = re.compile(r"([A-Z]?\d{4})(?=[ ]{2})")
_INVERTED_LINE: Final = re.compile(rf"[ ]{{0,8}}{NAME_WORD},[ ]?{NAME_WORD}(?:[ ].{{1,12}})?")
_SHORT_ID: Final = re.compile(rf"\n([A-Z]\d{{4}})[ ]{{2,4}}({NAME_WORD})(?=[ ]*(?:\n|\Z))")
"""A letter and four figures before the family name, as soldiers are listed."""
_SURNAME_FIRST: Final = re.compile(
    rf"[ ]{{0,8}}([{UPPER}][{UPPER}'’-]{{1,24}}[ ]{NAME_WORD}(?:[ ](?:{NAME_WORD}|[{UPPER}]\.?))?)"
)
_ES: Final = re.compile(
    rf"/[ ]{{1,3}}({NAME_WORD}(?:[ ](?:{NAME_WORD}|[{UPPER}]\.?)){{1,3}})(?=,|[ ]*(?:\n|\Z))"
)
_THANKS: Final = re.compile(rf"[,.]?[ ]((?:[{UPPER}]\.?[ ]){{1,2}}{NAME_WORD})(?=[,.\n]|\Z)")
_KNOWN: Final = re.compile(rf"[ ]({NAME_WORD}(?:[ ](?:[{UPPER}]\.[ ])?{NAME_WORD}){{1,2}})")
_KNOWN_BEFORE: Final = re.compile(r"\b(?:known|formerly|recorded|listed)[ ]$", re.IGNORECASE)
_WITH: Final = re.compile(
    rf"/[ ]?((?:[{UPPER}]\.[ ]?){{1,2}}{NAME_WORD}|{NAME_WORD}[ ]{NAME_WORD})"
    r"(?=[ ](?:at|on|by|via|in)\b|[ ]@|[,.])"
)
_PROVIDER: Final = re.compile(rf"[ ]((?:[{UPPER}]\.[ ]?){{1,2}}{NAME_WORD})")
_SHORT_END: Final = re.compile(r"(?<=[a-z\d\])])\.[ ]{1,2}([A-Z]{2,3})\s*\Z")
_LAST: Final = re.compile(
    rf"(?<=[a-z\d\])])[.!][ ]{{1,2}}({NAME_WORD})(?:,[ ](?=[^\n]*\d)[\w ,/-]{{6,18}})?\.?\s*\Z"
)
_DASHED: Final = re.compile(rf":[ ]([{UPPER}]{{3,20}})(?=[ ]-[ ])")
_CALL: Final = re.compile(rf"[ ]({NAME_WORD})(?=[ ](?:on|at|in|with|ON|AT)[ ])")


def find(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find names at the places of a form."""
    for match in _INVERTED.finditer(text):
        yield from _inverted(text, match, lexicon)
    opening = _OPENS.match(text)
    if opening:
        yield from _if_name(opening, lexicon)
    for match in _COLON.finditer(text):
        yield from _if_name(match, lexicon)
    yield from _columns(text, lexicon)
    yield from _last_word(text, lexicon)
    for match in _BRACKET.finditer(text):
        before = _BEFORE_BRACKET.search(text, max(0, match.start() - 30), match.start())
        if before:
            yield from _if_name(before, lexicon, one=True)


def _columns(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find LAST First where a line begins with it and a number stands in the next column."""
    for column in _COLUMN.finditer(text) if "  " in text else ():
        line = line_before(text, column.start(), 60)
        match = _SURNAME_FIRST.fullmatch(line)
        words = match.group(1).split() if match else []
        if match and any(_may_name(word, lexicon) for word in words):
            at = column.start() - len(line)
            yield Found(at + match.start(1), at + match.end(1), "NAME", "name-field", sure=False)
        four = _FOUR.match(text, column.end())
        if four and _INVERTED_LINE.fullmatch(line):
            yield Found(*four.span(1), "ID", "id-field", sure=False)
    for match in _SHORT_ID.finditer(text):
        if _may_name(match.group(2), lexicon):
            yield Found(*match.span(1), "ID", "id-field", sure=False)
            yield Found(*match.span(2), "NAME", "name-field", sure=False)


def _may_name(word: str, lexicon: Lexicon) -> bool:
    plain = unaccented(word).replace("'", "")
    return len(plain) > 1 and (plain in lexicon.all_names or lexicon.is_stranger(plain))


def _last_word(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find the family name that alone, behind the last sentence, signs a report."""
    match = _LAST.search(text, max(0, len(text) - _END))
    if match and unaccented(match.group(1)) in lexicon.frequent_surnames:
        yield Found(*match.span(1), "NAME", "name-signed", sure=False)
    short = _SHORT_END.search(text, max(0, len(text) - _END))
    if short and short.group(1).casefold() not in lexicon.acronyms:
        yield Found(*short.span(1), "NAME", "initials", sure=False)


def _known_as(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the former name in "previously known as Jane Doe"."""
    match = _KNOWN.match(text, word.end)
    if match and _KNOWN_BEFORE.search(line_before(text, word.start, 12)):
        yield from _if_name(match, lexicon)


def _labelled(pattern: re.Pattern[str]) -> Finder:
    """Make a rule of a label whose value is a name, whatever its words are."""

    def finder(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
        match = pattern.match(text, word.end)
        if match and match.group(1).split()[0].casefold() not in _NOBODY:
            yield Found(*match.span(1), "NAME", "name-field")

    return finder


def _behind(pattern: re.Pattern[str], *, one: bool = False) -> Finder:
    """Make a rule of a pattern behind its word."""

    def finder(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
        match = pattern.match(text, word.end)
        if match:
            yield from _if_name(match, lexicon, one=one)

    return finder


def _born(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name between a number and the birth date in a line of columns."""
    line = line_before(text, word.start, 60)
    match = _BEFORE_BIRTH.search(line)
    if match and _is_name(match.group(1), lexicon, one=False):
        at = word.start - len(line)
        yield Found(at + match.start(1), at + match.end(1), "NAME", "name-field", sure=False)


def _if_name(match: re.Match[str], lexicon: Lexicon, *, one: bool = False) -> Iterator[Found]:
    group = match.lastindex or 1
    if _is_name(match.group(group), lexicon, one=one):
        yield Found(*match.span(group), "NAME", "name-field", sure=False)


def _inverted(text: str, match: re.Match[str], lexicon: Lexicon) -> Iterator[Found]:
    """Find LAST, FIRST M in a field: one of them listed, the last word no word of reports."""
    line = text[max(0, match.start() - 44) : match.start()]
    family = _FAMILY.search(line)
    if family is None:
        return
    given = unaccented(match.group("given"))
    parts = [unaccented(part) for part in re.findall(r"[^\W\d_]{2,}", family.group(1))]
    if not parts or len(given) < 3:
        return
    is_given = given in lexicon.given_names or given in lexicon.unreported
    listed = all(part in lexicon.all_names or lexicon.is_stranger(part) for part in parts)
    if not is_given and not (listed and lexicon.is_stranger(given)):
        return
    if any(map(lexicon.is_report_word, parts)) and not listed:
        return
    start = match.start() - len(line) + family.start(1)
    end = match.end() - len(match.group("end"))
    yield Found(start, end, "NAME", "name-field", sure=True)


def _is_name(name: str, lexicon: Lexicon, *, one: bool) -> bool:
    """Tell whether words at the place of a name are one: a listed one and none of reports."""
    parts = [unaccented(part) for part in re.findall(r"[^\W\d_]{2,}", name)]
    if not parts or any(map(lexicon.is_report_word, parts)):
        return False
    if one:
        return parts[0] in lexicon.names or parts[0] in lexicon.rare_names
    return any(part in lexicon.all_names for part in parts)


RULES: Final = (
    Rule(frozenset({"surname", "surnames", "forename", "forenames"}), _labelled(_PART)),
    Rule(frozenset({"first", "last", "given", "family", "middle"}), _labelled(_NAMED), then="nN"),
    Rule(frozenset({"req", "requester", "referrer", "cons", "requested"}), _labelled(_REQUESTER)),
    Rule(frozenset({"es"}), _labelled(_ES)),
    Rule(frozenset({"as"}), _known_as, then=ascii_uppercase),
    Rule(frozenset({"w"}), _labelled(_WITH)),
    Rule(
        frozenset({"provider", "physician", "clinician", "attending", "paged", "surgeon"}),
        _labelled(_PROVIDER),
        then=ascii_uppercase,
    ),
    Rule(frozenset({"thanks", "regards"}), _labelled(_THANKS)),
    Rule(frozenset({"dob", "d", "born"}), _born, capital=True),
    Rule(frozenset({"report"}), _behind(_OF)),
    Rule(frozenset({"by"}), _behind(_BY), to_name=True),
    Rule(frozenset({"dictated"}), _behind(_STROKE)),
    Rule(frozenset({"cns", "anp", "acp", "ahp", "lcdr", "cdr", "ssgt", "cnm"}), _behind(_RANKED)),
    Rule(frozenset({"s"}), _behind(_STAFF_NURSE)),
    Rule(frozenset({"s"}), _labelled(_SIGNATURE)),
    Rule(frozenset({"nursing", "rn", "nurse"}), _labelled(_NURSE)),
    Rule(frozenset({"auth", "authorised", "authorized", "rad", "checked"}), _labelled(_TIMED)),
    Rule(frozenset({"name"}), _labelled(_WITH_LETTER), then=ascii_uppercase),
    Rule(frozenset({"info", "indication", "history"}), _behind(_DASHED)),
    Rule(frozenset({"call"}), _behind(_CALL, one=True)),
)
