"""What reports point at: patients, practitioners, orders, read tolerantly; and who they name.

A resource may be referred to before it is read and from another file, so all of them are gathered
first, from the source and from the files beside it; a contained one is seen by its report alone.
Nothing is validated here beyond being JSON: real exports leave out what the standard asks for.
Documents (Binary) may be larger than memory: of those in NDJSON their place in the file is kept.
"""

from __future__ import annotations

import io
import json
from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from pipeline.formats.decoding import FALLBACK, fallback, opened
from pipeline.formats.exams import Merge
from pipeline.formats.people import Person, drafter, person_from_text
from pipeline.formats.readers import dictator, signer

Resource: TypeAlias = Mapping[str, Any]
KINDS: Final = (
    "Patient", "Practitioner", "PractitionerRole", "ServiceRequest", "Organization", "Encounter",
    "ImagingStudy", "RelatedPerson", "Binary",
)  # fmt: skip
"""What reports point at; a row of one of these is neither an exam nor set aside."""
_MAX_BYTES: Final = 64 * 2**20
_URL: Final = "_fullUrl"
_PLACE: Final = "_place"
"""Where a document of an NDJSON file says where it stands."""
DECODED_AS: Final = "_decodedAs"
"""Where a resource says that it was not UTF-8, as it should be, but what this names."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A line of a file, by the byte at which it begins; of a type that no JSON can hold."""

    path: Path
    start: int

    def read(self) -> Resource:
        """Read the resource there; an empty one if it is no longer there."""
        with self.path.open("rb") as handle:
            handle.seek(self.start)
            found, _ = _parsed(handle.readline(_MAX_BYTES + 1))
        return found if isinstance(found, dict) else {}


_REPORT: Final = "DiagnosticReport"
_REPLACED: Final = "replaced-by"
_REPLACES: Final = "replaces"
_MOST_REPLACED: Final = 4


@dataclass(frozen=True, slots=True)
class Directory:
    """Resources by ``Type/id``, by the address of their bundle entry, or by ``#id``."""

    by_reference: MutableMapping[str, Resource] = field(default_factory=dict)

    def add(self, resource: Resource) -> None:
        """Keep a resource that reports may point at."""
        kind, identifier = text_of(resource, "resourceType"), text_of(resource, "id")
        if kind not in KINDS:
            return
        if isinstance(resource.get(_PLACE), _Place):
            resource = {name: value for name, value in resource.items() if name != "data"}
        if identifier:
            self.by_reference[f"{kind}/{identifier}"] = resource
        if text_of(resource, _URL):
            self.by_reference[text_of(resource, _URL)] = resource

    def within(self, report: Resource) -> Directory:
        """Give the directory as a report sees it, with what it contains."""
        contained: dict[str, Resource] = {
            f"#{text_of(each, 'id')}": each for each in items(report, "contained")
        }
        return Directory(ChainMap(contained, self.by_reference)) if contained else self

    def get(self, reference: str) -> Resource:
        """Give the resource of a reference of any form, or an empty one."""
        plain = reference.split("/_history")[0]
        short = "/".join(plain.split("/")[-2:])
        return self.by_reference.get(plain) or self.by_reference.get(short) or {}

    def person(self, pointed: str) -> Resource:
        """Give the patient of a reference, or the one by whom that one was replaced."""
        found = self.get(pointed)
        for _ in range(_MOST_REPLACED):
            others = {reference(link, "other") for link in _links(found, _REPLACED)}
            found = (self.get(others.pop()) if len(others) == 1 else {}) or found
        return found

    def merges(self, patient: Resource) -> Iterator[Merge]:
        """Give what a patient says of being replaced, or of whom it replaces."""
        own = {"subject": {"reference": f"Patient/{text_of(patient, 'id')}"}}
        mine = patient_numbers(own, patient)[:2]
        for kind in (_REPLACED, _REPLACES):
            for link in _links(patient, kind):
                whose = self.get(reference(link, "other"))
                other = patient_numbers({"subject": items(link, "other")}, whose)[:2]
                if other[0] and mine[0] and other != mine:
                    yield Merge((mine, other) if kind == _REPLACED else (other, mine))

    def document(self, url: str) -> Resource:
        """Give the Binary at an address with its data, or an empty one; nothing is fetched."""
        found = self.get(url)
        if text_of(found, "resourceType") != "Binary":
            return {}
        place = found.get(_PLACE)
        return place.read() if isinstance(place, _Place) else found


def _links(patient: Resource, kind: str) -> list[dict[str, Any]]:
    return [link for link in items(patient, "link") if text_of(link, "type") == kind]


def resources_of(path: Path) -> Iterator[tuple[int, Resource | str]]:
    """Yield each resource, or the reason why there is none; a bundle gives all its entries.

    A ``.json`` file holds one resource, a list of them, or, as some exports do, one a line.
    """
    with opened(path) as handle:
        if path.name.removesuffix(".gz").endswith(".json"):
            whole = handle.read(_MAX_BYTES + 1)
            found, decoded_as = _parsed(whole) if len(whole) <= _MAX_BYTES else (None, "")
            if isinstance(found, dict | list):
                yield from ((1, _marked(each, decoded_as)) for each in _entries(found))
                return
            handle.seek(0)
        number = 0
        is_plain = isinstance(handle, io.BufferedReader)
        while True:
            place = _Place(path, handle.tell()) if is_plain else None
            line = handle.readline(_MAX_BYTES + 1)
            if not line:
                return
            number += 1
            if len(line) > _MAX_BYTES and not line.endswith(b"\n"):
                yield number, "resource_too_long"
                _skip_line(handle)
            elif line.strip():
                found, decoded_as = _parsed(line)
                for each in _entries(found):
                    yield number, _marked(each, decoded_as, place if each is found else None)


def _skip_line(handle: Any) -> None:
    while (rest := handle.readline(_MAX_BYTES)) and not rest.endswith(b"\n"):
        pass


def _marked(found: Resource | str, decoded_as: str, place: _Place | None = None) -> Resource | str:
    """Note with a resource how it was decoded, and of a document where it stands."""
    if isinstance(found, str):
        return found
    noted: dict[str, object] = {DECODED_AS: decoded_as} if decoded_as else {}
    if place and found.get("resourceType") == "Binary":
        noted[_PLACE] = place
    return {**found, **noted} if noted else found


def _parsed(content: bytes) -> tuple[object, str]:
    """Parse JSON, and say how it was decoded where it is not UTF-8.

    Text that is no JSON gives None; lone surrogates become the replacement sign.
    """
    decoded_as = ""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text, decoded_as = fallback(content), FALLBACK
    try:
        found: object = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            clean = json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
            found = json.loads(clean)
    except (ValueError, RecursionError):
        return None, ""
    return found, decoded_as


def _entries(found: object) -> Iterator[Resource | str]:
    if found is None:
        yield "not_json"
    elif isinstance(found, list) and any(isinstance(each, dict) for each in found):
        for each in found:
            yield from _entries(each)
    elif not isinstance(found, dict):
        yield "not_a_resource"
    elif "resourceType" not in found and isinstance(found.get("resource"), dict):
        yield from _entries({"resourceType": "Bundle", "entry": [found]})
    elif found.get("resourceType") != "Bundle":
        yield found
    else:
        yield from _bundled(items(found, "entry"))


def _bundled(entries: list[dict[str, Any]]) -> Iterator[Resource | str]:
    """Give what the entries of a bundle hold; a report that a history says was deleted, as such."""
    reports: dict[str, Resource] = {}
    gone: list[dict[str, Any]] = []
    for entry in entries:
        resource = entry.get("resource")
        if isinstance(resource, dict) and resource.get("resourceType") == "Bundle":
            yield from _entries(resource)
        elif isinstance(resource, dict):
            if resource.get("resourceType") == _REPORT:
                reports.setdefault(f"{_REPORT}/{text_of(resource, 'id')}", resource)
            yield {**resource, _URL: text_of(entry, "fullUrl")}
        elif any(text_of(request, "method") == "DELETE" for request in items(entry, "request")):
            gone.append(entry)
    for entry in gone:
        named = "/".join(text_of(items(entry, "request")[0], "url").split("/")[-2:])
        if named in reports:
            at = {text_of(told, "lastModified") for told in items(entry, "response")}
            meta = {"meta": {"lastUpdated": max(at)}} if any(at) else {"meta": {}}
            yield {**reports[named], **meta, "status": "entered-in-error"}
        elif named.startswith(_REPORT):
            yield "deleted_elsewhere"


def items(resource: Resource, name: str) -> list[dict[str, Any]]:
    """Give a list's objects; whatever else stands there is left out."""
    found = resource.get(name)
    if isinstance(found, dict):
        return [found]
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text_of(resource: Resource, name: str) -> str:
    """Give a text, or '' where there is none; a whole number is taken as it is written."""
    found = resource.get(name)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found) if abs(found) < 10**30 else ""
    return found.strip() if isinstance(found, str) else ""


_TITLES: Final = ("dr. ", "dr ", "prof. ", "mr. ", "ms. ", "mrs. ")
_NOT_A_PERSON: Final = ("Organization", "Device", "CareTeam", "Location")
_NO_RECORD_NUMBER: Final = frozenset({"SS", "DL", "PPN", "AN", "VN"})
"""Types of a patient's identifier that are no medical record number."""
_NAMED_KINDS: Final = {"MRN": "MR", "MEDICAL RECORD NUMBER": "MR", "SSN": "SS"}
STAFF: Final = ("resultsInterpreter", "performer")
BY_RESOURCE: Final = "by the id of a resource"
"""Said of a reader whose number the export does not give, but only its server's own."""
_NPI: Final = "us-npi"


def reader(
    report: Resource, directory: Directory, text: str, *, is_preliminary: bool
) -> dict[str, str]:
    """Attribute the report: who is named as its interpreter, checked against the signature."""
    signed = signer(text)
    found, source = signed, "text" if signed else ""
    for name in STAFF:
        named, is_by_resource = next(_named_people(report, name, directory), (None, False))
        if named is not None:
            found, source = named, f"{name}, {BY_RESOURCE}" if is_by_resource else name
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
    """Yield the people whom a field refers to, by reference, identifier or display.

    A person's key is a number of their own with its system, ``system|value``: of the Practitioner
    where the export holds it, else of the reference. Only where there is none it is the id of the
    resource, which another server gives to somebody else.
    """
    return (person for person, _ in _named_people(resource, name, directory))


def _named_people(
    resource: Resource, name: str, directory: Directory
) -> Iterator[tuple[Person, bool]]:
    """Yield the people of a field, and whether one is told by a resource's id alone."""
    for stated in items(resource, name):
        item = next(iter(items(stated, "actor")), stated)  # as version 3 has it
        shown = text_of(item, "display")
        found = directory.get(text_of(item, "reference"))
        if found.get("resourceType") == "PractitionerRole":
            item = next(iter(items(found, "practitioner")), {})
            shown = text_of(item, "display") or shown
            found = directory.get(text_of(item, "reference"))
        pointed = text_of(item, "reference")
        kinds = (*pointed.split("/")[-2:-1], found.get("resourceType"), item.get("type"))
        if any(kind in _NOT_A_PERSON for kind in kinds):
            continue
        number = _number(items(found, "identifier")) or _number(items(item, "identifier"))
        # An address within one document says nothing beyond it.
        is_local = pointed.startswith(("#", "urn:"))
        own = "" if is_local else pointed.split("/_history")[0].rpartition("/")[2]
        person = _person(number or own, found, shown)
        if person.key != "name:":
            yield person, bool(own) and not number


def _number(identifiers: list[dict[str, Any]]) -> str:
    """Choose the number that tells a person, the same in whichever order they stand.

    A national provider's number comes first, then what is official; what is no longer used, and
    numbers that are a citizen's (`_NO_RECORD_NUMBER`), are none.
    """
    ranked = []
    for each in identifiers:
        kinds = _kinds(each)
        value, system = text_of(each, "value"), text_of(each, "system")
        if value and text_of(each, "use") != "old" and not kinds & _NO_RECORD_NUMBER:
            is_national = system.endswith(_NPI) or "NPI" in kinds
            ranked.append((not is_national, text_of(each, "use") != "official", system, value))
    *_, system, value = min(ranked, default=("", ""))
    return f"{system}|{value}" if system else value


def _kinds(identifier: Resource) -> set[str]:
    """Say what an identifier is: by the codes of its type, or by the name that some give it."""
    kinds = items(identifier, "type")
    named = (text_of(kind, "text").upper() for kind in kinds)
    return {text_of(c, "code") for kind in kinds for c in items(kind, "coding")} | {
        _NAMED_KINDS.get(name, name) for name in named if name
    }


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
    kinds = [_kinds(each) for each in found]
    values = [(text_of(i, "value"), text_of(i, "system")) for i in found]
    records = [v for v, kind in zip(values, kinds, strict=True) if v[0] and "MR" in kind]
    others = [
        v for v, kind in zip(values, kinds, strict=True) if v[0] and not kind & _NO_RECORD_NUMBER
    ]
    pointed = text_of(subject, "reference")
    own = "" if pointed.startswith("#") else pointed.split("/_history")[0].rpartition("/")[2]
    number, system = next(iter([*records, *others, (own, "")]))
    return number, system, [v for v in (*(text_of(i, "value") for i in every), own) if v]


def _person(key: str, found: Resource, shown: str) -> Person:
    human = min(items(found, "name"), key=_precedence, default={})
    family, given = text_of(human, "family"), _given(human)
    named = _named(text_of(human, "text") or shown)
    if not family and named:
        family, given = named.family, named.given
    return Person(key, family, given)


def _precedence(human: Resource) -> int:
    """Order names: the official one, any other, one that is no longer borne."""
    use = text_of(human, "use")
    return 0 if use == "official" else 2 if use in ("old", "maiden") else 1


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
