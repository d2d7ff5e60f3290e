"""Another key for a vault: every row sealed anew, every code and date shift as it was.

Codes are random and lie in the rows, so pages, tables and returned sheets stay valid. What hangs on
the key itself does not: values invented in place of identifiers (``replacement = "surrogate"``) are
others in texts that are cleaned from then on. Copies made before open with the former key only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipeline.errors import ConfigurationError
from pipeline.store.files import replacing
from pipeline.vault.codes import DOMAINS, normalised
from pipeline.vault.key import Box, Key
from pipeline.vault.vault import SCHEMA, Vault

__all__ = ["NEW_KEY_FILE_VARIABLE", "NEW_KEY_VARIABLE", "Rekeyed", "replace_key"]

NEW_KEY_FILE_VARIABLE: Final = "RADCAL_VAULT_NEW_KEY_FILE"
NEW_KEY_VARIABLE: Final = "RADCAL_VAULT_NEW_KEY"


@dataclass(frozen=True, slots=True)
class Rekeyed:
    """How many codes and date shifts lie under the new key; shifts of nobody in the vault ended."""

    codes: int
    shifts: int
    shifts_of_nobody: int


def replace_key(path: Path, old: Key, new: Key) -> Rekeyed:
    """Put a vault under another key, whole or not at all; nobody may write to it meanwhile.

    Raises
    ------
    ConfigurationError
        If there is no vault, the old key is not its key, or the new one is the old one.
    RadcalError
        If a row does not open; the vault stays as it was.
    """
    if old.material == new.material:
        msg = "The new key is the vault's own. Name another in RADCAL_VAULT_NEW_KEY_FILE."
        raise ConfigurationError(msg)
    Vault.open(path, old).close()
    with replacing(path) as partial:
        partial.touch(mode=0o600)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as target:
            target.executescript(SCHEMA)
            with target:
                _copy_meta(source, target, new)
                patients = _copy_codes(source, target, (old, new))
                shifts, lost = _copy_shifts(source, target, (old, new), patients)
                (codes,) = target.execute("SELECT count(*) FROM codes").fetchone()
    return Rekeyed(int(codes), shifts, lost)


def _copy_meta(source: sqlite3.Connection, target: sqlite3.Connection, new: Key) -> None:
    meta: Mapping[str, bytes] = dict(source.execute("SELECT name, value FROM meta"))
    sealed = {"check": Box(new).seal(b"radcal vault", "check")}
    target.executemany("INSERT INTO meta VALUES (?, ?)", {**meta, **sealed}.items())


def _copy_codes(
    source: sqlite3.Connection, target: sqlite3.Connection, keys: tuple[Key, Key]
) -> list[str]:
    """Copy every code; gives the patients' identifiers, folded."""
    old, new = map(Box, keys)
    lookups = {domain: keys[1].hmac(f"lookup/{domain}") for domain in DOMAINS}
    patients = []
    for domain, epoch, code, sealed in source.execute(
        "SELECT domain, epoch, code, sealed FROM codes"
    ):
        identifier, place = old.open(sealed, f"{domain}/{code}"), f"{domain}/{code}"
        folded = normalised(identifier.decode(), domain)
        patients += [folded] if domain == "patient" else []
        row = (domain, epoch, lookups[domain](folded), code, new.seal(identifier, place))
        target.execute("INSERT INTO codes VALUES (?, ?, ?, ?, ?)", row)
    return patients


def _copy_shifts(
    source: sqlite3.Connection,
    target: sqlite3.Connection,
    keys: tuple[Key, Key],
    patients: list[str],
) -> tuple[int, int]:
    """Copy the date shifts of these patients; gives how many, and how many were nobody's."""
    old, new = map(Box, keys)
    before, after = (key.hmac("lookup/shift") for key in keys)
    copied = 0
    for patient in patients:
        lookup, place = before(patient), after(patient)
        row = source.execute("SELECT sealed FROM shifts WHERE lookup = ?", (lookup,)).fetchone()
        if row is not None:
            days = old.open(row[0], f"shift/{lookup.hex()}")
            sealed = new.seal(days, f"shift/{place.hex()}")
            target.execute("INSERT INTO shifts VALUES (?, ?)", (place, sealed))
            copied += 1
    (in_all,) = source.execute("SELECT count(*) FROM shifts").fetchone()
    return copied, int(in_all) - copied
