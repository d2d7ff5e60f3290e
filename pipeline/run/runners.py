"""Where shards are worked on: threads that drive this machine's processes, or a Dask cluster.

Both are Prefect's own task runners. A Dask worker that dies loses nothing: the scheduler gives its
shard to another one, and a shard is written whole or not at all. Stages that are not spread
(`[execution] dask_stages`) run here, so that the vault and its key need not leave this machine.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from pipeline.config import Execution
from pipeline.errors import ConfigurationError
from pipeline.run.workers import workers
from pipeline.site.site import Site

__all__ = ["Runners", "runners"]

Runner = TaskRunner[Any]


class Runners:
    """The task runner of each stage, open for one run."""

    def __init__(self, here: Runner, spread: Runner | None, stages: tuple[str, ...]) -> None:
        self._here, self._spread, self._stages = here, spread, stages

    def of(self, stage: str) -> Runner:
        """Give the runner on which a stage's shards run."""
        return self._spread if self._spread is not None and stage in self._stages else self._here

    def spreads(self, stage: str) -> bool:
        """Whether a stage's shards go to other machines."""
        return self.of(stage) is not self._here


@contextmanager
def runners(settings: Execution) -> Iterator[Runners]:
    """Open the configured runners until the block ends.

    Raises
    ------
    ConfigurationError
        If Dask is asked for and not installed, or its scheduler does not answer.
    """
    with ExitStack() as stack:
        limit = settings.shard_timeout_minutes * 60
        stack.enter_context(workers(settings.workers, seconds=limit))
        here: Runner = ThreadPoolTaskRunner(max_workers=settings.workers)
        stack.enter_context(here)
        spread = stack.enter_context(_dask(settings)) if settings.runner == "dask" else None
        yield Runners(here, spread, settings.dask_stages)


def _dask(settings: Execution) -> Runner:
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError:
        msg = 'execution.runner is "dask", which is not installed: pip install radcal[dask].'
        raise ConfigurationError(msg) from None
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if settings.dask_address:
        _check_reach(settings.dask_address)
        runner = DaskTaskRunner(address=settings.dask_address)
    else:
        cluster = {
            "n_workers": settings.workers,
            "threads_per_worker": 1,
            "dashboard_address": None,
            "silence_logs": logging.ERROR,
        }
        runner = DaskTaskRunner(cluster_kwargs=cluster)
    try:
        runner.client.run(Site.forget)
    except OSError:
        msg = (
            f"execution.dask_address: no Dask scheduler answers at {settings.dask_address}. "
            'Start it (dask scheduler), or set runner to "local".'
        )
        raise ConfigurationError(msg) from None
    return runner


def _check_reach(scheduler: str) -> None:
    """Refuse to send work to other machines whose Prefect server only this machine can reach."""
    here = {"127.0.0.1", "localhost", "::1"}
    server = urlsplit(os.environ.get("PREFECT_API_URL", "")).hostname
    if urlsplit(scheduler).hostname not in here and server in {None, *here}:
        msg = (
            f"execution.dask_address: workers at {scheduler} cannot reach a Prefect server on this "
            "machine's loopback. Start one they can reach, and set PREFECT_API_URL."
        )
        raise ConfigurationError(msg)
