"""What orchestration costs: the same tasks by the same workers, under Prefect and without it.

Takes one simulated hospital (``--pairs``, ``--readers``) from exports to delivered pages several
times in fresh workspaces, by turns as `radcal run` does it and with the very same task functions
called from two threads, no Prefect server, no flow, no artifacts. Compares the seconds from a run's
first stage to its end, workers' start included on both sides, and the processor seconds of all
processes. Limit of the design: Prefect's share of the run under 10 %.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from hospitals import KEYED, RADCAL, configured, hospital, seconds_of_run, took

LIMIT = 0.10
PREFECT = [*RADCAL, "run"]
BARE = [sys.executable, __file__, "--bare"]


def main() -> None:
    """Run both by turns and compare; or, in a process of its own, run once without Prefect."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2662)
    parser.add_argument("--readers", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", metavar="CONFIG", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare(options.bare)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        exams = hospital(folder, pairs=options.pairs, readers=options.readers)
        found: dict[str, list[tuple[float, float]]] = {"under Prefect": [], "without it": []}
        for number in range(options.rounds):
            for name, command in (("under Prefect", PREFECT), ("without it", BARE)):
                place = folder / f"{number}-{name.split()[0]}"
                found[name].append(timed(command, place, exams))
    report(found)


def timed(command: Sequence[str], place: Path, exams: Path) -> tuple[float, float]:
    """Run a command on a fresh workspace: seconds of the run, processor seconds of it all."""
    place.mkdir()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    _, spent = took([*command, configured(place, exams)], env=KEYED, **quiet)
    return seconds_of_run(place / "workspace"), spent


def bare(config: str) -> None:
    """Take exports to pages with the tasks' own functions and no orchestrator."""
    import pipeline.run.run
    from pipeline.flows import gather, hand_out
    from pipeline.run.workers import in_worker, perform, workers
    from pipeline.stages import Stage

    class Bare(pipeline.run.run.Run):
        """A run whose stages are called from threads, as many as there are workers."""

        def map(self, stage: Stage[Any, Any], items: Iterable[Any]) -> list[Any]:
            each, here = list(items), stage.is_done_here(self.site)
            call = perform if here else partial(in_worker, perform)
            size = self.site.config.execution.workers
            with self.books.stage(stage.name) as page, ThreadPoolExecutor(size) as threads:
                futures = [threads.submit(call, stage, self.config, item) for item in each]
                found = [page.note(future.result()) for future in futures]
                page.count(stage, found)
            return found

    for name in ("publish_stages", "publish_gates", "publish_pages"):
        setattr(pipeline.run.run, name, lambda *_: None)
    with Bare.of(config) as run, workers(run.site.config.execution.workers):
        gathered = gather(run)
        facts = run.pass_gates(gathered)
        run.finish(gathered, hand_out(run, gathered, facts, None))


def report(found: dict[str, list[tuple[float, float]]]) -> None:
    """Print medians, every figure behind them, and Prefect's share beside its limit."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end")
    middle = {}
    for name, each in found.items():
        seconds = [run for run, _ in each]
        middle[name] = statistics.median(seconds)
        listed = ", ".join(f"{s:.1f}" for s in seconds)
        spent = statistics.median(cpu for _, cpu in each)
        print(f"  {name:<14}{middle[name]:7.1f} s a run ({listed}), {spent:.1f} s of processors")
    share = 1.0 - middle["without it"] / middle["under Prefect"]
    print(f"  orchestration {share:7.1%} of the run, limit {LIMIT:.0%}")
    sys.exit(share > LIMIT)


if __name__ == "__main__":
    main()
