"""The pages that stay with a run: its report, and why nothing was delivered."""

from __future__ import annotations

from datetime import UTC, datetime

from pipeline.pages import content
from pipeline.run.books import LastRun, StageEntry
from pipeline.run.manifest import Manifest
from pipeline.site.site import Site
from pipeline.stage import merged
from pipeline.stages.deliver import Delivered
from pipeline.tables.results import Period
from reports.content import Gate, GateFailureContent
from reports.drawing.style import style_for
from reports.figures.run import RunStage
from reports.pages import gates as gate_pages
from reports.pages import run_report
from reports.pages.run_report import RunCounts, RunReportContent

__all__ = ["draw_refusal", "draw_report"]


def draw_report(site: Site, manifest: Manifest, last: LastRun, delivered: Delivered | None) -> None:
    """Draw the report of a run that came as far as its gates."""
    started = datetime.fromisoformat(str(last.started_at))
    months = manifest.months or ("no month yet",)
    about = content.Issue(site.config, Period(months[-1], months))
    filled = RunReportContent(
        masthead=content.masthead(about, "Operations"),
        outcome=manifest.outcome,
        started=f"{started:%Y-%m-%d %H:%M} UTC",
        seconds=(datetime.now(tz=UTC) - started).total_seconds(),
        counts=_counts(manifest, delivered),
        flow=content.flow_steps(manifest.flow),
        gates=manifest.gates,
        stages=tuple(_stage(entry) for entry in last.stages),
        manifest=manifest.shown,
    )
    page = run_report.build(filled, style=style_for(site.config.reports.page))
    path = site.workspace.root / "runs" / manifest.run / "report.pdf"
    site.workspace.write_bytes(path, page)


def draw_refusal(
    site: Site, run: str, gates: tuple[Gate, ...], shown: tuple[tuple[str, str], ...]
) -> str:
    """Draw the page that says why nothing was delivered; returns the file's path."""
    never = Period("not issued", ("not issued",))
    about = content.Issue(site.config, never, logo=site.logo)
    masthead = content.masthead(about, content.COMMITTEE)
    filled = GateFailureContent(masthead=masthead, gates=gates, manifest=shown)
    page = gate_pages.build(filled, style=style_for(site.config.reports.page))
    path = site.workspace.root / "runs" / run / "gates.pdf"
    site.workspace.write_bytes(path, page)
    return str(path)


def _counts(manifest: Manifest, delivered: Delivered | None) -> RunCounts:
    a = manifest.accounting
    set_aside = merged(source.quarantined for source in manifest.sources)
    return RunCounts(
        exports=len(manifest.sources),
        rows_read=a.rows_in,
        set_aside=tuple(sorted(set_aside.items())),
        noted=tuple(sorted(manifest.reading_notes.items())),
        cleaned=a.exams_cleaned,
        withheld=a.exams_withheld,
        reports_read=a.reports_read,
        reports_failed=a.reports_failed,
        left_out=tuple((reason, n) for reason, n in a.left_out.items() if n),
        unmapped=tuple(manifest.unmapped_cues.items()),
        pairs=a.pairs,
        observations=a.observations,
        pages_delivered=0 if delivered is None else delivered.delivered,
        pages_unchanged=0 if delivered is None else delivered.unchanged,
        damaged=manifest.damaged_shards_made_anew,
    )


def _stage(entry: StageEntry) -> RunStage:
    counted = ", ".join(f"{n:,} {name}" for name, n in entry.counts.items())
    return RunStage(entry.stage, entry.seconds, entry.peak_mib, entry.items, entry.made, counted)
