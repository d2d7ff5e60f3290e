"""Names that a person's part in the sentence gives away, without a title or a label.

Before an apposition (Winter, the on-call hospitalist), before an age (HISTORY: Pearl Rivers, 58),
with a pager or a number (Paged Marsh 4471; (Moody, pager 5466)), a given name with an initial, a
with a pager or a number (Paged Marsh 4471; Moody, pager 5466), a given name with an initial, a
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.grammar import NAME_WORD, UPPER
from pipeline.deidentify.lexicon import Lexicon, triggers, unaccented
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word, line_before

__all__ = ["RULES", "find"]

_NAME: Final = (
    rf"{NAME_WORD}(?:-{NAME_WORD})?(?:[ \t][{UPPER}]\.?)?(?:[ \t]{NAME_WORD}(?:-{NAME_WORD})?)?"
)
_APPOSITION: Final = re.compile(
    rf"(?:^|[.;:)][ \t]{{1,3}}|\b(?:and|to|with|by|from|told|called|paged)[ \t])({_NAME}),[ \t]"
    r"(?:the|our|an?|his|her|their|THE|OUR|AN?|HIS|HER)[ \t](?:[\w'’-]{2,20}[ \t]){0,3}$"
)
_BEFORE_AGE: Final = re.compile(
    rf"^[ \t]{{0,8}}(?:\w+[ \t]){{0,2}}(?:history|indication|information|exam|examination|study"
    rf"|details|reason|hx|patient|pt)[ \t]?:[ \t]{{0,4}}((?-i:{_NAME})),[ \t]?"
    rf"(?=\(?\d{{1,3}}(?:[ \t]?[mf])?\b(?![ \t]?(?:days?|weeks?|mm|cm|pack))|aged?\b)",
    re.M | re.IGNORECASE,
)
_BEFORE_COMPLAINT: Final = re.compile(
    rf"^[ \t]{{0,8}}(?:\w+[ \t]){{0,2}}(?:history|indication|exam|examination|study|details)"
    r"[ \t]?:"
    rf"[ \t]{{0,4}}((?-i:{NAME_WORD})),[ \t](?=[a-z])",
    re.M | re.IGNORECASE,
)
_LINE: Final = re.compile(
    rf"(?:^|\d[ \t]{{1,3}}|\d[ \t]?[AP]M[ \t]{{1,3}})((?:(?:St|ST)\.?[ \t-])?"
    rf"{NAME_WORD}(?:-{NAME_WORD})?,[ \t]{{1,2}}{NAME_WORD}(?:-{NAME_WORD})?"
    rf"(?:[ \t][{UPPER}]\b\.?)?)(?=[ \t]*(?:$|[ \t]\d{{5,}}|,[ \t](?:MD|DO|M\.D)))",
    re.M,
)
_PAGER: Final = re.compile(
    rf"\(({_NAME}),[ \t](?=(?:pager|bleep|ext|extension|phone|cell|mobile|dect|tel|beeper"
    r"|x[ \t]?\d|PAGER|BLEEP|EXT|PHONE|TEL))",
)
_INITIALLED: Final = re.compile(
    rf"(?<![\w.'’-])({NAME_WORD}[ \t][{UPPER}]\.)"
    r"(?=,?[ \t](?:at|from|in|on|was|is|who|has|said|of|called)\b)"
)
_NUMBERED: Final = re.compile(
    rf"(?:[ \t]|[,;][ \t](?:and[ \t])?)({_NAME})[ \t]\(?(\d{{3,5}})\)?"
    r"(?=[,;.)]|[ \t]*$|[ \t](?:at|@|AT)\b)",
    re.M,
)


def find(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find names by the shape of their line or bracket."""
    for match in _BEFORE_AGE.finditer(text):
        yield from _if_name(text, match.span(1), lexicon, "name-aged")
    for match in _BEFORE_COMPLAINT.finditer(text):
        if unaccented(match.group(1)) in lexicon.frequent_surnames:
            yield from _if_name(text, match.span(1), lexicon, "name-aged")
    for match in _LINE.finditer(text):
        yield from _inverted(text, match, lexicon)
    for match in _PAGER.finditer(text):
        yield from _if_name(text, match.span(1), lexicon, "name-pager")
    for match in _INITIALLED.finditer(text):
        if unaccented(match.group(1)[:-3]) in lexicon.given_names:
            yield Found(*match.span(1), "NAME", "name-initialled", sure=False)


def _inverted(text: str, match: re.Match[str], lexicon: Lexicon) -> Iterator[Found]:
    family, given = re.split(r",[ \t]+", match.group(1), maxsplit=1)
    family = unaccented(re.split(r"[ \t.-]+", family)[-1])
    given = unaccented(re.split(r"[ \t-]", given)[0])
    if (given in lexicon.given_names or given in lexicon.rare_names) and _is_listed(
        family, lexicon
    ):
        yield Found(*match.span(1), "NAME", "name-line")


def _is_listed(folded: str, lexicon: Lexicon) -> bool:
    return folded in lexicon.names or folded in lexicon.rare_names


def _if_name(text: str, span: tuple[int, int], lexicon: Lexicon, rule: str) -> Iterator[Found]:
    """Accept a span if each of its words is listed as a name or is no word."""
    parts = [unaccented(part) for part in re.findall(r"[^\W\d_]{2,}", text[slice(*span)])]
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


_NEVER: Final = frozenset(
    [
        "pain",
        "fever",
        "cough",
        "chest",
        "lung",
        "heart",
        "history",
        "no",
        "none",
        "small",
        "large",
        "short",
        "long",
        "severe",
        "left",
        "right",
        "new",
        "acute",
        "blood",
        "cancer",
        "back",
        "see",
        "he",
        "she",
        "it",
        "they",
        "this",
    ]
)
RULES: Final = (
    Rule(triggers("roles_of_people"), _role),
    Rule(frozenset({"paged", "bleeped", "called", "rang", "phoned", "page", "call"}), _paged),
)
