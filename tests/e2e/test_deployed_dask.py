"""Shards on a Dask cluster of several processes, one of which dies at work."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.e2e.commands import Finished, here, radcal
from tests.fixtures.loopback import free_port

pytestmark = pytest.mark.slow

KEY = {"RADCAL_VAULT_KEY": "k7Jq2mXw9TzR4bVn8sLp3dFg6hYc1aQe"}
CONFIG = """\
[reports]
demonstration = true

[input]
paths = ["{folder}/hospital/exams.csv"]
[calibration]
bootstrap = 100
[execution]
shard_rows = 10
"""


@contextmanager
def ended(*command: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **KEY},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulate a hospital and run the job on this machine alone."""
    folder = tmp_path_factory.mktemp("dask")
    made = here("simulate", "--out", "hospital", "--pairs", "24", "--readers", "3", cwd=folder)
    assert made.code == 0, made.err
    (folder / "alone").mkdir()
    (folder / "alone" / "radcal.toml").write_text(CONFIG.format(folder=folder))
    alone = here("run", "alone/radcal.toml", "--json", cwd=folder, **KEY)
    assert alone.code == 0, alone.err
    return folder


def test_dead_worker_costs_nothing_and_changes_no_byte(hospital: Path) -> None:
    spread, address = hospital / "spread", f"tcp://127.0.0.1:{free_port()}"
    (spread / "workspace" / "raw").mkdir(parents=True)
    # Codes are random: the same vault, the same codes.
    shutil.copy(hospital / "alone/workspace/raw/vault.sqlite", spread / "workspace/raw")
    (spread / "radcal.toml").write_text(
        CONFIG.format(folder=hospital)
        + f'dask_address = "{address}"\n'
        + 'dask_stages = ["ingest", "de-identify", "extract", "feedback"]\n'
    )
    dask = (sys.executable, "-m", "dask")
    worker = (*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    with ExitStack() as stack:
        port = address.rpartition(":")[2]
        stack.enter_context(
            ended(*dask, "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard",
                  cwd=hospital)
        )  # fmt: skip
        victim, _ = (stack.enter_context(ended(*worker, cwd=hospital)) for _ in range(2))
        finished = _run_and_kill(spread, victim)
    assert victim.returncode == -9
    assert finished.code == 0, finished.err
    for zone in ("raw/exams", "analysis", "delivery"):
        assert _digests(spread, zone) == _digests(hospital / "alone", zone)


def _run_and_kill(site: Path, victim: subprocess.Popen[bytes]) -> Finished:
    """Run the job; kill a worker as soon as there are shards both done and to do."""
    ended_early = threading.Event()

    def kill() -> None:
        while not ended_early.is_set():
            if len(list((site / "workspace/analysis/clean_exams").glob("*.parquet"))) >= 2:
                victim.kill()
                return
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        return radcal("run", "radcal.toml", "--json", cwd=site, **KEY)
    finally:
        ended_early.set()
        killer.join()


def _digests(site: Path, zone: str) -> dict[str, str]:
    root = site / "workspace" / zone
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_scheduler_that_does_not_answer_is_named(hospital: Path) -> None:
    config = hospital / "nobody.toml"
    config.write_text(
        CONFIG.format(folder=hospital) + f'dask_address = "tcp://127.0.0.1:{free_port()}"\n'
    )
    refused = here(
        "run", config, cwd=hospital, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="2s", **KEY
    )
    assert refused.code == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1" in refused.err
