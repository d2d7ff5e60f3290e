"""The institution's logo: a small PNG, checked before any page is drawn."""

from __future__ import annotations

import struct
from typing import Final

__all__ = ["LogoError", "check", "fitted"]

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_LARGEST_FILE: Final = 500_000
_LARGEST_SIDE: Final = 4000


class LogoError(ValueError):
    """The logo cannot be printed; the message says why and what to give instead."""


def check(png: bytes) -> tuple[int, int]:
    """Return a PNG's width and height in pixels.

    Raises
    ------
    LogoError
        When the bytes are no PNG, or too large in bytes or pixels.
    """
    if len(png) > _LARGEST_FILE:
        message = f"logo: {len(png):,} bytes; give a PNG of at most {_LARGEST_FILE:,}."
        raise LogoError(message)
    if not png.startswith(_SIGNATURE) or len(png) < 24 or png[12:16] != b"IHDR":
        message = "logo: the file is not a PNG image; convert it to PNG."
        raise LogoError(message)
    width, height = struct.unpack(">II", png[16:24])
    if not (0 < width <= _LARGEST_SIDE and 0 < height <= _LARGEST_SIDE):
        message = f"logo: {width} x {height} pixels; give at most {_LARGEST_SIDE} on a side."
        raise LogoError(message)
    return int(width), int(height)


def fitted(png: bytes, *, width: float, height: float) -> tuple[float, float]:
    """Size in points that fits a frame and keeps the image's proportions."""
    wide, tall = check(png)
    scale = min(width / wide, height / tall)
    return wide * scale, tall * scale
