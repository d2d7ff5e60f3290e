"""How much faster two Dask workers read than one: clock, CPU time, and the bytes they write.

Simulates a hospital, runs a night on this machine, then reads all its paired reports again through
the Dask task runner with one worker and with two. Prints the speed-up by the clock, which means
something on an idle machine of two cores or more only, and the CPU time that two workers need
compared with one (what spreading itself costs), which holds on a busy machine too. Both read the
same shards, and both have read others before. What flow, server and scheduler need for a shard is
printed as well: on a machine with no more cores than workers they take it from the workers, so
that the clock cannot do better than the bound printed beside it. The limit is that of the design:
efficiency of two workers at least 0.8.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
from hospitals import KEYED, configured, hospital

LIMIT = 0.8
WARM = 2


def main() -> None:
    """Measure one worker, then two, and print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--shard-rows", type=int, default=300)
    options = parser.parse_args()
    os.environ |= KEYED
    from prefect import flow

    from pipeline.run.server import settle, temporary_server

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settle(folder / "prefect")
        with temporary_server() as wait:
            wait()
            config = night(folder, options.pairs, options.shard_rows)
            measured = flow(reading, persist_result=False)  # outside a flow nothing is spread
            one, two = (measured(folder, config, size) for size in (1, 2))
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    print(f"{cores} cores, load {load:.1f}; {options.pairs:,} pairs, ", end="")
    print(f"{one.shards} shards of {options.shard_rows} exams")
    for size, found in ((1, one), (2, two)):
        each = found.others / found.shards
        print(f"  {size} worker(s)  {found.clock:6.1f} s by the clock  CPU: workers ", end="")
        print(f"{found.cpu:.1f} s; flow, server and scheduler {each:.2f} s a shard")
    rounds = -(-two.shards // 2) / two.shards * two.cpu
    bound = max(rounds, (two.cpu + two.others) / cores)
    print(f"  clock: efficiency {one.clock / two.clock / 2:.2f}, ", end="")
    print(f"at most {one.clock / bound / 2:.2f} with these shards on these cores")
    if two.cpu > 0.0:
        print(f"  CPU:   efficiency {one.cpu / two.cpu:.2f} (one over two workers)  limit {LIMIT}")
    else:
        print("  CPU:   too little to tell; give more --pairs")
    print(f"  same bytes: {one.digest == two.digest}")


@dataclass(frozen=True)
class Reading:
    """What reading the shards took: seconds by the clock and of CPU, and the bytes written."""

    shards: int
    clock: float
    cpu: float
    others: float
    digest: str


def night(folder: Path, pairs: int, shard_rows: int) -> str:
    """Simulate a hospital and take it to the gates."""
    from pipeline.flows import nightly

    exams = hospital(folder / "hospital", pairs=pairs, readers=12)
    config = configured(folder, exams, f"[execution]\nshard_rows = {shard_rows}\n")
    nightly(str(config))
    return str(config)


def reading(folder: Path, config: str, size: int) -> Reading:
    """Read every paired report anew with so many Dask workers."""
    from distributed import LocalCluster

    from pipeline.run.run import Run
    from pipeline.run.runners import runners
    from pipeline.stages import extract
    from pipeline.stages.pair import Paired

    run = Run(config)
    store = run.site.workspace
    keys = store.keys("analysis", "pairs")
    shards = extract.shards([store.facts("analysis", "pairs", key, Paired) for key in keys])
    analysis = folder / "workspace" / "analysis"
    for name in ("findings", "report_findings", "readings"):
        shutil.rmtree(analysis / name)
    with ExitStack() as stack:
        cluster = LocalCluster(
            n_workers=size, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR
        )
        address = stack.enter_context(cluster).scheduler_address
        execution = run.site.config.execution.model_copy(update={"dask_address": address})
        spread = stack.enter_context(
            runners(run.site.config.model_copy(update={"execution": execution}))
        )

        def read(items: list[extract.ReportShard]) -> None:
            for _ in spread.work(extract.EXTRACT, config, items):
                pass

        read(shards[:WARM])  # every worker has loaded what it needs
        before, started = _cpu(), time.perf_counter()
        read(shards[WARM:])
        clock, after = time.perf_counter() - started, _cpu()
    digest = hashlib.sha256()
    for path in sorted(analysis.glob("*findings/*.parquet")):
        digest.update(path.read_bytes())
    used = [now - then for now, then in zip(after, before, strict=True)]
    return Reading(len(shards) - WARM, clock, *used, digest.hexdigest())


def _cpu() -> tuple[float, float]:
    """CPU seconds of all Dask workers, which are children of this process, and of all others."""
    workers, others = 0.0, 0.0
    for process in (me := psutil.Process(), *me.children(recursive=True)):
        used = sum(process.cpu_times()[:2])
        if "multiprocessing.spawn" in " ".join(process.cmdline()):
            workers += used
        else:
            others += used
    return workers, others


if __name__ == "__main__":
    sys.exit(main())
