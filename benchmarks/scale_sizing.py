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
    """Per exam: CPU seconds by stage, bytes by place; and the share of exams that are read."""

    cpu: dict[str, float] = field(default_factory=dict)
    disk: dict[str, float] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    read_share: float = 0.0

    @contextmanager
    def timed(self, stage: str, exams: int) -> Iterator[None]:
        """Add a block's CPU seconds per exam."""
        started = time.process_time()
        yield
        self.cpu[stage] = self.cpu.get(stage, 0.0) + (time.process_time() - started) / exams


def main() -> None:
    """Measure, and print the costs and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1500)
    options = parser.parse_args()
    os.environ |= KEYED
    with tempfile.TemporaryDirectory() as folder:
        exams, costs = measure(Path(folder), options.pairs)
    print(f"{exams:,} simulated exams on one core of {os.cpu_count()}; CPU time")
    for stage, seconds in costs.cpu.items():
        print(f"  {stage:<12}{seconds * 1e3:9.3f} ms/exam  {1 / seconds:9,.0f} exams/s/core")
    for place, size in (costs.disk | costs.memory).items():
        print(f"  {place:<34}{size:9,.0f} bytes/exam")
    print(f"  reports read: {costs.read_share:.0%} of the exams (those of pairs)")
    table(costs)


def measure(folder: Path, pairs: int) -> tuple[int, Costs]:
    """Take a simulated hospital to tallies stage by stage in this process."""
    written = hospital(folder / "hospital", pairs=pairs, readers=12)
    site, costs = Site.open(str(configured(folder, written))), Costs()
    site.workspace.prepare()
    _ = site.engine, site.once(clean._deidentifier)
    with costs.timed("ingest", 1):
        source = INGEST.do(site, str(written)).found
    exams = source.kept
    costs.cpu["ingest"] /= exams
    shards = register.shards(site, [source])
    with costs.timed("register", exams):
        register.REGISTER.do(site, register.ExamsToRegister.of(shards, [source]))
    with costs.timed("de-identify", exams):
        coded = [clean.CLEAN.do(site, shard).found for shard in shards]
    with costs.timed("pair", exams):
        paired = [pair.PAIR.do(site, block).found for block in pair.blocks(site, coded)]
    with costs.timed("extract", exams):
        read = [extract.EXTRACT.do(site, shard).found for shard in extract.shards(paired)]
    with costs.timed("tally", exams):
        for block in tally.blocks(paired, read):
            tally.TALLY.do(site, block)
    costs.read_share = sum(shard.reports for shard in read) / exams
    weigh(site, source.shards, tuple(sorted(shard.key for shard in coded)), exams, costs)
    return exams, costs


def weigh(
    site: Site, shards: tuple[str, ...], coded: tuple[str, ...], exams: int, costs: Costs
) -> None:
    """Count bytes on disk by zone, and in memory what grows with all exams at once."""
    root = site.workspace.root
    vault = set((root / "raw").glob("vault.sqlite*"))
    for zone in ("raw", "analysis"):
        files = [p for p in (root / zone).rglob("*") if p.is_file() and p not in vault]
        costs.disk[f"disk: {zone}"] = sum(p.stat().st_size for p in files) / exams
    costs.disk["disk: vault"] = sum(p.stat().st_size for p in vault) / exams
    frame = pair.exams(site, pair.PatientBlock(coded, 0, 1))
    costs.memory["memory: a block, gathered to be paired"] = (
        frame.memory_usage(deep=True).sum() / exams
    )
    tracemalloc.start()
    kept = clean._leak_scan.__wrapped__(site, shards)
    costs.memory["memory: leak scan of a batch"] = tracemalloc.get_traced_memory()[0] / exams
    tracemalloc.stop()
    del kept


def table(costs: Costs) -> None:
    """Print the sizing table, in Markdown."""
    cpu, disk = sum(costs.cpu.values()), sum(costs.disk.values())
    titles = ("exams", "CPU hours", f"on {CORES} cores", "disk", "GPU hours")
    print("\n| " + " | ".join(titles) + " |")
    print("|---|---|---|---|---|")
    for n in SIZES:
        hours = n * cpu / 3600
        gpu = n * costs.read_share / GPU_REPORTS_PER_SECOND / 3600
        row = (
            f"{n:,}", f"{hours:,.2f}", f"{hours / CORES:,.2f}", _bytes(n * disk), f"{gpu:,.2f}",
        )  # fmt: skip
        print("| " + " | ".join(row) + " |")


def _bytes(size: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


if __name__ == "__main__":
    sys.exit(main())
