"""Outcomes of a language model by the hash of all that decided them, so that none is asked twice.

A shard's key changes when one of its exams does; its other reports are then found here. One
SQLite file; a row is a hash and what the model said, as offsets and words of our vocabularies: no
text. Failures are not kept. It is a cache: one that is damaged is begun anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from extraction.finding import Extracted, Failed, Finding, NothingStated, Outcome

__all__ = ["OutcomeMemory"]

_SECONDS: Final = 60.0
_TABLE: Final = "CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, outcome TEXT NOT NULL)"
_KNOWN: Final = "SELECT key, outcome FROM outcomes WHERE key IN (SELECT value FROM json_each(?))"


class OutcomeMemory:
    """Remembers outcomes in a file; see `extraction.engines.ledger.Memory`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, keys: Sequence[str]) -> Mapping[str, Outcome]:
        """Give what is known of some keys."""
        if not self._path.is_file():
            return {}
        try:
            with self._opened() as connection:
                rows = connection.execute(_KNOWN, [json.dumps(list(keys))]).fetchall()
            return {key: _read(outcome) for key, outcome in rows}
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            self._path.unlink(missing_ok=True)
            return {}

    def keep(self, outcomes: Mapping[str, Outcome]) -> None:
        """Remember outcomes; all of them, or none if the process is killed."""
        rows = [(key, _written(o)) for key, o in outcomes.items() if not isinstance(o, Failed)]
        if rows:
            with self._opened() as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO outcomes VALUES (?, ?)", rows)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=_SECONDS)) as connection:
            connection.execute(_TABLE)
            yield connection


def _written(outcome: Extracted | NothingStated) -> str:
    findings = outcome.findings if isinstance(outcome, Extracted) else ()
    rows = [[f.section, f.start, f.end, f.pathology, f.cue, f.phrase] for f in findings]
    return json.dumps([rows, sorted(outcome.not_evaluable)], separators=(",", ":"))


def _read(content: str) -> Outcome:
    rows, not_evaluable = json.loads(content)
    if rows:
        return Extracted(tuple(Finding(*row) for row in rows), frozenset(not_evaluable))
    return NothingStated(frozenset(not_evaluable))
