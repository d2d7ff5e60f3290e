"""Shards as bytes, and where the bytes lie: in a folder, or at any address that fsspec knows.

    PAR1 · pages · SHA-256 of all before (32 B) · SHA-256 of all behind (32 B) · footer · PAR1

Parquet readers find pages by the offsets in the footer, so they do not see the 64 bytes of digests
between. The digests are checked before anything is parsed: a flipped byte, a file cut short or one
of length 0 after a power cut is found when the shard is read, wherever it is kept. Where only the
counts are read, only the footer is checked. Numbers lose the digits in which processors differ
before they are written (``calibration.arrays.settled``), so that a workspace begun on one machine
and resumed on another keeps its rows.

An object is whole or absent everywhere. In a folder a temporary file is renamed; an object store
shows an object only once its upload is complete; on other remote file systems (SFTP, HDFS) the
upload goes to a hidden name and is moved. An object's name is a hash of all that went into it, so
two writers of one name write the same content.

A prefix belongs to one site: the first run leaves a marker there (a conditional put where the
store has one) that only the same local folder, and so the same vault and the same lock, matches.
Credentials come from the environment, never from the address.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from calibration.arrays import settled
from pipeline.errors import ConfigurationError
from pipeline.store.files import write_whole

SCHEMA_VERSION: Final = "4"
"""Raised when a table's columns change meaning; part of every shard's key.

So a stage never reads another version's shards. Code that finds shards by listing them may (return
sheets, the pairs they name, exams to purge); the columns that it reads must keep their meaning.
"""

_META: Final = b"radcal"
_DIGEST: Final = 32
_TAIL: Final = 8
"""Bytes behind a Parquet footer: its length (4, little endian) and ``PAR1``."""


class DamageError(Exception):
    """These bytes are not what was written."""


class OtherVersionError(Exception):
    """These bytes lack columns: another schema version, given first in the message, wrote them."""


def encode(frame: pd.DataFrame, facts: object) -> bytes:
    """Give a table and its counts, plain JSON values, as the bytes of one shard."""
    meta = json.dumps({"facts": facts, "schema": SCHEMA_VERSION}).encode()
    table = pa.Table.from_pandas(_settled(frame), preserve_index=False)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _META: meta})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    written = sink.getvalue()
    pages, footer = written[: _footer_start(written)], written[_footer_start(written) :]
    return pages + _sha(pages) + _sha(footer) + footer


def _settled(frame: pd.DataFrame) -> pd.DataFrame:
    """Drop the digits of measured numbers in which two processors differ."""
    numbers = frame.select_dtypes("float64")
    return frame.assign(**{str(name): settled(numbers[name].to_numpy()) for name in numbers})


def decode(content: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """Give a shard's table, or only these columns of it.

    Raises
    ------
    DamageError
        If anything in it is not as it was written.
    OtherVersionError
        If another version of this program wrote it, without some of these columns.
    """
    written_under = about(io.BytesIO(content))["schema"]
    digests = _footer_start(content) - 2 * _DIGEST
    if _sha(memoryview(content)[:digests]) != content[digests : digests + _DIGEST]:
        raise DamageError
    file = pq.ParquetFile(io.BytesIO(content))
    lacking = set(columns or ()) - set(file.schema_arrow.names)
    if lacking and written_under != SCHEMA_VERSION:
        raise OtherVersionError(f"{written_under}, without {', '.join(sorted(lacking))}")
    return file.read(columns=list(columns) if columns else None)


def about(file: BinaryIO) -> dict[str, Any]:
    """Give a shard's counts (``facts``) and ``schema``; raises `DamageError` as `decode` does."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    length = int.from_bytes(file.read(_TAIL)[:4], "little") + _TAIL
    if size < length + 2 * _DIGEST:
        raise DamageError
    file.seek(size - length - _DIGEST)
    stored, footer = file.read(_DIGEST), file.read(length)
    if _sha(footer) != stored:
        raise DamageError
    metadata = pq.read_metadata(file).metadata or {}
    return dict(json.loads(metadata[_META]))


def _footer_start(content: bytes) -> int:
    return len(content) - _TAIL - int.from_bytes(content[-_TAIL : -_TAIL + 4], "little")


def _sha(content: bytes | memoryview) -> bytes:
    return hashlib.sha256(content).digest()


_WHOLE_UPLOADS: Final = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "memory"}
_OWNER: Final = "owner"


class Folder:
    """Objects as files of a local folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def has(self, name: str) -> bool:
        """Whether the file exists; if so it is whole."""
        return (self.root / name).is_file()

    def names(self, folder: str) -> list[str]:
        """List the files directly in a folder."""
        found = self.root / folder
        return sorted(p.name for p in found.iterdir() if p.is_file()) if found.is_dir() else []

    def folders(self, folder: str) -> list[str]:
        """List the folders directly in a folder."""
        found = self.root / folder
        return sorted(p.name for p in found.iterdir() if p.is_dir()) if found.is_dir() else []

    def sizes(self, folder: str) -> dict[str, int]:
        """Give the bytes of the files directly in a folder."""
        return {name: (self.root / folder / name).stat().st_size for name in self.names(folder)}

    def remove(self, name: str) -> None:
        """Delete a file."""
        (self.root / name).unlink(missing_ok=True)

    def put(self, name: str, content: bytes) -> None:
        """Write a file whole, or not at all."""
        write_whole(self.root / name, content)

    def get(self, name: str) -> bytes:
        """Read a file."""
        return (self.root / name).read_bytes()

    def open(self, name: str) -> BinaryIO:
        """Open a file to read parts of it."""
        return (self.root / name).open("rb")

    def move(self, name: str, new: str) -> None:
        """Rename a file."""
        (self.root / new).parent.mkdir(exist_ok=True, mode=0o700)
        (self.root / name).replace(self.root / new)

    def claim(self, folder: Path) -> None:
        """Do nothing: a folder is its own."""


class Remote:
    """Objects under an address that fsspec knows."""

    def __init__(self, url: str) -> None:
        import fsspec

        try:
            self.filesystem, self.root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise ConfigurationError(
                f"store.workspace: {url} cannot be opened: {error}. (S3: pip install radcal[s3].)"
            ) from None
        self.url = url
        # A listing may be stale: another machine writes here too.
        self.filesystem.use_listings_cache = False
        self.whole_uploads = url.partition("://")[0] in _WHOLE_UPLOADS

    def has(self, name: str) -> bool:
        """Whether an object exists; if so it is whole."""
        self.filesystem.invalidate_cache()
        return bool(self.filesystem.isfile(self._address(name)))

    def names(self, folder: str) -> list[str]:
        """List the objects directly in a folder."""
        return sorted(self.sizes(folder))

    def folders(self, folder: str) -> list[str]:
        """List the folders directly in a folder."""
        return sorted(_last(o) for o in self._listed(folder) if o["type"] == "directory")

    def sizes(self, folder: str) -> dict[str, int]:
        """Give the bytes of the objects directly in a folder."""
        return {_last(o): int(o["size"]) for o in self._listed(folder) if o["type"] == "file"}

    def remove(self, name: str) -> None:
        """Delete an object."""
        with suppress(FileNotFoundError):
            self.filesystem.rm_file(self._address(name))

    def _listed(self, folder: str) -> list[dict[str, Any]]:
        self.filesystem.invalidate_cache()
        try:
            return list(self.filesystem.ls(self._address(folder), detail=True))
        except FileNotFoundError:
            return []

    def put(self, name: str, content: bytes) -> None:
        """Upload an object; it shows only when it is whole."""
        target = self._address(name)
        if self.whole_uploads:
            self.filesystem.pipe_file(target, content)
            return
        parent, _, last = target.rpartition("/")
        hidden = f"{parent}/.{last}.{secrets.token_hex(4)}.part"
        self.filesystem.makedirs(parent, exist_ok=True)
        self.filesystem.pipe_file(hidden, content)
        self.filesystem.mv(hidden, target)

    def get(self, name: str) -> bytes:
        """Read an object."""
        return bytes(self.filesystem.cat_file(self._address(name)))

    def open(self, name: str) -> BinaryIO:
        """Open an object to read parts of it."""
        return cast("BinaryIO", self.filesystem.open(self._address(name), "rb"))

    def move(self, name: str, new: str) -> None:
        """Copy an object to another name and delete the first."""
        self.put(new, self.get(name))
        self.filesystem.rm_file(self._address(name))

    def claim(self, folder: Path) -> None:
        """Mark the prefix as this site's, or find it so.

        Raises
        ------
        ConfigurationError
            If it cannot be written, or belongs to another site.
        """
        mark = folder / "raw" / "site"
        if not mark.is_file():
            write_whole(mark, secrets.token_hex(16).encode())
        mine = mark.read_bytes()
        try:
            self._leave(mine)
            owner = self.get(_OWNER)
        except Exception as error:  # noqa: BLE001 - each store raises its own
            raise ConfigurationError(
                f"store.workspace: {self.url} cannot be used ({type(error).__name__}). Check the "
                "address, the credentials in the environment, and that this user may write there."
            ) from None
        if owner != mine:
            raise ConfigurationError(
                f"store.workspace: {self.url} belongs to another site, whose codes come from "
                f"another vault. Choose another prefix, or restore that site's folder to {folder}."
            )

    def _leave(self, mine: bytes) -> None:
        if self.has(_OWNER):
            return
        if not self.whole_uploads:  # never make a bucket
            self.filesystem.makedirs(self.root, exist_ok=True)
        with suppress(FileExistsError):
            self.filesystem.pipe_file(self._address(_OWNER), mine, mode="create")

    def _address(self, name: str) -> str:
        return f"{self.root}/{name}"


def _last(entry: Mapping[str, Any]) -> str:
    return str(entry["name"]).rstrip("/").rpartition("/")[2]
