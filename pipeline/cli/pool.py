"""``radcal pool``: several engines' findings put to the vote, and what divides them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.cli.common import Output, argument, blaming, flag, option
from pipeline.cli.extraction_shared import VocabularyOption, rule_engine
from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from extraction.pool import Disputed, PooledCell, Vote
    from extraction.resolution import ReportFinding
    from extraction.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Options of ``radcal pool``."""

    findings: list[Path] = argument(..., "Findings of two or more engines, the most trusted first.")
    out: Path = option(..., "Voted table, one row per pathology stated.")
    queue: Path | None = option(None, "Reports to read again, hardest first.")
    reports: Path | None = option(
        None, "The reports every engine was given: one without a row then states nothing."
    )
    vocabulary: VocabularyOption = None
    every_state: bool = flag("--every-state", "Also the cells nobody stated anything about.")
    output: Output


def pool(given: Pool) -> None:
    """Let several engines' findings vote; what divides them ranks a queue for review.

    A report that an engine failed on, or that its file does not hold, casts no vote: it never
    counts as "absent". A tie goes to the engine named first.
    """
    import pandas as pd

    from extraction.pool import review_queue, vote
    from pipeline.formats.tables import write_table

    if len(given.findings) < 2:
        raise ConfigurationError("radcal pool: give the findings of at least two engines.")
    words = rule_engine(given.vocabulary).vocabulary
    readings = [_reading(path, words) for path in given.output.each("reading", given.findings)]
    ids = _report_ids(readings, given.reports)
    if given.reports is not None:
        readings = [{name: reading.get(name, {}) for name in ids} for reading in readings]
    voted = vote(readings, report_ids=ids, pathologies=words.pathologies)
    ranked = review_queue(voted)
    write_table(
        pd.DataFrame(_rows(voted, every_state=given.every_state), columns=_COLUMNS), given.out
    )
    if given.queue is not None:
        write_table(pd.DataFrame(map(_queued, ranked), columns=_QUEUE_COLUMNS), given.queue)
    counts = _counts(voted, ranked)
    given.output.tell(counts, set_aside=counts["reports_no_engine_read"])


_COLUMNS = (
    "report_id", "pathology", "cue", "phrase", "outcome", "reason", "decided", "agreement", "votes",
    "engines",
)  # fmt: skip
_QUEUE_COLUMNS = (
    "rank", "report_id", "dissensus", "entropy", "disputed_cells", "engines_without_vote", "why",
)  # fmt: skip


def _reading(path: Path, vocabulary: Vocabulary) -> dict[str, dict[str, ReportFinding]]:
    from extraction.resolution import NEEDED_COLUMNS, readings_of
    from pipeline.formats.tables import read_table

    frame = read_table(path, NEEDED_COLUMNS)
    with blaming(path.name):
        return readings_of(frame, vocabulary=vocabulary)


def _report_ids(
    readings: Sequence[Mapping[str, Mapping[str, ReportFinding]]], reports: Path | None
) -> list[str]:
    """List the reports to vote on: those given, or every one that some engine has a row for."""
    found = list(dict.fromkeys(name for reading in readings for name in reading))
    if reports is None:
        return found
    from pipeline.formats.tables import read_table

    frame = read_table(reports, {"report_id": "the report's name"})
    listed = list(dict.fromkeys(frame["report_id"].astype(str)))
    strange = len(set(found) - set(listed))
    if strange:
        raise InputError(
            f"{reports.name}: {strange} of {len(found)} reports in the findings are not listed; "
            "give the table that the engines read."
        )
    return listed


def _rows(voted: Vote, *, every_state: bool) -> list[tuple[object, ...]]:
    """Cells with something in them; a report no engine read is one row."""
    rows: list[tuple[object, ...]] = []
    unread, why = set[str](), "no engine read the report"
    for cell in voted.cells:
        if cell.decided == "no vote":
            if cell.report_id not in unread:
                unread.add(cell.report_id)
                rows.append((cell.report_id, "", "", "", "failed", why, cell.decided, None, "", 0))
        elif every_state or cell.disputed or cell.outcome != "not mentioned":
            rows.append(_row(cell))
    return rows


def _row(cell: PooledCell) -> tuple[object, ...]:
    return (
        cell.report_id, cell.pathology, "", cell.phrase or "", cell.outcome, "", cell.decided,
        round(cell.agreement, 4), _ballots(cell), cell.engines,
    )  # fmt: skip


def _ballots(cell: PooledCell) -> str:
    return ", ".join(f"{said} {n}" for said, n in cell.votes)


def _queued(item: Disputed) -> tuple[object, ...]:
    why = "; ".join(f"{cell.pathology}: {_ballots(cell)}" for cell in item.cells)
    if item.without and not item.cells:
        why = f"no vote from {item.without} engine(s)"
    return (
        item.rank, item.report_id, round(item.dissensus, 4), round(item.entropy, 4),
        len(item.cells), item.without, why,
    )  # fmt: skip


def _counts(voted: Vote, ranked: Sequence[Disputed]) -> dict[str, object]:
    how = Counter(
        cell.decided for cell in voted.cells if cell.disputed or cell.outcome != "not mentioned"
    )
    return {
        "reports": len(voted.without),
        "engines": voted.engines,
        "cells_with_a_statement": how.total() - how["no vote"],
        "unanimous": how["unanimous"],
        "most_votes": how["most votes"],
        "tie_first_engine": how["tie: first engine"],
        "one_vote": how["one vote"],
        "reports_no_engine_read": sum(n == voted.engines for n in voted.without.values()),
        "reports_some_engine_did_not_read": sum(n > 0 for n in voted.without.values()),
        "queued": len(ranked),
    }
