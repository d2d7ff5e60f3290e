"""Settle an issue: its months, its readers, and the sums of all blocks that its pages stand on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from pipeline.config import digest_of
from pipeline.pages.committee.sensitivity import Evidence
from pipeline.site.site import Site
from pipeline.store.provenance import code_digest
from pipeline.store.workspace import Workspace
from pipeline.tables.results import choose_period
from pipeline.tables.shrinkage import shrunk_table
from pipeline.tables.sums import added, coded

__all__ = ["cells", "choose_issue", "coverage", "department", "observations", "shrunk"]

Facts = dict[str, Any]
_SUMS: Final = ("tallies", "alternatives", "mix", "words", "coverage")
"""Tables of blocks that add up; an issue keeps each sum under the same name after ``issue_``."""


def choose_issue(config: str, tallies: list[str], paired: list[str], period: str | None) -> Facts:
    """Settle the issue's period, its readers and its pathologies (most seen first).

    Parameters
    ----------
    tallies, paired
        Keys of all blocks, tallied and paired.
    period
        The issue's last month; the newest if None.
    """
    site = Site.open(config)
    store, minimum = site.workspace, site.config.reports.min_readers
    available = {m for key in tallies for m in store.facts("analysis", "tallies", key)["months"]}
    window = site.config.reports.window_months
    chosen = choose_period(sorted(available), period, window_months=window)
    key = digest_of(
        "issue", tallies, paired, list(chosen.months), site.phrases_digest, minimum,
        code_digest("calibration", "pipeline.tables"),
    )  # fmt: skip
    made = not store.complete("analysis", key, "shrunk", *(f"issue_{name}" for name in _SUMS))
    if made:
        for name in _SUMS:
            blocks = paired if name == "coverage" else tallies
            total = added(_inside(store, name, block, chosen.months) for block in blocks)
            store.write("analysis", f"issue_{name}", key, total)
        table = shrunk_table(_sum(store, "tallies", key), site.phrases, min_readers=minimum)
        store.write("analysis", "shrunk", key, table)
    all_cells = _sum(store, "tallies", key)
    seen = all_cells.groupby("pathology")["count"].sum()
    return {
        "key": key,
        "tallies": tallies,
        "period": chosen.name,
        "months": list(chosen.months),
        "readers": sorted(all_cells["reader_code"].unique()),
        "pathologies": list(seen.sort_values(ascending=False, kind="stable").index),
        "made": made,
    }


def department(store: Workspace, issue: Facts) -> Evidence:
    """Give the sums of all readers."""
    key = issue["key"]
    return Evidence(
        cells=_sum(store, "tallies", key),
        alternatives=_sum(store, "alternatives", key),
        mix=coded(_sum(store, "mix", key)),
        words=_sum(store, "words", key),
        coverage=_sum(store, "coverage", key),
    )


def cells(store: Workspace, issue: Facts, reader: str | None = None) -> pd.DataFrame:
    """Give the tally table of all readers, or of one."""
    return _sum(store, "tallies", issue["key"], reader)


def coverage(store: Workspace, issue: Facts, reader: str) -> pd.DataFrame:
    """Count one reader's X-rays by what became of them."""
    return _sum(store, "coverage", issue["key"], reader)


def shrunk(store: Workspace, issue: Facts, reader: str) -> pd.DataFrame:
    """Give one reader's shrunk phrase table."""
    return store.read("analysis", "shrunk", [issue["key"]], where=("reader_code", reader))


def observations(store: Workspace, issue: Facts, reader: str) -> pd.DataFrame:
    """Give one reader's observations."""
    mine = ("reader_code", reader)
    rows = store.read("analysis", "observations", issue["tallies"], where=mine)
    return rows[rows["performed_month"].isin(issue["months"])]


def _inside(store: Workspace, name: str, key: str, months: Sequence[str]) -> pd.DataFrame:
    rows = store.read("analysis", name, [key])
    month = "month" if "month" in rows else "performed_month"
    return rows[rows[month].isin(list(months))]


def _sum(store: Workspace, name: str, key: str, reader: str | None = None) -> pd.DataFrame:
    where = None if reader is None else ("reader_code", reader)
    return store.read("analysis", f"issue_{name}", [key], where=where)
