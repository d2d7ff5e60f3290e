"""A reader's answers: the return sheet, the page's boxes to tick, and how both are read back.

The sheet has one row per case of the feedback, by study code, with an empty ``answer`` column; on
the page each case has a box per answer. What comes back is hostile input like any other file:
sizes are capped, every bad row is named by its number, and an unknown answer is refused, never
guessed. Cells that a spreadsheet could take for a formula are
written with a leading apostrophe, which reading takes off again.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

import pikepdf

from reports.content import Case

Answer: TypeAlias = Literal["concordant", "discordant", "not applicable", "wrong pair"]

_COLUMNS: Final = ("xray_code", "ct_code", "pathology", "you_wrote", "ct_said", "answer")
_LARGEST: Final = 1_000_000
_LARGEST_PAGE: Final = 20_000_000
_MOST_FIELDS: Final = 2_000
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


def about(case: Case) -> str:
    """Write down which case a question on the page is about."""
    return json.dumps([case.xray_code, case.ct_code, case.pathology], ensure_ascii=False)


def read_page(page: bytes, *, passphrases: Sequence[str] = ("",)) -> tuple[CaseAnswer, ...]:
    """Read the boxes ticked on a page; cases without a tick are no answer and are skipped.

    Parameters
    ----------
    passphrases
        What may open the page, tried in turn.

    Raises
    ------
    ReturnSheetError
        When the file is too large, no PDF, locked, or its boxes are not those of a feedback page.
    """
    if len(page) > _LARGEST_PAGE:
        message = (
            f"return page: {len(page):,} bytes, at most {_LARGEST_PAGE:,} are read. "
            "Return the page that came with the feedback."
        )
        raise ReturnSheetError(message)
    try:
        with _opened(page, passphrases) as pdf:
            ticked = list(_ticked(pdf))
    except pikepdf.PasswordError:
        message = "return page: it is locked, and no known passphrase opens it."
        raise ReturnSheetError(message) from None
    except (pikepdf.PdfError, ValueError, TypeError, AttributeError, KeyError):
        message = (
            "return page: it is no PDF, or its boxes are not those of a feedback page. Save the "
            "page that came with the feedback, or fill the return sheet instead."
        )
        raise ReturnSheetError(message) from None
    return tuple(ticked)


def _opened(page: bytes, passphrases: Sequence[str]) -> pikepdf.Pdf:
    """Open a page by the first passphrase that fits.

    Raises
    ------
    pikepdf.PasswordError
        When none fits.
    """
    for passphrase in passphrases:
        with suppress(pikepdf.PasswordError):
            return pikepdf.open(io.BytesIO(page), password=passphrase)
    raise pikepdf.PasswordError


def _ticked(pdf: pikepdf.Pdf) -> Iterator[CaseAnswer]:
    """Give the answer of every question that has one.

    Raises
    ------
    ValueError
        When a question or an answer is not one of ours.
    """
    form = pdf.Root.get("/AcroForm")
    fields = list(form.get("/Fields", []))[:_MOST_FIELDS] if form is not None else []
    if not fields:
        message = "no fields"
        raise ValueError(message)
    for each in fields:
        said = str(each.get("/V", "/Off")).removeprefix("/")
        if said in ("", "Off"):
            continue
        if said not in get_args(Answer):
            message = "unknown answer"
            raise ValueError(message)
        xray, ct, pathology = (str(part) for part in json.loads(str(each["/TM"])))
        yield CaseAnswer(xray, ct, pathology, _known(said))


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
