"""Reports in lines: a row for each line, put together by their numbers."""

from __future__ import annotations

import csv
import random
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pipeline.config.sections import Input
from pipeline.errors import InputError
from pipeline.formats import sources
from pipeline.formats.columns import Spec
from pipeline.formats.exports import TableOptions, read

HEADER = ["accession", "patient_id", "reader_id", "modality", "performed_at", "signed_at", "line",
          "no"]  # fmt: skip
MAP: Mapping[str, Spec] = {"text": "line by no"}


def row(accession: str, line: str, number: object, signed: str = "10:30") -> list[str]:
    times = ["2026-03-01 10:00", f"2026-03-01 {signed}"]
    return [accession, "7", "r1", "XR", *times, line, str(number)]


def read_rows(path: Path, rows: Sequence[Sequence[str]]) -> tuple[dict[str, str], list[str]]:
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([HEADER, *rows])
    (batch,) = read(path, TableOptions(columns=MAP))
    found = batch.exams
    keys = found["accession"] + " " + found["signed_at"].str[-5:]
    return dict(zip(keys, found["text"], strict=True)), batch.quarantined["reason"].tolist()


def test_lines_make_reports_whatever_the_order_of_the_rows(tmp_path: Path) -> None:
    rows = [
        *(row("A1", line, n) for n, line in enumerate(["FINDINGS:", "", "Clear."], start=9)),
        *(row("A1", line, n, "11:00") for n, line in enumerate(["FINDINGS:", "Mass."])),
        row("A2", "Normal.", "0001.0"),
    ]
    for seed in range(4):
        random.Random(seed).shuffle(rows)
        texts, aside = read_rows(tmp_path / "t.csv", rows)
        assert texts == {
            "A1 10:30": "FINDINGS:\n\nClear.",
            "A1 11:00": "FINDINGS:\nMass.",
            "A2 10:30": "Normal.",
        }
        assert aside == []


def test_a_line_that_comes_twice_counts_once(tmp_path: Path) -> None:
    rows = [row("A1", "Clear.", 1), row("A1", "Stable.", 2), row("A1", "Clear.", 1)]
    assert read_rows(tmp_path / "t.csv", rows)[0] == {"A1 10:30": "Clear.\nStable."}


@pytest.mark.parametrize("number", ["1", "", "last", "²", "9" * 5000])
def test_lines_without_an_order_are_no_report(tmp_path: Path, number: str) -> None:
    rows = [row("A1", "Clear.", 1), row("A1", "No mass.", number), row("A2", "Normal.", 1)]
    texts, aside = read_rows(tmp_path / "t.csv", rows)
    assert texts == {"A2 10:30": "Normal."}
    assert aside == ["lines_unordered"]


def test_a_gap_is_a_lost_line_only_where_rows_were_lost(tmp_path: Path) -> None:
    rows = [row("A1", "Clear.", 1), row("A1", "No mass.", 5), row("A2", "Normal.", 1)]
    assert len(read_rows(tmp_path / "t.csv", rows)[0]) == 2
    texts, aside = read_rows(tmp_path / "t.csv", [*rows, ["A1", "7"]])
    assert texts == {"A2 10:30": "Normal."}
    assert aside == ["wrong_field_count", "lines_missing"]


def test_a_query_gives_lines_alike(tmp_path: Path) -> None:
    path = tmp_path / "ris.sqlite"
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE r ({', '.join(HEADER)})")
        rows = [row("A1", "Stable.", 2), row("A2", "Normal.", 1), row("A1", "Clear.", 1)]
        database.executemany("INSERT INTO r VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    asked = Input(format="sql", query="SELECT * FROM r ORDER BY accession", columns=MAP)
    (batch,) = sources.queried(f"sqlite:///{path}", asked, batch_rows=1000)
    assert batch.exams["text"].tolist() == ["Clear.\nStable.", "Normal."]


def test_a_report_that_a_join_gives_no_line_has_no_text_and_can_take_another_back(
    tmp_path: Path,
) -> None:
    head, path = [*HEADER, "status"], tmp_path / "t.csv"
    bare = ["A1", "7", "r1", "XR", "2026-03-01 10:00", "2026-03-01 12:00", "", ""]
    rows = [
        [*row("A1", "Clear.", 1), "final"], [*row("A1", "No mass.", 2), "final"],
        [*bare, "storniert"],
        [*row("A2", "", "", "11:00"), "final"],  # nobody wrote it
        *([*row("A3", line, 1, "11:00"), "storniert"] for line in ("Mass.", "No mass.")),
        [*row("A4", "Clear.", 1), "final"], [*row("A4", "", ""), "final"],  # a line lost its number
    ]  # fmt: skip
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([head, *rows])
    with sqlite3.connect(tmp_path / "ris.sqlite") as database:
        database.execute(f"CREATE TABLE r ({', '.join(head)})")
        database.executemany("INSERT INTO r VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    own = {"storniert": "retracted"}
    asked = Input(format="sql", query="SELECT * FROM r", columns=MAP, statuses=own)
    for (batch,) in (
        read(path, TableOptions(columns=MAP, statuses=own)),
        sources.queried(f"sqlite:///{tmp_path / 'ris.sqlite'}", asked, batch_rows=1000),
    ):
        found = batch.exams.sort_values(["accession", "signed_at"])
        assert found[["accession", "status", "text"]].to_numpy().tolist() == [
            ["A1", "final", "Clear.\nNo mass."], ["A1", "storniert", ""], ["A2", "final", ""],
            ["A3", "storniert", ""],
        ]  # fmt: skip
        assert batch.quarantined["reason"].tolist() == ["lines_unordered"]


def test_what_takes_a_report_back_needs_no_text_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    broken = "JVBERi0xLjcKJeLjz9MKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+PgplbmRvYmoK"  # a PDF, cut
    rows = [[*row("A1", broken, ""), status] for status in ("final", "deleted")]
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([[*HEADER, "status"], *rows])
    (batch,) = read(path, TableOptions(columns={"text": "line"}))
    assert batch.exams[["status", "text"]].to_numpy().tolist() == [["deleted", ""]]
    assert batch.quarantined["reason"].tolist() == ["damaged_document"]


def test_the_number_of_a_line_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",".join(HEADER[:-1]) + "\n" + ",".join(row("A1", "Clear.", 1)[:-1]) + "\n")
    with pytest.raises(InputError, match=r"'text' \(the number of each line; no no\)"):
        list(read(path, TableOptions(columns=MAP)))


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([("Clear.", 1, "10:30"), ("No mass.", 2, "10:31")], {"A1 10:31": "Clear.\nNo mass."}),
        ([("Clear.", 2, "10:30"), ("CHEST", 1, "10:45")], {"A1 10:45": "CHEST\nClear."}),
        ([("Clear.", 1, "10:30"), ("Mass.", 1, "10:31"), ("Nodule.", 2, "10:31")],
         {"A1 10:30": "Clear.", "A1 10:31": "Mass.\nNodule."}),
        ([("Clear.", 1, "10:30"), ("No mass.", 3, "10:31")],
         {"A1 10:30": "Clear.", "A1 10:31": "No mass."}),
        ([("Clear.", 1, "10:30"), ("ADDENDUM: Mass.", 2, "15:00")],
         {"A1 10:30": "Clear.", "A1 15:00": "ADDENDUM: Mass."}),
    ],
)  # fmt: skip
def test_lines_that_go_on_are_one_report_whatever_their_times(
    tmp_path: Path, parts: list[tuple[str, int, str]], whole: dict[str, str]
) -> None:
    rows = [row("A1", *part) for part in parts]
    for each in (rows, rows[::-1]):
        assert read_rows(tmp_path / "t.csv", each) == (whole, [])


def test_a_gap_or_a_late_first_line_is_a_lost_line_where_hardly_any_others_have_one(
    tmp_path: Path,
) -> None:
    lines = ["FINDINGS:", "", "Clear.", "No mass.", "IMPRESSION:", "Normal."]
    rows = [row(f"A{n}", each, at) for n in range(30) for at, each in enumerate(lines, start=1)]
    hurt = [each for each in rows if each not in (rows[3], rows[6 * 7])]
    texts, aside = read_rows(tmp_path / "t.csv", hurt)
    assert aside == ["lines_missing"] * 2
    assert {f"A{n} 10:30" for n in range(30)} - set(texts) == {"A0 10:30", "A7 10:30"}


def test_gaps_of_lines_that_may_be_empty_are_counted_and_the_reports_kept(tmp_path: Path) -> None:
    lines = ["FINDINGS:", "Clear.", "IMPRESSION:", "Normal."]
    rows = [row(f"A{n}", each, at) for n in range(20) for at, each in enumerate(lines, start=1)]
    path = tmp_path / "t.csv"
    hurt = [each for at, each in enumerate(rows) if at not in (1, 5, 9)]
    texts, aside = read_rows(path, hurt)
    (batch,) = read(path, TableOptions(columns=MAP))
    assert (len(texts), aside) == (20, [])
    assert batch.notes == {"report in lines of which a number is missing: is it whole?": 3}


@pytest.mark.parametrize("width", [60, 255])
def test_pieces_that_part_words_are_joined_without_a_lines_end(tmp_path: Path, width: int) -> None:
    whole = {
        f"A{n} 10:30": "\n".join(
            ["FINDINGS:", *(f"Mild atelectasis {k}, unchanged." for k in range(n, 30)), "Normal."]
        )
        for n in range(8)
    }
    rows = [
        row(accession[:2], text[at : at + width].rstrip(" "), at // width + 1)
        for accession, text in whole.items()
        for at in range(0, len(text), width)
    ]
    random.Random(1).shuffle(rows)
    assert read_rows(tmp_path / "t.csv", rows) == (whole, [])
