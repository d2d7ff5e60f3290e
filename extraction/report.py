"""A report's sections: which stretches of the text state findings, and under which name.

Findings and impression are read; indication, history, technique, comparison, recommendation and
signatures are skipped. A text without headers is findings, up to the quoted or bulleted list that
ends many CT reports, which is their impression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extraction.finding import IMPRESSION, Failed
from extraction.vocabulary import Vocabulary
from extraction.vocabulary.schema import SectionEntry

FINDINGS: Final = "findings"
MAX_CHARACTERS: Final = 2_000_000
"""Longer texts are no reports; they fail with "text too long" instead of stalling a shard."""
_FOREIGN: Final = re.compile(
    r"</?[A-Za-z][^<>]{0,200}>|&(?:[a-z]{2,8}|#\d{1,6});|\b(?:(?i:(?:described?s?|call(?:s|ed)|reads?|stated?s?|"
    r"sa(?:ys|id)|mention(?:s|ed)|termed)\b:?|report(?:s|ed)?\b))[^\"“”.:\n]{0,40}[\"“][^\"“”\n]{8,300}[\"”]|\([\"“][^\"“”\n]{8,300}[\"”]\)"
)
"""A tag, an entity, or what is quoted behind a word for another's report."""
_WORD: Final = re.compile(r"\S")
_NOTE_ENDS: Final = tuple(map(re.compile, (r"\n[ \t\r]*\n", r"\n", r"[.!?](?=\s)")))
"""A blank line, else a line's end, else a full stop. No pattern here may look ahead without a
bound and fail: a megabyte of spaces would cost its square."""
_PARAGRAPH: Final = re.compile(
    r"\S[ \t]{0,80}\n(?:[ \t]{0,80}\n|(?=[ \t]{0,80}(?:\d\W )?[A-Z](?:[a-z]|[A-Z]{0,3} [a-z])))"
)
"""Where a note ends and findings without a header begin, before the impression has its header."""
_ONE_CASE: Final = re.compile(r"[^\n]{0,50}\S[ \t]{0,80}\n(?=\s{0,80}\w)")
"""The same of a note's own short line, where capitals say nothing: all letters are of one case."""
_MARKED: Final = re.compile(r"[.:;](?!\d)")
_SPOKEN, _SPOKEN_WORDS = 0.6, 20
_SAYING: Final = (
    "is|are|of|may|could|suggest|suggests|suggestive|suspicious|consistent|compatible|in"
)
"""Behind one of these a header's name is a word of a sentence ("findings are")."""
_TITLE: Final = (
    r"(?:(?:chest|cxr|xr|x-?ray|ct|hrct|ctpa|portable|mobile)\b[^.?:;\n]{0,40}(?:\.[ \t]{1,4}|\n))?"
)
"""The name of the examination may stand before a request: "Chest PA. Fall, ?rib fracture"."""
_TITLED: Final = re.compile(
    r"\s{0,80}(?=(?:(?:low|high|plain|contrast|portable|mobile|computed|thoracic)\b[^\n]{0,24}?)?"
    r"\b(?:ct|cta|ctpa|cect|ncct|hrct|mdct|ldct|cxr|xr|x-?ray|chest|tomography|radiograph)\b)"
    r"(?:(?:ct|cta|ctpa|cect|ncct|hrct|mdct|ldct|cxr|xr|x|ray|chest|thorax|thoracic|pulmonary|angiogram"
    r"|angiography|radiograph|film|scan|study|low|high|dose|resolution|portable|mobile|plain|contrast"
    r"|enhanced|unenhanced|non|with|without|iv|and|abdomen|pelvis|pa|ap|lat|lateral|views?|\d|erect"
    r"|supine|computed|tomography)\b[\s\-–/&,+().:]{0,4}){1,9}(?:for\b|follow[- ]?up\b|f/?u\b"
    r"|post\b|\?|query\b|r/o\b|surveillance\b|\d{1,3}[ -]?/?(?:[MF]\b|y/?o\b|yrs?\b|years?\b))"
    r"(?:(?!\b(?:is|are|was|were|has|have|shows?|showed|no|without|seen|noted|normal|clear|unchanged"
    r"|stable|small)\b)[^\n:;.])*(?:\n|[.:;](?=\s))",
    re.IGNORECASE,
)
"""A first line that names the examination and why it was asked for: "CT chest for PE"."""
_TOLD: Final = re.compile(
    r"[.?!)]\s{1,4}(?=(?:There (?:is|are)|Lungs?|Heart|Both|Cardiac|Cardiomegaly|Clear|Normal|Left"
    r"|Right|Bilateral|Stable|Small|Mild|Patchy|The (?!patient)|No (?:focal|evidence|acute|pleural"
    r"|p?neumothorax|effusions?|consolidation|nodules?|pulmonary|pericardial|lymph))\b)"
)
"""Where a note that has its line in common with findings ends, because they are told."""
_REQUEST_WITHIN: Final = 400
_REQUEST_ENDS: Final = re.compile(
    r"[.!](?=\s)|(?<=[a-z0-9?)])\s(?=(?:No|The|There|Lungs?|Heart|Normal|Clear|Both|Cardiac)\b)"
)
_CLOSING_LIST: Final = re.compile(
    r"(?:(?<=[.)\]?:])|(?<=[a-z0-9][.]\s)|(?<=\s))[\"“•·]\s*(?=[A-Z0-9])"
)
_EARLIEST_LIST: Final = 0.15
_ADDED_BY: Final = (
    r"(?:(?<=addendum)[ \t]{0,3}(?:#|no\.?)?[ \t]?[\d./\-]{0,10}"
    r"(?:[ \t]{1,3}(?:by|dated|on|from|at|to)\b[^:\n]{0,60}|[ \t]?\([^)\n]+\)|,[^:\n.]+)?)?"
)
"""An addendum's number, who wrote it, and when."""
_LONG_NAME: Final = 6
"""A header of so many letters opens its section behind any blank, if it is in capitals."""
_TITLE_WITHIN, _LAST_WORDS = 48, re.compile(r" (?=[A-Z])")
_GIVEN: Final = (" with", " without", " no", " iv", " i.v.", " intravenous", " oral")
"""Behind one of these, contrast is what was given and no header: "WITHOUT IV CONTRAST: …"."""
_BEFORE, _DIFFERENTIAL, _ENDED = 90, "differential", frozenset(".:;!?)]")


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a report, a section or a sentence: the section's canonical name, start, end.

    `amends`: what it states takes the place of what an impression above it did.
    """

    section: str
    start: int
    end: int
    amends: bool = False


@dataclass(frozen=True, slots=True)
class _Header:
    entry: SectionEntry
    start: int
    end: int


class SectionReader:
    """Finds the sections to read, by a vocabulary's headers."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._entries = {
            " ".join(header.lower().split()): entry
            for entry in vocabulary.sections
            for header in entry.headers
        }
        openings = [opening for entry in vocabulary.sections for opening in entry.openings]
        complaints = "|".join(map(re.escape, sorted(openings, key=len, reverse=True))) or r"(?!)"
        self._opening = re.compile(
            rf"\s{{0,80}}{_TITLE}(?:(?P<ask>\?)|(?:{complaints})\b)", re.IGNORECASE
        )
        spoken = "|".join(name for entry in vocabulary.sections for name in entry.spoken) or "(?!)"
        self._spoken = re.compile(
            rf"(?:(?P<line>^|\n)[ \t]*|(?<=\s))(?P<name>{spoken})\b(?!\s(?:{_SAYING})\b)",
            re.IGNORECASE,
        )
        alternatives = _by_letter(sorted(self._entries, key=len, reverse=True))
        self._header = re.compile(
            r"(?:(?P<line>^|\n)[ \t*#>•=\[<_~\-]*(?:\d+[.)][ \t]*)?"
            r"|(?<=[.;:!?\"”)\]])\s?|(?<=\s\s)|(?<=XXXX)\s)"
            rf"(?P<name>{alternatives})(?:[ \t]?(?:/|&|and\b)[ \t]?(?P<second>{alternatives}))?"
            rf"(?P<after>{_ADDED_BY}[ \t*]{{0,20}}(?:\([^()\n]{{0,40}}\)[ \t]{{0,20}})?"
            r"(?P<mark>:|\]:?|\s?[-–]\s|[ \t*=#_\-]{0,200}(?=\n|$)|\.(?=\s)"
            rf"|[ \t](?!(?:{_SAYING})\b)(?=(?-i:[A-Z\d]))))",
            re.IGNORECASE,
        )
        initials = {name: each for each in vocabulary.sections for name in each.initials}
        self._initials = initials
        self._initial = re.compile(
            rf"(?:^|\n|(?<=[.;?!)])\s)[ \t]*(?P<name>{'|'.join(initials) or '(?!)'})[ \t]?:"
            r"(?!\s?\d+\s?(?:[y/,]|$))"  # "F: 62 y" is a woman's age
        )
        self._titles = {
            shown: entry
            for name, entry in self._entries.items()
            if not entry.keep and len(name) >= _LONG_NAME
            for shown in (name.upper(), name.capitalize(), name.title())
        }

    def _inside(self, text: str) -> Iterator[_Header]:
        """Headers in capitals that a colon follows, wherever they stand: "… SEEN IMPRESSION: …"."""
        at = text.find(":")
        while at >= 0:
            ahead = text[max(at - _TITLE_WITHIN, 0) : at].rstrip(" \t")
            starts = [found.start() + 1 for found in _LAST_WORDS.finditer(ahead)]
            start = next((k for k in starts[-3:] if ahead[k:] in self._titles), -1)
            follows = start > 1 and (ahead[start - 2].isalnum() or ahead[start - 2] in "_)")
            if follows and not ahead[: start - 1].lower().endswith(_GIVEN):
                entry = self._titles[ahead[start:]]
                yield _Header(entry, max(at - _TITLE_WITHIN, 0) + start, at + 1)
            at = text.find(":", at + 1)

    def _headers_spoken(self, text: str) -> list[_Header]:
        """Headers of a text without marks: at a line's start, the impression's anywhere."""
        found = [each for each in self._headers(text) if not each.entry.keep]
        for match in self._spoken.finditer(text):
            entry = self._entries[" ".join(match["name"].lower().split())]
            if match["line"] is not None or entry.name == IMPRESSION:
                found.append(_Header(entry, match.start("name"), match.end()))
        found.sort(key=lambda each: each.start)
        return list({each.start: each for each in found}.values())

    def _short(self, text: str) -> list[_Header]:
        """Headers of one letter, where all of them stand in their order: "F: … I: …"."""
        found = list(self._initial.finditer(text))
        if [match["name"] for match in found] != [*self._initials]:
            return []
        return [_Header(self._initials[m["name"]], m.start("name"), m.end()) for m in found]

    def opened(self, text: object) -> tuple[str, list[Place]] | Failed:
        """Give a report without markup, its offsets kept, and its sections; or why it has none."""
        if not isinstance(text, str):
            return Failed("not text")
        if not text.strip():
            return Failed("empty text")
        if len(text) > MAX_CHARACTERS:
            return Failed("text too long")
        clean = own_words(text)
        sections = self.read(clean)
        return (clean, sections) if sections else Failed("no readable section")

    def read(self, text: str) -> list[Place]:
        """Stretches of a report that state findings, in order."""
        headers = self._headers_spoken(text) if _is_speech(text) else self._headers(text)
        headers = sorted([*headers, *self._short(text)], key=lambda each: each.start)
        begin = self._request_ends(text, headers[0].start if headers else len(text))
        if not headers:
            return self._unheaded(text, begin, len(text))
        sections = self._unheaded(text, begin, headers[0].start)
        read = [number for number, header in enumerate(headers) if header.entry.read]
        first_read, last_read = (read[0], read[-1]) if read else (-1, -1)
        for number, header in enumerate(headers):
            following = headers[number + 1].start if number + 1 < len(headers) else len(text)
            start = header.start if header.entry.keep else header.end
            if header.entry.read:
                told = number > first_read and text[sections[-1].start : sections[-1].end].strip()
                name = IMPRESSION if header.entry.closing and told else header.entry.name
                sections.append(Place(name, start, following, header.entry.amends))
            elif number > last_read and header.entry.name not in {"signature", "recommendation"}:
                sections += self._unheaded(
                    text, _end_of_note(text, header.end, following), following
                )
            elif number < first_read and (
                headers[number + 1].entry.name == IMPRESSION or headers[number + 1].entry.keep
            ):
                stop = _own_line(text, header.end) or _PARAGRAPH.search(text, header.end, following)
                apart = stop is not None and text[stop.end() : following].strip()
                shared = None if apart else _TOLD.search(text, header.end, following)
                if shared is not None:
                    stop = shared
                elif header.entry.name == "technique" and not apart:
                    stop = _NOTE_ENDS[-1].search(text, header.end, following)
                sections += self._unheaded(text, stop.end() if stop else following, following)
        return [each for each in sections if text[each.start : each.end].strip()]

    def _request_ends(self, text: str, end: int) -> int:
        """Where a request without a header stops that opens the report; 0 if none does.

        It opens with a question mark or a complaint and asks something. A line of its own is one;
        within a line it must open with a complaint, and ends at a full stop or, where that is
        missing, at a capital.
        """
        titled = _TITLED.match(text, 0, end)
        if titled is not None and text[titled.end() : end].strip():
            return titled.end()
        if text.find("?", 0, min(end, _REQUEST_WITHIN)) < 0:
            return 0
        opened = self._opening.match(text, 0, end)
        if opened is None:
            return 0
        line = text.find("\n", opened.end(), end)
        last = end if line < 0 else line
        stop = _REQUEST_ENDS.search(text, opened.end(), last)
        if stop is not None and text[stop.end() : last].lstrip().startswith("?"):
            stop = _REQUEST_ENDS.search(text, stop.end(), last)
        until = stop.start() if stop is not None else line
        asked = text.count("?", opened.start(), max(until, 0))
        if asked == 0 or (stop is not None and opened["ask"]):
            return 0
        return until if text[until:end].strip(" .\n\t\r") or end < len(text) else 0

    def _headers(self, text: str) -> list[_Header]:
        raised = text.upper() if text.islower() else text
        named: list[_Header | re.Match[str]] = [*self._header.finditer(text), *self._inside(raised)]
        headers: list[_Header] = []
        reading = True
        for each in sorted(named, key=_begin):
            header = (
                each if isinstance(each, _Header) else self._opened_by(each, text, reading=reading)
            )
            if header is None or (header is each and headers and header.start < headers[-1].end):
                continue  # the second of one name: "CRITICAL RESULT:"
            ahead = text[max(header.start - _BEFORE, 0) : header.start]
            last = headers[-1] if headers else header  # of an impression it is the title
            between = text[last.end : header.start].strip(" \t\r\n:*#>-=1.)")
            if header.entry.titles and last.entry.name == IMPRESSION and not between:
                continue
            if not ahead.rstrip().lower().endswith(_DIFFERENTIAL):
                headers.append(header)
                reading = header.entry.read
        return headers

    def _opened_by(self, match: re.Match[str], text: str, *, reading: bool) -> _Header | None:
        """Give the header that a name is where it stands; None if it is none."""
        entry = self._entries[" ".join(match["name"].lower().split())]
        second = self._entries.get(" ".join((match["second"] or "").lower().split()), entry)
        entry = second if second.read and not entry.read else entry
        if not _opens(match, entry, text) or (entry.keep and (reading or match["mark"] != ":")):
            return None
        return _Header(entry, match.start("name"), match.end())

    def _unheaded(self, text: str, start: int, end: int) -> list[Place]:
        if start >= end or not text[start:end].strip():
            return []
        for match in _CLOSING_LIST.finditer(text, start, end):
            if match.start() >= start + _EARLIEST_LIST * (end - start):
                return [
                    Place(FINDINGS, start, match.start()),
                    Place(IMPRESSION, match.start(), end),
                ]
        return [Place(FINDINGS, start, end)]


def _by_letter(names: list[str]) -> str:
    """Write one pattern for all names, parted by their first letter: most places fail at once."""
    rests: dict[str, list[str]] = {}
    for name in names:
        rests.setdefault(name[0], []).append(re.escape(name[1:]).replace(r"\ ", r"[ \t]+"))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in rests.items())


def _begin(found: _Header | re.Match[str]) -> int:
    return found.start if isinstance(found, _Header) else found.start("name")


def _opens(match: re.Match[str], entry: SectionEntry, text: str) -> bool:
    """Whether a header's name is one where it stands, by its letters and by the mark behind it."""
    name, mark = match["name"], match["mark"]
    capital, plain = name[0].isupper(), not entry.keep and len(name) >= _LONG_NAME
    if mark == " ":  # "FINDINGS The heart …", "IMPRESSION RIB FRACTURES"
        small = text[match.end() + 1 : match.end() + 2].islower()
        named = name.lower() in entry.spoken if entry.read else small
        return plain and name.isupper() and (named or small)
    if match["line"] is None:
        closed = mark == ":" or (mark.startswith("]") and plain)
        told = closed or (bool(mark.strip()) and plain and entry.read)
        return told and (capital or text.islower())
    if mark == ".":
        return capital and plain
    if capital or mark == ":":
        return True
    ahead = text[max(match.start("name") - _BEFORE, 0) : match.start("name")].rstrip(
        " \t*#>•-=[<_~"
    )
    ended = not ahead.strip() or ahead.endswith("\n\n") or ahead.rstrip()[-1] in _ENDED
    return plain and not mark.strip(" \t") and (ended or text.islower())


def _is_speech(text: str) -> bool:
    """Whether a text has no marks, or first in what was added below many words without any."""
    text = text.strip()  # what stands before and behind is nobody's speech
    first = _MARKED.search(text)
    if first is None:
        return True
    return first.start() > _SPOKEN * len(text) and text.count(" ") >= _SPOKEN_WORDS


def _own_line(text: str, start: int) -> re.Match[str] | None:
    """Where a note of one short line ends, in a text whose letters are all of one case."""
    one_case = text.isupper() or text.islower()
    return _ONE_CASE.match(text, start) if one_case else None


def _end_of_note(text: str, start: int, end: int) -> int:
    """Where an indication, history or comparison without a later header stops.

    That is a blank line, unless less follows it than stands between it and the note's own line.
    """
    word = _WORD.search(text, start, end)
    first = end if word is None else word.end()
    line = _own_line(text, start) or _PARAGRAPH.search(text, first - 1, end)
    blank = _NOTE_ENDS[0].search(text, first, end)
    if line and blank and blank.start() - line.end() > end - blank.end():
        return line.end()
    for stop in _NOTE_ENDS:
        match = stop.search(text, first, end)
        if match is not None:
            return match.end()
    return end


def own_words(text: str) -> str:
    """Blank tags, entities and what another's report is quoted with; keep every offset.

    Blanks, hyphens and line ends of any kind become those of a keyboard.

    Examples
    --------
    >>> own_words("No <b>effusion</b>.")
    'No    effusion    .'
    >>> own_words('The outside report says "likely pneumonia".')
    'The outside                               .'
    """
    if not text.isascii():
        text = text.translate(_FOLDED)
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    return _FOREIGN.sub(_blank, text) if any(sign in text for sign in '<&"“') else text


_FOLDED: Final = (
    dict.fromkeys(
        map(
            ord,
            "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
        ),
        " ",
    )
    | dict.fromkeys(map(ord, "\u2010\u2011\u2012\u00ad\u2212"), "-")
    | dict.fromkeys(map(ord, "\u0085\u2028\u2029\x0b\x0c"), "\n")
)
"""Other blanks, hyphens and line ends than those of a keyboard, and what is read for each."""


def _blank(match: re.Match[str]) -> str:
    tag = match[0].lower()
    breaks = tag.startswith(("<br", "</p", "<p", "</div", "<div", "<li", "</tr", "</h", "<h"))
    return ("\n" if breaks else " ") + " " * (len(tag) - 1)
