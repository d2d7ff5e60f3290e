"""What a run did: a line per stage as it happens, and the same as data for the manifest.

Counts, keys and times only; never text, never an identifier.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pipeline.run.measure import COST, USED, Cost

__all__ = ["Journal", "StageRecord"]

_LOG = logging.getLogger("radcal")
_SILENCE_SECONDS = 10.0


@dataclass(slots=True)
class StageRecord:
    """One stage of a run, filled while it runs.

    `items` is how many shards or pages it was asked for, `made` how many of them were not there
    yet; `work_seconds` adds up over processes, `seconds` is what the clock on the wall says; `used`
    are the shards that its tasks found, read or made.
    """

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    work_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mib: float = 0.0
    items: int = 0
    made: int = 0
    ended: bool = False
    used: set[str] = field(default_factory=set)
    spoke: float = field(default_factory=time.perf_counter)

    def note(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Take a finished task's cost and whether it made anything; give its facts without them."""
        facts = {k: v for k, v in found.items() if k not in (COST, USED, "made")}
        self.used |= set(found.get(USED, ()))
        cost, made = found.get(COST, Cost(0.0, 0.0, 0.0)), bool(found.get("made", True))
        self.items += 1
        self.made += made
        self.work_seconds += cost.seconds
        self.cpu_seconds += cost.cpu_seconds
        self.peak_mib = max(self.peak_mib, cost.peak_mib)
        if made:
            told = {"stage": self.name, "shard": facts.get("key"), "seconds": cost.seconds}
            _LOG.debug("%s made", self.name, extra={"facts": told})
        return facts

    def advance(self, done: int, total: int) -> None:
        """Say how far the stage is, if it has been silent for a while."""
        now = time.perf_counter()
        if done < total and now - self.spoke > _SILENCE_SECONDS:
            self.spoke = now
            _LOG.info("%-12s %7d of %d done", self.name, done, total)

    def line(self) -> str:
        """Give the stage as one line of progress."""
        counted = ", ".join(f"{value:,} {name}" for name, value in self.counts.items())
        return f"{self.name:<12} {self.seconds:7.1f} s   {counted}"

    def to_dict(self) -> dict[str, Any]:
        """Give the stage as data."""
        return {
            "stage": self.name,
            "seconds": round(self.seconds, 3),
            "work_seconds": round(self.work_seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "peak_mib": round(self.peak_mib, 1),
            "items": self.items,
            "made": self.made,
            "ended": self.ended,
            "counts": dict(self.counts),
        }


class Journal:
    """Records stages in order and logs a line as each ends (logger ``radcal``).

    A stage that runs again, because what it had found turned out damaged, is one stage: times add
    up, counts are those of its last pass.
    """

    def __init__(self) -> None:
        self.stages: dict[str, StageRecord] = {}
        self.changed: Callable[[], None] | None = None
        """Called when a stage begins and when it ends."""

    @contextmanager
    def stage(self, name: str) -> Iterator[StageRecord]:
        """Time a stage; a stage that fails is recorded with the time it took."""
        record = self.stages.setdefault(name, StageRecord(name))
        record.ended, record.items = False, 0
        self._tell()
        started = time.perf_counter()
        try:
            yield record
            record.ended = True
        finally:
            record.seconds += time.perf_counter() - started
            _LOG.info(record.line(), extra={"facts": record.to_dict()})
            self._tell()

    def used(self) -> set[str]:
        """Name the shards that all stages used."""
        return {name for stage in self.stages.values() for name in stage.used}

    def _tell(self) -> None:
        if self.changed is not None:
            self.changed()

    def timings(self) -> dict[str, float]:
        """Seconds per stage."""
        return {name: round(stage.seconds, 3) for name, stage in self.stages.items()}

    def to_list(self) -> list[dict[str, Any]]:
        """Give all stages as data, in order."""
        return [stage.to_dict() for stage in self.stages.values()]
