"""Files: whole or absent when written, held by one process at a time, JSON of frozen dataclasses.

A file is written under another name, forced to the disk, then renamed: after a kill or a power cut
the old file or the new one is there, never a part of one. A lock is the operating system's (flock),
which frees it when its holder ends, however it ends; the process number written into the lock file
only serves messages, so no lock goes stale. Counts of shards, books, manifests and summaries are
frozen dataclasses in the program and JSON in files; `plain` and `typed` convert them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

from pydantic import TypeAdapter

from pipeline.errors import ConfigurationError, RunLockedError, StorageError

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READ_ONLY: Final = (errno.EROFS, errno.EACCES, errno.EPERM)
_NO_PLACE: Final = (errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)
_SQLITE: Final = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_IOERR: errno.EIO,
}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path; on success it becomes `path`, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.chmod(0o600)
        _force(partial)
        partial.replace(path)
        _force(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, and its folder if need be, whole or not at all."""
    with replacing(path) as partial:
        partial.write_bytes(content)


def _force(path: Path) -> None:
    """Have the system write a file or a folder's entries to the disk now."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def storage_error(error: BaseException) -> StorageError | None:
    """Explain an error of a disk or of a SQLite file on it; None if it is another kind."""
    if isinstance(error, sqlite3.DatabaseError):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return StorageError(
                "a SQLite file of the workspace is damaged (raw/vault.sqlite holds the codes). "
                "Restore it from your backup, then run again; nothing else is lost."
            )
        number = _SQLITE.get(code)
    else:
        number = error.errno if isinstance(error, OSError) else None
    if number in _FULL:
        return no_room(None)
    if number in _READ_ONLY:
        name = getattr(error, "filename", None) or "a file of the workspace"
        return StorageError(
            f"{name}: cannot be written or read (read-only, or not this user's). "
            "Give this user the right and run again; what was finished is kept."
        )
    if number in _NO_PLACE:
        name = getattr(error, "filename2", None) or getattr(error, "filename", None) or "a path"
        return StorageError(
            f"{Path(str(name)).name:.60}: a folder stands where a file is needed, or a file where "
            "a folder is, or the name is too long. Name another."
        )
    if number == errno.EIO:
        return StorageError(
            "the disk reports an input/output error. Check it (dmesg, SMART), then run again."
        )
    return None


def require_readable(path: Path) -> None:
    """Refuse a file or folder that this user may not read: what is in it would pass for absent.

    A folder that hides itself, or holds what a disk lost, is left alone.

    Raises
    ------
    StorageError
        If it may not be read.
    """
    is_left = path.name[:1] == "." or path.name == "lost+found" or not path.exists()
    if not is_left and not os.access(path, os.R_OK | os.X_OK * path.is_dir()):
        raise StorageError(f"{path}: may not be read by this user. Give this user the right.")


def require_folder(path: Path) -> None:
    """Refuse a file whose folder is not there: made, it would lie beside a drive that is absent.

    Raises
    ------
    ConfigurationError
        If it is not.
    """
    if not path.parent.is_dir():
        raise ConfigurationError(f"{path.parent}: no such folder. Make it, or mount its drive.")


def no_room(root: Path | None) -> StorageError:
    """Say that the disk is full, and what may be deleted."""
    left = f" ({shutil.disk_usage(root).free / 2**20:.0f} MiB left)" if root else ""
    return StorageError(
        f"the workspace's disk is full{left}. Free space, then run again: what was finished is "
        "kept, nothing is half written. What may go without loss: analysis/pages (drawn again), "
        "prefect (the orchestrator's records), logs; `radcal purge` deletes old exams."
    )


_HELD: Final[set[Path]] = set()
"""Locks that this process holds."""


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a lock; yields False, and changes nothing, if this process holds it already.

    A command holds it while it starts a server; the flow inside asks again, for where it runs with
    no command around it.

    Raises
    ------
    RunLockedError
        If another process holds it.
    """
    place = path.resolve()
    if place in _HELD:
        yield False
        return
    with place.open("a+") as handle:
        if not _taken(handle):
            handle.seek(0)
            other = handle.read().strip() or "unknown"
            what = "run" if place.name == "lock" else f"`radcal {place.stem}`"
            raise RunLockedError(
                f"another {what} holds {place.parent} (process {other}). "
                "Wait for it to end, or use another workspace."
            )
        handle.truncate(0)
        handle.write(f"{os.getpid()} on {socket.gethostname()}")
        handle.flush()
        _HELD.add(place)
        try:
            yield True
        finally:
            _HELD.discard(place)
            handle.truncate(0)


def holder(path: Path) -> str:
    """Say which process holds a lock, and where; '' if none does."""
    if not path.is_file():
        return ""
    with path.open() as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return handle.read().strip() or "unknown"
    return ""


def _taken(handle: TextIO) -> bool:
    """Take the lock; tried three times, because `radcal status` holds it for a moment to look."""
    for patience in (0.3, 0.3, 0.0):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(patience)
        else:
            return True
    return False


T = TypeVar("T")
_ADAPTERS: Final[dict[type[object], TypeAdapter[Any]]] = {}


def plain(value: object) -> Any:
    """Give a dataclass, or anything made of them, as JSON values."""
    return _adapter(type(value)).dump_python(value, mode="json")


def typed(kind: type[T], value: object) -> T:
    """Give plain values back as what they were.

    Raises
    ------
    pydantic.ValidationError
        A ValueError: if they are not of this kind.
    """
    return _adapter(kind).validate_python(value)


def typed_json(kind: type[T], content: bytes) -> T:
    """Read JSON as a value of this kind; raises what `typed` raises."""
    return _adapter(kind).validate_json(content)


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
