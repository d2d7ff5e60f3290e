"""HL7 v2 result messages (ORU^R01) → exams; every message is an exam or a quarantine row.

``read(source, options)`` takes a file or a folder; rows are message numbers, from 1 in each file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.errors import InputError
from pipeline.formats.exams import ExamBatch, Row, SetAside, gathered
from pipeline.formats.hl7v2 import framing
from pipeline.formats.hl7v2.exams import MessageOptions, exams
from pipeline.formats.hl7v2.fields import DEFAULT_FIELDS, FieldMap

__all__ = ["DEFAULT_FIELDS", "Hl7Options", "read"]


@dataclass(frozen=True, slots=True)
class Hl7Options:
    """How to read a site's messages; see `exams.MessageOptions` for what the entries mean."""

    fields: Mapping[str, str] = field(default_factory=dict)
    exam_codes: Mapping[str, str] = field(default_factory=dict)
    patient_authority: str = ""
    encoding: str = ""
    batch_rows: int = 1000


def read(source: Path, options: Hl7Options) -> Iterator[ExamBatch]:
    """Read a file of messages, or every file of a folder, in batches.

    Raises
    ------
    InputError
        If there is nothing at `source`.
    ConfigurationError
        If the field map is wrong.
    """
    chosen = MessageOptions(
        fields=FieldMap.of(options.fields),
        exam_codes=options.exam_codes,
        patient_authority=options.patient_authority,
        encoding=options.encoding,
    )
    files = ((path.name, _rows(path, chosen)) for path in _files(source))
    yield from gathered(files, size=options.batch_rows)


def _files(source: Path) -> list[Path]:
    if source.is_dir():
        return sorted(path for path in source.rglob("*") if path.is_file())
    if not source.is_file():
        msg = f"{source}: no such file."
        raise InputError(msg)
    return [source]


def _rows(path: Path, options: MessageOptions) -> Iterator[Row]:
    if path.stat().st_size == 0:
        yield 1, SetAside("no_header", "the file is empty")
    for number, message in enumerate(framing.messages(path), start=1):
        for found in exams(message, options):
            yield number, found
