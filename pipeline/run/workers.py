"""Worker processes: they do a stage's items and measure them, while threads of Prefect wait.

One pool per process, started on first use with ``spawn`` (a forked child would inherit threads and
locks). Workers are the parallelism: linear algebra inside one uses a single thread, because
threads of several workers fighting for the same cores made small products five times slower. A
worker that dies breaks the pool; the next call starts a new one, so that a task's retry finds a
whole pool. A worker whose parent died (killed, out of memory) ends at once: it would wait for ever.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import TimeoutError as LateError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from pipeline.errors import ShardTimeoutError
from pipeline.run import begin_worker
from pipeline.run.shield import P, R, shielded
from pipeline.site.site import Site
from pipeline.stages import Found, Item, Made, Stage

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Done(Generic[Found]):
    """The result of one item, its cost, and the shards that were found, read or made for it.

    `peak_mib` is the largest resident memory that the process has had so far.
    """

    made: Made[Found]
    seconds: float
    cpu_seconds: float
    peak_mib: float
    used: frozenset[str]


def perform(stage: Stage[Item, Found], config: str, item: Item) -> Done[Found]:
    """Take one item through a stage in this process."""
    began, cpu = time.perf_counter(), time.process_time()
    site = Site.open(config)
    made = stage.do(site, item)
    return Done(
        made,
        seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - cpu,
        peak_mib=_peak_mib(),
        used=frozenset(site.workspace.take_used()),
    )


def _peak_mib() -> float:
    """Give the largest resident memory of this process, MiB.

    From /proc where there is one: what getrusage tells a spawned process includes its parent's.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class _Pool:
    """The process's pool, if one is open, and how many workers it may have."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.executor: ProcessPoolExecutor | None = None
        self.size = 1
        self.seconds: float | None = None

    def running(self) -> ProcessPoolExecutor:
        with self.lock:
            if self.executor is None:
                for variable in _THREADS:
                    os.environ.setdefault(variable, "1")
                context = multiprocessing.get_context("spawn")
                self.executor = ProcessPoolExecutor(
                    self.size, mp_context=context, initializer=begin_worker
                )
            return self.executor

    def close(self) -> None:
        with self.lock:
            executor, self.executor = self.executor, None
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)

    def give_up(self, executor: ProcessPoolExecutor, *, kill: bool = False) -> None:
        """Leave a broken or stuck pool; its other calls break too, and are tried again."""
        with self.lock:
            if self.executor is executor:
                self.executor = None
        for process in list((executor._processes or {}).values()) if kill else ():
            process.kill()
        executor.shutdown(wait=False, cancel_futures=True)


_POOL = _Pool()


@contextmanager
def workers(size: int, *, seconds: float | None = None) -> Iterator[None]:
    """Allow `in_worker` up to `size` processes, and each call that long, until the block ends."""
    _POOL.size, _POOL.seconds = size, seconds
    try:
        yield
    finally:
        _POOL.close()


def in_worker(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a module-level function in a worker process, behind the shield, and wait for its answer.

    With one worker allowed the call is made here: a second process would only cost its start.

    Raises
    ------
    BrokenProcessPool
        If the worker died; the next call gets a new pool.
    ShardTimeoutError
        If the call took longer than allowed; its worker is killed.
    """
    if _POOL.size == 1:
        return shielded(function, *args, **kwargs)
    pool = _POOL.running()
    try:
        return pool.submit(shielded, function, *args, **kwargs).result(timeout=_POOL.seconds)
    except BrokenProcessPool:
        _POOL.give_up(pool)
        raise
    except LateError:
        _POOL.give_up(pool, kill=True)
        raise ShardTimeoutError(
            f"a shard took longer than {_POOL.seconds:g} s and was given up; it is tried again. "
            "Raise execution.shard_timeout_minutes if your shards need longer."
        ) from None
