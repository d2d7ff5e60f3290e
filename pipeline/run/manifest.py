"""The manifest of a run: what went into it, what came out, what each stage's results hang on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from pipeline.config.basis import digest_of
from pipeline.run.books import StageEntry
from pipeline.run.gates import Gathered, Issued
from pipeline.site.engines import reading
from pipeline.site.site import Site
from pipeline.stages import Keyed, clean, extract, ingest, merged, pages, pair, tally
from pipeline.store.provenance import version
from reports.content import Gate
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
