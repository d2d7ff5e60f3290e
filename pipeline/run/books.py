"""The books of one run: what each stage counted and cost, and how the run as a whole stands.

``runs/last.json`` is the books themselves (`LastRun`, with a `StageEntry` for each stage), written
whole when a stage begins and when it ends. The log, the metrics, the manifest and the run's report
are all made from them. They hold counts, keys and times, never text or an identifier. If the file
says ``running`` while nobody holds the workspace's lock, that run was killed. ``runs/ended.json``
is the same of the last run that ended well, for where the other is damaged.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pipeline.errors import RadcalError, StorageError
from pipeline.run.shield import in_words
from pipeline.run.workers import Done
from pipeline.stages import Found, Item, Stage
from pipeline.store.files import plain, typed_json
from pipeline.store.provenance import version
from pipeline.store.workspace import Workspace
from reports.content import Gate

Counts = Mapping[str, int | Mapping[str, int]]
"""A run's accounting, and how many pages were delivered; by name."""
_LOG = logging.getLogger("radcal")
_SILENCE_SECONDS: Final = 10.0
_RECORDS: Final = "last.json", "ended.json"
_WELL: Final = "delivered", "gathered"
_SPENT: Final = ("seconds", "work_seconds", "cpu_seconds")


@dataclass(frozen=True, slots=True)
class StageEntry:
    """What one stage of a run did and cost.

    `items` counts the shards or pages it was asked for, `made` those that were not there yet.
    `seconds` is wall-clock time; `work_seconds` and `cpu_seconds` are summed over processes, so
    they may exceed it; `peak_mib` is the largest resident memory of any one process.
    """

    stage: str
    seconds: float = 0.0
    work_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mib: float = 0.0
    items: int = 0
    made: int = 0
    ended: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)

    def rounded(self) -> StageEntry:
        """Give the entry as it is written down: milliseconds and tenths of a MiB."""
        spent = {name: round(getattr(self, name), 3) for name in _SPENT}
        return replace(self, **spent, peak_mib=round(self.peak_mib, 1))


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed: the error's type and a message without text or identifiers."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class InputSize:
    """How many sources a run read, and how many exams they held (a copy counts once).

    ``xrays`` counts the X-rays of each month; none where an earlier version wrote it down.
    """

    sources: int
    exams: int
    xrays: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LastRun:
    """The newest run, running or ended, and what later runs need to know of the ones before it.

    Fields named ``last_...`` are carried over from run to run, the others are the newest run's.
    ``last_run`` is the id of the last run that wrote a manifest; ``last_success_at`` is when a run
    last ended well, ``last_good`` how much input it had; ``last_period``, ``last_issue`` (a hash of
    what its pages depended on) and ``last_tallies`` (keys) are of the last run that delivered.
    Times are ISO 8601 in UTC; None stands for what does not apply or is not known yet.
    """

    attempt: str = ""
    state: str = ""
    radcal: str = ""
    config_hash: str = ""
    host: str = ""
    process: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    outcome: str | None = None
    exit_code: int | None = None
    error: Failure | None = None
    stages: tuple[StageEntry, ...] = ()
    counts: Counts | None = None
    gates: tuple[Gate, ...] | None = None
    damaged_shards: int | None = None
    last_success_at: str | None = None
    last_good: InputSize | None = None
    last_period: str | None = None
    last_run: str | None = None
    last_issue: str | None = None
    last_tallies: tuple[str, ...] | None = None


def last_run(root: Path) -> LastRun | None:
    """Read what is known of the last run; None where there is none or it cannot be read.

    Where its record is damaged, what the last run to end well left stands in, its state "unknown".
    """
    now, ended = (_record(root / "runs" / name) for name in _RECORDS)
    return now or (ended and replace(ended, state="unknown"))


def _record(path: Path) -> LastRun | None:
    try:
        return typed_json(LastRun, path.read_bytes())
    except (OSError, ValueError):
        return None


def _before(root: Path) -> LastRun:
    """Give what earlier runs left for later ones.

    Raises
    ------
    StorageError
        If it is damaged: that is not a first run, which has nothing to be compared with.
    """
    if (found := last_run(root)) or not any((root / "runs" / name).exists() for name in _RECORDS):
        return found or LastRun()
    raise StorageError(
        f"runs/{' and runs/'.join(_RECORDS)} are damaged: they hold how many exams the last good "
        "run had. Restore one from your backup; or delete both, and the next run compares its "
        "exports with nothing: look yourself whether they are all there."
    )


class OpenEntry:
    """The entry of a stage while the stage runs."""

    def __init__(self, name: str) -> None:
        self.entry = StageEntry(name)
        self.used: set[str] = set()
        self._began = self._spoke = time.perf_counter()

    def note(self, done: Done[Found]) -> Found:
        """Add a finished item to the entry; returns the item's counts."""
        entry, made = self.entry, done.made
        self.used |= done.used
        self.entry = replace(
            entry,
            items=entry.items + 1,
            made=entry.made + made.anew,
            work_seconds=entry.work_seconds + done.seconds,
            cpu_seconds=entry.cpu_seconds + done.cpu_seconds,
            peak_mib=max(entry.peak_mib, done.peak_mib),
        )
        if made.anew:
            shard = getattr(made.found, "key", None)
            told = {"stage": entry.stage, "shard": shard, "seconds": done.seconds}
            _LOG.debug("%s made", entry.stage, extra={"facts": told})
        return made.found

    def advance(self, total: int) -> None:
        """Log how far the stage is, at most every `_SILENCE_SECONDS`."""
        now, done = time.perf_counter(), self.entry.items
        if done < total and now - self._spoke > _SILENCE_SECONDS:
            self._spoke = now
            left = _long((now - self._began) / done * (total - done)) if done else "not known"
            stage = self.entry.stage
            _LOG.info("%-12s %7d of %s done, time left: %s", stage, done, f"{total:,}", left)

    def count(self, stage: Stage[Item, Found], found: Sequence[Found]) -> None:
        """Put the sums over all items into the entry."""
        self.entry = replace(self.entry, counts=stage.counts(found))

    def line(self) -> str:
        """Give the stage as one line of progress."""
        counted = ", ".join(f"{value:,} {name}" for name, value in self.entry.counts.items())
        return f"{self.entry.stage:<12} {self.entry.seconds:7.1f} s   {counted}".rstrip()


def _long(seconds: float) -> str:
    """Say how long something takes, as people say it.

    >>> _long(8.2), _long(75), _long(9000)
    ('under a minute', 'about 1 min', 'about 2 h 30 min')
    """
    minutes = round(seconds / 60)
    if seconds < 60:
        return "under a minute"
    return f"about {minutes} min" if minutes < 60 else f"about {minutes // 60} h {minutes % 60} min"


class Books:
    """The books of the run that holds the workspace; `last` is their present state."""

    def __init__(self, store: Workspace, config_hash: str) -> None:
        now, before = _now(), _before(store.root)
        self.store = store
        self.by_stage: dict[str, OpenEntry] = {}
        self.last = LastRun(
            attempt=f"{now:%Y%m%dT%H%M%S}-{os.getpid()}",
            state="running",
            radcal=version(),
            config_hash=config_hash,
            host=socket.gethostname(),
            process=os.getpid(),
            started_at=now.isoformat(timespec="seconds"),
            **{name: getattr(before, name) for name in LastRun.__slots__ if name[:5] == "last_"},
        )

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Write the books when the block begins, and the reason if it fails."""
        _LOG.debug("run begins", extra={"facts": {"config_hash": self.last.config_hash}})
        self.write()
        try:
            yield
        except BaseException as error:
            self._failed(error)
            raise

    @contextmanager
    def stage(self, name: str) -> Iterator[OpenEntry]:
        """Open a stage's entry and time it; one that fails is entered with the time it took.

        A stage that runs again, because what it had found turned out damaged, is one stage: times
        add up, counts are those of its last pass.
        """
        opened = self.by_stage.setdefault(name, OpenEntry(name))
        opened.entry = replace(opened.entry, ended=False, items=0)
        self.write()
        started = time.perf_counter()
        try:
            yield opened
            opened.entry = replace(opened.entry, ended=True)
        finally:
            seconds = opened.entry.seconds + time.perf_counter() - started
            opened.entry = replace(opened.entry, seconds=seconds)
            _LOG.info(opened.line(), extra={"facts": plain(opened.entry.rounded())})
            self.write()

    def entries(self) -> tuple[StageEntry, ...]:
        """Give all stages so far, in order."""
        return tuple(opened.entry.rounded() for opened in self.by_stage.values())

    def used(self) -> set[str]:
        """Name the shards that all stages used."""
        return {name for opened in self.by_stage.values() for name in opened.used}

    def close(self, told: LastRun) -> None:
        """Write down how the run ended; `told` is `last` with outcome, id and counts filled in."""
        ended = _now().isoformat(timespec="seconds")
        self.last = replace(told, state="ended", ended_at=ended)
        if told.outcome != "refused":
            self.last = replace(self.last, last_success_at=ended)
        self.write()
        facts = {"outcome": told.outcome, "run_id": told.last_run}
        _LOG.debug("run ends", extra={"facts": facts})

    def write(self) -> None:
        """Write ``runs/last.json`` as things stand, and beside it how a run ended well."""
        self.last = replace(self.last, stages=self.entries())
        known = {name: value for name, value in plain(self.last).items() if value is not None}
        for name in _RECORDS if self.last.outcome in _WELL else _RECORDS[:1]:
            self.store.write_json(self.store.root / "runs" / name, known)

    def _failed(self, error: BaseException) -> None:
        message, code = in_words(error)
        self.last = replace(
            self.last,
            state="ended",
            outcome=self.last.outcome or "failed",
            ended_at=_now().isoformat(timespec="seconds"),
            exit_code=code,
            error=Failure(type(error).__name__, message),
        )
        told = {"error": type(error).__name__, "exit_code": code}
        _LOG.debug("run failed: %s", message, extra={"facts": told})
        # A disk that is full or read-only may be why the run failed.
        with suppress(OSError, RadcalError):
            self.write()


def _now() -> datetime:
    return datetime.now(tz=UTC)
