"""One message → its exams, one for each order, or the reason why there is none."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import hl7

from pipeline.formats.hl7v2 import framing
from pipeline.formats.hl7v2.fields import FieldMap, Head, Place, iso_time, person
from pipeline.formats.hl7v2.text import Observations, observations
from pipeline.formats.people import Person, signer
from pipeline.formats.rows import SetAside

__all__ = ["MessageOptions", "exams"]

_HEAD: Final = frozenset({"MSH", "PID", "PV1", "ORC"})
_FAULTS: Final = (hl7.HL7Exception, AssertionError, ValueError, LookupError, TypeError)
"""What python-hl7 raises on a broken header; it checks its own arguments with assertions."""
_ORU: Final = ("ORU^R01", "ORU")
_STATUS: Final[Mapping[str, str]] = {
    "f": "final", "final": "final", "p": "prelim", "prelim": "prelim", "preliminary": "prelim",
    "wet read": "prelim", "r": "prelim", "c": "corrected", "corrected": "corrected",
    "a": "addendum", "addendum": "addendum",
}  # fmt: skip
_MODALITY_WORD: Final = re.compile(r"\b(XR|CR|DX|CT|MR|MRI|US|NM|PET|MG|FL|IR)\b")
_FILM: Final = re.compile(r"\b(?:\d view|x-?ray|radiograph|views?|cxr)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """How a site's messages are read.

    Attributes
    ----------
    fields
        Where things are; see `fields.DEFAULT_FIELDS`.
    exam_codes
        Exam code → modality; wins over what the message says, for OBR-24 holds anything.
    patient_authority
        Assigning authority whose patient id to use where PID-3 repeats; '' takes the first.
    encoding
        For messages that are not UTF-8.
    """

    fields: FieldMap = field(default_factory=lambda: FieldMap.of({}))
    exam_codes: Mapping[str, str] = field(default_factory=dict)
    patient_authority: str = ""
    encoding: str = "cp1252"


def exams(raw: bytes, options: MessageOptions) -> list[Mapping[str, str] | SetAside]:
    """Read one message; always gives at least one entry, and never raises."""
    if len(raw) > framing.MAX_MESSAGE_BYTES:
        return [SetAside("message_too_long", f"over {framing.MAX_MESSAGE_BYTES} bytes")]
    text = framing.decoded(raw, options.encoding)
    if text is None:
        return [SetAside("undecodable", "neither UTF-8 nor the configured encoding")]
    lines = framing.segments(text)
    if not lines or not lines[0].startswith("MSH") or len(lines[0]) < 8:
        return [SetAside("no_header", "no MSH segment")]
    try:
        return list(_exams(lines, options)) or [SetAside("no_order", "no OBR segment")]
    except _FAULTS as error:
        return [SetAside("malformed", type(error).__name__)]


def _exams(lines: Sequence[str], options: MessageOptions) -> Iterator[Mapping[str, str] | SetAside]:
    bar, caret, tilde = lines[0][3], lines[0][4], lines[0][5]
    kind = "".join(lines[0].split(bar)[8:9])
    if not kind.replace(caret, "^").startswith(_ORU):
        yield SetAside("not_oru_r01", "another type of message")
        return
    common = [line for line in lines if line[:3] in _HEAD]
    groups = _orders(lines)
    shared = [line for _, observed in groups for line in observed]
    for order, own in groups:
        found = observations(own or shared, separators=bar + caret + tilde)
        if not found.text.strip():
            yield SetAside("no_report_text", "no OBX segment with text")
        else:
            yield _exam(Head([*common, order], found.first), found, options)


def _orders(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    groups: list[tuple[str, list[str]]] = []
    early: list[str] = []
    for line in lines:
        if line.startswith("OBR"):
            groups.append((line, early))
            early = []
        elif line.startswith("OBX"):
            (groups[-1][1] if groups else early).append(line)
    return groups


def _exam(head: Head, found: Observations, options: MessageOptions) -> Mapping[str, str]:
    places = options.fields.places
    plain = {name: head.first(places[name]) for name in _PLAIN}
    performed, signed, born = (
        next((t for t in map(iso_time, _values(head, places[name])) if t), "")
        for name in ("performed_at", "signed_at", "patient_birth_date")
    )
    status = _status(plain["status"], found)
    referring, _ = _first_person(head, places["referring_name"], None)
    version = f"{signed or 'undated'}.{_digest(found.text)}"
    return {
        **plain,
        **_reader(head, found.text, places),
        "patient_id": _patient_id(head, options),
        "referring_name": referring.name if referring else "",
        "exam_id": f"{plain['accession']}/{status}/{version}",
        "modality": _modality(plain, options),
        "performed_at": performed,
        "signed_at": signed,
        "patient_birth_date": born[:10],
        "patient_age_years": _age(born, performed),
        "status": status,
        "version": version,
        "text": found.text,
    }


def _values(head: Head, places: Sequence[Place | str]) -> Iterator[str]:
    return (head.value(place) for place in places if isinstance(place, Place))


def _reader(head: Head, text: str, places: Mapping[str, tuple[Place | str, ...]]) -> dict[str, str]:
    """Attribute the report: the first place that names someone, checked against the signature."""
    signed = signer(text)
    reader, source = _first_person(head, places["reader"], signed)
    first, _ = _first_person(head, places["preliminary_author"], None)
    conflict = reader is not None and signed is not None and not reader.is_same(signed)
    return {
        "reader_id": reader.key if reader else "",
        "reader_name": reader.name if reader else "",
        "reader_source": source,
        "reader_conflict": "1" if conflict and reader and reader.family else "",
        "preliminary_author": first.key
        if first and (not reader or first.key != reader.key)
        else "",
    }


def _first_person(
    head: Head, places: Sequence[Place | str], signed: Person | None
) -> tuple[Person | None, str]:
    for place in places:
        if not isinstance(place, Place):
            if signed is not None:
                return signed, "text"
            continue
        for components in head.repetitions(place):
            found = person(components)
            if found is not None:
                return found, f"{place.segment}-{place.field}"
    return None, ""


def _patient_id(head: Head, options: MessageOptions) -> str:
    places = options.fields.places["patient_id"]
    if options.patient_authority:
        for place in places:
            if isinstance(place, Place):
                for components in head.repetitions(place):
                    if "".join(components[3:4]).split("&")[0] == options.patient_authority:
                        return components[0].strip()
    return head.first(places)


def _status(raw: str, found: Observations) -> str:
    status = _STATUS.get(raw.strip().casefold(), raw)
    return "addendum" if found.has_addendum and status == "final" else status


def _modality(plain: Mapping[str, str], options: MessageOptions) -> str:
    mapped = options.exam_codes.get(plain["exam_code"])
    if mapped:
        return mapped
    word = _MODALITY_WORD.search(plain["exam_name"].upper()) or _MODALITY_WORD.fullmatch(
        plain["modality"].upper()
    )
    if word:
        return word.group(1)
    return "XR" if _FILM.search(plain["exam_name"]) else plain["modality"]


def _age(born: str, performed: str) -> str:
    if not born or not performed:
        return ""
    years = int(performed[:4]) - int(born[:4]) - (performed[5:10] < born[5:10])
    return str(years) if years >= 0 else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


_PLAIN: Final = (
    "accession", "patient_name", "phone", "patient_class", "site", "exam_code", "exam_name",
    "modality", "status",
)  # fmt: skip
