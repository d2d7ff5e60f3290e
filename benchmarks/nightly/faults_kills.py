"""Fifty kills at random moments: what a resumed run leaves is byte-equal to an undisturbed one.

Runs the whole job once undisturbed on a small simulated hospital. Then runs it again and again in
a second workspace that shares nothing but the vault (codes are random, so they must be the same to
compare), and kills -9, at a moment drawn uniformly over a run's length, the parent, or one worker,
or all processes at once. Whenever a run gets through, every file of the raw and analysis zones and
of the delivery must be equal byte by byte, with none too many, none missing and no temporary file;
then the workspace is emptied and the killing goes on. Also counts processes that outlive the
parent they belonged to. Limits: 0 differences, 0 leftovers, 0 orphans.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pipeline.simulate import simulate

COMPARED = ("raw", "analysis", "delivery")
CONFIG = """\
[input]
paths = ["../exams.csv"]
[calibration]
bootstrap = 100
[execution]
workers = 2
shard_rows = 50
"""


def main() -> None:
    """Kill as often as asked, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)  # noqa: S311 - moments, not secrets
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        simulate(pairs=options.pairs, readers=5, seed=4).exams.to_csv(folder / "exams.csv")
        whole, killed = site(folder / "whole"), site(folder / "killed")
        started = time.monotonic()
        finish(start(whole))
        length = time.monotonic() - started
        empty(killed, whole)
        found: Counter[str] = Counter()
        while found["kills"] < options.kills:
            disturb(killed, length, chance, found)
            if found.pop("through", 0):
                found["runs that got through"] += 1
                found["differences"] += compare(whole, killed)
                empty(killed, whole)
        finish(start(killed))
        found["runs that got through"] += 1
        found["differences"] += compare(whole, killed)
    print(f"{os.cpu_count()} cores; a run of {options.pairs} pairs takes {length:.0f} s")
    for name in ("kills", "differences", "orphans"):
        found.setdefault(name, 0)
    for name, count in sorted(found.items()):
        print(f"  {name:<28}{count:5d}")
    sys.exit(bool(found["differences"] or found["orphans"]))


def site(folder: Path) -> Path:
    """Make a site's folder with its configuration."""
    folder.mkdir()
    (folder / "radcal.toml").write_text(CONFIG)
    return folder


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Begin a run in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "from pipeline.cli import main; main()", "run", "radcal.toml",
         "--quiet"],
        cwd=folder,
        env=os.environ | {"RADCAL_VAULT_KEY": "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"},
        start_new_session=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for a run that must end well."""
    if process.wait() not in (0, 3):
        sys.exit(f"a run ended with {process.returncode}")


def disturb(folder: Path, length: float, chance: random.Random, found: Counter[str]) -> None:
    """Run, and kill at a random moment; a run that lost a worker alone must get through."""
    process = start(folder)
    moment, whom = chance.uniform(0, length), chance.choice(("parent", "a worker", "all"))
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        kill(process, whom, chance, found)
    else:
        found["through"] += 1


def kill(
    process: subprocess.Popen[bytes], whom: str, chance: random.Random, found: Counter[str]
) -> None:
    """Kill the parent, one worker or all of them, and count who outlives it."""
    group = members(process.pid)
    workers = [pid for pid in group if "spawn_main" in command(pid)]
    if whom == "a worker" and workers:
        os.kill(chance.choice(workers), signal.SIGKILL)
        finish(process)
        found["through"] += 1
    elif whom == "all":
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    else:
        whom = "parent"
        process.kill()
        process.wait()
    found["kills"] += 1
    found[f"killed: {whom}"] += 1
    found["orphans"] += outlived(process.pid)


def outlived(group: int) -> int:
    """Count processes of a group whose parent is gone, after a little time to notice."""
    deadline = time.monotonic() + 20
    while members(group) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = members(group)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return len(left)


def members(group: int) -> list[int]:
    """List the living processes of a process group."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getpgid(int(entry.name)) == group:
                found += [int(entry.name)] if command(int(entry.name)) else []
        except OSError:
            continue
    return found


def command(pid: int) -> str:
    """Give a process's command line; '' for one that is gone or only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def compare(whole: Path, killed: Path) -> int:
    """Count the files that differ, are missing or are too many; name them."""
    first, second = digests(whole), digests(killed)
    wrong = sorted(name for name in first | second if first.get(name) != second.get(name))
    for name in wrong:
        print(f"  differs: {name}")
    return len(wrong)


def digests(folder: Path) -> dict[str, str]:
    """Hash every file of the zones and the delivery but the vault."""
    store = folder / "workspace"
    files = [p for zone in COMPARED for p in (store / zone).rglob("*") if p.is_file()]
    return {
        str(path.relative_to(store)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if "vault" not in path.name
    }


def empty(folder: Path, whole: Path) -> None:
    """Leave nothing of a workspace but the vault of the undisturbed run and Prefect's records."""
    store = folder / "workspace"
    for part in (*COMPARED, "runs", "logs"):
        shutil.rmtree(store / part, ignore_errors=True)
    (store / "raw").mkdir(parents=True)
    shutil.copy(whole / "workspace" / "raw" / "vault.sqlite", store / "raw" / "vault.sqlite")


if __name__ == "__main__":
    main()
