"""What a run did: a line per stage as it happens, and the same as data for the manifest.

Counts and times only; never text, never an identifier.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Journal", "StageRecord"]

_LOG = logging.getLogger("radcal")
_SILENCE_SECONDS = 10.0


@dataclass(slots=True)
class StageRecord:
    """One stage of a run; `counts` may be filled while it runs."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    spoke: float = field(default_factory=time.perf_counter)

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


class Journal:
    """Records stages in order and logs a line as each ends (logger ``radcal``)."""

    def __init__(self) -> None:
        self.stages: list[StageRecord] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[StageRecord]:
        """Time a stage; a stage that fails is recorded with the time it took."""
        record = StageRecord(name)
        self.stages.append(record)
        started = time.perf_counter()
        try:
            yield record
        finally:
            record.seconds = time.perf_counter() - started
            _LOG.info(record.line())

    def timings(self) -> dict[str, float]:
        """Seconds per stage."""
        return {stage.name: round(stage.seconds, 3) for stage in self.stages}

    def counts(self) -> dict[str, dict[str, int]]:
        """Give the counts of every stage."""
        return {stage.name: dict(stage.counts) for stage in self.stages}
