"""The shield: exceptions and log lines leave a run without report text or identifiers in them.

The message of an unexpected exception may hold report text (a ``KeyError`` quotes its key), and
Prefect stores messages. So work is called through `shielded`: errors written for users pass, others
are replaced by their type and the place in our code where they arose. ``RADCAL_DEBUG=1`` lets
everything through, for use on data that may be seen.

    WORKSPACE/logs/radcal-2026-09.jsonl   one file a month; nothing reads it back, delete when old

A line of the log is a JSON object: ``at`` (UTC), ``level``, ``run`` (which attempt), ``message``
and the facts of the event (stage, shard key, counts, seconds). Only this program's own logger
writes there, and it is given counts, keys and messages made for users.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, ParamSpec, TypeVar

from calibration.errors import CalibrationError
from extraction.errors import ExtractionError, ModelOutageError
from pipeline.errors import ConfigurationError, RadcalError
from pipeline.store.files import storage_error

P = ParamSpec("P")
R = TypeVar("R")

_HOUSE: Final = Path(__file__).resolve().parents[2]
_STOPS: Final = (signal.SIGTERM, signal.SIGHUP)
FORESEEN: Final = (RadcalError, CalibrationError, ExtractionError, BrokenProcessPool)


class Stopped(KeyboardInterrupt):
    """The system ended the run (a timer's limit, a machine going down), not a hand at the keys."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does: told, put down, its processes ended."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {each: signal.getsignal(each) for each in _STOPS if is_main}
    before = {each: handler for each, handler in before.items() if handler is not signal.SIG_IGN}

    def stop(number: int, _frame: object) -> None:
        raise Stopped(signal.Signals(number).name)

    for each in before:
        signal.signal(each, stop)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class UnforeseenError(RadcalError):
    """Something nobody foresaw, named by its type and place only."""

    @classmethod
    def of(cls, error: BaseException) -> UnforeseenError:
        """Describe an exception without its message."""
        place = place_of(error)
        return cls(
            f"unforeseen {type(error).__name__} {place}. What was finished is kept. "
            "RADCAL_DEBUG=1 shows the whole traceback."
        )


def shielded(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function; let foreseen errors pass and replace all others.

    Raises
    ------
    StorageError
        In place of what the system says of a full, read-only or failing disk.
    UnforeseenError
        In place of any other exception not written for users.
    """
    try:
        return function(*args, **kwargs)
    except FORESEEN:
        raise
    except Exception as error:
        if known := storage_error(error):
            raise known from None
        if os.environ.get("RADCAL_DEBUG"):
            raise
        raise UnforeseenError.of(error) from None


def in_words(error: BaseException) -> tuple[str, int]:
    """Give what may be told of any exception, and its exit code."""
    if isinstance(error, RadcalError):
        return str(error), error.exit_code
    if isinstance(error, ModelOutageError):
        return str(error), RadcalError.exit_code
    if isinstance(error, (CalibrationError, ExtractionError)):
        return str(error), ConfigurationError.exit_code
    if isinstance(error, BrokenProcessPool):
        told = "a worker process died: killed from outside, or out of memory"
        return f"{told}. What was finished is kept, run again to go on.", RadcalError.exit_code
    if isinstance(error, KeyboardInterrupt):
        by = "".join(f" by {each}" for each in error.args)
        return f"interrupted{by}; what was finished is kept, run again to go on.", 1
    return str(UnforeseenError.of(error)), UnforeseenError.exit_code


def place_of(error: BaseException) -> str:
    """Say where in our own code an exception arose."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if Path(f.filename).resolve().is_relative_to(_HOUSE)]
    inside = [f for f in ours if ".venv" not in f.filename]
    if not inside:
        return "outside radcal"
    last = inside[-1]
    return f"in {Path(last.filename).resolve().relative_to(_HOUSE)}, line {last.lineno}"


LogFormat = Literal["text", "json"]
_LOG = logging.getLogger("radcal")


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def __init__(self, attempt: str = "") -> None:
        super().__init__()
        self.attempt = attempt

    def format(self, record: logging.LogRecord) -> str:
        """Give the line."""
        at = datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "level": record.levelname.lower(), "run": self.attempt}
        line["message"] = " ".join(record.getMessage().split())
        return json.dumps({**getattr(record, "facts", {}), **line}, sort_keys=True, default=str)


class _MonthFile(logging.FileHandler):
    """Gives up with one line where it cannot write: logging would print the record's traceback."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Tell the other handlers, and be none of them any more."""
        error = sys.exc_info()[1]
        why = (error and storage_error(error)) or type(error).__name__
        _LOG.removeHandler(self)
        _LOG.warning("the log is not written from here on: %s", why)


@contextmanager
def logged(root: Path, attempt: str) -> Iterator[None]:
    """Write every event of a run to the month's file until the block ends."""
    folder = root / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"radcal-{datetime.now(tz=UTC):%Y-%m}.jsonl"
    path.touch(mode=0o600)
    handler = _MonthFile(path, encoding="utf-8")
    handler.setFormatter(JsonLines(attempt))
    handler.setLevel(logging.DEBUG)
    for other in _LOG.handlers:
        if isinstance(other.formatter, JsonLines):
            other.formatter.attempt = attempt
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        with suppress(OSError):  # told when it first failed
            handler.close()


def on_terminal(form: LogFormat, *, quiet: bool) -> None:
    """Show progress on standard error: for people, or as JSON lines for a container's collector."""
    handler = logging.NullHandler() if quiet else logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.INFO)
    if form == "json":
        handler.setFormatter(JsonLines())
    _LOG.handlers = [handler]
    _LOG.setLevel(logging.INFO)
    _LOG.propagate = False
