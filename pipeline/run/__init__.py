"""One run of the whole job, from its books and workers to what it tells of itself."""

from __future__ import annotations

import atexit
import gc
from typing import Final

__all__ = ["seldom_searched"]

_OBJECTS: Final = 50_000


def seldom_searched() -> None:
    """Let this process be searched for garbage less often, and not at all when it ends.

    Most of what it holds it imported, and keeps: searching that at every 700 objects took a tenth
    of a run, and once more a second of every process's end.
    """
    gc.set_threshold(_OBJECTS)
    atexit.register(gc.freeze)
