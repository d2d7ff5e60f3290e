"""Every format reaches the same raw exams, and reading a source again writes nothing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from pipeline.errors import ConfigurationError
from pipeline.formats.exams import EXAM_COLUMNS
from pipeline.simulate import simulate
from pipeline.site import Site
from pipeline.work import intake


@pytest.fixture(scope="module")
def exams() -> pd.DataFrame:
    return simulate(pairs=12, readers=3, seed=3).exams.astype(str)


def site(folder: Path, **settings: object) -> Site:
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    (folder / "radcal.toml").write_text(f"[input]\n{lines}\n")
    opened = Site(folder / "radcal.toml")
    opened.workspace.prepare()
    return opened


def ingested(opened: Site) -> pd.DataFrame:
    facts = [intake.ingest_source(str(opened.path), str(s)) for s in opened.sources()]
    shards = [shard for each in facts for shard in each["shards"]]
    assert all(each["rows"] == each["kept"] for each in facts)
    columns = [c for c in EXAM_COLUMNS if c not in ("performed_at", "signed_at")]
    table = opened.workspace.read("raw", "exams", shards)[columns]
    return table.sort_values("exam_id", ignore_index=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_tables_of_every_kind_give_the_same_exams(
    tmp_path: Path, exams: pd.DataFrame, suffix: str
) -> None:
    (tmp_path / "one").mkdir()
    exams.to_csv(tmp_path / "one" / "exams.csv", index=False)
    expected = ingested(site(tmp_path / "one", paths=["exams.csv"]))
    writers = {".csv": "to_csv", ".parquet": "to_parquet", ".jsonl": "to_json"}
    options = {".jsonl": {"orient": "records", "lines": True}}.get(suffix, {"index": False})
    getattr(exams, writers[suffix])(tmp_path / f"exams{suffix}", **options)
    found = ingested(site(tmp_path, paths=[f"exams{suffix}"]))
    pd.testing.assert_frame_equal(found, expected)


def test_query_gives_the_exams_of_the_table_and_asks_the_database_once_per_run(
    tmp_path: Path, exams: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    exams.to_csv(tmp_path / "one" / "exams.csv", index=False)
    expected = ingested(site(tmp_path / "one", paths=["exams.csv"]))
    with sqlite3.connect(tmp_path / "ris.db") as database:
        exams.rename(columns={"text": "report_body"}).to_sql("reports", database, index=False)
    opened = site(tmp_path, format="sql", query="SELECT * FROM reports ORDER BY exam_id")
    path = tmp_path / "radcal.toml"
    path.write_text(path.read_text() + '[input.columns]\ntext = "report_body"\n')
    opened = Site(path)
    monkeypatch.setenv("RADCAL_SQL_URL", f"sqlite:///{tmp_path / 'ris.db'}")
    pd.testing.assert_frame_equal(ingested(opened), expected)
    assert opened.sources() == opened.sources()


def test_query_without_a_database_says_which_variable_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RADCAL_SQL_URL", raising=False)
    opened = site(tmp_path, format="sql", query="SELECT 1")
    with pytest.raises(ConfigurationError, match="RADCAL_SQL_URL"):
        opened.sources()


def test_reading_a_source_again_writes_nothing(tmp_path: Path, exams: pd.DataFrame) -> None:
    exams.to_csv(tmp_path / "exams.csv", index=False)
    opened = site(tmp_path, paths=["exams.csv"])

    def written() -> dict[Path, int]:
        files = (tmp_path / "workspace").rglob("*.parquet")
        return {path: path.stat().st_mtime_ns for path in files}

    first = intake.ingest_source(str(opened.path), str(tmp_path / "exams.csv"))
    before = written()
    (tmp_path / "exams.csv").rename(tmp_path / "renamed.csv")
    second = intake.ingest_source(str(opened.path), str(tmp_path / "renamed.csv"))
    assert written() == before
    assert (first["made"], second["made"]) == (True, False)
    assert second["shards"] == first["shards"]


def test_unknown_extension_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "exams.dat").write_text("x")
    opened = site(tmp_path, paths=["exams.dat"])
    with pytest.raises(ConfigurationError, match=r"input\.format: cannot tell"):
        intake.ingest_source(str(opened.path), str(tmp_path / "exams.dat"))
