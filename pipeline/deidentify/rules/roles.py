"""Names that a person's part in the sentence gives away, without a title or a label.

Before an apposition (Winter, the on-call hospitalist), before an age (HISTORY: Pearl Rivers, 58),
with a pager or a number (Paged Marsh 4471; Moody, pager 5466), with an initial, beside a date or
below a line that only a signature has. Each word must be listed as a name or be no word at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word, line_before
from pipeline.names.grammar import NAME_WORD, UPPER
from pipeline.names.lexicon import Lexicon, triggers, unaccented

__all__ = ["RULES", "find"]

_NAME: Final = (
    rf"{NAME_WORD}(?:-{NAME_WORD})?(?:[ \t][{UPPER}]\b\.?)?(?:[ \t]{NAME_WORD}(?:-{NAME_WORD})?)?"
)
_APPOSITION: Final = re.compile(
    rf"(?:^|[.;:)][ \t]{{1,3}}|\b(?:and|to|with|by|from|told|called|paged)[ \t])({_NAME}),[ \t]"
    r"(?:the|our|an?|his|her|their|THE|OUR|AN?|HIS|HER)[ \t](?:[\w'’-]{2,20}[ \t]){0,3}$"
)
_BEFORE_AGE: Final = re.compile(
    rf"[ \t]?:[ \t]{{0,4}}((?-i:{_NAME})),[ \t]?"
    rf"(?=\(?\d{{1,3}}(?:[ \t]?[mf])?\b(?![ \t]?(?:days?|weeks?|mm|cm|pack))|aged?\b)",
    re.IGNORECASE,
)
_BEFORE_COMPLAINT: Final = re.compile(
    rf"[ \t]?:[ \t]{{0,4}}((?-i:{NAME_WORD})),[ \t](?=[a-z])", re.IGNORECASE
)
_OPENS_LABEL: Final = re.compile(r"[ \t]{0,8}(?:\w+[ \t]){0,2}")
_LINE: Final = re.compile(
    rf",[ \t]{{1,2}}({NAME_WORD})(?:-{NAME_WORD})?"
    rf"(?:[ \t][{UPPER}]\b\.?)?(?=[ \t]*(?:$|[ \t]\d{{5,}}|,[ \t](?:MD|DO|M\.D)))",
    re.M,
)
_BEFORE_GIVEN_NAME: Final = re.compile(
    rf"(?:^|[ \t])((?:S[tT]\.?[ \t-])?{NAME_WORD}(?:-{NAME_WORD})?)$"
)
_OPENS_LINE: Final = re.compile(r"(?:^|\d[ \t]?(?:[AP]M)?[ \t]{1,3})$")
_PAGER: Final = re.compile(
    rf"\(({_NAME}),[ \t](?=(?:pager|bleep|ext|extension|phone|cell|mobile|dect|tel|beeper"
    r"|x[ \t]?\d|PAGER|BLEEP|EXT|PHONE|TEL))",
)
_DATED: Final = re.compile(
    rf"\(({_NAME}),[ \t](?=\d{{1,2}}(?:st|nd|rd|th|ST|ND|RD|TH)?[/. -]|(?:19|20)\d\d-"
    r"|(?:[Mm]on|[Tt]ues?|[Ww]ed|[Tt]hu|[Ff]ri|[Ss]at|[Ss]un|MON|TUE|WED|THU|FRI|SAT|SUN))"
)
_GIVEN_BEHIND: Final = re.compile(rf"\(({NAME_WORD})\)")
_BEFORE_GIVEN: Final = re.compile(rf"(?:^|[ \t]{{2}})({NAME_WORD})[ \t]$")
_FIELD: Final = re.compile(
    rf"[ \t]{{2}}({NAME_WORD}(?:[ \t][{UPPER}]\.?)?,?[ \t]{NAME_WORD})[ \t]{{2}}"
    r"(?=\d|[Bb]orn|BORN|DOB|[MF]\b|Sex)"
)
_RELATED: Final = re.compile(
    rf"(?:^|[,;(][ \t])[SWDB]/[oO][ \t](?:(?:Shri|Sri|Smt|Late|Mrs?|SHRI|SRI|SMT|LATE|MRS?)\.?"
    rf"[ \t])?({_NAME})",
    re.M,
)
_SIGNS: Final = re.compile(rf"^[ \t]{{0,8}}({_NAME})(?:[ \t]*\n[ \t]{{0,8}}|,[ \t])\Z", re.M)
_INITIAL: Final = re.compile(
    rf"\.(?<=[ \t][{UPPER}]\.)(?=,?[ \t](?:at|from|in|on|was|is|who|has|said|of|called)\b)"
)
_BEFORE_INITIAL: Final = re.compile(rf"(?<![\w.'’-])({NAME_WORD})[ \t].\Z")
_NUMBERED: Final = re.compile(
    rf"(?:[ \t]|[,;][ \t](?:and[ \t])?)({_NAME})[ \t]\(?(\d{{3,5}})\)?"
    r"(?=[,;.)]|[ \t]*$|[ \t](?:at|@|AT)\b)",
    re.M,
)


def find(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find names by the shape of their line or bracket."""
    for pattern, rule in _SHAPES:
        for match in pattern.finditer(text):
            yield from _if_name(text, match.span(1), lexicon, rule)
    if "/o" in text or "/O" in text:
        for match in _RELATED.finditer(text):
            yield from _if_name(text, match.span(1), lexicon, "name-relative")
    if "  " in text:
        for match in _FIELD.finditer(text):
            yield from _if_name(text, match.span(1), lexicon, "name-line")
    for match in _LINE.finditer(text):
        yield from _inverted(text, match, lexicon)
    for match in _GIVEN_BEHIND.finditer(text):
        yield from _called(text, match, lexicon)
    yield from _initialled_given(text, lexicon)


def _initialled_given(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name in "Hope M. was told"."""
    for match in _INITIAL.finditer(text):
        given = _BEFORE_INITIAL.search(text, max(0, match.start() - 36), match.start())
        if given and unaccented(given.group(1)) in lexicon.given_names:
            yield Found(given.start(), match.end(), "NAME", "name-initialled", sure=False)


def _history(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name in "HISTORY: Pearl Rivers, 58" and in "Hx: Pike, allergic to fish"."""
    aged = _BEFORE_AGE.match(text, word.end)
    ill = None if aged else _BEFORE_COMPLAINT.match(text, word.end)
    match = aged or ill
    if match is None or not _OPENS_LABEL.fullmatch(line_before(text, word.start, 80)):
        return
    if aged or unaccented(match.group(1)) in lexicon.frequent_surnames:
        yield from _if_name(text, match.span(1), lexicon, "name-aged")


def _signs(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name above or before what only a signature has (Jane Doe, Locum)."""
    before = text[max(0, word.start - 100) : word.start]
    match = _SIGNS.search(before) if before.rstrip(" \t")[-1:] in ("\n", ",") else None
    if match:
        at = word.start - len(before)
        span = (at + match.start(1), at + match.end(1))
        yield from _if_name(text, span, lexicon, "name-signed")


def _called(text: str, match: re.Match[str], lexicon: Lexicon) -> Iterator[Found]:
    """Find MUNRO (Isla) where it opens a line or a column."""
    line = line_before(text, match.start(), 40)
    family = _BEFORE_GIVEN.search(line)
    if family and unaccented(match.group(1)) in lexicon.given_names:
        at = match.start() - len(line)
        span = (at + family.start(1), at + family.end(1))
        yield from _if_name(text, span, lexicon, "name-line")
        yield from _if_name(text, match.span(1), lexicon, "name-line")


def _inverted(text: str, match: re.Match[str], lexicon: Lexicon) -> Iterator[Found]:
    """Find LAST, FIRST M alone on its line, or behind a number or a clock."""
    given = unaccented(match.group(1).split("-")[0])
    if given not in lexicon.given_names and given not in lexicon.rare_names:
        return
    line = line_before(text, match.start(), 80)
    family = _BEFORE_GIVEN_NAME.search(line)
    if family is None or not _OPENS_LINE.search(line[: family.start(1)][-8:]):
        return
    if _is_listed(unaccented(re.split(r"[ \t.-]+", family.group(1))[-1]), lexicon):
        start = match.start() - len(line) + family.start(1)
        yield Found(start, match.end(), "NAME", "name-line")


def _is_listed(folded: str, lexicon: Lexicon) -> bool:
    return folded in lexicon.names or folded in lexicon.rare_names


def _if_name(text: str, span: tuple[int, int], lexicon: Lexicon, rule: str) -> Iterator[Found]:
    """Accept a span if each of its words is listed as a name or is no word."""
    parts = [unaccented(part) for part in re.findall(r"[^\W\d_]{2,}", text[slice(*span)])]
    if len(parts) == 1 and parts[0] in lexicon.acronyms and text[slice(*span)].isupper():
        return
    listed = all(_is_listed(part, lexicon) or not lexicon.is_ordinary(part) for part in parts)
    if parts and listed and not any(part in _NEVER for part in parts):
        yield Found(*span, "NAME", rule, sure=False)


def _role(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Winter, the on-call hospitalist."""
    line = line_before(text, word.start, 80)
    match = _APPOSITION.search(line) if "," in line else None
    if match:
        at = word.start - len(line)
        span = (at + match.start(1), at + match.end(1))
        yield from _if_name(text, span, lexicon, "name-role")


def _told(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name in "informed the registrar, Bird, at 1708"."""
    match = _APPOSED.match(text, word.end)
    if match:
        yield from _if_name(text, match.span(1), lexicon, "name-role")


def _bracketed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name in "Consultant (Law) informed"."""
    match = _IN_BRACKETS.match(text, word.end)
    if match and not lexicon.is_report_word(match.group(1)):
        yield from _if_name(text, match.span(1), lexicon, "name-role")


def _bleeped(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name in "On call: Ng, bleep 2991"."""
    line = line_before(text, word.start, 40)
    match = _BEFORE_BLEEP.search(line) if _BLEEP.match(text, word.end) else None
    if match:
        at = word.start - len(line)
        span = (at + match.start(1), at + match.end(1))
        yield from _if_name(text, span, lexicon, "name-pager")


def _initialled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name in "Requester Brown S." and "arbitration E. Harper"."""
    match = _WITH_INITIAL.match(text, word.end)
    if match and match.group(1).split()[0].casefold() not in lexicon.eponyms:
        for found in _if_name(text, match.span(1), lexicon, "name-role"):
            yield found._replace(sure=match.group(1)[1:2] == ".")


def _paged(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Paged Marsh 4471, Frost 80233: names, each with a number to ring."""
    at = word.end
    for _ in range(4):
        match = _NUMBERED.match(text, at)
        if match is None:
            return
        yield from _if_name(text, match.span(1), lexicon, "name-paged")
        yield Found(*match.span(2), "PHONE", "phone-paged")
        at = match.end()


_APPOSED: Final = re.compile(
    rf",[ \t]({NAME_WORD}(?:[ \t]{NAME_WORD})?)"
    r"(?=,?[ \t](?:at|AT|on|ON|by|via)[ \t]|,[ \t]\d|[ \t]?\()"
)
_IN_BRACKETS: Final = re.compile(
    rf"[ ]\(({NAME_WORD})\)(?=[.,;]|[ ](?:informed|notified|aware|told|called|paged|at|on|by)\b)"
)
_BEFORE_BLEEP: Final = re.compile(rf"(?:^|[:,.;(][ \t])({_NAME}),?[ \t]$")
_BLEEP: Final = re.compile(r"[ \t](?:no\.?[ \t])?#?\d")
_WITH_INITIAL: Final = re.compile(
    rf"[ \t:]{{1,3}}((?:[{UPPER}]\.[ \t]?){{1,2}}{NAME_WORD}"
    rf"|{NAME_WORD}[ \t][{UPPER}](?![\w'’]))"
)
_SHAPES: Final = ((_PAGER, "name-pager"), (_DATED, "name-timed"))
_NEVER: Final = (
    triggers("words_that_open_a_history")
    | triggers("telling")
    | {"man", "woman", "male", "female", "boy", "girl", "lady", "gentleman", "patient"}
)
"""Words at the place of a name that begin the history or tell someone (via pager 4471)."""

RULES: Final = (
    Rule(
        frozenset({"history", "indication", "information", "exam", "examination", "study"})
        | {"details", "reason", "hx", "patient", "pt", "clinical"},
        _history,
    ),
    Rule(
        frozenset({"specialty", "consultant", "reporting", "locum", "attending", "registrar"})
        | {"radiologist"},
        _signs,
        capital=True,
    ),
    Rule(triggers("roles_of_people"), _role),
    Rule(triggers("roles_of_people"), _told),
    Rule(triggers("roles_of_people"), _bracketed, then="("),
    Rule(frozenset({"bleep", "pager", "dect", "extn", "beeper"}), _bleeped),
    Rule(
        frozenset({"requester", "requestor", "arbitration", "reader", "by", "report"}),
        _initialled,
        to_name=True,
    ),
    Rule(frozenset({"paged", "bleeped", "called", "rang", "phoned", "page", "call"}), _paged),
)
