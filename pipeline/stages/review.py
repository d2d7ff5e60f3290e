"""The committee's review: every reader by code, the department, and how the run went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from calibration.readers import logistic_calibration
from pipeline.gates import Check
from pipeline.stages import content
from pipeline.stages.results import GroupResults, Scale, tally_of
from reports.content import (
    CommitteeContent,
    Instrument,
    ReaderRow,
    SuppressedCell,
)

__all__ = ["CommitteeFacts", "committee_content"]


@dataclass(frozen=True, slots=True)
class CommitteeFacts:
    """What the run itself contributes to the review."""

    flow: Sequence[Sequence[object]]
    checks: tuple[Check, ...]
    manifest: tuple[tuple[str, str], ...]
    measured: Instrument
    fates: pd.DataFrame


def committee_content(
    issue: content.Issue,
    cells: pd.DataFrame,
    *,
    results: GroupResults,
    scale: Scale,
    facts: CommitteeFacts,
) -> CommitteeContent:
    """Fill the review from the department's results and every reader's cells."""
    minimum = issue.config.reports.min_exams
    return CommitteeContent(
        masthead=content.masthead(issue, content.COMMITTEE),
        minimum_n=minimum,
        flow=content.flow_steps(facts.flow),
        department=results.overall or SuppressedCell(minimum),
        by_pathology=content.pathology_results(results, minimum),
        readers=tuple(
            _reader_row(str(code), own, facts.fates, scale)
            for code, own in cells.groupby("reader_code", sort=True)
        ),
        gates=content.gate_rows(facts.checks),
        manifest=facts.manifest,
        governance=content.governance(issue.config),
        instrument=facts.measured,
        maps=content.advice_rows(results),
        minimum_readers=issue.config.reports.min_readers,
    )


def _reader_row(code: str, cells: pd.DataFrame, fates: pd.DataFrame, scale: Scale) -> ReaderRow:
    counted = tally_of(cells, scale.phrases)
    if counted.total < scale.config.reports.min_exams:
        withheld = SuppressedCell(scale.config.reports.min_exams)
        return ReaderRow(code, int(counted.total), withheld, withheld, withheld)
    coverage = content.coverage_of(fates[fates["reader_code"] == code], scale.config)
    return ReaderRow(
        code,
        int(counted.total),
        gap=None,
        logistic=logistic_calibration(counted, phrase_table=scale.phrases),
        share_paired=coverage.paired / coverage.xrays if coverage else None,
    )
