"""A run's account of itself: its manifest, and its report as a page.

The manifest says what went in, what came out, and what each stage's results hang on; the report
what was read and made, how long it took, and the gates.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from pipeline.config.basis import digest_of
from pipeline.pages import content
from pipeline.run.books import StageEntry
from pipeline.run.gates import Gathered, Issued
from pipeline.site.engines import reading
from pipeline.site.site import Site
from pipeline.stages import Keyed, clean, extract, ingest, merged, pages, pair, tally
from pipeline.store.files import write_whole
from pipeline.store.provenance import version
from pipeline.tables.results import Period
from reports.content import Gate
from reports.drawing.style import style_for
from reports.numbers import count, written
from reports.pages import run_report
from reports.pages.run_report import RunCounts, RunReportContent, RunStage
from reports.strings import Strings

KEYED: Final[tuple[Keyed[Any, Any], ...]] = (
    ingest.INGEST, clean.CLEAN, pair.PAIR, extract.EXTRACT, tally.TALLY, pages.FEEDBACK,
)  # fmt: skip
"""The keyed stages in order; `pages.FEEDBACK` stands for the issue and the review as well, whose
code and settings are among its own."""

Outcome = Literal["delivered", "gathered", "refused"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How the run with id ``run`` ended.

    ``damaged`` counts shards found damaged and made anew; ``short`` is what the newest whole month
    is short of (`tables.results.short_of_usual`).
    """

    run: str
    outcome: Outcome
    gates: tuple[Gate, ...]
    stages: tuple[StageEntry, ...]
    damaged: int
    issued: Issued | None
    short: tuple[tuple[str, str, int], ...] = ()


def manifest(site: Site, gathered: Gathered, ending: Ending) -> dict[str, object]:
    """Give a run's account of itself: what it came to and how it ended."""
    later = ending.issued.issue.period.later if ending.issued else ()
    return {
        "run": ending.run,
        "radcal": version(),
        "config_hash": site.config.digest,
        "configuration": site.config,
        "sources": gathered.sources,
        "set_aside": gathered.quarantined,
        "reading_notes": gathered.reading,
        "ingredients": {stage.kind: stage.ingredients(site) for stage in KEYED},
        "accounting": gathered.accounting(),
        "flow": gathered.flow,
        "months": gathered.months,
        "left_for_the_next_issue": dict(later),
        "short_of_usual": ending.short,
        "versions_signed_after_the_ct": gathered.late_versions,
        "exams_with_contradicting_versions": gathered.contradictory,
        "versions_taken_back": gathered.taken_back,
        "returned": gathered.returned,
        "unmapped_cues": gathered.unmapped,
        "failed_reports": gathered.failed,
        "removed": merged(shard.removed for shard in gathered.coded),
        "extraction": reading(site.engine),
        "shown": shown(site, run=ending.run),
        "outcome": ending.outcome,
        "gates": ending.gates,
        "seconds": {entry.stage: entry.seconds for entry in ending.stages},
        "stages": ending.stages,
        "damaged_shards_made_anew": ending.damaged,
    }


def run_id(site: Site, gathered: Gathered) -> str:
    """Hash a run's sources, returned sheets, configuration and code.

    Running again on the same input is the same run: every shard is found, every page is unchanged.
    """
    shards = [source.shards for source in gathered.sources]
    digests = [stage.digest(site) for stage in KEYED]
    return digest_of(shards, digests, list(gathered.returned.items()))


def shown(site: Site, *, run: str = "") -> tuple[tuple[str, str], ...]:
    """Give the manifest's entries that a page shows; delivered pages do not name the run.

    A run's id depends on the code, so with it on the page every change of code would deliver all
    pages again. Exact counts stand in the run's report only: the difference between those of two
    issues could tell what one patient added.
    """
    words = Strings.load(language=site.config.reports.language)
    entries = {
        **({"run": run} if run else {}),
        "version": version(),
        "configuration": site.config.digest,
        "engine": f"{site.engine.name} {site.engine.version}",
        "phrases": site.phrases.name,
        "seed": str(site.config.calibration.seed),
    }
    return tuple((words(f"manifest.row.{what}"), entry) for what, entry in entries.items())


def draw_report(site: Site, gathered: Gathered, ending: Ending, started_at: str) -> None:
    """Draw the report of a run that came as far as its gates."""
    started = datetime.fromisoformat(started_at)
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
        stages=tuple(_stage(entry, style.strings) for entry in ending.stages),
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
