"""What a piece of work cost (seconds, processor seconds, memory) and which shards it used."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, ParamSpec

from pipeline.run.shield import shielded
from pipeline.store.used import taken

__all__ = ["COST", "USED", "Cost", "measured", "peak_mib"]

P = ParamSpec("P")
Facts = dict[str, Any]

COST: Final = "cost"
"""Under this name the cost travels with a task's facts; the run takes it out again."""

USED: Final = "used"
"""And under this one the names of the shards it found, read or made."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall seconds, processor seconds, and the process's largest resident memory so far, MiB."""

    seconds: float
    cpu_seconds: float
    peak_mib: float


def measured(function: Callable[P, Facts], /, *args: P.args, **kwargs: P.kwargs) -> Facts:
    """Call a function behind the shield, and give its facts with their cost and what it used."""
    began, cpu = time.perf_counter(), time.process_time()
    found = shielded(function, *args, **kwargs)
    cost = Cost(time.perf_counter() - began, time.process_time() - cpu, peak_mib())
    used = taken() | set(found.get(USED, ()))
    return {COST: cost, **found, USED: sorted(used)}


def peak_mib() -> float:
    """Give the largest resident memory of this process, MiB.

    From /proc where there is one: what getrusage tells a spawned process includes its parent's.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
