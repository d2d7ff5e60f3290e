"""The one hash of plain values: keys of shards, of runs and of configurations are made with it."""

from __future__ import annotations

import hashlib
import json

__all__ = ["digest_of"]


def digest_of(*parts: object) -> str:
    """Hash any JSON-like values into 16 hexadecimal digits."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
