"""Attachments: documents, messages of several parts, markup → text, or why they hold none.

Documents (RTF, PDF) are read by `document_reader`, one process beside each that reads sources: a
document that crashes it, or needs more memory or processor time than a report can, is set aside,
and the next one is read by a new process. A PDF is read by its text layer; pages that are pictures
are not.

What a document is, its first bytes say; the declared type is asked only where they do not, so that
a report never becomes the source code of a document. Where a report comes in several forms, the
first of `FORMS` that can be read whole is taken, with all its parts.
"""

from __future__ import annotations

import atexit
import base64
import binascii
import hashlib
import quopri
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from pipeline.formats.decoding import wide_of
from pipeline.formats.exams import SetAside
from pipeline.formats.markup import (
    clinical_text,
    is_clinical,
    plain_text,
    with_tags,
    without_marks,
)
from pipeline.formats.values import data

MAX_DOCUMENT_BYTES: Final = 32 * 2**20
_PROGRAM: Final = Path(__file__).with_name("document_reader.py")
_FAULTS: Final = {k.encode(): SetAside(*v) for k, v in data("remedies")["document"].items()}
_TOO_LARGE: Final = _FAULTS[b"l"]
_SPACE: Final = b" \t\r\n\x00\xef\xbb\xbf"
_EMPTY_LINES: Final = re.compile(r"\n\s*\n\s*\n+")


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
    return _EMPTY_LINES.sub("\n\n", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


class _Reader:
    """The reading process, started when first asked, and again after it ended."""

    def __init__(self) -> None:
        self._running: tuple[subprocess.Popen[bytes], Connection] | None = None
        self._lock = threading.Lock()

    def ask(self, kind: bytes, content: bytes) -> tuple[bytes, str]:
        """Have a document read."""
        with self._lock:
            _, line = self._running = self._running or _started()
            try:
                line.send_bytes(kind + content)
                answer = line.recv_bytes()
            except (OSError, EOFError):
                return (b"l" if self.close() == -signal.SIGPROF else b"d"), ""
        return answer[:1], answer[1:].decode()

    def close(self) -> int:
        """End the process; gives how it ended."""
        if self._running is None:
            return 0
        (process, line), self._running = self._running, None
        line.close()
        return process.wait()


def _started() -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(  # noqa: S603 - our own program, no shell
            [sys.executable, "-P", str(_PROGRAM), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # libraries may print
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    return process, ours


_READER: Final = _Reader()
atexit.register(_READER.close)


FORMS: Final = ("text", "markup", "RTF", "PDF")
"""Forms of a report, the preferred one first: less is lost, and less is added, in the plainer."""
NOT_TEXT: Final = SetAside("only_attachment", "a pointer, or a document of a kind that is not read")
_NO_TEXT: Final = (b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"II*\x00", b"\xd0\xcf\x11\xe0")
_TEXT_KINDS: Final = ("text/", "application/xhtml", "application/xml", "application/html")
_LATIN_1: Final = ("iso-8859-1", "latin-1", "latin1", "iso8859-1")
"""Who says so writes Windows' quotation marks and dashes too."""
_URL_SAFE: Final = str.maketrans("-_", "+/")
CODED_DOCUMENTS: Final = ("JVBERi0", "e1xydGY")
"""How base64 of a PDF and of RTF begins."""
_START: Final = 256
"""So many bytes tell an HTML page, whatever it is declared to be."""
_MESSAGE: Final = re.compile(rb"(?i)(?:MIME-Version|Content-Type)[ \t]{0,4}:")
"""How a message of several parts begins."""
_DEEPEST: Final = 2
_LONGEST_HEAD: Final = 2**14
_PAGES: Final = (
    "<!doctype html", "<html", "<body", "<div", "<p>", "<p ", "<font", "<span", "<table", "<pre>",
)  # fmt: skip
_BEFORE: Final = re.compile(r"\s*(?:<!--[^>]{0,400}-->\s*)?")
"""What may stand before a page: blanks, and what its generator remarks."""
_ADDRESS: Final = re.compile(r"^\s*data:[\w/+.;=-]{0,100};base64,")
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/_-]{4,}[\r\n]{0,2})+={0,2}\s*")
_HEXADECIMAL: Final = re.compile(r"(?:0x|\\x)?((?:[0-9A-Fa-f]{2}){24,})\s*")
_SHORTEST: Final = 48
"""No word of a report is so long."""
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufffd]")
_QUOTED: Final = re.compile(r"=0D=0A|=0A|=C3=[89AB][0-9A-F]")
"""What stands in quoted-printable text and hardly in any other."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment's bytes, and its type as declared (``text/html; charset=utf-8``) or ''."""

    content: bytes
    kind: str = ""

    @property
    def form(self) -> str:
        """One of `FORMS`, or '' where it is none that is read."""
        if found := form_of(self.content):
            return found
        kind = self.kind.strip().casefold()
        if self.content.lstrip()[:8].startswith(_NO_TEXT) or "rtf" in kind:
            return ""
        head = _decoded(self.content[:_LONGEST_HEAD], "")
        page = head.lstrip()[:_START].casefold().startswith(_PAGES) or is_clinical(head)
        if not page and kind and not kind.startswith(_TEXT_KINDS):
            return ""
        text = _decoded(self.content, kind)
        if "\x00" in text:
            return ""
        marked = page or "htm" in kind or "xml" in kind or text.lstrip()[:1] == "<"
        return "markup" if marked else "text"

    def read(self, form: str) -> str | SetAside:
        """Give its text, read as the form it is of."""
        if form in ("RTF", "PDF"):
            return document_text(self.content)
        text = _decoded(self.content, self.kind.strip().casefold())
        if form == "markup" and is_clinical(text):
            text = clinical_text(text)[0]
        elif form == "markup":
            text = plain_text(with_tags(text))
        elif isinstance(found := text_in_cell(text), SetAside):
            return found
        else:
            text = found[0]
        return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The parts that make up a report, each with its place among the attachments; their form."""

    parts: tuple[tuple[int, str], ...]
    form: str

    @property
    def document(self) -> str:
        """The form where it is that of a document, else ''."""
        return self.form if self.form in ("RTF", "PDF") else ""


def chosen(attachments: Sequence[Attachment]) -> Chosen | SetAside:
    """Read the plainest form that is whole; else say what is wrong with the first document."""
    inner = [(i, part) for i, each in enumerate(attachments) for part in _opened(each)]
    faults: list[SetAside] = []
    for form in FORMS:
        read = [(i, part.read(form)) for i, part in inner if part.form == form]
        bad = [text for _, text in read if isinstance(text, SetAside)]
        faults += bad
        parts = _distinct([(i, t) for i, t in read if isinstance(t, str) and t.strip()])
        if parts and not bad:
            return Chosen(parts, form)
    return faults[0] if faults else NOT_TEXT


def _opened(attachment: Attachment, depth: int = 0) -> Iterator[Attachment]:
    """Give an attachment's parts where it is a message of several, or holds another document."""
    content = attachment.content
    if depth < _DEEPEST and _MESSAGE.match(content[:_START]):
        for part in _parts(content):
            yield from _opened(part, depth + 1)
        return
    text = _decoded(content[:_LONGEST_HEAD], attachment.kind.strip().casefold())
    if depth < _DEEPEST and is_clinical(text):
        whole = _decoded(content, attachment.kind.strip().casefold())
        inside, kind, representation = clinical_text(whole)
        if representation.upper() == "B64":
            yield Attachment(decoded_base64(inside) or b"", kind)
            return
    yield attachment


def _parts(message: bytes) -> list[Attachment]:
    """Give what a message of several parts encloses; nothing where it is nested beyond reason."""
    try:
        found = [(p, p.get_payload(decode=True)) for p in message_from_bytes(message).walk()]
    except RecursionError:
        return []
    return [
        Attachment(inner, f"{part.get_content_type()}; charset={part.get_content_charset('')}")
        for part, inner in found
        if isinstance(inner, bytes) and inner.strip()
    ]


def decoded_base64(written: str) -> bytes | None:
    """Decode base64 of either alphabet, with or without padding; None if it is none."""
    written = _ADDRESS.sub("", written[:_START]) + written[_START:]
    folded = "".join(written.split()).translate(_URL_SAFE).rstrip("=")
    try:
        return base64.b64decode(folded + "=" * (-len(folded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def bytes_of(data: str, encoding: str) -> bytes | None:
    """Give a document's bytes from data of a stated encoding; None where they are of another."""
    if encoding == "base64" or data.lstrip().startswith(CODED_DOCUMENTS):
        return decoded_base64(data)
    if encoding == "quoted-printable":
        return quopri.decodestring(data.encode())
    if encoding == "hex":
        try:
            return bytes.fromhex(data)
        except ValueError:
            return None
    return data.encode()


def is_as_stated(content: bytes, size: object, digest: str) -> bool:
    """Tell whether content has the size, and the SHA-1 in base64, that are stated, if they are.

    Some state for the bytes the characters, those with Windows' line ends, or the length in base64;
    a digest of another length is of another kind.
    """
    length, characters = len(content), len(content.decode("utf-8", "ignore"))
    known = (length, characters, length + content.count(b"\n"), len(base64.b64encode(content)))
    if isinstance(size, int) and size > 0 and size not in known:
        return False
    stated = decoded_base64(digest) or b""
    real = hashlib.sha1(content, usedforsecurity=False).digest()
    return len(stated) != len(real) or stated == real


def text_in_cell(cell: str) -> tuple[str, str] | SetAside:
    """Read a cell of text that may be a document: RTF, HTML, or either or a PDF in base64.

    Returns
    -------
    tuple of str, or SetAside
        The text, and its form where it was none; why the document could not be read.
    """
    bare = cell.lstrip(" \t\r\n\ufeff")
    if bare.startswith("{\\rtf"):
        text = document_text(bare)
        return text if isinstance(text, SetAside) else (text, "RTF")
    content, head = _coded(bare), bare[:_START].encode("utf-8", "replace")
    if content is not None or is_clinical(cell) or _MESSAGE.match(head):
        found = chosen([Attachment(content or bare.encode("utf-8", "replace"))])
        return found if isinstance(found, SetAside) else (found.parts[0][1], found.form)
    if bare.startswith(CODED_DOCUMENTS):
        return SetAside("bad_attachment", "base64 that is none")
    if "=" in cell and _QUOTED.search(cell):
        cell = quopri.decodestring(cell.encode("utf-8", "replace")).decode("utf-8", "replace")
    cell = with_tags(cell)
    if _BEFORE.sub("", cell[:_LONGEST_HEAD], count=1).casefold().startswith(_PAGES):
        return plain_text(cell), "markup"
    return without_marks(cell), ""


def _coded(cell: str) -> bytes | None:
    """Give what a cell holds as base64 or in hexadecimal figures, if that is all it holds."""
    if cell.startswith(CODED_DOCUMENTS) or _ADDRESS.match(cell[:_START]):
        return decoded_base64(cell)
    if len(cell) < _SHORTEST or " " in cell[:_SHORTEST]:
        return None
    figures = _HEXADECIMAL.fullmatch(cell)
    coded = figures is None and _BASE64.fullmatch(cell)
    content = bytes.fromhex(figures[1]) if figures else decoded_base64(cell) if coded else None
    if content is None or form_of(content):
        return content
    return None if _UNPRINTABLE.search(_decoded(content, "")) else content


def text_of_bytes(content: bytes) -> str:
    """Give a binary cell as text: a PDF in base64, for `text_in_cell`; else what it spells."""
    if form_of(content) == "PDF":
        return base64.b64encode(content).decode("ascii")
    return _decoded(content, "")


def _distinct(parts: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Leave out a part that another holds: the same report attached twice is one report."""
    folded = [" ".join(text.split()) for _, text in parts]
    return tuple(
        part
        for i, part in enumerate(parts)
        if not any(
            folded[i] in other and (i != j and (folded[i] != other or j < i))
            for j, other in enumerate(folded)
        )
    )


def _decoded(content: bytes, kind: str) -> str:
    if wide := wide_of(content[:4]):
        return content.decode(wide, errors="replace")
    charset = kind.partition("charset=")[2].split(";")[0].strip(" \"'")
    named = "cp1252" if charset in _LATIN_1 else charset
    for name in (named, "utf-8-sig", "cp1252"):
        try:
            if name:
                return content.decode(name)
        except (UnicodeError, LookupError):
            continue
    return content.decode("latin-1")
