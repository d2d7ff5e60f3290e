"""The vault's key: where it comes from, what is refused, and what is derived from it.

The key comes from ``RADCAL_VAULT_KEY`` or from the file that ``RADCAL_VAULT_KEY_FILE`` names,
never from a configuration file or an argument. It is at least 32 bytes, in any spelling.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pipeline.errors import ConfigurationError, RadcalError

KEY_VARIABLE: Final = "RADCAL_VAULT_KEY"
KEY_FILE_VARIABLE: Final = "RADCAL_VAULT_KEY_FILE"

MOVED: Final = "vault: a row does not open; it was changed or moved. Restore its last good copy."
_ANYBODY: Final = 0o007
"""Rights of others than owner and group; orchestrators hand a secret to a group."""
_MIN_BYTES: Final = 32
_MIN_DIFFERENT: Final = 12
_DEFAULTS: Final = (
    "changeme", "change-me", "change_me", "secret", "password", "default", "example",
)  # fmt: skip
_HOW: Final = (
    "A vault that is there opens only with the key that made it. A new key is made with "
    "`python -c 'import secrets; print(secrets.token_urlsafe(48))'`, into a file only you can read."
)


@dataclass(frozen=True, slots=True)
class Key:
    """A usable key; its material never shows in a message or a representation."""

    material: bytes = field(repr=False)

    @classmethod
    def of(cls, key: Key | str | None = None) -> Key:
        """Take the key given, or the environment's.

        Raises
        ------
        ConfigurationError
            If there is none, or it is short, repetitive or a placeholder.
        """
        if isinstance(key, Key):
            return key
        if key is None:
            return cls.named(KEY_FILE_VARIABLE, KEY_VARIABLE)
        return cls(_checked(key))

    @classmethod
    def named(cls, file_variable: str, variable: str) -> Key:
        """Take the key that the environment gives or names by these variables.

        Raises
        ------
        ConfigurationError
            If there is none, its file is open to everybody, or it is unusable.
        """
        return cls(_checked(_from_environment(file_variable, variable)))

    def derive(self, purpose: str) -> bytes:
        """Derive 32 bytes for one purpose."""
        hkdf = HKDF(algorithm=SHA256(), length=32, salt=b"radcal/1", info=purpose.encode())
        return hkdf.derive(self.material)

    def hmac(self, purpose: str) -> Callable[[str], bytes]:
        """Give a keyed hash for one purpose."""
        derived = self.derive(purpose)
        return lambda text: hmac.digest(derived, text.encode(), hashlib.sha256)


class Box:
    """Seals bytes with AES-256-GCM, bound to the place they are kept in."""

    def __init__(self, key: Key) -> None:
        self._cipher = AESGCM(key.derive("encrypt"))

    def seal(self, content: bytes, place: str) -> bytes:
        """Encrypt under a fresh random nonce, which comes first."""
        nonce = secrets.token_bytes(12)
        return nonce + self._cipher.encrypt(nonce, content, place.encode())

    def open(self, sealed: bytes, place: str) -> bytes:
        """Decrypt what was sealed for the same place.

        Raises
        ------
        RadcalError
            If it was changed, moved, or sealed with another key.
        """
        try:
            return self._cipher.decrypt(sealed[:12], sealed[12:], place.encode())
        except InvalidTag:
            raise RadcalError(MOVED) from None


def new_key() -> str:
    """Make a random key, as text to be kept in a file."""
    return secrets.token_urlsafe(48)


def _from_environment(file_variable: str, variable: str) -> str:
    name = os.environ.get(file_variable, "")
    if name:
        try:
            mode = Path(name).stat().st_mode
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"{file_variable}: the file cannot be read ({type(error).__name__})."
            ) from None
        if mode & _ANYBODY:
            raise ConfigurationError(f"{file_variable}: anybody may read the file; chmod 600 it.")
        return text
    key = os.environ.get(variable, "")
    if not key:
        raise ConfigurationError(f"No key is given: set {file_variable} or {variable}. {_HOW}")
    return key


def _checked(key: str) -> bytes:
    material = key.strip().encode()
    faults = (
        (not material, "is empty"),
        (any(word in key.casefold() for word in _DEFAULTS), "is a placeholder"),
        (len(material) < _MIN_BYTES, f"has {len(material)} bytes; it needs {_MIN_BYTES} or more"),
        (len(set(material)) < _MIN_DIFFERENT, "repeats too few characters"),
    )
    for is_so, what in faults:
        if is_so:
            raise ConfigurationError(f"The vault's key {what}. {_HOW}")
    return material
