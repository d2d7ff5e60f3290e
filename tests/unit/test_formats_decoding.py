"""Exports in the wrong encoding: read line by line, and what was not UTF-8 is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import InputError
from pipeline.formats import decoding
from pipeline.formats.decoding import opened_lines
from pipeline.formats.exports import TableOptions, read
from pipeline.formats.fhir import FhirOptions
from pipeline.formats.fhir import read as read_fhir
from pipeline.formats.hl7v2 import Hl7Options
from pipeline.formats.hl7v2 import read as read_hl7

HEAD = "accession,patient_id,reader_id,modality,performed_at,signed_at,text\n"
CELLS = "7,r1,XR,2026-03-01T10:00:00,2026-03-01T10:30:00"


def rows(path: Path, **options: str) -> list[tuple[str, str]]:
    exams = [batch.exams for batch in read(path, TableOptions(batch_rows=2, **options))]
    return [pair for e in exams for pair in zip(e["text"], e["decoded_as"], strict=True)]


@pytest.mark.parametrize(
    ("encoding", "title"),
    [
        ("gb18030", "诊断意见"),
        ("cp1251", "Заключение"),
        ("cp932", "所見①"),
        ("cp1254", "Çekim Adı"),
        ("iso8859_15", "Compte rendu €"),
    ],
)
def test_a_table_is_read_in_the_encoding_that_shows_the_names_of_the_map(
    tmp_path: Path, encoding: str, title: str
) -> None:
    path = tmp_path / "exams.csv"
    path.write_bytes(f"{HEAD.replace('text', title)}A1,{CELLS},{title}.\n".encode(encoding))
    options = TableOptions(columns={"text": title})
    (batch,) = read(path, options)
    assert batch.exams["text"].tolist() == [f"{title}."]
    assert batch.exams["decoded_as"].tolist() == [encoding]
    with pytest.raises(InputError, match="1 needed column"):
        list(read(path, TableOptions()))


def test_a_line_that_is_not_utf8_is_cp1252_and_the_others_stay_utf8(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    lines = [HEAD.encode(), f"A1,{CELLS},Größe.\n".encode()]
    lines += [f"A2,{CELLS},“Größe” – 5 µm.\n".encode("cp1252"), f"A3,{CELLS},Öd.\n".encode()]
    path.write_bytes(b"".join(lines))
    assert rows(path) == [("Größe.", ""), ("“Größe” – 5 µm.", "cp1252"), ("Öd.", "")]


def test_a_row_of_several_lines_is_marked_once_for_any_of_them(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    text = f'A1,{CELLS},"Plain\nGröße\nnaïve"\nA2,{CELLS},Plain.\n'
    path.write_bytes((HEAD + text).encode("cp1252"))
    assert rows(path) == [("Plain\nGröße\nnaïve", "cp1252"), ("Plain.", "")]


def test_json_lines_are_marked_alike(tmp_path: Path) -> None:
    path = tmp_path / "exams.jsonl"
    cells = dict(zip(HEAD.strip().split(","), f"A1,{CELLS},Größe".split(","), strict=True))
    path.write_bytes(json.dumps(cells, ensure_ascii=False).encode("cp1252"))
    assert rows(path) == [("Größe", "cp1252")]


def test_bytes_that_cp1252_leaves_undefined_become_the_replacement_sign(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    path.write_bytes(HEAD.encode() + f"A1,{CELLS},Gr".encode() + b"\x81\xdf.\n")
    assert rows(path) == [("Gr\N{REPLACEMENT CHARACTER}ß.", "cp1252")]


def test_an_encoding_that_is_stated_keeps_its_meaning_and_is_not_marked(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    path.write_bytes((HEAD + f"A1,{CELLS},Größe.\n").encode("cp1252"))
    assert rows(path, encoding="cp1252") == [("Größe.", "")]
    assert rows(path, encoding="cp850")[0][0] != "Größe."


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("block", [3, 4, 5, 7, 2**20])
def test_blocks_of_any_size_give_the_same_lines(
    tmp_path: Path, ends: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "_BLOCK", block)
    path = tmp_path / "exams.txt"
    path.write_bytes(f"\ufeffä{ends}{ends}öü€😀 long{ends}plain".encode())
    with opened_lines(path, "auto") as lines:
        assert list(lines) == [f"ä{ends}", ends, f"öü€😀 long{ends}", "plain"]
        assert lines.foreign == 0


def test_a_line_without_end_is_cut_between_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "_BLOCK", 7)
    monkeypatch.setattr(decoding, "_MAX_LINE_BYTES", 20)
    path = tmp_path / "exams.txt"
    path.write_text("€😀" * 40, encoding="utf-8")
    with opened_lines(path, "auto") as lines:
        pieces = list(lines)
    assert "".join(pieces) == "€😀" * 40
    assert len(pieces) > 10
    assert lines.foreign == 0


def test_a_message_that_is_neither_utf8_nor_as_declared_is_marked(tmp_path: Path) -> None:
    message = (
        "MSH|^~\\&|R|S|X|Y|20260301||ORU^R01|1|P|2.4||||||{}\r"
        "PID|1||M1\rOBR|1||A1\rOBX|1|TX|||Größe"
    )
    found = []
    for n, (declared, options) in enumerate(
        [("", {}), ("8859/1", {}), ("", {"encoding": "latin-1"}), ("ASCII", {})]
    ):
        path = tmp_path / f"{n}.hl7"
        path.write_bytes(message.format(declared).encode("cp1252"))
        (batch,) = read_hl7(path, Hl7Options(**options))
        found.append((batch.exams["text"].item(), batch.exams["decoded_as"].item()))
    assert found == [("Größe", mark) for mark in ("cp1252", "", "", "cp1252")]


def test_a_resource_that_is_not_utf8_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "reports.ndjson"
    report = '{"resourceType": "DiagnosticReport", "status": "final", "conclusion": "Größe"}\n'
    path.write_bytes(report.encode() + report.encode("cp1252"))
    (batch,) = read_fhir(path, FhirOptions())
    assert batch.exams["text"].tolist() == ["IMPRESSION: Größe"] * 2
    assert batch.exams["decoded_as"].tolist() == ["", "cp1252"]
