"""A real file system of 1 MiB: what happens to shards and codes when it is full, and afterwards."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.errors import ConfigurationError, StorageError
from pipeline.formats.fhir.resources import Index
from pipeline.run.shield import shielded
from pipeline.store.workspace import Workspace
from pipeline.vault.vault import Vault

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
NOISE = np.random.default_rng(0)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    mounting = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
    if subprocess.run(mounting, check=False, capture_output=True).returncode:
        pytest.skip("may not mount a file system")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def frame() -> pd.DataFrame:
    return pd.DataFrame({"x": NOISE.random(12_000)})


def test_full_disk_is_told_and_leaves_whole_shards_and_no_rubbish(disk: Path) -> None:
    store = Workspace(disk)
    written: dict[str, pd.DataFrame] = {}

    def fill() -> None:
        for number in range(100):
            one = frame()
            store.write("analysis", "t", f"k{number}", one)
            written[f"k{number}"] = one

    with pytest.raises(StorageError, match=r"disk is full.*What may go without loss"):
        shielded(fill)
    assert len(written) >= 5
    for key, one in written.items():
        pd.testing.assert_frame_equal(store.read("analysis", "t", [key]), one)
    assert store.keys("analysis", "t") == sorted(written)
    assert not list(disk.rglob("*.part"))
    (disk / "analysis" / "t" / "k0.parquet").unlink()
    store.write("analysis", "t", "k0", written["k0"])


def test_run_is_refused_before_any_work_where_little_is_left(disk: Path) -> None:
    with pytest.raises(StorageError, match=r"disk is full \(\d MiB left\)"):
        Workspace(disk).prepare()


def test_codes_given_before_the_disk_was_full_are_kept(disk: Path) -> None:
    path = disk / "vault.sqlite"
    with Vault.create(path, KEY) as vault:
        first = vault.codes("patient", ["p1", "p2"])
        (disk / "ballast").write_bytes(b"\0" * (int(_free(disk)) - 8192))
        with pytest.raises(StorageError, match="disk is full"):
            shielded(vault.codes, "study", [f"s{i}" for i in range(2000)])
    (disk / "ballast").unlink()
    with Vault.open(path, KEY) as vault:
        assert vault.codes("patient", ["p1", "p2"]) == first
        assert len(set(vault.codes("study", [f"s{i}" for i in range(2000)]))) == 2000


def test_store_that_became_read_only_is_told(disk: Path) -> None:
    store = Workspace(disk)
    store.write("analysis", "t", "k", frame())
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with pytest.raises(StorageError, match="cannot be written"):
        shielded(store.write, "analysis", "t", "k2", frame())
    with pytest.raises(ConfigurationError, match="Read-only file system"):
        store.prepare()
    assert len(store.read("analysis", "t", ["k"])) == 12_000


def test_an_index_of_earlier_files_that_finds_no_room_is_told_and_learns_them_afterwards(
    disk: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    export = tmp_path_factory.mktemp("exports") / "patients.ndjson"
    people = ({"resourceType": "Patient", "id": f"p{number}"} for number in range(60_000))
    export.write_text("".join(f"{json.dumps(each)}\n" for each in people))
    index = Index(disk / "index" / "places.sqlite")

    def found() -> list[object]:
        return [each["id"] for each in index.resources({"Patient/p59999"}, [export])]

    with pytest.raises(StorageError, match="disk is full"):
        shielded(found)
    with pytest.raises(StorageError, match="disk is full"):
        shielded(found)
    subprocess.run(["mount", "-o", "remount,size=16m", str(disk)], check=True)
    assert found() == ["p59999"]


def _free(path: Path) -> float:
    return shutil.disk_usage(path).free
