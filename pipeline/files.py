"""Files that are whole or absent when written, and read whether gzipped, in UTF-16 or plain.

A file is written beside its place, forced to the disk, then renamed onto it: after a kill or a
power cut the old file or the new one is there, never a part of one.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, TextIO, cast

from pipeline.errors import InputError

__all__ = ["opened", "opened_text", "replacing", "suffix_of"]

_GZIP: Final = b"\x1f\x8b"
_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def suffix_of(path: Path) -> str:
    """Give a file's extension in lower case, blind to a ``.gz`` behind it."""
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return inner.suffix.lower()


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file's bytes: gzip is unpacked, UTF-16 with a byte order mark becomes UTF-8.

    Raises
    ------
    InputError
        While reading, if a gzip file is damaged or cut short.
    """
    with _unpacked(path) as content:
        if _is_wide(content):
            content = cast("BinaryIO", codecs.EncodedFile(content, "utf-8", "utf-16", "replace"))
        yield content


@contextmanager
def opened_text(path: Path, encoding: str) -> Iterator[TextIO]:
    """Open a file's text, line ends as they are; a byte order mark outranks `encoding`.

    Raises
    ------
    InputError
        While reading, if a gzip file is damaged or cut short.
    """
    with _unpacked(path) as content:
        marked = content.read(3).startswith(codecs.BOM_UTF8)
        content.seek(0)
        chosen = "utf-16" if _is_wide(content) else "utf-8-sig" if marked else encoding
        with io.TextIOWrapper(content, encoding=chosen, newline="") as text:
            yield text


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        try:
            yield cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
        except (EOFError, zlib.error, gzip.BadGzipFile):
            msg = f"{path.name}: the gzip file is damaged or cut short; export it again."
            raise InputError(msg) from None


def _is_wide(content: BinaryIO) -> bool:
    wide = content.read(2) in _WIDE
    content.seek(0)
    return wide


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path; on success it becomes `path`, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.chmod(0o600)
        _force(partial)
        partial.replace(path)
        _force(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def _force(path: Path) -> None:
    """Have the system write a file or a folder's entries to the disk now."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
