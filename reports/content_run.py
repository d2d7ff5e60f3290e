"""What a run report carries: what went in, what was made of it, its cost, and what to look at."""

from __future__ import annotations

from dataclasses import dataclass

from reports.content_committee import FlowStep
from reports.content_parts import Gate, Masthead

__all__ = ["RunReportContent", "RunStage"]


@dataclass(frozen=True, slots=True)
class RunStage:
    """One stage: wall seconds, largest process in MiB, and how many of its shards were new."""

    name: str
    seconds: float
    peak_mib: float
    items: int
    made: int
    counted: str


@dataclass(frozen=True, slots=True)
class RunReportContent:
    """One run, for whoever keeps it running.

    `outcome` is said in one sentence; `rows` tells what became of every row of the exports (name,
    count), and `warnings` what somebody should look at, none if empty.
    """

    masthead: Masthead
    outcome: str
    started: str
    seconds: float
    rows: tuple[tuple[str, int], ...]
    flow: tuple[FlowStep, ...]
    gates: tuple[Gate, ...]
    stages: tuple[RunStage, ...]
    warnings: tuple[str, ...]
    manifest: tuple[tuple[str, str], ...]
