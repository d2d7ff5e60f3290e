"""The last run's figures for Prometheus: ``WORKSPACE/metrics/radcal.prom``.

The text format that node_exporter's textfile collector reads; point
``--collector.textfile.directory`` at the folder. Counts, seconds and bytes; no label names a
patient or a reader. Written whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from pipeline.store.workspace import Workspace

__all__ = ["exposition", "write_metrics"]

Facts = Mapping[str, Any]
Sample = tuple[Mapping[str, str], float]

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


def write_metrics(store: Workspace, record: Facts) -> None:
    """Write the metrics of a run's record."""
    store.write_bytes(store.root / "metrics" / "radcal.prom", exposition(record).encode())


def exposition(record: Facts) -> str:
    """Give a record's figures in Prometheus's text format."""
    return "".join(
        f"# HELP radcal_{name} {text}\n# TYPE radcal_{name} gauge\n"
        + "".join(f"radcal_{name}{_labels(labels)} {float(value)!r}\n" for labels, value in samples)
        for name, text, samples in _families(record)
        if samples
    )


def _families(record: Facts) -> Iterator[tuple[str, str, list[Sample]]]:
    yield "build_info", "Version of radcal.", [({"version": record["radcal"]}, 1.0)]
    for name, key, text in (
        ("run_start_timestamp_seconds", "started_at", "When the last run began."),
        ("run_end_timestamp_seconds", "ended_at", "When the last run ended."),
        ("last_success_timestamp_seconds", "last_success_at", "When a run last ended well."),
    ):
        yield name, text, [({}, _seconds(record[key]))] if key in record else []
    succeeded = record.get("exit_code") == 0
    yield "run_success", "Whether the last run ended well.", [({}, float(succeeded))]
    yield (
        "run_exit_code",
        "Exit code of the last run; 0 also where input was quarantined.",
        [({}, float(record.get("exit_code", 1)))],
    )
    stages = record.get("stages", [])
    for key, name, text, unit in _STAGE:
        yield name, text, [({"stage": s["stage"]}, s[key] * unit) for s in stages]
    counts = record.get("counts", {})
    for name, text, states in _COUNTS:
        yield name, text, [({"state": s}, counts[key]) for s, key in states if key in counts]
    gates = record.get("gates", [])
    yield (
        "gate_passed",
        "1 passed, 0 failed or could not be checked.",
        [({"gate": g["name"]}, float(g["passed"] is True)) for g in gates],
    )
    yield (
        "damaged_shards",
        "Shards found damaged in the last run and made anew.",
        [({}, float(record.get("damaged_shards", 0)))],
    )


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    each = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + ",".join(each) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
