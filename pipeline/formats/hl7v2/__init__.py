"""HL7 v2 result messages (ORU^R01) → exams; every message is an exam or a quarantine row.

``read(source, options)`` takes a file or a folder; rows are message numbers, from 1 in each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

from pipeline.errors import InputError
from pipeline.formats.decoding import blank, files_of
from pipeline.formats.exams import EMPTY, ExamBatch, FeedRow, Note, SetAside, gathered
from pipeline.formats.hl7v2 import framing
from pipeline.formats.hl7v2.endings import Endings
from pipeline.formats.hl7v2.exams import Hl7Options, exams
from pipeline.formats.hl7v2.fields import DEFAULT_FIELDS, FieldMap

__all__ = ["DEFAULT_FIELDS", "FieldMap", "Hl7Options", "read"]


def read(source: Path, options: Hl7Options) -> Iterator[ExamBatch]:
    """Read a file of messages, or every file of a folder, in batches.

    Raises
    ------
    InputError
        If there is nothing at `source`.
    """
    if not source.exists():
        raise InputError(f"{source}: no such file.")
    paths = files_of(source)
    endings = Endings(paths, options.encoding)
    files = ((path.name, _rows(path, options, endings)) for path in paths)
    told = source.name, ((0, note) for note in endings.notes)
    yield from gathered(chain(files, [told]), size=options.batch_rows)


def _rows(path: Path, options: Hl7Options, endings: Endings) -> Iterator[FeedRow]:
    if blank(path):
        yield 1, EMPTY
    held: dict[bytes, tuple[int, bytes]] = {}
    stated = framing.Batches()
    for number, message in _ended(framing.messages(path, stated)):
        if isinstance(message, SetAside):
            yield number, message
            continue
        continues = _stated(message, _POINTER)
        before = held.pop(continues, None)
        whole = message if before is None else before[1] + b"\r" + _observed(message)
        more = _CONTINUED.search(whole)
        if more and (pointer := more[2].split(more[1])[0].strip()):
            held[pointer] = (before[0] if before else number, whole[: more.start()])
        elif before is None and continues and _LATER_ROW.search(message):
            yield number, _INCOMPLETE
        else:
            for found in exams(whole, options, endings):
                yield number, found
                if isinstance(found, Mapping) and _stated(message, _PURPOSE).startswith(_REHEARSAL):
                    yield number, _REHEARSED
    for number, _ in held.values():
        yield number, _INCOMPLETE
    for told in stated.notes:
        yield 0, Note(told)


def _ended(messages: Iterator[bytes]) -> Iterator[tuple[int, bytes | SetAside]]:
    """Give the messages of a file, numbered; one that does not end as others do is set aside."""
    opens = ends = parted = False
    for number, (message, then) in enumerate(pairwise(chain(messages, [b""])), start=1):
        opens, ends = opens or _START in message, ends or _END in message
        is_last = not then or message.rstrip(b"\r\n \t").endswith(_START)
        is_parted = message.rstrip(_FILLING).endswith(_PARTING)
        if opens and ends and is_last and _END not in message:
            yield number, _BROKEN_OFF
        elif parted and then and not is_parted:
            yield number, _RUN_ON
        else:
            yield number, message
        parted |= is_parted


_CONTINUED: Final = re.compile(
    rb"[\r\n]DSC([^A-Za-z0-9\s])([^\r\n]*)"
    rb"(?:[\s\x0b\x1c]+(?:BTS|FTS|BHS|FHS)(?![A-Za-z0-9])[^\r\n]*)*[\s\x0b\x1c]*\Z"
)
"""The last segment says that the message goes on; a batch may end or begin after it."""
_FIRST_ROW: Final = re.compile(rb"[\r\n](?=(?:OBX|NTE)[^A-Za-z0-9\s])")
_LATER_ROW: Final = re.compile(rb"\A(?:(?![\r\n]OBX).)*[\r\n]OBX.(?!0*1\D)\d", re.DOTALL)
_POINTER, _PURPOSE = 13, 10
"""Where a header says which message it continues (MSH-14), and what it is for (MSH-11)."""
_REHEARSAL: Final = (b"T", b"t", b"D", b"d")
_START, _END = b"\x0b", b"\x1c"
"""A message's frame (MLLP)."""
_PARTING: Final = (b"\r", b"\n", _START, _END)
_FILLING: Final = b" \t\x00\xef\xbb\xbf"
_INCOMPLETE: Final = SetAside("message_incomplete", "its other part is not in the file")
_BROKEN_OFF: Final = SetAside("message_incomplete", "its frame does not end")
_RUN_ON: Final = SetAside("message_incomplete", "the next begins within its last line")
_REHEARSED: Final = Note("HL7 message that is for training or debugging by its own words (MSH-11)")


def _stated(message: bytes, at: int) -> bytes:
    """Give a field of a message's header; b'' for none."""
    header = message.lstrip(b"\r\n\x0b \t").split(b"\r", 1)[0].split(b"\n", 1)[0]
    return b"".join(header.split(header[3:4] or b"|")[at : at + 1]).strip()


def _observed(message: bytes) -> bytes:
    """Give a message from its first observation on: what stands before is said already."""
    first = _FIRST_ROW.search(message)
    return message[first.end() :] if first else b""
