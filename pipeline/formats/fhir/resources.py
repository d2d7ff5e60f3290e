"""The resources that reports point at: patients, practitioners, orders; read tolerantly.

A resource may be referred to before it is read and from another file, so all of them are gathered
first, from the source and from the files beside it. Nothing is validated here beyond being JSON:
real exports leave out what the standard asks for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = ["KINDS", "Directory", "Resource", "items", "resources_of", "text_of"]

Resource: TypeAlias = Mapping[str, Any]
KINDS: Final = ("Patient", "Practitioner", "PractitionerRole", "ServiceRequest")
_MAX_LINE: Final = 64 * 2**20


@dataclass(slots=True)
class Directory:
    """Resources by ``Type/id``."""

    by_reference: dict[str, Resource] = field(default_factory=dict)

    def add(self, resource: Resource) -> None:
        """Keep a resource that reports may point at."""
        kind, identifier = text_of(resource, "resourceType"), text_of(resource, "id")
        if kind in KINDS and identifier:
            self.by_reference[f"{kind}/{identifier}"] = resource

    def get(self, reference: str) -> Resource:
        """Give the resource of a relative or absolute reference, or an empty one."""
        return self.by_reference.get("/".join(reference.split("/_history")[0].split("/")[-2:]), {})


def resources_of(path: Path) -> Iterator[tuple[int, Resource | str]]:
    """Yield each line's resource, or the reason why it has none; a bundle gives all its entries."""
    raw = path.read_bytes() if path.suffix == ".json" else None
    lines: Iterator[bytes] | Sequence[bytes] = [raw] if raw is not None else _lines(path)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(line) > _MAX_LINE:
            yield number, "resource_too_long"
            continue
        try:
            found = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            yield number, "not_json"
            continue
        if not isinstance(found, dict):
            yield number, "not_a_resource"
            continue
        for resource in _entries(found):
            yield number, resource


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as handle:
        while line := handle.readline(_MAX_LINE + 2):
            yield line


def _entries(found: dict[str, Any]) -> Iterator[Resource]:
    if found.get("resourceType") != "Bundle":
        yield found
        return
    for entry in items(found, "entry"):
        resource = entry.get("resource")
        if isinstance(resource, dict):
            yield resource


def items(resource: Resource, name: str) -> list[dict[str, Any]]:
    """Give a list's objects; whatever else stands there is left out."""
    found = resource.get(name)
    if isinstance(found, dict):
        return [found]
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text_of(resource: Resource, name: str) -> str:
    """Give a text, or '' where there is none."""
    found = resource.get(name)
    return found.strip() if isinstance(found, str) else ""
