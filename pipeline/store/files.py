"""Files that are whole or absent when written, and what to say when a disk takes no more.

A file is written beside its place, forced to the disk, then renamed onto it: after a kill or a
power cut the old file or the new one is there, never a part of one.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pipeline.errors import StorageError

__all__ = ["no_room", "replacing", "storage_error"]

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READ_ONLY: Final = (errno.EROFS, errno.EACCES, errno.EPERM)
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
            msg = (
                "a SQLite file of the workspace is damaged (raw/vault.sqlite holds the codes). "
                "Restore it from your backup, then run again; nothing else is lost."
            )
            return StorageError(msg)
        number = _SQLITE.get(code)
    else:
        number = error.errno if isinstance(error, OSError) else None
    if number in _FULL:
        return no_room(None)
    if number in _READ_ONLY:
        msg = (
            "a file of the workspace cannot be written (read-only, or not this user's). "
            "Make it writable and run again; what was finished is kept."
        )
        return StorageError(msg)
    if number == errno.EIO:
        msg = "the disk reports an input/output error. Check it (dmesg, SMART), then run again."
        return StorageError(msg)
    return None


def no_room(root: Path | None) -> StorageError:
    """Say that the disk is full, and what may go."""
    left = f" ({shutil.disk_usage(root).free / 2**20:.0f} MiB left)" if root else ""
    return StorageError(
        f"the workspace's disk is full{left}. Free space, then run again: what was finished is "
        "kept, nothing is half written. What may go without loss: analysis/pages (drawn again), "
        "prefect (the orchestrator's records), logs; `radcal purge` deletes old exams."
    )
