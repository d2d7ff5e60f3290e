"""The workspace on disk: immutable Parquet shards in two zones, manifests, and one run at a time.

    WORKSPACE/raw/<table>/<key>.parquet        identified: exams as exported, the vault
    WORKSPACE/analysis/<table>/<key>.parquet   coded: everything a page is made from
    WORKSPACE/runs/<run_id>/manifest.json      what went into a run and what came out
    WORKSPACE/delivery/<period>/<recipient>/   pages

A shard is written under a temporary name and renamed, so it is whole or absent; its key is a hash
of all that went into it, so a shard that exists need not be made again. That is the whole of
resuming. Every shard carries its schema's version, and a reader refuses another. Folders
are 0700 and files 0600.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import ConfigurationError, InputError, RunLockedError
from pipeline.files import replacing

__all__ = ["SCHEMA_VERSION", "Workspace", "Zone"]

Zone = Literal["raw", "analysis"]
SCHEMA_VERSION: Final = "2"
"""Raised when a table's columns change meaning; part of every shard's key."""

_META: Final = b"radcal"


class Workspace:
    """One folder that holds all a site's tables and runs."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        """Make the zones, private to this user.

        Raises
        ------
        ConfigurationError
            If the folder cannot be made or written.
        """
        try:
            for folder in (self.root, self.root / "raw", self.root / "analysis"):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                folder.chmod(0o700)
            probe = self.root / f".probe.{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            msg = (
                f"store.workspace: {self.root} cannot be written ({error.strerror}). "
                "Choose another folder or give this user the right to write there."
            )
            raise ConfigurationError(msg) from None

    def table(self, zone: Zone, name: str) -> Path:
        """Folder of a table's shards."""
        return self.root / zone / name

    def shard(self, zone: Zone, name: str, key: str) -> Path:
        """Path of one shard, whether or not it exists."""
        return self.table(zone, name) / f"{key}.parquet"

    def write(
        self,
        zone: Zone,
        name: str,
        key: str,
        frame: pd.DataFrame,
        *,
        facts: Mapping[str, object] | None = None,
    ) -> Path:
        """Write one shard whole, or not at all; `facts` are its counts, read back by `facts`."""
        path = self.shard(zone, name, key)
        meta = json.dumps({"facts": dict(facts or {}), "schema": SCHEMA_VERSION}).encode()
        table = pa.Table.from_pandas(frame, preserve_index=False)
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _META: meta})
        with replacing(path) as partial:
            pq.write_table(table, partial, compression="zstd")
        return path

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
        InputError
            If a shard is missing, damaged, or of another schema version.
        """
        frames = [self._read_one(self.shard(zone, name, key), columns, where) for key in keys]
        kept = [frame for frame in frames if len(frame)] or frames[:1]
        return (
            pd.concat(kept, ignore_index=True)
            if kept
            else pd.DataFrame(columns=list(columns or ()))
        )

    def facts(self, zone: Zone, name: str, key: str) -> dict[str, Any]:
        """Give the counts that were written with a shard; reads the file's footer only."""
        metadata = pq.read_schema(self.shard(zone, name, key)).metadata or {}
        facts = json.loads(metadata.get(_META, b"{}")).get("facts", {})
        return dict(facts)

    def has(self, zone: Zone, name: str, key: str) -> bool:
        """Whether a shard exists; if so it is whole."""
        return self.shard(zone, name, key).is_file()

    def write_json(self, path: Path, content: Mapping[str, object]) -> None:
        """Write a JSON file whole, or not at all."""
        text = json.dumps(content, indent=2, sort_keys=True, default=str) + "\n"
        self.write_bytes(path, text.encode())

    def write_bytes(self, path: Path, content: bytes) -> None:
        """Write a file whole, or not at all."""
        with replacing(path) as partial:
            partial.write_bytes(content)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the workspace for one run; the system frees it when the process ends.

        Raises
        ------
        RunLockedError
            If another run holds it.
        """
        path = self.root / "lock"
        with path.open("a+") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                handle.seek(0)
                holder = handle.read().strip() or "unknown"
                msg = (
                    f"another run holds {self.root} (process {holder}). "
                    "Wait for it to end, or use another workspace."
                )
                raise RunLockedError(msg) from None
            handle.truncate(0)
            handle.write(str(os.getpid()))
            handle.flush()
            self._sweep()
            yield
            handle.truncate(0)

    def _sweep(self) -> None:
        """Remove half-written files and spooled query rows; the lock says that nobody uses them."""
        for zone in ("raw", "analysis", "delivery", "runs"):
            for partial in (self.root / zone).rglob(".*.part"):
                partial.unlink(missing_ok=True)
        for spooled in (self.root / "raw" / "queries").glob("*.parquet"):
            spooled.unlink(missing_ok=True)

    @staticmethod
    def _read_one(
        path: Path, columns: Sequence[str] | None, where: tuple[str, str] | None
    ) -> pd.DataFrame:
        kept = [(where[0], "==", where[1])] if where else None
        try:
            table = pq.read_table(path, columns=list(columns) if columns else None, filters=kept)
        except FileNotFoundError:
            msg = f"shard {path.parent.name}/{path.name} is missing; run again."
            raise InputError(msg) from None
        except (pa.ArrowInvalid, OSError):
            msg = (
                f"shard {path.parent.name}/{path.name} is damaged. Delete it and run again: "
                "it will be made anew."
            )
            raise InputError(msg) from None
        meta = json.loads((table.schema.metadata or {}).get(_META, b"{}"))
        if meta.get("schema") != SCHEMA_VERSION:
            msg = (
                f"shard {path.parent.name}/{path.name} was written by another version "
                f"(schema {meta.get('schema')}, this is {SCHEMA_VERSION}). Use a new workspace."
            )
            raise InputError(msg)
        frame: pd.DataFrame = table.to_pandas()
        return frame
