"""The vault: random codes for identifiers, and each patient's date shift, encrypted row by row.

A code is random, never derived from what it stands for (45 CFR 164.514(c)). To find an identifier
again without storing it readable, a row is looked up by HMAC-SHA-256 over the normalised
identifier, under a key derived separately for each domain (patient, study, reader, ...), so that
the same number in two domains cannot be linked. The identifier itself and the patient's date
shift lie in the row encrypted with AES-256-GCM, bound to their place by associated data: a row
moved to another domain, code or epoch of reader codes does not open; nor does a vault that states
another epoch, or other replacements of its key, than were sealed in it.

    key (>= 32 bytes, environment or file) --HKDF--> check · encryption · one lookup key per domain

The file is SQLite, 0600, and may be opened read-only by any number of processes at once. A process
killed while it writes leaves the vault as it was before; `copy_to` makes a copy at any time.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from pipeline.errors import ConfigurationError, InputError, RadcalError
from pipeline.store.files import replacing, require_folder
from pipeline.vault.codes import DOMAINS, Domain, normalised, random_code
from pipeline.vault.key import MOVED, Box, Key
from pipeline.vault.shifts import Room, random_shift

_CHUNK: Final = 500
_CACHE_KIB: Final = 64 * 1024
_DAMAGED: Final = "not a vault of this program, or a damaged one. Restore its newest copy."
# What a vault says of itself that a former version made, whose epochs are not bound to the key.
_UNBOUND: Final = b"radcal vault"
SCHEMA: Final = Path(__file__).with_name("vault.sql").read_text(encoding="utf-8")
"""The tables of a new vault."""


def place_of(domain: str, epoch: int, code: str) -> str:
    """Give the place that a code's row is bound to."""
    return f"{domain}/{epoch}/{code}" if epoch else f"{domain}/{code}"


def stated_of(meta: Mapping[str, Any]) -> bytes:
    """Give what a vault says of itself, to be sealed: its epoch, and how many keys it had."""
    return b"%s %d %d" % (_UNBOUND, int(meta["reader_epoch"]), int(meta.get("keys", 0)))


class Vault:
    """One site's codes; make or open it with `create`, `open` or `ensure`."""

    def __init__(self, connection: sqlite3.Connection, key: Key, *, read_only: bool) -> None:
        self._db = connection
        self._key = key
        self._read_only = read_only
        self._box = Box(key)
        self._lookups = {domain: key.hmac(f"lookup/{domain}") for domain in DOMAINS}
        self._shift_lookup = key.hmac("lookup/shift")
        self._mark = key.hmac("mark/text")

    @classmethod
    def create(cls, path: Path, key: Key | str | None = None) -> Vault:
        """Make a new vault.

        Raises
        ------
        ConfigurationError
            If a vault is there already, or the key is missing, short or a default.
        """
        chosen = Key.of(key)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Made whole under another name: a kill leaves no half vault, and of two processes that
        # make one at once the second finds the first's.
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".vault-") as folder:
            new = Path(folder) / path.name
            new.touch(mode=0o600)
            connection = sqlite3.connect(new)
            connection.executescript(SCHEMA)
            sealed = Box(chosen).seal(stated_of({"reader_epoch": 0}), "check")
            with connection:
                connection.execute("INSERT INTO meta VALUES ('check', ?)", (sealed,))
                connection.execute("INSERT INTO meta VALUES ('reader_epoch', ?)", (b"0",))
                connection.execute("INSERT INTO meta VALUES ('months', 'site')")
            connection.close()
            try:
                path.hardlink_to(new)
            except FileExistsError:
                told = f"{path.name}: a vault is here already; open it, or choose another folder."
                raise ConfigurationError(told) from None
            except OSError:  # a file system without links
                new.rename(path)
        return cls.open(path, chosen)

    @classmethod
    def open(cls, path: Path, key: Key | str | None = None, *, read_only: bool = False) -> Vault:
        """Open an existing vault.

        Raises
        ------
        ConfigurationError
            If there is none, the key is unusable, or it is not this vault's key.
        """
        chosen = Key.of(key)
        if not path.is_file():
            raise ConfigurationError(f"{path}: no vault here. Restore it; a first run makes one.")
        # A writer that was killed left its journal: only who may write can take it back.
        if read_only and path.with_name(f"{path.name}-journal").exists():
            cls.open(path, chosen).close()
        mode = "ro" if read_only else "rw"
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=30)
        if not read_only:
            connection.execute("PRAGMA secure_delete = ON")
        vault = cls(connection, chosen, read_only=read_only)
        vault._check_key(path)
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        return vault

    @classmethod
    def ensure(cls, path: Path, key: Key | str | None = None) -> Vault:
        """Open the vault, or make it if there is none."""
        if not path.exists():
            try:
                return cls.create(path, key)
            except ConfigurationError:
                if not path.exists():
                    raise  # else another process made it meanwhile
        return cls.open(path, key)

    def codes(self, domain: Domain, identifiers: Sequence[str]) -> list[str]:
        """Give each identifier's code, making those that are new; '' stays ''.

        Raises
        ------
        RadcalError
            If a code is needed that a vault opened read-only does not have.
        """
        epoch = self._epoch(domain)
        lookups = [self._lookup(domain, each) for each in identifiers]
        wanted = {lookup: each for lookup, each in zip(lookups, identifiers, strict=True) if lookup}
        found = self._stored_codes(domain, epoch, wanted)
        missing = {lookup: each for lookup, each in wanted.items() if lookup not in found}
        if missing:
            found |= self._add_codes(domain, epoch, missing)
        return [found[lookup] if lookup else "" for lookup in lookups]

    def rename(self, domain: Domain, changed: Mapping[str, str]) -> None:
        """Let codes stand for identifiers that changed, so that what holds a code stays true.

        Parameters
        ----------
        changed
            Identifier → what it is now; one that has a code of its own already keeps that.
        """
        self._must_write()
        epoch = self._epoch(domain)
        now = {self._lookup(domain, old): new for old, new in changed.items()}
        with self._db:
            for lookup, code in self._stored_codes(domain, epoch, now).items():
                place, new = place_of(domain, epoch, code), now[lookup]
                row = (self._lookup(domain, new), self._box.seal(new.encode(), place))
                self._db.execute(
                    "UPDATE OR IGNORE codes SET lookup = ?, sealed = ? "
                    "WHERE domain = ? AND epoch = ? AND lookup = ?",
                    (*row, domain, epoch, lookup),
                )

    def known_codes(self, domain: Domain, identifiers: Iterable[str]) -> dict[str, int]:
        """Give the codes of those identifiers that have one, of every epoch, and which epoch."""
        wanted = {self._lookup(domain, each) for each in identifiers}
        every = range(self._epoch(domain) + 1)
        return {c: e for e in every for c in self._stored_codes(domain, e, wanted).values()}

    def shift_days(
        self, patient_ids: Sequence[str], rooms: Sequence[Room | None] = ()
    ) -> list[int]:
        """Give each patient's date shift in days, -365 to 365 and never 0; stable for ever.

        A new one has others like it within the patient's room (`codes.random_shift`).
        """
        lookups = [self._shift_lookup(normalised(each)) for each in patient_ids]
        wanted = dict.fromkeys(lookups)
        found = self._stored_shifts(wanted)
        known = dict(zip(lookups, rooms, strict=True)) if rooms else {}
        missing = {lookup: known.get(lookup) for lookup in wanted if lookup not in found}
        if missing:
            found |= self._add_shifts(missing)
        return [found[lookup] for lookup in lookups]

    def marks(self, texts: Iterable[str]) -> list[str]:
        """Give a keyed hash of each text, by which equal texts (white space aside) are recognised.

        Without the key nobody can test a guess of what a text said.
        """
        return [self._mark(" ".join(text.split())).hex()[:16] for text in texts]

    def identifier_for(self, domain: Domain, code: str, which: str = "") -> str:
        """Give the identifier behind one code, of whichever epoch; `which` names it in a message.

        Raises
        ------
        InputError
            If no such code was ever given.
        """
        row = self._db.execute(
            "SELECT sealed, epoch FROM codes WHERE domain = ? AND code = ?", (domain, code)
        ).fetchone()
        if row is None:
            told = "not in this vault. Check the code and its domain."
            raise InputError(f"{domain} code{which}: {told}")
        return self._box.open(row[0], place_of(domain, row[1], code)).decode()

    @staticmethod
    def stated(path: Path) -> tuple[int, int, int, bool]:
        """Give the epoch of its reader codes, and how often codes came and its key was replaced.

        And whether months are the site's, or UTC's as up to 0.9.0. No key is needed.

        Raises
        ------
        ConfigurationError
            If the file is no vault.
        """
        try:
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
                said = dict(db.execute("SELECT name, value FROM meta"))
                epoch = int(said["reader_epoch"])
                counts = int(said.get("times", 0)), int(said.get("keys", 0))
                return epoch, *counts, "months" in said
        except (sqlite3.DatabaseError, KeyError):
            raise ConfigurationError(f"{path.name}: {_DAMAGED}") from None

    def rotate_readers(self) -> int:
        """Begin a new epoch of reader codes, so that old pages do not decode new ones."""
        self._must_write()
        epoch = self._epoch("reader") + 1
        with self._db:
            row = ("reader_epoch", str(epoch).encode())
            self._db.execute("REPLACE INTO meta VALUES (?, ?)", row)
            self._seal()
        return epoch

    def forget(self, domain: Domain, identifiers: Iterable[str]) -> int:
        """Delete the codes of identifiers past their retention; returns how many rows went."""
        self._must_write()
        gone = 0
        with self._db:
            for each in identifiers:
                lookup = self._lookup(domain, each)
                gone += self._db.execute(
                    "DELETE FROM codes WHERE domain = ? AND lookup = ?", (domain, lookup)
                ).rowcount
                if domain == "patient":
                    shift = self._shift_lookup(normalised(each))
                    self._db.execute("DELETE FROM shifts WHERE lookup = ?", (shift,))
        return gone

    def copy_to(self, path: Path) -> None:
        """Copy the whole vault as it is now, while others may be writing to it.

        Raises
        ------
        ConfigurationError
            If there is a file already, or no folder for it.
        """
        require_folder(path)
        if path.exists():
            raise ConfigurationError(f"{path}: a file is there, left as it is. Name another.")
        with replacing(path) as partial:
            target = sqlite3.connect(partial)
            self._db.backup(target)
            target.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Vault:
        """Use the vault for the length of a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def _epoch(self, domain: Domain) -> int:
        if domain != "reader":
            return 0
        row = self._db.execute("SELECT value FROM meta WHERE name = 'reader_epoch'").fetchone()
        return int(row[0])

    def _lookup(self, domain: Domain, identifier: str) -> bytes:
        folded = normalised(identifier, domain)
        return self._lookups[domain](folded) if folded else b""

    def _stored_codes(
        self, domain: Domain, epoch: int, lookups: Iterable[bytes]
    ) -> dict[bytes, str]:
        query = (
            "SELECT lookup, code, sealed FROM codes WHERE domain = ? AND epoch = ? AND lookup IN "
        )
        found = {}
        for lookup, code, sealed in self._rows(query, (domain, epoch), lookups):
            identifier = self._box.open(sealed, place_of(domain, epoch, code)).decode()
            if self._lookup(domain, identifier) != lookup:
                raise RadcalError(MOVED)
            found[lookup] = code
        return found

    def _stored_shifts(self, lookups: Iterable[bytes]) -> dict[bytes, int]:
        rows = self._rows("SELECT lookup, sealed FROM shifts WHERE lookup IN ", (), lookups)
        return {at: int(self._box.open(sealed, f"shift/{at.hex()}")) for at, sealed in rows}

    def _rows(
        self, query: str, first: tuple[object, ...], lookups: Iterable[bytes]
    ) -> Iterator[tuple[Any, ...]]:
        """Ask for many rows, some at a time."""
        wanted = list(lookups)
        for at in range(0, len(wanted), _CHUNK):
            some = wanted[at : at + _CHUNK]
            yield from self._db.execute(f"{query}({','.join('?' * len(some))})", (*first, *some))

    def _add_codes(
        self, domain: Domain, epoch: int, missing: Mapping[bytes, str]
    ) -> dict[bytes, str]:
        self._must_write()
        rows = []
        for lookup, identifier in sorted(missing.items()):
            code = random_code(domain)
            sealed = self._box.seal(identifier.encode(), place_of(domain, epoch, code))
            rows.append((domain, epoch, lookup, code, sealed))
        with self._db:
            self._db.executemany(
                "INSERT INTO codes VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (domain, epoch, lookup) DO NOTHING",
                rows,
            )
            self._db.execute(
                "INSERT INTO meta VALUES ('times', 1) "
                "ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
            )
        return self._stored_codes(domain, epoch, missing)

    def _add_shifts(self, missing: Mapping[bytes, Room | None]) -> dict[bytes, int]:
        self._must_write()
        rows = [
            (lookup, self._box.seal(str(random_shift(room)).encode(), f"shift/{lookup.hex()}"))
            for lookup, room in sorted(missing.items())
        ]
        with self._db:
            self._db.executemany(
                "INSERT INTO shifts VALUES (?, ?) ON CONFLICT (lookup) DO NOTHING", rows
            )
        return self._stored_shifts(missing)

    def _must_write(self) -> None:
        if self._read_only:
            raise RadcalError("vault: opened read-only; only de-identification gives new codes.")

    def _check_key(self, path: Path) -> None:
        try:
            sealed, stated = self._check()
        except (sqlite3.DatabaseError, KeyError, ValueError):
            raise ConfigurationError(f"{path.name}: {_DAMAGED}") from None
        try:
            said = self._box.open(sealed, "check")
        except RadcalError:
            raise ConfigurationError(
                f"{path.name}: the key given is not this vault's key. "
                "Set RADCAL_VAULT_KEY_FILE to that under which it was put last."
            ) from None
        if said == _UNBOUND and self._read_only:
            Vault.open(path, self._key).close()
        elif said == _UNBOUND:
            self._bind()
        elif said != stated:
            raise RadcalError(MOVED)

    def _check(self) -> tuple[bytes, bytes]:
        """Give what the vault says of itself as it was sealed, and as its rows state it."""
        meta = dict(self._db.execute("SELECT name, value FROM meta"))
        return meta["check"], stated_of(meta)

    def _bind(self) -> None:
        """Bind to the key the epochs of a vault that a former version made."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            if self._box.open(self._check()[0], "check") == _UNBOUND:  # as no other process left it
                rows = self._db.execute("SELECT epoch, code, sealed FROM codes WHERE epoch > 0")
                for epoch, code, old in rows.fetchall():
                    reader = self._box.open(old, place_of("reader", 0, code))
                    new = self._box.seal(reader, place_of("reader", epoch, code))
                    self._db.execute("UPDATE codes SET sealed = ? WHERE code = ?", (new, code))
                self._seal()

    def _seal(self) -> None:
        sealed = self._box.seal(self._check()[1], "check")
        self._db.execute("UPDATE meta SET value = ? WHERE name = 'check'", (sealed,))
