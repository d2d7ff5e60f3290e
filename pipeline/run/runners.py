"""Where shards are worked on: this process, this machine's processes, or a Dask cluster.

Outside a Prefect flow (a small run) items are done one after the other in this process, because
the run is over before a server and workers would have started. Inside one, Prefect's own task
runners are used: threads that drive this machine's worker processes, or Dask's. A Dask worker that
dies loses nothing: the scheduler gives its shard to another, and a shard is written whole or not at
all. Only the stages of `[execution] dask_stages` go to Dask; the others stay on this machine, so
that the vault and its key need not leave it.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future as ThreadFuture
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

from prefect import Task, unmapped
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext
from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from prefect.tasks import exponential_backoff

from pipeline.config import Configuration
from pipeline.errors import ConfigurationError, RadcalError, ShardTimeoutError
from pipeline.run.shield import UnforeseenError, shielded
from pipeline.run.workers import Done, in_worker, perform, workers
from pipeline.site.site import Site
from pipeline.stages import Found, Item, Stage

Runner = TaskRunner[Any]


_RETRIES: Final = 2


def orchestrated() -> bool:
    """Whether Prefect follows what this thread does."""
    return FlowRunContext.get() is not None


class Runners:
    """Where each stage's items are worked on, open for one run."""

    def __init__(
        self, config: Configuration, here: Runner | None, spread: Runner | None = None
    ) -> None:
        self._here, self._spread, self._settings = here, spread, config.execution
        self._served = config.extraction.engine != "rules"

    def work(
        self, stage: Stage[Item, Found], config: str, items: Sequence[Item]
    ) -> Iterator[Done[Found]]:
        """Take items through a stage; gives what each came to, in their order."""
        spread = self._spread if stage.name in self._settings.dask_stages else None
        runner = spread or self._here
        if runner is None:
            yield from (_tried(stage, config, item) for item in items)
            return
        given = {"config": unmapped(config), "item": list(items)}
        futures = runner.map(self.task(stage, spread=spread is not None), given) if items else []
        with _all_ended(futures):
            for future in futures:
                yield future.result()

    def task(self, stage: Stage[Item, Found], *, spread: bool = False) -> Task[[str, Item], Any]:
        """Make a stage a task: retried with jitter, nothing kept in Prefect.

        What asks the model server, whose limit is shared, is tagged. What is spread over machines
        is limited in time here; work on this machine by `in_worker`, which can end a process.
        """

        def work(config: str, item: Item) -> Done[Found]:
            if stage.is_done_here(shielded(Site.open, config)):
                return shielded(perform, stage, config, item)
            return in_worker(perform, stage, config, item)

        return Task(
            work,
            name=stage.name,
            tags=["gpu"] if stage.name == "extract" and self._served else None,
            retries=_RETRIES,
            retry_delay_seconds=exponential_backoff(1),
            retry_jitter_factor=0.5,
            retry_condition_fn=lambda _task, _run, state: _may_pass(state.data),
            timeout_seconds=self._settings.shard_timeout_minutes * 60 if spread else None,
            cache_policy=NO_CACHE,
            persist_result=False,
        )


@contextmanager
def runners(config: Configuration) -> Iterator[Runners]:
    """Open the configured runners until the block ends.

    Raises
    ------
    ConfigurationError
        If Dask is asked for and not installed, or its workers cannot reach Prefect.
    """
    settings = config.execution
    if not orchestrated():
        yield Runners(config, None)
        return
    with ExitStack() as stack:
        stack.enter_context(workers(settings.workers, seconds=settings.shard_timeout_minutes * 60))
        here: Runner = ThreadPoolTaskRunner(max_workers=settings.workers)
        stack.enter_context(here)
        address = settings.dask_address
        spread = stack.enter_context(_dask(address)) if address else None
        yield Runners(config, here, spread)


def _dask(address: str) -> Runner:
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError:
        raise ConfigurationError(
            "execution.dask_address needs Dask, which is not installed: pip install radcal[dask]."
        ) from None
    logging.getLogger("distributed").setLevel(logging.ERROR)
    _check_reach(address)
    runner = DaskTaskRunner(address=address)
    runner.client.run(Site.forget)
    return runner


def _check_reach(scheduler: str) -> None:
    """Refuse to send work to other machines whose Prefect server only this machine can reach."""
    here = {"127.0.0.1", "localhost", "::1"}
    server = urlsplit(os.environ.get("PREFECT_API_URL", "")).hostname
    if urlsplit(scheduler).hostname not in here and server in {None, *here}:
        raise ConfigurationError(
            f"execution.dask_address: workers at {scheduler} cannot reach a Prefect server on this "
            "machine's loopback. Start one they can reach, and set PREFECT_API_URL."
        )


def _tried(stage: Stage[Item, Found], config: str, item: Item) -> Done[Found]:
    """Take an item through a stage in this process, as often as a task would try."""
    for attempt in range(_RETRIES):
        try:
            return shielded(perform, stage, config, item)
        except Exception as error:
            if not _may_pass(error):
                raise
            time.sleep(2.0**attempt)
    return shielded(perform, stage, config, item)


def _may_pass(error: object) -> bool:
    """Tell what may pass (a worker that died, a full disk) from what a user must correct."""
    foreseen = isinstance(error, RadcalError)
    return not foreseen or isinstance(error, UnforeseenError | ShardTimeoutError)


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
