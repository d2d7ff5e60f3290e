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
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import pikepdf

from reports.content import Case

if TYPE_CHECKING:
    from calibration.profile import Swap

Answer: TypeAlias = Literal["concordant", "discordant", "not applicable", "wrong pair"]
Opinion: TypeAlias = Literal["agree", "disagree", "not mine"]
"""What a reader says of a swap: a good one, none, or not about the reader's own cases."""

_COLUMNS: Final = ("xray_code", "ct_code", "pathology", "you_wrote", "ct_said", "answer")
_LARGEST: Final = 1_000_000
_LARGEST_PAGE: Final = 20_000_000
_MOST_FIELDS: Final = 2_000
_MOST_WORDS: Final = 1_000
_SWAP: Final = "swap"
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


@dataclass(frozen=True, slots=True)
class SwapAnswer:
    """What the reader said about one swap; ``answer`` is empty where there are only words."""

    reader: str
    phrase: str
    finding: str
    instead: str
    answer: Opinion | Literal[""]
    words: str = ""

    @property
    def swap(self) -> str:
        """Which swap, as it is kept."""
        return json.dumps([self.phrase, self.finding, self.instead], ensure_ascii=False)


def safe(cell: str) -> str:
    """Mark a cell that a spreadsheet could take for a formula."""
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
        writer.writerow([safe(cell) for cell in cells])
    return buffer.getvalue().encode("utf-8")


def codes_of(sheet: bytes) -> tuple[str, ...]:
    """Give the study codes that stand on a sheet as it was written, each once."""
    rows = csv.DictReader(io.StringIO(sheet.decode("utf-8"), newline=""))
    each = (_plain(row[name]) for row in rows for name in ("xray_code", "ct_code"))
    return tuple(dict.fromkeys(each))


def about(case: Case) -> str:
    """Write down which case a question on the page is about."""
    return json.dumps([case.xray_code, case.ct_code, case.pathology], ensure_ascii=False)


def about_swap(reader: str, swap: Swap) -> str:
    """Write down which swap of whose a question on the page is about."""
    parts = [reader, swap.phrase, swap.finding or "", swap.instead]
    return json.dumps(parts, ensure_ascii=False)


def read_page(
    page: bytes, *, passphrases: Sequence[str] = ("",)
) -> tuple[tuple[CaseAnswer, ...], tuple[SwapAnswer, ...]]:
    """Read what was ticked and written on a page: about cases, and about swaps.

    A question without a tick and without words is no answer and is skipped.

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
            said = _said(pdf)
            return tuple(_cases(said)), tuple(_swaps(said))
    except pikepdf.PasswordError:
        message = "return page: it is locked, and no known passphrase opens it."
        raise ReturnSheetError(message) from None
    except (pikepdf.PdfError, ValueError, TypeError, AttributeError, KeyError):
        message = (
            "return page: it is no PDF, or its boxes are not those of a feedback page. Save the "
            "page that came with the feedback, or fill the return sheet instead."
        )
        raise ReturnSheetError(message) from None


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


_Said: TypeAlias = dict[str, tuple[list[str], str]]
"""Of each field by its name what it is about, and what it holds."""


def _said(pdf: pikepdf.Pdf) -> _Said:
    """Give every field in use.

    Raises
    ------
    ValueError
        When the page has no fields.
    """
    form = pdf.Root.get("/AcroForm")
    fields = list(form.get("/Fields", []))[:_MOST_FIELDS] if form is not None else []
    if not fields:
        message = "no fields"
        raise ValueError(message)
    held = {str(each["/T"]): (each, str(each.get("/V", "")).removeprefix("/")) for each in fields}
    return {
        name: ([str(part) for part in json.loads(str(each["/TM"]))], value)
        for name, (each, value) in held.items()
        if value not in ("", "Off")
    }


def _cases(said: _Said) -> Iterator[CaseAnswer]:
    for name, (about, value) in said.items():
        if not name.startswith(_SWAP):
            xray, ct, pathology = about
            yield CaseAnswer(xray, ct, pathology, _known(value, Answer))


def _swaps(said: _Said) -> Iterator[SwapAnswer]:
    """Join each swap's tick with the words written below it."""
    names = dict.fromkeys(name.partition(".")[0] for name in said if name.startswith(_SWAP))
    for name in names:
        about, value = said.get(name, ([], ""))
        below, words = said.get(f"{name}.words", ([], ""))
        reader, phrase, finding, instead = about or below
        answer: Any = _known(value, Opinion) if value else ""
        yield SwapAnswer(reader, phrase, finding, instead, answer, words.strip()[:_MOST_WORDS])


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
        text = _decoded(sheet)
        parted = csv.DictReader(io.StringIO(text, newline=""), delimiter=_sign(text), strict=True)
        rows = list(parted)
    except (UnicodeDecodeError, csv.Error):
        message = (
            "return sheet: it is not a UTF-8 CSV file. Save the sheet as CSV UTF-8 and return it."
        )
        raise ReturnSheetError(message) from None
    _check(rows, parted.fieldnames or ())
    return tuple(
        CaseAnswer(
            _plain(row["xray_code"]),
            _plain(row["ct_code"]),
            _plain(row["pathology"]),
            _known(row["answer"], Answer),
        )
        for row in rows
        if (row["answer"] or "").strip()
    )


def _known(answer: str, kind: Any) -> Any:
    """Give an answer as one of a closed set.

    Raises
    ------
    ValueError
        When it is none of them.
    """
    wanted = answer.strip().lower()
    if wanted not in get_args(kind):
        message = "unknown answer"
        raise ValueError(message)
    return wanted


def _decoded(sheet: bytes) -> str:
    """Read a sheet as it was sent, or as a spreadsheet of another country saves it."""
    if sheet.startswith((b"\xff\xfe", b"\xfe\xff")):
        return sheet.decode("utf-16")
    try:
        return sheet.decode("utf-8-sig")
    except UnicodeDecodeError:
        return sheet.decode("cp1252")


def _sign(text: str) -> str:
    """Tell what parts the cells: the comma that was sent, or the semicolon or tab of Excel's."""
    return max(",;\t", key=text.partition("\n")[0].count)


def _check(rows: list[dict[str, str]], header: Sequence[str]) -> None:
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
