"""A reader's answers: the return sheet, the page's boxes to tick, and how both are read back.

The sheet has one row per case of the feedback, by study code, with an empty ``answer`` column; on
the page each case has a box per answer. Where the page advises swaps it has a row for each as
well, told by its empty ``ct_code``: reader, finding, phrase and advised word stand in the other
columns, and room for words in one more, ``words``. The HTML page saves the same. A reader types an
answer as the page calls it, in any language of the pages, or as it is kept. What comes back is
hostile input like any other file: sizes are capped, every bad row is named by its number, and an
unknown answer is refused, never guessed. Cells that a spreadsheet could take for a formula are
written with a leading apostrophe, which reading takes off again.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import pikepdf

from reports.content import Case
from reports.numbers import Language
from reports.strings import Strings

if TYPE_CHECKING:
    from calibration.profile import Swap

Answer: TypeAlias = Literal["concordant", "discordant", "not applicable", "wrong pair"]
Opinion: TypeAlias = Literal["agree", "disagree", "not mine"]
"""What a reader says of a swap: a good one, none, or not about the reader's own cases."""

_COLUMNS: Final = ("xray_code", "ct_code", "pathology", "you_wrote", "ct_said", "answer")
_WORDS: Final = "words"
SAVED: Final = (*_COLUMNS, _WORDS)
"""Columns of the sheet that the HTML page saves."""
_LARGEST: Final = 1_000_000
_LARGEST_PAGE: Final = 20_000_000
_MOST_FIELDS: Final = 2_000
_MOST_WORDS: Final = 1_000
_CALLED: Final = {get_args(Answer): "cases", get_args(Opinion): "card"}
"""Where a catalogue has what pages call the answers of a kind."""
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


def build(cases: Sequence[Case], swaps: Sequence[Swap] = (), *, reader: str = "") -> bytes:
    """Write the sheet as UTF-8 CSV with the ``answer`` column empty, also of swaps of a reader."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(SAVED if swaps else _COLUMNS)
    asked = [*map(about, cases), *(about_swap(reader, swap) for swap in swaps)]
    for cells in map(json.loads, asked):
        writer.writerow([*map(safe, cells), *[""] * (2 if swaps else 1)])
    return buffer.getvalue().encode("utf-8")


def codes_of(sheet: bytes) -> tuple[str, ...]:
    """Give the study codes that stand on a sheet as it was written, each once."""
    rows = csv.DictReader(io.StringIO(sheet.decode("utf-8"), newline=""))
    cases = (row for row in rows if row["ct_code"])
    each = (row[name].removeprefix("'") for row in cases for name in ("xray_code", "ct_code"))
    return tuple(dict.fromkeys(each))


def about(case: Case) -> str:
    """Write down which case a question on the page is about: its cells of the sheet."""
    return _about(case.xray_code, case.ct_code, case.pathology, case.phrase, case.ct_phrase)


def about_swap(reader: str, swap: Swap) -> str:
    """Write down which swap of whose a question on the page is about: its cells of the sheet."""
    return _about(reader, "", swap.finding or "", swap.phrase, swap.instead)


def _about(*cells: str) -> str:
    return json.dumps(cells, ensure_ascii=False)


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
        raise ReturnSheetError(
            f"return page: {len(page):,} bytes, at most {_LARGEST_PAGE:,} are read. "
            "Return the page that came with the feedback."
        )
    try:
        with _opened(page, passphrases) as pdf:
            return _parted(_said(pdf))
    except pikepdf.PasswordError:
        raise ReturnSheetError(
            "return page: it is locked, and no known passphrase opens it."
        ) from None
    except (pikepdf.PdfError, ValueError, TypeError, AttributeError, KeyError):
        raise ReturnSheetError(
            "return page: it is no PDF, or its boxes are not those of a feedback page. Save the "
            "page that came with the feedback, or fill the return sheet instead."
        ) from None


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


@dataclass(slots=True)
class _Said:
    """What one case or swap is about (its first five cells), and what was said of it."""

    about: list[str]
    answer: str = ""
    words: str = ""


def _said(pdf: pikepdf.Pdf) -> list[_Said]:
    """Give what was said by every field in use, a swap's tick together with its words.

    Raises
    ------
    ValueError
        When the page has no fields.
    """
    form = pdf.Root.get("/AcroForm")
    fields = list(form.get("/Fields", []))[:_MOST_FIELDS] if form is not None else []
    if not fields:
        raise ValueError("no fields")
    said: dict[str, _Said] = {}
    for each in fields:
        question, _, words = str(each["/T"]).partition(".")
        value = str(each.get("/V", "")).removeprefix("/")
        if value not in ("", "Off"):
            about = [str(cell) for cell in json.loads(str(each["/TM"]))]
            one = said.setdefault(question, _Said(_cells(about)))
            setattr(one, "words" if words else "answer", value)
    return list(said.values())


def _cells(about: list[str]) -> list[str]:
    """Give the cells that a question is about; pages up to 0.3 name cases by three, swaps by four.

    Raises
    ------
    ValueError
        When it is about neither.
    """
    if len(about) == 3:
        return [*about, "", ""]
    if len(about) == 4:
        reader, phrase, finding, instead = about
        return [reader, "", finding, phrase, instead]
    if len(about) != 5:
        raise ValueError("unknown question")
    return about


def _parted(said: Sequence[_Said]) -> tuple[tuple[CaseAnswer, ...], tuple[SwapAnswer, ...]]:
    """Part what was said of cases from what was said of swaps."""
    cases, swaps = [], []
    for each in said:
        code, ct, finding, phrase, instead = each.about
        if ct:
            cases.append(CaseAnswer(code, ct, finding, _known(each.answer, Answer)))
        else:
            words = each.words.strip()[:_MOST_WORDS]
            opinion: Any = _known(each.answer, Opinion) if each.answer else ""
            swaps.append(SwapAnswer(code, phrase, finding, instead, opinion, words))
    return tuple(cases), tuple(swaps)


def read(sheet: bytes) -> tuple[tuple[CaseAnswer, ...], tuple[SwapAnswer, ...]]:
    """Read the answers back; rows left empty are no answer and are skipped.

    Raises
    ------
    ReturnSheetError
        When the file is too large, not UTF-8, lacks columns, or holds unknown answers.
    """
    if len(sheet) > _LARGEST:
        raise ReturnSheetError(
            f"return sheet: {len(sheet):,} bytes, at most {_LARGEST:,} are read. "
            "Return the sheet that came with the feedback."
        )
    try:
        text = _decoded(sheet)
        parted = csv.DictReader(io.StringIO(text, newline=""), delimiter=_sign(text), strict=True)
        rows = list(parted)
    except (UnicodeDecodeError, csv.Error):
        raise ReturnSheetError(
            "return sheet: it is not a UTF-8 CSV file. Save the sheet as CSV UTF-8 and return it."
        ) from None
    _check(rows, parted.fieldnames or ())
    said = (
        _Said(
            [row[name].removeprefix("'") for name in _COLUMNS[:-1]],
            row["answer"].strip(),
            (row.get(_WORDS) or "").removeprefix("'").strip(),
        )
        for row in rows
    )
    return _parted([each for each in said if each.answer or (each.words and not each.about[1])])


@cache
def _answers(kind: Any) -> dict[str, str]:
    """Give the answers of a closed set by what a reader may call them."""
    known = {answer: answer for answer in get_args(kind)}
    for words in (Strings.load(language=language) for language in get_args(Language)):
        called = {
            words(f"{_CALLED[get_args(kind)]}.{a.replace(' ', '_')}"): a for a in known.values()
        }
        known |= {name.lower(): answer for name, answer in called.items()}
    return known


def _known(answer: str, kind: Any) -> Any:
    """Give an answer as one of a closed set.

    Raises
    ------
    ValueError
        When it is none of them.
    """
    if (wanted := answer.strip().lower()) not in _answers(kind):
        raise ValueError("unknown answer")
    return _answers(kind)[wanted]


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
        raise ReturnSheetError(
            f"return sheet: column(s) {', '.join(missing)} are missing. Keep the header as sent."
        )
    bad = [number for number, row in enumerate(rows, start=2) if not _sound(row)]
    if bad:
        raise ReturnSheetError(
            f"return sheet: {len(bad)} of {len(rows)} rows cannot be read; first at line {bad[0]}. "
            f"Use one of: {', '.join(get_args(Answer))} (swaps, which have no ct_code: "
            f"{', '.join(get_args(Opinion))}), or as the page calls them; or leave the cell empty."
        )


def _sound(row: dict[str, str]) -> bool:
    """Tell whether a row has its cells, and an answer of its kind or none."""
    if any(row[name] is None for name in _COLUMNS):
        return False
    kind = Answer if row["ct_code"].strip() else Opinion
    return row["answer"].strip().lower() in ("", *_answers(kind))
