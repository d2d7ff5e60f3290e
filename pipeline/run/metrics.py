"""The last run's figures for Prometheus: ``WORKSPACE/metrics/radcal.prom``.

The text format that node_exporter's textfile collector reads; point
``--collector.textfile.directory`` at the folder. Counts, seconds and bytes; no label names a
patient or a reader. Written whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Final

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from pipeline.errors import RadcalError
from pipeline.run.books import Books, LastRun

__all__ = ["exported", "exposition"]

_STAGE: Final = (
    ("seconds", "stage_seconds", "Wall time of a stage of the last run.", 1),
    ("work_seconds", "stage_work_seconds", "Time in a stage's tasks, over all processes.", 1),
    ("cpu_seconds", "stage_cpu_seconds", "Processor time in a stage's tasks.", 1),
    ("peak_mib", "stage_peak_memory_bytes", "Largest process of a stage.", 2**20),
    ("items", "stage_shards", "Shards or pages a stage was asked for.", 1),
    ("made", "stage_shards_made", "Of these, how many were not there yet.", 1),
)
_COUNTS: Final = (
    ("rows", "Rows of the exports.", (
        ("read", "rows_in"), ("kept", "rows_kept"), ("quarantined", "rows_quarantined"))),
    ("exams", "Exams by what de-identification did.", (
        ("cleaned", "exams_cleaned"), ("withheld", "exams_withheld"))),
    ("reports", "Paired reports by whether they could be read.", (
        ("read", "reports_read"), ("failed", "reports_failed"))),
    ("statements", "Statements by whether their cue maps to a phrase.", (
        ("all", "statements"), ("unmapped", "statements_unmapped"))),
    ("evidence", "What a month's figures rest on.", (
        ("pairs", "pairs"), ("observations", "observations"))),
    ("pages", "Pages of the last issue.", (
        ("delivered", "pages_delivered"), ("unchanged", "pages_unchanged"))),
)  # fmt: skip
_TIMES: Final = (
    ("run_start_timestamp_seconds", "started_at", "When the last run began."),
    ("run_end_timestamp_seconds", "ended_at", "When the last run ended."),
    ("last_success_timestamp_seconds", "last_success_at", "When a run last ended well."),
)


@contextmanager
def exported(books: Books) -> Iterator[None]:
    """Write the figures of a run when it has ended, however it ended."""

    def write() -> None:
        path = books.store.root / "metrics" / "radcal.prom"
        books.store.write_bytes(path, exposition(books.last))

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
    for name, field, text in _TIMES:
        if at := getattr(last, field):
            single(name, text, datetime.fromisoformat(at).timestamp())
    code = 1 if last.exit_code is None else last.exit_code
    single("run_success", "Whether the last run ended well.", float(last.exit_code == 0))
    single("run_exit_code", "Exit code of the last run; 0 also where input was quarantined.", code)
    for field, name, text, unit in _STAGE:
        family(name, text, "stage", ((s.stage, getattr(s, field) * unit) for s in last.stages))
    for name, text, states in _COUNTS:
        family(name, text, "state", _stated(last, states))
    passed = ((gate.name, float(gate.passed is True)) for gate in last.gates or ())
    family("gate_passed", "1 passed, 0 failed or could not be checked.", "gate", passed)
    damaged = last.damaged_shards or 0
    single("damaged_shards", "Shards found damaged in the last run and made anew.", damaged)
    return generate_latest(registry)


def _stated(last: LastRun, states: Iterable[tuple[str, str]]) -> Iterator[tuple[str, float]]:
    """Give the counts that the run knows; none is taken for 0."""
    for state, name in states:
        count = (last.counts or {}).get(name)
        if isinstance(count, int):
            yield state, float(count)
