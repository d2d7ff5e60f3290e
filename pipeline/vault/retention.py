"""Retention: identified rows and clean texts older than a limit go, and the codes of who is gone.

Raw exams go by when they were performed, coded ones by their true month (their times are shifted).
A shard that keeps rows is rewritten under its own name, so that a later run does not make it
again; tallies, results and pages hold no text and no identifier and stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from pipeline.errors import InputError
from pipeline.store.workspace import Workspace, Zone
from pipeline.vault.codes import Domain, exam_identifiers, patient_identifiers, study_identifiers
from pipeline.vault.vault import Vault

__all__ = ["Purged", "identifiers", "named", "purge"]

_NAMED: Final = ("performed_at", "patient_id", "accession", "status", "source_digest")
"""Columns of raw exams that say who and when; every version of this program wrote them."""
_DOMAINS: Final[tuple[Domain, ...]] = ("patient", "study", "exam")


@dataclass(frozen=True, slots=True)
class Purged:
    """How many rows and codes went."""

    raw_exams: int
    clean_exams: int
    codes: int

    def summary(self) -> dict[str, object]:
        """Give the counts for the command line and the audit log."""
        return {"raw_exams": self.raw_exams, "clean_exams": self.clean_exams, "codes": self.codes}


def purge(store: Workspace, *, before: pd.Timestamp, vault: Vault | None) -> Purged:
    """Delete what was performed before a time.

    Parameters
    ----------
    store
        The workspace; hold its lock.
    before
        Exams performed earlier go; a coded exam goes when its whole month lies earlier.
    vault
        Forgets patients and studies that have no exam left; None only counts, deleting nothing.
    """
    month = before.strftime("%Y-%m")
    delete = vault is not None
    old: dict[Domain, set[str]] = {domain: set() for domain in _DOMAINS}
    left: dict[Domain, set[str]] = {domain: set() for domain in _DOMAINS}
    raw = 0
    for key, frame in ((key, named(store, key)) for key in store.keys("raw", "exams")):
        gone = pd.to_datetime(frame["performed_at"], utc=True) < before
        for domain, values in identifiers(frame).items():
            old[domain] |= set(values[gone])
            left[domain] |= set(values[~gone])
        raw += _drop(store, "raw", "exams", key, gone, delete=delete)
    clean = sum(
        _drop(
            store, "analysis", "clean_exams", key, frame["performed_month"] < month, delete=delete
        )
        for key, frame in _shards(store, "analysis", "clean_exams", ("performed_month",))
    )
    forgotten = {domain: old[domain] - left[domain] for domain in old}
    codes = sum(map(len, forgotten.values()))
    if vault is not None:
        codes = sum(vault.forget(domain, sorted(each)) for domain, each in forgotten.items())
    return Purged(raw, clean, codes)


def named(store: Workspace, key: str) -> pd.DataFrame:
    """Read who and when of a shard of identified exams, whichever version wrote it."""
    try:
        return store.read("raw", "exams", [key], columns=(*_NAMED, "patient_domain"))
    except InputError:
        return store.read("raw", "exams", [key], columns=_NAMED)


def identifiers(exams: pd.DataFrame) -> dict[Domain, pd.Series]:
    """Give what of each exam stands in the vault, by domain."""
    return {
        "patient": pd.Series(patient_identifiers(exams), index=exams.index),
        "study": pd.Series(study_identifiers(exams), index=exams.index),
        "exam": pd.Series(exam_identifiers(exams), index=exams.index),
    }


def _shards(
    store: Workspace, zone: Zone, table: str, columns: Sequence[str]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give these columns of every shard that has rows."""
    for key in store.keys(zone, table):
        frame = store.read(zone, table, [key], columns=columns)
        if len(frame):
            yield key, frame


def _drop(
    store: Workspace, zone: Zone, table: str, key: str, gone: pd.Series, *, delete: bool
) -> int:
    count = int(gone.sum())
    if count and delete:
        frame, facts = store.read(zone, table, [key]), store.facts(zone, table, key, object)
        store.write(zone, table, key, frame[~gone].reset_index(drop=True), facts=facts)
    return count
