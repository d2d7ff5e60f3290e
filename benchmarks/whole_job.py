"""Start-up of a small run, then the whole job on a simulated hospital: seconds and memory.

First `radcal run` of about 1,000 exams in a fresh workspace: the clock on the wall beside its
stages' processor time, of which it may be 15 s more (of those, how much the machine computed and
how much it waited). Then the demonstration, which may take 1.3 times its stages.

Prints, for 2,662 pairs by 12 readers (or ``--pairs N --readers R``): seconds per stage; the clock
on the wall beside the stages', and what of it lies outside the run (simulation and start-up, side
by side, and the end); processor seconds of all processes beside those in tasks, which a busy
machine stretches less; the overhead of orchestration, which is the share of the run in which the
tasks themselves did not work (their seconds divided by the workers at hand); and the largest memory
of any one process. Limits of the design: under 60 s after start-up on two cores, overhead under
10 %, under 1.5 GiB.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pipeline.simulate import simulate_chunks
from pipeline.simulate.generator import write_simulation

LIMIT_SECONDS, LIMIT_MIB, LIMIT_OVERHEAD = 60.0, 1536.0, 0.10
LIMIT_START, LIMIT_DEMO = 15.0, 1.3
CONFIG = '[input]\npaths = ["{exams}"]\n[reports]\ndemonstration = true\n'
RADCAL = [sys.executable, "-c", "from pipeline.cli import main; main()"]


def small() -> None:
    """Run about 1,000 exams in a fresh workspace and print how long it took beside its stages."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_simulation(simulate_chunks(pairs=400, readers=6, seed=0), folder, exams_format="csv")
        config = CONFIG.format(exams="exams.csv")
        (folder / "radcal.toml").write_text(config, encoding="utf-8")
        wall, spent = took([*RADCAL, "run", str(folder / "radcal.toml"), "--quiet"], env=keyed())
        (path,) = folder.glob("workspace/runs/*/manifest.json")
        manifest = json.loads(path.read_text(encoding="utf-8"))
    tasks = sum(stage["cpu_seconds"] for stage in manifest["stages"])
    print(
        f"radcal run of {manifest['accounting']['rows_in']:,} exams: {wall:.1f} s on the wall, "
        f"{tasks:.1f} s of processor in its stages and {spent:.1f} s in all; "
        f"{wall - tasks:.1f} s more than its stages, limit {LIMIT_START:.0f} s"
    )


def took(command: Sequence[str], **how: Any) -> tuple[float, float]:
    """Run a command: seconds on the wall, and of the processors by all its processes."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, **how)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def keyed() -> dict[str, str]:
    """Give the surroundings of a command, with a key of the vault."""
    return os.environ | {"RADCAL_VAULT_KEY": "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"}


def seconds_of_run(runs: Path) -> float:
    """Give the seconds from the first stage of the last run to its end."""
    record = json.loads((runs / "last.json").read_text(encoding="utf-8"))
    ended = datetime.fromisoformat(record["ended_at"])
    return (ended - datetime.fromisoformat(record["started_at"])).total_seconds()


def main() -> None:
    """Run a small hospital, then the demonstration, in fresh folders; print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2662)
    parser.add_argument("--readers", type=int, default=12)
    options = parser.parse_args()
    small()
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *RADCAL, "demo", "--out", folder, "--pairs", str(options.pairs),
            "--readers", str(options.readers), "--quiet",
        ]  # fmt: skip
        wall, spent = took(command)
        (path,) = Path(folder).glob("workspace/runs/*/manifest.json")
        manifest = json.loads(path.read_text(encoding="utf-8"))
        run = seconds_of_run(path.parents[1])
    report(manifest, wall, run, spent, options.pairs)


def report(manifest: dict[str, Any], wall: float, run: float, spent: float, pairs: int) -> None:
    """Print seconds per stage, and the totals beside their limits."""
    workers = manifest["configuration"]["execution"]["workers"]
    stages = manifest["stages"]
    total = sum(stage["seconds"] for stage in stages)
    rows = manifest["accounting"]["rows_in"]
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} at the end; {rows:,} exams, {pairs:,} pairs")
    for stage in stages:
        seconds = stage["seconds"]
        print(f"  {stage['stage']:<14}{seconds:8.2f} s  {seconds / total:6.1%}")
    print(
        f"  all stages    {total:8.2f} s  limit {LIMIT_SECONDS:.0f} s, {total / LIMIT_SECONDS:.2f}"
    )
    tasks = sum(stage["cpu_seconds"] for stage in stages)
    print(
        f"  wall clock    {wall:8.2f} s  {wall / total:.2f} times the stages, limit {LIMIT_DEMO}; "
        f"outside the run {wall - run:.2f} s"
    )
    print(
        f"  processor     {tasks:8.2f} s  in tasks, {spent:.2f} s in all processes: "
        f"{spent / tasks:.2f} times the stages"
    )
    worked = sum(s["work_seconds"] / min(workers, max(s["items"], 1)) for s in stages)
    overhead = max(0.0, 1.0 - worked / run)
    print(
        f"  overhead      {overhead:8.1%}    of the run's {run:.1f} s, limit {LIMIT_OVERHEAD:.0%}"
    )
    peak = max(stage["peak_mib"] for stage in stages)
    print(f"  peak memory   {peak:8.0f} MiB of the largest process, limit {LIMIT_MIB:.0f}")


if __name__ == "__main__":
    main()
