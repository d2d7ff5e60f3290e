"""An export's file → its bytes, or its lines as text; what was in another encoding is counted.

Gzip is unpacked whatever the file is called; UTF-16 and 32 with a byte order mark become UTF-8.
``auto``: a byte order mark decides (UTF-8, UTF-16), or the zeros of UTF-16 without one. Of anything
else, a line that is valid UTF-8 is UTF-8, and any other is cp1252, the code page of Western
spreadsheets. It goes line by line so that one damaged byte changes its own line and nothing behind
it, and so that a file is read once, in blocks: memory does not grow with it.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import BinaryIO, Final, cast

from pipeline.errors import InputError
from pipeline.store.files import require_readable

AUTO: Final = "auto"
FALLBACK: Final = "cp1252"
_GZIP: Final = b"\x1f\x8b"
_UNFINISHED: Final = (".part", ".partial", ".filepart", ".tmp", ".crdownload", ".uploading", "~")
"""What programs call a file while they bring it."""
_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WIDEST: Final = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_FILLING: Final = codecs.BOM_UTF8 + b" \t\r\n\x00\x0b\x0c\x1c"
_BLOCK: Final = 2**20
_MAX_LINE_BYTES: Final = 64 * 2**20
MAX_RECORD_CHARACTERS: Final = 64 * 2**20
LONGEST: Final = 2**17
"""A line of more characters is no header, and of one over the cap so many are kept."""
_ENDS: Final = ("\n", "\r")


class Lines:
    """Lines of a text with their ends; `foreign` counts those so far that were read as cp1252."""

    def __init__(self, lines: Iterator[str] = iter(())) -> None:  # noqa: B008 - holds nothing
        self._lines = lines
        self.foreign = 0

    @classmethod
    def of(cls, content: BinaryIO) -> Lines:
        """Read bytes that are UTF-8 or, where a line is not, cp1252."""
        lines = cls()
        lines._lines = lines._decoded(content)
        return lines

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        return next(self._lines)

    def _decoded(self, content: BinaryIO) -> Iterator[str]:
        for block in _blocks(content):
            try:
                text = block.decode()
            except UnicodeDecodeError:
                for line in io.BytesIO(block):
                    yield from self._line(line)
            else:
                several = "\n" in text or "\r" in text
                yield from io.StringIO(text, newline="") if several else (text,)

    def _line(self, line: bytes) -> Iterator[str]:
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = fallback(line)
            self.foreign += 1
        yield from io.StringIO(text, newline="")


class RecordLines:
    """Lines to read, which remembers those of the present record and can take them back."""

    def __init__(self, lines: Iterable[str], *, backslash: bool) -> None:
        self._lines = iter(lines)
        self._counted = lines
        self._backslash = backslash
        self._returned: deque[str] = deque()
        self._characters = 0
        self._before = 0
        self._piece: str | None = None
        self.taken: list[str] = []
        self.cut = self.is_open = False

    def __iter__(self) -> RecordLines:
        return self

    def __next__(self) -> str:
        if not self.taken:
            self._characters, self.cut, self.is_open = 0, False, False
            self._before = self._before if self._returned else self._foreign()
        if self.cut or self._characters > MAX_RECORD_CHARACTERS:
            self.cut = True
            raise StopIteration
        line = self._returned.popleft() if self._returned else next(self._lines, None)
        if line is None:
            self.is_open = bool(self.taken)  # more of a record is asked for only within quotes
            raise StopIteration
        if self._backslash:
            line = line.replace('\\"', '""')
        if not line.endswith(_ENDS) and line is not self._piece:  # the last, or one over the cap
            for rest in self._lines:
                self._piece = line = line[:LONGEST]
                if rest.endswith(_ENDS):
                    break
        self.cut = self.is_open = line is self._piece
        self.taken.append(line)
        self._characters += len(line)
        return line

    @property
    def is_foreign(self) -> bool:
        """Whether a line of the present record was in another encoding."""
        return self._foreign() > self._before

    def _foreign(self) -> int:
        return int(getattr(self._counted, "foreign", 0))

    def give_back(self, first: int) -> None:
        """Put the present record's lines from `first` on back in front."""
        self._returned.extendleft(reversed(self.taken[first:]))
        self.taken.clear()


def require_file(path: Path) -> None:
    """Refuse a file that is missing or empty.

    Raises
    ------
    InputError
        If it is.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file.")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name}: the file is empty.")


def blank(path: Path) -> bool:
    """Tell a file in which nothing stands but a byte order mark, blanks or zeros."""
    if not path.is_file():
        return False
    with opened(path) as content:
        return not content.read(_BLOCK).strip(_FILLING) and not content.read(1)


def files_of(source: Path, *, unfinished: bool = False) -> list[Path]:
    """Give a file itself; of a folder its files and those of all folders in it, by name.

    What is hidden (``.DS_Store``, ``.git``) is none of them, nor what is still being written, by
    its name; where `unfinished`, those alone.

    Raises
    ------
    StorageError
        If a folder may not be read.
    InputError
        If something is neither file nor folder, or has a name that cannot be told.
    """
    whole = [source]
    if source.is_dir():
        below = (p for p in source.rglob("*") if "/." not in f"/{p.relative_to(source).as_posix()}")
        is_file = {path: path.is_file() for path in below}
        for folder in (source, *(path for path in is_file if not is_file[path])):
            require_readable(folder)
        whole = sorted(path for path in is_file if is_file[path] or not path.is_dir())
    for path in whole:
        _require_regular(path, path.relative_to(source.parent))
    return [p for p in whole if p.name.lower().endswith(_UNFINISHED) == unfinished]


def _require_regular(path: Path, name: Path) -> None:
    """Refuse a dead link, a pipe (a run would wait at it for ever) and a name that is no text."""
    shown = str(name).encode(errors="backslashreplace").decode()
    if (path.is_symlink() or path.exists()) and not (path.is_file() or path.is_dir()):
        leads = path.is_symlink() and not path.exists()
        kind = "a link to what is not there (a drive?)" if leads else "neither a file nor a folder"
        raise InputError(f"{shown}: {kind}. Bring the export as a file, or take this away.")
    if shown != str(name):
        told = "the name is not UTF-8 as this user's locale has it"
        raise InputError(f"{shown}: {told}. Rename it, or set LC_ALL=C.UTF-8.")


def content_digest(path: Path) -> str:
    """Hash a file's content, once until it is written again or another takes its place."""
    at = path.stat()
    return _digest_at(path, (at.st_ino, at.st_mtime_ns, at.st_ctime_ns, at.st_size))


@lru_cache(maxsize=200_000)
def _digest_at(path: Path, _state: tuple[int, ...]) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


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
        if wide := _wide(content):
            content = cast("BinaryIO", codecs.EncodedFile(content, "utf-8", wide, "replace"))
        yield content


@contextmanager
def opened_lines(path: Path, encoding: str) -> Iterator[Lines]:
    """Open a file's lines in a named encoding, which a byte order mark outranks, or find it out.

    Raises
    ------
    InputError
        While reading, if a gzip file is damaged or cut short.
    UnicodeDecodeError
        While reading, if an encoding was named and the file is not of it.
    """
    if encoding.casefold() == AUTO:
        with opened(path) as content:
            yield Lines.of(content)
        return
    with _unpacked(path) as content:
        marked = content.read(3).startswith(codecs.BOM_UTF8)
        content.seek(0)
        wide = _wide(content)
        chosen = wide if wide in _MARKED else "utf-8-sig" if marked else encoding
        with io.TextIOWrapper(content, encoding=chosen, newline="") as text:
            yield Lines(iter(partial(text.readline, _MAX_LINE_BYTES), ""))


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        try:
            yield cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise InputError(
                f"{path.name}: the gzip file is damaged or cut short; export it again."
            ) from None


_MARKED: Final = ("utf-16", "utf-32")
_BY_ZEROS: Final = {
    "x0x0": "utf-16-le", "0x0x": "utf-16-be", "x000": "utf-32-le", "000x": "utf-32-be",
}  # fmt: skip
"""Where zeros stand among the first four bytes of plain letters."""


def _wide(content: BinaryIO) -> str:
    """Give the UTF-16 or 32 that a mark names, or the first letters show; '' for any other."""
    start = content.read(4)
    content.seek(0)
    return wide_of(start)


def wide_of(start: bytes) -> str:
    """Give the UTF-16 or 32 that a text's first four bytes are of; '' for any other."""
    if start in _WIDEST:
        return "utf-32"
    if start[:2] in _WIDE:
        return "utf-16"
    return _BY_ZEROS.get("".join("x0"[byte == 0] for byte in start), "")


def fallback(content: bytes) -> str:
    """Decode cp1252; the five bytes that it leaves undefined become the replacement sign."""
    return content.decode(FALLBACK, errors="replace")


def _blocks(content: BinaryIO) -> Iterator[bytes]:
    """Yield blocks that end where a line ends; a line over the cap is cut between characters."""
    rest, size, is_first = list[bytes](), 0, True
    while block := content.read(_BLOCK):
        block = block.removeprefix(codecs.BOM_UTF8) if is_first else block
        is_first = False
        # A carriage return at the very end may be half of a line end.
        end = 1 + max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - 1))
        if not end and size + len(block) > _MAX_LINE_BYTES:
            end = _between_characters(block)
        if end:
            yield b"".join((*rest, block[:end]))
            rest, size = [], 0
        rest.append(block[end:])
        size += len(rest[-1])
    if size:
        yield b"".join(rest)


def _between_characters(block: bytes) -> int:
    """Give a place near the end where no UTF-8 character is cut in two."""
    starts = (at for at in range(len(block) - 1, len(block) - 5, -1) if block[at] & 0xC0 != 0x80)
    return next(starts, len(block))
