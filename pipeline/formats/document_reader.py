"""A program that reads RTF and PDF documents for another process, in one of its own.

Documents come from outside and their formats are programs in themselves, so they are read where
memory and processor time are bounded and where a crash costs one document. It is started by
`attachments`, which says what each answer means; it writes no file and says nothing else.

Question: kind (a byte), content. Answer: outcome (a byte), UTF-8 text. Both go as bytes over the
connection that its argument numbers: nothing that a document may have got at is unpickled.
"""

from __future__ import annotations

import io
import logging
import re
import resource
import signal
import sys
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Final

import pypdf
from pypdf.errors import DependencyError, FileNotDecryptedError
from striprtf.striprtf import rtf_to_text

CPU_SECONDS: Final = 5.0
MAX_PAGES: Final = 60
MAX_CHARACTERS: Final = 2_000_000
_MEMORY_BYTES: Final = 2**30
_CODE_PAGE: Final = re.compile(rb"\\ansicpg(\d{1,5})")
_CELL: Final = re.compile(r"\\(?:nest)?cell(?![A-Za-z]) ?")
_ESCAPED: Final = re.compile(r"\\[\\{}]")
_WORD: Final = re.compile(r"[^\W\d_]{2}")
_TYPESETTING: Final = str.maketrans({"\xad": None, "\u2011": "-", "\xa0": " ", "\0": None})


def main() -> None:
    """Answer until the input ends."""
    line = Connection(int(sys.argv[1]))
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            question = line.recv_bytes()
        except EOFError:
            return
        # The default action of this signal ends the process, whatever code it is in.
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        outcome, text = answered(question[:1], question[1:])
        signal.setitimer(signal.ITIMER_PROF, 0)
        line.send_bytes(outcome + text.encode())


def answered(kind: bytes, content: bytes) -> tuple[bytes, str]:
    """Read a document; the outcome is ``t`` with its text, or a letter without."""
    try:
        text = _pdf(content) if kind == b"P" else _rtf(content, kind)
    except (DependencyError, FileNotDecryptedError):
        return b"e", ""
    except _TooLargeError:
        return b"l", ""
    except Exception:  # noqa: BLE001 - whatever a broken document makes a library raise
        return b"d", ""
    text = (
        text.translate(_TYPESETTING).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )
    if len(text) > MAX_CHARACTERS:
        return b"l", ""
    return (b"t", text) if _WORD.search(text) else (b"s", "")


class _TooLargeError(Exception):
    """A document has more pages than a report."""


def _pdf(content: bytes) -> str:
    reader = pypdf.PdfReader(io.BytesIO(content), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise FileNotDecryptedError
    if len(reader.pages) > MAX_PAGES:
        raise _TooLargeError
    return "\n".join(_pages(reader))


def _pages(reader: pypdf.PdfReader) -> Iterator[str]:
    left = MAX_CHARACTERS
    for page in reader.pages:
        text = page.extract_text()
        left -= len(text)
        if left < 0:
            raise _TooLargeError
        yield text.strip("\n")


def _rtf(content: bytes, kind: bytes) -> str:
    """Read RTF given as bytes (``R``), or as text that somebody has decoded already (``S``).

    Raises
    ------
    ValueError
        If it breaks off: half a report must not pass for a whole one.
    """
    stated = _CODE_PAGE.search(content[:4096])
    page = f"cp{stated[1].decode()}" if stated else "cp1252"
    try:
        source = content.decode("utf-8" if kind == b"S" else page, errors="replace")
    except LookupError:
        source = content.decode("cp1252", errors="replace")
    plain = _ESCAPED.sub("", source)
    if plain.count("{") > plain.count("}"):
        raise ValueError("breaks off")
    text: str = rtf_to_text(  # type: ignore[no-untyped-call]
        _CELL.sub(r"\\tab ", source), errors="replace"
    )
    return text


if __name__ == "__main__":
    main()
