"""The order of rows and their spread over files decide nothing, whatever the format."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from pipeline.site.site import Site
from pipeline.stages.ingest import INGEST, sources
from pipeline.tables.pairing import pair
from tests.fixtures.feeds.canary_hospital import FORMATS, canary_exams, export_query, write
from tests.fixtures.here import coded as coded_exams

QUERY = "SELECT * FROM reports ORDER BY {}"
KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"


@pytest.fixture(scope="module")
def exams() -> pd.DataFrame:
    table = canary_exams(pairs=10, seed=9)
    return pd.concat([table, table.iloc[:3]], ignore_index=True)  # some come twice


def site(folder: Path, lines: str) -> str:
    path = folder / "radcal.toml"
    path.write_text(f"[input]\n{lines}\n[execution]\nshard_rows = 10\n")
    opened = Site.open(str(path))
    opened.workspace.prepare()
    return str(path)


def raw(config: str) -> tuple[pd.DataFrame, int]:
    """Ingest all sources: the distinct exams, and how many rows are accounted for."""
    opened = Site.open(config)
    found = [INGEST.do(opened, source).found for source in sources(opened)]
    shards = [shard for each in found for shard in each.shards]
    table = opened.workspace.read("raw", "exams", shards).drop(columns=["source_row"])
    distinct = table.drop_duplicates("source_digest").sort_values("source_digest")
    return distinct.reset_index(drop=True), sum(each.rows for each in found)


@pytest.mark.parametrize("kind", FORMATS)
def test_shuffled_rows_in_split_files_are_the_same_exams(
    tmp_path: Path, exams: pd.DataFrame, kind: str
) -> None:
    tables = []
    for name, order, parts in (
        ("whole", exams, 1),
        ("split", exams.sample(frac=1, random_state=4), 3),
    ):
        folder = tmp_path / name
        folder.mkdir()
        for n in range(parts):
            write(kind, order.iloc[n::parts], folder, f"exams{n}")
        table, rows = raw(site(folder, f'paths = ["exams*.{kind}"]'))
        assert rows == len(exams)
        tables.append(table)
    pd.testing.assert_frame_equal(*tables)


def test_order_of_a_querys_rows_changes_no_exam(
    tmp_path: Path, exams: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_query(exams, tmp_path / "ris.db")
    monkeypatch.setenv("RADCAL_SQL_URL", f"sqlite:///{tmp_path / 'ris.db'}")
    tables = []
    for column in ("text", "signed_at"):
        (tmp_path / column).mkdir()
        query = json.dumps(QUERY.format(column))
        table, rows = raw(site(tmp_path / column, f'format = "sql"\nquery = {query}'))
        assert rows == len(exams)
        tables.append(table)
    pd.testing.assert_frame_equal(*tables)


def test_codes_texts_and_pairs_do_not_hang_on_order_either(
    tmp_path: Path, exams: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", KEY)
    write("csv", exams, tmp_path, "whole")
    shuffled = exams.sample(frac=1, random_state=2)
    for n in range(2):
        write("csv", shuffled.iloc[n::2], tmp_path, f"split{n}")
    found = []
    for pattern in ("whole.csv", "split*.csv"):
        config = site(tmp_path, f'paths = ["{pattern}"]')  # one workspace, so one vault
        Site.forget()
        opened = Site.open(config)
        keys = [shard.key for shard in coded_exams(opened)]
        coded = opened.workspace.read("analysis", "clean_exams", keys).drop_duplicates("exam_key")
        found.append(coded.sort_values("exam_key", ignore_index=True))
    pd.testing.assert_frame_equal(*found)
    pairs = [pair(coded).pairs for coded in found]
    assert len(pairs[0]) > 5
    pd.testing.assert_frame_equal(*pairs)
