"""Where a message keeps what: the field map, its fallbacks, and how fields are read.

A map entry names places in order of preference, ``OBR-32, OBR-33, text``; a place is
``SEGMENT-FIELD`` or ``SEGMENT-FIELD.COMPONENT``. The defaults are what real feeds need: versions
disagree on where the interpreter, the exam's time and the status are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import hl7

from pipeline.errors import ConfigurationError
from pipeline.formats.people import Person

__all__ = ["DEFAULT_FIELDS", "FieldMap", "Head", "Place", "iso_time", "person"]

DEFAULT_FIELDS: Final[Mapping[str, str]] = {
    "accession": "OBR-3.1, ORC-3.1",
    "patient_id": "PID-3.1, PID-2.1, PID-4.1",
    "patient_name": "PID-5",
    "patient_birth_date": "PID-7.1",
    "phone": "PID-13.1",
    "patient_class": "PV1-2.1",
    "site": "MSH-4.1",
    "exam_code": "OBR-4.1",
    "exam_name": "OBR-4.2, OBR-4.5",
    "modality": "OBR-24.1",
    "performed_at": "OBR-7.1, OBR-6.1, OBR-22.1",
    "signed_at": "OBR-22.1, MSH-7.1",
    "reader": "OBR-32, OBR-33, text",
    "preliminary_author": "OBR-33",
    "referring_name": "OBR-16, ORC-12, PV1-8",
    "status": "OBR-25.1, OBX-11.1",
}
"""Our column → places, most trusted first; ``text`` is the report's signature."""

_PLACE: Final = re.compile(r"([A-Z][A-Z0-9]{2})-(\d{1,3})(?:\.(\d{1,2}))?")
_TIME: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(?:\.\d{1,6})?([+-]\d{4})?$")
_NOBODY: Final = ("unk", "none", "n/a", "null", "test", "undefined")


@dataclass(frozen=True, slots=True)
class Place:
    """A segment, a field, and a component (0 = the whole field)."""

    segment: str
    field: int
    component: int


@dataclass(frozen=True, slots=True)
class FieldMap:
    """A checked map: our column → places; ``text`` stands for itself."""

    places: Mapping[str, tuple[Place | str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, own: Mapping[str, str]) -> FieldMap:
        """Lay a site's entries over the defaults.

        Raises
        ------
        ConfigurationError
            If an entry names no column of ours, or a place that is none; all are listed.
        """
        bad = [f"{name!r}: no such column" for name in own if name not in DEFAULT_FIELDS]
        places: dict[str, tuple[Place | str, ...]] = {}
        for name, entry in {**DEFAULT_FIELDS, **own}.items():
            parts = [part.strip() for part in entry.split(",") if part.strip()]
            places[name] = tuple(_place(part) for part in parts)
            bad += [f"{name}: {part!r} is no place" for part in parts if not _is_place(part)]
        if bad:
            msg = f"input.hl7: {'; '.join(bad)}. A place is OBR-32 or OBR-4.1, or text."
            raise ConfigurationError(msg)
        return cls(places)


class Head:
    """The administrative segments of one order of a message, read without ever failing."""

    def __init__(self, segments: Sequence[str], first_observation: str) -> None:
        parsed = hl7.parse("\r".join(segments))
        self._segments = {str(segment[0][0]): segment for segment in reversed(parsed)}
        if first_observation:
            header = segments[0]
            self._segments["OBX"] = hl7.parse(f"{header}\r{first_observation}")[1]

    def repetitions(self, place: Place) -> Iterator[list[str]]:
        """Yield each repetition of a field as its components, first subcomponents only."""
        segment = self._segments.get(place.segment)
        if segment is None or place.field >= len(segment):
            return
        for repetition in segment[place.field]:
            if isinstance(repetition, str):
                yield [repetition]
            else:
                yield [_first(component) for component in repetition]

    def value(self, place: Place) -> str:
        """Give the first repetition that is not empty; a whole field keeps its carets."""
        for components in self.repetitions(place):
            if place.component == 0:
                found = "^".join(components).rstrip("^ ")
            else:
                found = "".join(components[place.component - 1 : place.component])
            if found.strip():
                return found.strip()
        return ""

    def first(self, places: Sequence[Place | str]) -> str:
        """Give the first place that holds anything."""
        found = (self.value(place) for place in places if isinstance(place, Place))
        return next((value for value in found if value and value != '""'), "")


def person(components: Sequence[str]) -> Person | None:
    """Read a person's field (id, family, given, middle); placeholders are nobody."""
    padded = [*(part.strip() for part in components), "", "", ""]
    identifier, family, given = padded[:3]
    if "&" in identifier:
        identifier, family, given = [*identifier.split("&"), "", ""][:3]
    if family.casefold().startswith(_NOBODY):
        family = given = ""
    if not family and identifier.replace(" ", "").isalpha():
        return None
    return Person(identifier, family, given) if identifier or family else None


def iso_time(stamp: str) -> str:
    """Turn an HL7 time into ISO 8601, with its offset if it has one; '' if it is no time."""
    match = _TIME.match(stamp.strip())
    if match is None:
        return ""
    year, month, day, hour, minute, second, offset = match.groups()
    written = f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}"
    written += f"{offset[:3]}:{offset[3:]}" if offset else ""
    try:
        return datetime.fromisoformat(written).isoformat()
    except ValueError:
        return ""


def _first(component: object) -> str:
    if isinstance(component, str):
        return component
    return "&".join(str(part) for part in component)  # type: ignore[attr-defined]


def _is_place(part: str) -> bool:
    return part == "text" or _PLACE.fullmatch(part) is not None


def _place(part: str) -> Place | str:
    match = _PLACE.fullmatch(part)
    if match is None:
        return part
    return Place(match.group(1), int(match.group(2)), int(match.group(3) or 0))
