"""What is known of the last run, while it runs and after: ``runs/last.json``, metrics and log.

Written whole at every stage's beginning and end. A record that says *running* while nobody holds
the workspace's lock is that of a run that was killed.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pipeline.errors import RadcalError
from pipeline.run.journal import Journal
from pipeline.run.logs import logged
from pipeline.run.metrics import write_metrics
from pipeline.run.shield import in_words
from pipeline.store.provenance import version
from pipeline.store.workspace import Workspace

__all__ = ["Record", "last_record"]

Facts = dict[str, Any]
_LOG = logging.getLogger("radcal")
_KEPT: Final = ("last_success_at", "last_period", "last_run", "last_issue", "last_tallies")


class Record:
    """The record of one run."""

    def __init__(self, store: Workspace, journal: Journal, *, config_hash: str) -> None:
        now = datetime.now(tz=UTC)
        before = last_record(store.root) or {}
        self.store, self.journal = store, journal
        self.facts: Facts = {
            **{name: before[name] for name in _KEPT if name in before},
            "attempt": f"{now:%Y%m%dT%H%M%S}-{os.getpid()}",
            "state": "running",
            "radcal": version(),
            "config_hash": config_hash,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "started_at": now.isoformat(timespec="seconds"),
        }

    @contextmanager
    def kept(self) -> Iterator[Record]:
        """Keep the record, the log and the metrics of what happens inside the block."""
        with logged(self.store.root, self.facts["attempt"]):
            _LOG.debug("run begins", extra={"facts": {"config_hash": self.facts["config_hash"]}})
            self.journal.changed = self.write
            self.write()
            try:
                yield self
            except BaseException as error:
                self._failed(error)
                raise
            finally:
                self.journal.changed = None

    def ended(self, outcome: str, run: str, **facts: object) -> None:
        """Note how the run ended, before its block does."""
        self.facts |= {"state": "ended", "outcome": outcome, "last_run": run, **facts}
        self.facts["ended_at"] = datetime.now(tz=UTC).isoformat(timespec="seconds")
        if outcome != "refused":
            self.facts["last_success_at"] = self.facts["ended_at"]
            self.facts["exit_code"] = 0
        self.write()
        write_metrics(self.store, self.facts)
        _LOG.debug("run ends", extra={"facts": {"outcome": outcome, "run_id": run}})

    def write(self) -> None:
        """Write the record as it stands."""
        self.facts["stages"] = self.journal.to_list()
        self.store.write_json(self.store.root / "runs" / "last.json", self.facts)

    def _failed(self, error: BaseException) -> None:
        message, code = in_words(error)
        self.facts |= {
            "state": "ended",
            "outcome": self.facts.get("outcome", "failed"),
            "ended_at": datetime.now(tz=UTC).isoformat(timespec="seconds"),
            "exit_code": code,
            "error": {"type": type(error).__name__, "message": message},
        }
        told = {"error": type(error).__name__, "exit_code": code}
        _LOG.debug("run failed: %s", message, extra={"facts": told})
        # A disk that is full or read-only may be why the run failed.
        with suppress(OSError, RadcalError):
            self.write()
            write_metrics(self.store, self.facts)


def last_record(root: Path) -> Facts | None:
    """Read the record of the last run; None where there is none or it cannot be read."""
    try:
        found = json.loads((root / "runs" / "last.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
