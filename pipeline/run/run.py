"""One run: it takes items through stages, keeps the books, checks the gates and reports its end.

A run's id is a hash of its sources, configuration and code (`manifest.run_id`). A second run on the
same input therefore has the same id: it finds every shard and every page unchanged, and says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.config import outline
from pipeline.config.basis import digest_of, sha256
from pipeline.errors import ConfigurationError, DamagedShardError, GateFailedError, RadcalError
from pipeline.pages.review import RunFacts
from pipeline.run.books import Books, InputSize
from pipeline.run.gates import Gathered, Issued, against_last_good, check, remedies
from pipeline.run.manifest import Ending, Outcome, draw_report, manifest, run_id, shown
from pipeline.run.notices import exported, notified, publish_gates, publish_pages, publish_stages
from pipeline.run.pruning import keep_list
from pipeline.run.rehearsal import cheap_findings
from pipeline.run.runners import Runners, runners
from pipeline.run.shield import logged, stoppable
from pipeline.site.site import Site
from pipeline.stages import Found, Item, Stage
from pipeline.stages.pages import FEEDBACK
from pipeline.stages.register import MERGED
from pipeline.store.files import plain
from pipeline.store.workspace import IRREPLACEABLE, Workspace
from pipeline.tables.results import short_of_usual
from pipeline.vault.audit_log import AuditLog
from reports.content import Gate

_LOG = logging.getLogger("radcal")


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run returns to the command line; None stands for what does not apply to it."""

    outcome: str
    exit_code: int
    pairs: int
    observations: int
    left_out: dict[str, int]
    per_cent_of_usual: dict[str, int]
    left_for_the_next_issue: dict[str, int]
    quarantined: int
    reading_notes: dict[str, int]
    withheld: int
    left_out_on_request: int
    contradictory: int
    damaged_shards_made_anew: int
    readers_to_check: int | None
    pages_delivered: int | None
    pages_unchanged: int | None
    delivery: str | None
    manifest: str
    report: str
    audit_log_head: str


class Run:
    """One run of a site."""

    runners: Runners

    def __init__(self, config: str) -> None:
        self.config = config
        self.site = Site.open(config)
        self.books = Books(self.site.workspace, self.site.config.digest)
        self.gates: tuple[Gate, ...] = ()
        self.damaged: list[tuple[str, str, str]] = []
        self._size: InputSize | None = None
        self._short: tuple[tuple[str, str, int], ...] = ()
        self._unfit = ""
        self._log = AuditLog(self.site.workspace.root / "audit.jsonl")

    @classmethod
    @contextmanager
    def of(cls, config: str) -> Iterator[Run]:
        """Hold the workspace and the workers for one run, and report its failure."""
        try:
            run = cls(config)
        except ConfigurationError as error:
            tell_unbegun(Path(config), error)
            raise
        store = run.site.workspace
        store.prepare()
        store.take_used()
        with store.locked(), run.reported():
            run.refuse_unfit()
            with run.site.engine_in_use(), runners(run.site.config) as run.runners:
                yield run

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Keep books, log and metrics while the block runs; send a notice if it fails."""
        root = self.site.workspace.root
        with (
            stoppable(),
            notified(self.site.config.notify),
            logged(root, self.books.last.attempt),
            exported(self.books),
            self.books.kept(),
        ):
            try:
                yield
            except GateFailedError:
                raise  # the run's own entry tells it
            except (RadcalError, KeyboardInterrupt) as error:
                why = self._unfit or type(error).__name__
                self._log.append(
                    "run refused", outcome=why, config_hash=self.books.last.config_hash
                )
                raise

    def refuse_unfit(self) -> None:
        """Refuse what cannot work before anything is read.

        Raises
        ------
        ConfigurationError
            If the key, a file or a source cannot be used; all faults are listed.
        """
        faults = [each for each in cheap_findings(self.site) if each.state == "fault"]
        if faults:
            self._unfit = ", ".join(each.subject for each in faults)
            raise ConfigurationError("\n".join(dict.fromkeys(each.told for each in faults)))

    def map(self, stage: Stage[Item, Found], items: Iterable[Item]) -> list[Found]:
        """Take all items through a stage in parallel; returns their counts in the items' order."""
        each = list(items)
        with self.books.stage(stage.name) as page:
            self._refuse_edited()
            found: list[Found] = []
            for done in self.runners.work(stage, self.config, each):
                found.append(page.note(done))
                page.advance(len(each))
            page.count(stage, found)
        return found

    def _refuse_edited(self) -> None:
        """Stop where the site's own files were edited: workers open them anew, and would mix both.

        Raises
        ------
        ConfigurationError
            If the configuration, or a list or table that it names, is not what the run began with.
        """
        now = Site.open(self.config)
        edited = dict.fromkeys(name for name, _ in {*now.lists} ^ {*self.site.lists})
        if now.config != self.site.config:
            edited = {Path(self.config).name: None}
        if edited:
            raise ConfigurationError(
                f"{' and '.join(sorted(edited))}: changed while the run was at work; nothing "
                "was delivered. Run again: what depends on the change is made anew."
            )

    def call(self, stage: Stage[Item, Found], item: Item) -> Found:
        """Take the one item of a stage through it; returns its counts."""
        return self.map(stage, [item])[0]

    def mending(self, recipe: Callable[[], Found]) -> Found:
        """Follow a recipe; where a shard is found damaged, put it aside and follow it again.

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

    def pass_gates(self, gathered: Gathered) -> RunFacts:
        """Check all gates; returns what the pages say about the run.

        Raises
        ------
        GateFailedError
            If a gate did not pass; report and manifest say which, and nothing is delivered.
        """
        self._refuse_edited()
        name, a = run_id(self.site, gathered), gathered.accounting()
        checked = check(a, self.site.config)
        self._size = self._input_size(gathered)
        before = against_last_good(self.books.last.last_good, self._size, self.site.config)
        self.gates = (*checked, *before)
        failed = [gate for gate in self.gates if gate.passed is not True]
        publish_gates(name, self.gates)
        if failed:
            page = self._close(gathered, None, "refused") / "report.pdf"
            lines = "; ".join(f"{g.name}: {g.found}, required {g.required}" for g in failed)
            todo = remedies(failed, self.site.config)
            raise GateFailedError(
                f"{len(failed)} of {len(self.gates)} gates failed; nothing delivered: {lines}."
                f"{gathered.why_unread}{gathered.why_nothing}{todo} See {page}."
            )
        return RunFacts(
            flow=gathered.flow,
            gates=checked,  # a page must not hang on what the night before had
            manifest=shown(self.site),
            counts=gathered.shown(self.site.config.reports.language),
        )

    def _input_size(self, gathered: Gathered) -> InputSize:
        """Measure a run's input for the next run: what `Gathered` counts, and X-rays by month."""
        keys, columns = [block.key for block in gathered.paired], ["performed_month", "fate", "n"]
        rows = self.site.workspace.read("analysis", "coverage", keys, columns=columns)
        paired = rows[rows["fate"] == "paired"]
        xrays, answered = (of.groupby("performed_month")["n"].sum() for of in (rows, paired))
        self._short = short_of_usual(xrays, answered)
        return replace(gathered.input_size, xrays={str(m): int(n) for m, n in xrays.items()})

    def finish(self, gathered: Gathered, issued: Issued | None = None) -> Summary:
        """Write the manifest, the audit entry and the report; returns the summary."""
        folder = self._close(gathered, issued, "delivered" if issued else "gathered")
        a, delivery, new, outcome = gathered.accounting(), None, None, "gathered"
        if issued is not None:
            new = issued.delivered
            outcome = "delivered" if new.delivered else "nothing changed"
            delivery = self.site.workspace.root / "delivery" / issued.issue.period.name
            publish_pages(folder.name, delivery, new)
        return Summary(
            outcome=outcome,
            exit_code=gathered.exit_code,
            pairs=a.pairs,
            observations=a.observations,
            left_out={why: n for why, n in a.left_out.items() if n},
            per_cent_of_usual=self._shown_short,
            left_for_the_next_issue=dict(issued.issue.period.later) if issued else {},
            quarantined=a.rows_quarantined,
            reading_notes=dict(gathered.reading),
            withheld=a.exams_withheld,
            left_out_on_request=a.exams_left_out_on_request,
            contradictory=gathered.contradictory,
            damaged_shards_made_anew=len(self.damaged),
            readers_to_check=issued.issue.readers_to_check if issued else None,
            pages_delivered=None if new is None else new.delivered,
            pages_unchanged=None if new is None else new.unchanged,
            delivery=None if delivery is None else str(delivery),
            manifest=str(folder / "manifest.json"),
            report=str(folder / "report.pdf"),
            audit_log_head=self._log.head,
        )

    @property
    def _shown_short(self) -> dict[str, int]:
        return {f"{what} of {month}": share for what, month, share in self._short}

    def _close(self, gathered: Gathered, issued: Issued | None, outcome: Outcome) -> Path:
        """Write manifest, audit entry, books and report of the ending; returns the run's folder."""
        store, run = self.site.workspace, run_id(self.site, gathered)
        stages = self.books.entries()
        ending = Ending(run, outcome, self.gates, stages, len(self.damaged), issued, self._short)
        folder = store.root / "runs" / run
        counts = {
            **plain(gathered.accounting()),
            "under_merged_numbers": gathered.registered.notes.get(MERGED, 0),
            "per_cent_of_usual": self._shown_short,
        }
        if issued is not None:
            counts |= {f"pages_{name}": n for name, n in plain(issued.delivered).items()}
            if (to_check := issued.issue.readers_to_check) is not None:
                counts["readers_to_check"] = to_check
        keep_list(folder, self.books.used() | store.take_used())
        store.write_json(folder / "manifest.json", manifest(self.site, gathered, ending))
        self._log.append(
            "run",
            run=run,
            outcome=outcome,
            config_hash=self.site.config.digest,
            inputs=digest_of(sorted(s for source in gathered.sources for s in source.shards)),
            manifest=sha256((folder / "manifest.json").read_bytes()),
            counts=counts,
        )
        told = replace(
            self.books.last,
            outcome=outcome,
            exit_code=gathered.exit_code,
            last_run=run,
            last_good=self.books.last.last_good if outcome == "refused" else self._size,
            counts=counts,
            gates=self.gates,
            damaged_shards=len(self.damaged),
        )
        if issued is not None:
            told = replace(
                told,
                last_period=issued.issue.period.name,
                last_issue=FEEDBACK.digest(self.site),
                last_tallies=issued.issue.tallies,
            )
        self.books.close(told)
        publish_stages(run, stages)
        draw_report(self.site, gathered, ending, str(told.started_at))
        return folder


def tell_unbegun(path: Path, error: ConfigurationError | KeyboardInterrupt) -> None:
    """Report a run that ended before it began, if workspace and `notify` can be read off `path`."""
    if (known := outline(path)) is None:
        return
    store = Workspace(known.workspace)
    with suppress(RadcalError, OSError, KeyboardInterrupt):
        store.prepare()
        books = Books(store, "")
        with store.locked(), notified(known.notify), exported(books), books.kept():
            raise error
