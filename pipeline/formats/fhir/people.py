"""Who stands in a report's references: its interpreter, its patient, everyone else it names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pipeline.formats.fhir.resources import Directory, Resource, items, text_of
from pipeline.formats.people import Person, drafter, person_from_text
from pipeline.formats.signatures import dictator, signer

__all__ = ["known_people", "patient_numbers", "people", "reader", "reference", "written"]

_TITLES: Final = ("dr. ", "dr ", "prof. ", "mr. ", "ms. ", "mrs. ")
_NOT_A_PERSON: Final = ("Organization", "Device", "CareTeam", "Location")
_NO_RECORD_NUMBER: Final = frozenset({"SS", "DL", "PPN", "AN", "VN"})
"""Types of a patient's identifier that are no medical record number."""
_STAFF: Final = ("resultsInterpreter", "performer")
_MIN_DIGITS: Final = 4


def reader(
    report: Resource, directory: Directory, text: str, *, is_preliminary: bool
) -> dict[str, str]:
    """Attribute the report: who is named as its interpreter, checked against the signature."""
    signed = signer(text)
    found, source = signed, "text" if signed else ""
    for name in _STAFF:
        named = next(people(report, name, directory), None)
        if named is not None:
            found, source = named, name
            break
    conflict = bool(found and signed and found.family and not found.is_same(signed))
    return {
        "reader_id": found.key if found else "",
        "reader_name": found.name if found else "",
        "reader_source": source,
        "reader_conflict": "1" if conflict else "",
        "preliminary_author": drafter(None, dictator(text), found, is_preliminary=is_preliminary),
    }


def people(resource: Resource, name: str, directory: Directory) -> Iterator[Person]:
    """Yield the people whom a field refers to, by reference, identifier or display."""
    for stated in items(resource, name):
        item = next(iter(items(stated, "actor")), stated)  # as version 3 has it
        pointed = text_of(item, "reference")
        found = directory.get(pointed)
        if found.get("resourceType") == "PractitionerRole":
            pointed = reference(found, "practitioner")
            shown = text_of(next(iter(items(found, "practitioner")), {}), "display")
            found = directory.get(pointed)
        else:
            shown = text_of(item, "display")
        kinds = (*pointed.split("/")[-2:-1], found.get("resourceType"), item.get("type"))
        if any(kind in _NOT_A_PERSON for kind in kinds):
            continue
        person = _person(pointed, found, shown or text_of(item, "display"))
        own = text_of(next(iter(items(item, "identifier")), {}), "value")
        if person.key != "name:" or own:
            yield Person(person.identifier or own, person.family, person.given)


def written(human: Resource) -> str:
    """Write a HumanName as ``FAMILY^GIVEN``, or as its text."""
    family = text_of(human, "family")
    return f"{family}^{_given(human)}".strip("^") if family else text_of(human, "text")


def reference(resource: Resource, name: str) -> str:
    """Give the first reference of a field."""
    return next((text_of(item, "reference") for item in items(resource, name)), "")


def patient_numbers(report: Resource, patient: Resource) -> tuple[str, str, list[str]]:
    """Give the patient's number, the system it is of, and all numbers that the patient has.

    The record number (type ``MR``) wins; else the first that is no social security, licence or
    account number; else the resource's own id.
    """
    subject = next(iter(items(report, "subject")), {})
    every = [*items(patient, "identifier"), *items(subject, "identifier")]
    found = [i for i in every if text_of(i, "use") != "old"] or every
    kinds = [
        {text_of(c, "code") for t in items(i, "type") for c in items(t, "coding")} for i in found
    ]
    values = [(text_of(i, "value"), text_of(i, "system")) for i in found]
    records = [v for v, kind in zip(values, kinds, strict=True) if v[0] and "MR" in kind]
    others = [
        v for v, kind in zip(values, kinds, strict=True) if v[0] and not kind & _NO_RECORD_NUMBER
    ]
    pointed = text_of(subject, "reference")
    own = "" if pointed.startswith("#") else pointed.split("/_history")[0].rpartition("/")[2]
    number, system = next(iter([*records, *others, (own, "")]))
    return number, system, [v for v in (*(text_of(i, "value") for i in every), own) if v]


def known_people(report: Resource, directory: Directory, patient: Resource) -> dict[str, str]:
    """Collect the names and numbers that de-identification looks for in the text."""
    orders = [directory.get(text_of(item, "reference")) for item in items(report, "basedOn")]
    staff = [p for name in _STAFF for p in people(report, name, directory)]
    staff += [
        p
        for order in orders
        for f in ("requester", "performer")
        for p in people(order, f, directory)
    ]
    staff += list(people(patient, "generalPractitioner", directory))
    relatives = [
        text for each in items(patient, "contact") for text in map(written, items(each, "name"))
    ]
    phones = [
        text_of(t, "value")
        for who in (patient, *items(patient, "contact"))
        for t in items(who, "telecom")
    ]
    numbers = [text_of(i, "value") for r in (report, *orders) for i in items(r, "identifier")]
    *_, own = patient_numbers(report, patient)
    shown = text_of(next(iter(items(report, "subject")), {}), "display")
    names = [*map(written, items(patient, "name")), shown]
    return {
        "patient_name": _joined(names),
        "staff_names": _joined(p.name for p in staff if p.family),
        "relative_names": _joined(relatives),
        "phone": _joined(phones),
        "other_ids": _joined(
            v for v in (*own, *numbers) if sum(map(str.isdigit, v)) >= _MIN_DIGITS
        ),
    }


def _joined(values: object) -> str:
    return ";".join(dict.fromkeys(v.replace(";", " ") for v in values if v))  # type: ignore[attr-defined]


def _person(pointed: str, found: Resource, shown: str) -> Person:
    human = next(iter(items(found, "name")), {})
    family, given = text_of(human, "family"), _given(human)
    named = _named(text_of(human, "text") or shown)
    if not family and named:
        family, given = named.family, named.given
    if pointed.startswith(("#", "urn:")):
        # Such an address holds within one document only, so the person's own number is the key.
        values = (text_of(each, "value") for each in items(found, "identifier"))
        return Person(next((v for v in values if v), ""), family, given)
    return Person(pointed.split("/_history")[0].rpartition("/")[2], family, given)


def _named(display: str) -> Person | None:
    folded = display.casefold()
    for title in _TITLES:
        if folded.startswith(title):
            display = display[len(title) :]
            break
    return person_from_text(display)


def _given(human: Resource) -> str:
    given = human.get("given")
    if isinstance(given, str):
        return given
    return " ".join(str(part) for part in given) if isinstance(given, list) else ""
