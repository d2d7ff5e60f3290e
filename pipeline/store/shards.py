"""Shards as bytes: a table and its counts as one Parquet file that can tell whether it is whole.

    PAR1 · pages · SHA-256 of all before (32 B) · SHA-256 of all behind (32 B) · footer · PAR1

Parquet finds pages by the offsets in its footer, so 64 bytes that no offset names are invisible to
every reader. The digests are checked before anything is parsed: a byte that flipped, a file cut
short or one of length 0 after a power cut is found when the shard is read, wherever it is kept.
Reading the counts alone checks the footer alone. Numbers are settled on the way in (see
``calibration.arrays``): a workspace begun on one machine and resumed on another keeps its rows.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Sequence
from typing import Any, BinaryIO, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from calibration.arrays import settled

__all__ = ["SCHEMA_VERSION", "DamageError", "OtherVersionError", "decode", "encode", "facts_of"]

SCHEMA_VERSION: Final = "4"
"""Raised when a table's columns change meaning; part of every shard's key.

So a stage never meets another version's shards. What finds shards by listing them does (return
sheets, the pairs they name, exams to purge): the columns it reads must keep their meaning.
"""

_META: Final = b"radcal"
_DIGEST: Final = 32
_TAIL: Final = 8
"""Bytes behind a Parquet footer: its length (4, little endian) and ``PAR1``."""


class DamageError(Exception):
    """These bytes are not what was written."""


class OtherVersionError(Exception):
    """These bytes lack columns: another schema version, given first in the message, wrote them."""


def encode(frame: pd.DataFrame, facts: object) -> bytes:
    """Give a table and its counts, plain JSON values, as the bytes of one shard."""
    meta = json.dumps({"facts": facts, "schema": SCHEMA_VERSION}).encode()
    table = pa.Table.from_pandas(_settled(frame), preserve_index=False)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _META: meta})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    written = sink.getvalue()
    pages, footer = written[: _footer_start(written)], written[_footer_start(written) :]
    return pages + _sha(pages) + _sha(footer) + footer


def _settled(frame: pd.DataFrame) -> pd.DataFrame:
    """Drop the digits of measured numbers in which two processors differ."""
    numbers = frame.select_dtypes("float64")
    return frame.assign(**{str(name): settled(numbers[name].to_numpy()) for name in numbers})


def decode(content: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """Give a shard's table, or only these columns of it.

    Raises
    ------
    DamageError
        If anything in it is not as it was written.
    OtherVersionError
        If another version of this program wrote it, without some of these columns.
    """
    written_under = _about(io.BytesIO(content))["schema"]
    digests = _footer_start(content) - 2 * _DIGEST
    if _sha(memoryview(content)[:digests]) != content[digests : digests + _DIGEST]:
        raise DamageError
    file = pq.ParquetFile(io.BytesIO(content))
    lacking = set(columns or ()) - set(file.schema_arrow.names)
    if lacking and written_under != SCHEMA_VERSION:
        msg = f"{written_under}, without {', '.join(sorted(lacking))}"
        raise OtherVersionError(msg)
    return file.read(columns=list(columns) if columns else None)


def facts_of(file: BinaryIO) -> object:
    """Give a shard's counts from its footer; raises `DamageError` as `decode` does."""
    return _about(file)["facts"]


def _about(file: BinaryIO) -> dict[str, Any]:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    length = int.from_bytes(file.read(_TAIL)[:4], "little") + _TAIL
    if size < length + 2 * _DIGEST:
        raise DamageError
    file.seek(size - length - _DIGEST)
    stored, footer = file.read(_DIGEST), file.read(length)
    if _sha(footer) != stored:
        raise DamageError
    metadata = pq.read_metadata(file).metadata or {}
    found: dict[str, Any] = json.loads(metadata[_META])
    return found


def _footer_start(content: bytes) -> int:
    return len(content) - _TAIL - int.from_bytes(content[-_TAIL : -_TAIL + 4], "little")


def _sha(content: bytes | memoryview) -> bytes:
    return hashlib.sha256(content).digest()
