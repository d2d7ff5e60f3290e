"""The manifest of a run, its report (or its refusal) as a page, and the outlook on the next run.

The manifest says what went into a run, what came out, and what each stage's results depended on
(its ingredients). The outlook (`radcal status`) compares the present ingredients with those of the
last manifest. It makes nothing: it computes keys as a run would and looks whether results lie under
them. Where a stage has work to do, the keys of later stages cannot be known yet; they are reported
as stale because of that stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from pipeline.config.basis import digest_of
from pipeline.pages import content
from pipeline.run.books import LastRun, StageEntry, last_run
from pipeline.run.gates import Gathered, Issued
from pipeline.site.engines import reading
from pipeline.site.site import Site
from pipeline.stages import Keyed, Look, Named, clean, extract, ingest, pages, pair, register, tally
from pipeline.store.files import typed_json
from pipeline.store.provenance import version
from pipeline.tables.results import Period
from reports.content import Gate, GateFailureContent
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
Ingredients = Mapping[str, Named]
"""Kind of stage → its ingredients."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the run with id ``run`` ended; ``damaged`` counts shards found damaged and made anew."""

    run: str
    outcome: Outcome
    gates: tuple[Gate, ...]
    stages: tuple[StageEntry, ...]
    damaged: int
    issued: Issued | None


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
        "versions_signed_after_the_ct": gathered.late_versions,
        "exams_with_contradicting_versions": gathered.contradictory,
        "versions_taken_back": gathered.taken_back,
        "returned": gathered.returned,
        "unmapped_cues": gathered.unmapped,
        "failed_reports": gathered.failed,
        "removed": gathered.removed,
        "extraction": reading(site.engine),
        "shown": shown(site, run=ending.run),
        "outcome": ending.outcome,
        "gates": ending.gates,
        "seconds": {entry.stage: entry.seconds for entry in ending.stages},
        "stages": ending.stages,
        "damaged_shards_made_anew": ending.damaged,
    }


@dataclass(frozen=True, slots=True)
class _Kept:
    ingredients: Ingredients = field(default_factory=dict)


def ingredients_of(root: Path, run: str | None) -> Ingredients:
    """Read what a run's stages depended on; empty where its manifest is gone or damaged."""
    try:
        path = root / "runs" / str(run) / "manifest.json"
        return typed_json(_Kept, path.read_bytes()).ingredients
    except (OSError, ValueError):
        return {}


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


def draw_report(site: Site, gathered: Gathered, ending: Ending, last: LastRun) -> None:
    """Draw the report of a run that came as far as its gates."""
    started = datetime.fromisoformat(str(last.started_at))
    style = style_for(site.config.reports.page, language=site.config.reports.language)
    months = gathered.months or ("–",)
    about = content.Issue(site.config, Period(months[-1], months))
    filled = RunReportContent(
        masthead=content.masthead(about, style.strings("page.operations")),
        outcome=ending.outcome,
        started=f"{started:%Y-%m-%d %H:%M} UTC",
        seconds=(datetime.now(tz=UTC) - started).total_seconds(),
        counts=_counts(gathered, ending),
        flow=content.flow_steps(gathered.flow),
        gates=ending.gates,
        stages=tuple(_stage(entry, style.strings) for entry in last.stages),
        manifest=shown(site, run=ending.run),
    )
    path = site.workspace.root / "runs" / ending.run / "report.pdf"
    site.workspace.write_bytes(path, run_report.build(filled, style=style))


def draw_refusal(
    site: Site, run: str, gates: tuple[Gate, ...], shown: tuple[tuple[str, str], ...]
) -> str:
    """Draw the page that says why nothing was delivered; returns the file's path."""
    about = content.Issue(site.config, Period("–", ("–",)), logo=site.logo)
    masthead = content.masthead(about, content.COMMITTEE)
    filled = GateFailureContent(masthead=masthead, gates=gates, manifest=shown)
    style = style_for(site.config.reports.page, language=site.config.reports.language)
    path = site.workspace.root / "runs" / run / "gates.pdf"
    site.workspace.write_bytes(path, run_report.refusal(filled, style=style))
    return str(path)


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


_NAMED: Final = 4
"""Most changed ingredients that are named; of others the number is given."""


@dataclass(frozen=True, slots=True)
class StageState:
    """Outlook on one stage: `to_make` of its `items` are missing; None where not known yet."""

    stage: str
    state: Literal["up to date", "stale", "never run", "failed"]
    items: int | None
    to_make: int | None
    why: tuple[str, ...] = ()


def outlook(site: Site) -> tuple[StageState, ...]:
    """Look whether the results that the next run needs are there, stage by stage."""
    last = last_run(site.workspace.root) or LastRun()
    before = ingredients_of(site.workspace.root, last.last_run)
    looks, states, behind = _looks(site, last), [], ""
    for stage in KEYED:
        if behind:
            why = (f"{behind} has work to do", *_changed(site, stage, before))
            states.append(
                StageState(stage.kind, "stale" if before else "never run", None, None, why)
            )
            continue
        seen = next(looks)
        states.append(_state(site, stage, seen, before))
        behind = stage.kind if seen.to_make else ""
    return tuple(_with_failure(state, last) for state in states)


def _looks(site: Site, last: LastRun) -> Iterator[Look[Any]]:
    """Follow the recipe of `pipeline.flows` by looking; stop asking at a stage with work to do."""
    yield (sources := ingest.INGEST.look(site, ingest.sources(site)))
    yield (coded := clean.CLEAN.look(site, register.shards(site, sources.found)))
    yield (paired := pair.PAIR.look(site, pair.blocks(site, coded.found)))
    yield (read := extract.EXTRACT.look(site, extract.shards(paired.found)))
    yield (tallied := tally.TALLY.look(site, tally.blocks(paired.found, read.found)))
    yield pages.look(site, (last.last_issue, last.last_tallies), tallied.found)


def _state(site: Site, stage: Keyed[Any, Any], seen: Look[Any], before: Ingredients) -> StageState:
    if not seen.to_make:
        return StageState(stage.kind, "up to date", seen.items, 0)
    why = _changed(site, stage, before) or ((seen.why,) if seen.why else ())
    return StageState(stage.kind, "stale" if before else "never run", seen.items, seen.to_make, why)


def _changed(site: Site, stage: Keyed[Any, Any], before: Ingredients) -> tuple[str, ...]:
    """Name the ingredients of a stage that are not as they were in the last run."""
    then = before.get(stage.kind)
    if then is None:
        return ()
    now = stage.ingredients(site)
    names = [name for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
    told = tuple(_change(name, then.get(name), now.get(name)) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return (*told, f"and {more} more") if more > 0 else told


def _change(name: str, then: str | None, now: str | None) -> str:
    if name.startswith("code of ") or "." not in name:
        return f"{name} changed"
    return f"{name}: {then} → {now}"


def _with_failure(state: StageState, last: LastRun) -> StageState:
    """Mark the stage in which the last run failed."""
    if last.error is None or not last.stages or last.stages[-1].ended:
        return state
    if last.stages[-1].stage != state.stage:
        return state
    why = (f"last run: {last.error.message}", *state.why)
    return StageState(state.stage, "failed", state.items, state.to_make, why)
