"""Names behind a cue: a role's label, a verb, a word of telling, a closing, an attestation.

`grammar.name_end` says how far the name goes; the cue only says where it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_uppercase
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.series import (
    ATTESTED,
    NEXT_WORD,
    SPACE,
    START,
    TITLE,
    following,
    is_listed,
    series,
    unless_words,
)
from pipeline.deidentify.rules.words import Rule, Word, line_before
from pipeline.names.grammar import UPPER, name_end, reads_as_name
from pipeline.names.lexicon import Lexicon, triggers

__all__ = ["LABEL_RULES", "RULES"]

_ROLES: Final = triggers("roles")
_SHORT_TITLE: Final = r"(?:Drs?|DRS?|Prof|Mr|MR|Mrs|MRS|Ms|MS|Miss)"
_LABEL_START: Final = START.replace(TITLE, _SHORT_TITLE)
"""Behind a label, Nurse and Doctor may be family names: they go with the name."""
_AFTER_ROLE: Final = re.compile(
    rf"(?:[ \t](?:name|signature|of[ \t]record|\d)\b)?(?:\(s\)"
    rf"|[ \t]?\([^)\n]{{1,20}}\))?"
    rf"[ \t]?(?:[:=>|]|[ \t]-)[ \t]{{0,12}}(?:\n[ \t]{{0,8}})?{_LABEL_START}",
    re.ASCII,
)
_VERBS: Final = re.compile(
    r"\b(?:dictated|transcribed|signed(?:[ \t]off)?|report|read|interpreted|reviewed"
    r"|verified|approved"
    r"|authenticated|finali[sz]ed|typed|supervised|co-?signed|attested|acknowledged|reported"
    r"|ordered"
    r"|performed|requested|referred|placed|prepared|edited|confirmed|released|seen|obtained|entered"
    r"|accompanied|validated|received|receipt|read-?back|back|given|provided|called|notified"
    r"|sent|done"
    r"|preliminary|prelim|final|answered|authori[sz]ed|telephoned|phoned|vetted|annotated|returned|impression|addendum|addended|amended|corrected|correction|resulted"
    r"|protocoled"
    r"|completed|created|generated|discussed|taken|examined"
    r"|version[ \t]#?\d{1,2}|evaluated|followed|treated"
    r"|inserted|removed|relayed|authored|cosigned|communicated|conveyed)"
    r"(?:[ \t]?:?[ \t](?:at|on|to|[A-Z][\w.'-]{1,14}|[A-Z]\.|[\d:/.,+TZ-]{1,30}|[APap][Mm])){0,7}"
    r"(?:[ \t](?:and|&|with)[ \t]\w{3,14}(?:[ \t](?:and|&)[ \t]\w{3,14})?)?[ \t]$",
    re.IGNORECASE,
)
_STEMS: Final = (
    "discuss", "communicat", "report", "relay", "convey", "spoke", "speak", "spoken", "call",
    "phon", "telephon", "pag", "text", "messag", "email", "fax", "given", "sent", "conversation",
    "consult", "review", "message", "disc", "provided", "forward", "addressed", "escalat", "hand",
    "left", "notif", "ask",
)  # fmt: skip
_TOLD: Final = re.compile(
    rf"(?:\b(?:{'|'.join(_STEMS)})\w{{0,7}}"
    r"(?:[ \t][\w-]{1,12}){0,6}[ \t]|\b[dw]/)$",
    re.IGNORECASE,
)
_AFTER_PATIENT: Final = re.compile(rf"\.?[ \t]{{1,3}}(?:named?[ \t]|is[ \t])?(?=[{UPPER}])")
_BELOW: Final = re.compile(rf",?[ \t]*\n\s{{0,4}}{START}")
_SPACE_OR_COMMA: Final = re.compile(rf"[ \t]?[,:(]?[ \t]{{0,2}}{START}")
_BEFORE_SIGNED: Final = re.compile(
    r"(?:^|[.;:(][ \t]{0,3}|report[ \t]|electronically[ \t]|digitally[ \t]|e-)$", re.I
)


def _labelled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    follows = text[word.end : word.end + 2]
    if follows[:1] == " " and follows[1:].islower() and follows[1:] not in _GO_ON:
        return
    match = _AFTER_ROLE.match(text, word.end)
    if match:
        end = name_end(text, match.end(), lexicon, comma=True)
        wraps = "\n" in match.group() or "|" in match.group()
        bare = word.folded in _ALSO_THINGS and not is_listed(
            text[match.end() : end] or ".", lexicon
        )
        if bare or (wraps and not reads_as_name(text, match.end(), end, lexicon)):
            return
        if end > match.end():
            yield Found(match.end(), end, "NAME", "name-label")
            yield from following(text, end, lexicon, "name-label", comma=word.folded in _COPIES)


def _by(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not _may_begin(text, word.end):
        return
    match = SPACE.match(text, word.end)
    if match and _VERBS.search(line_before(text, word.start, 80)):
        yield from unless_words(text, word, match.end(), lexicon, "name-by", comma=True)


def _told(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not _may_begin(text, word.end):
        return
    match = SPACE.match(text, word.end)
    if match and _tells(line_before(text, word.start, 90)):
        yield from unless_words(text, word, match.end(), lexicon, "name-told")


def _may_begin(text: str, end: int) -> bool:
    """Tell fast whether a capital or a particle can stand behind a word and its blank."""
    letter = text[end + 1 : end + 2]
    return letter in _NAME_STARTS or not letter.isascii()


def _tells(line: str) -> bool:
    """Tell whether a line ends in a word of telling and few words more; most lines hold none."""
    folded = line.casefold()
    near = folded.endswith("/") or any(stem in folded for stem in _STEMS)
    return near and _TOLD.search(line) is not None


def _patient(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Pt. Jane Doe here for surgery; Name Doe, Jane: two words, none of them ordinary."""
    match = _AFTER_PATIENT.match(text, word.end) if word.capital else None
    end = name_end(text, match.end(), lexicon, comma=True) if match else 0
    alone = word.folded not in ("baby", "newborn") or text[end : end + 1] != ","
    if match and alone and " " not in text[match.end() : end]:
        return
    if match and end > match.end() and reads_as_name(text, match.end(), end, lexicon):
        yield Found(match.end(), end, "NAME", "name-patient")


def _opening_label(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """For: Doe, Jane; Prelim: J. Doe / Final: M. Roe."""
    match = _AFTER_ROLE.match(text, word.end) if word.capital else None
    end = name_end(text, match.end(), lexicon, comma=True) if match else 0
    if match and reads_as_name(text, match.end(), end, lexicon):
        yield Found(match.end(), end, "NAME", "name-label")


def _closing(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the name below a letter's last line (Kind regards, Jane Doe)."""
    match = _BELOW.match(text, word.end)
    end = name_end(text, match.end(), lexicon, comma=False) if match else 0
    if match and " " in text[match.end() : end]:
        yield Found(match.end(), end, "NAME", "name-signed")


def _informed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = SPACE.match(text, word.end)
    if match is None or (word.folded == "per" and _names_rule(text, match, lexicon)):
        return
    if word.capital and not text[word.start : word.end].isupper():
        end = name_end(text, match.end(), lexicon, comma=False)
        if not _opens_sentence(text, word) or not reads_as_name(text, match.end(), end, lexicon):
            return
        yield from series(text, match.end(), lexicon, "name-told")
    else:
        yield from unless_words(text, word, match.end(), lexicon, "name-told")


def _opens_sentence(text: str, word: Word) -> bool:
    """Tell whether a word begins a sentence (Paged Marsh), where its capital says nothing."""
    before = text[max(0, word.start - 2) : word.start].strip(" \t")
    return before[-1:] in ("", "\n", ".", ";", ":", "(")


def _signed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = SPACE.match(text, word.end)
    if match and _BEFORE_SIGNED.search(line_before(text, word.start, 20)):
        yield from series(text, match.end(), lexicon, "name-signed", comma=True)


def _attest(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _SPACE_OR_COMMA.match(text, word.end) if word.capital else None
    if match is None or match.end() == word.end:
        return
    end = name_end(text, match.end(), lexicon, comma=False)
    if (
        end > match.end()
        and ATTESTED.match(text, end)
        and reads_as_name(text, match.end(), end, lexicon)
    ):
        yield Found(match.end(), end, "NAME", "name-attest")


def _names_rule(text: str, match: re.Match[str], lexicon: Lexicon) -> bool:
    """Tell whether an eponym that is no family name says by what rule (per Fleischner)."""
    name = NEXT_WORD.match(text, match.end() - 1)
    noun = NEXT_WORD.match(text, name.end()) if name else None
    closes = name is not None and text[name.end() : name.end() + 1] in ("", ".", ";", ")", "\n")
    if name is None or not (closes or (noun and lexicon.is_eponym_noun(noun[1].casefold()))):
        return False
    folded = name.group(1).casefold()
    if folded in lexicon.acronyms and name.group(1).isupper():
        return True
    return folded in lexicon.eponyms and folded not in lexicon.frequent_surnames


_ALSO_THINGS: Final = frozenset({"tech", "technologist", "technician", "record"})
"""Labels that something else may follow (TECH: axial)."""
_GO_ON: Final = ("n", "s", "o")
"""How a label goes on before its colon (name, signature, of record)."""
_NAME_STARTS: Final = frozenset(ascii_uppercase + " \t\n(vdlabt")
_COPIES: Final = frozenset({"cc", "copy", "to"})
_TELLING: Final = triggers("telling")
LABEL_RULES: Final = (Rule(_ROLES, _labelled),)
RULES: Final = (
    Rule(frozenset({"by"}), _by),
    Rule(frozenset({"signed", "signature"}), _signed),
    Rule(frozenset({"with", "to", "for", "from", "w", "d", "dw", "dr"}), _told),
    Rule(frozenset({"pt", "patient", "name"}), _patient, capital=True),
    Rule(frozenset({"for", "final", "prelim", "signer"}), _opening_label, capital=True),
    Rule(_TELLING, _informed),
    Rule(frozenset({"i"}), _attest, capital=True),
    Rule(frozenset({"regards", "sincerely"}), _closing),
    Rule(frozenset({"baby", "newborn"}), _patient, capital=True),
)
