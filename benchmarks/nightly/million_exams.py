"""A million simulated exams through the real command: throughput, memory, and a kill in the middle.

Simulates ``--exams`` (default 1,000,000; a smaller number is the same run, shorter) into files of
about ``--file-exams`` exams, runs ``radcal run`` on them with one worker a core, kills the whole
process group when half the shards are de-identified, and runs it again to the end. Prints for
every stage how many exams a second it took, the largest memory of one process and of all
processes together (proportional set size, sampled), and whether any finished shard was made
twice. Limits of the design: 2 GiB for all processes together, no shard twice; the exit status
says whether they held. Everything lies under ``--folder``, so that a second call with the same
folder goes on where the first stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
from killing import COMMAND, ENVIRONMENT, members

from pipeline.simulate import simulate_chunks

LIMIT_MIB = 2048.0
EXAMS_PER_PAIR = 2.95
CONFIG = """\
[reports]
demonstration = true

[input]
paths = ["exports/*.csv"]
[execution]
workers = {workers}
shard_rows = 1000
"""


def main() -> None:
    """Simulate, run, kill, run again, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--exams", type=int, default=1_000_000)
    parser.add_argument("--file-exams", type=int, default=12_000)
    parser.add_argument("--readers", type=int, default=40)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--folder", type=Path, help="kept; default a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        rows = simulated(folder, options.exams, options.file_exams, options.readers)
        (folder / "radcal.toml").write_text(CONFIG.format(workers=options.workers))
        halfway = rows // 2000
        killed = watched(folder, until_shards=halfway)
        made = times(folder)
        finished = watched(folder)
        again = sum(times(folder)[name] != at for name, at in made.items())
        report(folder, rows, killed, finished, kept=len(made), again=again)
        peak = max(killed["together"], finished["together"])
        sys.exit(peak > LIMIT_MIB or again > 0)


def simulated(folder: Path, exams: int, per_file: int, readers: int) -> int:
    """Write the exports, a file per few chunks; files that are there stay. Returns the rows."""
    exports, count = folder / "exports", folder / "rows"
    exports.mkdir(parents=True, exist_ok=True)
    if count.is_file():
        return int(count.read_text())
    started, rows, lines = time.perf_counter(), 0, 0
    chunks = simulate_chunks(pairs=round(exams / EXAMS_PER_PAIR), readers=readers, seed=1)
    for number, chunk in enumerate(chunks):
        path = exports / f"exams-{rows // per_file:05d}.csv"
        chunk.exams.to_csv(path, mode="a", header=not path.exists(), index=False)
        rows, lines = rows + len(chunk.exams), number
    count.write_text(str(rows))
    print(f"simulated {rows:,} exams in {time.perf_counter() - started:.0f} s, {lines + 1} chunks")
    return rows


def watched(folder: Path, until_shards: int | None = None) -> dict[str, float]:
    """Run the command; sample its memory; kill its group once so many shards are clean."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--json"],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    peaks = {"largest": 0.0, "together": 0.0}
    ended = threading.Event()
    sampler = threading.Thread(target=sample, args=(process.pid, peaks, ended))
    sampler.start()
    started = time.perf_counter()
    clean = folder / "workspace" / "analysis" / "clean_exams"
    while until_shards is not None and process.poll() is None:
        if sum(1 for _ in clean.glob("*.parquet")) >= until_shards:
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.5)
    out, _ = process.communicate()
    ended.set()
    sampler.join()
    if until_shards is None and process.returncode not in (0, 3):
        sys.exit(f"radcal run ended with {process.returncode}: {out}")
    return {**peaks, "seconds": time.perf_counter() - started}


def sample(group: int, peaks: dict[str, float], ended: threading.Event) -> None:
    """Keep the largest proportional set size seen of one process, and of the group's sum."""
    while not ended.wait(1.0):
        sizes = []
        for process in members(group):
            with suppress(psutil.Error):
                sizes.append(process.memory_full_info().pss / 2**20)
        peaks["largest"] = max(peaks["largest"], *sizes, 0.0)
        peaks["together"] = max(peaks["together"], sum(sizes))


def times(folder: Path) -> dict[str, int]:
    """When each shard was written."""
    store = folder / "workspace"
    return {str(p): p.stat().st_mtime_ns for p in store.glob("*/*/*.parquet")}


def report(
    folder: Path,
    rows: int,
    killed: dict[str, float],
    finished: dict[str, float],
    *,
    kept: int,
    again: int,
) -> None:
    """Print throughput a stage, memory beside its limit, and what the kill cost."""
    (path,) = (folder / "workspace" / "runs").glob("*/manifest.json")
    manifest = json.loads(path.read_text(encoding="utf-8"))
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} at the end; {rows:,} exams")
    print(f"  killed after {killed['seconds']:.0f} s with {kept:,} shards finished")
    print(f"  {'finished by the second run':<28}{finished['seconds']:.0f} s")
    for stage in manifest["stages"]:
        share = stage["made"] / max(stage["items"], 1)
        rate = rows * share / max(stage["seconds"], 1e-9)
        print(
            f"    {stage['stage']:<14}{stage['seconds']:9.1f} s  made {stage['made']:,} of "
            f"{stage['items']:,}: {rate:,.0f} exams/s, largest process {stage['peak_mib']:.0f} MiB"
        )
    for name in ("largest", "together"):
        peak = max(killed[name], finished[name])
        print(f"  peak memory, {name:<9}{peak:8.0f} MiB  limit {LIMIT_MIB:.0f}")
    print(f"  shards made twice: {again} of {kept:,}, limit 0")


if __name__ == "__main__":
    main()
