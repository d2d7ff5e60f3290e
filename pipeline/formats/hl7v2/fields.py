"""Where a message keeps what: the field map, its fallbacks, and how fields are read.

A map entry names places in order of preference, ``OBR-32, OBR-33, text``; a place is
``SEGMENT-FIELD`` or ``SEGMENT-FIELD.COMPONENT``, and ``PRT-5[4=PI]`` is PRT-5 of the segments whose
PRT-4 is PI. The defaults are what real feeds need: versions
disagree on where the interpreter, the exam's time and the status are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import hl7

from pipeline.errors import ConfigurationError
from pipeline.formats.exams import Merge
from pipeline.formats.hl7v2.framing import Separators, unescaped
from pipeline.formats.people import Person, lexicon, named_in_full, person_from_text
from pipeline.formats.values import data, is_no_number, known_words

DEFAULT_FIELDS: Final[Mapping[str, str]] = data("hl7v2/fields")
"""Our column → places, most trusted first."""

_PLACE: Final = re.compile(
    r"([A-Z][A-Z0-9]{2})-(\d{1,3})(?:\.(\d{1,2}))?"
    r"(?:\[(\d{1,3})=([^\[\],=]{1,40})\])?"
)
_NOBODY: Final = known_words("nobody")
_NULL: Final = '""'
_ID: Final = re.compile(r"(?!HL7)[A-Za-z]{0,6}\d[\w-]{0,20}")
_INITIAL: Final = 2
SUB: Final = "\x1f"
_AUTHENTICATED: Final = ("TXA", 22)
_NAME_PARTS: Final = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A segment, a field, and a component (0 = the whole field).

    Where `where` names a field and a value, only segments count in which that field begins with it.
    """

    segment: str
    field: int
    component: int
    where: tuple[int, str] | None = None


SIGNATURE: Final = Place("text", 0, 0)
"""The report's own text, which no segment is called: of the reader, the signature below it."""


@dataclass(frozen=True, slots=True)
class FieldMap:
    """A checked map: our column → places; `own` is what a site named."""

    places: Mapping[str, tuple[Place, ...]]
    own: frozenset[str]

    @classmethod
    def of(cls, own: Mapping[str, str]) -> FieldMap:
        """Lay a site's entries over the defaults.

        Raises
        ------
        ConfigurationError
            If an entry names no column of ours, or a place that is none; all are listed.
        """
        bad = [f"{name!r}: no such column" for name in own if name not in DEFAULT_FIELDS]
        places: dict[str, tuple[Place, ...]] = {}
        for name, entry in {**DEFAULT_FIELDS, **own}.items():
            found = {part: _place(part) for each in entry.split(",") if (part := each.strip())}
            places[name] = tuple(filter(None, found.values()))
            bad += [f"{name}: {part!r} is no place" for part in sorted(found) if not found[part]]
        if bad:
            raise ConfigurationError(
                f"input.hl7: {'; '.join(bad)}. A place is OBR-32, OBR-4.1 or PRT-5[4=PI], or text."
            )
        return cls(places, frozenset(own))

    @property
    def segments(self) -> frozenset[str]:
        """Names of the segments in which the map looks."""
        return frozenset(place.segment for entry in self.places.values() for place in entry)


class Head:
    """The administrative segments of one order of a message, read without ever failing."""

    def __init__(self, segments: Sequence[str], separators: Separators) -> None:
        self._separators = separators
        self._header = segments[0]
        self._segments: dict[str, list[hl7.Segment]] = {}
        self._take(hl7.parse("\r".join(segments)))

    def add(self, segments: Sequence[str]) -> None:
        """Take further segments in."""
        self._take(hl7.parse("\r".join((self._header, *segments)))[1:])

    def _take(self, segments: Sequence[hl7.Segment]) -> None:
        for segment in segments:
            self._segments.setdefault(str(segment[0][0]), []).append(segment)

    def repetitions(self, place: Place) -> Iterator[list[str]]:
        """Yield each repetition of a field as its components, in every segment of that name.

        Escapes are decoded and nulls are empty. Subcomponents stay joined, by a control character
        that no text holds.
        """
        for segment in self._segments.get(place.segment, ()):
            if place.field >= len(segment) or not self._is_meant(segment, place):
                continue
            every = [[each] if isinstance(each, str) else each for each in segment[place.field]]
            if (place.segment, place.field) == _AUTHENTICATED:  # who signed last is the reader
                every.sort(key=lambda parts: "".join(map(str, parts[14:15])), reverse=True)
            yield from ([self._component(part) for part in parts] for parts in every)

    def _is_meant(self, segment: hl7.Segment, place: Place) -> bool:
        if place.where is None:
            return True
        at, value = place.where
        stated = str(segment[at]) if at < len(segment) else ""
        return stated.split(self._separators.component)[0].strip().casefold() == value.casefold()

    def value(self, place: Place) -> str:
        """Give the first repetition that is not empty; a whole field keeps its carets."""
        return next(self.values(place), "")

    def values(self, place: Place) -> Iterator[str]:
        """Give every repetition that is not empty."""
        for components in self.repetitions(place):
            if place.component == 0:
                found = "^".join(components[:_NAME_PARTS]).rstrip("^ ")
            else:
                found = "".join(components[place.component - 1 : place.component])
            if found.strip():
                yield found.strip().replace(SUB, "&")

    def first(self, places: Sequence[Place]) -> str:
        """Give the first place that holds anything."""
        return next(self._all(places), "")

    def all(self, places: Sequence[Place]) -> list[str]:
        """Give everything that any of the places holds, each once."""
        return list(dict.fromkeys(self._all(places)))

    def people(self, places: Sequence[Place]) -> Iterator[Person]:
        """Yield everyone whom the places name."""
        for place in places:
            for components in self.repetitions(place):
                found = person(components)
                if found is not None:
                    yield found

    def _all(self, places: Sequence[Place]) -> Iterator[str]:
        return (value for place in places for value in self.values(place))

    def _component(self, component: object) -> str:
        if component == "":  # most of them are
            return ""
        parts = [component] if isinstance(component, str) else [str(part) for part in component]  # type: ignore[attr-defined]
        decoded = [unescaped(part, self._separators) for part in parts]
        return SUB.join("" if part.strip() == _NULL else part for part in decoded)


def person(components: Sequence[str]) -> Person | None:
    """Read a person's field (id, family, given, middle); placeholders are nobody."""
    # A subcomponent may be empty, and its mark is white space to Python.
    padded = [*(part.strip(" \t") for part in components), "", "", ""]
    identifier, family, given = padded[:3]
    if SUB in identifier:
        identifier, family, given = [*identifier.split(SUB), "", ""][:3]
    family = family.split(SUB)[0]
    if family.casefold() in _NOBODY:
        family = given = ""
    if "," in family and not given and (named := person_from_text(family)):
        family, given = named.family, named.given
    if identifier.casefold() in _NOBODY:
        identifier = ""
    numbers = list(filter(_ID.fullmatch, (*padded[3:8], *padded[9:11])))
    is_named = {identifier.casefold(), family.casefold()} <= lexicon().all_names
    if is_named and len(given) <= _INITIAL and len(numbers) == 1:
        identifier, family, given = numbers[0], identifier, f"{family} {given}".rstrip()
    if not family and "," in identifier and not any(c.isdigit() for c in identifier):
        return person_from_text(identifier)
    if not family and not any(c.isdigit() for c in identifier) and " " in identifier:
        return named_in_full(identifier)
    word = identifier.casefold()
    is_word = word in lexicon().all_names or not lexicon().is_stranger(word)
    if not family and word.isalpha() and is_word:
        return None  # of one word a login tells a person, and nothing else does
    return Person(identifier, family, given) if identifier or family else None


_RECORD: Final = ("MR", "MRN")
_PERSON: Final = ("PN", "NI", "NH", "SS", "DL", "PPN", "TAX")
_NATIONAL: Final = "NN"
"""With the letters of a country behind it: NNITA, NNBEL."""
_LAST: Final = 2
_FILLER: Final = 4
_NOT_A_PATIENT: Final = ("AN", "VN")
"""Types of a PID-3 repetition: medical record, person's own or national number, account, visit."""
_FORMER: Final = tuple(Place("MRG", at, 1) for at in (1, 4, 2))
"""Where a patient's former numbers stand: as PID-3, PID-2 and PID-4 name those of now."""


class _Number(NamedTuple):
    """A number, who gave it, its type, how far it may tell a patient (None: not), its place."""

    number: str
    issuer: str
    kind: str
    rank: int | None
    at: int

    @property
    def known_as(self) -> tuple[str, str]:
        return self.number, self.issuer


def patient_id(head: Head, places: Sequence[Place], authority: str) -> tuple[str, str]:
    """Choose among the patient's numbers: the authority's, else a medical record number.

    Gives the number and its own assigning authority, each '' where there is none.

    A repetition's fifth component says what it is. After those of record come numbers of no type or
    another one, then a person's own (national, social security), which is all that some systems
    send; numbers of accounts and visits are no patient's.
    """
    chosen = _chosen(_numbers(head, places), authority)
    return chosen.known_as if chosen else ("", "")


def merges_of(
    lines: Sequence[str],
    separators: Separators,
    places: Mapping[str, Sequence[Place]],
    authority: str,
) -> Iterator[Merge]:
    """Give what a message says of its patients' numbers.

    A former number (MRG) became the one by which the patient's exams are known. Numbers of one
    authority and type that stand in one list (PID-3) are one patient's.
    """
    people: list[list[str]] = []
    for line in lines:
        if line.startswith("PID"):
            people.append([lines[0], line])
        elif line.startswith("MRG") and people:
            people[-1].append(line)
    for each in people:
        listed = "".join(each[1].split(separators.field)[3:4])
        if len(each) == 2 and separators.repetition not in listed:
            continue
        head = Head(each, separators)
        own = _numbers(head, places["patient_id"])
        if (now := _chosen(own, authority)) is None:
            continue
        known = {number.known_as for number in own}
        site = head.first(places["site"])
        for former in _former(head, now.issuer):
            if former not in known:
                yield Merge((former, now.known_as), site=site)
        alike = dict.fromkeys(
            number.known_as for number in own
            if number[1:3] == now[1:3] and now.issuer and number.at == now.at
            and number.rank not in (None, _LAST)
        )  # fmt: skip
        if len(alike) > 1:
            yield Merge(tuple(alike), listed=True, site=site)


def _numbers(head: Head, places: Sequence[Place]) -> list[_Number]:
    """Read a patient's numbers, as the places have them."""
    found = []
    for at, place in enumerate(places):
        for components in head.repetitions(place):
            number = "".join(components[max(place.component, 1) - 1 : max(place.component, 1)])
            issuer = "".join(components[3:4]).split(SUB)[0].strip()
            kind = "".join(components[4:5]).strip().upper()
            if number := number.replace(SUB, "&").strip():
                found.append(_Number(number, issuer, kind, _rank(kind, number), at))
    return found


def _chosen(found: Sequence[_Number], authority: str) -> _Number | None:
    named = [each for each in found if authority and each.issuer == authority]
    ranked = [
        (each.rank == _LAST, each.at, each.rank, each) for each in found if each.rank is not None
    ]
    ranked.sort(key=lambda key: key[:3])
    return next(iter([*named, *(each for *_, each in ranked)]), None)


def _former(head: Head, issuer: str) -> list[tuple[str, str]]:
    """Give a patient's former numbers; those that name nobody were given by `issuer`."""
    for place in _FORMER:
        found = [each for each in _numbers(head, (place,)) if each.rank is not None]
        found = [each for each in found if each.rank != _LAST] or found
        if found:
            return [(each.number, each.issuer or issuer) for each in found]
    return []


def _rank(kind: str, number: str) -> int | None:
    """Order a patient's numbers by their type; None is no patient's. A word is no number.

    Placeholders (UNKNOWN, 000-00-0000) would make one patient of many.
    """
    digits = [c for c in number if c.isdigit()]
    is_filler = len(digits) > _FILLER and len(set(digits)) == 1
    if kind in _NOT_A_PATIENT or is_filler or is_no_number(number):
        return None
    if kind in _PERSON or kind.startswith(_NATIONAL) or not digits:
        return _LAST
    return 0 if kind in _RECORD else 1


def _place(part: str) -> Place | None:
    match = _PLACE.fullmatch(part)
    if match is None:
        return SIGNATURE if part == SIGNATURE.segment else None
    where = (int(match.group(4)), match.group(5)) if match.group(4) else None
    return Place(match.group(1), int(match.group(2)), int(match.group(3) or 0), where)
