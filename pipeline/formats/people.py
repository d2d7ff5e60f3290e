"""Who signed a report, by its own text: the signature lines, and names in one comparable form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from pipeline.deidentify import Lexicon, load
from pipeline.deidentify.grammar import UPPER, name_end

__all__ = ["Person", "dictator", "named_reader", "person_from_text", "signer"]

_TAIL: Final = 3000
_TO_NAME: Final = rf"[ \t\n]{{0,4}}(?:Drs?\.?[ \t])?(?=[{UPPER}])"
_SIGNED: Final = re.compile(
    r"(?i:(?:electronically|digitally)?[ \t]?(?:e-?signed|signed|verified|finali[sz]ed"
    r"|authenticated|approved)(?:[ \t]and[ \t]\w{4,12})?[ \t]{0,2}(?:by[ \t]{0,2})?:?)" + _TO_NAME
)
_READ: Final = re.compile(
    r"(?i:(?:interpreted|read|reported|reviewed|interpreting[ \t](?:radiologist|physician)"
    r"|attending(?:[ \t](?:radiologist|physician))?|radiologist|principal[ \t]interpreter)"
    r"(?:[ \t]by)?[ \t]{0,2}:|(?:interpreted|read|reported|reviewed)[ \t]by\b)" + _TO_NAME
)
_DICTATED: Final = re.compile(
    r"(?i:(?:dictated|dictating[ \t](?:radiologist|physician|provider))(?:[ \t]by)?[ \t]{0,2}:?)"
    + _TO_NAME
)
_ATTESTED: Final = re.compile(r"(?<!\w)I,(?=[ \t])" + _TO_NAME)
_FIRST_LINE: Final = re.compile(r"\s{0,40}([^\n,]{4,50}),[ \t]?(?:M\.?D\.?|D\.?O\.?)\b")
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
    for pattern in (_SIGNED, _READ, _ATTESTED, _DICTATED):
        found = [
            person for match in pattern.finditer(tail) if (person := _named(tail, match.end()))
        ]
        if found:
            return found[-1]
    first = _FIRST_LINE.match(text)
    return person_from_text(first.group(1)) if first else None


def dictator(text: str) -> Person | None:
    """Find who dictated a report, by its own text."""
    tail = _TRAILING_TITLE.sub("", text[-_TAIL:])
    found = (_named(tail, match.end()) for match in _DICTATED.finditer(tail))
    return next((person for person in found if person), None)


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


def _named(text: str, start: int) -> Person | None:
    end = name_end(text, start, _lexicon(), comma=True)
    return person_from_text(text[start:end]) if end > start + 1 else None


@cache
def _lexicon() -> Lexicon:
    return load()
