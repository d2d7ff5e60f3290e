"""Shards: every damage is found before anything is parsed; disks that fail are told in words."""

from __future__ import annotations

import errno
import io
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from pipeline.errors import DamagedShardError, InputError, StorageError
from pipeline.run.shield import shielded
from pipeline.store.files import replacing, storage_error
from pipeline.store.objects import DamageError, about, decode, encode
from pipeline.store.workspace import Workspace

FRAME = pd.DataFrame(
    {
        "n": np.arange(20),
        "text": ["likely", "may represent"] * 10,
        "at": pd.date_range("2025-01-01", periods=20, tz="UTC"),
        "share": np.linspace(0, 1, 20),
    }
)
WHOLE = encode(FRAME, {"rows": 20})


def test_shard_is_ordinary_parquet_to_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "shard.parquet"
    path.write_bytes(WHOLE)
    pd.testing.assert_frame_equal(pd.read_parquet(path), FRAME)
    rows = duckdb.connect().execute("SELECT count(*), max(text) FROM read_parquet(?)", [str(path)])
    assert rows.fetchone() == (20, "may represent")
    assert about(io.BytesIO(WHOLE))["facts"] == {"rows": 20}
    assert decode(WHOLE, ["n"]).column_names == ["n"]
    assert decode(encode(FRAME.iloc[::2], None)).column_names == list(FRAME)  # no index beside them


def test_any_single_bit_that_flips_is_found() -> None:
    rng = np.random.default_rng(3)
    for place in range(len(WHOLE)):
        bad = bytearray(WHOLE)
        bad[place] ^= 1 << int(rng.integers(8))
        with pytest.raises(DamageError):
            decode(bytes(bad))


def test_shard_cut_short_anywhere_is_found() -> None:
    for length in range(0, len(WHOLE), 7):
        with pytest.raises(DamageError):
            decode(WHOLE[:length])
        with pytest.raises(DamageError):
            about(io.BytesIO(WHOLE[:length]))


def test_damaged_and_missing_shards_are_named_with_what_to_do(tmp_path: Path) -> None:
    store = Workspace(tmp_path)
    store.prepare()
    store.write("analysis", "t", "k1", FRAME)
    path = tmp_path / "analysis" / "t" / "k1.parquet"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DamagedShardError, match=r"t/k1\.parquet is damaged\. `radcal run` puts it"):
        store.read("analysis", "t", ["k1"])
    with pytest.raises(DamagedShardError, match=r"t/k2\.parquet is missing"):
        store.facts("analysis", "t", "k2", dict[str, int])


def test_shard_put_aside_is_made_again_and_kept_for_a_look(tmp_path: Path) -> None:
    store = Workspace(tmp_path)
    store.prepare()
    store.write("analysis", "t", "k1", FRAME)
    (tmp_path / "analysis" / "t" / "k1.parquet").write_bytes(b"")
    with pytest.raises(DamagedShardError) as caught:
        store.read("analysis", "t", ["k1"])
    store.put_aside(caught.value)
    assert not store.has("analysis", "t", "k1")
    assert (tmp_path / "analysis" / "damaged" / "t-k1.parquet").exists()


def test_shard_of_another_version_is_read_where_its_columns_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Workspace(tmp_path)
    store.prepare()
    with monkeypatch.context() as patch:
        patch.setattr("pipeline.store.objects.SCHEMA_VERSION", "0")
        store.write("analysis", "t", "k1", FRAME, facts={"rows": 20})
    assert store.read("analysis", "t", ["k1"], columns=["n"])["n"].tolist() == list(range(20))
    assert store.facts("analysis", "t", "k1", dict[str, int]) == {"rows": 20}
    lacking = (
        r"analysis/t/k1\.parquet .*another version \(schema 0, without age; .*Keep the workspace"
    )
    with pytest.raises(InputError, match=lacking):
        store.read("analysis", "t", ["k1"], columns=["n", "age"])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "x"), "disk is full.*What may go"),
        (OSError(errno.EDQUOT, "x"), "disk is full"),
        (OSError(errno.EROFS, "x"), "cannot be written"),
        (OSError(errno.EACCES, "x", "exports/ris.csv"), "exports/ris.csv: .* read .*not this user"),
        (OSError(errno.EIO, "x"), "input/output error"),
    ],
)
def test_disks_that_fail_are_told_in_words_and_not_as_faults_of_ours(
    error: OSError, words: str
) -> None:
    def work() -> None:
        raise error

    with pytest.raises(StorageError, match=words):
        shielded(work)


def test_damaged_sqlite_file_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "vault.sqlite"
    path.write_bytes(b"no database" * 500)
    with pytest.raises(sqlite3.DatabaseError) as caught:
        sqlite3.connect(path).execute("SELECT * FROM meta")
    told = storage_error(caught.value)
    assert told is not None
    assert "Restore it from your backup" in str(told)


def test_other_errors_are_no_matter_of_the_disk() -> None:
    assert storage_error(KeyError("x")) is None
    assert storage_error(FileNotFoundError(errno.ENOENT, "x")) is None


def test_file_being_replaced_is_the_old_one_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as partial:
            partial.write_bytes(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
