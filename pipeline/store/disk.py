"""What to say when a disk takes no more, is read-only or fails: the error of a system, in words."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path
from typing import Final

from pipeline.errors import StorageError

__all__ = ["no_room", "storage_error"]

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READ_ONLY: Final = (errno.EROFS, errno.EACCES, errno.EPERM)
_SQLITE: Final = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_IOERR: errno.EIO,
}


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
