"""Shards on an object store: a real S3-compatible server on loopback, and fsspec's own memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pandas as pd
import pytest

from pipeline.errors import ConfigurationError, DamagedShardError
from pipeline.store.workspace import Workspace
from tests.fixtures.loopback import free_port, wait_until_it_answers

FRAME = pd.DataFrame({"a": [1, 2, 3], "who": ["x", "y", "x"]})


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Start a server that speaks S3, and make a bucket; gives its address."""
    address = f"http://127.0.0.1:{(port := free_port())}"
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    settings = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    patch = pytest.MonkeyPatch()
    for name, value in settings.items():
        patch.setenv(name, value)
    try:
        wait_until_it_answers(server, address)
        fsspec.filesystem("s3", skip_instance_cache=True).mkdir("hospital")
        yield "s3://hospital"
    finally:
        patch.undo()
        server.terminate()
        server.wait()


def workspace(folder: Path, url: str) -> Workspace:
    store = Workspace(folder, url)
    store.prepare()
    return store


@pytest.fixture(params=["s3", "memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "s3":
        return f"{request.getfixturevalue('s3')}/{tmp_path.name}"
    return f"memory://{tmp_path}" if request.param == "memory" else f"file://{tmp_path}/far"


def test_shard_comes_back_from_an_address_as_from_a_folder(tmp_path: Path, url: str) -> None:
    store = workspace(tmp_path / "local", url)
    assert store.keys("analysis", "t") == []
    assert not store.has("analysis", "t", "k1")
    store.write("analysis", "t", "k1", FRAME, facts={"rows": 3})
    assert store.has("analysis", "t", "k1")
    assert store.keys("analysis", "t") == ["k1"]
    assert store.facts("analysis", "t", "k1", dict[str, int]) == {"rows": 3}
    pd.testing.assert_frame_equal(store.read("analysis", "t", ["k1"]), FRAME)
    some = store.read("analysis", "t", ["k1"], columns=["a"], where=("who", "x"))
    assert some["a"].tolist() == [1, 3]
    store.write_page("p.pdf", b"%PDF")
    assert store.has_page("p.pdf")
    assert store.read_page("p.pdf") == b"%PDF"
    with pytest.raises(DamagedShardError, match=r"shard t/k2\.parquet is missing") as missing:
        store.read("analysis", "t", ["k2"])
    store.put_aside(missing.value)


def test_damaged_object_is_put_aside_and_made_again(tmp_path: Path, url: str) -> None:
    store = workspace(tmp_path / "local", url)
    store.write("analysis", "t", "k1", FRAME)
    store.objects.put("analysis/t/k1.parquet", b"PAR1 cut short")
    with pytest.raises(DamagedShardError) as damaged:
        store.read("analysis", "t", ["k1"])
    store.put_aside(damaged.value)
    assert not store.has("analysis", "t", "k1")
    assert store.keys("analysis", "damaged") == ["t-k1"]
    store.write("analysis", "t", "k1", FRAME)
    assert len(store.read("analysis", "t", ["k1"])) == 3


def test_nothing_but_the_site_marker_stays_on_this_machine(tmp_path: Path, url: str) -> None:
    store = workspace(tmp_path / "local", url)
    store.write("raw", "exams", "k1", FRAME)
    here = [p.name for p in (tmp_path / "local").rglob("*") if p.is_file()]
    assert here == ["site"]


def test_failed_write_leaves_no_object(tmp_path: Path, url: str) -> None:
    store = workspace(tmp_path / "local", url)
    with pytest.raises(Exception, match="object"):
        store.write("analysis", "t", "k1", pd.DataFrame({"a": [object()]}))
    assert store.keys("analysis", "t") == []


def test_prefix_of_another_site_is_refused_and_left_alone(tmp_path: Path, url: str) -> None:
    workspace(tmp_path / "one", url).write("analysis", "t", "k1", FRAME)
    with pytest.raises(ConfigurationError, match="belongs to another site"):
        workspace(tmp_path / "two", url)
    again = workspace(tmp_path / "one", url)
    assert again.keys("analysis", "t") == ["k1"]


def test_address_without_a_bucket_is_refused_before_the_run(tmp_path: Path, s3: str) -> None:
    with pytest.raises(ConfigurationError, match=r"s3://no-such-bucket/x cannot be used"):
        workspace(tmp_path / "local", "s3://no-such-bucket/x")


@pytest.mark.slow
def test_whole_job_on_s3_delivers_and_a_second_run_finds_everything(
    tmp_path: Path, s3: str
) -> None:
    from tests.e2e.commands import here

    made = here("simulate", "--out", "hospital", "--pairs", "60", "--readers", "5", cwd=tmp_path)
    assert made.code == 0, made.err
    (tmp_path / "radcal.toml").write_text(
        '[reports]\ndemonstration = true\n[input]\npaths = ["hospital/exams.csv"]\n'
        f'[store]\nworkspace = "{s3}/whole"\nlocal = "here"\n'
    )
    key = {"RADCAL_VAULT_KEY": "k7Jq2mXw9TzR4bVn8sLp3dFg6hYc1aQe"}
    first = here("run", "radcal.toml", "--json", cwd=tmp_path, **key)
    assert first.code == 0, first.err
    assert first.summary["outcome"] == "delivered"
    again = here("run", "radcal.toml", "--json", cwd=tmp_path, **key)
    assert again.summary["outcome"] == "nothing changed"
    assert not list((tmp_path / "here").rglob("*.parquet"))
    objects = fsspec.filesystem("s3", skip_instance_cache=True).find("hospital/whole")
    assert {"raw", "analysis", "owner"} == {o.split("/")[2] for o in objects}
