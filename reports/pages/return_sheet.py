"""A reader's answers: the return sheet, the page's boxes to tick, and how both are read back.

The sheet has one row per case of the feedback, by study code, and one per swap, told by its empty
CT, each with its answers to choose from and an empty cell for one; on the page each has a box per
answer. It is written as the page is: names and columns in its language, parted by what that
language's spreadsheets expect. The HTML page saves the same. A reader types an answer as the page
calls it, in any language of the pages, or as it is kept. What comes back is hostile input like any
other file: sizes are capped, every bad row is named by its number, and an unknown answer is
refused, never guessed. Cells that a spreadsheet could take for a formula are written with a leading
apostrophe, which reading takes off again.

Sheets up to 0.9 named their columns in English, whatever the page; a swap's reader stood in their
``xray_code``, and its advised word in ``ct_said``. They are read as well.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import pikepdf

from reports.content import Case
from reports.numbers import MANNERS, Language
from reports.strings import Strings

if TYPE_CHECKING:
    from calibration.profile import Swap

Answer: TypeAlias = Literal["concordant", "discordant", "not applicable", "wrong pair"]
Opinion: TypeAlias = Literal["agree", "disagree", "not mine"]
"""What a reader says of a swap: a good one, none, or not about the reader's own cases."""

_NEEDED: Final = ("xray", "ct", "finding", "wrote", "said", "answer")
_COLUMNS: Final = ("reader", *_NEEDED[:-1], "instead", "choices", "answer", "words")
"""Keys of the columns in the catalogue, in their order; the last two go out empty."""
_FORMER: Final = dict(
    zip(("xray_code", "ct_code", "pathology", "you_wrote", "ct_said"), _NEEDED, strict=False),
    answer="answer",
    words="words",
)
_ALL: Final = "verdict.swap.all"  # what stands for a swap in all findings
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


Answers: TypeAlias = tuple[tuple[CaseAnswer, ...], tuple[SwapAnswer, ...]]


def safe(cell: str) -> str:
    """Mark a cell that a spreadsheet could take for a formula."""
    return f"'{cell}" if cell.startswith(_RISKY) else cell


@dataclass(frozen=True, slots=True)
class Sheet:
    """A row's cells but for its answer by what it is about; ``sign`` parts them.

    ``answers`` are as the page calls them, by what is kept.
    """

    head: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]
    sign: str
    answers: Mapping[str, str]

    def bytes(self) -> bytes:
        """Write it, with its answers empty, so that a spreadsheet of its language reads it."""
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, delimiter=self.sign)
        writer.writerow(self.head)
        for cells in self.rows.values():
            writer.writerow([*map(safe, cells), "", ""])
        return buffer.getvalue().encode("utf-8-sig")


def build(
    cases: Sequence[Case], swaps: Sequence[Swap] = (), *, reader: str = "", words: Strings
) -> Sheet:
    """Fill a sheet in the words' language with a reader's cases and swaps."""
    called = {kind: _called(kind, words) for kind in (Answer, Opinion)}
    either = {kind: " / ".join(each.values()) for kind, each in called.items()}
    rows: dict[str, tuple[str, ...]] = {}
    for case in cases:
        said = words.name(case.pathology), case.phrase, words.name(case.ct_phrase, of="CT: ")
        rows[about(case)] = reader, case.xray_code, case.ct_code, *said, "", either[Answer]
    for swap in swaps:
        finding = words.name(swap.finding) if swap.finding else words(_ALL)
        cells = reader, "", "", finding, swap.phrase, "", swap.instead, either[Opinion]
        rows[about_swap(reader, swap)] = cells
    head = tuple(words(f"sheet.{name}") for name in _COLUMNS)
    sign = MANNERS[words.language].between_cells
    return Sheet(head, rows, sign, {k: v for each in called.values() for k, v in each.items()})


def _called(kind: Any, words: Strings) -> dict[str, str]:
    """Give what a page calls the answers of a closed set."""
    kept, where = get_args(kind), _CALLED[get_args(kind)]
    return {each: words(f"{where}.{each.replace(' ', '_')}") for each in kept}


def codes_of(sheet: bytes) -> tuple[str, ...]:
    """Give the study codes that stand on a sheet as it was written, each once."""
    cases = (row for row in _rows(sheet) if row["ct"])
    each = (row[name].removeprefix("'") for row in cases for name in ("xray", "ct"))
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
    page: bytes, *, passphrases: Sequence[str] = ("",), findings: Collection[str] = ()
) -> Answers:
    """Read what was ticked and written on a page: about cases, and about swaps.

    A question without a tick and without words is no answer and is skipped.

    Parameters
    ----------
    passphrases
        What may open the page, tried in turn.
    findings
        Those that may be named, as they are kept; a page names them in its language.

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
            return _parted(_said(pdf), findings)
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


def _parted(said: Sequence[_Said], findings: Collection[str]) -> Answers:
    """Part what was said of cases from what was said of swaps."""
    cases, swaps = [], []
    kept = _findings(tuple(findings))
    for each in said:
        code, ct, finding, phrase, instead = each.about
        finding = kept.get(finding.strip().lower(), finding)
        if ct:
            cases.append(CaseAnswer(code, ct, finding, _known(each.answer, Answer)))
        else:
            words = each.words.strip()[:_MOST_WORDS]
            opinion: Any = _known(each.answer, Opinion) if each.answer else ""
            swaps.append(SwapAnswer(code, phrase, finding, instead, opinion, words))
    return tuple(cases), tuple(swaps)


def read(sheet: bytes, *, findings: Collection[str] = ()) -> Answers:
    """Read the answers back; rows left empty are no answer and are skipped.

    Parameters
    ----------
    findings
        Those that may be named, as they are kept; a sheet names them in its page's language.

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
    said = map(_answered, _rows(sheet))
    some = [each for each in said if each.answer or (each.words and not each.about[1])]
    return _parted(some, findings)


def _answered(row: Mapping[str, str]) -> _Said:
    """Give what a row is about, and its answer; of a former sheet's swap two cells stood apart."""
    cells = {name: cell.removeprefix("'").strip() for name, cell in row.items()}
    about = [cells[name] for name in _NEEDED[:-1]]
    if "instead" in cells and not cells["ct"]:
        about[0], about[-1] = cells.get("reader", ""), cells["instead"]
    return _Said(about, cells["answer"], cells.get("words", ""))


def _rows(sheet: bytes) -> list[dict[str, str]]:
    """Give the cells of every row by their columns' keys.

    Raises
    ------
    ReturnSheetError
        When it is no table, lacks columns, or a row lacks cells or holds an unknown answer.
    """
    try:
        text = _decoded(sheet)
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=_sign(text), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise ReturnSheetError(
            "return sheet: it is not a UTF-8 CSV file. Save the sheet as CSV UTF-8 and return it."
        ) from None
    header = [_columns().get(name.strip().lower(), "") for name in (lines or [[]])[0]]
    if missing := [Strings.load()(f"sheet.{name}") for name in _NEEDED if name not in header]:
        raise ReturnSheetError(
            f"return sheet: column(s) {', '.join(missing)} are missing. Keep the header as sent."
        )
    numbered = [(i, line) for i, line in enumerate(lines[1:], start=2) if any(line)]
    rows = [(i, dict(zip(header, line, strict=False))) for i, line in numbered]
    if bad := [i for i, row in rows if not (row.keys() >= {*_NEEDED} and _is_answer(row))]:
        raise ReturnSheetError(
            f"return sheet: {len(bad)} of {len(rows)} rows cannot be read; first at line {bad[0]}. "
            f"Use one of: {', '.join(get_args(Answer))} (swaps, which have no CT: "
            f"{', '.join(get_args(Opinion))}), or as the page calls them; or leave the cell empty."
        )
    return [row for _, row in rows]


def _is_answer(row: Mapping[str, str]) -> bool:
    """Tell whether a row has an answer of its kind, or none."""
    known = _answers(Answer if row["ct"].strip() else Opinion)
    return row["answer"].strip().lower() in ("", *known)


@cache
def _catalogues() -> tuple[Strings, ...]:
    return tuple(Strings.load(language=language) for language in get_args(Language))


@cache
def _columns() -> dict[str, str]:
    """Give the columns' keys by what a sheet of any language, or of a former issue, calls them."""
    named = {words(f"sheet.{name}").lower(): name for words in _catalogues() for name in _COLUMNS}
    return named | _FORMER


@cache
def _findings(findings: tuple[str, ...]) -> dict[str, str]:
    """Give findings as they are kept by what a sheet or page of any language calls them."""
    said = {words.name(each).lower(): each for words in _catalogues() for each in findings}
    every = {words(_ALL).lower(): "" for words in _catalogues()}
    return every | said | {each.lower(): each for each in findings}


@cache
def _answers(kind: Any) -> dict[str, str]:
    """Give the answers of a closed set by what a reader may call them."""
    known = {answer: answer for answer in get_args(kind)}
    for words in _catalogues():
        known |= {name.lower(): kept for kept, name in _called(kind, words).items()}
    return known


def _known(answer: str, kind: Any) -> Any:
    """Give an answer as one of a closed set; one that is none of them is a ValueError."""
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
