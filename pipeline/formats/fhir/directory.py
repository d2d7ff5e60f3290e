"""What reports point at: patients, practitioners, orders; and who they name.

A resource may be referred to before it is read and from another file, so all of them are gathered
first, from the source and from the files beside it; of other sources only what is pointed at and
not there is kept. A contained one is seen by its report alone. Of two versions the later counts.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, MutableMapping, Set
from dataclasses import dataclass, field
from typing import Any, Final

from pipeline.formats.exams import Merge
from pipeline.formats.fhir.resources import (
    KINDS,
    OBSERVATION,
    PERSON,
    PLACE,
    REPORT,
    URL,
    Place,
    Resource,
    identified,
    items,
    names_of,
    reference,
    text_of,
)
from pipeline.formats.people import Person, attributed, drafter, person_from_text, reader_of
from pipeline.formats.readers import dictator, signer
from pipeline.formats.values import RETRACTED, is_no_number, known_words, status_of

ORDERS: Final = ("basedOn", "imagingStudy", "study")
"""Where a report points at what has its accession number."""
TIMES: Final = ("effectiveDateTime", "effectivePeriod")
"""When a report's exam was: what a deletion does not say, and no other version may borrow."""
_ORDERED: Final = (*ORDERS, "identifier", "subject", "contained")
_REPLACED: Final = "replaced-by"
_REPLACES: Final = "replaces"
_MOST_REPLACED: Final = 4


@dataclass(frozen=True, slots=True)
class Directory:
    """Resources by ``Type/id``, the address of their bundle entry, ``#id``, or who is identified.

    ``pointed`` holds what was pointed at since `missing` was last asked; ``server`` is the address
    of the server that relative references are of, where the report says which.
    """

    by_reference: MutableMapping[str, Resource] = field(default_factory=dict)
    pointed: set[str] = field(default_factory=set)
    server: str = ""

    def add(self, resource: Resource, only: Set[str] | None = None) -> None:
        """Keep a resource that reports may point at; only what is wanted, where that is said.

        Of a report only what it points at is kept, and of one that is wanted, because a version of
        it says nothing of its order, or it was deleted, what its other versions say.
        """
        kind, names = text_of(resource, "resourceType"), names_of(resource)
        if kind == REPORT:
            if only is None:
                self.pointed.update(_pointed(resource))
            elif names & only:
                said = {name: resource[name] for name in (*_ORDERED, *TIMES) if name in resource}
                for name in names & only:
                    self.by_reference[name] = {**said, **self.by_reference.get(name, {})}
                self.pointed.update(_pointed(said))
        elif kind in KINDS and (kind != OBSERVATION if only is None else names & only):
            self.pointed.update(_pointed(resource))
            if isinstance(resource.get(PLACE), Place):
                resource = {name: value for name, value in resource.items() if name != "data"}
            for name in names:
                self._keep(name, resource)

    def _keep(self, name: str, resource: Resource) -> None:
        """Keep the later version of a resource; nobody where two have one identifier, or one id."""
        before = self.by_reference.get(name)
        one_number = PERSON in name and before and text_of(before, "id") != text_of(resource, "id")
        if one_number or (before and _are_two(before, resource)):
            self.by_reference[name] = {}
        elif before is None or (before and _updated(before) <= _updated(resource)):
            self.by_reference[name] = resource

    def missing(self) -> Set[str]:
        """Give what was pointed at since this was last asked, and is not there."""
        found = {name for name in self.pointed if name and not self.get(name)}
        self.pointed.clear()
        return found

    def within(self, report: Resource) -> Directory:
        """Give the directory as a report sees it, with what it contains and from its server."""
        contained: dict[str, Resource] = {
            f"#{text_of(each, 'id')}": each for each in items(report, "contained")
        }
        server = text_of(report, URL).rpartition(f"{REPORT}/")[0]
        return Directory(ChainMap(contained, self.by_reference), server=server)

    def get(self, reference: str) -> Resource:
        """Give the resource of a reference of any form, or an empty one."""
        plain = reference.split("/_history")[0]
        places = (self.server + plain, plain, _short(plain))
        return next(filter(None, map(self.by_reference.get, places)), {})

    def patient(self, report: Resource) -> Resource:
        """Give a report's patient, by reference or identifier, or who replaced that one."""
        whose = (self.get(name) for name in map(identified, items(report, "subject")))
        found = self.get(reference(report, "subject")) or next(whose, {})
        for _ in range(_MOST_REPLACED):
            others = {reference(link, "other") for link in _links(found, _REPLACED)}
            found = (self.get(others.pop()) if len(others) == 1 else {}) or found
        return found

    def merges(self, patient: Resource) -> Iterator[Merge]:
        """Give what a patient says of being replaced, or of whom it replaces."""
        own = {"subject": {"reference": f"Patient/{text_of(patient, 'id')}"}}
        mine = patient_numbers(own, patient)[:2]
        for each in items(patient, "identifier"):
            before = text_of(each, "value"), text_of(each, "system")
            is_old = text_of(each, "use") == "old" and not kinds_of(each) & _NO_RECORD_NUMBER
            if is_old and not is_no_number(before[0]) and before[1] == mine[1] and before != mine:
                yield Merge((before, mine))
        for kind in (_REPLACED, _REPLACES):
            for link in _links(patient, kind):
                whose = self.get(reference(link, "other"))
                other = patient_numbers({"subject": items(link, "other")}, whose)[:2]
                if other != mine and not any(is_no_number(each) for each, _ in (other, mine)):
                    yield Merge((mine, other) if kind == _REPLACED else (other, mine))

    def observed(self, resource: Resource, name: str, steps: int = 3) -> Iterator[Resource]:
        """Yield the observations of a field, with their parts and members; empty where nowhere.

        One of another patient is nowhere: two servers may give one id. Some are taken back.
        """
        for item in items(resource, name):
            found = self.get(text_of(item, "reference"))
            mine, theirs = self.patient(resource), self.patient(found)
            found = {} if mine and theirs and mine is not theirs else found
            if status_of(text_of(found, "status")) != RETRACTED:
                yield from (found, *items(found, "component"))
                yield from self.observed(found, "hasMember", steps - 1) if steps else ()

    def document(self, url: str) -> Resource:
        """Give the Binary at an address with its data, or an empty one; nothing is fetched."""
        found = self.get(url)
        if text_of(found, "resourceType") != "Binary":
            return {}
        place = found.get(PLACE)
        return place.read() if isinstance(place, Place) else found


def _pointed(resource: Resource) -> Iterator[str]:
    """Give all that a resource points at, and a report that points at no order: itself."""
    if text_of(resource, "resourceType") == REPORT:
        yield from (identified(subject) for subject in items(resource, "subject"))
        if text_of(resource, "id") and not any(items(resource, n) for n in (*ORDERS, "identifier")):
            yield f"{REPORT}/{text_of(resource, 'id')}"
        codings = [c for each in items(resource, "category") for c in items(each, "coding")]
        is_laboratory = any(text_of(each, "code") == "LAB" for each in codings)
        if is_laboratory or any(text_of(each, "data") for each in items(resource, "presentedForm")):
            resource = {**resource, "result": None}  # nothing is read of these
    todo: list[object] = [resource]
    while todo:
        each = todo.pop()
        if isinstance(each, dict):
            todo += each.values()
            for name in (text_of(each, "reference"), text_of(each, "url")):
                short = _short(name.split("/_history")[0])
                if short.startswith("urn:") or short.split("/")[0] in KINDS:
                    yield short
        elif isinstance(each, list):
            todo += each


def _short(reference: str) -> str:
    """Give ``Type/id`` of a reference of any form; an address of another kind stays."""
    return reference if reference.startswith("urn:") else "/".join(reference.split("/")[-2:])


def _are_two(one: Resource, other: Resource) -> bool:
    """Tell resources of two servers that have one id: no number in common, nor a person's name."""
    mine, theirs = ({text_of(i, "value") for i in items(e, "identifier")} for e in (one, other))
    is_named = "name" in one and all(one.get(n) == other.get(n) for n in ("name", "birthDate"))
    return bool(mine and theirs) and mine.isdisjoint(theirs) and not is_named


def _updated(resource: Resource) -> str:
    return text_of(next(iter(items(resource, "meta")), {}), "lastUpdated")


def _links(patient: Resource, kind: str) -> list[dict[str, Any]]:
    return [link for link in items(patient, "link") if text_of(link, "type") == kind]


_NOT_A_PERSON: Final = ("Organization", "Device", "CareTeam", "Location")
_NO_PATIENT: Final = ("Group", "Device", "Location")
"""What a report may be of beside a patient."""
_NO_RECORD_NUMBER: Final = frozenset({"SS", "DL", "PPN", "AN", "VN"})
"""Types of a patient's identifier that are no medical record number."""
_NAMED_KINDS: Final = {"MRN": "MR", "MEDICAL RECORD NUMBER": "MR", "SSN": "SS"}
STAFF: Final = ("resultsInterpreter", "performer")
BY_RESOURCE: Final = "by the id of a resource"
"""Said of a reader whose number the export does not give, but only its server's own."""
_NPI: Final = "us-npi"
_ATTESTED: Final = re.compile("attest|signature", re.IGNORECASE)


def reader(
    report: Resource, directory: Directory, text: str, *, is_preliminary: bool
) -> dict[str, str]:
    """Attribute the report: who is named as its interpreter, checked against the signature."""
    signed = signer(text)
    found, source = signed, "text" if signed else ""
    attested = (
        person for told in items(report, "extension") if _ATTESTED.search(text_of(told, "url"))
        for each in (told, *items(told, "extension"), *items(told, "valueSignature"))
        for name in ("valueReference", "who") for person in people(each, name, directory)
    )  # fmt: skip
    for name in STAFF:
        every = list(_named_people(report, name, directory))
        foremost = min((role for *_, role in every), default=0)
        named = {person: by for person, by, role in every if role == foremost}
        if named:
            found, told = reader_of(list(named), [signed, *attested])
            source = name + told + (f", {BY_RESOURCE}" if named[found] else "")
            break
    author = drafter(None, dictator(text), found, is_preliminary=is_preliminary)
    return attributed(found, source, signed, author)


def people(resource: Resource, name: str, directory: Directory) -> Iterator[Person]:
    """Yield the people whom a field refers to, by reference, identifier or display.

    A person's key is a number of their own with its system, ``system|value``: of the Practitioner
    where the export holds it, else of the reference. Only where there is none it is the id of the
    resource, which another server gives to somebody else.
    """
    return (person for person, *_ in _named_people(resource, name, directory))


def _named_people(
    resource: Resource, name: str, directory: Directory
) -> Iterator[tuple[Person, bool, int]]:
    """Yield the people of a field, whether one is told by a resource's id alone, and the role.

    A principal interpreter's is -1, an assistant's 1, and 0 where none is said.
    """
    for stated in items(resource, name):
        item = next(iter(items(stated, "actor")), stated)  # as version 3 has it
        shown = text_of(item, "display")
        found = directory.get(text_of(item, "reference"))
        role = _role([*items(stated, "role"), *items(stated, "extension"), *items(found, "code")])
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
            yield person, bool(own) and not number, role


def _role(said: list[dict[str, Any]]) -> int:
    """Tell a principal interpreter (-1) from an assistant (1), by a code, a name or a text."""
    for kind in ("valueCodeableConcept", "valueCoding", "coding"):
        said = [*said, *(each for one in said for each in items(one, kind))]
    words = (text_of(each, name) for each in said for name in ("code", "display", "text"))
    known = (known_words("role").get(word.casefold(), "") for word in words)
    return {"principal": -1, "assistant": 1}.get(next(filter(None, known), ""), 0)


def _number(identifiers: list[dict[str, Any]]) -> str:
    """Choose the number that tells a person, the same in whichever order they stand.

    A national provider's number comes first, then what is official; what is no longer used, and
    numbers that are a citizen's (`_NO_RECORD_NUMBER`), are none.
    """
    ranked = []
    for each in identifiers:
        kinds = kinds_of(each)
        value, system = text_of(each, "value"), text_of(each, "system")
        if value and text_of(each, "use") != "old" and not kinds & _NO_RECORD_NUMBER:
            is_national = system.endswith(_NPI) or "NPI" in kinds
            ranked.append((not is_national, text_of(each, "use") != "official", system, value))
    *_, system, value = min(ranked, default=("", ""))
    return f"{system}|{value}" if system else value


def kinds_of(identifier: Resource) -> set[str]:
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


def patient_numbers(report: Resource, patient: Resource) -> tuple[str, str, list[str]]:
    """Give the patient's number, the system it is of, and all numbers that the patient has.

    The record number (type ``MR``) wins; else the first that is no social security, licence or
    account number; else the resource's own id.
    """
    subject = next(iter(items(report, "subject")), {})
    every = [*items(patient, "identifier"), *items(subject, "identifier")]
    found = [i for i in every if text_of(i, "use") != "old"] or every
    kinds = [kinds_of(each) for each in found]
    values = [(text_of(i, "value"), text_of(i, "system")) for i in found]
    records = [v for v, kind in zip(values, kinds, strict=True) if v[0] and "MR" in kind]
    others = [
        v for v, kind in zip(values, kinds, strict=True) if v[0] and not kind & _NO_RECORD_NUMBER
    ]
    pointed = text_of(subject, "reference")
    kind, _, own = pointed.split("/_history")[0].rpartition("/")
    if pointed.startswith("#") or kind.rpartition("/")[2] in _NO_PATIENT:
        own = ""
    number, system = next(iter([*records, *others, (own, "")]))
    return number, system, [v for v in (*(text_of(i, "value") for i in every), own) if v]


def _person(key: str, found: Resource, shown: str) -> Person:
    human = min(items(found, "name"), key=_precedence, default={})
    family, given = text_of(human, "family"), _given(human)
    named = person_from_text(text_of(human, "text") or shown)
    if not family and named:
        family, given = named.family, named.given
    return Person(key, family, given)


def _precedence(human: Resource) -> int:
    """Order names: the official one, any other, one that is no longer borne."""
    use = text_of(human, "use")
    return 0 if use == "official" else 2 if use in ("old", "maiden") else 1


def _given(human: Resource) -> str:
    given = human.get("given")
    if isinstance(given, str):
        return given
    return " ".join(str(part) for part in given) if isinstance(given, list) else ""
