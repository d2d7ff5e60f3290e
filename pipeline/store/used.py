"""Which shards a run found, read or made: noted where it happens, listed beside its manifest.

    WORKSPACE/runs/<run_id>/shards.json    {"analysis/pairs": ["<key>.parquet", ...], ...}

Whoever asks for a shard by name notes it, in whichever process and table; a task carries the names
home with its facts (`pipeline.run.measure`). So the list holds for every table there is or will be,
and what stands in no list is needed by no run (`pipeline.store.pruning`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pipeline.store.files import replacing

__all__ = ["listed", "note", "record", "taken"]

_LIST: Final = "shards.json"
_LOCK: Final = threading.Lock()
_NOTED: Final[set[str]] = set()


def note(name: str) -> None:
    """Note that this process asked for a shard, or a page, that is there."""
    with _LOCK:
        _NOTED.add(name)


def taken() -> set[str]:
    """Give what was noted in this process since it was last asked."""
    with _LOCK:
        names = set(_NOTED)
        _NOTED.clear()
    return names


def record(run: Path, names: Iterable[str]) -> None:
    """List what a run used; what the same run used when it ran before stays listed.

    Parameters
    ----------
    run
        The run's folder. Its name is a hash of what went into the run, so that a night and the
        issue made of the same exports share it.
    names
        ``zone/table/file`` of each.
    """
    tables: dict[str, list[str]] = {}
    for name in sorted({*names, *(listed(run) or ())}):
        table, _, file = name.rpartition("/")
        tables.setdefault(table, []).append(file)
    with replacing(run / _LIST) as partial:
        partial.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")


def listed(run: Path) -> set[str] | None:
    """Give what a run used; None where its list is gone or damaged, or was never made."""
    try:
        tables = json.loads((run / _LIST).read_text(encoding="utf-8"))
        return {f"{table}/{file}" for table, files in tables.items() for file in files}
    except (OSError, ValueError, AttributeError, TypeError):
        return None
