"""What can go wrong for a user, each with the exit code of the command line.

Messages say what, where, how many and what to do next; they never quote report text or identifiers.
"""

from __future__ import annotations

from typing import Final, Literal

EXIT_QUARANTINED = 3
"""The work is done, but some input was set aside; the counts are printed."""


class RadcalError(Exception):
    """Anything this program explains to its user instead of showing a traceback."""

    exit_code = 1


class ConfigurationError(RadcalError):
    """The command line, the configuration or the environment cannot be used as given."""

    exit_code = 2


class InputError(RadcalError):
    """A file as a whole cannot be used: missing, empty, undecodable, without a needed column."""

    exit_code = 2


class GateFailedError(RadcalError):
    """A gate failed at the end of a run, so nothing was delivered."""

    exit_code = 4


class RunLockedError(RadcalError):
    """Another run holds the workspace's lock."""

    exit_code = 5


class ShardTimeoutError(RadcalError):
    """A shard took longer than `[execution] shard_timeout_minutes`; tried again, then an error."""


class StorageError(RadcalError):
    """The disk is full, read-only or failing; what was finished is kept."""


_CURES: Final = {
    "returns": "Restore it from your backup, or delete it and record the sheet again.",
    "merges": "Restore it from your backup, or delete it: a run makes it of its export.",
    "profiles": "Restore it from your backup: it holds what an issue told readers. Or delete it: a "
    "run makes that of its own issue again, and says what to do about one of an earlier issue.",
}


class DamagedShardError(RadcalError):
    """A shard is missing or is not what was written; a run puts it aside and makes it again."""

    def __init__(self, zone: Literal["raw", "analysis"], table: str, key: str, fault: str) -> None:
        super().__init__(zone, table, key, fault)
        self.zone, self.table, self.key, self.fault = zone, table, key, fault

    def __str__(self) -> str:
        """Say which shard, and the way out."""
        cure = _CURES.get(self.table, "`radcal run` puts it aside and makes it anew.")
        return f"shard {self.table}/{self.key}.parquet {self.fault}. {cure}"
