"""Names and initials where only a name can stand: attn Melody · ref=HILL; · hours by jpr.

A slot is a place that a short word opens and a separator closes, so that nothing but a person, also
one whose name is a word, can fill it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.result import Category
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Finder, Rule, Word
from pipeline.names.grammar import NAME_WORD, UPPER
from pipeline.names.lexicon import Lexicon, triggers, unaccented

__all__ = ["RULES"]

_INITIALS: Final = r"([A-Za-z]{2,3}(?:[/:-][A-Za-z]{2,3})?)"
_NAME: Final = (
    rf"(?:[{UPPER}]\.[ ]?){{0,2}}{NAME_WORD}(?:[ ][{UPPER}]\.)?"
    rf"(?:[ -]{NAME_WORD}){{0,2}}"
)
_CLOSES: Final = r"(?=[,.;)\n]|[ ]{2}|[ ][|/(]|[ ]?\Z)"
_ATTENTION: Final = re.compile(rf"\.?:?[ ]({_NAME}){_CLOSES}")
_EQUALS: Final = re.compile(rf"=({NAME_WORD}(?:[ ]{NAME_WORD})?)(?=[;\n]|\Z)")
_BAR: Final = re.compile(rf"(?:\.?[ ]\||:)[ ]({_NAME})(?=[ ]\|)")
_COLUMN: Final = re.compile(rf"[ ]((?:[{UPPER}]\.\s)?{NAME_WORD})(?=[ ]{{2}}|\n)")
_COLUMN_INITIALS: Final = re.compile(rf"[ ]{_INITIALS}(?=[ ]{{2}})")
_SIGNED: Final = re.compile(
    rf"(?:\.[ ]|\)[ ]|[ ](?=[{UPPER}]\.))(?:(?:O[AÄ]|CA|FA|FÄ|AA|Dr|Prof|DR|PROF)\.?[ ])?"
    rf"({_NAME}){_CLOSES}"
)
_DICTATION: Final = re.compile(rf":[ ]{_INITIALS}(?=[ ]/)")
_VALIDATED: Final = re.compile(rf":[ ]({_NAME})(?=[ ]\d)")
_BY: Final = re.compile(rf"[ ]{_INITIALS}(?=[.,;)\n]|[ ]on[ ]|\Z)")
_BEFORE_BY: Final = re.compile(
    r"(?:\d[ ]?(?:[ap]\.?m\.?)?[ ]?(?:hours|hrs|h)?|measured|read|typed)[ ]$", re.I
)
_SPOKE: Final = re.compile(rf"[ ](?:w/|with|to)[ ]?({NAME_WORD})(?=[.,;]|[ ](?:at|on)[ ]\d)")
_CAPTION: Final = re.compile(
    rf"(?:[ ](?:says|reads|reading))?:?[ ][\"“]({NAME_WORD})(?=[ ]\d{{1,4}}[-/.A-Za-z])"
)
_NOTE: Final = re.compile(rf"[ ]\(({NAME_WORD}(?:[ ][{UPPER}]\.)?)\):")
_IS: Final = re.compile(rf"[ ](?:is|was|now)[ ]({NAME_WORD}[ ]{NAME_WORD})(?=[.,;\n]|\Z)")
_PROTOCOL: Final = re.compile(rf":[ ]({NAME_WORD}(?:,[ ]{NAME_WORD})?)(?=[ ]\d)")
_ACTS: Final = re.compile(
    r"(?:^|[.;:\n][ ]{0,3}|\b(?:and|which|that|but)[ ]|\()(?<![DMdm][RSrs]\.[ ])(?<![Rr][Ss]\.[ ])"
    rf"({NAME_WORD})[ ](?:had[ ]|will[ ]|has[ ])?$"
)
_ROLE: Final = re.compile(rf"(?:^|[.;\n][ ]{{0,3}})({NAME_WORD})[ ]\((?:[a-z]{{2,10}}[ ])?$")
_NUMBERED: Final = re.compile(r"[ ]\d[ ]([A-Z]{2,3})(?=[,.;\n]|\Z)")
_REGISTER: Final = re.compile(r"[ ]\d{6,11}(?![\w.])")
_LICENCE: Final = re.compile(r"\.?:?[ ]([A-Z]{2,5}[ ]\d{5,11})(?!\w)")
_DOES: Final = r"SAW|FELT|TOLD|CALLED|INFORMED|NOTIFIED|PAGED"
_IN_CAPITALS: Final = re.compile(
    rf"(?:\.[ ](?={NAME_WORD}(?:[.,;)\n]|[ ](?:AND|WAS|IS|HAS|AT|WHO|WILL|{_DOES})\b))"
    rf"|(?<=DR)[ ](?={NAME_WORD}[ ](?:{_DOES})\b))({NAME_WORD})"
)
_STAMP: Final = re.compile(r"\[([A-Z][A-Za-z]{3,20})[ ]$")
_VALUE: Final = re.compile(r"=([^;=|\n]{2,40}(?:\n[^;=|\n]{1,20})?)(?=;)")
_NOBODY: Final = frozenset({"unknown", "none", "anonymous", "null", "n/a", "withheld", "test"})
_PAIR: Final = re.compile(
    rf"(?:^|[.;\n][ ]{{0,3}})({NAME_WORD})[ ]and[ ]({NAME_WORD})"
    r"(?:[ ](?:in|from|on|of)[ ](?:the[ ])?[\w-]{2,12})?[ ](?:were|was)[ ]$"
)
_AFTER_DOCTOR: Final = re.compile(rf"\.?[ ]{NAME_WORD}[ ]\({_INITIALS}\)(?=[ ]*(?:\n|\Z))")
_REACH: Final = 40
_BLOCKED: Final = frozenset({"family", "team", "staff", "parents", "ward", "floor"}).union(
    triggers("roles"),
    triggers("titles"),
    triggers("roles_of_people"),
    triggers("relatives"),
    triggers("telling"),
)


def _slot(pattern: re.Pattern[str], *, category: Category = "NAME", checked: bool = True) -> Finder:
    """Make a rule of a pattern behind its word; what is a role or a heading is no name."""

    def finder(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
        match = pattern.match(text, word.end)
        if match is None or match.group(1).casefold() in _NOBODY:
            return
        if not (_fills if checked else _may_be_initials)(match.group(1), lexicon):
            return
        yield Found(*match.span(1), category, "name-slot" if category == "NAME" else "id-register")

    return finder


def _by(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the initials in "at 02:25 hours by ab" and "measured by cd on"."""
    match = _BY.match(text, word.end)
    before = _BEFORE_BY.search(text, max(0, word.start - 14), word.start) if match else None
    folded = match.group(1).casefold() if match else ""
    if match and before and folded not in lexicon.acronyms and folded not in lexicon.ordinary:
        yield Found(*match.span(1), "NAME", "initials-done")


def _acts(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name before a verb that only persons do (Dawn phoned; Kim picked up)."""
    near = text[max(0, word.start - _REACH) : word.start]
    match = None if near[-24:].islower() else _ACTS.search(near)
    if match and _is_filler(match.group(1), lexicon):
        at = word.start - len(near)
        yield Found(at + match.start(1), at + match.end(1), "NAME", "name-acting")


def _role(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name in "Dawn (night RN) phoned"."""
    match = None
    if text[word.end : word.end + 1] == ")":
        match = _ROLE.search(text, max(0, word.start - _REACH), word.start)
    if match and unaccented(match.group(1)) in lexicon.fillers:
        yield Found(*match.span(1), "NAME", "name-acting")


def _register(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the number of a physician with the register before it (BIG 1004934911)."""
    match = _REGISTER.match(text, word.end)
    if match:
        yield Found(word.start, match.end(), "ID", "id-register")


def _may_be_initials(value: str, lexicon: Lexicon) -> bool:
    """Tell whether a short value is no view, department or credential (PA, ED, MD)."""
    folded = value.casefold()
    return folded not in lexicon.not_names and folded not in lexicon.acronyms


def _is_filler(name: str, lexicon: Lexicon) -> bool:
    folded = unaccented(name)
    if folded in lexicon.fillers or folded in lexicon.rare_names:
        return True
    return folded in lexicon.names and not lexicon.is_word(folded)


def _shouted(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find a word behind its title in a report in capitals (DR. NODE SAW; DR LATE TOLD)."""
    match = _IN_CAPITALS.match(text, word.end) if text[word.start : word.end].isupper() else None
    if match:
        yield Found(*match.span(1), "NAME", "name-title")


def _two(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the names in "Valve and Min in the ED were told"."""
    match = None
    if text[max(0, word.start - 4) : word.start] in ("ere ", "was "):
        match = _PAIR.search(text, max(0, word.start - _REACH - 20), word.start)
    folded = [unaccented(name) for name in match.groups()] if match else []
    if match and lexicon.all_names.issuperset(folded) and folded[1] not in lexicon.not_names:
        yield Found(*match.span(1), "NAME", "name-acting")
        yield Found(*match.span(2), "NAME", "name-acting")


def _doctor(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find the name behind a doctorate (Prof. Dr. med. Vogt)."""
    match = _ATTENTION.match(text, word.end)
    if match and text[max(0, word.start - 4) : word.start].casefold() == "dr. ":
        yield Found(*match.span(1), "NAME", "name-title")


def _company(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find who reads from afar ([NightReads preliminary])."""
    match = _STAMP.search(text, max(0, word.start - 24), word.start)
    if match and not lexicon.is_ordinary(match.group(1)):
        yield Found(*match.span(1), "HOSPITAL", "hospital-stamp", sure=False)


def _fills(name: str, lexicon: Lexicon) -> bool:
    """Tell whether words at the place of a name are no role, heading or body part."""
    parts = [unaccented(part) for part in re.findall(r"[^\W\d_]{2,}", name)]
    if name.isupper() and len(parts) == 1 and parts[0] in lexicon.acronyms:
        return False
    return bool(parts) and parts[0] not in _BLOCKED and parts[0] not in lexicon.openers


RULES: Final = (
    Rule(frozenset({"attn"}), _slot(_ATTENTION)),
    Rule(frozenset({"ref"}), _slot(_EQUALS)),
    Rule(frozenset({"ref", "rad", "reporter", "requester"}), _slot(_BAR)),
    Rule(frozenset({"req"}), _slot(_COLUMN)),
    Rule(frozenset({"rad"}), _slot(_COLUMN_INITIALS, checked=False)),
    Rule(frozenset({"gez", "vid", "sgd"}), _slot(_SIGNED)),
    Rule(frozenset({"dictation", "diktat", "dict"}), _slot(_DICTATION, checked=False)),
    Rule(frozenset({"validated", "freigabe", "checked"}), _slot(_VALIDATED)),
    Rule(frozenset({"protocol"}), _slot(_PROTOCOL)),
    Rule(frozenset({"by"}), _by),
    Rule(frozenset({"spoke", "spoken"}), _slot(_SPOKE)),
    Rule(frozenset({"label", "sticker", "wristband"}), _slot(_CAPTION)),
    Rule(frozenset({"note"}), _slot(_NOTE), then="("),
    Rule(frozenset({"name"}), _slot(_IS), then="iwn"),
    Rule(frozenset({"name", "patname", "patientname"}), _slot(_VALUE, checked=False)),
    Rule(frozenset({"dr", "drs", "mr", "mrs", "ms"}), _shouted, capital=True),
    Rule(frozenset({"med"}), _doctor),
    Rule(frozenset({"dr"}), _slot(_AFTER_DOCTOR, checked=False), capital=True),
    Rule(frozenset({"told", "informed", "notified", "paged", "called"}), _two),
    Rule(frozenset({"preliminary", "prelim"}), _company),
    Rule(frozenset({"reader"}), _slot(_NUMBERED, checked=False), then="0123456789"),
    Rule(
        frozenset({"phoned", "rang", "telephoned", "picked", "hopes", "doubts", "biopsied"}), _acts
    ),
    Rule(frozenset({"notified", "tell", "fell", "asked", "insists", "thinks", "promised"}), _acts),
    Rule(frozenset({"rn", "lpn", "np", "nurse", "sister", "wife", "daughter", "son"}), _role),
    Rule(
        frozenset({"prc", "big", "crm", "rpps", "lanr", "cmp", "hpr", "mmc"}),
        _register,
        then="0123456789",
    ),
    Rule(frozenset({"lic", "licence", "license"}), _slot(_LICENCE, category="ID", checked=False)),
)
