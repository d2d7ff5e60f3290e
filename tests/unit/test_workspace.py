"""The workspace: what is read back, what counts as used, what killed runs leave, who may enter."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sqlite3
import threading
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pandas as pd
import pytest

from pipeline.errors import DamagedShardError
from pipeline.store.files import no_room, plain, storage_error
from pipeline.store.workspace import Workspace

FRAME = pd.DataFrame({"who": ["a", "b", "a"], "n": [1, 2, 3]})


@pytest.fixture
def store(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "site" / "workspace")
    made.root.parent.mkdir()
    made.prepare()
    return made


def test_workspace_is_made_with_folders_above_it_and_shows_its_zones_to_nobody_else(
    tmp_path: Path,
) -> None:
    root = tmp_path / "not" / "there" / "yet"
    Workspace(root).prepare()
    Workspace(root).prepare()
    for folder in (root, root / "raw", root / "analysis"):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in root.iterdir()) == ["analysis", "raw"]


def test_shards_are_read_in_the_order_asked_for_and_their_rows_numbered_anew(
    store: Workspace,
) -> None:
    store.write("analysis", "t", "k1", FRAME)
    store.write("analysis", "t", "k2", FRAME.iloc[:0])
    store.write("analysis", "t", "k3", FRAME.iloc[1:])
    found = store.read("analysis", "t", ["k3", "k2", "k1"])
    assert found["n"].tolist() == [2, 3, 1, 2, 3]
    assert found.index.tolist() == [0, 1, 2, 3, 4]
    assert found.columns.tolist() == ["who", "n"]  # the rows' numbers are no column


def test_empty_shards_and_none_at_all_give_a_table_with_its_columns(store: Workspace) -> None:
    for key in ("k1", "k2"):
        store.write("analysis", "t", key, FRAME.iloc[:0])
    assert store.read("analysis", "t", ["k1", "k2"]).columns.tolist() == ["who", "n"]
    assert store.read("analysis", "t", [], columns=["n"]).columns.tolist() == ["n"]
    assert store.read("analysis", "t", []).empty


def test_rows_of_one_value_come_with_the_columns_asked_for_or_with_all(store: Workspace) -> None:
    store.write("analysis", "t", "k1", FRAME)
    some = store.read("analysis", "t", ["k1"], columns=["n"], where=("who", "a"))
    assert some.to_dict("list") == {"n": [1, 3]}
    whole = store.read("analysis", "t", ["k1"], where=("who", "b"))
    assert whole.to_dict("list") == {"who": ["b"], "n": [2]}


def test_shards_and_pages_that_were_written_read_or_found_are_named_once(
    store: Workspace,
) -> None:
    """What is not named may be pruned, so that a name left out would lose what is in use."""
    store.write("analysis", "t", "k1", FRAME, facts={"rows": 3})
    store.write_page("a.pdf", b"%PDF")
    assert store.take_used() == {"analysis/t/k1.parquet", "analysis/pages/a.pdf"}
    assert store.take_used() == set()
    assert store.read_page("a.pdf") == b"%PDF"
    assert store.take_used() == {"analysis/pages/a.pdf"}
    store.read("analysis", "t", ["k1"])
    assert store.take_used() == {"analysis/t/k1.parquet"}
    assert store.facts("analysis", "t", "k1", dict[str, int]) == {"rows": 3}
    assert store.take_used() == {"analysis/t/k1.parquet"}
    assert store.has("analysis", "t", "k1")
    assert not store.has("analysis", "t", "k2")
    assert not store.has_page("b.pdf")
    assert store.take_used() == {"analysis/t/k1.parquet"}


def test_counts_of_another_kind_are_named_with_their_shard(store: Workspace) -> None:
    store.write("raw", "exams", "k7", FRAME, facts={"rows": "three"})
    with pytest.raises(DamagedShardError, match=r"exams/k7\.parquet has other counts") as caught:
        store.facts("raw", "exams", "k7", dict[str, int])
    damage = caught.value
    assert (damage.zone, damage.table, damage.key) == ("raw", "exams", "k7")


def test_damaged_shards_are_put_aside_one_after_the_other_for_nobody_else_to_see(
    store: Workspace,
) -> None:
    for key in ("k1", "k2"):
        store.write("analysis", "t", key, FRAME)
        store.put_aside(DamagedShardError("analysis", "t", key, "is damaged"))
    aside = store.root / "analysis" / "damaged"
    assert sorted(path.name for path in aside.iterdir()) == ["t-k1.parquet", "t-k2.parquet"]
    assert aside.stat().st_mode & 0o777 == 0o700


def test_keys_are_those_of_whole_shards_in_order(store: Workspace) -> None:
    for key in ("k2", "k1"):
        store.write("analysis", "t", key, FRAME)
    folder = store.root / "analysis" / "t"
    for name in (".k3.parquet", "k4.csv"):
        (folder / name).touch()
    assert store.keys("analysis", "t") == ["k1", "k2"]


LEFT = (
    "raw/exams/.k1.parquet.7.part", "analysis/t/deep/.k1.parquet.7.part",
    "delivery/2026-09/.a.pdf.7.part", "runs/r1/.manifest.json.7.part",
    "metrics/.radcal.prom.7.part", ".lock.7.part", ".probe.7", "raw/queries/q1.parquet",
)  # fmt: skip
KEPT = (
    "raw/exams/k1.parquet", "raw/queries/q1.sql", "analysis/t/k1.part", "delivery/a.pdf",
    "logs/.x.7.part", "raw/vault.sqlite",
)  # fmt: skip


def test_what_a_killed_run_left_half_done_is_swept_away_and_nothing_else(
    store: Workspace,
) -> None:
    for name in (*LEFT, *KEPT):
        path = store.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with store.locked():
        left = {str(p.relative_to(store.root)) for p in store.root.rglob("*") if p.is_file()}
    assert left == {*KEPT, "lock"}


def test_somebody_who_only_looks_at_the_lock_keeps_no_run_out(store: Workspace) -> None:
    (store.root / "lock").touch()
    looking = (store.root / "lock").open()
    fcntl.flock(looking, fcntl.LOCK_SH)
    leaves = threading.Timer(0.1, looking.close)
    leaves.start()
    with store.locked():
        assert store.holder().startswith(f"{os.getpid()} on ")
    leaves.join()
    assert store.holder() == ""


def test_workspace_that_nobody_has_entered_is_held_by_nobody(tmp_path: Path) -> None:
    assert Workspace(tmp_path).holder() == ""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_FULL, "disk is full"),
        (sqlite3.SQLITE_READONLY, "cannot be written"),
        (sqlite3.SQLITE_IOERR, "input/output error"),
        (sqlite3.SQLITE_CORRUPT, "Restore it from your backup"),
        (
            sqlite3.SQLITE_FULL | 3 << 8,
            "disk is full",
        ),  # an extended code says more in its upper bits
    ],
)
def test_errors_of_the_vault_s_file_are_told_as_those_of_its_disk(code: int, words: str) -> None:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    assert words in str(storage_error(error))


def test_sqlite_s_other_errors_are_no_matter_of_the_disk() -> None:
    assert storage_error(sqlite3.OperationalError("no such table")) is None


def test_full_disk_is_told_with_what_is_left_of_it(tmp_path: Path) -> None:
    left = re.search(r"disk is full \((\d+) MiB left\)", str(no_room(tmp_path)))
    assert left is not None
    assert int(left[1]) == pytest.approx(shutil.disk_usage(tmp_path).free / 2**20, rel=0.2)
    assert "disk is full. Free space" in str(no_room(None))


def test_dataclasses_become_json_values() -> None:
    @dataclass(frozen=True)
    class Counted:
        day: date
        path: Path
        parts: tuple[int, ...]

    found = plain(Counted(date(2026, 9, 1), Path("a/b"), (1, 2)))
    assert found == {"day": "2026-09-01", "path": "a/b", "parts": [1, 2]}
