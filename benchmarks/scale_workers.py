"""How much faster two Dask workers read than one: clock, CPU time, and the bytes they write.

Simulates a hospital, runs a night on this machine, then reads all its paired reports again through
the Dask task runner with one worker and with two. Prints the speed-up by the clock, which means
something on an idle machine of two cores or more only, and the CPU time that two workers need
compared with one (what spreading itself costs), which holds on a busy machine too. The limit is
that of the design: efficiency of two workers at least 0.8.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import psutil

LIMIT = 0.8


def main() -> None:
    """Measure one worker, then two, and print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1500)
    options = parser.parse_args()
    os.environ.setdefault("RADCAL_VAULT_KEY", "k7Jq2mXw9TzR4bVn8sLp3dFg6hYc1aQe")
    from pipeline.prefect_home import settle
    from pipeline.temporary_server import temporary_server

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settle(folder / "prefect")
        with temporary_server() as wait:
            wait()
            config = night(folder, options.pairs)
            one, two = (reading(folder, config, size) for size in (1, 2))
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}; {options.pairs:,} pairs, shards of 100 exams")
    for size, (clock, cpu, _) in ((1, one), (2, two)):
        print(f"  {size} worker(s)  {clock:8.1f} s by the clock  {cpu:8.1f} s of CPU")
    print(f"  clock: {one[0] / two[0]:.2f} times as fast, efficiency {one[0] / two[0] / 2:.2f}")
    print(f"  CPU:   efficiency {one[1] / two[1]:.2f} (one worker's CPU over two's)  limit {LIMIT}")
    print(f"  same bytes: {one[2] == two[2]}")


def night(folder: Path, pairs: int) -> str:
    """Simulate a hospital and take it to the gates."""
    from pipeline.flows import nightly
    from pipeline.simulate import simulate_chunks
    from pipeline.simulate.write import write_simulation

    chunks = simulate_chunks(pairs=pairs, readers=12, seed=0)
    write_simulation(chunks, folder / "hospital", exams_format="csv")
    config = folder / "radcal.toml"
    text = '[input]\npaths = ["hospital/exams.csv"]\n[execution]\nshard_rows = 100\n'
    config.write_text(text, encoding="utf-8")
    nightly(str(config))
    return str(config)


def reading(folder: Path, config: str, size: int) -> tuple[float, float, str]:
    """Read every paired report anew with so many Dask workers: clock, their CPU, digest."""
    from prefect import unmapped

    from pipeline.config import Execution
    from pipeline.flows import extract
    from pipeline.runners import runners
    from pipeline.site import Site
    from pipeline.work import evidence

    store = Site.open(config).workspace
    pairs = store.keys("analysis", "pairs")
    shards = evidence.shards_of([store.facts("analysis", "pairs", key) for key in pairs])
    analysis = folder / "workspace" / "analysis"
    for name in ("findings", "report_findings", "readings"):
        shutil.rmtree(analysis / name)
    with runners(Execution(runner="dask", workers=size)) as found:
        runner = found.of("extract")

        def read(keys: list[str]) -> None:
            given = {"config": unmapped(config), "shard": keys, "pairs": unmapped(pairs)}
            for future in runner.map(extract, given):
                future.result()

        read(shards[:size])  # every worker has loaded what it needs
        before, started = _cpu(), time.perf_counter()
        read(shards[size:])
        clock, cpu = time.perf_counter() - started, _cpu() - before
    digest = hashlib.sha256()
    for path in sorted(analysis.glob("*findings/*.parquet")):
        digest.update(path.read_bytes())
    return clock, cpu, digest.hexdigest()


def _cpu() -> float:
    """CPU seconds of all Dask workers, which are children of this process."""
    children = psutil.Process().children(recursive=True)
    workers = [c for c in children if "multiprocessing" in " ".join(c.cmdline())]
    return sum(sum(c.cpu_times()[:2]) for c in workers)


if __name__ == "__main__":
    sys.exit(main())
