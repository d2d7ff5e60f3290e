"""The whole job, as Prefect flows.

    exports → ingest → register → de-identify → pair → extract → tally → gates
            → issue → pages (calibrate, advise, draw) → deliver

`whole_job` goes the whole way; `nightly` stops at the gates and thereby prepares the shards that
the month's issue needs. `radcal run` executes either flow in its own process, without a standing
server; `radcal serve` and `deploy/prefect.yaml` execute them on a schedule. A Prefect task is one
item of a stage (`pipeline.stages`): one shard, one block of patients or one recipient. Its
parameters are the configuration's path, keys and counts, never text, clients or secrets, because
Prefect stores parameters. Results are not kept in Prefect: a retry, a resumed run and the next
night find them in the workspace, under keys that are hashes of all that went into them.
"""

from __future__ import annotations

from typing import Annotated

from prefect import flow
from pydantic import Field

from pipeline.pages.review import RunFacts
from pipeline.run.gates import Gathered, Issued
from pipeline.run.run import Run, Summary
from pipeline.stages import clean, deliver, extract, ingest, issue, pages, pair, register, tally

ConfigPath = Annotated[str, Field(pattern=r"\.toml$", max_length=4096, title="radcal.toml")]
Month = Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])$", title="last month, as 2026-09")]


@flow(name="radcal", validate_parameters=False)
def whole_job(config: ConfigPath, period: Month | None = None) -> Summary:
    """Take report exports to delivered pages; `period` is the issue's last month, YYYY-MM."""
    with Run.of(config) as run:
        return run.mending(lambda: _whole_job(run, period))


@flow(name="radcal-nightly", validate_parameters=False)
def nightly(config: ConfigPath) -> Summary:
    """Take new report exports to tallies and check the gates; no page is made."""
    with Run.of(config) as run:
        return run.mending(lambda: _nightly(run))


def _whole_job(run: Run, period: str | None) -> Summary:
    gathered = gather(run)
    return run.finish(gathered, hand_out(run, gathered, run.pass_gates(gathered), period))


def _nightly(run: Run) -> Summary:
    gathered = gather(run)
    run.pass_gates(gathered)
    return run.finish(gathered)


def gather(run: Run) -> Gathered:
    """Go from exports to tallies; what is known already is found, not made."""
    sources = run.map(ingest.INGEST, ingest.sources(run.site))
    exams = register.shards(run.site, sources)
    registered = run.call(register.REGISTER, register.ExamsToRegister.of(exams, sources))
    coded = run.map(clean.CLEAN, exams)
    paired = run.map(pair.PAIR, pair.blocks(run.site, coded))
    read = run.map(extract.EXTRACT, extract.shards(paired))
    tallied = run.map(tally.TALLY, tally.blocks(paired, read))
    return Gathered(sources, registered, coded, paired, read, tallied)


def hand_out(run: Run, gathered: Gathered, facts: RunFacts, period: str | None) -> Issued:
    """Go from tallies to pages in every recipient's folder."""
    request = issue.request(run.site, gathered.paired, gathered.tallied, period)
    chosen = run.call(issue.ISSUE, request)
    readers, committee = pages.page_requests(chosen, facts, register.former(run.site))
    drawn = (*run.map(pages.FEEDBACK, readers), run.call(pages.REVIEW, committee))
    delivery = deliver.Delivery(chosen.key, chosen.period.name, drawn)
    return Issued(chosen, run.call(deliver.DELIVER, delivery))
