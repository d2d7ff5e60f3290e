"""Where shards lie: a folder, or any address that fsspec knows (``s3://bucket/prefix``).

An object is whole or absent on both. A folder gets a temporary file that is renamed; an object
store has no rename and needs none, because it shows an object only once the upload is complete;
on other remote file systems (SFTP, HDFS) the upload goes to a hidden name and is moved. An object's
name is a hash of all that went into it, so whoever writes it twice writes the same.

A prefix belongs to one site: the first run leaves a marker there (a conditional put where the
store has one) that only the same local folder, and so the same vault and the same lock, matches.
Credentials come from the environment, never from the address.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, cast

from pipeline.errors import ConfigurationError
from pipeline.store.files import replacing

__all__ = ["Folder", "Objects", "Remote", "objects"]

_WHOLE_UPLOADS: Final = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "memory"}
_OWNER: Final = "owner"


class Objects(Protocol):
    """Named objects, each whole or absent."""

    def has(self, name: str) -> bool:
        """Whether an object exists."""

    def names(self, folder: str) -> list[str]:
        """List the objects directly in a folder, by name, sorted."""

    def folders(self, folder: str) -> list[str]:
        """List the folders directly in a folder, by name, sorted."""

    def sizes(self, folder: str) -> dict[str, int]:
        """Give the bytes of every object directly in a folder, by name."""

    def remove(self, name: str) -> None:
        """Delete an object; none there is fine."""

    def put(self, name: str, content: bytes) -> None:
        """Store an object."""

    def get(self, name: str) -> bytes:
        """Read an object."""

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open an object to read parts of it."""

    def move(self, name: str, new: str) -> None:
        """Give an object another name."""

    def claim(self, folder: Path) -> None:
        """Make the place ready for the site whose local folder this is."""


def objects(root: Path, url: str | None) -> Objects:
    """Open the place where a workspace's shards lie."""
    return Folder(root) if url is None else Remote(url)


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
        with replacing(self.root / name) as partial:
            partial.write_bytes(content)

    def get(self, name: str) -> bytes:
        """Read a file."""
        return (self.root / name).read_bytes()

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
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
            msg = f"store.workspace: {url} cannot be opened: {error}. (S3: pip install radcal[s3].)"
            raise ConfigurationError(msg) from None
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

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
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
            with replacing(mark) as partial:
                partial.write_text(secrets.token_hex(16), encoding="ascii")
        mine = mark.read_bytes()
        try:
            self._leave(mine)
            owner = self.get(_OWNER)
        except Exception as error:  # noqa: BLE001 - each store raises its own
            msg = (
                f"store.workspace: {self.url} cannot be used ({type(error).__name__}). Check the "
                "address, the credentials in the environment, and that this user may write there."
            )
            raise ConfigurationError(msg) from None
        if owner != mine:
            msg = (
                f"store.workspace: {self.url} belongs to another site, whose codes come from "
                f"another vault. Choose another prefix, or restore that site's folder to {folder}."
            )
            raise ConfigurationError(msg)

    def _leave(self, mine: bytes) -> None:
        if self.has(_OWNER):
            return
        if not self.whole_uploads:  # never make a bucket
            self.filesystem.makedirs(self.root, exist_ok=True)
        try:
            self.filesystem.pipe_file(self._address(_OWNER), mine, mode="create")
        except FileExistsError:
            return

    def _address(self, name: str) -> str:
        return f"{self.root}/{name}"


def _last(entry: Mapping[str, Any]) -> str:
    return str(entry["name"]).rstrip("/").rpartition("/")[2]
