"""What every format reader yields: exams as text columns, in batches, and the rows set aside.

A reader yields, for each thing it has read, its number and either the exam's cells or the reason
why there is none. Readers do not judge values; they find them. `pipeline.formats.validation`
validates what they yield, so that a bad time is the same quarantine row whichever format it came
in. Besides the contract's columns, readers say how they came by a report and by its reader:
`READING_COLUMNS`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias

import pandas as pd

from pipeline.config.basis import EXAM_COLUMNS, OPTIONAL_COLUMNS

QUARANTINE_COLUMNS: Final[tuple[str, ...]] = ("source", "row", "reason", "detail")
"""``row`` counts from 1 within the source; ``detail`` never holds text or identifiers."""


@dataclass(frozen=True, slots=True)
class ExamBatch:
    """Some exams of one source.

    Attributes
    ----------
    exams
        `EXAM_COLUMNS` and `OPTIONAL_COLUMNS` as text, and ``source_row`` (int, from 1 in a file).
    quarantined
        `QUARANTINE_COLUMNS`.
    files
        The file that each exam stands in, while they are read.
    merges
        What was said of patients' numbers, each with its file and row.
    notes
        What a run tells of, with counts: values that no map knows, times that a clock has twice,
        what a reader remarked on.
    faults
        How many rows fail each check, also those that were set aside under another's name.
    """

    exams: pd.DataFrame
    quarantined: pd.DataFrame
    files: tuple[str, ...] = ()
    merges: tuple[tuple[str, int, Merge], ...] = ()
    notes: Mapping[str, int] = field(default_factory=dict)
    faults: Mapping[str, int] = field(default_factory=dict)


READING_COLUMNS: Final = (
    "reader_source", "reader_conflict", "decoded_as", "text_form", "text_cut",
)  # fmt: skip
"""Where the reader was found; "1" where the text names another; the encoding, where it is not the
one that it should be; "RTF" or "PDF" where the text was read from such a document; what tells that
the text is not whole."""

_COLUMNS: Final = (*EXAM_COLUMNS, *OPTIONAL_COLUMNS, *READING_COLUMNS)


@dataclass(frozen=True, slots=True)
class SetAside:
    """Why something read is no exam: a reason code, and a detail without text or identifiers."""

    reason: str
    detail: str = ""


EMPTY: Final = SetAside("empty_file", "nothing stands in it")


@dataclass(frozen=True, slots=True)
class Merge:
    """What a source says of one patient's numbers, each with who gave it ('' where nobody says).

    The first became the last; where `listed`, all of them are the patient's at once. `site` is
    where it was said: who gave those that name nobody.
    """

    numbers: tuple[tuple[str, str], ...]
    listed: bool = False
    site: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What a reader remarks on beside the rows: a run counts it, and no row is set aside."""

    told: str


DRAFT: Final = "observations of which some are preliminary"
"""How the text of such a report is counted: they may be parts of it, or what its others were made
of."""


def text_mark(text: str) -> str:
    """Give a short hash of a text: what tells versions apart that are signed at one time."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


Row: TypeAlias = tuple[int, Mapping[str, str] | SetAside]
Said: TypeAlias = Mapping[str, str] | SetAside | Merge | Note
"""What feeds say of a row: an exam, why it is none, how numbers were merged, a remark."""
FeedRow: TypeAlias = tuple[int, Said]


def batches(source: str, rows: Iterable[FeedRow], *, size: int) -> Iterator[ExamBatch]:
    """Gather a source's rows into batches of at most `size` things read."""
    return gathered(((source, rows),), size=size)


def gathered(files: Iterable[tuple[str, Iterable[FeedRow]]], *, size: int) -> Iterator[ExamBatch]:
    """Gather the rows of several files, each with its name, into batches across them.

    A feed may come as one message a file; a batch a file would make a shard of each.
    """
    remaining = ((name, *row) for name, rows in files for row in rows)
    while chunk := list(islice(remaining, size)):
        yield _batch(chunk)


def _batch(chunk: list[tuple[str, int, Said]]) -> ExamBatch:
    read = [(file, row, found) for file, row, found in chunk if isinstance(found, Mapping)]
    exams = [
        {**dict.fromkeys(_COLUMNS, ""), **found, "source_row": number} for _, number, found in read
    ]
    frame = pd.DataFrame(exams, columns=[*_COLUMNS, "source_row"])
    frame = frame.astype({**dict.fromkeys(_COLUMNS, "str"), "source_row": "int64"})
    files = tuple(name for name, *_ in read)
    merges = tuple((file, row, one) for file, row, one in chunk if isinstance(one, Merge))
    aside = [
        (name, number, found.reason, found.detail)
        for name, number, found in chunk
        if isinstance(found, SetAside)
    ]
    notes = Counter(found.told for *_, found in chunk if isinstance(found, Note))
    set_aside = pd.DataFrame(aside, columns=list(QUARANTINE_COLUMNS))
    return ExamBatch(frame, set_aside, files, merges, notes)
