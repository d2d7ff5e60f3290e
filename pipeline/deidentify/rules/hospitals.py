"""Hospitals by the word of their kind, with what belongs to their name (Oaks Skilled Nursing)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.placenames import (
    JOIN,
    KINDS,
    WORD,
    capitals_start,
    trimmed,
)
from pipeline.deidentify.rules.words import Rule, Word, line_before
from pipeline.names.grammar import NAME_WORD
from pipeline.names.lexicon import Lexicon

__all__ = ["RULES", "find"]

_THE: Final = re.compile(r"(?<=[a-z,(:][ ])The[ ]$|(?<=\()The[ ]$|(?<=[,:][ ])THE[ ]$")
_BEFORE_KIND: Final = re.compile(
    rf"(?<![\w^.-]){WORD}(?:[ \t](?:{JOIN}[ \t]){{0,2}}{WORD}){{0,5}}[ \t]$"
)
_MORE_KIND: Final = re.compile(
    r"(?:[ \t](?:(?:and|AND|&)[ \t])?(?:Medical|Health|Care|Healthcare|Hospitals?|Cent(?:er|re)"
    r"|System|Network"
    r"|Partners|Services|Sciences|Group|Campus|Clinics?|Living|House|Cent(?:er|re)s|Medicine"
    r"|Associates|Consultants|Imaging|Institute|Facility|Home|College|School|Specialists"
    r"|Department|Practice|PRACTICE|Post|Trust|Foundation|Board|BOARD|Regional|Memorial|HSC|Skilled|Nursing|Rehab|Rehabilitation|Wellness"
    r"|SKILLED|NURSING|REHAB|REHABILITATION|FACILITY|HOME|SERVICES|WELLNESS"
    r"|MEDICAL|HEALTH|CARE|HOSPITALS?|CENT(?:ER|RE)|SYSTEM|GROUP|CLINIC|ASSOCIATES|IMAGING"
    r"|LIVING|HOUSE|CLINICS|PRACTICE|MEDICINE|INSTITUTE|REGIONAL|MEMORIAL|PARTNERS|TRUST)\b){0,4}"
)
_TAIL: Final = re.compile(
    rf"[ \t](?:(?:of|at|in|OF|AT)[ \t](?:the[ \t])?)?(?:{NAME_WORD})"
    rf"(?:[ \t]{NAME_WORD}){{0,2}}(?=[ \t]*(?:[.,;)\n]|$))"
    rf"|[ \t](?:of|OF|at)[ \t](?:the[ \t])?{NAME_WORD}(?:[ \t]{NAME_WORD}){{0,2}}"
    rf"|[ \t]?[-–][ \t]?{NAME_WORD}(?:[ \t]{NAME_WORD})?(?=[ \t]*(?:[.,;)\n]|$))"
)
_DEPARTMENT: Final = re.compile(
    rf"^[ \t]{{0,8}}({WORD}(?:[ \t](?:{JOIN}[ \t]){{0,2}}{WORD}){{0,5}})[ \t]{{0,4}}$"
)
_HEADS_DEPARTMENT: Final = re.compile(
    r"\n(?=[ \t]{0,8}"
    r"(?:Department|Dept\.?|Division|DEPARTMENT|Section|Diagnostic|Radiology|RADIOLOGY)\b)"
)
_LONGEST: Final = 200
_WRAPPED: Final = re.compile(rf"(?<![\w^.-])({WORD}(?:[ ]{WORD}){{0,3}})[ ]?\n[ ]{{0,8}}\Z")
_REACH: Final = 60
_LONG: Final = 30
"""From which column on a line may be one that wraps."""


def _kind(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not word.capital:
        return
    line = line_before(text, word.start, 80)
    end = _more(text, word.end)
    if _is_no_kind(word, line, alone=end == word.end):
        return
    match = _BEFORE_KIND.search(line)
    start = (
        trimmed(text, word.start - len(match.group()), word.start, lexicon) if match else word.start
    )
    tail = _TAIL.match(text, end)
    inner = max(text.rfind(" at ", start, word.start), text.rfind(" AT ", start, word.start))
    start = inner + len(" at ") if inner > 0 else start
    if text[start:end].isupper():
        start = capitals_start(text, start, word.start, lexicon)
        town = text[start : word.start].strip()
        if word.folded in _UNITS and end == word.end and town.casefold() in lexicon.cities:
            yield Found(start, start + len(town), "LOCATION", "town-listed")  # the unit stays
            return
        bare = text[start : word.start].strip().casefold() in ("the", "a", "our", "of the", "")
        weak = word.folded in _WEAK_KINDS and end == word.end
        before = text[start : word.start].casefold().split()
        unit = word.folded in _UNITS and (
            _WEAK_KINDS.issuperset(before) or all(map(lexicon.is_ordinary, before))
        )
        if (
            unit
            or (bare and end == word.end)
            or (weak and not _stands_as_place(text, start, word.start, lexicon))
        ):
            return
    if _before_wrap(text, word, start, lexicon) == word.start and (
        tail is None or not tail.group().lstrip().lower().startswith("of")
    ):
        return
    if tail:
        length = _tail_length(tail.group(), lexicon)
        if start == word.start and not length:
            return  # Institute of Radiology
        end = _more(text, end + length)
    if _THE.search(text, max(0, start - 6), start):
        start -= len("The ")
    start = _before_wrap(text, word, start, lexicon)
    sure = (word.folded in _STRONG_KINDS or end > word.end) and start < word.start
    yield Found(start, end, "HOSPITAL", "hospital-kind", sure=sure)


def _is_no_kind(word: Word, line: str, *, alone: bool) -> bool:
    """Tell whether a kind lacks the word before it, or behind it, that makes it a hospital."""
    if word.folded in _QUALIFIED and _QUALIFIED[word.folded].search(line) is None:
        return True
    return alone and word.folded in _PARTIAL


def _before_wrap(text: str, word: Word, start: int, lexicon: Lexicon) -> int:
    """Begin on the line before where the kind opens a line that only wraps (Glenfield⏎Hospital)."""
    if start < word.start or "\n" not in text[max(0, word.start - 9) : word.start]:
        return start
    wrap = _WRAPPED.search(text, max(0, word.start - _REACH), word.start)
    if wrap is None or wrap.start(1) - text.rfind("\n", 0, wrap.start(1)) < _LONG:
        return start
    return trimmed(text, wrap.start(1), word.start, lexicon)


def _tail_length(tail: str, lexicon: Lexicon) -> int:
    """Measure what of a hospital's tail is a name (of Ashford, not of Ashford Comparison)."""
    length = 0
    named = tail.startswith(" of ") and not tail.isupper()
    for match in re.finditer(r"[^\W\d_][^\s]*", tail):
        word = match.group().strip(".,;:")
        is_join = word.casefold() in ("of", "at", "in", "the")
        plain = lexicon.is_word(word) or lexicon.is_ordinary(word)
        if not is_join and (lexicon.is_report_word(word) if named else plain):
            break
        length = length if is_join else match.start() + len(word)
    return length


def _stands_as_place(text: str, start: int, stop: int, lexicon: Lexicon) -> bool:
    """Tell whether a kind that is also a word (SURGERY, IMAGING) has a name before it."""
    words = re.findall(r"[^\W\d_]{3,}", text[start:stop])
    return bool(words) and not all(map(lexicon.is_ordinary, words))


def _more(text: str, end: int) -> int:
    match = _MORE_KIND.match(text, end)
    return match.end() if match else end


_STRONG_KINDS: Final = frozenset(
    {"clinic", "hospital", "hospitals", "infirmary", "hospice", "nursing", "medical", "vamc"}
    | {"healthcare", "sanatorium", "institute", "health"}
)
"""Kinds that make a clinical name before them part of a hospital's (Golden Oaks, Salem)."""
_QUALIFIED: Final = {
    "center": re.compile(
        r"[^\s:.,] (?:surgical|diagnostic|heart|outpatient|ambulatory|infusion|pain|spine|breast"
        r"|community|eye|women's|birth|stroke|vein|wound) $",
        re.IGNORECASE,
    ),
    "medicine": re.compile(r"[^\s:.,] (?:internal|family|sports|occupational) $", re.IGNORECASE),
    "group": re.compile(
        r"[^\s:.,] (?:medical|pulmonary|cardiology|surgical|oncology|physicians?|radiology) $",
        re.IGNORECASE,
    ),
    "team": re.compile(r"[^\s:.,] health $", re.IGNORECASE),
    "mri": re.compile(r"[^\s:.,] open $", re.IGNORECASE),
}
_QUALIFIED["centre"] = _QUALIFIED["center"]
"""Kinds only behind one of these words, which a name must stand before."""
_PARTIAL: Final = frozenset({"cancer", "assisted", "senior", "residential", "family", "dialysis"})
"""Kinds that say nothing without the word behind them (Cancer Institute, Assisted Living)."""
_UNITS: Final = frozenset({"clinic", "clinics", "care"})
"""Kinds that with no other word than a weak kind before them are a unit (HEALTH CLINIC)."""
_WEAK_KINDS: Final = frozenset(
    {"surgery", "imaging", "care", "general", "associates", "radiology", "health", "medical"}
    | {"cancer", "university", "regional", "trust", "nursing", "rehabilitation", "va", "children"}
    | {"practice", "assisted", "senior", "residential", "family", "dialysis", "snf", "mc"}
)


def find(text: str) -> Iterator[Found]:
    """Find a hospital's name above its department."""
    for below in _HEADS_DEPARTMENT.finditer(text):
        line = line_before(text, below.start(), _LONGEST)
        match = _DEPARTMENT.match(line)
        if match:
            at = below.start() - len(line)
            yield Found(
                at + match.start(1), at + match.end(1), "HOSPITAL", "hospital-header", sure=False
            )


RULES: Final = (Rule(KINDS, _kind, capital=True),)
