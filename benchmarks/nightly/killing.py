"""Real runs in process groups of their own, and the means to kill them: for the nightly kills."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["COMMAND", "ENVIRONMENT", "Run", "Struck", "members", "strike"]

COMMAND = ("-c", "from pipeline.cli import main; main()", "run", "radcal.toml")
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
    "RADCAL_VAULT_KEY": "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}


class Run:
    """One `radcal run`, begun when made; it uses this process's server, unless it is alone."""

    def __init__(self, folder: Path, *, alone: bool = False) -> None:
        self.record = folder / "workspace" / "runs" / "last.json"
        with (folder / "told.txt").open("ab") as told:
            self.process = subprocess.Popen(
                [sys.executable, *COMMAND, "--quiet"],
                cwd=folder, env=({} if alone else os.environ) | ENVIRONMENT,
                stdout=told, stderr=told, start_new_session=True,
            )  # fmt: skip

    def holds_the_workspace(self) -> bool:
        """Wait until the run's record is there; False if it ended before."""
        while self.process.poll() is None:
            if self._facts().get("process") == self.process.pid:
                return True
            time.sleep(0.02)
        return False

    def ends_within(self, seconds: float) -> bool:
        """Wait; whether it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is not None

    def stage(self) -> str:
        """Name the stage it is in."""
        facts = self._facts()
        if facts.get("process") != self.process.pid:
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


@dataclass(frozen=True)
class Struck:
    """Who was killed in the end, how the run ended, and how many outlived their parent."""

    whom: str
    code: int
    orphans: int


def strike(run: Run, whom: str, chance: random.Random) -> Struck:
    """Kill -9 the whole group, the parent or one worker; where there is no worker, the group."""
    group = run.process.pid
    workers = [each for each in members(group) if "spawn_main" in " ".join(each.cmdline())]
    if whom == "a worker" and workers:
        chance.choice(workers).kill()
    elif whom == "parent":
        run.process.kill()
    else:
        whom = "all"
        os.killpg(group, signal.SIGKILL)
    return Struck(whom, run.process.wait(), _outlived(group))


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
