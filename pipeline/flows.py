"""The whole job, as Prefect flows.

    exports → ingest → de-identify → pair → extract → tally → gates
            → calibrate → advise → pages → deliver

`whole_job` goes the whole way; `nightly` stops at the gates, so that a month's issue finds its
shards made. `radcal run` executes either in this process with nothing to start, `radcal serve` and
`deploy/prefect.yaml` on a schedule. A task is one shard or one recipient; its parameters are the
configuration's path, keys and counts, never text, clients or secrets, because Prefect stores
parameters. Tasks keep no results in Prefect: the workspace's content-keyed shards are what a retry,
a resumed run and the next night find.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, ParamSpec

from prefect import Task, flow
from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff
from pydantic import Field

from pipeline.errors import RadcalError, ShardTimeoutError
from pipeline.run.measure import measured
from pipeline.run.run import Run
from pipeline.run.shield import UnforeseenError
from pipeline.run.workers import in_worker
from pipeline.site.site import Site
from pipeline.work import delivery, evidence, intake, issue
from pipeline.work import period as settle

__all__ = ["nightly", "whole_job"]

P = ParamSpec("P")
Facts = dict[str, Any]
ConfigPath = Annotated[str, Field(pattern=r"\.toml$", max_length=4096, title="radcal.toml")]
Month = Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])$", title="last month, as 2026-09")]


@flow(name="radcal", validate_parameters=False)
def whole_job(config: ConfigPath, period: Month | None = None) -> Facts:
    """Take report exports to delivered pages; `period` is the issue's last month, YYYY-MM."""
    with Run.of(config) as run:
        return run.mending(lambda: _whole_job(run, period))


@flow(name="radcal-nightly", validate_parameters=False)
def nightly(config: ConfigPath) -> Facts:
    """Take new report exports to tallies and check the gates; no page is made."""
    with Run.of(config) as run:
        return run.mending(lambda: _nightly(run))


def _whole_job(run: Run, period: str | None) -> Facts:
    tallied = gather(run)
    run.pass_gates()
    deliver_issue(run, tallied, period)
    return run.finish()


def _nightly(run: Run) -> Facts:
    gather(run)
    run.pass_gates()
    return run.finish()


def gather(run: Run) -> list[Facts]:
    """Go from exports to tallies; what is known already is found, not made."""
    sources = run.map(ingest, run.sources())
    exams = [shard for source in sources for shard in source["shards"]]
    run.call(register, exams)
    coded = run.map(deidentify, exams, beside=intake.batches(sources))
    keys = [shard["key"] for shard in coded]
    blocks = evidence.block_keys(run.site, keys)
    paired = run.map(pair, blocks, keys)
    reports = run.map(extract, evidence.shards_of(paired), blocks)
    return run.map(tally, blocks, [report["key"] for report in reports])


def deliver_issue(run: Run, tallied: list[Facts], period: str | None) -> None:
    """Go from tallies to pages in every recipient's folder."""
    paired = [block["key"] for block in run.results["pair"]]
    chosen = run.call(choose_issue, [block["key"] for block in tallied], paired, period)
    pages = run.map(feedback, chosen["readers"], chosen, run.facts())
    pages.append(run.call(review, chosen, run.facts()))
    run.call(deliver, chosen["period"], pages)


def _worth_retrying(_task: object, _run: object, state: Any) -> bool:
    """Retry what may pass (a worker that died, a full disk), not what a user must correct."""
    foreseen = isinstance(state.data, RadcalError)
    return not foreseen or isinstance(state.data, UnforeseenError | ShardTimeoutError)


def step(name: str) -> Callable[[Callable[P, Facts]], Task[P, Facts]]:
    """Make a function a task of this job: retried with jitter, nothing kept in Prefect."""

    def decorated(function: Callable[P, Facts]) -> Task[P, Facts]:
        @wraps(function)
        def safe(*args: P.args, **kwargs: P.kwargs) -> Facts:
            return measured(function, *args, **kwargs)

        return Task(
            safe,
            name=name,
            retries=2,
            retry_delay_seconds=exponential_backoff(1),
            retry_jitter_factor=0.5,
            retry_condition_fn=_worth_retrying,
            cache_policy=NO_CACHE,
            persist_result=False,
        )

    return decorated


@step("ingest")
def ingest(config: str, source: str) -> Facts:
    """Read one export into exams."""
    return in_worker(intake.ingest_source, config, source)


@step("register")
def register(config: str, exams: list[str]) -> Facts:
    """Give everyone in the new exams a code."""
    return {"shards": intake.register(config, exams)}


@step("de-identify")
def deidentify(config: str, shard: str, batch: list[str]) -> Facts:
    """Code and clean one shard of exams."""
    return in_worker(intake.clean_shard, config, shard, batch)


@step("pair")
def pair(config: str, block: str, coded: list[str]) -> Facts:
    """Find the CT that answers each X-ray of a block of patients."""
    return in_worker(evidence.pair_block, config, block, coded)


@step("extract")
def extract(config: str, shard: str, pairs: list[str]) -> Facts:
    """Read the paired reports of one shard; all shards ask one model, so that is done here."""
    if Site.open(config).model is not None:
        return evidence.read_shard(config, pairs, shard)
    return in_worker(evidence.read_shard, config, pairs, shard)


@step("tally")
def tally(config: str, block: str, reports: list[str]) -> Facts:
    """Set each forecast of a block against its outcome, and count."""
    return in_worker(evidence.observe_block, config, block, reports)


@step("issue")
def choose_issue(config: str, tallies: list[str], paired: list[str], period: str | None) -> Facts:
    """Settle the months, the readers and the pathologies, and add all blocks up."""
    return in_worker(settle.choose_issue, config, tallies, paired, period)


@step("feedback")
def feedback(config: str, reader: str, chosen: Facts, run: Facts) -> Facts:
    """Calibrate and advise one reader, and draw the page."""
    return in_worker(issue.feedback_page, config, chosen, run, reader)


@step("review")
def review(config: str, chosen: Facts, run: Facts) -> Facts:
    """Calibrate the department, and draw the committee's review."""
    return in_worker(issue.committee_page, config, chosen, run)


@step("deliver")
def deliver(config: str, period: str, pages: list[Facts]) -> Facts:
    """Put every page into its recipient's folder."""
    return delivery.deliver(config, period, pages)
