"""Any source a configuration may name → exams: chooses the format's reader and its options.

Tables go by extension; HL7 v2 and FHIR come as files or folders; a query's rows are first spooled
into a Parquet file of the raw zone, so that a database is asked once and a run can be resumed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.config.sections import EXAM_COLUMNS, OPTIONAL_COLUMNS
from pipeline.errors import ConfigurationError
from pipeline.formats import exports, fhir, hl7v2, sql
from pipeline.formats.decoding import AUTO, opened, suffix_of
from pipeline.formats.exams import ExamBatch
from pipeline.store.files import replacing

if TYPE_CHECKING:
    from pipeline.config.sections import Input

_BY_SUFFIX: Final[Mapping[str, str]] = {
    ".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".jsonl": "jsonl",
    ".hl7": "hl7v2", ".txt": "hl7v2", ".msg": "hl7v2", ".ndjson": "fhir", ".json": "fhir",
}  # fmt: skip
_WORKBOOKS: Final = (".xlsx", ".xlsm", ".xls", ".ods")
_LOOKED_AT: Final = 2**20
_FOLDERS: Final = ("hl7v2", "fhir")
_SPOOLED: Final = (*EXAM_COLUMNS, *OPTIONAL_COLUMNS)


@dataclass(frozen=True, slots=True)
class Sources:
    """How this site's sources are read; `modality_codes` maps exam code → modality."""

    settings: Input
    modality_codes: Mapping[str, str]
    batch_rows: int

    def kind(self, source: Path) -> str:
        """Give a source's format: the configured one, else by its extension.

        Raises
        ------
        ConfigurationError
            If the extension says nothing, or a folder is of a format that comes in files.
        """
        stated = self.settings.format
        if suffix_of(source) in _WORKBOOKS:
            msg = (
                f"{source.name}: workbooks are not read. Save the sheet as CSV UTF-8, accession "
                "and patient numbers as text."
            )
            raise ConfigurationError(msg)
        kind = _BY_SUFFIX.get(suffix_of(source), "") if stated in ("auto", "sql") else stated
        if stated == "auto" and kind == "fhir" and source.is_file() and not _has_resources(source):
            kind = "jsonl"
        if not kind or (source.is_dir() and kind not in _FOLDERS):
            msg = (
                f"input.format: cannot tell the format of {source.name}; "
                'set it to "csv", "parquet", "jsonl", "hl7v2" or "fhir".'
            )
            raise ConfigurationError(msg)
        return kind

    def read(self, source: Path) -> Iterator[ExamBatch]:
        """Read a source in batches, whatever its format."""
        kind, settings = self.kind(source), self.settings
        if kind == "hl7v2":
            return hl7v2.read(
                source,
                hl7v2.Hl7Options(
                    fields=settings.hl7,
                    exam_codes=self.modality_codes,
                    patient_authority=settings.patient_authority,
                    encoding="" if settings.encoding == AUTO else settings.encoding,
                    batch_rows=self.batch_rows,
                ),
            )
        if kind == "fhir":
            options = fhir.FhirOptions(self.modality_codes, self.batch_rows)
            return fhir.read(source, options)
        own_names = settings.format == "sql"
        return exports.read(
            source,
            exports.TableOptions(
                encoding=settings.encoding,
                columns={} if own_names else settings.columns,
                exam_codes=self.modality_codes,
                batch_rows=self.batch_rows,
                kind=kind,
            ),
        )

    def digest(self, source: Path) -> str:
        """Hash the content that decides what a source gives, blind to names.

        People and orders may stand in the files beside a FHIR file, so these count as well.
        """
        if source.is_dir():
            return digest([path for path in source.rglob("*") if path.is_file()])
        beside = source.parent.iterdir() if self.kind(source) == "fhir" else ()
        return digest([source]) + digest([path for path in beside if path.is_file()])


def _has_resources(source: Path) -> bool:
    """Tell FHIR from a table in JSON by what every resource says of itself, near its beginning."""
    with opened(source) as content:
        return b'"resourceType"' in content.read(_LOOKED_AT)


def digest(paths: list[Path]) -> str:
    """Hash the content of files, blind to their names and order."""
    each = []
    for path in paths:
        with path.open("rb") as handle:
            each.append(hashlib.file_digest(handle, "sha256").hexdigest())
    return hashlib.sha256("".join(sorted(each)).encode()).hexdigest()


def queried(address: str, settings: Input, *, batch_rows: int) -> Iterator[ExamBatch]:
    """Run the configured query and give its rows as they come."""
    return sql.read(address, sql.SqlOptions(settings.query or "", settings.columns, batch_rows))


def spool(address: str, settings: Input, folder: Path, *, batch_rows: int) -> Path:
    """Run the configured query and keep its rows as one Parquet file, named by its content."""
    target = folder / "query.parquet"
    schema = pa.schema([(name, pa.string()) for name in _SPOOLED])
    with replacing(target) as partial, pq.ParquetWriter(partial, schema) as writer:
        for batch in queried(address, settings, batch_rows=batch_rows):
            rows = batch.exams.loc[:, list(_SPOOLED)]
            writer.write_table(pa.Table.from_pandas(rows, schema=schema, preserve_index=False))
    named = folder / f"{digest([target])[:16]}.parquet"
    return target.replace(named)
