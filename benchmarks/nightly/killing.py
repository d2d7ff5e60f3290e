"""Real runs in process groups of their own, and the means to kill them: for the nightly kills."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import psutil

from pipeline.cli import main as cli_main
from pipeline.run.server import free_port, is_up, settle

__all__ = ["Run", "Struck", "members", "standing_server", "strike", "warm"]

COMMAND = ("run", "radcal.toml", "--quiet")
ENVIRONMENT = {
    "RADCAL_VAULT_KEY": "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}


class Run:
    """One `radcal run`, begun when made: in a fresh interpreter, or forked from this warm one."""

    def __init__(self, folder: Path, *, cold: bool = False) -> None:
        self.record = folder / "workspace" / "runs" / "last.json"
        self.code: int | None = None
        with (folder / "told.txt").open("ab") as told:
            self.pid = _started(folder, told) if cold else _forked(folder, told)

    def holds_the_workspace(self) -> bool:
        """Wait until the run's record is there; False if it ended before."""
        while self._poll() is None:
            if self._facts().get("process") == self.pid:
                return True
            time.sleep(0.02)
        return False

    def ends_within(self, seconds: float) -> bool:
        """Wait; whether it has ended."""
        deadline = time.monotonic() + seconds
        while self._poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        return self._poll() is not None

    def finish(self) -> int:
        """Wait to the end; gives its exit code, negative for a signal."""
        if self.code is None:
            _, status = os.waitpid(self.pid, 0)
            self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def _poll(self) -> int | None:
        if self.code is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if ended else None
        return self.code

    def stage(self) -> str:
        """Name the stage it is in."""
        facts = self._facts()
        if facts.get("process") != self.pid:
            return "start-up"
        stages = facts["stages"]
        if not stages:
            return "workers' start"
        last = stages[-1]
        return str(last["stage"]) if not last["ended"] else f"after {last['stage']}"

    def _facts(self) -> dict[str, object]:
        try:
            return dict(json.loads(self.record.read_text()))
        except (OSError, ValueError):
            return {}


def warm(api: str, home: Path) -> None:
    """Import the program, so that runs forked from here start at once; they use that server."""
    os.environ |= {**ENVIRONMENT, "PREFECT_API_URL": api, "PREFECT_HOME": str(home)}
    settle(home)
    for package in ("calibration", "extraction.rules", "reports", "pipeline"):
        folder = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(folder, f"{package}."):
            importlib.import_module(module.name)


def _started(folder: Path, told: BinaryIO) -> int:
    """Begin a run in a fresh interpreter, with a Prefect server of its own."""
    without = {name: v for name, v in os.environ.items() if not name.startswith("PREFECT_")}
    return subprocess.Popen(
        [sys.executable, "-c", "from pipeline.cli import main; main()", *COMMAND],
        cwd=folder,
        env={**without, **ENVIRONMENT},
        stdout=told,
        stderr=told,
        start_new_session=True,
    ).pid


def _forked(folder: Path, told: BinaryIO) -> int:
    """Begin a run in a copy of this process, which must not have started a thread."""
    if (pid := os.fork()) != 0:
        return pid
    os.setsid()
    os.chdir(folder)
    os.dup2(told.fileno(), 1)
    os.dup2(told.fileno(), 2)
    sys.argv = ["radcal", *COMMAND]
    sys.modules["__main__"] = ModuleType("__main__")  # or workers would import the benchmark
    code = 1
    try:
        cli_main()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        os._exit(code)


@dataclass(frozen=True)
class Struck:
    """Who was killed in the end, how the run ended, and how many outlived their parent."""

    whom: str
    code: int
    orphans: int


def strike(run: Run, whom: str, chance: random.Random) -> Struck:
    """Kill -9 the whole group, the parent or one worker; where there is no worker, the group."""
    workers = [each for each in members(run.pid) if "spawn_main" in " ".join(each.cmdline())]
    if whom == "a worker" and workers:
        chance.choice(workers).kill()
    elif whom == "parent":
        os.kill(run.pid, signal.SIGKILL)
    else:
        whom = "all"
        os.killpg(run.pid, signal.SIGKILL)
    return Struck(whom, run.finish(), _outlived(run.pid))


def _outlived(group: int) -> int:
    """Count processes of a group whose parent is gone, after a little time to notice."""
    deadline = time.monotonic() + 60
    while (left := members(group)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for process in left:
        process.kill()
    return len(left)


def members(group: int) -> list[psutil.Process]:
    """List the processes of a process group, without those that only wait to be reaped."""
    found = []
    for process in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            if os.getpgid(process.pid) == group and process.cmdline():
                found.append(process)
    return found


@contextmanager
def standing_server(folder: Path) -> Iterator[str]:
    """Start a Prefect server on loopback; gives its address."""
    port = free_port()
    home = {"PREFECT_HOME": str(folder / "prefect"), "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL"}
    command = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(
        [sys.executable, "-m", *command],
        env={**os.environ, **ENVIRONMENT, **home},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        if not is_up(server, port, seconds=180.0):
            sys.exit("the Prefect server did not start")
        yield f"http://127.0.0.1:{port}/api"
    finally:
        server.terminate()
        server.wait()
