"""A whole run watched from outside: the sockets it opens, the log, metrics and record it leaves."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.commands import Finished, here, radcal
from tests.fixtures.syscalls import beyond_loopback, can_trace, traced

pytestmark = pytest.mark.slow

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"

HOOK = """
import os, sys
_log = os.open(os.environ["SOCKET_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
def _hook(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        os.write(_log, f"{event} {arguments[1]!r}\\n".encode())
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        os.write(_log, f"{event} {(arguments[0], 0)!r}\\n".encode())
sys.addaudithook(_hook)
"""
"""Python's own audit events, in this process and in every Python process that it starts."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("observed")
    (folder / "hook").mkdir()
    (folder / "hook" / "sitecustomize.py").write_text(HOOK)
    return folder


@pytest.fixture(scope="module")
def job(place: Path) -> Finished:
    (folder := place / "demo").mkdir()
    made = here("simulate", "--out", folder / "hospital", "--pairs", "24", "--readers", "3",
                  cwd=place)  # fmt: skip
    assert made.code == 0, made.err
    (folder / "radcal.toml").write_text(
        '[input]\npaths = ["hospital/exams.csv"]\n[reports]\ndemonstration = true\n'
        '[calibration]\nbootstrap = 100\n[execution]\norchestrated = "always"\n'
    )
    return radcal(
        "run", "demo/radcal.toml", "--json",
        cwd=place, under=traced(place / "calls") if can_trace() else (),
        RADCAL_VAULT_KEY=KEY, **hooked(place, "run.log"),
    )  # fmt: skip


def hooked(folder: Path, log: str) -> dict[str, str]:
    path = f"{folder / 'hook'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return {"PYTHONPATH": path, "SOCKET_LOG": str(folder / log)}


def outside(log: Path) -> list[str]:
    """Events of a log whose address is neither this machine's loopback nor a file."""
    found = []
    for line in log.read_text().splitlines():
        _, _, address = line.partition(" ")
        value = eval(address, {"__builtins__": {}})  # noqa: S307 - the repr our own hook wrote
        host = value[0] if isinstance(value, tuple) else None
        host = host.decode() if isinstance(host, bytes) else host
        if host is not None and not is_loopback(host):
            found.append(line)
    return found


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def test_whole_run_opens_no_socket_beyond_this_machine(place: Path, job: Finished) -> None:
    assert job.code == 0, job.err
    log = place / "run.log"
    assert "socket.connect ('127.0.0.1'" in log.read_text()
    assert outside(log) == []


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('192.0.2.7', 9), timeout=0.01)",
        "socket.getaddrinfo('telemetry.invalid', 443)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.7', 9))",
    ],
)
def test_watch_sees_a_deliberate_connection_also_from_a_worker(place: Path, attempt: str) -> None:
    code = (
        "import multiprocessing as m, socket\n"
        f"def call():\n    try:\n        {attempt}\n    except OSError: pass\n"
        "call()\n"
    )
    log = place / f"proof-{hash(attempt)}.log"
    environment = os.environ | hooked(place, log.name)
    started = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    subprocess.run([sys.executable, "-c", started, code], env=environment, check=True)
    assert len(outside(log)) >= 1


def test_whole_run_names_no_other_machine_to_the_kernel_and_listens_to_none(
    place: Path, job: Finished
) -> None:
    if not can_trace():
        pytest.skip("needs strace")
    assert job.code == 0, job.err
    calls = [path.read_text() for path in (place / "calls").iterdir()]
    assert any(re.search(r"^bind.*\"127\.0\.0\.1\"", each, re.M) for each in calls)
    assert sum("connect(" in each for each in calls) >= 2
    assert beyond_loopback(place / "calls") == []


@pytest.mark.parametrize(
    ("attempt", "seen"),
    [
        ("s.connect(('192.0.2.7', 9))", "connect("),
        ("s.sendto(b'x', ('192.0.2.7', 9))", "sendto("),
        ("s.bind(('0.0.0.0', 0))", "bind("),
        ("socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).bind(('::', 0))", "bind("),
        ("s.connect(('127.0.0.53', 53))", "connect("),
    ],
)
def test_trace_sees_what_a_grandchild_asks_of_the_kernel(
    tmp_path: Path, attempt: str, seen: str
) -> None:
    if not can_trace():
        pytest.skip("needs strace")
    code = (
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        f"try:\n    {attempt}\nexcept OSError: pass"
    )
    started = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    command = [*traced(tmp_path / "calls"), sys.executable, "-c", started, code]
    subprocess.run(command, check=True)
    (found,) = beyond_loopback(tmp_path / "calls")
    assert found.startswith(seen)


def test_metrics_are_read_by_prometheus_and_tell_the_counts(place: Path, job: Finished) -> None:
    path = place / "demo/workspace/metrics/radcal.prom"
    families = {f.name: f for f in text_string_to_metric_families(path.read_text())}
    assert all(f.type == "gauge" and f.documentation for f in families.values())
    pairs = {s.labels["state"]: s.value for s in families["radcal_evidence"].samples}
    assert pairs["pairs"] == job.summary["pairs"]
    assert families["radcal_run_success"].samples[0].value == 1
    assert {s.value for s in families["radcal_gate_passed"].samples} == {1.0}
    stages = [s.labels["stage"] for s in families["radcal_stage_seconds"].samples]
    assert stages[:3] == ["ingest", "register", "de-identify"]
    memory = families["radcal_stage_peak_memory_bytes"].samples
    assert all(s.value > 2**24 for s in memory)


def test_log_is_json_lines_from_beginning_to_end_with_one_id(place: Path, job: Finished) -> None:
    assert job.code == 0
    (path,) = (place / "demo/workspace/logs").glob("radcal-*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["message"] == "run begins"
    assert lines[-1]["message"] == "run ends"
    assert len({line["run"] for line in lines}) == 1
    shards = [line for line in lines if line.get("shard")]
    assert {"de-identify", "extract"} <= {line["stage"] for line in shards}
    assert path.stat().st_mode & 0o777 == 0o600


def test_status_says_that_all_is_up_to_date(place: Path, job: Finished) -> None:

    done = here("status", "demo/radcal.toml", "--json", cwd=place, RADCAL_VAULT_KEY=KEY)
    assert done.code == 0, done.err
    told = done.summary
    assert (told["last_run"], told["lock"], told["exit_code"]) == ("delivered", "free", 0)
    assert told["observations"] == job.summary["observations"]
    assert {stage["state"] for stage in told["stages"]} == {"up to date"}
