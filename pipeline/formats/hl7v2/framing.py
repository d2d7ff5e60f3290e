"""Bytes of a feed → messages, and how a message is written: separators, escapes, characters.

MLLP or not, CR or LF or both, batch headers, one message a file or many. A message begins at a line
that begins with ``MSH`` and a separator. Files are read in blocks, so memory does not grow with the
file; a message over the cap is cut off and says so. Files of UTF-16 (by their byte order mark) and
gzip are read as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from pipeline.formats.decoding import FALLBACK, fallback, opened
from pipeline.formats.values import known_words

_CHARACTER_SET_FIELD: Final = 17
_LATIN: Final = re.compile(r"(?:ISO[- ]?)?8859[/-](1[0-6]|[1-9])")
_CONTROL: Final = re.compile(r"[CM][0-9A-Fa-f]{4,6}|Z[^ ]{0,40}|P")


@dataclass(frozen=True, slots=True)
class Separators:
    """The five characters a message is written with; standard ones where it names fewer."""

    field: str = "|"
    component: str = "^"
    repetition: str = "~"
    escape: str = "\\"
    sub: str = "&"

    @classmethod
    def of(cls, header: str) -> Separators:
        """Read them off the header segment."""
        bar = header[3:4] or "|"
        named = header[4:].split(bar, 1)[0][:4]
        return cls(bar, *(named + "^~\\&"[len(named) :]))


STANDARD: Final = Separators()


def declared_encoding(header: bytes) -> str:
    """Give the encoding a header's MSH-18 declares, or ''; of several one that escapes switch."""
    fields = header.split(header[3:4] or b"|")
    if len(fields) <= _CHARACTER_SET_FIELD:
        return ""
    stated = fields[_CHARACTER_SET_FIELD].decode("latin-1").upper().split("~")
    found = [name for each in stated if (name := _codec(each.strip())) not in ("", "ascii")]
    return next((name for name in found if name.startswith(_ESCAPE_DRIVEN)), "".join(found[:1]))


def _codec(stated: str) -> str:
    latin = _LATIN.fullmatch(stated)  # ``8859/n`` is read as its number
    if latin:  # who says Latin 1 writes Windows' quotation marks and dashes too
        return "cp1252" if latin.group(1) == "1" else f"iso8859-{latin.group(1)}"
    return known_words("character_set").get(stated, "")


def unescaped(text: str, separators: Separators = STANDARD) -> str:
    r"""Decode escapes; what is none stays as it is.

    Examples
    --------
    >>> unescaped(r"A\T\B\.br\2\S\3\X0A\4 and\or 5")
    'A&B\n2^3\n4 and\\or 5'
    """
    if separators.escape not in text:
        return text
    return _pattern(separators.escape).sub(lambda match: _meant(match, separators), text)


@lru_cache(maxsize=16)
def _pattern(escape: str) -> re.Pattern[str]:
    mark = re.escape(escape)
    return re.compile(rf"{mark}([^{mark}\r\n]{{0,80}}){mark}")


def _meant(match: re.Match[str], separators: Separators) -> str:
    code = match.group(1)
    plain = {
        "F": separators.field, "S": separators.component, "T": separators.sub,
        "R": separators.repetition, "E": separators.escape, "H": "", "N": "",
    }  # fmt: skip
    if code in plain:
        return plain[code]
    if code.startswith((".br", ".sp", ".ce", ".nf", ".fi")):
        return "\n"
    if code.startswith("."):
        return " " if code.startswith((".sk", ".ti")) else ""
    if code[:1] == "X":
        return _hexadecimal(code[1:], match.group())
    return "" if _CONTROL.fullmatch(code) else match.group()


def _hexadecimal(figures: str, written: str) -> str:
    try:
        content = bytes.fromhex(figures)
    except ValueError:
        return written
    for name in ("utf-8", "cp1252"):
        try:
            return content.decode(name).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


MAX_MESSAGE_BYTES: Final = 8 * 2**20
_BLOCK: Final = 2**20
_HEADER: Final = re.compile(rb"MSH(?=([^A-Za-z0-9\s])([^A-Za-z0-9\s]{3,5}\1)?)")
"""A header where a line begins; wherever it stands, if it names its separators as one does."""
_HEADER_BYTES: Final = 16
_LINE_ENDS: Final = (b"\r", b"\n", b"\x0b", b"\x1c")
_BLANK: Final = b"\r\n\x0b\x1c\x00 \t\xef\xbb\xbf"
_NAME: Final = re.compile(r"[A-Z][A-Z0-9]{2}")
_EMPTY: Final = known_words("segment")
"""Segments that may come without a field; any other three letters are a line of a text."""
_SPELT: Final = re.compile(
    r"(?:\\r\\n|\\r|\\n|<CR>|&#13;|&#x0?D;)+(?=[A-Z][A-Z0-9]{2}\|)", re.IGNORECASE
)
"""Line ends as logs spell them; looked for in a message of one line alone."""
_INDENTED: Final = re.compile(r"[ \t]+(?:PID|PV1|NK1|ORC|OBR|OBX|NTE|Z[A-Z0-9]{2})\|")
_DAMAGED: Final = re.compile(
    r"(?:(?!OB[XR]|[PQS]ID|Z)(?:\w(?:B[XR]|ID)|O\w[XR]|OB\w|P\wD|PI\w)"
    r"|(?!(?-i:[A-Z][A-Z0-9]{2})\|)[A-Z0-9]{0,4})\|(?:\d{1,4}\||\|[A-Z]{2,3}\|)"
    r"|(?:OBX|OBR|PID)[^|\r\n]{1,6}\|",
    re.IGNORECASE,
)
"""A letter of the name is another, or lost; or the bar behind it is."""
_RUN_ON: Final = re.compile(r"OBX\|\d{0,4}\|[A-Z]{2,3}\|")
"""The end of the line before is lost. Neither is text: there a bar is written as an escape."""
_BARRED: Final = re.compile(
    r"OBX\|[^|]*\|(?:TX|FT|ST(?=\|(?:[^|]*\|){2}(?:[^|\d]+\||[^|]*[^\W\d]{2} [^\W\d]{2})))\|"
    r"(?:[^|]*\|){3}[^|]*\w[^|\w]*\s[^|\w]*\w(?!.*\|(?:[FPC]|Final)\s*(?:\||$))"
)
"""Words where a unit has its place, and no status: a bar stands in the text as it is. Of ST, which
holds measurements too, only where words stand before it."""
CODED: Final = ("CE", "CWE", "CNE")
LETTERS: Final = ("F", "P", "C", "Final")
"""What mostly stands as a row's status."""
_FEW: Final = 2
_SHORTEST: Final = len("MSH|^~\\&")
_VALUE, _STATUS = 5, 11
"""Fields of an observation: before the first none has anything to say; the other stands last."""
_BATCH: Final = ("FHS", "BHS", "BTS", "FTS")
_BATCH_ONLY: Final = re.compile(rb"(?:(?:FHS|BHS|BTS|FTS)[^\r\n\x0b\x1c]*[\r\n\x0b\x1c\s]*)+")
_ESCAPE_DRIVEN: Final = "iso2022"
_JAPANESE, _SHIFT = "iso2022_jp_ext", b"\x1b$"
"""What escapes switch, where nobody has named it, and with what they begin."""


_OTHER_COUNT: Final = "HL7 batch whose trailer (BTS, FTS) counts more or fewer than were read"
_UNENDED: Final = "HL7 batch without its trailer (BTS, FTS): the file may be cut off"
_OF_BATCH: Final = re.compile(
    rb"(?:\A|[\r\n\x0b\x1c])[ \t]*([FB])([HT])S(?![A-Za-z0-9])[^\r\n]?(\d*)"
)


class Batches:
    """What a file's batches hold beside what they say that they hold."""

    def __init__(self) -> None:
        self._told: list[str] = []
        self._held = {b"B": 0, b"F": 0}
        self._open: set[bytes] = set()
        self._messages = 0

    def add(self, piece: bytes) -> None:
        """Take in a message, and the headers and trailers that stand behind it."""
        is_message = bool(_HEADER.match(piece.lstrip(_BLANK)))
        self._messages += is_message
        self._held[b"B"] += is_message
        for level, end, stated in _OF_BATCH.findall(piece):
            held = {self._held[level]} | ({self._messages} if level == b"F" else set())
            if end == b"H":
                self._told += [_UNENDED] * (level in self._open)
                self._open.add(level)
                self._messages = 0 if level == b"F" else self._messages
            else:
                self._told += [_OTHER_COUNT] * (stated != b"" and int(stated) not in held)
                self._open.discard(level)
                self._held[b"F"] += level == b"B"
            self._held[level] = 0

    @property
    def notes(self) -> list[str]:
        """Say, once for each batch, what is wrong with it."""
        return self._told + [_UNENDED] * bool(self._open)


def messages(path: Path, batches: Batches) -> Iterator[bytes]:
    """Yield each message's bytes; what stands before the first header comes as one of its own.

    Batch headers and trailers between messages are no messages; `batches` takes them in.
    """
    for found in _pieces(path):
        batches.add(found)
        if not _BATCH_ONLY.fullmatch(found.strip(_BLANK)):
            yield found


def _pieces(path: Path) -> Iterator[bytes]:
    buffer, scanned = b"", 0
    with opened(path) as handle:
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
    """Find where a line begins with a header, not before `scanned`, or runs into a whole one."""
    for match in _HEADER.finditer(buffer, scanned):
        before = buffer[max(0, match.start() - 9) : match.start()].rstrip(b" \t")
        if match.start() and (match[2] or not before or before[-1:] in _LINE_ENDS):
            yield match.start()


def decoded(message: bytes, encoding: str) -> tuple[str, str]:
    """Decode a message; gives its text, and the encoding where nobody has named it.

    UTF-8 comes first because what decodes as UTF-8 by chance is rare and wrong declarations are
    not (but what escapes switch always does); then what MSH-18 declares, the site's encoding, and
    cp1252.
    """
    declared = declared_encoding(message.lstrip(_BLANK)[:4096].split(b"\r")[0].split(b"\n")[0])
    is_named = declared.startswith(_ESCAPE_DRIVEN)
    if message.isascii() and (_SHIFT[: 1 + (not is_named)] in message):  # it is UTF-8 as well
        name = declared if is_named else _JAPANESE
        return message.decode(name, "replace"), "" if is_named else name
    for name in filter(None, ("utf-8", declared, encoding)):
        try:
            return message.decode(name), ""
        except (UnicodeError, LookupError):
            continue
    return fallback(message), FALLBACK


def segments(message: str) -> list[str]:
    """Split a message into segments; a line that is none continues the one before it.

    What was a segment and is damaged stays by itself, for `damaged` to find.
    """
    text = message.replace("\r\n", "\r").replace("\n", "\r")
    found: list[str] = []
    bar, broken = "|", "\\.br\\"
    lines = text.strip("\r\x0b\x1c\x00 \t\ufeff").split("\r")
    for line in lines if len(lines) > 1 else _SPELT.sub("\r", lines[0]).split("\r"):
        cleaned = line.strip("\x0b\x1c\x00")
        if _INDENTED.match(cleaned):
            cleaned = cleaned.lstrip(" \t")
        if not found and cleaned.startswith("MSH"):
            bar, broken = Separators.of(cleaned).field, _line_end(cleaned)
        is_segment = _NAME.match(cleaned) and (cleaned[3:4] == bar or cleaned in _EMPTY)
        if is_segment or (found and _is_damaged(cleaned, bar)):
            if not cleaned.startswith(_BATCH):
                found.append(cleaned)
        elif found and cleaned:
            found[-1] += broken + cleaned
    return found


def _is_damaged(line: str, bar: str) -> bool:
    plain = line.replace(bar, "|")
    return bool(_DAMAGED.match(plain) or _RUN_ON.search(plain, 1) or _BARRED.match(plain))


def _shifted(lines: Sequence[str], bar: str) -> int:
    """Count rows of which a bar before their text is lost: words stand where a part is numbered.

    A part may have a name of several words, which then stands before a text too; but a row's status
    then stands in its place.
    """
    rows = [[*line.split(bar), *[""] * _STATUS][:_STATUS] for line in lines]
    of_text = [
        row for row in rows
        if row[0] == "OBX" and (row[2] in CODED or row[2] not in known_words("no_text"))
    ]  # fmt: skip
    named = {row[4] for row in of_text if row[_VALUE]}
    return sum(
        not row[_VALUE] and " " in row[4] and row[4] not in named
        and (len(row[4].split()) > _FEW or row[-1] in LETTERS)
        for row in of_text
    )  # fmt: skip


def _goes_on_behind(lines: Sequence[str], bar: str) -> int:
    """Count rows behind whose status lines follow that are no segments, and so are no text."""
    end = _line_end(lines[0])
    rows = [line.split(bar)[_STATUS:] for line in lines if line.startswith("OBX") and end in line]
    return sum(
        any(end in cell for cell in row) and row[0].split(end)[0] in LETTERS for row in rows if row
    )


def _line_end(header: str) -> str:
    """Give the end of a line within a text, as a message writes it."""
    escape = Separators.of(header).escape
    return f"{escape}.br{escape}"


def is_headed(lines: Sequence[str]) -> bool:
    """Tell whether a message begins with a header that can be read."""
    return bool(lines) and lines[0].startswith("MSH") and len(lines[0]) >= _SHORTEST


def damaged(lines: Sequence[str], bar: str) -> int:
    """Count the segments that are damaged, or observations that break off before their value.

    An observation may lack what stands behind its last filled field; not where another of the
    message goes on to its status.
    """
    lengths = [line.count(bar) for line in lines if line.startswith("OBX")]
    longest = max(lengths, default=0)
    least = _VALUE if longest >= _STATUS else _VALUE - 2 if longest >= _VALUE else 0
    short = sum(length < least for length in lengths)
    return (
        short
        + _shifted(lines, bar)
        + _goes_on_behind(lines, bar)
        + sum(_is_damaged(line, bar) for line in lines[1:])
    )
