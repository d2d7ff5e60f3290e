"""What a run tells those who run it: artifacts and events in Prefect, and a notice when it fails.

Counts, codes and places only. Prefect keeps artifacts and events in its database; a notice goes to
the program and the address of ``[notify]``, works without any server, and never hides the error it
tells of: a notice that cannot be delivered is a line in the log.
"""

from __future__ import annotations

import json
import logging
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.events import emit_event

from pipeline.config import Notify
from pipeline.errors import GateFailedError
from pipeline.run.books import StageEntry
from pipeline.run.shield import in_words
from pipeline.stages.deliver import Delivered
from reports.content import Gate

__all__ = ["notified", "publish_gates", "publish_pages", "publish_stages"]

_LOG = logging.getLogger("radcal")
_PATIENCE_SECONDS: Final = 30.0


def publish_stages(run: str, stages: Sequence[StageEntry]) -> None:
    """Keep a table of every stage's counts and time."""
    rows = [{"stage": s.stage, "seconds": round(s.seconds, 1), **s.counts} for s in stages]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    create_table_artifact(
        [{name: row.get(name, "") for name in columns} for row in rows],
        key="radcal-stages",
        description=f"Run {run}: what each stage counted",
    )


def publish_gates(run: str, gates: Sequence[Gate]) -> None:
    """Keep a table of every gate, and emit whether all of them passed."""
    failed = sum(g.passed is not True for g in gates)
    create_table_artifact(
        [
            {
                "gate": g.name,
                "result": {True: "passed", False: "FAILED", None: "NOT CHECKED"}[g.passed],
                "required": g.required,
                "found": g.found,
            }
            for g in gates
        ],
        key="radcal-gates",
        description=f"Run {run}: {failed} of {len(gates)} gates failed",
    )
    _emit("radcal.gates.failed" if failed else "radcal.gates.passed", run, failed=failed)


def publish_pages(run: str, folder: Path, done: Delivered) -> None:
    """Link to the delivered pages, and emit how many are new."""
    create_link_artifact(
        folder.as_uri(),
        key="radcal-pages",
        link_text=f"{done.delivered} delivered, {done.unchanged} unchanged",
        description=f"Run {run}: the folder of every recipient's pages",
    )
    _emit("radcal.pages.delivered", run, delivered=done.delivered, unchanged=done.unchanged)


@contextmanager
def notified(settings: Notify) -> Iterator[None]:
    """Tell whom ``[notify]`` names if the block ends in an error; the error goes on."""
    try:
        yield
    except Exception as error:
        happened = "gates failed" if isinstance(error, GateFailedError) else "run failed"
        _tell(settings, {"event": f"radcal: {happened}", "message": in_words(error)[0]})
        raise


def _tell(settings: Notify, notice: dict[str, str]) -> None:
    text = json.dumps(notice)
    if settings.command:
        try:
            subprocess.run(  # noqa: S603 - the configuration's own command, no shell
                list(settings.command),
                input=text.encode(),
                check=True,
                capture_output=True,
                timeout=_PATIENCE_SECONDS,
            )
        except (OSError, subprocess.SubprocessError) as error:
            _LOG.warning("notify.command could not be run (%s)", type(error).__name__)
    if settings.url:
        try:
            answer = httpx.post(settings.url, json=notice, timeout=_PATIENCE_SECONDS)
            answer.raise_for_status()
        except httpx.HTTPError as error:
            _LOG.warning("notify.url could not be reached (%s)", type(error).__name__)


def _emit(event: str, run: str, **counts: int) -> None:
    emit_event(
        event,
        resource={"prefect.resource.id": f"radcal.run.{run}", "prefect.resource.name": "radcal"},
        payload=dict(counts),
    )
