"""Observation segments → the report: one line each, ``~`` blobs, escapes, sections, status.

Segments are put in the order of their set-ID where all have one, so that a shuffled feed gives the
same text. Escapes are decoded after splitting. Rows of text win over documents encapsulated in
``ED`` (see `attachments` for which of these), unless they say no more than that there is one; notes
(``NTE``) are the report where there is neither, or the part of it that the rows lack. Pointers (RP)
and codes are no text, and rows that were deleted or posted as wrong (OBX-11 D, W, X) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, TypeAlias

from pipeline.formats import values
from pipeline.formats.attachments import (
    CODED_DOCUMENTS,
    NOT_TEXT,
    Attachment,
    bytes_of,
    chosen,
    text_in_cell,
)
from pipeline.formats.exams import DRAFT, SetAside
from pipeline.formats.hl7v2.endings import whole_words
from pipeline.formats.hl7v2.framing import CODED, LETTERS, Separators, unescaped

_NO_TEXT: Final = values.known_words("no_text")
"""Types of a value that is no text; one that no table knows is text, so that no words are lost."""
_ATTACHMENTS: Final = frozenset({"ED", "RP"})
GONE: Final = frozenset({"D", "W", "X"})
_WRONG: Final = frozenset({"D", "W"})
_HEADING: Final = re.compile(r"\s{0,8}[A-Z][A-Za-z /&()-]{2,40}:")
_ABOUT: Final = ("INDICATION:", "HISTORY:", "COMPARISON:", "TECHNIQUE:")
"""Parts behind which rows of another code, which say no part, are the report again."""
_NOTICE: Final = 200
"""Text shorter than this may be a notice that the report is attached."""
_POINTS: Final = re.compile(r"(?i)\b(?:attach(?:ed|ment)|enclosed|embedded|scanned|pdf|document)\b")
_END: Final = re.compile(
    r"(?<![ (])~|~(?!\d[\d.,x× -]{0,12}(?:[mck]?m|m?l|cc|g|%|HU|days?|weeks?|months?|years?)(?!\w))"
)
"""A line's end; before a measure the sign says "about", for few senders escape it."""
_STATUS: Final = 11
"""The field of a row's status."""
_GAP: Final = "observations of which a number is missing"
"""How such a text is counted: an interface may leave rows out, and a row may be lost."""
UNSURE: Final = "observations none of which is final, in a report that is said to be"
"""Counted where no row bears out what the order says; of a preliminary report it is no remark."""
_NAMED, _PARTED = 4, 5
"""Rows are called alike up to here: by name (OBX-3), or by part too (OBX-4)."""
CODES: Final = "report of which coded observations (CE, CWE) are left out: they hold no sentence"
NOTES: Final = "report of which notes (NTE) are left out: its observations are the text"
_ORIGINAL: Final = 8
"""The component of CWE with the words that were coded."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_LATE: Final = ("final", "corrected")
_AGAIN: Final = (
    ("prelim", _LATE, _PARTED),
    ("prelim", _LATE, _NAMED),
    ("final", _LATE[1:], _NAMED),
)
"""Status of rows, of those that may stand in their place, and how both are called."""
_FURTHEST: Final = ("addendum", "corrected", "prelim", "final")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/=\s]+")
_BROKEN: Final = ("bad_attachment", "damaged_document")
_TEXT_KINDS: Final = values.known_words("text_kind")


@dataclass(frozen=True, slots=True)
class Observations:
    """The report of one order.

    Attributes
    ----------
    text
        The report; '' where no row holds text.
    has_addendum
        Whether a row is an addendum.
    is_corrected
        Whether a row was corrected.
    rows
        What the rows that were used say beside their text, each once; the furthest status first,
        so that it speaks for the report.
    form
        "RTF" or "PDF" where the text was read from such a document, else what is odd about its
        rows, or ''.
    taken_back
        Whether no row is left because rows were deleted or posted as wrong (D, W). That no result
        can be had (X) says nothing of an earlier one.
    fault
        Why there is no text although a row has an attachment or a pointer.
    left_out
        What a run counts of that was left out.
    """

    text: str
    has_addendum: bool
    rows: tuple[str, ...]
    is_corrected: bool = False
    form: str = ""
    fault: SetAside | None = None
    taken_back: bool = False
    left_out: tuple[str, ...] = ()


def observations(
    lines: Sequence[str], separators: Separators, notes: Sequence[str] = (), width: int = 0
) -> Observations:
    """Build the report of one order from its ``OBX`` and ``NTE`` segments as they came.

    Rows of one length, `width`, are pieces of a text that was broken without regard to its words.
    """
    rows = _ordered([_whole(line.split(separators.field), separators) for line in lines])
    used = _standing(
        [row for row in rows if _cell(row, 11).strip().upper() not in GONE], separators
    )
    texts = [(row, text) for row in used if (text := _text(row, separators)) is not None]
    texts = whole_words(texts, width) if width else texts
    texts, form, fault = _with_documents(texts, used, separators)
    told = [CODES] if any(_is_left_out(row, separators) for row in used) else []
    if notes and not fault:
        added = _noted(notes, texts, separators)
        told += [NOTES] if added is None else []
        texts += added or []
    parts, addendum = _sections(texts, separators)
    text = "\n".join(parts).strip("\n ")
    stated = {_stated(row) for row, _ in texts}
    is_unsure = bool(stated) and not stated & {"", "final", "corrected", "addendum"}
    is_mixed = {"prelim", "final"} <= stated
    odd = _GAP if _lacks_a_row(rows) else DRAFT if is_mixed else UNSURE if is_unsure else ""
    found = text_in_cell(text)
    if isinstance(found, SetAside):
        text, fault = "", found
    else:
        text, form = found[0], form or found[1] or odd
    spoken = dict.fromkeys(
        separators.field.join(["OBX", "", *[""] * 4, *row[6:]]) for row in sorted(used, key=_rank)
    )
    return Observations(
        text,
        addendum or "addendum" in stated or values.ADDED.search(text) is not None,
        tuple(spoken),
        "corrected" in stated,
        form,
        fault=None if text.strip() else fault,
        taken_back=not used and any(_cell(row, 11).strip().upper() in _WRONG for row in rows),
        left_out=tuple(told),
    )


_Texts: TypeAlias = list[tuple[list[str], str]]


def _standing(rows: list[list[str]], separators: Separators) -> list[list[str]]:
    """Leave out preliminary rows that came again as final or corrected, and final as corrected.

    They are known by name and part (OBX-3, OBX-4), as a run before the others or behind them; or by
    name alone, where the others hold findings and impression. What has a heading that the others
    lack, or is over twice as long, is a part of its own: they may only agree with it.
    """
    for old, new, end in _AGAIN:
        early, late = ([row for row in rows if _status(row) in of] for of in ((old,), new))
        for name in {tuple(row[3:end]) for row in early} & {tuple(row[3:end]) for row in late}:
            alike = [[row for row in each if tuple(row[3:end]) == name] for each in (early, late)]
            said = [[_lines(_cell(row, 5), separators) for row in each] for each in alike]
            before, after = map("\n".join, said)
            mine, others = _titles(before), _titles(after)
            parts = {_heading(row, separators) for row in late}
            runs = len(list(groupby(row in alike[0] for row in rows if tuple(row[3:end]) == name)))
            is_whole = len(others) > 1 or parts >= values.REPORTED
            is_again = is_whole if end == _NAMED else runs == len(alike)
            if is_again and mine <= others and len(before) <= 2 * len(after):
                rows = [row for row in rows if row not in alike[0]]
    return rows


def _status(row: Sequence[str]) -> str:
    """Give our word for a row's own status; '' where it says none that we know."""
    return values.status_of(raw) if (raw := _cell(row, _STATUS).strip()) else ""


def _stated(row: Sequence[str]) -> str:
    """Give a row's own status, as it is written where it is none that we know."""
    return _status(row) or _cell(row, _STATUS).strip()


def _with_documents(
    texts: _Texts, rows: Sequence[list[str]], separators: Separators
) -> tuple[_Texts, str, SetAside | None]:
    """Give the documents where the rows are none of the report, or say no more than a remark.

    Rows that are called as a document is are the report in another form. A remark that is not in
    the document is kept below it; rows that say all that it does are the report.
    """
    said = "\n".join(text for _, text in texts).strip()
    is_worded, points = _LETTER.search(said), _POINTS.search(said)
    called = [row[3:4] for row in rows if _kind(row) in _ATTACHMENTS]
    is_report = values.PART.search(said) or any(row[3:4] in called for row, _ in texts)
    if is_worded and (not called or len(said) >= _NOTICE or (is_report and not points)):
        return texts, "", None
    found, form, fault = _documents(rows, separators)
    if not is_worded or points or (fault and fault.reason in _BROKEN):
        return found, form, fault
    held = {word.casefold() for _, text in found for word in _WORD.findall(text)}
    adds = not held.issuperset(map(str.casefold, _WORD.findall(said)))
    if not (adds and found) and not any(values.PART.search(text) for _, text in found):
        return texts, "", None
    return [*found, *texts] if adds else found, form, None


def _documents(
    rows: Sequence[list[str]], separators: Separators
) -> tuple[_Texts, str, SetAside | None]:
    """Read the encapsulated documents: each text with its row, their form, why there is none."""
    whole_rows = _rejoined(rows, separators)
    found = [(row, e) for row in whole_rows if (e := _encapsulated(row, separators)) is not None]
    broken = [each for _, each in found if isinstance(each, SetAside)]
    whole = [(row, each) for row, each in found if isinstance(each, Attachment)]
    best = chosen([each for _, each in whole]) if whole else NOT_TEXT
    if isinstance(best, SetAside):
        is_none = not any(_kind(row) in _ATTACHMENTS for row in rows)
        return [], "", None if is_none else broken[0] if broken else best
    return [(whole[at][0], text) for at, text in best.parts], best.document, None


def _rejoined(rows: Sequence[list[str]], separators: Separators) -> list[list[str]]:
    """Put documents together whose base64 goes on in the rows behind."""
    joined: list[list[str]] = []
    for row in rows:
        data = _data(row, separators)
        before = _data(joined[-1], separators) if joined else ""
        goes_on = data and not data.startswith(CODED_DOCUMENTS) and _BASE64.fullmatch(data)
        if goes_on and before.startswith(CODED_DOCUMENTS) and row[3:4] == joined[-1][3:4]:
            joined[-1] = [*joined[-1][:5], joined[-1][5] + data, *joined[-1][6:]]
        else:
            joined.append(row)
    return joined


def _data(row: Sequence[str], separators: Separators) -> str:
    """Give the data of an encapsulated document as they stand in a row; '' for other rows."""
    is_document = _kind(row) == "ED"
    data = _cell(_cell(row, 5).split(separators.component), 4) if is_document else ""
    if not _BASE64.fullmatch(separators.repetition):  # where it is "+", it is part of the data
        data = data.replace(separators.repetition, "")
    return unescaped(data, separators).strip()


def _noted(notes: Sequence[str], texts: _Texts, separators: Separators) -> _Texts | None:
    """Give the notes where they read like a report, or hold a part that its rows lack.

    A remark on the exam is none; None where what is left out may be more than one.
    """
    cells = [_cell(note.split(separators.field), 3) for note in notes]
    text = "\n".join(_lines(cell, separators) for cell in cells)
    said = "\n".join(each for _, each in texts)
    known = {_heading(row, separators) for row, _ in texts} | _titles(said)
    if not said.strip():
        is_report = len(text) >= _NOTICE or _titles(text) or values.ADDED.search(text)
        return [([], text)] if is_report else []
    if first := next((m for m in values.PART.finditer(text) if not _titles(m[0]) <= known), None):
        return [([], text[first.start() :])]
    return None if len(text) >= _NOTICE and " ".join(text.split()) not in said else []


def _titles(text: str) -> set[str]:
    """Give the headings of the parts that a text holds."""
    return {values.section_of([title]) for title in values.PART.findall(text)}


def _sections(texts: _Texts, separators: Separators) -> tuple[list[str], bool]:
    """Put a heading where the section changes; tell whether any row is an addendum."""
    parts: list[str] = []
    section, addendum, before = "", False, [""]
    for row, text in texts:
        heading = _heading(row, separators)
        if not heading and section in _ABOUT and row[3:4] != before:
            heading = "FINDINGS:"
        before = row[3:4]
        if heading not in (section, "") and text.strip():
            # Reports begin with their findings: only a change of section needs a heading.
            opens = heading == "FINDINGS:" and not section
            if not opens and not _HEADING.match(text):
                parts.append(heading)
            section = heading
        addendum = addendum or heading == "ADDENDUM:"
        parts.append(text)
    return parts, addendum


def _kind(row: Sequence[str]) -> str:
    return _cell(row, 2).strip().upper()


def _text(row: Sequence[str], separators: Separators) -> str | None:
    """Give a row's text; None where it is none.

    A coded row is text where it is a part of the report, as the standard has an impression, or
    where a sentence stands in it.
    """
    value, kind = _cell(row, 5), _kind(row)
    if kind not in CODED:
        return None if kind in _NO_TEXT else _lines(value, separators)
    said = values.PART.search(value.replace(separators.component, "\n"))
    each = (coded.split(separators.component) for coded in value.split(separators.repetition))
    words = [_cell(parts, _ORIGINAL) or _cell(parts, 1) or parts[0] for parts in each]
    is_text = _heading(row, separators) or said or any(map(values.is_sentence, words))
    return _lines(separators.repetition.join(words), separators) if is_text else None


def _is_left_out(row: Sequence[str], separators: Separators) -> bool:
    is_coded = _kind(row) in CODED and _LETTER.search(_cell(row, 5)) is not None
    return is_coded and _text(row, separators) is None


def _lines(value: str, separators: Separators) -> str:
    mark = separators.repetition
    lines = _END.split(value) if mark == "~" else value.split(mark)
    return "\n".join(unescaped(line, separators).rstrip() for line in lines if line != '""')


def _encapsulated(row: Sequence[str], separators: Separators) -> Attachment | SetAside | None:
    """Take ``source ^ type ^ subtype ^ encoding ^ data`` apart; None where there is no data."""
    if _kind(row) != "ED":
        return None
    components = _cell(row, 5).split(separators.component)
    kind, subtype, encoding = (_cell(components, at).strip().casefold() for at in (1, 2, 3))
    data = _data(row, separators)
    if not data:
        return None
    content = bytes_of(data, encoding)
    if content is None:
        return SetAside("bad_attachment", "its data are not what its encoding says")
    named = subtype.rpartition("/")[2]
    return Attachment(content, _TEXT_KINDS.get(named, f"{kind or 'application'}/{named}"))


def _heading(row: Sequence[str], separators: Separators) -> str:
    """Give the heading of a row's part by its code, its name or its other code; '' for none."""
    names = _cell(row, 3).split(separators.component)
    return values.section_of(name.rpartition(separators.sub)[2] for name in names)


def _rank(row: Sequence[str]) -> int:
    return _FURTHEST.index(status) if (status := _status(row)) else len(_FURTHEST)


def _whole(row: list[str], separators: Separators) -> list[str]:
    """Put a text together in which a bar stands as it is: its status then stands too far behind."""
    late = next((at for at, cell in enumerate(row) if at > _STATUS and cell in LETTERS), 0)
    if not late or not row[6] or _rank(row) < len(_FURTHEST) or _kind(row) in _NO_TEXT:
        return row
    end = late - _STATUS + 6
    return [*row[:5], separators.field.join(row[5:end]), *row[end:]]


def _ordered(rows: list[list[str]]) -> list[list[str]]:
    numbers = [_cell(row, 1).strip() for row in rows]
    if all(number.isdigit() and len(number) < 9 for number in numbers) and len(set(numbers)) == len(
        rows
    ):
        return sorted(rows, key=lambda row: int(_cell(row, 1)))
    return rows


def _lacks_a_row(rows: Sequence[list[str]]) -> bool:
    """Tell a gap in numbers that otherwise rise by one; feeds number in other ways too.

    Where all rows have one number, the lines may have theirs as a part (OBX-4).
    """
    numbers = [_cell(row, 1).strip() for row in rows]
    numbers = [_cell(row, 4).strip() for row in rows] if len(set(numbers)) == 1 else numbers
    if not all(number.isdecimal() and len(number) < 9 for number in numbers):
        return False
    steps = [after - before for before, after in pairwise(map(int, numbers))]
    gaps = [step - 1 for step in steps if step > 1]
    return bool(gaps) and len(gaps) <= steps.count(1) and sum(gaps) < len(rows)


def _cell(row: Sequence[str], at: int) -> str:
    return row[at] if at < len(row) else ""
