"""RTF and PDF documents → their text, or the reason why there is none.

They are read by `document_reader`, one process beside each that reads sources: a document that
crashes it, or needs more memory or processor time than a report can, is set aside, and the next
one is read by a new process. A PDF is read by its text layer; pages that are pictures are not.
"""

from __future__ import annotations

import atexit
import re
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from pipeline.formats.exams import SetAside

__all__ = ["MAX_DOCUMENT_BYTES", "document_text", "form_of"]

MAX_DOCUMENT_BYTES: Final = 32 * 2**20
_PROGRAM: Final = Path(__file__).with_name("document_reader.py")
_HEAD: Final = struct.Struct(">cI")
_TOO_LARGE: Final = SetAside("document_too_large", "more than a report can be")
_FAULTS: Final = {
    b"e": SetAside("encrypted_document", "it opens with a password only"),
    b"s": SetAside("scanned_document", "no text layer: its pages are pictures or empty"),
    b"d": SetAside("damaged_document", "it cannot be read, or breaks off"),
    b"l": _TOO_LARGE,
}
_SPACE: Final = b" \t\r\n\x00\xef\xbb\xbf"
_BLANK_LINES: Final = re.compile(r"\n\s*\n\s*\n+")


def form_of(content: bytes) -> str:
    """Tell "RTF" or "PDF" by a document's own first bytes, whatever is declared; else ''."""
    if b"%PDF-" in content[:1024]:
        return "PDF"
    return "RTF" if content[:64].lstrip(_SPACE).startswith(b"{\\rtf") else ""


def document_text(content: bytes | str) -> str | SetAside:
    """Read a document; RTF may come as text that was decoded already."""
    kind = b"S"
    if isinstance(content, bytes):
        kind = b"P" if form_of(content) == "PDF" else b"R"
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if len(raw) > MAX_DOCUMENT_BYTES:
        return _TOO_LARGE
    outcome, text = _READER.ask(kind, raw)
    if outcome != b"t":
        return _FAULTS[outcome]
    return _BLANK_LINES.sub("\n\n", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


class _Reader:
    """The reading process, started when first asked, and again after it ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, kind: bytes, content: bytes) -> tuple[bytes, str]:
        """Have a document read."""
        with self._lock:
            process = self._running()
            try:
                return self._asked(process, kind, content)
            except (OSError, EOFError):
                return (b"l" if self.close() == -signal.SIGPROF else b"d"), ""

    def close(self) -> int:
        """End the process; gives how it ended."""
        process, self._process = self._process, None
        if process is None:
            return 0
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue
        return process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own program, no shell
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    @staticmethod
    def _asked(process: subprocess.Popen[bytes], kind: bytes, content: bytes) -> tuple[bytes, str]:
        questions, answers = process.stdin, process.stdout
        if questions is None or answers is None:
            raise EOFError
        questions.write(_HEAD.pack(kind, len(content)) + content)
        questions.flush()
        head = answers.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise EOFError
        outcome, length = _HEAD.unpack(head)
        text = answers.read(length)
        if len(text) < length:
            raise EOFError
        return outcome, text.decode()


_READER: Final = _Reader()
atexit.register(_READER.close)
