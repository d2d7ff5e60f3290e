"""One run of the whole job, from its books and workers to what it tells of itself."""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import threading
from typing import Final

__all__ = ["begin_worker", "seldom_searched"]

_OBJECTS: Final = 50_000


def seldom_searched() -> None:
    """Let Python collect garbage less often in this process, and not at all when it ends.

    Most objects are imported code, which stays: collecting at the default of every 700 objects took
    a tenth of a run, and one more second at the end of every process.
    """
    gc.set_threshold(_OBJECTS)
    atexit.register(gc.freeze)


def begin_worker() -> None:
    """Set a worker process up; it ends when its parent does, whatever it is doing."""
    seldom_searched()
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, name="end-with-parent", daemon=True).start()
