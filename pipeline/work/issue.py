"""Tallies to pages to recipients: calibrate, advise, draw, deliver; no text from here on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import pandas as pd

from calibration.phrase_calibration import PhraseCalibration, phrase_calibration
from pipeline.config import digest_of
from pipeline.gates import Check
from pipeline.site import Site
from pipeline.stages import content
from pipeline.stages.results import (
    GroupResults,
    Period,
    Scale,
    choose_period,
    group_results,
    tally_of,
    trend,
)
from pipeline.stages.review import CommitteeFacts, committee_content
from pipeline.stages.rows import advice_table, result_table
from reports import committee, gate_failure, radiologist
from reports.content import GateFailureContent, Instrument, SuppressedCell, TrendPoint
from reports.style import style_for

__all__ = ["choose_issue", "committee_page", "deliver", "feedback_page", "refusal_page"]

Facts = dict[str, Any]
_CELLS: Final = ["reader_code", "pathology", "month", "phrase", "label_value", "count"]


def choose_issue(config: str, tally_key: str, period: str | None) -> Facts:
    """Settle the issue's period, its readers and its pathologies (most seen first)."""
    site = Site.open(config)
    months = site.workspace.facts("analysis", "tallies", tally_key)["months"]
    chosen = choose_period(months, period, window_months=site.config.reports.window_months)
    cells = _cells(site, tally_key, chosen)
    seen = cells.groupby("pathology")["count"].sum().sort_values(ascending=False, kind="stable")
    return {
        "tally": tally_key,
        "period": chosen.name,
        "months": list(chosen.months),
        "readers": sorted(cells["reader_code"].unique()),
        "pathologies": list(seen.index),
    }


def feedback_page(config: str, issue: Facts, run: Facts, reader: str) -> Facts:
    """Calibrate and advise one reader and draw the feedback; writes its results and its page."""
    site = Site.open(config)
    key = digest_of("feedback", site.issue_digest(), site.phrases_digest, issue, run, reader)
    page = _draft(site, key)
    if not page.is_file():
        about = _issue(site, issue, run)
        cells = _cells(site, issue["tally"], about.period)
        own = cells[cells["reader_code"] == reader]
        fates = _fates(site, run, about.period)
        scale = Scale(site.phrases, site.config)
        results = group_results(own, name=reader, pathologies=issue["pathologies"], scale=scale)
        filled = content.radiologist_content(
            about,
            reader,
            results=results,
            department=_department_line(cells, scale),
            trend=[
                TrendPoint(name, n, gap or SuppressedCell(site.config.reports.min_exams))
                for name, n, gap in trend(own, name=reader, months=about.period.months, scale=scale)
            ],
            reader_cases=content.cases(
                _observations(site, issue, about.period, reader), site.phrases
            ),
            coverage=content.coverage_of(fates[fates["reader_code"] == reader], site.config),
            measured=_instrument(site, run),
        )
        _write_results(site, key, reader, results)
        pdf = radiologist.build(filled, style=style_for(site.config.reports.page))
        site.workspace.write_bytes(page, pdf)
    return {"recipient": reader, "name": "feedback.pdf", "draft": page.name}


def committee_page(config: str, issue: Facts, run: Facts) -> Facts:
    """Calibrate the department and every reader and draw the review."""
    site = Site.open(config)
    key = digest_of("review", site.issue_digest(), site.phrases_digest, issue, run)
    page = _draft(site, key)
    if not page.is_file():
        about = _issue(site, issue, run)
        cells = _cells(site, issue["tally"], about.period)
        scale = Scale(site.phrases, site.config)
        results = group_results(
            cells, name="department", pathologies=issue["pathologies"], scale=scale
        )
        facts = CommitteeFacts(
            flow=run["flow"],
            checks=tuple(Check(**check) for check in run["checks"]),
            manifest=tuple((str(k), str(v)) for k, v in run["manifest"]),
            measured=_instrument(site, run),
            fates=_fates(site, run, about.period),
        )
        filled = committee_content(about, cells, results=results, scale=scale, facts=facts)
        _write_results(site, key, "department", results)
        pdf = committee.build(filled, style=style_for(site.config.reports.page))
        site.workspace.write_bytes(page, pdf)
    return {"recipient": "committee", "name": "review.pdf", "draft": page.name}


def refusal_page(config: str, run_id: str, checks: list[Facts], manifest: list[list[str]]) -> str:
    """Draw the page that says why nothing was delivered; it stays with the run."""
    site = Site.open(config)
    period = Period("not issued", ("not issued",))
    filled = GateFailureContent(
        masthead=content.masthead(content.Issue(site.config, period), content.COMMITTEE),
        gates=content.gate_rows([Check(**check) for check in checks]),
        manifest=tuple((str(k), str(v)) for k, v in manifest),
    )
    path = site.workspace.root / "runs" / run_id / "gates.pdf"
    site.workspace.write_bytes(
        path, gate_failure.build(filled, style=style_for(site.config.reports.page))
    )
    return str(path)


def deliver(config: str, period: str, pages: list[Facts]) -> Facts:
    """Put each page into its recipient's folder and note it in the ledger; once, and whole."""
    site = Site.open(config)
    ledger = site.workspace.root / "delivery" / "ledger.jsonl"
    known = _ledger(ledger)
    delivered = 0
    for page in pages:
        pdf = (site.workspace.root / "analysis" / "pages" / page["draft"]).read_bytes()
        digest = hashlib.sha256(pdf).hexdigest()
        target = site.workspace.root / "delivery" / period / page["recipient"] / page["name"]
        if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == digest:
            continue
        site.workspace.write_bytes(target, pdf)
        known.append(
            {
                "period": period,
                "recipient": page["recipient"],
                "file": page["name"],
                "sha256": digest,
            }
        )
        lines = "".join(json.dumps(entry, sort_keys=True) + "\n" for entry in known)
        site.workspace.write_bytes(ledger, lines.encode())
        delivered += 1
    return {"delivered": delivered, "unchanged": len(pages) - delivered}


def _ledger(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _draft(site: Site, key: str) -> Path:
    return site.workspace.root / "analysis" / "pages" / f"{key}.pdf"


def _issue(site: Site, issue: Facts, run: Facts) -> content.Issue:
    period = Period(issue["period"], tuple(issue["months"]))
    return content.Issue(site.config, period, demonstration=bool(run["demonstration"]))


def _cells(site: Site, tally_key: str, period: Period) -> pd.DataFrame:
    cells = site.workspace.read("analysis", "tallies", [tally_key], columns=_CELLS)
    return cells[cells["month"].isin(period.months)]


def _observations(site: Site, issue: Facts, period: Period, reader: str) -> pd.DataFrame:
    rows = site.workspace.read("analysis", "observations", [issue["tally"]])
    return rows[(rows["reader_code"] == reader) & rows["performed_month"].isin(period.months)]


def _department_line(cells: pd.DataFrame, scale: Scale) -> PhraseCalibration | SuppressedCell:
    """Give the department's phrase table, or withhold it where too few readers stand behind it."""
    minimum = scale.config.reports.min_readers
    if cells["reader_code"].nunique() < minimum:
        return SuppressedCell(minimum, "readers")
    return phrase_calibration(tally_of(cells, scale.phrases), phrase_table=scale.phrases)


def _fates(site: Site, run: Facts, period: Period) -> pd.DataFrame:
    fates = site.workspace.read("analysis", "fates", [run["pairs"]])
    return fates[fates["performed_month"].isin(period.months)]


def _instrument(site: Site, run: Facts) -> Instrument:
    return content.instrument(
        f"{site.engine.name} {site.engine.version}", counts=[tuple(c) for c in run["counts"]]
    )


def _write_results(site: Site, key: str, group: str, results: GroupResults) -> None:
    site.workspace.write("analysis", "results", key, result_table(group, results))
    site.workspace.write("analysis", "advice", key, advice_table(group, results))
