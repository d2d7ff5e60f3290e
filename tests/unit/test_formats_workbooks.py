"""Workbooks as spreadsheets write them: sheets, formulas, dates, numbers; broken ones."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from openpyxl.utils.datetime import MAC_EPOCH

from pipeline.errors import InputError
from pipeline.formats.exams import ExamBatch
from pipeline.formats.exports import TableOptions, read

HEAD = ["accession", "patient_id", "reader_id", "modality", "performed_at", "signed_at", "text"]


def row(accession: object = "00123", **changes: object) -> list[object]:
    day = datetime(2026, 3, 4, 9, 30)  # noqa: DTZ001 - a cell has no time zone
    cells: dict[str, object] = dict(
        zip(HEAD, [accession, "M1", "KS1", "XR", day, day, "Clear."], strict=True)
    )
    return list((cells | changes).values())


def book(path: Path, **sheets: list[list[object]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for each in rows:
            sheet.append(each)
    made.save(path)
    return path


def found(path: Path, **columns: Any) -> list[ExamBatch]:
    return list(read(path, TableOptions(columns=columns)))


def exams(path: Path, **columns: Any) -> pd.DataFrame:
    return pd.concat([each.exams for each in found(path, **columns)], ignore_index=True)


def test_tables_of_all_visible_sheets_are_read_below_whatever_titles(tmp_path: Path) -> None:
    mixed = [HEAD[::-1], row("C1", modality="CT")[::-1]]
    path = book(tmp_path / "ris.xlsx", Cover=[["Export of March"], ["by", "Radiology"]],
                XR=[["X-rays"], [], HEAD, row("A1"), [], HEAD, row("A2")], CT=mixed,
                Old=[HEAD, row("A9")])  # fmt: skip
    made = openpyxl.load_workbook(path)
    made["Old"].sheet_state = "hidden"
    made.save(path)
    read_as = exams(path)
    assert read_as["accession"].tolist() == ["A1", "A2", "C1"]
    assert read_as["source_row"].tolist() == [1, 3, 4]
    assert read_as["modality"].tolist() == ["XR", "XR", "CT"]
    aside = Counter(r for each in found(path) for r in each.quarantined["reason"])
    assert aside == {"repeated_header": 1}


def test_numbers_are_read_as_shown_and_zeros_that_excel_lost_are_told(tmp_path: Path) -> None:
    rows = [row("00123"), row(123), row(123), row(1234567890123456), row(12.5)]
    path = book(tmp_path / "ris.xlsx", Sheet1=[HEAD, *rows])
    made = openpyxl.load_workbook(path)
    made["Sheet1"]["A4"].number_format = "00000"
    made.save(path)
    read_as = exams(path)
    assert read_as["accession"].tolist() == [
        "00123",
        "123",
        "00123",
        "1.23456789012346E+15",
        "12.5",
    ]
    assert [each != "" for each in read_as["decoded_as"]] == [False, True, False, False, True]


def test_what_excel_escapes_in_a_text_is_the_character_that_was_typed(tmp_path: Path) -> None:
    text = "Clear._x000D_\nHeart_x0009_normal, tube_x005F_x0041_ in situ."
    read_as = exams(book(tmp_path / "ris.xlsx", Sheet1=[HEAD, row(text=text)]))["text"].item()
    assert read_as.split() == ["Clear.", "Heart", "normal,", "tube_x0041_", "in", "situ."]


def test_dates_are_dates_and_times_are_times_in_whatever_form_they_stand(tmp_path: Path) -> None:
    head = [*HEAD[:4], "day", "clock", "signed_at", "text"]
    day, signed = date(2026, 3, 4), datetime(2026, 3, 5)  # noqa: DTZ001
    rows = [
        ["A1", "M1", "KS1", "XR", day, time(9, 30), signed, "Clear."],
        ["A2", "M1", "KS1", "XR", 46085, 0.395833333, "04.03.2026 10:00", "Clear."],
        ["A3", "M1", "KS1", "XR", day, None, day, "Clear."],
    ]
    path = book(tmp_path / "ris.xlsx", Sheet1=[head, *rows])
    read_as = exams(path, performed_at="day + clock")
    assert read_as["performed_at"].tolist() == [
        "2026-03-04 09:30:00", "46085 0.395833333", "2026-03-04",
    ]  # fmt: skip
    # A midnight that the cell shows is a time of day; a day alone is none.
    assert read_as["signed_at"].tolist() == [
        "2026-03-05T00:00:00",
        "04.03.2026 10:00",
        "2026-03-04",
    ]


def test_a_formula_is_its_last_value_and_an_error_is_nothing(tmp_path: Path) -> None:
    path = book(tmp_path / "ris.xlsx", Sheet1=[HEAD, row('="00123"'), row("A2", text="#N/A")])
    # What a spreadsheet adds when it saves: the value that it computed.
    made = zipfile.ZipFile(path)
    parts = {name: made.read(name) for name in made.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    computed = rb'<c r="A2" t="str"><f>"00123"</f><v>00123</v></c>'
    parts[sheet], count = re.subn(rb'<c r="A2"[^>]*>.*?</c>', computed, parts[sheet])
    assert count == 1
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert exams(path)[["accession", "text"]].to_numpy().tolist() == [
        ["00123", "Clear."],
        ["A2", ""],
    ]


def test_a_sheet_that_says_to_be_vast_costs_its_rows_only(tmp_path: Path) -> None:
    path = book(tmp_path / "ris.xlsx", Sheet1=[HEAD, row("A1")])
    made = openpyxl.load_workbook(path)
    made["Sheet1"]["XFD60000"] = "far"
    made.save(path)
    assert exams(path)["accession"].tolist() == ["A1"]


def test_what_is_no_workbook_is_refused_with_what_to_do(tmp_path: Path) -> None:
    whole = book(tmp_path / "ris.xlsx", Sheet1=[HEAD, row()]).read_bytes()
    no_table = book(tmp_path / "none.xlsx", Cover=[["Export of March"]])
    for name, content, says in (
        ("cut.xlsx", whole[: len(whole) // 2], "cannot be read"),
        ("none.xlsx", no_table.read_bytes(), "7 needed column.s. missing"),
        ("locked.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "password"),
        ("text.xlsx", b"accession,patient_id", "cannot be read"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=says):
            found(tmp_path / name)


def test_a_workbook_that_would_fill_the_memory_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = book(tmp_path / "ris.xlsx", Sheet1=[HEAD, row()])
    monkeypatch.setattr("pipeline.formats.workbooks._MAX_UNPACKED", 2000)
    with pytest.raises(InputError, match="would unpack to"):
        found(path)


def test_days_are_counted_by_the_workbooks_own_calendar(tmp_path: Path) -> None:
    head = [*HEAD, "patient_birth_date", "exam_time"]
    cells = {"performed_at": 46085.395833 - 1462, "signed_at": 46085.5 - 1462}
    rows = [
        [*row("A1", **cells), 21317 - 1462, 0.25],
        [*row("A2"), 1941, 0.25],  # a date's own format, a year
        [*row(44623, **cells | {"performed_at": 20260304}), 19410512, 93000],
    ]
    path = tmp_path / "mac.xlsx"
    made = openpyxl.Workbook()
    made.epoch = MAC_EPOCH
    for each in (head, *rows):
        made.active.append(each)
    made.save(path)
    read_as = exams(path, performed_at="performed_at + exam_time")
    assert read_as["accession"].tolist() == ["A1", "A2", "44623"]
    assert read_as["performed_at"].tolist()[::2] == ["46085.395833 0.25", "20260304 093000"]
    assert read_as["performed_at"][1].startswith("2026-03-04")
    assert read_as["signed_at"].tolist()[::2] == ["46085.5", "46085.5"]
    assert read_as["patient_birth_date"].tolist() == ["21317", "1941", "19410512"]


def merged(path: Path, *ranges: str) -> Path:
    made = openpyxl.load_workbook(path)
    for each in ranges:
        made.active.merge_cells(each)
    made.save(path)
    return path


def test_a_cell_that_is_merged_over_rows_is_said_of_each_that_has_one_of_its_own(
    tmp_path: Path,
) -> None:
    rows = [row("A1"), row("A2", modality="CT"), row("A3", patient_id="M2"), [], []]
    path = book(tmp_path / "ris.xlsx", Sheet1=[["Night register"], HEAD, *rows, row("A6")])
    # A patient beside two exams; an exam whose row is three lines high.
    high = [f"{column}5:{column}7" for column in "ABCDEFG"]
    read_as = exams(merged(path, "A1:G1", "B3:B4", "F3:F4", *high))
    assert read_as["accession"].tolist() == ["A1", "A2", "A3", "A6"]
    assert read_as["patient_id"].tolist() == ["M1", "M1", "M2", "M1"]
    assert set(read_as["signed_at"]) == {"2026-03-04T09:30:00"}


def test_a_header_of_two_rows_is_read_as_it_is_shown(tmp_path: Path) -> None:
    above = [*HEAD[:4], "times", None, "text"]
    below = [None, None, None, None, "performed_at", "signed_at", None]
    path = book(tmp_path / "ris.xlsx", Sheet1=[above, below, row("A1"), row("A2")])
    high = [f"{column}1:{column}2" for column in "ABCDG"]
    assert exams(merged(path, "E1:F1", *high))["accession"].tolist() == ["A1", "A2"]


def test_a_report_that_is_merged_over_two_exams_is_the_firsts_alone(tmp_path: Path) -> None:
    rows = [row("A1", text="Likely mass. CT shows it."), row("A2", modality="CT"), row("A3")]
    path = merged(book(tmp_path / "ris.xlsx", Sheet1=[HEAD, *rows]), "G2:G3")
    assert exams(path)["text"].tolist() == ["Likely mass. CT shows it.", "", "Clear."]


def test_merges_are_found_wherever_the_sheet_is_cut_into_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row(f"A{n}", patient_id=f"M{n // 2}") for n in range(12)]
    path = book(tmp_path / "ris.xlsx", Sheet1=[HEAD, *rows])
    merged(path, *(f"B{n}:B{n + 1}" for n in range(2, 14, 2)))
    for size in (7, 64, 333):
        monkeypatch.setattr("pipeline.formats.workbooks._LOOKED_AT", size)
        assert exams(path)["patient_id"].tolist() == [f"M{n // 2}" for n in range(12)]
