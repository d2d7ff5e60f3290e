"""Runs that meet: two at once on one workspace, two that ask one model server, a schedule."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipeline.simulate import simulate
from pipeline.vault.audit_log import AuditLog, verify
from tests.e2e.commands import RADCAL, radcal
from tests.fixtures.loopback import free_port, wait_until_it_answers

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
CONFIG = (
    '[reports]\ndemonstration = true\n[input]\npaths = ["exams.csv"]\n'
    "[calibration]\nbootstrap = 100\n"
)
SERVER = """
import http.server, json, sys, threading, time
busy, lock = {}, threading.Lock()
class Answers(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            busy[asked["model"]] = busy.get(asked["model"], 0) + 1
            print(json.dumps([time.time(), sorted(m for m, n in busy.items() if n)]), flush=True)
        time.sleep(0.05)
        choice = {"text": '- "none", "none", "none"', "index": 0, "finish_reason": "stop"}
        self.told({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 9}})
        with lock:
            busy[asked["model"]] -= 1
    def do_GET(self):
        self.told({"data": [{"id": "one"}, {"id": "other"}]})
    def told(self, answer):
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
print(server.server_port, flush=True)
server.serve_forever()
"""
"""Answers for two models, and prints at each question which models are being asked just then."""


def site(folder: Path, more: str = "", pairs: int = 24) -> Path:
    folder.mkdir(exist_ok=True)
    exams = simulate(pairs=pairs, readers=3, seed=5).exams.astype(str)
    exams.to_csv(folder / "exams.csv", index=False)
    (folder / "radcal.toml").write_text(CONFIG + more)
    return folder


def begun(folder: Path, *command: str, **environment: str) -> subprocess.Popen[str]:
    """Begin a command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", RADCAL, *command],
        cwd=folder,
        env={**os.environ, "RADCAL_VAULT_KEY": KEY, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def members(group: int) -> list[str]:
    """Command lines of the living processes of a group."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getpgid(int(entry.name)) == group:
                found.append((entry / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return [line for line in found if line]


def test_of_two_runs_started_at_once_one_goes_through_and_one_leaves_with_its_code(
    tmp_path: Path,
) -> None:
    folder = site(tmp_path)
    both = [begun(folder, "run", "radcal.toml", "--quiet") for _ in range(2)]
    told = {run.communicate()[0]: run.returncode for run in both}
    codes = sorted(run.returncode for run in both)
    assert codes in ([0, 5], [3, 5]), told
    assert any("another run holds" in text for text, code in told.items() if code == 5)
    entries = list(AuditLog(folder / "workspace" / "audit.jsonl").entries())
    assert [entry["event"] for entry in entries] == ["run"]
    assert verify(folder / "workspace" / "audit.jsonl").is_intact
    assert not list((folder / "workspace").rglob("*.part"))
    again = radcal("run", "radcal.toml", "--json", cwd=folder, RADCAL_VAULT_KEY=KEY)
    assert again.summary["outcome"] == "nothing changed", again.err


@contextmanager
def prefect_server(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the address of a Prefect server on loopback and the environment to use it."""
    api = f"http://127.0.0.1:{(port := free_port())}/api"
    environment = {
        "PREFECT_API_URL": api,
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1",
         "--port", str(port)],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_until_it_answers(server, f"{api}/health")
        yield api, environment
    finally:
        server.terminate()
        server.wait()


def ask(api: str, path: str, **question: object) -> Any:
    """Post a question, again while the server's database is busy, as Prefect's own client does."""
    deadline = time.monotonic() + 60
    answer = httpx.post(f"{api}/{path}", json=question, timeout=60)
    while answer.status_code == httpx.codes.SERVICE_UNAVAILABLE and time.monotonic() < deadline:
        time.sleep(0.5)
        answer = httpx.post(f"{api}/{path}", json=question, timeout=60)
    answer.raise_for_status()
    return answer.json()


def test_two_runs_share_the_model_server_shard_by_shard(tmp_path: Path) -> None:
    model = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert model.stdout is not None
    port = model.stdout.readline().strip()
    extraction = (
        f'[execution]\nshard_rows = 12\n[extraction]\nengine = "server"\n'
        f'server_url = "http://127.0.0.1:{port}"\nserver_concurrency = 2\nmodel = '
    )
    names = ("one", "other")
    folders = [site(tmp_path / name, f'{extraction}"{name}"\n') for name in names]
    with prefect_server(tmp_path) as (api, environment):
        limit = {"tag": "gpu", "concurrency_limit": 1}
        ask(api, "concurrency_limits/", **limit)
        both = [begun(f, "run", "radcal.toml", "--quiet", **environment) for f in folders]
        told = [run.communicate()[0] for run in both]
    model.terminate()
    asked = [json.loads(line) for line in model.communicate()[0].splitlines()]
    assert {name for _, busy in asked for name in busy} == set(names), told
    assert [busy for _, busy in asked if len(busy) > 1] == []
    order = [busy[0] for _, busy in asked]
    assert order != sorted(order), "shards of the two runs take turns"
    # What the tiny model says maps to nothing, so that a gate stops each run in the end.
    assert [run.returncode for run in both] == [4, 4], told


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_serve_registers_its_schedules_works_on_a_run_and_leaves_no_process(
    tmp_path: Path, ending: signal.Signals
) -> None:
    folder = site(tmp_path)
    port = free_port()
    served = begun(folder, "serve", "radcal.toml", "--port", str(port), "--cron", "0 3 * * *")
    api = f"http://127.0.0.1:{port}/api"
    try:
        _until(served, lambda: len(_deployments(api)) == 2)
        nightly = next(d for d in _deployments(api) if d["name"] == "nightly")
        (schedule,) = nightly["schedules"]
        assert schedule["active"]
        assert schedule["schedule"]["cron"] == "0 3 * * *"
        assert nightly["parameters"] == {"config": str((folder / "radcal.toml").resolve())}
        path = f"deployments/{nightly['id']}/create_flow_run"
        run = ask(api, path, state={"type": "SCHEDULED"})["id"]
        _until(served, lambda: _state(api, run) in ("COMPLETED", "FAILED", "CRASHED"))
        assert _state(api, run) == "COMPLETED"
        record = json.loads((folder / "workspace" / "runs" / "last.json").read_text())
        assert record["outcome"] == "gathered"
    finally:
        os.kill(served.pid, ending)
        told = served.communicate()[0]
    _until_all_ended(served.pid)
    assert members(served.pid) == [], told
    # Stopped by SIGTERM, Prefect's own handler leaves the event loop with a traceback in the log.
    assert ending == signal.SIGTERM or "Traceback" not in told, told
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{api}/health", timeout=5)
    status = radcal("status", "radcal.toml", "--json", cwd=folder, RADCAL_VAULT_KEY=KEY)
    assert status.summary["lock"] == "free"


def _until_all_ended(group: int) -> None:
    deadline = time.monotonic() + 60
    while members(group) and time.monotonic() < deadline:
        time.sleep(0.1)


def _until(served: subprocess.Popen[str], reached: Any) -> bool:
    """Wait until something is so; fail if the server process ended instead."""
    while not reached():
        if served.poll() is not None:
            pytest.fail(f"serve ended with {served.returncode}: {served.communicate()[0]}")
        time.sleep(0.5)
    return True


def _deployments(api: str) -> list[dict[str, Any]]:
    try:
        return list(ask(api, "deployments/filter"))
    except httpx.HTTPError:
        return []


def _state(api: str, run: str) -> str:
    return str(httpx.get(f"{api}/flow_runs/{run}", timeout=60).json()["state_type"])
