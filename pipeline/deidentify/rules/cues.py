"""Names behind a cue: a title, a role label, a word of telling, a relative, an attestation.

`grammar.name_end` says how far the name goes; the cue only says where it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_uppercase
from typing import Final

from pipeline.deidentify.grammar import LOWER, UPPER, name_end, reads_as_name
from pipeline.deidentify.lexicon import Lexicon, triggers, unaccented
from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word, line_before

__all__ = ["RULES", "TITLES"]

TITLES: Final = triggers("titles")
_NOT_OPENING: Final = frozenset({"law", "member", "named", "partner", "twin", "father", "sister"})
_WORD_TITLES: Final = triggers("titles_in_small_letters")
_WEAK_TITLES: Final = frozenset(
    {"pa", "rt", "sr", "fr", "np", "col", "lt", "father", "sister"}
    | {"sdr", "sdri", "dhr", "mw", "hr", "fru"}
)
_TITLE: Final = r"(?:Drs?|DRS?|Doctor|DOCTOR|Prof|Professor|Mr|MR|Mrs|MRS|Ms|MS|Miss|Nurse|NURSE)"
_START: Final = (
    rf"(?:\((?:Mrs?|Ms|Miss|Smt)\.?\)[ \t])?(?:{_TITLE}(?:\.[ \t]{{0,2}}|[ \t]{{1,2}}))?"
    rf"(?=[{UPPER}]|(?:van|von|de|del|di|da|la"
    rf"|al|el|bin|ter|ten|der|den|dos|du|le)\b)"
)
_AFTER_TITLE: Final = re.compile(rf"(?:\.[ \t]{{0,3}}(?:\n[ \t]{{0,4}})?|[ \t]{{1,3}}){_START}")
_AFTER_LOWER_TITLE: Final = re.compile(
    rf"(?:\.[ \t]{{0,3}}|[ \t]{{1,3}})([{LOWER}][{LOWER}'’-]{{1,30}})(?![\w])"
)
_ROLES: Final = triggers("roles")
_SHORT_TITLE: Final = r"(?:Drs?|DRS?|Prof|Mr|MR|Mrs|MRS|Ms|MS|Miss)"
_LABEL_START: Final = _START.replace(_TITLE, _SHORT_TITLE)
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
_BELOW: Final = re.compile(rf",?[ \t]*\n\s{{0,4}}{_START}")
_TOLD_WHOM: Final = re.compile(
    r"\b(?:informed|told|notified|called|paged|bleeped|alerted|with|to|by|and)[ \t]$", re.IGNORECASE
)
_SPACE: Final = re.compile(rf"[ \t]{{1,3}}(?:\n[ \t]{{0,4}})?{_START}")
_SPACE_OR_COMMA: Final = re.compile(rf"[ \t]?[,:(]?[ \t]{{0,2}}{_START}")
_WRAPPED: Final = re.compile(rf"[ \t]?[,:(]?(?:[ \t]{{0,2}}|[ \t]?\n[ \t]{{0,4}}){_START}")
_NEXT_LINE: Final = re.compile(rf"[ \t]?\n[ \t]{{0,4}}(?=[{UPPER}])")
_NEXT_WORD: Final = re.compile(r"[ \t]{1,3}([A-Za-z]{3,20})")
_AND: Final = re.compile(
    rf"(?:,?[ \t]?(?:MD|M\.D\.|DO|D\.O\.|NP|PA|PA-C|RN)\b(?=[ \t]?;))?"
    rf"(?:[ \t]?[,;][ \t]{{0,2}}(?:(?:and|AND)[ \t]|&[ \t]?)?|[ \t](?:and|AND)[ \t]"
    rf"|[ \t]?[&/][ \t]?"
    rf"|\n[ \t]{{2,8}}){_START}"
)
_ATTESTED: Final = re.compile(
    r"[, \t]{1,3}(?:[A-Z][\w.]{0,9}[, \t]{1,3}){0,4}(?:have|has|was|am|attest|certify"
    r"|personally|agree|reviewed"
    r"|the|did|performed|interpreted|supervised|attending|staff|REVIEWED|HAS|ATTENDING|HAVE|WAS|AM|ATTEST|PERSONALLY|AGREE|CERTIFY)\b"
)
_TO_WHOM: Final = re.compile(r"\b(?:per|to|by|with|from|told)[ \t]$", re.IGNORECASE)
_BABY: Final = re.compile(r"\b(?:baby|infant|bb|bg)[ \t]$", re.IGNORECASE)
_BEFORE_SIGNED: Final = re.compile(
    r"(?:^|[.;:(][ \t]{0,3}|report[ \t]|electronically[ \t]|digitally[ \t]|e-)$", re.I
)


def _titled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not word.capital and word.folded not in _WORD_TITLES:
        return
    match = _AFTER_TITLE.match(text, word.end)
    if match is None or (word.folded in _WEAK_TITLES and text[word.end] != "."):
        return
    if word.folded in _BEHIND_NAMES and text[max(0, word.start - 2) : word.start] == ", ":
        return  # J. Doe, RN. Prior studies
    is_scan = word.folded == "mr" and text[word.end] != "."  # MR BRAIN
    if is_scan or word.folded in _WEAK_TITLES or word.folded in _WORD_TITLES:
        yield from _unless_words(text, word, match.end(), lexicon, "name-title")
    else:
        yield from _series(text, match.end(), lexicon, "name-title", many=word.folded in _PLURAL)


def _weak_titled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """RN Maria Lopez, PA Jones: only with two words, or none of them a word."""
    match = _SPACE.match(text, word.end)
    if match is None or not text[word.start : word.end].isupper():
        return
    end = name_end(text, match.end(), lexicon, comma=False)
    name = text[match.end() : end].split()
    reported = _TO_WHOM.search(line_before(text, word.start, 12)) is not None
    listed = len(name) == 1 and reported and unaccented(name[0]) in lexicon.names
    if listed or (len(name) > 1 and not any(lexicon.is_word(part) for part in name)):
        yield Found(match.end(), end, "NAME", "name-title", sure=False)


def _spelt_title(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find a title in small letters (nurse Maria L.): no word, or a word with an initial."""
    match = None if word.capital else _SPACE.match(text, word.end)
    if match is None:
        return
    end = name_end(text, match.end(), lexicon, comma=False)
    name = text[match.end() : end].split()
    initialled = len(name) > 1 and len(name[-1].rstrip(".")) == 1
    if name and (initialled or not lexicon.is_word(name[0])):
        yield Found(match.end(), end, "NAME", "name-title")


def _newborn(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Baby Boy Jones, Infant Girl Garcia."""
    match = _SPACE.match(text, word.end)
    if match and _BABY.search(line_before(text, word.start, 8)):
        yield from _series(text, match.end(), lexicon, "name-newborn")


def _lower_titled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = None if word.capital else _AFTER_LOWER_TITLE.match(text, word.end)
    if match and match.group(1) not in lexicon.not_names and not text[word.start - 1].isdigit():
        yield Found(*match.span(1), "NAME", "name-title-lower")


def _over_line(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find a name on the line after its title, where it goes on as a sentence does."""
    match = _NEXT_LINE.match(text, word.end)
    end = name_end(text, match.end(), lexicon, comma=False) if match else 0
    if match and end > match.end() and _ATTESTED.match(text, end):
        yield Found(match.end(), end, "NAME", "name-title")


def _labelled(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    follows = text[word.end : word.end + 2]
    if follows[:1] == " " and follows[1:].islower() and follows[1:] not in _GO_ON:
        return
    match = _AFTER_ROLE.match(text, word.end)
    if match:
        end = name_end(text, match.end(), lexicon, comma=True)
        wraps = "\n" in match.group() or "|" in match.group()
        bare = word.folded in _ALSO_THINGS and not _is_listed(
            text[match.end() : end] or ".", lexicon
        )
        if bare or (wraps and not reads_as_name(text, match.end(), end, lexicon)):
            return
        if end > match.end():
            yield Found(match.end(), end, "NAME", "name-label")
            yield from _following(text, end, lexicon, "name-label", comma=word.folded in _COPIES)


def _by(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not _may_begin(text, word.end):
        return
    match = _SPACE.match(text, word.end)
    if match and _VERBS.search(line_before(text, word.start, 80)):
        yield from _unless_words(text, word, match.end(), lexicon, "name-by", comma=True)


def _told(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    if not _may_begin(text, word.end):
        return
    match = _SPACE.match(text, word.end)
    if match and _tells(line_before(text, word.start, 90)):
        yield from _unless_words(text, word, match.end(), lexicon, "name-told")


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


def _sister(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find the nurse in "informed Sister Doe"; the relative has a rule of her own."""
    match = _SPACE.match(text, word.end)
    if match and _TOLD_WHOM.search(line_before(text, word.start, 20)):
        yield from _unless_words(text, word, match.end(), lexicon, "name-title")


def _informed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _SPACE.match(text, word.end)
    if match is None or (word.folded == "per" and _names_rule(text, match, lexicon)):
        return
    if word.capital and not text[word.start : word.end].isupper():
        end = name_end(text, match.end(), lexicon, comma=False)
        if not _opens_sentence(text, word) or not reads_as_name(text, match.end(), end, lexicon):
            return
        yield from _series(text, match.end(), lexicon, "name-told")
    else:
        yield from _unless_words(text, word, match.end(), lexicon, "name-told")


def _opens_sentence(text: str, word: Word) -> bool:
    """Tell whether a word begins a sentence (Paged Marsh), where its capital says nothing."""
    before = text[max(0, word.start - 2) : word.start].strip(" \t")
    return before[-1:] in ("", "\n", ".", ";", ":", "(")


def _relative(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _WRAPPED.match(text, word.end)
    if match and not (word.capital and word.folded in _NOT_OPENING):
        yield from _unless_words(text, word, match.end(), lexicon, "name-relative")


def _signed(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _SPACE.match(text, word.end)
    if match and _BEFORE_SIGNED.search(line_before(text, word.start, 20)):
        yield from _series(text, match.end(), lexicon, "name-signed", comma=True)


def _attest(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    match = _SPACE_OR_COMMA.match(text, word.end) if word.capital else None
    if match is None or match.end() == word.end:
        return
    end = name_end(text, match.end(), lexicon, comma=False)
    if (
        end > match.end()
        and _ATTESTED.match(text, end)
        and reads_as_name(text, match.end(), end, lexicon)
    ):
        yield Found(match.end(), end, "NAME", "name-attest")


def _series(
    text: str, start: int, lexicon: Lexicon, rule: str, *, comma: bool = False, many: bool = False
) -> Iterator[Found]:
    """Follow one name and those joined to it (Drs. Smith, Jones and Lee)."""
    end = name_end(text, start, lexicon, comma=comma)
    if end > start and not _names_a_thing(text, start, end, lexicon):
        yield Found(start, end, "NAME", rule)
        yield from _following(text, end, lexicon, rule, many=many)


def _unless_words(
    text: str, cue: Word, start: int, lexicon: Lexicon, rule: str, *, comma: bool = False
) -> Iterator[Found]:
    """Follow a name behind a weak cue; in capitals, only if its words are not ordinary ones."""
    if text[cue.start : cue.end].isupper():
        end = name_end(text, start, lexicon, comma=comma)
        if not reads_as_name(text, start, end, lexicon):
            return
    many = cue.folded in _PLURAL
    yield from _series(text, start, lexicon, rule, comma=comma, many=many)


def _names_a_thing(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """Tell whether an eponym stands before its noun (per Fleischner guidelines) or is a brand."""
    name, noun = text[start:end].casefold(), _NEXT_WORD.match(text, end)
    return (" " in name and name in lexicon.eponyms) or (
        noun is not None
        and name in lexicon.eponyms
        and lexicon.is_eponym_noun(noun.group(1).casefold())
    )


def _names_rule(text: str, match: re.Match[str], lexicon: Lexicon) -> bool:
    """Tell whether an eponym that is no family name says by what rule (per Fleischner)."""
    name = _NEXT_WORD.match(text, match.end() - 1)
    noun = _NEXT_WORD.match(text, name.end()) if name else None
    closes = name is not None and text[name.end() : name.end() + 1] in ("", ".", ";", ")", "\n")
    if name is None or not (closes or (noun and lexicon.is_eponym_noun(noun[1].casefold()))):
        return False
    folded = name.group(1).casefold()
    if folded in lexicon.acronyms and name.group(1).isupper():
        return True
    return folded in lexicon.eponyms and folded not in lexicon.frequent_surnames


def _following(
    text: str, end: int, lexicon: Lexicon, rule: str, *, comma: bool = False, many: bool = False
) -> Iterator[Found]:
    """Follow the names joined to one; by a comma, without a plural, only what is known as one."""
    for _ in range(4):
        match = _AND.match(text, end)
        stop = name_end(text, match.end(), lexicon, comma=comma) if match else 0
        if match is None or stop == match.end():
            return
        if text[stop : stop + 1] == ":":
            return
        weak = text[match.end() : stop].isupper() or ";" in match.group()
        if weak and not reads_as_name(text, match.end(), stop, lexicon):
            return
        mark = match.group().strip()
        name = text[match.end() : stop]
        signs = mark == "/" and name.isupper() and text[stop : stop + 1] in ("", "\n")
        if mark in (",", "/") and not (many or signs or _is_listed(name, lexicon)):
            return
        yield Found(match.end(), stop, "NAME", rule)
        end = stop


def _is_listed(name: str, lexicon: Lexicon) -> bool:
    """Tell whether the first word that a comma or a stroke joins to a name can be one itself."""
    first = unaccented(name.split()[0].split("-")[0]).replace("'", "").strip(".")
    if len(first) < _MIN_LISTED or lexicon.is_report_word(first) or first in lexicon.eponyms:
        return len(first) == 1
    shouted = name.isupper() and len(first) <= _ACRONYM
    return first in lexicon.all_names or (not shouted and lexicon.is_stranger(first))


_PLURAL: Final = frozenset({"drs", "doctors", "messrs"})
_MIN_LISTED: Final = 2
_ACRONYM: Final = 4
_ALSO_THINGS: Final = frozenset({"tech", "technologist", "technician", "record"})
"""Labels that something else may follow (TECH: axial)."""
_BEHIND_NAMES: Final = frozenset({"pa", "rn", "np", "rt", "aprn", "crnp", "arnp", "sho", "spr"})
_GO_ON: Final = ("n", "s", "o")
"""How a label goes on before its colon (name, signature, of record)."""
_NAME_STARTS: Final = frozenset(ascii_uppercase + " \t\n(vdlabt")
_COPIES: Final = frozenset({"cc", "copy", "to"})
_TELLING: Final = triggers("telling")
_RELATIVES: Final = triggers("relatives")

RULES: Final = (
    Rule(_ROLES, _labelled),
    Rule(TITLES - _WEAK_TITLES, _titled),
    Rule(_WEAK_TITLES, _titled),
    Rule(TITLES - _WEAK_TITLES, _spelt_title),
    Rule(_WORD_TITLES, _over_line),
    Rule(frozenset({"by"}), _by),
    Rule(frozenset({"signed", "signature"}), _signed),
    Rule(frozenset({"with", "to", "for", "from", "w", "d", "dw", "dr"}), _told),
    Rule(frozenset({"pt", "patient", "name"}), _patient, capital=True),
    Rule(frozenset({"for", "final", "prelim", "signer"}), _opening_label, capital=True),
    Rule(frozenset({"sister", "matron", "charge"}), _sister),
    Rule(_TELLING, _informed),
    Rule(_RELATIVES, _relative),
    Rule(frozenset({"i"}), _attest, capital=True),
    Rule(frozenset({"regards", "sincerely"}), _closing),
    Rule(frozenset({"boy", "girl"}), _newborn),
    Rule(frozenset({"baby", "newborn"}), _patient, capital=True),
    Rule(frozenset({"dr", "drs", "mr", "mrs", "prof", "doctor"}), _lower_titled),
    Rule(frozenset({"rn", "pa", "np", "rt", "lpn"}), _weak_titled),
)
