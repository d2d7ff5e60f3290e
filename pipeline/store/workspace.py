"""The workspace on disk: immutable Parquet shards in two zones, manifests, and one run at a time.

    WORKSPACE/raw/<table>/<key>.parquet        identified: exams as exported, the vault
    WORKSPACE/analysis/<table>/<key>.parquet   coded: everything a page is made from
    WORKSPACE/runs/<run_id>/manifest.json      what went into a run and what came out
    WORKSPACE/delivery/<period>/<recipient>/   pages

The two zones may lie on any fsspec address instead (`pipeline.store.objects`); the vault (in
``raw``), runs, delivery, the audit log and the lock stay in the folder.

A shard is written under a temporary name and renamed, so it is whole or absent; its key is a hash
of all that went into it, so a shard that exists need not be made again. A killed run resumes by
this alone. A shard that was damaged later is found when it is read (`pipeline.store.objects`), put
aside and made again. The version of the schema is part of every key: after an upgrade the former
version's shards stay (for a downgrade) and are never taken for the new version's. Folders are 0700
and files 0600.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, Literal, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.config import Configuration
from pipeline.errors import ConfigurationError, DamagedShardError, InputError, StorageError
from pipeline.store import objects
from pipeline.store.files import held, holder, no_room, plain, typed, typed_json, write_whole

T = TypeVar("T")
Zone = Literal["raw", "analysis"]
_PAGES: Final = "analysis/pages"
IRREPLACEABLE: Final = ("returns", "merges", "profiles")
"""Tables of what people wrote, what exports said that may be gone, and what readers were told."""
_LEAST_FREE_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Handed:
    """One file as it was delivered: digests as drawn and as laid down, a mark of its passphrase."""

    period: str
    recipient: str
    page: str
    drawn: str
    file: str | None
    sha256: str | None
    encrypted: bool = False
    lock: str | None = None


class Workspace:
    """All a site's tables and runs: one folder, or a folder and the address of its tables."""

    def __init__(self, root: Path, url: str | None = None) -> None:
        self.root = root
        self.objects = objects.Folder(root) if url is None else objects.Remote(url)
        self._used: set[str] = set()
        self._using = Lock()

    @classmethod
    def of(cls, config: Configuration) -> Workspace:
        """Open a configuration's workspace."""
        return cls(config.workspace, config.store.url)

    def prepare(self) -> None:
        """Make the zones, private to this user.

        Raises
        ------
        ConfigurationError
            If the folder cannot be made or written.
        StorageError
            If its disk is all but full.
        """
        try:
            for folder in (self.root, self.root / "raw", self.root / "analysis"):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                folder.chmod(0o700)
            probe = self.root / f".probe.{os.getpid()}"
            probe.touch()
            probe.unlink()
            if shutil.disk_usage(self.root).free < _LEAST_FREE_BYTES:
                raise no_room(self.root)
        except OSError as error:
            raise ConfigurationError(
                f"store.workspace: {self.root} cannot be written ({error.strerror}). "
                "Choose another folder or give this user the right to write there."
            ) from None
        self.objects.claim(self.root)

    def keys(self, zone: Zone, name: str) -> list[str]:
        """List the keys of a table's shards, sorted."""
        found = (n for n in self.objects.names(f"{zone}/{name}") if not n.startswith("."))
        return [n.removesuffix(".parquet") for n in found if n.endswith(".parquet")]

    def write(
        self, zone: Zone, name: str, key: str, frame: pd.DataFrame, *, facts: object = None
    ) -> None:
        """Write one shard whole, or not at all; `facts` are its counts, read back by `facts`."""
        self.objects.put(_shard(zone, name, key), objects.encode(frame, plain(facts)))
        self._use(_shard(zone, name, key))

    def read(
        self,
        zone: Zone,
        name: str,
        keys: Sequence[str],
        *,
        columns: Sequence[str] | None = None,
        where: tuple[str, str] | None = None,
    ) -> pd.DataFrame:
        """Read the named shards of a table, in the order of their keys.

        Parameters
        ----------
        columns
            Only these.
        where
            (column, value): only rows that hold it, without loading the others.

        Raises
        ------
        DamagedShardError
            If a shard is missing or damaged.
        InputError
            If another version wrote it, without some of these columns.
        """
        frames: list[pd.DataFrame] = []
        for key in keys:
            with self._explained(zone, name, key):
                content = self.objects.get(_shard(zone, name, key))
                table = objects.decode(content, None if where else columns)
            if where:
                table = table.filter(pc.field(where[0]) == where[1])
                table = table.select(list(columns)) if columns else table
            frames.append(table.to_pandas())
        kept = [frame for frame in frames if len(frame)] or frames[:1]
        return (
            pd.concat(kept, ignore_index=True)
            if kept
            else pd.DataFrame(columns=list(columns or ()))
        )

    def facts(self, zone: Zone, name: str, key: str, kind: type[T]) -> T:
        """Give the counts that were written with a shard; reads the file's footer only.

        Raises
        ------
        DamagedShardError
            If the shard is missing or damaged, or its counts are of another kind.
        """
        with self._explained(zone, name, key), self.objects.open(_shard(zone, name, key)) as file:
            found = objects.about(file)["facts"]
        try:
            return typed(kind, found)
        except ValueError:
            raise DamagedShardError(zone, name, key, "has other counts than it should") from None

    def has(self, zone: Zone, name: str, key: str) -> bool:
        """Whether a shard exists; it was whole when it was written."""
        return self._has(_shard(zone, name, key))

    def put_aside(self, damage: DamagedShardError) -> None:
        """Move a damaged shard out of its table, so that it is made again; it may be missing."""
        if self.has(damage.zone, damage.table, damage.key):
            self.objects.move(
                _shard(damage.zone, damage.table, damage.key),
                _shard(damage.zone, "damaged", f"{damage.table}-{damage.key}"),
            )

    def write_page(self, name: str, content: bytes) -> None:
        """Keep a drawn page, whole or not at all."""
        self.objects.put(f"{_PAGES}/{name}", content)
        self._use(f"{_PAGES}/{name}")

    def has_page(self, name: str) -> bool:
        """Whether a page was drawn."""
        return self._has(f"{_PAGES}/{name}")

    def read_page(self, name: str) -> bytes:
        """Give a drawn page."""
        self._use(f"{_PAGES}/{name}")
        return self.objects.get(f"{_PAGES}/{name}")

    def write_json(self, path: Path, content: object) -> None:
        """Write a value as a JSON file, whole or not at all."""
        text = json.dumps(plain(content), indent=2, sort_keys=True) + "\n"
        write_whole(path, text.encode())

    def note_issue(self, period: str, issue: str, recipients: Sequence[str]) -> None:
        """Say which issue of a month is delivered, by its key, and to whom."""
        told = {"issue": issue, "recipients": recipients}
        self.write_json(self.root / "delivery" / f"{period}.json", told)

    def issued(self, period: str) -> tuple[str | None, list[str] | None]:
        """Give the key and the recipients of a month's issue; None where nothing knows of it.

        Versions up to 0.8.0 noted the recipients alone; where the note is gone, the ledger does.

        Raises
        ------
        StorageError
            If the note is damaged: that is not an issue that nobody has.
        """
        try:
            told = json.loads((self.root / "delivery" / f"{period}.json").read_bytes())
            return (None, told) if isinstance(told, list) else (told["issue"], told["recipients"])
        except FileNotFoundError:
            return None, sorted({e.recipient for e in self.ledger() if e.period == period}) or None
        except (ValueError, LookupError, TypeError):
            raise StorageError(
                f"delivery/{period}.json is damaged: it says which issue of {period} readers have. "
                f"Restore it from your backup; or run once with `--period {period}`, which makes "
                "that issue again and notes it; or delete it: then the issue of that month that "
                "was made of most exams counts as told."
            ) from None

    def ledger(self) -> list[Handed]:
        """Read what was delivered so far, oldest first: a line a file.

        Raises
        ------
        StorageError
            If it is damaged.
        """
        path = self.root / "delivery" / "ledger.jsonl"
        try:
            lines = path.read_bytes().splitlines() if path.is_file() else []
            return [typed_json(Handed, line) for line in lines]
        except ValueError:
            raise StorageError(
                "delivery/ledger.jsonl is damaged. Restore it from your backup; or delete it, and "
                "every page of the issue is delivered again."
            ) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the workspace for one run, and clear what a killed one left half done.

        Raises
        ------
        RunLockedError
            If another run holds it.
        """
        with held(self.root / "lock") as first:
            if first:
                self._sweep()
            yield

    def take_used(self) -> set[str]:
        """Name the shards and pages found, read or written since the last call, and forget them."""
        with self._using:
            used, self._used = self._used, set()
        return used

    def holder(self) -> str:
        """Say which process holds the workspace; '' if none does."""
        return holder(self.root / "lock")

    def _sweep(self) -> None:
        """Remove half-written files and spooled query rows; the lock says that nobody uses them."""
        for zone in ("raw", "analysis", "delivery", "runs", "metrics", "prefect"):
            for partial in (self.root / zone).rglob(".*.part"):
                partial.unlink(missing_ok=True)
        for left in (*self.root.glob(".*.part"), *self.root.glob(".probe.*")):
            left.unlink(missing_ok=True)
        for vault in (self.root / "raw").glob(".vault-*"):
            shutil.rmtree(vault, ignore_errors=True)
        for spooled in (self.root / "raw" / "queries").glob("*.parquet"):
            spooled.unlink(missing_ok=True)

    def _use(self, name: str) -> None:
        with self._using:
            self._used.add(name)

    def _has(self, name: str) -> bool:
        there = self.objects.has(name)
        if there:
            self._use(name)
        return there

    @contextmanager
    def _explained(self, zone: Zone, name: str, key: str) -> Iterator[None]:
        """Note that a shard is used, and turn an error of reading it into one for users."""
        self._use(_shard(zone, name, key))
        try:
            yield
        except FileNotFoundError:
            raise DamagedShardError(zone, name, key, "is missing") from None
        except (objects.DamageError, pa.ArrowInvalid):
            raise DamagedShardError(zone, name, key, "is damaged") from None
        except objects.OtherVersionError as error:
            raise InputError(
                f"shard {zone}/{name}/{key}.parquet was written by another version (schema "
                f"{error}; this is {objects.SCHEMA_VERSION}). Keep the workspace and its "
                "vault, and move this one file away: a run makes what it needs again, and a return "
                "sheet is recorded again with `radcal returns`."
            ) from None


def _shard(zone: Zone, name: str, key: str) -> str:
    return f"{zone}/{name}/{key}.parquet"
