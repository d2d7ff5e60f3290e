"""Tallies → one issue: its months, its readers, and the sums that its pages stand on.

The department's profile, one posterior of all readers, is fitted here too, because every reader's
page takes a row of it.

    ingest → register → de-identify → pair → extract → tally → gates → **issue** → pages → deliver
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from calibration.profile import ProfileSettings
from pipeline.config.basis import digest_of
from pipeline.errors import StorageError
from pipeline.stages import Keyed, Named
from pipeline.tables.observations import added
from pipeline.tables.pairing import INELIGIBLE
from pipeline.tables.profiles import OBSERVED, Past, compact, joined, profile_table, to_check
from pipeline.tables.results import Period, Scale, choose_period, newest_whole, thin_months

if TYPE_CHECKING:
    from pipeline.site.site import Site
    from pipeline.stages.pair import Paired
    from pipeline.stages.tally import Tallied
    from pipeline.store.workspace import Workspace

_OF_PAIRS: Final = ("coverage", "written")
_SUMS: Final = ("tallies", "alternatives", "mix", "words", *_OF_PAIRS)
"""Tables of blocks that add up; an issue keeps each sum under the same name after ``issue_``."""


@dataclass(frozen=True, slots=True)
class IssueRequest:
    """What an issue is to be made of: keys of all tallied and paired blocks, and its months.

    ``before`` is the key of the newest earlier issue that ended within these months, as its readers
    have it; None where there is none.
    """

    tallies: tuple[str, ...]
    paired: tuple[str, ...]
    period: Period
    before: str | None


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue that was made: who gets a page, and its findings, those with most exams first.

    ``readers_to_check`` are those whose words do not rise with CT, or not in a finding; None where
    readers were not judged together, so that nobody can be told by the count.
    """

    key: str
    tallies: tuple[str, ...]
    period: Period
    readers: tuple[str, ...]
    pathologies: tuple[str, ...]
    readers_to_check: int | None = None


def request(
    site: Site, paired: Sequence[Paired], tallied: Sequence[Tallied], period: str | None
) -> IssueRequest:
    """Settle the months: the configured window that ends with `period`, or with the newest month.

    A month too thin to be whole is left for the next issue; none ends before the newest one kept.

    Raises
    ------
    ConfigurationError
        If `period` is no month, or no month of its window has observations.
    """
    store, months = site.workspace, sorted({month for block in tallied for month in block.months})
    tallies, pairs = (tuple(block.key for block in blocks) for blocks in (tallied, paired))
    kept = {key: store.facts("analysis", "profiles", key, Issue)
            for key in store.keys("analysis", "profiles")}  # fmt: skip
    reached = {each.period.name for each in kept.values()}.intersection(months)
    last = period or max([*newest_whole(months, *_xrays(store, pairs)), *reached], default=None)
    chosen = choose_period(months, last, window_months=site.config.reports.window_months)
    if not period and chosen.name < months[-1]:
        chosen = replace(chosen, later=_after(store, tallies, chosen.name))
    return IssueRequest(tallies, pairs, chosen, _before_it(store, kept, chosen))


def _xrays(store: Workspace, paired: Sequence[str]) -> tuple[pd.Series[float], pd.Series[float]]:
    """Count the adult chest X-rays of every month in order: all, and those that a CT answered."""
    rows = store.read("analysis", "coverage", paired, columns=["performed_month", "fate", "n"])
    seen = rows[~rows["fate"].isin(INELIGIBLE)], rows[rows["fate"] == "paired"]
    every, answered = (each.groupby("performed_month")["n"].sum() for each in seen)
    return every, answered


def _after(store: Workspace, tallies: Sequence[str], last: str) -> tuple[tuple[str, int], ...]:
    """Count the observations of every month after the last of an issue."""
    rows = store.read("analysis", "tallies", tallies, columns=["month", "count"])
    counts = rows[rows["month"] > last].groupby("month")["count"].sum()
    return tuple((str(month), round(n)) for month, n in counts.items())


def _before_it(store: Workspace, kept: Mapping[str, Issue], period: Period) -> str | None:
    """Find the issue that readers were told last: the newest delivered, else the newest made.

    Where no note says which issue of a month was delivered, it is that made of most.

    Raises
    ------
    StorageError
        If what the delivered one told is gone: that is not an issue that told nothing.
    """
    within, months = period.months[-2::-1], {issue.period.name for issue in kept.values()}
    told = next((month for month in within if store.issued(month)[1] is not None), None)
    last = told or max(months.intersection(within), default=None)
    if last is None:
        return None
    made = [(len(issue.tallies), key) for key, issue in kept.items() if issue.period.name == last]
    key = store.issued(last)[0] or max(made, default=(0, ""))[-1]
    if key not in kept:
        raise StorageError(
            f"analysis/profiles lacks what the issue of {last} told readers. Restore it from your "
            f"backup; or run once with `--period {last}`, which makes that issue again; or, as if "
            f"it had told nobody anything, delete delivery/{last}.json and delivery/ledger.jsonl: "
            "every page of the newest issue is then delivered again."
        )
    return key


class MakeIssue(Keyed[IssueRequest, Issue]):
    """Add all blocks up over the issue's months, and judge all readers from one posterior."""

    name = kind = "issue"
    tables, comes_to = (*(f"issue_{name}" for name in _SUMS), "profiles"), Issue

    def settings(self, site: Site) -> Named:
        """Give what phrases mean, which are never advised, who may be judged, and the audit."""
        minimum = site.config.reports.min_readers
        return {
            "meaning of phrases": site.phrases_digest,
            "reports.min_readers": str(minimum),
            "phrases never advised": ", ".join(sorted(Scale(site.phrases, site.config).never)),
            "calibration.pattern_probability": str(site.config.calibration.pattern_probability),
            "extraction.audit": "none" if site.audited is None else site.audited.digest,
        }

    def key(self, site: Site, item: IssueRequest) -> str:
        """Hash the blocks and the months."""
        months, later = item.period.months, item.period.later
        return digest_of(self.digest(site), item.tallies, item.paired, months, later, item.before)

    def make(self, site: Site, item: IssueRequest, key: str) -> Issue:
        """Add up, and judge all readers together; the ``profiles`` are written last."""
        store = site.workspace
        for name in _SUMS:
            blocks = item.paired if name in _OF_PAIRS else item.tallies
            total = added(_inside(store, name, block, item.period.months) for block in blocks)
            store.write("analysis", f"issue_{name}", key, total)
        cells = summed(store, "tallies", key)
        seen, profiles = cells.groupby("pathology")["count"].sum(), _judged(site, item)
        issue = Issue(
            key=key,
            tallies=item.tallies,
            period=item.period,
            readers=tuple(sorted(cells["reader_code"].unique())),
            pathologies=tuple(seen.sort_values(ascending=False, kind="stable").index),
            readers_to_check=to_check(profiles),
        )
        store.write("analysis", "profiles", key, profiles, facts=issue)
        return issue


ISSUE: Final = MakeIssue()


def summed(store: Workspace, name: str, key: str, reader: str | None = None) -> pd.DataFrame:
    """Give one of an issue's sums, of all readers or of one."""
    where = None if reader is None else ("reader_code", reader)
    return store.read("analysis", f"issue_{name}", [key], where=where)


def _judged(site: Site, item: IssueRequest) -> pd.DataFrame:
    """Judge all readers on the months' observations, and what changed since those before."""
    months, store = item.period.months, site.workspace
    before = [str(pd.Period(month, freq="M") - len(months)) for month in months]
    xrays = _xrays(store, item.paired)[0].reindex([*before, *months]).dropna()
    whole = {*before} & {*xrays.index} - thin_months(xrays)
    # In less than a quarter of the issue's months no move would be seen: that is no steadiness.
    earlier = observed(site, item.tallies, before if 4 * len(whole) >= len(months) else ())
    last = None if item.before is None else store.read("analysis", "profiles", [item.before])
    return profile_table(
        observed(site, item.tallies, months),
        past=Past(earlier, last),
        phrases=site.phrases,
        never=Scale(site.phrases, site.config).never,
        min_readers=site.config.reports.min_readers,
        settings=ProfileSettings(
            misread=site.misread, pattern_probability=site.config.calibration.pattern_probability
        ),
    )


def observed(site: Site, tallies: Sequence[str], months: Sequence[str]) -> pd.DataFrame:
    """Give the observations of some months as a profile names them, read block by block."""
    blocks = (
        site.workspace.read("analysis", "observations", [key], columns=list(OBSERVED))
        for key in tallies
    )
    inside = (rows[rows["performed_month"].isin(list(months))] for rows in blocks)
    return joined(compact(rows) for rows in inside)


def _inside(store: Workspace, name: str, key: str, months: Sequence[str]) -> pd.DataFrame:
    rows = store.read("analysis", name, [key])
    return rows[rows["month" if "month" in rows else "performed_month"].isin(list(months))]
