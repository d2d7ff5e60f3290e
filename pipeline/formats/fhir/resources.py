"""Files of FHIR resources → the resources, read tolerantly.

Nothing is validated here beyond being JSON: real exports leave out what the standard asks for.
Documents (Binary) may be larger than memory: of those in NDJSON their place in the file is kept.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from pipeline.formats.decoding import FALLBACK, fallback, opened

Resource: TypeAlias = Mapping[str, Any]
KINDS: Final = (
    "Patient", "Practitioner", "PractitionerRole", "ServiceRequest", "Organization", "Encounter",
    "ImagingStudy", "RelatedPerson", "Binary",
)  # fmt: skip
"""What reports point at; a row of one of these is neither an exam nor set aside."""
_MAX_BYTES: Final = 64 * 2**20
URL: Final = "_fullUrl"
PLACE: Final = "_place"
"""Where a document of an NDJSON file says where it stands."""
DECODED_AS: Final = "_decodedAs"
"""Where a resource says that it was not UTF-8, as it should be, but what this names."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, by the byte at which it begins; of a type that no JSON can hold."""

    path: Path
    start: int

    def read(self) -> Resource:
        """Read the resource there; an empty one if it is no longer there."""
        with self.path.open("rb") as handle:
            handle.seek(self.start)
            found, _ = _parsed(handle.readline(_MAX_BYTES + 1))
        return found if isinstance(found, dict) else {}


REPORT: Final = "DiagnosticReport"


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
            place = Place(path, handle.tell()) if is_plain else None
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


def _marked(found: Resource | str, decoded_as: str, place: Place | None = None) -> Resource | str:
    """Note with a resource how it was decoded, and of a document where it stands."""
    if isinstance(found, str):
        return found
    noted: dict[str, object] = {DECODED_AS: decoded_as} if decoded_as else {}
    if place and found.get("resourceType") == "Binary":
        noted[PLACE] = place
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
            if resource.get("resourceType") == REPORT:
                reports.setdefault(f"{REPORT}/{text_of(resource, 'id')}", resource)
            yield {**resource, URL: text_of(entry, "fullUrl")}
        elif any(text_of(request, "method") == "DELETE" for request in items(entry, "request")):
            gone.append(entry)
    for entry in gone:
        named = "/".join(text_of(items(entry, "request")[0], "url").split("/")[-2:])
        if named in reports:
            at = {text_of(told, "lastModified") for told in items(entry, "response")}
            meta = {"meta": {"lastUpdated": max(at)}} if any(at) else {"meta": {}}
            yield {**reports[named], **meta, "status": "entered-in-error"}
        elif named.startswith(REPORT):
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


def reference(resource: Resource, name: str) -> str:
    """Give the first reference of a field."""
    return next((text_of(item, "reference") for item in items(resource, name)), "")
