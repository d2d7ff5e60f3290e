"""Which code made a thing: the version for people, and a hash of the source for keys.

A shard's key holds the hash of the packages that decide its content, so that changed code makes
it anew even where nobody raised a version.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable

__all__ = ["code_digest", "version"]

_KEPT = (".py", ".toml", ".csv", ".txt", ".json", ".jsonl")


def version() -> str:
    """Give the installed version of radcal."""
    return metadata.version("radcal")


@lru_cache
def code_digest(*names: str) -> str:
    """Hash the source and data files of packages, with all that lies in them, and of modules."""
    digest = hashlib.sha256()
    for name in names:
        top, *below = name.split(".")
        place = resources.files(top).joinpath(*below[:-1])
        last = place.joinpath(below[-1]) if below else place
        if last.is_dir():
            _add(digest, last, name)
        else:
            digest.update(place.joinpath(f"{below[-1]}.py").read_bytes())
    return digest.hexdigest()[:16]


def _add(digest: hashlib._Hash, folder: Traversable, name: str) -> None:
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            _add(digest, entry, f"{name}/{entry.name}")
        elif entry.name.endswith(_KEPT):
            digest.update(f"{name}/{entry.name}".encode())
            digest.update(entry.read_bytes())
