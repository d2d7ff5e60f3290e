"""Faults made for real: a disk that fills up mid-run or is read-only, a model server that dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from pipeline.simulate import simulate
from tests.e2e.commands import RADCAL, Finished, here, radcal

pytestmark = pytest.mark.slow

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
CONFIG = (
    '[reports]\ndemonstration = true\n[input]\npaths = ["exams.csv"]\n'
    "[calibration]\nbootstrap = 100\n[execution]\nshard_rows = 10\n"
    'orchestrated = "always"\n'
)
SERVER = """
import http.server, json, os, sys
class Answers(http.server.BaseHTTPRequestHandler):
    left = int(sys.argv[1])
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if Answers.left == 0:
            os._exit(9)
        Answers.left -= 1
        choice = {"text": '- "none", "none", "none"', "index": 0, "finish_reason": "stop"}
        self.told({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 9}})
    def do_GET(self):
        self.told({"data": [{"id": "tiny"}]})
    def told(self, answer):
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture(scope="module")
def exams() -> pd.DataFrame:
    return simulate(pairs=24, readers=3, seed=5).exams.astype(str)


def site(folder: Path, exams: pd.DataFrame, config: str = CONFIG) -> Path:
    exams.to_csv(folder / "exams.csv", index=False)
    (folder / "radcal.toml").write_text(config)
    return folder


def run(folder: Path) -> Finished:
    return radcal("run", "radcal.toml", "--json", cwd=folder, RADCAL_VAULT_KEY=KEY)


def begun(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RADCAL, "run", "radcal.toml", "--quiet"],
        cwd=folder,
        env={**os.environ, "RADCAL_VAULT_KEY": KEY},
        stderr=subprocess.PIPE,
        text=True,
    )


def until_coded(folder: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the first coded shard is there."""
    clean = folder / "workspace" / "analysis" / "clean_exams"
    while process.poll() is None and not list(clean.glob("*.parquet")):
        time.sleep(0.02)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a real file system of 96 MiB, where this user may."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", str(folder)]
    if subprocess.run(mounting, check=False, capture_output=True).returncode:
        pytest.skip("may not mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write until the disk takes no more."""
    with path.open("wb", buffering=0) as ballast:
        while True:
            ballast.write(b"\0" * 2**16)


@pytest.mark.nightly
def test_disk_that_fills_up_mid_run_is_told_and_the_run_goes_on_later(
    small_disk: Path, exams: pd.DataFrame
) -> None:
    folder = site(small_disk, exams)
    process = begun(folder)
    until_coded(folder, process)
    with pytest.raises(OSError, match="No space"):
        fill(folder / "ballast")
    _, told = process.communicate()
    assert process.returncode == 1, told
    assert "Traceback" not in told
    assert "disk is full" in told
    full = run(folder)
    assert full.code == 1
    assert "disk is full (0 MiB left)" in full.err
    (folder / "ballast").unlink()
    finished = {p: p.read_bytes() for p in (folder / "workspace/analysis").rglob("*.parquet")}
    assert run(folder).code in (0, 3)
    assert all(path.read_bytes() == content for path, content in finished.items())
    assert not list((folder / "workspace").rglob("*.part"))


def test_read_only_store_is_refused_before_any_work(small_disk: Path, exams: pd.DataFrame) -> None:
    folder = site(small_disk, exams)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = subprocess.run(
        [sys.executable, "-c", RADCAL, "run", "radcal.toml"],
        cwd=folder,
        env={**os.environ, "RADCAL_VAULT_KEY": KEY},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "cannot be written (Read-only file system)" in done.stderr


@pytest.mark.nightly
def test_model_server_that_dies_mid_run_leaves_what_is_done(
    tmp_path: Path, exams: pd.DataFrame
) -> None:
    served = subprocess.Popen(
        [sys.executable, "-c", SERVER, "30"], stdout=subprocess.PIPE, text=True
    )
    assert served.stdout is not None
    port = served.stdout.readline().strip()
    extraction = (
        f'[extraction]\nengine = "server"\nmodel = "tiny"\nserver_url = "http://127.0.0.1:{port}"\n'
        "server_concurrency = 2\nserver_timeout_seconds = 5\n"
    )
    folder = site(tmp_path, exams, CONFIG + extraction)
    done = run(folder)
    served.communicate()
    assert served.returncode == 9
    assert done.code == 1, done.err
    assert "Traceback" not in done.err
    record = json.loads((folder / "workspace/runs/last.json").read_text())
    assert record["error"]["type"] == "ModelOutageError"
    assert record["stages"][-1]["stage"] == "extract"
    assert not (folder / "workspace" / "delivery").exists()
    status = radcal("status", "radcal.toml", "--json", cwd=folder, RADCAL_VAULT_KEY=KEY)
    states = {stage["stage"]: stage["state"] for stage in status.summary["stages"]}
    assert (states["de-identify"], states["extract"]) == ("up to date", "failed")


def test_killed_parent_takes_its_workers_and_its_server_with_it(
    tmp_path: Path, exams: pd.DataFrame
) -> None:
    folder = site(tmp_path, exams)
    process = begun(folder)
    until_coded(folder, process)
    children = [int(p.name) for p in Path("/proc").iterdir()
                if p.name.isdigit() and parent_of(int(p.name)) == process.pid]  # fmt: skip
    assert len(children) >= 2
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 60
    while any(is_alive(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in children if is_alive(pid)] == []
    status = here("status", "radcal.toml", "--json", cwd=folder, RADCAL_VAULT_KEY=KEY)
    assert status.summary["last_run"] == "killed"
    assert status.summary["lock"] == "free"


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("faketime") is None, reason="needs Debian's package faketime")
def test_clock_that_stood_wrong_for_a_run_costs_nothing_once_it_is_right(
    tmp_path: Path, exams: pd.DataFrame
) -> None:
    folder = site(tmp_path, exams)
    back = ("faketime", "-f", "-200d")
    early = radcal("run", "radcal.toml", "--json", cwd=folder, under=back, RADCAL_VAULT_KEY=KEY)
    right = run(folder)
    assert {early.code, right.code} <= {0, 3}, early.err + right.err
    assert early.summary["quarantined"] > 0, "rows of its tomorrow wait"
    assert right.summary["quarantined"] == 0
    other = tmp_path / "other"
    other.mkdir()
    undisturbed = run(site(other, exams))
    for count in ("pairs", "observations"):
        assert right.summary[count] == undisturbed.summary[count]
    once_more = radcal("run", "radcal.toml", "--json", cwd=folder, under=back, RADCAL_VAULT_KEY=KEY)
    assert once_more.summary["outcome"] == "nothing changed"
