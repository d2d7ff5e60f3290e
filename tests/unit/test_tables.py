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
        ("t.csv", b"a,b\n\xff\xfe,1\n", "not valid UTF-8"),
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
