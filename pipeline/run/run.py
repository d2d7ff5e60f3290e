"""One run: its lock, its stages' results and counts, its gates, its manifest.

A run's id is a hash of what went into it, so that running again on the same input is the same
run: every shard is found, every page is unchanged, and it says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future as ThreadFuture
from contextlib import contextmanager, suppress
from dataclasses import asdict
from inspect import signature
from typing import Any

from prefect import Task, unmapped
from prefect.futures import PrefectFuture

from pipeline.config import digest_of
from pipeline.errors import DamagedShardError, GateFailedError
from pipeline.run.gates import Check, check
from pipeline.run.ingredients import KEYED, ingredients
from pipeline.run.journal import Journal
from pipeline.run.notices import notified, publish_gates, publish_pages, publish_stages
from pipeline.run.record import Record
from pipeline.run.runners import Runners, runners
from pipeline.run.totals import Totals, counted
from pipeline.site.engines import reading
from pipeline.site.site import Site
from pipeline.store.provenance import version
from pipeline.store.used import record as record_used
from pipeline.store.used import taken
from pipeline.store.workspace import IRREPLACEABLE
from pipeline.vault.audit_log import AuditLog
from pipeline.work.account import draw_account, reading_notes
from pipeline.work.issue import refusal_page

__all__ = ["Run"]

Facts = dict[str, Any]
_LOG = logging.getLogger("radcal")


class Run:
    """The stages of one run, in order, with what each returned."""

    runners: Runners

    def __init__(self, config: str) -> None:
        self.config = config
        self.site = Site.open(config)
        self.journal = Journal()
        self.record = Record(self.site.workspace, self.journal, config_hash=self.site.config.digest)
        self.results: dict[str, list[Facts]] = {}
        self.totals = Totals(self.results)
        self.checks: tuple[Check, ...] = ()
        self.damaged: list[tuple[str, str, str]] = []

    @classmethod
    @contextmanager
    def of(cls, config: str) -> Iterator[Run]:
        """Hold the workspace and the workers for one run, and tell of its failure."""
        run = cls(config)
        run.site.workspace.prepare()
        taken()
        with (
            run.site.workspace.locked(),
            notified(run.site.config.notify),
            run.record.kept(),
            run.site.engine_in_use(),
            runners(run.site.config.execution) as run.runners,
        ):
            yield run

    def sources(self) -> list[str]:
        """Files to ingest."""
        return [str(path) for path in self.site.sources()]

    def map(
        self,
        work: Task[..., Facts],
        items: Iterable[object],
        *shared: object,
        beside: Sequence[object] | None = None,
    ) -> list[Facts]:
        """Run a task once per item, side by side, and wait for all.

        Parameters
        ----------
        shared
            Arguments that every call is given after its item.
        beside
            An argument for each item, given right after it.
        """
        each = list(items)
        with self.journal.stage(work.name) as stage:
            constant = [unmapped(value) for value in shared]
            mapped = [each] if beside is None else [each, list(beside)]
            given = signature(work.fn).bind(unmapped(self.config), *mapped, *constant).arguments
            runner = self.runners.of(work.name)
            futures = runner.map(self._equipped(work), given) if each else []
            found: list[Facts] = []
            with _all_ended(futures):
                for future in futures:
                    found.append(stage.note(future.result()))
                    stage.advance(len(found), len(each))
            stage.counts.update(counted(found))
        self.results[work.name] = found
        return found

    def call(self, work: Task[..., Facts], *arguments: object) -> Facts:
        """Run a task once and wait for it."""
        with self.journal.stage(work.name) as stage:
            found = stage.note(work.submit(self.config, *arguments).result())
            stage.counts.update(counted([found]))
        self.results[work.name] = [found]
        return found

    def _equipped(self, work: Task[..., Facts]) -> Task[..., Any]:
        """Tag what asks the model server, whose limit is shared; limit the time of spread work.

        Work on this machine is limited by `in_worker`, which can end a process.
        """
        settings = self.site.config
        served = work.name == "extract" and settings.extraction.engine != "rules"
        seconds = settings.execution.shard_timeout_minutes * 60
        return work.with_options(
            tags=["gpu"] if served else None,
            timeout_seconds=seconds if self.runners.spreads(work.name) else None,
        )

    def mending(self, recipe: Callable[[], Facts]) -> Facts:
        """Follow a recipe; a shard found damaged is put aside and the recipe followed again.

        Raises
        ------
        DamagedShardError
            If a shard is damaged again after it was made anew, or cannot be made again.
        """
        while True:
            try:
                return recipe()
            except DamagedShardError as damage:
                place = (damage.zone, damage.table, damage.key)
                if damage.table in IRREPLACEABLE or place in self.damaged:
                    raise
                self.damaged.append(place)
                self.site.workspace.put_aside(damage)
                _LOG.warning("shard %s/%s %s: made anew", *place[1:], damage.fault)

    def pass_gates(self) -> None:
        """Check the run's accounting.

        Raises
        ------
        GateFailedError
            If a gate did not pass; a page and the manifest say which, and nothing is delivered.
        """
        self.checks = check(self.totals.accounting(), self.site.config)
        failed = [c for c in self.checks if c.passed is not True]
        publish_stages(self.id, self.journal)
        publish_gates(self.id, self.checks)
        if failed:
            page = refusal_page(
                self.config, self.id, [asdict(c) for c in self.checks], self.manifest_rows()
            )
            self._write_manifest("refused")
            lines = "; ".join(f"{c.name}: {c.found}, required {c.required}" for c in failed)
            msg = (
                f"{len(failed)} of {len(self.checks)} gates failed; nothing delivered: {lines}. "
                f"See {page}."
            )
            raise GateFailedError(msg)

    def facts(self) -> Facts:
        """Give what the pages say about the run; nothing here depends on the clock."""
        return {
            "flow": self.totals.flow,
            "pairs": [block["key"] for block in self.results["pair"]],
            "checks": [asdict(c) for c in self.checks],
            "manifest": self.manifest_rows(),
            "counts": self.totals.shown(),
            "demonstration": self.site.config.reports.demonstration,
        }

    @property
    def id(self) -> str:
        """Hash of the run's sources, returned sheets, configuration and code."""
        shards = [source["shards"] for source in self.results["ingest"]]
        digests = [self.site.digest_of(stage) for stage in KEYED]
        return digest_of(shards, digests, self.totals.returned)

    def manifest_rows(self) -> list[list[str]]:
        """Give the manifest's entries that a page shows."""
        a = self.totals.accounting()
        return [
            ["run", self.id],
            ["radcal", version()],
            ["configuration", self.site.config.digest],
            ["extraction engine", f"{self.site.engine.name} {self.site.engine.version}"],
            ["phrase table", self.site.phrases.name],
            ["rows read", f"{a.rows_in:,}"],
            ["exams coded", f"{a.exams_cleaned:,}"],
            ["pairs", f"{a.pairs:,}"],
            ["reports read", f"{a.reports_read:,}"],
            ["observations", f"{a.observations:,}"],
            ["seed", str(self.site.config.calibration.seed)],
        ]

    def finish(self) -> Facts:
        """Write the manifest and the audit entry; give the summary for the command line."""
        issued = "deliver" in self.results
        path = self._write_manifest("delivered" if issued else "gathered")
        a = self.totals.accounting()
        return {
            "outcome": "gathered",
            "pairs": a.pairs,
            "observations": a.observations,
            "quarantined": a.rows_quarantined,
            "reading_notes": reading_notes(self.results["ingest"]),
            "withheld": a.exams_withheld,
            "damaged_shards_made_anew": len(self.damaged),
            **(self._delivered() if issued else {}),
            "manifest": path,
            "report": path.replace("manifest.json", "report.pdf"),
        }

    def _delivered(self) -> Facts:
        delivered = self.results["deliver"][0]
        folder = self.site.workspace.root / "delivery" / self.period
        publish_stages(self.id, self.journal)
        publish_pages(self.id, folder, delivered["delivered"], delivered["unchanged"])
        return {
            "outcome": "nothing changed" if not delivered["delivered"] else "delivered",
            "pages_delivered": delivered["delivered"],
            "pages_unchanged": delivered["unchanged"],
            "delivery": str(folder),
        }

    def _record(self, outcome: str) -> None:
        delivered = self.results.get("deliver", [{}])[0]
        pages = {f"pages_{name}": delivered[name] for name in delivered}
        facts: Facts = {}
        if delivered:
            tallies = [block["key"] for block in self.results["tally"]]
            facts = {"last_period": self.period, "last_tallies": tallies}
            facts["last_issue"] = self.site.digest_of("pages")
        self.record.ended(
            outcome,
            self.id,
            counts={**asdict(self.totals.accounting()), **pages},
            gates=[asdict(c) for c in self.checks],
            damaged_shards=len(self.damaged),
            **facts,
        )

    @property
    def period(self) -> str:
        """The issue's period."""
        return str(self.results["issue"][0]["period"])

    def _write_manifest(self, outcome: str) -> str:
        path = self.site.workspace.root / "runs" / self.id / "manifest.json"
        manifest = self._manifest(outcome)
        record_used(path.parent, self.journal.used() | taken())
        self.site.workspace.write_json(path, manifest)
        AuditLog(self.site.workspace.root / "audit.jsonl").append(
            "run", run=self.id, outcome=outcome, config_hash=self.site.config.digest
        )
        self._record(outcome)
        draw_account(self.site, self.id, self.record.facts, manifest)
        return str(path)

    def _manifest(self, outcome: str) -> Facts:
        return {
            "run": self.id,
            "outcome": outcome,
            "radcal": version(),
            "config_hash": self.site.config.digest,
            "configuration": self.site.config.model_dump(mode="json"),
            "sources": self.results["ingest"],
            "ingredients": {stage: ingredients(self.site, stage) for stage in KEYED},
            **self.totals.to_dict(),
            "extraction": reading(self.site.engine),
            "gates": [asdict(c) for c in self.checks],
            "seconds": self.journal.timings(),
            "stages": self.journal.to_list(),
            "damaged_shards_made_anew": len(self.damaged),
            "shown": self.manifest_rows(),
        }


@contextmanager
def _all_ended(futures: Iterable[PrefectFuture[Any]]) -> Iterator[None]:
    """When one task failed, begin no other, and let those at work end before the stage does."""
    try:
        yield
    except BaseException:
        for future in futures:
            waiting = getattr(future, "wrapped_future", None)
            if isinstance(waiting, ThreadFuture) and waiting.cancel():
                continue
            # A second failure must not hide the first.
            with suppress(Exception):
                future.wait()
        raise
