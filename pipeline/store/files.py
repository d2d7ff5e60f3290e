"""Files that are whole or absent when written.

A file is written beside its place, forced to the disk, then renamed onto it: after a kill or a
power cut the old file or the new one is there, never a part of one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing"]


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
