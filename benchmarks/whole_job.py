"""The whole job on a simulated hospital: seconds per stage, memory, and overhead of orchestration.

Prints, for 2,662 pairs by 12 readers (or ``--pairs N --readers R``): seconds per stage; the
start-up before the first stage (Python, Prefect, its server); the overhead of orchestration, which
is the share of the run, start-up left out, in which the tasks themselves did not work (their
seconds divided by the workers at hand); processor seconds in tasks and in all processes, which a
busy machine does not stretch; and the largest memory of any one process. Limits of the design:
under 60 s after start-up on two cores, overhead under 10 %, under 1.5 GiB.
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
from datetime import datetime
from pathlib import Path
from typing import Any

LIMIT_SECONDS, LIMIT_MIB, LIMIT_OVERHEAD = 60.0, 1536.0, 0.10


def main() -> None:
    """Run the demonstration in a fresh folder and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2662)
    parser.add_argument("--readers", type=int, default=12)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-c", "from pipeline.cli import main; main()", "demo",
            "--out", folder, "--pairs", str(options.pairs), "--readers", str(options.readers),
            "--quiet",
        ]  # fmt: skip
        started = time.perf_counter()
        subprocess.run(command, check=True)
        wall = time.perf_counter() - started
        (path,) = Path(folder).glob("workspace/runs/*/manifest.json")
        manifest = json.loads(path.read_text(encoding="utf-8"))
        record = json.loads((path.parents[1] / "last.json").read_text(encoding="utf-8"))
    ended = datetime.fromisoformat(record["ended_at"])
    run = (ended - datetime.fromisoformat(record["started_at"])).total_seconds()
    report(manifest, wall, run, options.pairs)


def report(manifest: dict[str, Any], wall: float, run: float, pairs: int) -> None:
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
    print(f"  wall clock    {wall:8.2f} s  of which simulation and start-up {wall - run:.2f} s")
    worked = sum(s["work_seconds"] / min(workers, max(s["items"], 1)) for s in stages)
    overhead = max(0.0, 1.0 - worked / run)
    print(
        f"  overhead      {overhead:8.1%}    of the run's {run:.1f} s, limit {LIMIT_OVERHEAD:.0%}"
    )
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    tasks = sum(stage["cpu_seconds"] for stage in stages)
    spent = usage.ru_utime + usage.ru_stime
    print(f"  processor     {tasks:8.2f} s  in tasks, {spent:.2f} s in all processes")
    peak = max(stage["peak_mib"] for stage in stages)
    print(f"  peak memory   {peak:8.0f} MiB of the largest process, limit {LIMIT_MIB:.0f}")


if __name__ == "__main__":
    main()
