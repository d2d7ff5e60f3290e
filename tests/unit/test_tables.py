"""Tables come back as they went out, and a spreadsheet runs none of their cells."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from pipeline.errors import InputError
from pipeline.formats.tables import read_table, write_table

TABLE = pd.DataFrame({"accession": ["00123", "7"], "signed_at": ["2026-03-04", ""], "n": [1, 2]})


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_text_stays_text(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    write_table(TABLE, path)
    back = read_table(path)
    assert back["accession"].tolist() == ["00123", "7"]
    assert back["signed_at"].tolist() == ["2026-03-04", ""]
    assert back["n"].astype(int).tolist() == [1, 2]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("parted", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    ("written", "named"),
    [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-8", "auto"), ("utf-8-sig", "cp1250"),
     ("utf-16", "UTF-8"), ("cp1252", "auto"), ("cp1250", "cp1250")],
)  # fmt: skip
def test_a_table_is_read_by_its_own_delimiter_and_the_encoding_that_is_named(
    tmp_path: Path, parted: str, written: str, named: str
) -> None:
    rows = [["who", "id"], ["patient", '"K\u00f6nig, J;|\tx\r\ny"'], ["reader", "00123"]]
    path = tmp_path / "left_out.csv"
    path.write_bytes("\r\n".join(map(parted.join, rows)).encode(written))
    found = read_table(path, {"who": "", "id": ""}, named)
    assert found.to_numpy().tolist() == [
        ["patient", "K\u00f6nig, J;|\tx\r\ny"],
        ["reader", "00123"],
    ]


def test_a_table_in_another_encoding_is_refused_with_what_helps(tmp_path: Path) -> None:
    path = tmp_path / "left_out.csv"
    path.write_bytes("who;id\npatient;K\u00f6nig\n".encode("cp1252"))
    with pytest.raises(InputError, match='not valid UTF-8 at byte 16; save it as "CSV UTF-8"'):
        read_table(path, encoding="UTF-8")


@pytest.mark.parametrize(
    ("name", "row"), [("ris.csv", "text\nK\u00f6nig\n"), ("ris.jsonl", '{"text": "K\u00f6nig"}\n')]
)
def test_a_table_is_read_as_an_export_is_and_says_what_was_no_utf8(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, row: str
) -> None:
    path = tmp_path / name
    path.write_bytes(row.encode())
    assert read_table(path)["text"].tolist() == ["K\u00f6nig"]
    assert caplog.messages == []
    path.write_bytes(row.encode("cp1252"))
    assert read_table(path)["text"].tolist() == ["K\u00f6nig"]
    assert caplog.messages == [f"{name}: 1 line(s) read as cp1252"]


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1"])
def test_formula_in_a_cell_is_defused(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "table.csv"
    write_table(pd.DataFrame({"text": [cell, "likely"]}), path)
    assert read_table(path)["text"].tolist() == ["'" + cell, "likely"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "the file is empty"),
        ("t.xlsx", b"x", "unknown kind of table"),
        ("t.jsonl", b'{"a": 1}\n{broken\n', "cannot be read"),
        ("t.parquet", b"not parquet", "cannot be read"),
    ],
)
def test_unusable_file_is_refused_with_its_name(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_table(path)
    assert name in str(caught.value)


def test_a_column_that_stands_twice_is_refused_and_not_chosen_from(tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text("id,text,text,,\n1,likely,absent,,\n")
    with pytest.raises(InputError, match=r"t\.csv: 1 column name\(s\) stand there twice"):
        read_table(path)
