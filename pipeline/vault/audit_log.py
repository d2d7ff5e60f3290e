"""The audit log: who ran what on which input with what outcome; append-only, hash-chained.

One JSON line per event. Each line carries its number and the SHA-256 of the line before it, so a
changed, removed or inserted line breaks the chain. A file beside the log (`<name>.head`) keeps the
number and hash of the last line, so that lines cut from the end are noticed too. Whoever can
rewrite both files can forge both: keep a copy of the head where this user cannot write.

No text, name or number of a patient belongs in an event; counts, digests and codes do.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import pwd
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from pipeline.errors import InputError, RadcalError
from pipeline.store.files import write_whole

_START: Final = "0" * 64
_MAX_VALUE: Final = 400
_TAIL: Final = 2**16

Scalar = str | int | float | bool | None
_Details: TypeAlias = Mapping[str, Scalar | Mapping[str, Scalar]]
_Head: TypeAlias = tuple[int, str]
"""The number and the hash of the last entry."""


@dataclass(frozen=True, slots=True)
class LogState:
    """A log's state: entries read, every break found, in words, and each entry's hash in order."""

    entries: int
    breaks: tuple[str, ...]
    hashes: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        """Give the hash of the last entry."""
        return self.hashes[-1] if self.hashes else _START

    def holds(self, digest: str) -> bool:
        """Tell whether an entry has this hash: one that was noted elsewhere while it was the last.

        A log that was emptied, rolled back or written anew together with its head does not.
        """
        return digest.strip().casefold() in self.hashes

    @property
    def is_intact(self) -> bool:
        """Tell whether nothing was changed, removed or cut."""
        return not self.breaks


class AuditLog:
    """One log file; several processes may append to it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, event: str, /, **details: Scalar | Mapping[str, Scalar]) -> None:
        """Append one event.

        Parameters
        ----------
        event
            What happened, for example ``run finished``.
        details
            Counts, digests, codes, outcome; no text. A value longer than 400 characters is cut.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._locked() as handle:
            head = _head(self.path)
            if unsealed := _unsealed(self.path, *head):
                head = head[0] + 1, unsealed
                _write_head(self.path, *head)
                head = self._write(handle, head, "head restored", {"sealed_entry": head[0]})
            self._write(handle, head, event, details)

    def _write(self, handle: BinaryIO, head: _Head, event: str, details: _Details) -> _Head:
        number, last = head
        body = {
            "number": number + 1,
            "at": datetime.now(tz=UTC).isoformat(timespec="milliseconds"),
            "actor": _actor(),
            "event": event,
            "details": {name: _cut(value) for name, value in sorted(details.items())},
            "before": last,
        }
        line = json.dumps(body, sort_keys=True, separators=(",", ":"))
        handle.write(line.encode() + b"\n")
        handle.flush()
        os.fsync(handle.fileno())
        _write_head(self.path, number + 1, _hash(line.encode()))
        return number + 1, _hash(line.encode())

    @contextmanager
    def attempt(self, event: str, /, **details: Scalar | Mapping[str, Scalar]) -> Iterator[None]:
        """Note it if the block fails for a reason that the program explains; the error goes on."""
        try:
            yield
        except RadcalError as error:
            if self.path.parent.is_dir():
                self.append(f"{event} refused", outcome=type(error).__name__, **details)
            raise

    @property
    def head(self) -> str:
        """Give the hash of the last entry, to be noted where this user cannot write."""
        return _head(self.path)[1]

    def entries(self) -> Iterator[Mapping[str, object]]:
        """Read the events in order."""
        with self.path.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines)

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "ab") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle


def verify(path: Path) -> LogState:
    """Walk the chain and report every break.

    Raises
    ------
    InputError
        If there is no log.
    """
    if not path.is_file():
        raise InputError(f"{path}: no audit log here.")
    breaks: list[str] = []
    hashes: list[str] = []
    last, number = _START, 0
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        breaks += _faults(line, number, last)
        last = _hash(line)
        hashes.append(last)
    if not path.read_bytes().endswith(b"\n") and path.stat().st_size:
        breaks.append(f"line {number + 1}: cut short")
    if _head(path) != (number, last):
        breaks.append(f"the last recorded entry is {_head(path)[0]}, the file ends with {number}")
    return LogState(number, tuple(breaks), tuple(hashes))


def _faults(line: bytes, number: int, last: str) -> Iterator[str]:
    try:
        body = json.loads(line)
        found, before = body["number"], body["before"]
    except (ValueError, KeyError, TypeError):
        yield f"line {number}: not an entry"
        return
    if found != number:
        yield f"line {number}: numbered {found}"
    if before != last:
        yield f"line {number}: does not follow the line before it"


def _unsealed(path: Path, number: int, last: str) -> str:
    """Give the hash of a last line that follows the head, whose writer was killed; else ''.

    The next entry says that it was there: until then `verify` reports it.
    """
    with path.open("rb") as handle:
        handle.seek(max(0, path.stat().st_size - _TAIL))
        line = handle.read().split(b"\n")[-2:-1]
    if not line or next(_faults(line[0], number + 1, last), None):
        return ""
    return _hash(line[0])


def _head(path: Path) -> _Head:
    head = path.with_name(f"{path.name}.head")
    if not head.is_file():
        return 0, _START
    try:
        number, digest = head.read_text(encoding="ascii").split()
        return int(number), digest
    except ValueError:
        return -1, ""


def _write_head(path: Path, number: int, digest: str) -> None:
    write_whole(path.with_name(f"{path.name}.head"), f"{number} {digest}\n".encode())


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _actor() -> str:
    """Name the process's user as the system does: what the environment says anybody can set."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def _cut(value: Scalar | Mapping[str, Scalar]) -> object:
    if isinstance(value, Mapping):
        return {name: _cut(inner) for name, inner in value.items()}
    return value[:_MAX_VALUE] if isinstance(value, str) else value
