"""The column map: names, numbers, paths within cells, joins and what else to take."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.cells import report, written
from pipeline.formats.columns import ColumnMap, Spec, date_and_time, keys_of, nested_keys
from pipeline.formats.exports import TableOptions, read
from pipeline.formats.times import date_formats, iso_times
from pipeline.site.site import Site

HEADER = ["accession", "patient_id", "reader_id", "modality", "performed_at", "signed_at", "text"]
ROW = ["A1", "7", "r1", "XR", "2026-03-01 10:00", "2026-03-01 10:30", "Clear."]


def cell(ours: str, spec: Spec, **row: object) -> str:
    """Give one of our cells of a row."""
    return ColumnMap({ours: spec}).within(keys_of(list(row))).cells(row).get(ours, "")


def lines_of(path: Path, rows: Sequence[Sequence[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(rows)
    return path


def first(path: Path, columns: Mapping[str, Spec] | None = None) -> dict[str, str]:
    (batch,) = read(path, TableOptions(columns=columns or {}))
    assert batch.quarantined.empty
    return dict(batch.exams.astype(str).iloc[0])


def test_a_reference_to_a_character_is_that_character_in_every_column(tmp_path: Path) -> None:
    row = [*ROW[:2], "O&#39;Neill", *ROW[3:], "CT chest &amp; abdomen"]
    found = first(lines_of(tmp_path / "a.csv", [[*HEADER, "exam_name"], row]))
    assert (found["reader_id"], found["exam_name"]) == ("O'Neill", "CT chest & abdomen")


def test_of_several_columns_the_first_that_is_filled_is_taken() -> None:
    spec = ["signed", "dictated"]
    assert cell("signed_at", spec, signed="10:30", dictated="10:00") == "10:30"
    assert cell("signed_at", spec, signed="  ", dictated="10:00") == "10:00"
    assert cell("signed_at", spec, dictated="10:00") == "10:00"
    assert cell("signed_at", ["day + clock", "sent"], day="", clock="9:05", sent="x") == "x"


def test_a_name_differs_by_case_and_blanks_at_most_and_wins_over_every_sign_in_it() -> None:
    assert cell("accession", "Accession No", **{" accession  NO": "A1"}) == "A1"
    assert cell("accession", "a + b", **{"a + b": "A1", "a": "x", "b": "y"}) == "A1"
    assert cell("accession", "a.b", **{"a.b": "A1", "a": {"b": "x"}}) == "A1"
    assert cell("accession", "acc", **{"ACC": "A1", "Acc": "A2"}) == ""


def test_parts_of_a_report_stand_under_the_headings_of_their_columns() -> None:
    spec = "Findings + Impression_Text"
    joined = cell("text", spec, Findings="Clear.", Impression_Text="1. Normal.")
    assert joined == "FINDINGS:\nClear.\n\nIMPRESSION:\n1. Normal."
    own = cell("text", spec, Findings="EXAM: CT\nClear.", Impression_Text="Impression: none.")
    assert own == "EXAM: CT\nClear.\n\nImpression: none."
    assert cell("text", spec, Findings="", Impression_Text="Normal.") == "IMPRESSION:\nNormal."
    assert cell("text", spec, Findings=" ", Impression_Text=None) == ""
    assert cell("text", "a + b", a="One.", b="<p>Two &lt; 3.</p>") == "One.\n\nTwo < 3."
    assert cell("text", "Impression", Impression=" As it is.\n") == " As it is.\n"


def test_a_part_that_cannot_be_read_is_given_alone_so_that_its_reader_says_why() -> None:
    spoilt = "JVBERi0xLjQKZGFtYWdlZA=="
    assert cell("text", "a + b", a="One.", b=spoilt) == spoilt


def test_a_report_that_spells_an_object_as_json_is_read_as_that_object() -> None:
    cell = '{"findings": "Clear.", "impression": ["1. Likely edema.", "2. Stable."]}'
    assert report([("REPORT", cell)]) == (
        "FINDINGS:\nClear.\n\nIMPRESSION:\n1. Likely edema.\n2. Stable."
    )
    assert report([("REPORT", '{"findings": "Cl')]) == '{"findings": "Cl'


def test_parts_in_a_list_stand_under_their_titles() -> None:
    parts = [
        {"code": "59776-5", "name": "Findings", "no": 1, "body": "Small effusion.\nNo mass."},
        {"name": "Impression", "no": 2, "body": "Likely edema.", "by": "Seen by us."},
        {"code": "", "name": "Comment", "no": 3, "body": "Called."},
    ]  # fmt: skip
    told = (
        "FINDINGS:\nSmall effusion.\nNo mass.\n\nIMPRESSION:\nLikely edema.\nSeen by us.\n\n"
        "Comment\nCalled."
    )
    for said in (parts, {"report": parts}, json.dumps(parts)):
        assert report([("report", said)]) == told
    lines = [{"no": 1, "line": "Impression:"}, {"no": 2, "line": "No acute change in the lungs."}]
    assert report([("text", lines)]) == "1 Impression:\n2 No acute change in the lungs."


def test_a_report_within_an_object_has_its_keys_for_headings() -> None:
    sections = {"findings": ["Line one.", "Line two."], "impression": "Normal.", "technique": None}
    expected = "FINDINGS:\nLine one.\nLine two.\n\nIMPRESSION:\nNormal."
    assert cell("text", "report.sections", report={"sections": sections}) == expected
    assert report([("text", "A\n\nB")]) == "A\n\nB"


def test_cells_of_every_type_are_written_as_a_person_would() -> None:
    values = [100200.0, Decimal("7.00"), Decimal("7.5"), 1e300, True, timedelta(hours=9)]
    assert [*map(written, values)] == ["100200", "7", "7.5", "1e+300", "True", "9:00:00"]
    assert [*map(written, [float("nan"), pd.NaT, None, " A1\x00\x00 ", "a\ud800"])] == [
        "", "", "", "A1", "a?",
    ]  # fmt: skip
    staff = [{"family": "Hope", "given": ["Faith", "Q"]}, {"family": "May"}]
    assert written(staff, "; ") == "Hope Faith Q; May"
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    assert written(deep) == ""


@pytest.mark.parametrize(
    ("cell", "meant"),
    [
        ("NULL", ""), ("\\N", ""), ("(null)", ""), ("nan", ""), ("Null, Anna", "Null, Anna"),
        ('="00123"', "00123"), ("'00123", "00123"), ("'t Hooft", "'t Hooft"),
    ],
)  # fmt: skip
def test_what_exports_put_around_a_value_is_taken_off(cell: str, meant: str) -> None:
    assert written(cell) == meant


def test_line_breaks_that_are_spelt_out_are_line_breaks(tmp_path: Path) -> None:
    texts = ["FINDINGS:<BR>5 < 6 &amp; clear", r"FINDINGS:\r\n5 < 6 & clear"]
    rows = [[*ROW[:-1], text] for text in texts]
    (batch,) = read(lines_of(tmp_path / "t.csv", [HEADER, *rows]), TableOptions())
    assert batch.exams["text"].tolist() == ["FINDINGS:\n5 < 6 & clear"] * 2


@pytest.mark.parametrize(
    ("cells", "joined"),
    [
        (("2026-03-04", "09:30:00"), "2026-03-04 09:30:00"),
        (("2026-03-04 00:00:00", "1899-12-30 09:30:00"), "2026-03-04 09:30:00"),
        (("2026-03-04T00:00:00", "9:30"), "2026-03-04 09:30"),
        (("3/4/2026 0:00", "9:30 PM"), "3/4/2026 09:30 PM"),
        (("3/4/2026 12:00:00 AM", "9:30 PM"), "3/4/2026 09:30 PM"),
        (("20260304", "93015"), "20260304 093015"),
        (("2026-03-04", ""), "2026-03-04"),
        (("2026-03-04 00:00:00", ""), "2026-03-04 00:00:00"),
        (("", "09:30"), ""),
    ],
)
def test_a_date_and_its_time_become_one(cells: tuple[str, ...], joined: str) -> None:
    assert date_and_time(cells) == joined


@pytest.mark.parametrize(
    ("raw", "iso"),
    [
        ("46085.395833333", "2026-03-04T09:30:00"),
        ("46085", "2026-03-04"),
        ("46085.0", "2026-03-04"),
        ("46085 0.395833333", "2026-03-04T09:30:00"),
        ("20260304093005", "2026-03-04T09:30:05"),
        ("20260304 0930", "2026-03-04T09:30:00"),
        ("20260304 093000.000000", "2026-03-04T09:30:00"),
        ("20260304093000.250+1100", "2026-03-04T09:30:00+11:00"),
        ("1772616600000", "2026-03-04T09:30:00+00:00"),
        ("20261304093005", "20261304093005"),
        ("1772616600", "1772616600"),  # may be digits of a date; only where the format is named
        ("2026-03-04 09:30", "2026-03-04 09:30"),
        ("", ""),
    ],
)
def test_times_that_look_like_nothing_else_are_known(raw: str, iso: str) -> None:
    assert iso_times(pd.Series([raw], dtype="str")).tolist() == [iso]


def test_formats_of_times_are_tried_in_their_order_and_leave_the_rest() -> None:
    formats = ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y", "epoch")
    raw = ["04.03.2026 09:30:05", "04.03.2026 09:30", "04.03.2026", "1772616600", "2026-03-04"]
    assert iso_times(pd.Series(raw, dtype="str"), formats).tolist() == [
        "2026-03-04T09:30:05", "2026-03-04T09:30:00", "2026-03-04", "2026-03-04T09:30:00+00:00",
        "2026-03-04",
    ]  # fmt: skip
    assert date_formats(("%m/%d/%Y %I:%M %p",)) == ("%m/%d/%Y %I:%M %p", "%m/%d/%Y")


def test_offsets_on_both_sides_of_a_clock_change_are_one_format() -> None:
    raw = pd.Series(["29.03.2026 01:30 +0100", "29.03.2026 03:30 +0200"], dtype="str")
    assert iso_times(raw, ("%d.%m.%Y %H:%M %z",)).tolist() == [
        "2026-03-29T00:30:00+00:00", "2026-03-29T01:30:00+00:00",
    ]  # fmt: skip


def test_the_header_is_found_below_titles_and_lines_without_content_are_none(
    tmp_path: Path,
) -> None:
    titles = [["Export of April, all sites"], ["", "", ""], ["printed by", '"RIS"', "x"]]
    header = [*HEADER[:-1], "Report\nText"]
    rows = [*titles, header, ROW, [""] * 7, ["\0"], header, [*ROW[:-1], "B"]]
    path = lines_of(tmp_path / "exams.csv", rows)
    (batch,) = read(path, TableOptions(columns={"text": "report text"}))
    assert batch.exams["text"].tolist() == ["Clear.", "B"]
    assert batch.quarantined[["row", "reason"]].to_numpy().tolist() == [[2, "repeated_header"]]


def test_a_table_without_a_header_is_read_by_the_numbers_of_its_columns(tmp_path: Path) -> None:
    columns = {name: f"#{at}" for at, name in enumerate(HEADER, start=1)}
    path = tmp_path / "exams.csv"
    path.write_text("|".join(ROW) + "\n" + "|".join(ROW) + "\n|||||\n")
    exam = first(path, columns)
    assert [exam[name] for name in HEADER] == ROW
    with pytest.raises(InputError, match="7 columns, but its first row does not read like"):
        first(path, columns | {"text": "#8"})


def test_columns_of_one_name_are_told_apart_by_number(tmp_path: Path) -> None:
    header = ["accession", "ID", "ID", *HEADER[3:]]
    path = lines_of(tmp_path / "exams.csv", [header, ROW])
    exam = first(path, {"patient_id": "ID#1", "reader_id": "ID#2"})
    assert (exam["patient_id"], exam["reader_id"]) == ("7", "r1")
    with pytest.raises(InputError, match=r'more than once: ID\. Say which .*"ID#1" is the first'):
        first(path, {"patient_id": "ID", "reader_id": "ID#2"})


def test_objects_and_lists_within_a_line_are_reached_by_a_path(tmp_path: Path) -> None:
    path = tmp_path / "exams.jsonl"
    lines = [
        {"exam": {"no": 5.0, "at": ROW[4]}, "who": [], "rest": {"mr": 7, "mod": "CT"}, "text": "A"},
        {"exam": {"no": 6, "at": ROW[4]}, "who": [{"id": "r1"}, {"id": "r2"}], "text": "B"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    columns = {
        "accession": "exam.no", "performed_at": "exam.at", "signed_at": "exam.signed",
        "reader_id": ["who[1].id", "who[0].id"], "patient_id": "rest.mr", "modality": "rest.mod",
    }  # fmt: skip
    with pytest.raises(InputError, match=r"'signed_at'.*the columns exam, exam\.no, exam\.at, who"):
        first(path, columns)
    (batch,) = read(path, TableOptions(columns=columns | {"signed_at": "exam.at"}))
    cells = batch.exams[["accession", "reader_id", "patient_id", "modality"]].to_numpy().tolist()
    assert cells == [["5", "", "7", "CT"], ["6", "r2", "", ""]]


def test_paths_that_end_in_a_list_are_joined_and_several_modalities_stay_apart() -> None:
    def stated(*values: object) -> dict[str, object]:
        return {"vr": "SQ", "Value": [*values]}

    items = [{"0040A160": stated("Clear.")}, {"0040A160": stated("Likely normal.")}]
    row = {
        "0040A730": stated(*items),
        "00080061": stated("DX", "SR"),
        "00080020": stated("20260304"),
    }
    row |= {"00080030": stated("093000.250000")}
    each = "0040A730.Value[{}].0040A160.Value[0]"
    map_ = ColumnMap(
        {
            "text": f"{each.format(0)} + {each.format(1)}",
            "modality": "00080061.Value",
            "performed_at": "00080020.Value[0] + 00080030.Value[0]",
        }
    )
    cells = map_.within(nested_keys([row]), is_open=True).cells(row)
    assert cells["text"] == "Clear.\n\nLikely normal."
    assert cells["modality"] == "DX; SR"
    assert cells["performed_at"] == "20260304 093000.250000"


def test_structs_of_parquet_are_reached_alike(tmp_path: Path) -> None:
    path = tmp_path / "exams.parquet"
    cells = dict(zip(HEADER, ROW, strict=True)) | {"report": {"findings": "A", "impression": "B"}}
    pd.DataFrame([cells]).drop(columns="text").to_parquet(path)
    assert first(path, {"text": "report"})["text"] == "FINDINGS:\nA\n\nIMPRESSION:\nB"
    assert first(path, {"text": "report.impression"})["text"] == "B"


def test_a_struct_of_categories_is_read_over_all_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "exams.parquet"
    rows = [dict(zip(HEADER, ROW, strict=True)) | {"accession": f"A{n}"} for n in range(6)]
    table = pa.Table.from_pandas(pd.DataFrame(rows).drop(columns="modality"))
    kinds = pa.array(["XR", "CT"] * 3).dictionary_encode()
    studies = pa.StructArray.from_arrays([kinds], ["kind"])
    pq.write_table(table.append_column("study", studies), path, row_group_size=2)
    (batch,) = read(path, TableOptions(columns={"modality": "study.kind"}))
    assert batch.quarantined.empty
    assert list(batch.exams["modality"]) == ["XR", "CT"] * 3


def test_what_stands_within_rows_is_named_to_a_depth_that_ends() -> None:
    deep: object = 1
    for _ in range(100):
        deep = {"a": [deep]}
    assert max(map(len, nested_keys([{"top": deep}]))) < 30


def test_a_column_that_is_none_of_ours_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "radcal.toml"
    path.write_text('[input]\npaths = ["x.csv"]\n[input.columns]\npatientid = "MRN"\n')
    with pytest.raises(ConfigurationError, match="no column of ours: patientid; known: exam_id"):
        Site(path)
    path.write_text('[input]\npaths = ["x.csv"]\n[input.columns]\ntext = []\n')
    with pytest.raises(ConfigurationError, match=r"input\.columns\.text"):
        Site(path)


def test_what_the_map_names_must_be_there_unless_it_may_be_absent(tmp_path: Path) -> None:
    path = lines_of(tmp_path / "exams.csv", [HEADER, ROW])
    with pytest.raises(InputError, match=r"'phone' \(no TEL; write \[\"TEL\", \"\"\] if it may be"):
        first(path, {"phone": "TEL"})
    assert first(path, {"phone": ["TEL", ""]})["phone"] == ""
    with pytest.raises(InputError, match=r"'text' \(the report; no Findings \+ Imp\)"):
        first(path, {"text": "Findings + Imp"})
