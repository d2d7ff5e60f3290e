"""Worker processes for the heavy stages: Prefect's threads wait, these compute.

One pool per process, started on first use with ``spawn`` (a forked child would inherit threads and
locks). Workers are the parallelism: linear algebra inside one uses a single thread, because
threads of several workers fighting for the same cores made small products five times slower. A
worker that dies breaks the pool; the next call starts a new one, so that a task's retry finds a
whole pool. A worker whose parent died (killed, out of memory) ends at once: it would wait for ever.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import TimeoutError as LateError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, ParamSpec

from pipeline.errors import ShardTimeoutError
from pipeline.run.measure import measured

__all__ = ["in_worker", "workers"]

P = ParamSpec("P")
Facts = dict[str, Any]

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


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
                    self.size, mp_context=context, initializer=_end_with_parent
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


def _end_with_parent() -> None:
    """Let this worker end when its parent does, whatever it is doing."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, name="end-with-parent", daemon=True).start()


@contextmanager
def workers(size: int, *, seconds: float | None = None) -> Iterator[None]:
    """Allow `in_worker` up to `size` processes, and each call that long, until the block ends."""
    _POOL.size, _POOL.seconds = size, seconds
    try:
        yield
    finally:
        _POOL.close()


def in_worker(function: Callable[P, Facts], /, *args: P.args, **kwargs: P.kwargs) -> Facts:
    """Call a module-level function in a worker process; wait for its facts, their cost added.

    With one worker allowed the call is made here: a second process would only cost its start.

    Raises
    ------
    BrokenProcessPool
        If the worker died; the next call gets a new pool.
    ShardTimeoutError
        If the call took longer than allowed; its worker is killed.
    """
    if _POOL.size == 1:
        return measured(function, *args, **kwargs)
    pool = _POOL.running()
    try:
        return pool.submit(measured, function, *args, **kwargs).result(timeout=_POOL.seconds)
    except BrokenProcessPool:
        _POOL.give_up(pool)
        raise
    except LateError:
        _POOL.give_up(pool, kill=True)
        msg = (
            f"a shard took longer than {_POOL.seconds:g} s and was given up; it is tried again. "
            "Raise execution.shard_timeout_minutes if your shards need longer."
        )
        raise ShardTimeoutError(msg) from None
