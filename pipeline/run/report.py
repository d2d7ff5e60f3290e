"""The pages that stay with a run: its report, and why nothing was delivered."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from pipeline.pages import content
from pipeline.run.books import LastRun, StageEntry
from pipeline.run.manifest import Manifest
from pipeline.site.site import Site
from pipeline.stage import merged
from pipeline.tables.results import Period
from reports.content import Gate, GateFailureContent
from reports.drawing.style import style_for
from reports.figures.run import RunStage
from reports.pages import gate_failure, run_report
from reports.pages.run_report import RunReportContent

__all__ = ["draw_refusal", "draw_report"]

_OUTCOMES: Final = {
    "delivered": "**Delivered.** {pages_delivered:,} recipients got new pages, {pages_unchanged:,} "
    "had them already: {observations:,} observations from {pairs:,} pairs.",
    "gathered": "**Gathered.** {observations:,} observations from {pairs:,} pairs are ready; no "
    "page was to be made.",
    "refused": "**Stopped at the gates.** Nothing was delivered. The checks that did not pass say "
    "why; correct the cause and run again.",
}


def draw_report(site: Site, manifest: Manifest, last: LastRun) -> None:
    """Draw the report of a run that came as far as its gates."""
    started = datetime.fromisoformat(str(last.started_at))
    months = manifest.months or ("no month yet",)
    about = content.Issue(site.config, Period(months[-1], months))
    filled = RunReportContent(
        masthead=content.masthead(about, "Operations"),
        outcome=_OUTCOMES[manifest.outcome].format(**(last.counts or {})),
        started=f"{started:%Y-%m-%d %H:%M} UTC",
        seconds=(datetime.now(tz=UTC) - started).total_seconds(),
        rows=_rows(manifest),
        flow=content.flow_steps(manifest.flow),
        gates=manifest.gates,
        stages=tuple(_stage(entry) for entry in last.stages),
        warnings=tuple(_warnings(manifest)),
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
    page = gate_failure.build(filled, style=style_for(site.config.reports.page))
    path = site.workspace.root / "runs" / run / "gates.pdf"
    site.workspace.write_bytes(path, page)
    return str(path)


def _rows(manifest: Manifest) -> tuple[tuple[str, int], ...]:
    a = manifest.accounting
    set_aside = merged(source.quarantined for source in manifest.sources)
    kept = merged(source.reading for source in manifest.sources)
    return (
        ("exports", len(manifest.sources)),
        ("rows read", a.rows_in),
        *((f"set aside: {reason.replace('_', ' ')}", n) for reason, n in sorted(set_aside.items())),
        *((f"kept: {how}", n) for how, n in sorted(kept.items())),
        ("exams coded and cleaned", a.exams_cleaned),
        ("withheld by de-identification", a.exams_withheld),
        ("paired reports read", a.reports_read),
        ("paired reports that could not be read", a.reports_failed),
        *((f"left out: {reason}", n) for reason, n in a.left_out.items() if n),
    )


def _stage(entry: StageEntry) -> RunStage:
    counted = ", ".join(f"{n:,} {name}" for name, n in entry.counts.items())
    return RunStage(entry.stage, entry.seconds, entry.peak_mib, entry.items, entry.made, counted)


def _warnings(manifest: Manifest) -> list[str]:
    """Say what somebody should look at, most pressing first."""
    a, damaged = manifest.accounting, manifest.damaged_shards_made_anew
    failed = [gate.name for gate in manifest.gates if gate.passed is not True]
    unmapped = ", ".join(f"{cue!r} {n:,}" for cue, n in list(manifest.unmapped_cues.items())[:5])
    told = [
        (bool(failed), f"**Gates that did not pass:** {'; '.join(failed)}."),
        (damaged, f"**{damaged:,} damaged shards** were put aside and made anew. Check the disk."),
        (a.rows_quarantined, f"**{a.rows_quarantined:,} rows set aside** on reading; which "
         "and why stands in raw/quarantine."),
        (a.exams_withheld, f"**{a.exams_withheld:,} reports withheld** by de-identification; "
         "reasons stand in analysis/withheld."),
        (a.reports_failed, f"**{a.reports_failed:,} paired reports could not be read.**"),
        (unmapped, f"**Cues that map to no phrase**, most frequent first: {unmapped}."),
        (not any(s.made for s in manifest.stages if s.stage == "ingest"), "No export was new."),
    ]  # fmt: skip
    return [text for holds, text in told if holds]
