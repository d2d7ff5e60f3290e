"""What a run reports outside: events to Prefect, figures to Prometheus, failures to `[notify]`.

Only counts, codes and places in our code are reported; no label names a patient or a reader.
Prefect keeps artifacts and events in its database. ``WORKSPACE/metrics/radcal.prom`` is the text
format that node_exporter's textfile collector reads (``--collector.textfile.directory``), written
whole or not at all. A notice goes to the program and the address of ``[notify]`` and needs no
server; one that cannot be delivered is a line in the log and never hides the error that it reports.
"""

from __future__ import annotations

import json
import logging
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import httpx
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.events import emit_event
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from pipeline.config.sections import Notify
from pipeline.errors import EXIT_QUARANTINED, GateFailedError, RadcalError
from pipeline.run.books import Books, LastRun, StageEntry
from pipeline.run.runners import orchestrated
from pipeline.run.shield import Stopped, in_words
from pipeline.stages.deliver import Delivered
from pipeline.store.files import write_whole
from reports.content import Gate

_LOG = logging.getLogger("radcal")
_PATIENCE_SECONDS: Final = 30.0
_WELL: Final = (0, EXIT_QUARANTINED)


def publish_stages(run: str, stages: Sequence[StageEntry]) -> None:
    """Keep a table of every stage's counts and time."""
    if not orchestrated():
        return
    rows = [{"stage": s.stage, "seconds": round(s.seconds, 1), **s.counts} for s in stages]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    create_table_artifact(
        [{name: row.get(name, "") for name in columns} for row in rows],
        key="radcal-stages",
        description=f"Run {run}: what each stage counted",
    )


def publish_gates(run: str, gates: Sequence[Gate]) -> None:
    """Keep a table of every gate, and emit whether all of them passed."""
    if not orchestrated():
        return
    failed = sum(g.passed is not True for g in gates)
    said = {True: "passed", False: "FAILED", None: "NOT CHECKED"}
    create_table_artifact(
        [
            {"gate": g.name, "result": said[g.passed], "required": g.required, "found": g.found}
            for g in gates
        ],
        key="radcal-gates",
        description=f"Run {run}: {failed} of {len(gates)} gates failed",
    )
    _emit("radcal.gates.failed" if failed else "radcal.gates.passed", run, failed=failed)


def publish_pages(run: str, folder: Path, done: Delivered) -> None:
    """Link to the delivered pages, and emit how many are new."""
    if not orchestrated():
        return
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
    except (Exception, Stopped) as error:
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
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            _LOG.warning("notify.url could not be reached (%s)", type(error).__name__)


def _emit(event: str, run: str, **counts: int) -> None:
    emit_event(
        event,
        resource={"prefect.resource.id": f"radcal.run.{run}", "prefect.resource.name": "radcal"},
        payload=dict(counts),
    )


_FIGURES: Final = tomllib.loads(
    Path(__file__).with_name("metrics.toml").read_text(encoding="utf-8")
)


@contextmanager
def exported(books: Books) -> Iterator[None]:
    """Write the figures of a run when it has ended, however it ended."""

    def write() -> None:
        write_whole(books.store.root / "metrics" / "radcal.prom", exposition(books.last))

    try:
        yield
    except BaseException:
        # A disk that is full or read-only may be why the run failed.
        with suppress(OSError, RadcalError):
            write()
        raise
    write()


def exposition(last: LastRun) -> bytes:
    """Give what is known of a run in Prometheus's text format."""
    registry = CollectorRegistry()

    def family(name: str, text: str, label: str, samples: Iterable[tuple[str, float]]) -> None:
        each = list(samples)
        if each:
            gauge = Gauge(f"radcal_{name}", text, [label], registry=registry)
            for value, number in each:
                gauge.labels(value).set(number)

    def single(name: str, text: str, number: float) -> None:
        Gauge(f"radcal_{name}", text, registry=registry).set(number)

    family("build_info", "Version of radcal.", "version", [(last.radcal, 1.0)])
    for each in _FIGURES["time"]:
        if at := getattr(last, each["field"]):
            single(each["name"], each["help"], datetime.fromisoformat(at).timestamp())
    code = 1 if last.exit_code is None else last.exit_code
    single("run_success", "Whether the last run ended well.", float(last.exit_code in _WELL))
    single("run_exit_code", "Exit code of the last run; 3: some input set aside.", code)
    for each in _FIGURES["stage"]:
        found = [(s.stage, getattr(s, each["field"]) * each["unit"]) for s in last.stages]
        family(each["name"], each["help"], "stage", found)
    for each in _FIGURES["count"]:
        family(each["name"], each["help"], "state", _stated(last, each["states"]))
    passed = ((gate.name, float(gate.passed is True)) for gate in last.gates or ())
    family("gate_passed", "1 passed, 0 failed or could not be checked.", "gate", passed)
    damaged = last.damaged_shards or 0
    single("damaged_shards", "Shards found damaged in the last run and made anew.", damaged)
    return generate_latest(registry)


def _stated(last: LastRun, states: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """Give the counts that the run knows; none is taken for 0."""
    for state, name in states.items():
        count = (last.counts or {}).get(name)
        if isinstance(count, int):
            yield state, float(count)
