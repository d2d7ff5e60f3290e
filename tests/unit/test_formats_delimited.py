"""Table exports as spreadsheets, databases and people write them."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from pipeline.errors import InputError
from pipeline.formats import decoding
from pipeline.formats.exports import TableOptions, read

HEADER = [
    "accession", "patient_id", "reader_id", "modality", "performed_at", "signed_at", "text",
]  # fmt: skip
TIMES = ["2026-03-01T10:00:00", "2026-03-01T10:30:00"]
ROWS = [
    ["A1", "7", "r1", "XR", *TIMES, "FINDINGS: Clear.\n\nIMPRESSION: Größe normal."],
    ["A2", "8", "r1", "XR", *TIMES, 'He said "likely"; size 1,5 cm.'],
    ["A3", "9", "r2", "CT", *TIMES, "Plain."],
]


def table(rows: list[list[str]], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([HEADER, *rows])
    return out.getvalue()


def ingested(path: Path, **options: str) -> tuple[pd.DataFrame, list[tuple[int, str]]]:
    batches = list(read(path, TableOptions(batch_rows=2, **options)))
    aside = pd.concat([batch.quarantined for batch in batches])
    exams = pd.concat([batch.exams for batch in batches])
    return exams, list(zip(aside["row"], aside["reason"], strict=True))


def texts(path: Path, **options: str) -> list[str]:
    exams, aside = ingested(path, **options)
    assert aside == []
    assert exams["accession"].tolist() == ["A1", "A2", "A3"]
    return list(exams["text"])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_delimiters_and_encodings_give_the_same_rows(
    tmp_path: Path, delimiter: str, encoding: str
) -> None:
    path = tmp_path / "exams.csv"
    path.write_bytes(table(ROWS, delimiter).encode(encoding))
    assert texts(path) == [row[-1] for row in ROWS]
    if encoding != "utf-8-sig":  # its mark outranks what is stated
        assert texts(path, encoding=encoding) == [row[-1] for row in ROWS]


def test_whole_numbers_written_as_decimals_are_the_numbers_that_they_are(tmp_path: Path) -> None:
    numbers = [("5512.0", "007.0", "31.00"), ("A1.0", "7.5", "1.0.0"), ("12.01", "0.9", ".0")]
    rows = [[a, p, r, "XR", *TIMES, "Clear."] for a, p, r in numbers]
    path = tmp_path / "exams.csv"
    path.write_text(table(rows), encoding="utf-8")
    exams, aside = ingested(path)
    assert aside == []
    assert exams[["accession", "patient_id", "reader_id"]].to_numpy().tolist() == [
        ["5512", "007", "31"], ["A1.0", "7.5", "1.0.0"], ["12.01", "0.9", ".0"],
    ]  # fmt: skip


def test_names_stand_in_for_reader_ids_and_exam_names_for_modalities(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    header = [*HEADER[:2], "reader_name", "exam_name", *HEADER[4:], "exam_code"]
    rows = [[*ROWS[0][:2], "Faith Hope", "CT CHEST", *ROWS[0][4:], "C1"],
            [*ROWS[1][:2], "HOPE, FAITH", "THORAX", *ROWS[1][4:], "C2"]]  # fmt: skip
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([header, *rows])
    (batch,) = read(path, TableOptions(exam_codes={"C2": "XR"}))
    assert batch.exams["reader_id"].tolist() == ["name:HOPE FAITH"] * 2
    assert batch.exams["modality"].tolist() == ["CT", "XR"]


def test_gzip_and_a_spreadsheets_hint_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv.gz"
    path.write_bytes(gzip.compress(("sep=;\r\n" + table(ROWS, ";")).encode()))
    assert texts(path) == [row[-1] for row in ROWS]


def test_extension_matters_only_where_no_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "exams.dat"
    path.write_text(table(ROWS), encoding="utf-8", newline="")
    assert texts(path, kind="csv") == [row[-1] for row in ROWS]


def test_huge_quoted_field_is_one_field(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    huge = [*ROWS[0][:-1], "No effusion,\n" * 300_000]
    path.write_text(table([huge, *ROWS[1:]]), encoding="utf-8", newline="")
    assert len(texts(path)[0]) == 13 * 300_000


def test_nul_bytes_stay_in_their_row(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    path.write_text(table([[*ROWS[0][:-1], "No\0 effusion"], *ROWS[1:]]), newline="")
    assert texts(path)[0] == "No\0 effusion"


def test_ragged_rows_are_set_aside_by_number(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    path.write_text(table([ROWS[0], ROWS[1][:-1], [*ROWS[1], "x"], ROWS[2]]), newline="")
    exams, aside = ingested(path)
    assert exams["accession"].tolist() == ["A1", "A3"]
    assert aside == [(2, "wrong_field_count"), (3, "wrong_field_count")]


def test_a_multiline_row_with_a_field_too_many_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    path.write_text(table([ROWS[2], [*ROWS[0], "x"], ROWS[1]]), newline="")
    exams, aside = ingested(path)
    assert exams["accession"].tolist() == ["A3", "A2"]
    assert aside == [(2, "wrong_field_count")]


def test_line_breaks_without_quotes_belong_to_a_text_in_the_last_column(tmp_path: Path) -> None:
    path = tmp_path / "exams.txt"
    start = ["7", "r1", "XR", *TIMES]
    lines = [
        HEADER, ["A1", *start, "FINDINGS:"], ["Clear lungs."], [], ['5" line "seen"'],
        ["1. Stable, no mass."], ["A2", *start, "Mass."], ["A3", "8"], ['"A4', *start, "Lost."],
        ["A5", *start, "Größe 5 cm."], [], ["3 rows selected."],
    ]  # fmt: skip
    path.write_bytes("\r\n".join("|".join(line) for line in lines).encode("cp1252"))
    exams, aside = ingested(path, kind="csv")
    assert exams[["accession", "text", "decoded_as"]].to_numpy().tolist() == [
        ["A1", 'FINDINGS:\nClear lungs.\n5" line "seen"\n1. Stable, no mass.', ""],
        ["A2", "Mass.", ""],
        ["A5", "Größe 5 cm.", "cp1252"],
    ]
    assert [reason for _, reason in aside] == ["wrong_field_count"] * 3


TORN = "\n".join(
    [
        ",".join(HEADER),
        "A1,7,r1,XR,2026-03-01T10:00:00,2026-03-01T10:30:00,FINDINGS: Clear.",
        "IMPRESSION: no nodule, no effusion, lungs clear.",
        "{torn}",
        "A3,9,r2,CT,2026-03-01T12:00:00,2026-03-01T12:30:00,Plain.",
    ]
)


@pytest.mark.parametrize(
    "torn",
    [
        pytest.param("B2-77,8,r1,XR,2026-03-01T10:00:00", id="its end is lost"),
        pytest.param("2026-03-01T10:00:00,2026-03-01T10:30:00,Mass.", id="its beginning is lost"),
        pytest.param("unknown,8,r1,,", id="two of its cells can be told"),
    ],
)
def test_a_torn_row_is_set_aside_and_not_the_end_of_the_report_above_it(
    tmp_path: Path, torn: str
) -> None:
    path = tmp_path / "exams.csv"
    path.write_text(TORN.format(torn=torn))
    exams, aside = ingested(path)
    assert exams["accession"].tolist() == ["A1", "A3"]
    assert exams["text"].tolist()[0].endswith("lungs clear.")
    assert [reason for _, reason in aside] == ["wrong_field_count"]


def test_a_line_that_may_be_a_row_costs_the_report_above_it_too(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    path.write_text(TORN.format(torn="Addendum, 8"))
    exams, aside = ingested(path)
    assert exams["accession"].tolist() == ["A3"]
    assert [reason for _, reason in aside] == ["wrong_field_count"] * 2


def test_quotes_with_a_backslash_are_quotes(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    plain = [",".join([f"B{n}", *ROWS[2][1:]]) for n in range(50)]
    quoted = ",".join([*ROWS[2][:-1], r'"He said \"likely\", then left"'])
    path.write_text("\n".join([",".join(HEADER), *plain, quoted]), encoding="utf-8")
    exams, aside = ingested(path)
    assert exams["text"].tolist()[50:] == ['He said "likely", then left']
    assert aside == []


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_utf_16_and_32_are_known_without_its_mark(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "exams.csv"
    path.write_bytes(table(ROWS).encode(encoding))
    assert texts(path) == [row[-1] for row in ROWS]


def test_a_quote_never_closed_costs_its_own_row_only(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    stray = '"A0,7,r1,XR,2026-03-01T10:00:00,2026-03-01T10:30:00,Clear.\n'
    lines = table(ROWS).splitlines(keepends=True)
    path.write_text("".join([lines[0], stray, *lines[1:]]), encoding="utf-8", newline="")
    exams, aside = ingested(path)
    assert exams["accession"].tolist() == ["A1", "A2", "A3"]
    assert exams["text"].tolist() == [row[-1] for row in ROWS]
    assert aside == [(1, "wrong_field_count")]


@pytest.mark.parametrize("encoding", ["auto", "utf-8"])
@pytest.mark.parametrize(
    ("endless", "left"),
    [
        ('A2,P1,R1,XR,2026-03-01T10:00,2026-03-01T10:10,"{}"\n', ["A1", "A3"]),
        ("A2,P1,R1,XR,2026-03-01T10:00,2026-03-01T10:10,{}\n", ["A1", "A3"]),
        ("and goes on {}\n", ["A3"]),  # what stands above it would pass for whole
        ('A2,P1,R1,XR,2026-03-01T10:00,2026-03-01T10:10,"{}', ["A1"]),  # to the end of the file
    ],
)
def test_a_line_over_the_cap_costs_itself_and_what_it_goes_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endless: str, left: list[str], encoding: str
) -> None:
    monkeypatch.setattr(decoding, "_BLOCK", 64)
    monkeypatch.setattr(decoding, "_MAX_LINE_BYTES", 256)
    head = "accession,patient_id,reader_id,modality,performed_at,signed_at,text\n"
    row = "A{},P1,R1,XR,2026-03-01T10:00,2026-03-01T10:10,Clear lungs.\n"
    path = tmp_path / "exams.csv"
    path.write_text(head + row.format(1) + endless.format("ä Likely. " * 200) + row.format(3))
    frame, aside = ingested(path, encoding=encoding)
    assert frame["accession"].tolist() == left
    assert [reason for _, reason in aside] == ["wrong_field_count"] * (1 + ("A1" not in left))


def test_a_used_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    path.write_text(",".join([*HEADER, "text"]) + "\n" + ",".join([*ROWS[2], "y"]) + "\n")
    with pytest.raises(InputError, match=r"1 column\(s\) stand in the header more than once: text"):
        list(read(path, TableOptions()))


def test_a_table_without_a_header_is_refused_without_quoting_its_first_row(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    path.write_text(",".join(ROWS[2]) + "\n")
    with pytest.raises(InputError, match="7 columns, but its first row does not read") as caught:
        list(read(path, TableOptions()))
    assert "Plain" not in str(caught.value)


def test_a_long_report_in_the_first_row_of_a_table_without_a_header_is_read(
    tmp_path: Path,
) -> None:
    """Columns by number behind a text of 40 lines: more than a header is looked for on."""
    path, report = tmp_path / "exams.psv", "\n".join(f"Line {n}." for n in range(40))
    rows = [[*ROWS[0][:4], report, *TIMES], [*ROWS[1][:4], "Short.", *TIMES]]
    out = io.StringIO()
    csv.writer(out, delimiter="|").writerows(rows)
    path.write_text(out.getvalue())
    order = [*HEADER[:4], "text", "performed_at", "signed_at"]
    numbered = {name: f"#{at}" for at, name in enumerate(order, start=1)}
    (batch,) = read(path, TableOptions(kind="csv", columns=numbered))
    assert batch.exams["text"].tolist() == [report, "Short."]


def test_json_lines_survive_marks_depth_and_lone_surrogates(tmp_path: Path) -> None:
    path = tmp_path / "exams.jsonl"
    good = dict(zip(HEADER, ROWS[2], strict=True))
    lone = json.dumps(good | {"accession": "A4", "text": "No \ud800 effusion"})
    lines = [json.dumps(good), "[" * 100_000, '{"a": ' * 100_000, lone]
    path.write_bytes(("\ufeff" + "\n".join(lines)).encode())
    exams, aside = ingested(path)
    assert exams["text"].tolist() == ["Plain.", "No ? effusion"]
    assert aside == [(2, "not_json"), (3, "not_json")]


def test_parquet_cells_of_any_type_become_text(tmp_path: Path) -> None:
    path = tmp_path / "exams.parquet"
    frame = pd.DataFrame([ROWS[2]], columns=HEADER).assign(
        patient_id=7,
        text=b"Gr\xc3\xb6\xc3\x9fe",
        performed_at=pd.Timestamp(TIMES[0]),
        more=[[1, 2]],
    )
    frame.to_parquet(path, index=False)
    exams, _ = ingested(path)
    row = exams.iloc[0]
    assert (row["patient_id"], row["text"], row["performed_at"]) == ("7", "Größe", TIMES[0])


@pytest.mark.parametrize("content", [b"PAR1 broken", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_damaged_parquet_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "exams.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"exams\.parquet: cannot be read as Parquet: it breaks"):
        list(read(path, TableOptions()))


def test_a_last_row_whose_quote_never_closes_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    path.write_text(table(ROWS) + ",".join([*ROWS[2][:-1], '"Small effusion,\nand']), newline="")
    exams, aside = ingested(path)
    assert exams["accession"].tolist() == ["A1", "A2", "A3"]
    assert aside == [(4, "wrong_field_count")]


def test_an_open_quote_gives_back_the_rows_that_it_swallowed(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    broken = ",".join([*ROWS[0][:-1], '"Small effusion'])
    path.write_text(f"{table([])}{broken}\r\n{table(ROWS[1:]).split(chr(10), 1)[1]}", newline="")
    exams, aside = ingested(path)
    assert exams["accession"].tolist() == ["A2", "A3"]
    assert aside == [(1, "wrong_field_count")]


def test_a_header_printed_on_every_page_with_a_line_below_it_is_no_exam(tmp_path: Path) -> None:
    path = tmp_path / "spool.csv"
    lines = ["-" * len(name) for name in HEADER]
    path.write_text(table([lines, *ROWS[:1], HEADER, lines, *ROWS[1:]]), encoding="utf-8")
    exams, aside = ingested(path)
    assert len(exams) == len(ROWS)
    assert [reason for _, reason in aside] == ["repeated_header"] * 3


WHOLE = [
    [f"A{n}", str(n), "r1", "XR", *TIMES, f"{start}FINDINGS:\nFilm {n}.\nIMPRESSION: Clear {n}."]
    for n, start in enumerate(["", "", "\n", ""])
]
"""The third text begins with an empty line: behind its opening quote stands nothing."""


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize(
    ("left", "more"),
    [
        pytest.param("Film", "\n", id="cut"),
        pytest.param("Clear {}.", "\n", id="only the quote is lost"),
        pytest.param("Film", "\n" + ",".join(HEADER) + "\n", id="another file was put below"),
    ],
)
def test_a_text_that_lost_its_closing_quote_takes_no_other_row_in(
    tmp_path: Path, at: int, left: str, more: str
) -> None:
    """The quote that opens the next text closed it, and the row was of the right width."""
    head, *rows = (table([row]).split("\n", 1)[1] for row in [HEADER, *WHOLE])
    end = rows[at].index(left := left.format(at)) + len(left)
    rows[at] = rows[at][:end] + more
    path = tmp_path / "exams.csv"
    path.write_text(head + "".join(rows), newline="")
    exams, aside = ingested(path)
    others = [row for n, row in enumerate(WHOLE) if n != at]
    assert exams["text"].tolist() == [row[-1] for row in others]
    assert exams["accession"].tolist() == [row[0] for row in others]
    told = ["wrong_field_count", *["repeated_header"] * ("accession" in more)]
    assert [reason for _, reason in aside] == told


def test_a_row_that_runs_into_a_cut_text_is_set_aside_with_it(tmp_path: Path) -> None:
    """Nobody can tell where its accession number begins."""
    path, rows = tmp_path / "exams.csv", table(WHOLE)
    path.write_text(rows.replace('Film 1.\nIMPRESSION: Clear 1."\r\n', "Fil"), newline="")
    exams, aside = ingested(path)
    assert exams["accession"].tolist() == ["A0", "A3"]
    assert {reason for _, reason in aside} == {"wrong_field_count"}


def test_the_end_of_a_text_below_a_torn_row_is_no_report(tmp_path: Path) -> None:
    """Where the text stands first, a row's last line is of the right width by itself."""
    path, order = tmp_path / "exams.csv", [6, *range(6)]
    rows = table([[row[i] for i in order] for row in WHOLE]).split("\n", 1)[1]
    head = ",".join(HEADER[i] for i in order)
    path.write_text(f"{head}\n" + rows.replace('Clear 1."', "Clear 1."), newline="")
    exams, aside = ingested(path)
    assert exams["text"].tolist() == [WHOLE[0][-1], WHOLE[3][-1]]
    assert {reason for _, reason in aside} == {"wrong_field_count"}


def test_a_text_that_quotes_a_table_is_one_text(tmp_path: Path) -> None:
    path, quoted = tmp_path / "exams.csv", "As sent:\nA7,7,r1,2,3,4,5\nA7,7,7,7,7,7,7\nClear."
    rows = [WHOLE[0], [*WHOLE[1][:-1], quoted], WHOLE[3]]
    path.write_text(table(rows), newline="")
    exams, aside = ingested(path)
    assert exams["text"].tolist() == [row[-1] for row in rows]
    assert aside == []
