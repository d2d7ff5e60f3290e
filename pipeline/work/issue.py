"""Tallies to pages: calibrate, advise, draw; no text from here on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from calibration.phrase_calibration import PhraseCalibration, phrase_calibration
from pipeline.config import digest_of
from pipeline.pages import content
from pipeline.pages.review import CommitteeFacts, committee_content
from pipeline.pages.small_cells import of_enough_readers
from pipeline.run.gates import Check
from pipeline.site.site import Site
from pipeline.tables.results import (
    GroupResults,
    Period,
    Scale,
    group_results,
    tally_of,
    trend,
)
from pipeline.tables.rows import advice_table, result_table
from pipeline.tables.shrinkage import with_shrunk
from pipeline.work import period
from reports.content import GateFailureContent, Instrument, RadiologistContent, SuppressedCell
from reports.drawing.style import style_for
from reports.pages import committee, gate_failure, radiologist, return_sheet
from reports.pages.committee import html

__all__ = ["committee_page", "feedback_page", "refusal_page"]

Facts = dict[str, Any]


def feedback_page(config: str, issue: Facts, run: Facts, reader: str) -> Facts:
    """Calibrate and advise one reader and draw the feedback; writes its results and its page."""
    site = Site.open(config)
    key = digest_of("feedback", site.digest_of("pages"), site.phrases_digest, issue, run, reader)
    files = {"return.csv": f"{key}.csv", "feedback.pdf": f"{key}.pdf"}
    made = not _drawn(site, key, files)
    if made:
        own = period.cells(site.workspace, issue, reader)
        scale = Scale(site.phrases, site.config)
        results = group_results(own, name=reader, pathologies=issue["pathologies"], scale=scale)
        filled = _feedback(site, issue, run, reader, own, results)
        pages = {
            "return.csv": return_sheet.build(filled.cases or ()),
            "feedback.pdf": radiologist.build(filled, style=style_for(site.config.reports.page)),
        }
        _draw(site, files, pages)
        _write_results(site, key, reader, results, pages)
    return {**_page(reader, files), "made": made}


def _feedback(
    site: Site, issue: Facts, run: Facts, reader: str, own: pd.DataFrame, results: GroupResults
) -> RadiologistContent:
    """Fill one reader's page from the shards of the issue."""
    about, scale = _issue(site, issue, run), Scale(site.phrases, site.config)
    minimum = site.config.reports.min_exams
    store = site.workspace
    series = trend(own, name=reader, months=about.period.months, scale=scale)
    overall = results.overall
    if overall is not None:
        overall = with_shrunk(overall, period.shrunk(store, issue, reader))
    return content.radiologist_content(
        about,
        reader,
        results=replace(results, overall=overall),
        department=_department_line(period.cells(store, issue), scale),
        trend=content.trend_points(series, minimum),
        reader_cases=content.cases(period.observations(store, issue, reader), site.phrases),
        coverage=content.coverage_of(period.coverage(store, issue, reader), site.config),
        measured=_instrument(site, run),
    )


def committee_page(config: str, issue: Facts, run: Facts) -> Facts:
    """Calibrate the department and every reader and draw the review."""
    site = Site.open(config)
    key = digest_of("review", site.digest_of("pages"), site.phrases_digest, issue, run)
    files = {"review.html": f"{key}.html", "review.pdf": f"{key}.pdf"}
    made = not _drawn(site, key, files)
    if made:
        about = _issue(site, issue, run)
        evidence = period.department(site.workspace, issue)
        scale = Scale(site.phrases, site.config)
        results = group_results(
            evidence.cells, name="department", pathologies=issue["pathologies"], scale=scale
        )
        facts = CommitteeFacts(
            flow=run["flow"],
            checks=tuple(Check(**check) for check in run["checks"]),
            manifest=tuple((str(k), str(v)) for k, v in run["manifest"]),
            measured=_instrument(site, run),
            audited=site.audited,
        )
        filled = committee_content(
            about, results=results, scale=scale, evidence=evidence, facts=facts
        )
        style = style_for(site.config.reports.page)
        pages = {
            "review.html": html.build(filled, style=style),
            "review.pdf": committee.build(filled, style=style),
        }
        _draw(site, files, pages)
        _write_results(site, key, "department", results, pages)
    return {**_page("committee", files), "made": made}


def refusal_page(config: str, run_id: str, checks: list[Facts], manifest: list[list[str]]) -> str:
    """Draw the page that says why nothing was delivered; it stays with the run."""
    site = Site.open(config)
    never = Period("not issued", ("not issued",))
    filled = GateFailureContent(
        masthead=content.masthead(
            content.Issue(site.config, never, logo=site.logo), content.COMMITTEE
        ),
        gates=content.gate_rows([Check(**check) for check in checks]),
        manifest=tuple((str(k), str(v)) for k, v in manifest),
    )
    path = site.workspace.root / "runs" / run_id / "gates.pdf"
    site.workspace.write_bytes(
        path, gate_failure.build(filled, style=style_for(site.config.reports.page))
    )
    return str(path)


def _drawn(site: Site, key: str, files: Mapping[str, str]) -> bool:
    """Whether every page is there as it was drawn, beside the results it shows."""
    if not site.workspace.complete("analysis", key, "results", "advice"):
        return False
    marks = site.workspace.facts("analysis", "results", key)
    store = site.workspace
    return all(
        store.has_page(draft) and hashlib.sha256(store.read_page(draft)).hexdigest() == marks[name]
        for name, draft in files.items()
    )


def _draw(site: Site, files: Mapping[str, str], pages: Mapping[str, bytes]) -> None:
    for name, draft in files.items():
        site.workspace.write_page(draft, pages[name])


def _page(recipient: str, files: Mapping[str, str]) -> Facts:
    return {
        "recipient": recipient,
        "files": [{"name": name, "draft": draft} for name, draft in files.items()],
    }


def _issue(site: Site, issue: Facts, run: Facts) -> content.Issue:
    about = Period(issue["period"], tuple(issue["months"]))
    return content.Issue(
        site.config, about, demonstration=bool(run["demonstration"]), logo=site.logo
    )


def _department_line(cells: pd.DataFrame, scale: Scale) -> PhraseCalibration | SuppressedCell:
    """Give the department's phrase table, or withhold it where too few readers stand behind it."""
    minimum = scale.config.reports.min_readers
    if cells["reader_code"].nunique() < minimum:
        return SuppressedCell(minimum, "readers")
    users = cells.groupby("phrase")["reader_code"].nunique()
    pooled = phrase_calibration(tally_of(cells, scale.phrases), phrase_table=scale.phrases)
    return of_enough_readers(pooled, {str(k): int(v) for k, v in users.items()}, minimum=minimum)


def _instrument(site: Site, run: Facts) -> Instrument:
    return content.instrument(
        f"{site.engine.name} {site.engine.version}",
        counts=[tuple(c) for c in run["counts"]],
        audited=site.audited,
    )


def _write_results(
    site: Site, key: str, group: str, results: GroupResults, pages: Mapping[str, bytes]
) -> None:
    """Write the tables behind drawn pages, last; the digests of the pages stand with them."""
    marks = {name: hashlib.sha256(page).hexdigest() for name, page in pages.items()}
    site.workspace.write("analysis", "advice", key, advice_table(group, results))
    site.workspace.write("analysis", "results", key, result_table(group, results), facts=marks)
