"""One run at a time: a lock on a file that the system frees when its holder ends, however it ends.

The file's content only says who holds it. What a killed process left there binds nobody, even if
its number is another program's by now; so a lock never goes stale.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from pipeline.errors import RunLockedError

__all__ = ["held", "holder"]

_HELD: Final[set[Path]] = set()
"""Locks that this process holds."""


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a lock; gives False if this process holds it already, and then leaves it as it is.

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
            msg = (
                f"another run holds {place.parent} (process {other}). "
                "Wait for it to end, or use another workspace."
            )
            raise RunLockedError(msg)
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
    """Take the lock; a second try lets a `radcal status` that is just looking pass."""
    for patience in (0.3, 0.3, None):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if patience is None:
                return False
            time.sleep(patience)
        else:
            break
    return True
