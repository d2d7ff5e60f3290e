"""Bytes of an attachment → the report's text, or the fact that they hold none.

Plain text and markup are read; a PDF, RTF, image or anything else binary is not, whatever type the
sender declared, so that a report never becomes the source code of a document.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from pipeline.formats.markup import plain_text

__all__ = ["attached_text", "decoded_base64"]

_NO_TEXT: Final = (b"%PDF", b"{\\rtf", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"II*\x00")
_TEXT_KINDS: Final = ("", "text/", "application/xhtml", "application/xml", "application/html")
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
_URL_SAFE: Final = str.maketrans("-_", "+/")


def decoded_base64(written: str) -> bytes | None:
    """Decode base64 of either alphabet, with or without padding; None if it is none."""
    folded = "".join(written.split()).translate(_URL_SAFE).rstrip("=")
    try:
        return base64.b64decode(folded + "=" * (-len(folded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def attached_text(content: bytes, kind: str) -> str | None:
    """Give the text of an attachment.

    Parameters
    ----------
    content
        The attachment, decoded from base64.
    kind
        Its content type as declared, such as ``text/html; charset=utf-8``, or ''.

    Returns
    -------
    str or None
        None where the attachment is no text.
    """
    kind = kind.strip().casefold()
    if not any(kind == known or (known and kind.startswith(known)) for known in _TEXT_KINDS):
        return None
    if "rtf" in kind or content.lstrip()[:8].startswith(_NO_TEXT):
        return None
    text = _decoded(content, kind)
    if "\x00" in text:
        return None
    is_markup = "htm" in kind or "xml" in kind or text.lstrip()[:1] == "<"
    return plain_text(text) if is_markup else text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(content: bytes, kind: str) -> str:
    if content.startswith(_WIDE):
        return content.decode("utf-16", errors="replace")
    charset = kind.partition("charset=")[2].split(";")[0].strip(" \"'")
    for name in (charset, "utf-8-sig", "cp1252"):
        try:
            if name:
                return content.decode(name)
        except (UnicodeError, LookupError):
            continue
    return content.decode("latin-1")
