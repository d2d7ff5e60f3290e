"""The run report of one run: its record turned into a page that stays with the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pipeline.pages import content
from pipeline.run.gates import Check
from pipeline.site.site import Site
from pipeline.tables.results import Period
from reports.drawing.style import style_for
from reports.figures.run import RunStage
from reports.pages import run_report
from reports.pages.run_report import RunReportContent

__all__ = ["draw_account", "reading_notes"]

Facts = Mapping[str, Any]
_OUTCOMES: Final = {
    "delivered": "**Delivered.** {pages_delivered:,} recipients got new pages, {pages_unchanged:,} "
    "had them already: {observations:,} observations from {pairs:,} pairs.",
    "gathered": "**Gathered.** {observations:,} observations from {pairs:,} pairs are ready; no "
    "page was to be made.",
    "refused": "**Stopped at the gates.** Nothing was delivered. The checks that did not pass say "
    "why; correct the cause and run again.",
}


def draw_account(site: Site, run: str, record: Facts, manifest: Facts) -> str:
    """Draw the report of a run that came as far as its gates; returns the file's path."""
    started = datetime.fromisoformat(record["started_at"])
    counts = {"pages_delivered": 0, "pages_unchanged": 0, **record["counts"]}
    months = tuple(manifest["months"]) or ("no month yet",)
    period = Period(months[-1], months)
    filled = RunReportContent(
        masthead=content.masthead(content.Issue(site.config, period), "Operations"),
        outcome=_OUTCOMES[record["outcome"]].format(**counts),
        started=f"{started:%Y-%m-%d %H:%M} UTC",
        seconds=(datetime.now(tz=UTC) - started).total_seconds(),
        rows=_rows(manifest),
        flow=content.flow_steps(manifest["flow"]),
        gates=content.gate_rows([Check(**gate) for gate in manifest["gates"]]),
        stages=tuple(_stage(stage) for stage in record["stages"]),
        warnings=tuple(_warnings(manifest, record["stages"])),
        manifest=tuple((str(k), str(v)) for k, v in manifest["shown"]),
    )
    path = site.workspace.root / "runs" / run / "report.pdf"
    page = run_report.build(filled, style=style_for(site.config.reports.page))
    site.workspace.write_bytes(path, page)
    return str(path)


def reading_notes(sources: Sequence[Facts]) -> dict[str, int]:
    """Add up over all sources how exams were read that were not written as they should be."""
    total: Counter[str] = Counter()
    for source in sources:
        total.update(source.get("reading", {}))
    return dict(total)


def _rows(manifest: Facts) -> tuple[tuple[str, int], ...]:
    accounting = manifest["accounting"]
    set_aside: dict[str, int] = {}
    for source in manifest["sources"]:
        for reason, n in source["quarantined"].items():
            set_aside[reason] = set_aside.get(reason, 0) + n
    return (
        ("exports", len(manifest["sources"])),
        ("rows read", accounting["rows_in"]),
        *((f"set aside: {reason.replace('_', ' ')}", n) for reason, n in sorted(set_aside.items())),
        *((f"kept: {how}", n) for how, n in sorted(reading_notes(manifest["sources"]).items())),
        ("exams coded and cleaned", accounting["exams_cleaned"]),
        ("withheld by de-identification", accounting["exams_withheld"]),
        ("paired reports read", accounting["reports_read"]),
        ("paired reports that could not be read", accounting["reports_failed"]),
        *((f"left out: {reason}", n) for reason, n in accounting["left_out"].items() if n),
    )


def _stage(stage: Facts) -> RunStage:
    counted = ", ".join(f"{n:,} {name}" for name, n in stage["counts"].items())
    return RunStage(
        stage["stage"], stage["seconds"], stage["peak_mib"], stage["items"], stage["made"], counted
    )


def _warnings(manifest: Facts, stages: Sequence[Facts]) -> list[str]:
    """Say what somebody should look at, most pressing first."""
    a = manifest["accounting"]
    failed = [gate["name"] for gate in manifest["gates"] if gate["passed"] is not True]
    damaged = manifest["damaged_shards_made_anew"]
    unmapped = ", ".join(f"{cue!r} {n:,}" for cue, n in list(manifest["unmapped_cues"].items())[:5])
    told = [
        (bool(failed), f"**Gates that did not pass:** {'; '.join(failed)}."),
        (damaged, f"**{damaged:,} damaged shards** were put aside and made anew. Check the disk."),
        (a["rows_quarantined"], f"**{a['rows_quarantined']:,} rows set aside** on reading; which "
         "and why stands in raw/quarantine."),
        (a["exams_withheld"], f"**{a['exams_withheld']:,} reports withheld** by de-identification; "
         "reasons stand in analysis/withheld."),
        (a["reports_failed"], f"**{a['reports_failed']:,} paired reports could not be read.**"),
        (unmapped, f"**Cues that map to no phrase**, most frequent first: {unmapped}."),
        (not any(s["made"] for s in stages if s["stage"] == "ingest"), "No export was new."),
    ]  # fmt: skip
    return [text for holds, text in told if holds]
