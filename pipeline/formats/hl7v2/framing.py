r"""Bytes of a feed → messages: MLLP or not, \\r or \\n or both, batch headers, one or many a file.

A message begins at a line that begins with ``MSH`` and a separator. Files are read in blocks, so
memory does not grow with the file; a message over the cap is cut off and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

__all__ = ["MAX_MESSAGE_BYTES", "decoded", "messages", "segments"]

MAX_MESSAGE_BYTES: Final = 8 * 2**20
_BLOCK: Final = 2**20
_HEADER: Final = re.compile(rb"MSH(?=[^A-Za-z0-9\s])")
_HEADER_BYTES: Final = 16
_LINE_ENDS: Final = (b"\r", b"\n", b"\x0b", b"\x1c")
_BLANK: Final = b"\r\n\x0b\x1c\x00 \t\xef\xbb\xbf"
_SEGMENT: Final = re.compile(r"[A-Z][A-Z0-9]{2}(?:[^A-Za-z0-9\s]|$)")
_BATCH: Final = ("FHS", "BHS", "BTS", "FTS")


def messages(path: Path) -> Iterator[bytes]:
    """Yield each message's bytes; what stands before the first header comes as one of its own."""
    buffer, scanned = b"", 0
    with path.open("rb") as handle:
        while block := handle.read(_BLOCK):
            buffer += block
            starts = [0, *_headers(buffer, scanned)]
            # The last message may go on in the next block, and so may a header cut in two.
            for start, end in pairwise(starts):
                if buffer[start:end].strip(_BLANK):
                    yield buffer[start:end]
            buffer = buffer[starts[-1] :]
            if len(buffer) > 2 * MAX_MESSAGE_BYTES:
                buffer = buffer[: MAX_MESSAGE_BYTES + 1] + buffer[-_HEADER_BYTES:]
            scanned = max(1, len(buffer) - _HEADER_BYTES)
    if buffer.strip(_BLANK):
        yield buffer


def _headers(buffer: bytes, scanned: int) -> Iterator[int]:
    """Find where a line begins with a header, not before `scanned`."""
    for match in _HEADER.finditer(buffer, scanned):
        before = buffer[max(0, match.start() - 9) : match.start()].rstrip(b" \t")
        if match.start() and (not before or before[-1:] in _LINE_ENDS):
            yield match.start()


def decoded(message: bytes, encoding: str) -> str | None:
    """Decode a message as UTF-8, the site's encoding or cp1252; None if it is none of them."""
    for name in ("utf-8", encoding, "cp1252"):
        try:
            return message.decode(name)
        except UnicodeDecodeError:
            continue
    return None


def segments(message: str) -> list[str]:
    """Split a message into segments; a line that is none continues the one before it."""
    text = message.replace("\r\n", "\r").replace("\n", "\r")
    found: list[str] = []
    for line in text.strip("\r\x0b\x1c\x00 \t\ufeff").split("\r"):
        cleaned = line.strip("\x0b\x1c\x00")
        if _SEGMENT.match(cleaned):
            if not cleaned.startswith(_BATCH):
                found.append(cleaned)
        elif found and cleaned:
            found[-1] += "\\.br\\" + cleaned
    return found
