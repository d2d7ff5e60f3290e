"""Files of FHIR resources → the resources, read tolerantly, and where each stands.

Nothing is validated here beyond being JSON: real exports leave out what the standard asks for.
Documents (Binary) may be larger than memory: of those in NDJSON their place in the file is kept.

A later export names what earlier ones hold. So that no run reads years of them to the end for it,
an `Index` keeps where in a file a resource of some name stands: hashes and places, no name, by the
file's content. Of NDJSON the line is read again, of any other file the whole.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from pipeline.formats.decoding import (
    FALLBACK,
    content_digest,
    fallback,
    files_of,
    opened,
    suffix_of,
)
from pipeline.formats.values import known_words

Resource: TypeAlias = Mapping[str, Any]
KINDS: Final = known_words("resource")
"""What reports point at; a row of one of these is neither an exam nor set aside."""
_SUFFIXES: Final = (".ndjson", ".json", ".jsonl", ".ndjson.gz", ".json.gz", ".jsonl.gz")
_LINES: Final = (".ndjson", ".jsonl")
_MAX_BYTES: Final = 64 * 2**20
_START: Final = 4096
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
        found = _standing(self.path, [self.start])
        return next((each for each in found if isinstance(each, dict)), {})


PAGE, NEXT = "_page", "next"
"""A page of a search, behind what it holds: its links, and how many entries answer the search."""
REPORT, OBSERVATION = "DiagnosticReport", "Observation"
_DELETED: Final = re.compile(rf"(?:.*/)?{REPORT}(?:/([^/?#]+)(?:/_history.*)?|[/?].*)?")
"""Addresses of a report, of a version of it (its id is caught), or of those that a search finds."""
_WHOLE: Final = -1
"""Where a resource stands in a file of which no line can be read alone."""


def resource_files(source: Path) -> list[Path]:
    """Give a file of resources, or all of a folder and those in it, whatever they are called."""
    return [path for path in files_of(source) if is_json(path) or _begins_as_json(path)]


def is_json(path: Path) -> bool:
    """Tell a file of resources by its name."""
    return path.name.lower().endswith(_SUFFIXES)


def _begins_as_json(path: Path) -> bool:
    with opened(path) as content:
        start = content.read(_START).removeprefix(codecs.BOM_UTF8)
    return start.lstrip()[:1] in (b"{", b"[")


def resources_of(path: Path) -> Iterator[tuple[int, Resource | str]]:
    """Yield each resource, or the reason why there is none, with the number of its line or entry.

    A file that is not called one of lines holds one resource, a list of them, or, as some exports
    do, one a line all the same.
    """
    return ((number, found) for number, _, found in _placed(path))


def _placed(path: Path) -> Iterator[tuple[int, int, Resource | str]]:
    """Yield the number of each line or entry, the byte at which it begins, and what it holds."""
    with opened(path) as handle:
        if suffix_of(path) not in _LINES:
            whole = handle.read(_MAX_BYTES + 1)
            found, decoded_as = _parsed(whole) if len(whole) <= _MAX_BYTES else (None, "")
            if isinstance(found, dict | list):
                yield from ((n, _WHOLE, _marked(each, decoded_as)) for n, each in _entries(found))
                return
            handle.seek(0)
        is_plain = isinstance(handle, io.BufferedReader)
        for number in count(1):
            start = handle.tell() if is_plain else _WHOLE
            if not (line := handle.readline(_MAX_BYTES + 1)):
                return
            for each in _of_line(line, Place(path, start) if is_plain else None):
                yield number, start, each
            if len(line) > _MAX_BYTES and not line.endswith(b"\n"):
                _skip_line(handle)


def _of_line(line: bytes, place: Place | None) -> Iterator[Resource | str]:
    if len(line) > _MAX_BYTES and not line.endswith(b"\n"):
        yield "resource_too_long"
    elif line.strip():
        found, decoded_as = _parsed(line)
        for _, each in _entries(found):
            yield _marked(each, decoded_as, place if each is found else None)


def _skip_line(handle: BinaryIO) -> None:
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


def _entries(found: object) -> Iterator[tuple[int, Resource | str]]:
    """Give what a document holds, each with its place in the list or bundle that it is."""
    if found is None:
        yield 1, "not_json"
    elif isinstance(found, list) and any(isinstance(each, dict) for each in found):
        for number, each in enumerate(found, start=1):
            yield from ((number, held) for _, held in _entries(each))
    elif not isinstance(found, dict):
        yield 1, "not_a_resource"
    elif "resourceType" not in found and isinstance(found.get("resource"), dict):
        yield from _entries({"resourceType": "Bundle", "entry": [found]})
    elif found.get("resourceType") != "Bundle":
        yield 1, found
    else:
        listed = found.get("entry") or []
        entries = listed if isinstance(listed, list) else items(found, "entry")
        for number, entry in enumerate(entries, start=1):
            held = _bundled(entry) if _is_entry(entry) else ("not_a_resource",)
            yield from ((number, each) for each in held)
        if any(text_of(link, "relation") in ("self", NEXT) for link in items(found, "link")):
            yield 1, {**found, "resourceType": PAGE, "entry": len(list(_matches(found)))}


def _matches(page: Resource) -> Iterator[Resource]:
    """Give what a search or a history found, without what it includes beside or remarks."""
    for entry in items(page, "entry"):
        modes = {text_of(each, "mode") for each in items(entry, "search")}
        if not modes & {"include", "outcome"} and _is_entry(entry):
            yield entry


def _is_entry(found: object) -> bool:
    """Tell an entry that holds a resource, or says by itself what became of one."""
    told = found if isinstance(found, dict) else {}
    return isinstance(told.get("resource"), dict) or bool(told.keys() & {"request", "response"})


def _bundled(entry: dict[str, Any]) -> Iterator[Resource | str]:
    """Give what an entry of a bundle holds; a report that it says was deleted, as taken back."""
    resource = entry.get("resource")
    if isinstance(resource, dict) and resource.get("resourceType") == "Bundle":
        yield from (each for _, each in _entries(resource))
    elif isinstance(resource, dict):
        yield {**resource, URL: text_of(entry, "fullUrl")}
    for request in items(entry, "request"):
        named = _DELETED.fullmatch(text_of(request, "url") or text_of(entry, "fullUrl"))
        if named and text_of(request, "method") == "DELETE":
            at = max(text_of(told, "lastModified") for told in (*items(entry, "response"), {}))
            yield {"resourceType": REPORT, "id": named[1] or "", "status": "entered-in-error",
                   "meta": {"lastUpdated": at}}  # fmt: skip


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


PERSON: Final = "Patient?"
"""What a patient is kept under who is pointed at by an identifier, with its system."""


def names_of(resource: Resource) -> Set[str]:
    """Give all by which a resource may be pointed at; nothing for one that is not looked for."""
    kind = text_of(resource, "resourceType")
    if kind not in (*KINDS, REPORT):
        return set()
    own = text_of(resource, "id")
    names = {f"{kind}/{own}" if own else "", text_of(resource, URL)}
    if kind == "Patient":
        names.update(identified({"identifier": each}) for each in items(resource, "identifier"))
    return names - {""}


def identified(subject: Resource) -> str:
    """Name a patient by identifier, as a reference without an address does; '' for none."""
    each = next(iter(items(subject, "identifier")), {})
    value = text_of(each, "value")
    return f"{PERSON}{text_of(each, 'system')}|{value}" if value else ""


_TABLES: Final = """
CREATE TABLE IF NOT EXISTS file (id INTEGER PRIMARY KEY, digest TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS place (name INTEGER, file INTEGER, start INTEGER,
    PRIMARY KEY (name, file, start)) WITHOUT ROWID;
"""
_LISTED: Final = "IN (SELECT value FROM json_each(?))"
_LEARNT: Final = blake2b(" ".join(KINDS).encode(), digest_size=8).hexdigest()
"""Of files that were read when other kinds were looked for, it is not known where these stand."""
_SECONDS: Final = 3600.0
"""So long one process waits while another learns what stands in years of files."""


class Index:
    """Where in files the resources of some names stand; kept at `path`, or in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def resources(self, names: Set[str], files: Iterable[Path]) -> Iterator[Resource]:
        """Give what stands in these files under these names, in their order.

        Others may come with it: who asks must look at the names.
        """
        by_digest = {f"{_LEARNT}{content_digest(path)}": path for path in files}
        if not names or not by_digest:
            return
        try:
            found = self._places(names, by_digest)
        except sqlite3.DatabaseError as error:  # damaged: it is made anew from the files
            if self._path is None or isinstance(error, sqlite3.OperationalError):
                raise
            self._path.unlink()
            found = self._places(names, by_digest)
        for digest, path in by_digest.items():
            for each in _standing(path, sorted(found[digest])):
                if not isinstance(each, str):
                    yield each

    def _places(self, names: Set[str], files: Mapping[str, Path]) -> Mapping[str, Set[int]]:
        found: defaultdict[str, set[int]] = defaultdict(set)
        with closing(self._opened()) as db:
            self._learn(db, files)
            query = (
                "SELECT digest, start FROM place JOIN file ON file.id = place.file "  # noqa: S608
                f"WHERE name {_LISTED}"
            )
            for digest, start in db.execute(query, [json.dumps(sorted(map(_hash, names)))]):
                if digest in files:
                    found[digest].add(start)
        return found

    def _opened(self) -> sqlite3.Connection:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._path.touch(mode=0o600)
        db = sqlite3.connect(self._path or ":memory:", timeout=_SECONDS, isolation_level=None)
        db.executescript(_TABLES)
        return db

    @staticmethod
    def _learn(db: sqlite3.Connection, files: Mapping[str, Path]) -> None:
        """Take in the files that are not known, in one step or not at all."""
        query = f"SELECT digest FROM file WHERE digest {_LISTED}"  # noqa: S608
        wanted = [json.dumps(list(files))]
        if len(db.execute(query, wanted).fetchall()) == len(files):
            return
        db.execute("BEGIN IMMEDIATE")
        with db:
            known = {digest for (digest,) in db.execute(query, wanted)}
            for digest in sorted(files.keys() - known):
                of = db.execute("INSERT INTO file (digest) VALUES (?)", [digest]).lastrowid
                rows = (
                    (_hash(name), of, start)
                    for _, start, each in _placed(files[digest])
                    if not isinstance(each, str)
                    for name in names_of(each)
                )
                db.executemany("INSERT OR IGNORE INTO place VALUES (?, ?, ?)", rows)


def _standing(path: Path, starts: Sequence[int]) -> Iterator[Resource | str]:
    """Read what stands at some places of a file, or all of one that has no lines."""
    if starts[:1] == [_WHOLE]:
        yield from (each for _, each in resources_of(path))
        return
    with path.open("rb") as handle:
        for start in starts:
            handle.seek(start)
            yield from _of_line(handle.readline(_MAX_BYTES + 1), Place(path, start))


def _hash(name: str) -> int:
    found = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, signed=True)
