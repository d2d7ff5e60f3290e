"""Several readings of the same reports, put to the vote; where they part, a person should look.

Ballot: what one engine says of one (report, pathology) after resolution, a phrase or "unmapped",
"not mentioned", "not evaluable". A report that failed, or that an engine never saw, casts none, so
a cell without any ballot is failed and never absent. The most ballots win; a tie goes to the ballot
of the first engine among the tied, so the order of the engines is an order of trust.

Dissensus of a cell: share of ballots that differ from the most frequent one. Its sum over a report
is the number of cells in which an engine picked at random departs from the majority. The queue
starts with reports no engine could read, then goes by dissensus, by entropy of the ballots, and by
engines that cast none (Mickus et al. 2025, eq. 3 and 4; ``calibration.neighbours.difficulty``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from calibration.neighbours.difficulty import review_order
from calibration.neighbours.indicators import human_dissensus, human_entropy
from extraction.resolution import ReportFinding, State

Reading: TypeAlias = Mapping[str, Mapping[str, ReportFinding]]
"""One engine's cells: report → pathology → what it says; a report it never saw is left out."""

Decided: TypeAlias = Literal["unanimous", "most votes", "tie: first engine", "one vote", "no vote"]


@dataclass(frozen=True, slots=True)
class PooledCell:
    """One (report, pathology) after the vote.

    Attributes
    ----------
    phrase, outcome
        As in `ReportFinding`.
    decided
        How the vote went.
    votes
        Ballot → engines that cast it, most first.
    engines
        Engines that cast a ballot.
    """

    report_id: str
    pathology: str
    phrase: str | None
    outcome: State
    decided: Decided
    votes: tuple[tuple[str, int], ...]
    engines: int

    @property
    def agreement(self) -> float:
        """Share of ballots for the winner; NaN without any."""
        return self.votes[0][1] / self.engines if self.engines else float("nan")

    @property
    def disputed(self) -> bool:
        """Whether the engines that voted did not all say the same."""
        return len(self.votes) > 1


@dataclass(frozen=True, slots=True)
class Vote:
    """Every cell of every report, and how many of the engines cast no ballot on each report."""

    cells: tuple[PooledCell, ...]
    without: Mapping[str, int]
    engines: int


@dataclass(frozen=True, slots=True)
class Disputed:
    """A report for the queue; `cells` are those in dispute, the most divided first."""

    report_id: str
    rank: int
    dissensus: float
    entropy: float
    without: int
    cells: tuple[PooledCell, ...]


def vote(
    readings: Sequence[Reading], *, report_ids: Sequence[str], pathologies: Sequence[str]
) -> Vote:
    """Let engines vote on every (report, pathology).

    Parameters
    ----------
    readings
        One per engine, in order of trust.
    report_ids
        Reports to vote on.
    pathologies
        The vocabulary's.
    """
    cells, without = [], {}
    for report_id in report_ids:
        seen = [reading[report_id] for reading in readings if report_id in reading]
        ballots = [of for of in seen if all(cell.outcome != "failed" for cell in of.values())]
        without[report_id] = len(readings) - len(ballots)
        cells += [_cell(report_id, name, ballots) for name in pathologies]
    return Vote(tuple(cells), without, len(readings))


def review_queue(voted: Vote) -> list[Disputed]:
    """Rank the reports a person should read, hardest first; undisputed ones are left out."""
    by_report: dict[str, list[PooledCell]] = {report_id: [] for report_id in voted.without}
    for cell in voted.cells:
        if cell.disputed:
            by_report[cell.report_id].append(cell)
    named = [name for name, cells in by_report.items() if cells or voted.without[name]]
    measured = [_measured(by_report[name]) for name in named]
    dissensus = np.array([sum(m[0]) for m in measured])
    entropy = np.array([sum(m[1]) for m in measured])
    without = np.array([voted.without[name] for name in named], dtype=np.float64)
    unread = (without == voted.engines).astype(np.float64)
    if not named:
        return []
    order = review_order(unread, dissensus, entropy, without).tolist()
    return [
        Disputed(
            report_id=named[i],
            rank=rank,
            dissensus=float(dissensus[i]),
            entropy=float(entropy[i]),
            without=int(without[i]),
            cells=tuple(by_report[named[i]][j] for j in review_order(*measured[i]).tolist())
            if by_report[named[i]]
            else (),
        )
        for rank, i in enumerate(order, start=1)
    ]


def _cell(report_id: str, name: str, readings: Sequence[Mapping[str, ReportFinding]]) -> PooledCell:
    silent = ReportFinding(name, None, "not mentioned")
    ballots = [reading.get(name, silent) for reading in readings]
    if not ballots:
        return PooledCell(report_id, name, None, "failed", "no vote", (), 0)
    counts = Counter(_said(ballot) for ballot in ballots)
    most = max(counts.values())
    tied = [said for said, n in counts.items() if n == most]
    chosen = next(ballot for ballot in ballots if _said(ballot) in tied)
    votes = sorted(counts.items(), key=lambda item: (-item[1], item[0] != _said(chosen), item[0]))
    return PooledCell(
        report_id, name, chosen.phrase, chosen.outcome, _decided(len(ballots), len(counts), tied),
        tuple(votes), len(ballots),
    )  # fmt: skip


def _said(ballot: ReportFinding) -> str:
    return ballot.phrase or ballot.outcome


def _decided(engines: int, kinds: int, tied: Sequence[str]) -> Decided:
    if engines == 1:
        return "one vote"
    if kinds == 1:
        return "unanimous"
    return "tie: first engine" if len(tied) > 1 else "most votes"


def _measured(cells: Sequence[PooledCell]) -> tuple[np.ndarray, np.ndarray]:
    """Dissensus and entropy of each disputed cell."""
    if not cells:
        return np.zeros(0), np.zeros(0)
    votes = np.zeros((len(cells), max(len(cell.votes) for cell in cells)))
    for row, cell in enumerate(cells):
        votes[row, : len(cell.votes)] = [n for _, n in cell.votes]
    return human_dissensus(votes=votes), human_entropy(votes=votes)
