"""What an exam costs, and what that makes of ten thousand, a million and a hundred million exams.

Measures, on a simulated hospital (``--pairs N``), CPU seconds per exam of every stage that grows
with the exams and bytes per exam on disk and in memory, each by calling the stage's own work in
this process, and prints the table of `docs/scaling.md` from them. CPU time, not the clock, so that
a busy machine gives the same figures. GPU hours are arithmetic on a stated throughput, not
measured.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hospitals import KEYED, configured, hospital

from pipeline.site.site import Site
from pipeline.stages import clean, extract, pair, register, tally
from pipeline.stages.ingest import INGEST

SIZES = (10**4, 10**6, 10**8)
CORES = 16
GPU_REPORTS_PER_SECOND = 39.0
"""An assumption: 3,000 tokens out a second, 77 an answer (`extraction_tokens.py`, X-rays)."""


@dataclass
class Costs:
    """CPU seconds by stage and bytes by place of so many exams; how many of them are read."""

    exams: int = 0
    read: int = 0
    cpu: dict[str, float] = field(default_factory=dict)
    size: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Note a block's CPU seconds."""
        started = time.process_time()
        yield
        self.cpu[stage] = time.process_time() - started


def main() -> None:
    """Measure, and print the costs and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1500)
    options = parser.parse_args()
    os.environ |= KEYED
    with tempfile.TemporaryDirectory() as folder:
        costs = measure(Path(folder), options.pairs)
    n = costs.exams
    print(f"{n:,} simulated exams on one core of {os.cpu_count()}; CPU time")
    for stage, cpu in costs.cpu.items():
        print(f"  {stage:<12}{cpu / n * 1e3:9.3f} ms/exam  {n / cpu:9,.0f} exams/s/core")
    for place, size in costs.size.items():
        print(f"  {place:<34}{size / n:9,.0f} bytes/exam")
    print(f"  reports read: {costs.read / n:.0%} of the exams (those of pairs)")
    table(costs)


def measure(folder: Path, pairs: int) -> Costs:
    """Take a simulated hospital to tallies stage by stage in this process."""
    written = hospital(folder / "hospital", pairs=pairs, readers=12)
    site, costs = Site.open(str(configured(folder, written))), Costs()
    site.workspace.prepare()
    _ = site.engine, site.once(clean._deidentifier)
    with costs.timed("ingest"):
        source = INGEST.do(site, str(written)).found
    shards = register.shards(site, [source])
    with costs.timed("register"):
        register.REGISTER.do(site, register.ExamsToRegister.of(shards, [source]))
    with costs.timed("de-identify"):
        coded = [clean.CLEAN.do(site, shard).found for shard in shards]
    with costs.timed("pair"):
        paired = [pair.PAIR.do(site, block).found for block in pair.blocks(site, coded)]
    with costs.timed("extract"):
        read = [extract.EXTRACT.do(site, shard).found for shard in extract.shards(paired)]
    with costs.timed("tally"):
        for block in tally.blocks(paired, read):
            tally.TALLY.do(site, block)
    costs.exams, costs.read = source.kept, sum(shard.reports for shard in read)
    weigh(site, source.shards, tuple(sorted(shard.key for shard in coded)), costs.size)
    return costs


def weigh(
    site: Site, shards: tuple[str, ...], coded: tuple[str, ...], size: dict[str, float]
) -> None:
    """Count bytes on disk by zone, and in memory what grows with all exams at once."""
    root = site.workspace.root
    vault = set((root / "raw").glob("vault.sqlite*"))
    for zone in ("raw", "analysis"):
        files = [p for p in (root / zone).rglob("*") if p.is_file() and p not in vault]
        size[f"disk: {zone}"] = sum(p.stat().st_size for p in files)
    size["disk: vault"] = sum(p.stat().st_size for p in vault)
    frame = pair.exams(site, pair.PatientBlock(coded, 0, 1))
    size["memory: a block, gathered to be paired"] = frame.memory_usage(deep=True).sum()
    tracemalloc.start()
    kept = clean._leak_scan.__wrapped__(site, shards)
    size["memory: leak scan of a batch"] = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del kept


def table(costs: Costs) -> None:
    """Print the sizing table, in Markdown."""
    cpu = sum(costs.cpu.values())
    disk = sum(size for place, size in costs.size.items() if place.startswith("disk"))
    print(f"\n| exams | CPU hours | on {CORES} cores | disk | GPU hours |\n|---|---|---|---|---|")
    for exams in SIZES:
        times = exams / costs.exams
        hours, gpu = times * cpu / 3600, times * costs.read / GPU_REPORTS_PER_SECOND / 3600
        print(
            f"| {exams:,} | {hours:,.2f} | {hours / CORES:,.2f} | {_bytes(times * disk)} | "
            f"{gpu:,.2f} |"
        )


def _bytes(size: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


if __name__ == "__main__":
    sys.exit(main())
