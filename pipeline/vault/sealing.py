"""Encrypted pages: AES-256 PDFs (revision 6), one passphrase a recipient, from a private file.

The file named by ``[reports] passphrases`` is a CSV ``recipient, passphrase``; a recipient is a
reader's identifier as exported, a reader's code, or ``committee``. Passphrases are read where they
are used and stand in no log, ledger, manifest or task parameter; the ledger keeps a salted scrypt
mark of each, so that a changed passphrase is noticed and its reader's file delivered again (a guess
costs more against the mark than against the delivered PDF). Encrypted bytes differ from run to run
by nature (a fresh key and vector each time); what is drawn does not.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pandas as pd
import pikepdf

from pipeline.errors import ConfigurationError, RadcalError
from pipeline.formats.readers import ReaderRules
from pipeline.vault.vault import Vault

_SHORTEST: Final = 12
_COLUMNS: Final = ("recipient", "passphrase")


def passphrases(
    file: Path, recipients: Sequence[str], *, vault: Path, rules: ReaderRules
) -> dict[str, str]:
    """Give every recipient's passphrase; `vault` knows the codes of readers named as exported.

    `rules` say as whom an exported identifier is read; of a reader's several rows the last counts.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, others can read it, a passphrase is short, or a recipient has
        none.
    """
    by_code = read_passphrases(file)
    others = pd.Series([who for who in by_code if who not in recipients], dtype="str")
    if len(others):
        with Vault.open(vault, read_only=True) as codes:
            named = zip(rules.meant(others), others, strict=True)
            by_code |= {_code(each, codes): by_code[who] for each, who in named}
    missing = sorted(set(recipients) - set(by_code))
    if missing:
        raise ConfigurationError(
            f"reports.passphrases: {len(missing)} of {len(recipients)} recipients have no "
            f"passphrase; first {missing[0]}. Add them; nothing was delivered."
        )
    return {recipient: by_code[recipient] for recipient in recipients}


def seal(files: Mapping[str, bytes], passphrase: str) -> dict[str, bytes]:
    """Encrypt the PDF; what is no PDF is attached to it."""
    (name,) = [name for name in files if name.endswith(".pdf")]
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(files[name])) as pdf:
        for other, content in files.items():
            if other != name:
                pdf.attachments[other] = content
        # A random owner password: nobody but the recipient can open the file, or needs to.
        lock = pikepdf.Encryption(user=passphrase, owner=secrets.token_urlsafe(32), R=6)
        pdf.save(out, encryption=lock)
    return {name: out.getvalue()}


def mark_of(passphrase: str, *, salt: bytes | None = None) -> str:
    """Give a mark that tells whether a passphrase is still the same, and nothing else."""
    salt = secrets.token_bytes(16) if salt is None else salt
    mark = hashlib.scrypt(passphrase.encode(), salt=salt, n=2**13, r=8, p=1, dklen=32)
    return f"{salt.hex()}:{mark.hex()}"


def is_mark_of(mark: str, passphrase: str) -> bool:
    """Whether a mark was made of this passphrase."""
    return hmac.compare_digest(mark, mark_of(passphrase, salt=bytes.fromhex(mark.split(":")[0])))


def read_passphrases(path: Path) -> dict[str, str]:
    """Read recipients and their passphrases.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, others can read it, or a passphrase is missing or short.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError(
            f"reports.passphrases: {path.name} cannot be read, or is no UTF-8 text."
        ) from None
    if mode & 0o077:
        raise ConfigurationError(
            f"reports.passphrases: {path.name} can be read by others; chmod 600 it."
        )
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows or any(row.get(column) in (None, "") for row in rows for column in _COLUMNS):
        raise ConfigurationError(
            f"reports.passphrases: {path.name} needs the columns {' and '.join(_COLUMNS)}, "
            "filled in every row."
        )
    short = [i for i, row in enumerate(rows, start=2) if len(row["passphrase"]) < _SHORTEST]
    if short:
        raise ConfigurationError(
            f"reports.passphrases: {len(short)} of {len(rows)} passphrases have fewer than "
            f"{_SHORTEST} characters; first at line {short[0]}."
        )
    return {row["recipient"].strip(): row["passphrase"] for row in rows}


def _code(who: str, vault: Vault) -> str:
    """Turn a reader's identifier into a code; one nobody here has stays as it is, unused."""
    try:
        return vault.codes("reader", [who])[0]
    except RadcalError:
        return who
