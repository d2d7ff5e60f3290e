"""Structured logs: one JSON object a line, in the workspace and, where asked for, on the terminal.

    WORKSPACE/logs/radcal-2026-09.jsonl   one file a month; nothing reads it back, delete when old

A line holds ``at`` (UTC), ``level``, ``run`` (which attempt), ``message`` and the facts of the
event (stage, shard key, counts, seconds). Only this program's own logger writes here, and it is
given counts, keys and messages made for users: no text, no identifier.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

__all__ = ["JsonLines", "LogFormat", "logged", "on_terminal"]

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
        facts = getattr(record, "facts", {})
        return json.dumps({**facts, **line}, sort_keys=True, default=str)


@contextmanager
def logged(root: Path, attempt: str) -> Iterator[None]:
    """Write every event of a run to the month's file until the block ends."""
    folder = root / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"radcal-{datetime.now(tz=UTC):%Y-%m}.jsonl"
    path.touch(mode=0o600)
    handler = logging.FileHandler(path, encoding="utf-8")
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
