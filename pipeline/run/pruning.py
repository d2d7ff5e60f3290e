"""Pruning: delete the shards that no kept run used; everything that a kept run used stays.

Shards never change, so every change of an option, of code or of an export leaves the former ones
behind. Kept are the last runs and the last runs that delivered (``[store] keep_runs`` of each), in
the order of the audit log, which no clock can change. Two kinds of shards stay although no kept run
used them:

- what people wrote (``returns``), which no run can make again;
- identified exams that are in no kept shard: `pipeline.vault.upkeep` must find their people in
  order to forget their codes once their time has come.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipeline.errors import DamagedShardError, RadcalError
from pipeline.run.books import LastRun, last_run
from pipeline.store.files import write_whole
from pipeline.store.workspace import IRREPLACEABLE, Workspace
from pipeline.vault.audit_log import AuditLog
from pipeline.vault.upkeep import ZONES, identifiers, named

_LIST: Final = "shards.json"

_EXAMS: Final = "raw/exams"
_SUFFIXES: Final = (".parquet", ".pdf", ".html", ".csv")


@dataclass(frozen=True, slots=True)
class Pruning:
    """What may be deleted, because no kept run used it.

    `sizes` gives the bytes of each shard or page that may go, by ``zone/table/file``; `held` counts
    identified shards that stay because an exam in them is found nowhere else.
    """

    kept_runs: tuple[str, ...]
    sizes: dict[str, int]
    held: int

    def summary(self) -> dict[str, object]:
        """Give the counts for the command line."""
        tables = Counter(name.rpartition("/")[0] for name in self.sizes)
        return {
            "kept_runs": list(self.kept_runs),
            "files": len(self.sizes),
            "bytes": sum(self.sizes.values()),
            "tables": dict(sorted(tables.items())),
            "held_for_purge": self.held,
        }


def find(store: Workspace, *, keep_runs: int) -> Pruning:
    """Find what may be deleted.

    Parameters
    ----------
    store
        The workspace; hold its lock.
    keep_runs
        How many runs to keep, and how many that delivered.

    Raises
    ------
    RadcalError
        If the last run did not end, or did not list its shards: what is needed is not known then.
    """
    last = _ended(last_run(store.root) or LastRun())
    runs = _kept(store.root, last, keep_runs)
    lists = {run: listed(store.root / "runs" / run) for run in runs}
    if lists[last] is None:
        raise RadcalError(
            "the last run left no list of its shards (runs/<id>/shards.json). "
            "Run once more, which makes nothing anew, then prune."
        )
    used = {name for names in lists.values() for name in names or ()}
    loose = {name: size for name, size in _stored(store) if name not in used}
    held = _only_copies(store, loose, used)
    sizes = {name: size for name, size in sorted(loose.items()) if name not in held}
    return Pruning(tuple(run for run in runs if lists[run] is not None), sizes, len(held))


def remove(store: Workspace, found: Pruning) -> None:
    """Delete what was found; the audit log is written first."""
    if not found.sizes:
        return
    identified = sum(name.startswith("raw/") for name in found.sizes)
    AuditLog(store.root / "audit.jsonl").append(
        "prune", files=len(found.sizes), identified_files=identified,
        bytes=sum(found.sizes.values()), kept_runs=len(found.kept_runs),
    )  # fmt: skip
    for name in found.sizes:
        store.objects.remove(name)


def keep_list(run: Path, names: Iterable[str]) -> None:
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
    write_whole(run / _LIST, f"{json.dumps(tables, indent=1)}\n".encode())


def listed(run: Path) -> set[str] | None:
    """Give what a run used; None where its list is gone or damaged, or was never made."""
    try:
        tables = json.loads((run / _LIST).read_text(encoding="utf-8"))
        return {f"{table}/{file}" for table, files in tables.items() for file in files}
    except (OSError, ValueError, AttributeError, TypeError):
        return None


def _ended(last: LastRun) -> str:
    """Name the last run, which must have ended."""
    if last.last_run is None:
        raise RadcalError(
            "no run has ended well here yet, so nothing can be told to be old. Run, then prune."
        )
    if last.state != "ended" or last.outcome == "failed":
        raise RadcalError(
            "the last run did not end, and what it made is needed to go on. "
            "Run again (`radcal status` says what is left to do), then prune."
        )
    return last.last_run


def _kept(root: Path, last: str, number: int) -> list[str]:
    """Name the runs to keep, newest first."""
    ran = [entry["details"] for entry in AuditLog(root / "audit.jsonl").entries()
           if entry["event"] == "run"]  # fmt: skip
    newest: dict[str, bool] = {last: False}
    for details in reversed([each for each in ran if isinstance(each, dict)]):
        run = str(details["run"])
        newest[run] = newest.get(run, False) or details["outcome"] == "delivered"
    delivered = [run for run, issued in newest.items() if issued]
    return list(dict.fromkeys([*list(newest)[:number], *delivered[:number]]))


def _stored(store: Workspace) -> Iterator[tuple[str, int]]:
    """Give every shard and page of the tables that a run makes, with its bytes."""
    for zone in ZONES:
        for table in store.objects.folders(zone):
            if table in IRREPLACEABLE:
                continue
            for file, size in store.objects.sizes(f"{zone}/{table}").items():
                if file.endswith(_SUFFIXES) and not file.startswith("."):
                    yield f"{zone}/{table}/{file}", size


def _only_copies(store: Workspace, loose: Iterable[str], used: Iterable[str]) -> set[str]:
    """Name the identified shards among `loose` that hold an exam which no used shard holds."""
    candidates = [name for name in loose if name.startswith(f"{_EXAMS}/")]
    if not candidates:
        return set()
    kept: set[str] = set()
    for name in used:
        if name.startswith(f"{_EXAMS}/") and store.objects.has(name):
            kept |= _people(store, name) or set()
    people = {name: _people(store, name) for name in candidates}
    return {name for name, found in people.items() if found is None or not found <= kept}


def _people(store: Workspace, name: str) -> set[str] | None:
    """Give everything in an identified shard that has a code; None if it is damaged."""
    key = name.rpartition("/")[2].removesuffix(".parquet")
    try:
        exams = named(store, key)
    except DamagedShardError:
        return None
    if exams.empty:
        return set()
    of = identifiers(exams)
    return {f"{domain}\0{value}" for domain, values in of.items() for value in values}
