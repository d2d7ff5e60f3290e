"""The report of a run as a page: what it read, made and took, and its gates."""

from __future__ import annotations

from datetime import UTC, datetime

from pipeline.pages import content
from pipeline.run.books import LastRun, StageEntry
from pipeline.run.gates import Gathered
from pipeline.run.manifest import Ending, shown
from pipeline.site.site import Site
from pipeline.store.files import write_whole
from pipeline.tables.results import Period
from reports.drawing.style import style_for
from reports.numbers import count, written
from reports.pages import run_report
from reports.pages.run_report import RunCounts, RunReportContent, RunStage
from reports.strings import Strings


def draw_report(site: Site, gathered: Gathered, ending: Ending, last: LastRun) -> None:
    """Draw the report of a run that came as far as its gates."""
    started = datetime.fromisoformat(str(last.started_at))
    style = style_for(site.config.reports.page, language=site.config.reports.language)
    months = gathered.months or ("–",)
    about = content.Issue(site.config, Period(months[-1], months))
    filled = RunReportContent(
        masthead=content.masthead(about, style.strings("page.operations")),
        outcome=ending.outcome,
        started=f"{style.strings.day(str(started.date()))}, {started:%H:%M} UTC",
        seconds=(datetime.now(tz=UTC) - started).total_seconds(),
        counts=_counts(gathered, ending),
        short=ending.short,
        flow=content.flow_steps(gathered.flow),
        gates=ending.gates,
        stages=tuple(_stage(entry, style.strings) for entry in last.stages),
        manifest=shown(site, run=ending.run),
    )
    path = site.workspace.root / "runs" / ending.run / "report.pdf"
    write_whole(path, run_report.build(filled, style=style))


def _counts(gathered: Gathered, ending: Ending) -> RunCounts:
    a, delivered = gathered.accounting(), ending.issued.delivered if ending.issued else None
    return RunCounts(
        exports=len(gathered.sources),
        rows_read=a.rows_in,
        set_aside=tuple(sorted(gathered.quarantined.items())),
        noted=tuple(sorted(gathered.reading.items())),
        cleaned=a.exams_cleaned,
        withheld=a.exams_withheld,
        on_request=a.exams_left_out_on_request,
        reports_read=a.reports_read,
        reports_failed=a.reports_failed,
        left_out=tuple((reason, n) for reason, n in a.left_out.items() if n),
        unmapped=tuple(gathered.unmapped.most_common()),
        pairs=a.pairs,
        observations=a.observations,
        pages_delivered=0 if delivered is None else delivered.delivered,
        pages_unchanged=0 if delivered is None else delivered.unchanged,
        damaged=ending.damaged,
    )


def _stage(entry: StageEntry, words: Strings) -> RunStage:
    with written(words.language):
        counted = ", ".join(f"{count(n)} {words.name(name)}" for name, n in entry.counts.items())
    return RunStage(entry.stage, entry.seconds, entry.peak_mib, entry.items, entry.made, counted)
