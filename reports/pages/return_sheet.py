"""The return sheet: a reader's cases as a small table to fill in, and how it is read back.

One row per case of the feedback, by study code, with an empty ``answer`` column. A filled sheet is
hostile input like any other file: sizes are capped, every bad row is named by its number, and an
unknown answer is refused, never guessed. Cells that a spreadsheet could take for a formula are
written with a leading apostrophe, which reading takes off again.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from reports.content import Case

__all__ = ["Answer", "CaseAnswer", "ReturnSheetError", "build", "read"]

Answer: TypeAlias = Literal["concordant", "discordant", "not applicable", "wrong pair"]

_COLUMNS: Final = ("xray_code", "ct_code", "pathology", "you_wrote", "ct_said", "answer")
_LARGEST: Final = 1_000_000
_RISKY: Final = ("=", "+", "-", "@", "\t", "\r", "'")


class ReturnSheetError(ValueError):
    """The sheet cannot be used as returned; the message says which rows and what to do."""


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """What the reader said about one case."""

    xray_code: str
    ct_code: str
    pathology: str
    answer: Answer


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_RISKY) else cell


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith("'") else cell


def build(cases: tuple[Case, ...]) -> bytes:
    """Write the sheet as UTF-8 CSV with the ``answer`` column empty."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(_COLUMNS)
    for case in cases:
        cells = (case.xray_code, case.ct_code, case.pathology, case.phrase, case.ct_phrase, "")
        writer.writerow([_safe(cell) for cell in cells])
    return buffer.getvalue().encode("utf-8")


def read(sheet: bytes) -> tuple[CaseAnswer, ...]:
    """Read the answers back; rows left empty are no answer and are skipped.

    Raises
    ------
    ReturnSheetError
        When the file is too large, not UTF-8, lacks columns, or holds unknown answers.
    """
    if len(sheet) > _LARGEST:
        message = (
            f"return sheet: {len(sheet):,} bytes, at most {_LARGEST:,} are read. "
            "Return the sheet that came with the feedback."
        )
        raise ReturnSheetError(message)
    try:
        text = sheet.decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error):
        message = (
            "return sheet: it is not a UTF-8 CSV file. Save the sheet as CSV UTF-8 and return it."
        )
        raise ReturnSheetError(message) from None
    _check(rows, text)
    return tuple(
        CaseAnswer(
            _plain(row["xray_code"]),
            _plain(row["ct_code"]),
            _plain(row["pathology"]),
            _known(row["answer"]),
        )
        for row in rows
        if (row["answer"] or "").strip()
    )


def _known(answer: str) -> Answer:
    wanted = answer.strip().lower()
    return next(known for known in get_args(Answer) if known == wanted)


def _check(rows: list[dict[str, str]], text: str) -> None:
    header = next(csv.reader(io.StringIO(text)), [])
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        message = (
            f"return sheet: column(s) {', '.join(missing)} are missing. Keep the header as sent."
        )
        raise ReturnSheetError(message)
    answers = set(get_args(Answer))
    bad = [
        number
        for number, row in enumerate(rows, start=2)
        if any(row[name] is None for name in _COLUMNS)
        or ((row["answer"].strip().lower() or "concordant") not in answers)
    ]
    if bad:
        message = (
            f"return sheet: {len(bad)} of {len(rows)} rows cannot be read; first at line {bad[0]}. "
            f"Use one of: {', '.join(get_args(Answer))}; or leave the cell empty."
        )
        raise ReturnSheetError(message)
