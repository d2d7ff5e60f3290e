"""The whole job on a simulated hospital: seconds per stage, memory, and overhead of orchestration.

Prints, for 2,662 pairs by 12 readers (or ``--pairs N --readers R``): seconds per stage, the share
of the wall clock that no stage accounts for (starting Python, Prefect and the workers), and the
largest memory of any one process. Limits stated by the design: under 60 s after start-up on two
cores, under 1.5 GiB.
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
from pathlib import Path

LIMIT_SECONDS, LIMIT_MIB = 60.0, 1536.0


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
    report(manifest, wall, options.pairs)


def report(manifest: dict[str, dict[str, float]], wall: float, pairs: int) -> None:
    """Print seconds per stage, and the totals beside their limits."""
    seconds = manifest["seconds"]
    total = sum(seconds.values())
    print(f"{os.cpu_count()} cores; {manifest['accounting']['rows_in']:,} exams, {pairs:,} pairs")
    for stage, value in seconds.items():
        print(f"  {stage:<14}{value:8.2f} s  {value / total:6.1%}")
    ratio = total / LIMIT_SECONDS
    print(f"  all stages    {total:8.2f} s  limit {LIMIT_SECONDS:.0f} s, ratio {ratio:.2f}")
    print(f"  wall clock    {wall:8.2f} s  of which outside stages {wall - total:.2f} s")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"  peak memory   {peak:8.0f} MiB of the largest process, limit {LIMIT_MIB:.0f}")


if __name__ == "__main__":
    main()
