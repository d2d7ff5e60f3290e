"""Who signed a report, by its own text: the signature lines, and names in one comparable form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from pipeline.deidentify import Lexicon, load
from pipeline.deidentify.grammar import UPPER, name_end

__all__ = [
    "Person",
    "dictator",
    "drafter",
    "named_in_full",
    "named_reader",
    "person_from_text",
    "signer",
]

_TAIL: Final = 3000
_MAX_WORDS: Final = 4
"""A name on a line of its own has no more words."""
_ABBREVIATION: Final = 3
_NO_NAME: Final = (
    r"(?!(?i:date|time|on|at|by|off|in|as|the|and|final|report|status|electronically|pending|not)"
    r"\b)"
)
"""What stands behind "signed" and begins no name: "Signed Date/Time: ..."."""
_TO_NAME: Final = rf"[ \t\n]{{0,4}}(?i:(?:Drs?|Prof)\b\.?[ \t])?(?=[{UPPER}]){_NO_NAME}"
_MARK: Final = r"[ \t]{0,2}(?::|-(?=[ \t]))"
"""What parts a label from a name."""
_PERSON: Final = r"(?:radiologist|physician|provider|doctor)"
_SIGNED: Final = re.compile(
    r"(?i:(?:electronically|digitally)?[ \t]?(?:e-?signed|signed|verified|finali[sz]ed"
    rf"|authenticated|approved|authori[sz]ed|(?:signing|releasing|approving)[ \t]{_PERSON}"
    r"|(?:electronic|digital)[ \t]signature|signer(?:[ \t]name)?(?=:))"
    r"(?:[ \t]and[ \t]\w{4,12}|[ \t]electronically|[ \t]\(electronic[ \t]signature\))?"
    rf"[ \t]{{0,2}}(?:by[ \t]{{0,2}})?(?:{_MARK})?)" + _TO_NAME
)
_SIGNATURE: Final = re.compile(
    rf"(?m)^[ \t<*]{{0,8}}(?=[{UPPER}])([^\n:;()<>\[\]]{{4,60}}?)[ \t,]{{0,3}}\n?[ \t]{{0,4}}"
    r"(?i:[(<\[*/-]{0,2}[ \t]?(?:electronic|digital)(?:ally)?[ \t]"
    r"(?:sign(?:ature|ed)|verified|authenticated)\b(?![ \t]{0,2}(?:by\b|:))"
    r"|[(-]?[ \t]?(?:consultant|staff|attending)[ \t]radiologist\b)"
)
"""A name before its signature: "Jane Doe, MD (electronic signature)"."""
_SLASHED: Final = re.compile(r"(?i:(?<!\w)/[es]s?/)" + _TO_NAME)
_READ: Final = re.compile(
    rf"(?i:(?:interpreted|read|reported|reviewed|(?:interpreting|reading|reporting)[ \t]{_PERSON}"
    rf"|attending(?:[ \t]{_PERSON})?|(?:staff[ \t])?radiologist"
    r"|(?:principal|primary)[ \t]interpreter)"
    rf"(?:[ \t]by)?{_MARK}|(?:interpreted|read|reported|reviewed)[ \t]by\b)" + _TO_NAME
)
_DICTATED: Final = re.compile(
    rf"(?i:(?:dictated|dictating[ \t]{_PERSON})(?:[ \t]by)?(?:{_MARK})?)" + _TO_NAME
)
_DRAFTED: Final = re.compile(
    rf"(?i:(?<!\w)(?:resident|fellow|trainee|registrar)(?:[ \t]{_PERSON})?{_MARK})" + _TO_NAME
)
_ATTESTED: Final = re.compile(r"(?<!\w)I,(?=[ \t])" + _TO_NAME)
_FIRST_LINE: Final = re.compile(r"\s{0,40}([^\n,:]{4,50}),[ \t]?(?:M\.?D\.?|D\.?O\.?)\b")
_BEFORE: Final = frozenset({"dr", "drs", "prof", "mr", "mrs", "ms", "med", "pd", "priv.-doz"})
_BEHIND: Final = frozenset(
    {"MD", "PhD", "PHD", "MBBS", "MBChB", "MBCHB", "MSc", "BSc", "MPH", "MBA", "DNB", "Jr", "Sr"}
    | {"FRCR", "FACR", "FRCPC", "FRANZCR", "FSIR", "JR", "SR", "II", "III"}
)
"""Titles and what goes on behind a family name; spelt so that the names Do and Md are none."""
_TRAILING_TITLE: Final = re.compile(r"[ \t]+(?:M\.?D|D\.?O)\.?(?=,)")


@dataclass(frozen=True, slots=True)
class Person:
    """A person as a source names them; ``identifier`` is '' where only the name is known."""

    identifier: str
    family: str
    given: str

    @property
    def name(self) -> str:
        """``FAMILY^GIVEN``."""
        return f"{self.family}^{self.given}".rstrip("^")

    @property
    def key(self) -> str:
        """The identifier, or one made from the name, the same in every message."""
        if self.identifier:
            return self.identifier
        first = self.given.split()[0] if self.given else ""
        return "name:" + f"{self.family} {first}".upper().rstrip()

    def is_same(self, other: Person) -> bool:
        """Compare by family name, and by the first letter of the given name where both have one."""
        if self.family.casefold() != other.family.casefold():
            return False
        mine, theirs = self.given[:1].casefold(), other.given[:1].casefold()
        return not mine or not theirs or mine == theirs


def signer(text: str) -> Person | None:
    """Find who signed a report: who signed, else who read, else who dictated it."""
    tail = _TRAILING_TITLE.sub("", text[-_TAIL:])
    for pattern in (_SIGNED, _SLASHED, _READ, _ATTESTED, _DICTATED):
        found = [person for match in pattern.finditer(tail) if (person := _named(tail, match))]
        if not found and pattern is _SLASHED:
            found = list(_before_signature(tail))
        if found:
            return found[-1]
    first = _FIRST_LINE.match(text)
    return person_from_text(first.group(1)) if first else None


def dictator(text: str) -> Person | None:
    """Find who dictated a report, or is named as the resident, by its own text."""
    tail = _TRAILING_TITLE.sub("", text[-_TAIL:])
    matches = (match for pattern in (_DICTATED, _DRAFTED) for match in pattern.finditer(tail))
    found = (_named(tail, match) for match in matches)
    return next((person for person in found if person), None)


def drafter(
    named: Person | None, dictated: Person | None, reader: Person | None, *, is_preliminary: bool
) -> str:
    """Give the key of who wrote the draft: another than the reader, or of a draft its reader."""
    if named and (not reader or named.key != reader.key):
        return named.key
    if dictated and reader and not dictated.is_same(reader):
        return dictated.key
    return reader.key if reader and is_preliminary else ""


def person_from_text(name: str) -> Person | None:
    """Read ``Last, First M``, ``LAST^FIRST`` or ``First M. Last``, with titles or without."""
    first, *others = (_without_titles(part.split()) for part in re.split(r"[,^]", name))
    words = [first, *(each for each in others if each not in (["DO"], ["D.O."]))]
    parts = [" ".join(each).strip(" .") for each in words]
    parts = [part for part in parts if part]
    if not parts:
        return None
    if len(parts) > 1:
        return Person("", parts[0], parts[1])
    names = parts[0].split()
    return Person("", names[-1], " ".join(names[:-1]))


def named_reader(name: str) -> str:
    """Make a reader's key of the name, for a source that numbers nobody; '' for no name."""
    person = person_from_text(name)
    return person.key if person else ""


def _without_titles(words: list[str]) -> list[str]:
    """Leave out what stands before and behind a name: "Dr. med.", "MD", "Ph.D.", "Jr."."""
    first, last = 0, len(words)
    while first < last and words[first].strip(".").casefold() in _BEFORE:
        first += 1
    while last > first and words[last - 1].replace(".", "") in _BEHIND:
        last -= 1
    return words[first:last]


def _before_signature(tail: str) -> Iterator[Person]:
    """Find names that stand before their signature."""
    for match in _SIGNATURE.finditer(tail):
        found = named_in_full(match.group(1))
        if found is not None:
            yield found


def named_in_full(words: str) -> Person | None:
    """Read words that are nothing but a name: with a title, or all of them can be names."""
    written = words.replace(",", " ").split()
    bare = _without_titles(written)
    is_titled = len(bare) < len(written) and all(word[:1].isupper() for word in bare)
    if 2 <= len(bare) <= _MAX_WORDS and (is_titled or all(map(_can_be_name, bare))):
        return person_from_text(words)
    return None


def _can_be_name(word: str) -> bool:
    return word[:1].isupper() and _lexicon().reads_as_name(word.strip("."))


def _named(text: str, match: re.Match[str]) -> Person | None:
    """Read the name behind a label; a word alone counts only where a line begins with the label."""
    start = match.end()
    end = name_end(text, start, _lexicon(), comma=True)
    person = person_from_text(text[start:end]) if end > start + 1 else None
    if person is None or person.given:
        return person
    opens = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip(" \t<*")
    return person if opens and _is_surname(person.family) else None


def _is_surname(word: str) -> bool:
    is_short = word.isupper() and len(word) <= _ABBREVIATION
    return _can_be_name(word) and (not is_short or word.casefold() in _lexicon().frequent_surnames)


@cache
def _lexicon() -> Lexicon:
    return load()
