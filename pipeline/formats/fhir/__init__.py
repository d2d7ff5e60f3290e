"""FHIR R4 reports (NDJSON, bundles) → exams; every report is an exam or a quarantine row.

``read(source, options)`` takes a file or a folder. Patients, practitioners and orders are looked
for in every ``.ndjson`` and ``.json`` file of the folder, so that they may come in files of their
own, and in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pipeline.errors import InputError
from pipeline.formats.exams import ExamBatch, Row, SetAside, gathered
from pipeline.formats.fhir.reports import exams
from pipeline.formats.fhir.resources import KINDS, Directory, resources_of, text_of

__all__ = ["FhirOptions", "read"]

_SUFFIXES: Final = tuple(
    kind + end for kind in (".ndjson", ".json", ".jsonl") for end in ("", ".gz")
)


@dataclass(frozen=True, slots=True)
class FhirOptions:
    """Exam code → modality, and exams in a batch."""

    exam_codes: Mapping[str, str] = field(default_factory=dict)
    batch_rows: int = 1000


def read(source: Path, options: FhirOptions) -> Iterator[ExamBatch]:
    """Read a file of resources, or every one of a folder, in batches.

    Raises
    ------
    InputError
        If there is nothing at `source`, or the file is empty.
    """
    files, beside = _files(source)
    directory = Directory()
    for path in beside:
        for _, resource in resources_of(path):
            if not isinstance(resource, str):
                directory.add(resource)
    rows = ((path.name, _rows(path, directory, options)) for path in files)
    yield from gathered(rows, size=options.batch_rows)


def _files(source: Path) -> tuple[Sequence[Path], Sequence[Path]]:
    folder = source if source.is_dir() else source.parent
    beside = (
        sorted(p for p in folder.iterdir() if p.name.lower().endswith(_SUFFIXES))
        if folder.is_dir()
        else []
    )
    if source.is_dir():
        return beside, beside
    if not source.is_file():
        msg = f"{source}: no such file."
        raise InputError(msg)
    if source.stat().st_size == 0:
        msg = f"{source.name}: the file is empty."
        raise InputError(msg)
    return [source], [*beside, *([] if source in beside else [source])]


def _rows(path: Path, directory: Directory, options: FhirOptions) -> Iterator[Row]:
    for number, resource in resources_of(path):
        if isinstance(resource, str):
            yield number, SetAside(resource)
        elif text_of(resource, "resourceType") == "DiagnosticReport":
            for found in exams(resource, directory, options.exam_codes):
                yield number, found
        elif text_of(resource, "resourceType") not in KINDS:
            yield number, SetAside("other_resource", "not a report, patient, practitioner or order")
