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
import os
import tempfile
from pathlib import Path
from typing import Any

from hospitals import KEYED, RADCAL, configured, hospital, manifest_of, seconds_of_run, took

LIMIT_SECONDS, LIMIT_MIB, LIMIT_OVERHEAD = 60.0, 1536.0, 0.10
LIMIT_START, LIMIT_DEMO = 15.0, 1.3


def small() -> None:
    """Run about 1,000 exams in a fresh workspace and print how long it took beside its stages."""
    with tempfile.TemporaryDirectory() as temporary:
        config = configured(Path(temporary), hospital(Path(temporary), pairs=400, readers=6))
        wall, spent = took([*RADCAL, "run", config, "--quiet"], env=KEYED)
        manifest = manifest_of(Path(temporary) / "workspace")
    tasks = sum(stage["cpu_seconds"] for stage in manifest["stages"])
    print(
        f"radcal run of {manifest['accounting']['rows_in']:,} exams: {wall:.1f} s on the wall, "
        f"{tasks:.1f} s of processor in its stages and {spent:.1f} s in all; "
        f"{wall - tasks:.1f} s more than its stages, limit {LIMIT_START:.0f} s"
    )


def main() -> None:
    """Run a small hospital, then the demonstration, in fresh folders; print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2662)
    parser.add_argument("--readers", type=int, default=12)
    options = parser.parse_args()
    small()
    with tempfile.TemporaryDirectory() as folder:
        size = ("--pairs", options.pairs, "--readers", options.readers)
        wall, spent = took([*RADCAL, "demo", "--out", folder, *size, "--quiet"])
        manifest = manifest_of(Path(folder) / "workspace")
        run = seconds_of_run(Path(folder) / "workspace")
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
