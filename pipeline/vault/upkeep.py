"""Upkeep of a vault and its workspace: `replace_key` and `purge`.

Replacing the key: codes are random and stored in the rows, so pages, tables and returned sheets
stay valid. What is derived from the key does not: marks of texts, and the values invented in place
of identifiers (``replacement = "surrogate"``). So the next run cleans every text again; equal texts
could not be recognised by marks made under two keys. Backups made before need the former key.

Purging: exams past their retention, or of patients who asked to be left out, are deleted. Raw exams
are judged by their time of performance, coded ones by their stated month (times are shifted). A
shard with rows left is rewritten under its own name, so that a later run does not make it again.
Tallies, results and pages stay, as they hold no text and no identifier. What later runs make anew
they make of what is left; `Traces` say how much is gone.

Of readers who asked to be left out goes what no pruning takes: their answers, and what issues told
them. Their X-rays stay as exported until their time has come: the month that is stated of an exam
rests on all exams of its patient (`pipeline.vault.shifts`), colleagues' among them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import pandas as pd

from pipeline.errors import ConfigurationError, InputError
from pipeline.store.files import replacing
from pipeline.store.workspace import Workspace, Zone
from pipeline.vault.codes import (
    DOMAINS,
    Domain,
    exam_identifiers,
    normalised,
    patient_identifiers,
    study_identifiers,
)
from pipeline.vault.key import Box, Key
from pipeline.vault.merges import SAID, all_numbers, patients_joined, said_in, under_one_number
from pipeline.vault.objections import NOBODY, Objections, Traces, marks
from pipeline.vault.vault import SCHEMA, Vault, place_of, stated_of

NEW_KEY_FILE_VARIABLE: Final = "RADCAL_VAULT_NEW_KEY_FILE"
NEW_KEY_VARIABLE: Final = "RADCAL_VAULT_NEW_KEY"


@dataclass(frozen=True, slots=True)
class Rekeyed:
    """Codes and date shifts now under the new key, and shifts dropped as no patient had them."""

    codes: int
    shifts: int
    shifts_of_nobody: int


def replace_key(path: Path, old: Key, new: Key) -> Rekeyed:
    """Put a vault under another key, whole or not at all; nobody may write to it meanwhile.

    Raises
    ------
    ConfigurationError
        If there is no vault, the old key is not its key, or the new one is the old one.
    RadcalError
        If a row does not open; the vault stays as it was.
    """
    if old.material == new.material:
        raise ConfigurationError(
            "The new key is the vault's own. Name another in RADCAL_VAULT_NEW_KEY_FILE."
        )
    Vault.open(path, old).close()
    with replacing(path) as partial:
        partial.touch(mode=0o600)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as target:
            target.executescript(SCHEMA)
            with target:
                _copy_meta(source, target, new)
                patients = _copy_codes(source, target, (old, new))
                shifts, lost = _copy_shifts(source, target, (old, new), patients)
                (codes,) = target.execute("SELECT count(*) FROM codes").fetchone()
    return Rekeyed(int(codes), shifts, lost)


def _copy_meta(source: sqlite3.Connection, target: sqlite3.Connection, new: Key) -> None:
    meta: Mapping[str, Any] = dict(source.execute("SELECT name, value FROM meta"))
    now = {**meta, "keys": int(meta.get("keys", 0)) + 1}
    now["check"] = Box(new).seal(stated_of(now), "check")
    target.executemany("INSERT INTO meta VALUES (?, ?)", now.items())


def _copy_codes(
    source: sqlite3.Connection, target: sqlite3.Connection, keys: tuple[Key, Key]
) -> list[str]:
    """Copy every code; gives the patients' identifiers, folded."""
    old, new = map(Box, keys)
    lookups = {domain: keys[1].hmac(f"lookup/{domain}") for domain in DOMAINS}
    patients = []
    for domain, epoch, code, sealed in source.execute(
        "SELECT domain, epoch, code, sealed FROM codes"
    ):
        place = place_of(domain, epoch, code)
        identifier = old.open(sealed, place)
        folded = normalised(identifier.decode(), domain)
        patients += [folded] if domain == "patient" else []
        row = (domain, epoch, lookups[domain](folded), code, new.seal(identifier, place))
        target.execute("INSERT INTO codes VALUES (?, ?, ?, ?, ?)", row)
    return patients


def _copy_shifts(
    source: sqlite3.Connection,
    target: sqlite3.Connection,
    keys: tuple[Key, Key],
    patients: list[str],
) -> tuple[int, int]:
    """Copy the date shifts of these patients; gives how many, and how many were nobody's."""
    old, new = map(Box, keys)
    before, after = (key.hmac("lookup/shift") for key in keys)
    copied = 0
    for patient in patients:
        lookup, place = before(patient), after(patient)
        row = source.execute("SELECT sealed FROM shifts WHERE lookup = ?", (lookup,)).fetchone()
        if row is not None:
            sealed = new.seal(old.open(row[0], f"shift/{lookup.hex()}"), f"shift/{place.hex()}")
            target.execute("INSERT INTO shifts VALUES (?, ?)", (place, sealed))
            copied += 1
    (in_all,) = source.execute("SELECT count(*) FROM shifts").fetchone()
    return copied, int(in_all) - copied


_NAMED: Final = ("performed_at", "patient_id", "accession", "status", "source_digest")
"""Columns of raw exams that say who and when; every version of this program wrote them."""
_NAMED_SINCE: Final = ("patient_domain", "reader_id", "modality")
_CLEAN: Final = ("patient_code", "performed_month")
# So long without an exam, and a purge by the clock asks whether it is right.
_SILENCE: Final = pd.Timedelta(days=92)
_DOMAINS: Final[tuple[Domain, ...]] = ("patient", "study", "exam", "reader")
_NAMED_BY: Final = (patient_identifiers, study_identifiers, exam_identifiers)
_Judge: TypeAlias = Callable[[pd.DataFrame], pd.Series]
_UNSAID: Final = "\0"
"""Stands for the readers of a shard that does not say who they are."""
ZONES: Final[tuple[Zone, ...]] = ("raw", "analysis")


@dataclass(frozen=True, slots=True)
class Purged:
    """How many rows and codes were deleted; ``told``: answers and profiles of readers left out."""

    raw_exams: int
    clean_exams: int
    codes: int
    told: int


def retained_from(
    store: Workspace, days: int | None, day: datetime | None, zone: str = "UTC"
) -> pd.Timestamp:
    """Give the time before which exams go: so many days ago, or the day named, in a time zone.

    Raises
    ------
    ConfigurationError
        If neither is given, or both; if exams would go by a clock that all exams lie far behind.
    """
    if day is not None and days is None:
        return pd.Timestamp(day).tz_localize(zone, ambiguous=True, nonexistent="shift_forward")
    if days is None or day is not None:
        raise ConfigurationError("purge: give --older-than-days or --before, one of the two.")
    now = _now()
    start = now - pd.Timedelta(days=days)
    exams = store.read("raw", "exams", store.keys("raw", "exams"), columns=["performed_at"])
    performed = pd.to_datetime(exams["performed_at"], utc=True)
    if (performed < start).any() and now - performed.max() > _SILENCE:
        raise ConfigurationError(
            f"purge: this machine's clock says {now:%Y-%m-%d}, and the newest exam here is of "
            f"{performed.max():%Y-%m-%d}. A clock that is ahead deletes exams before their time. "
            "Correct it; or, if no newer exams were brought, say --before YYYY-MM-DD instead."
        )
    return start.tz_convert(zone)


def _now() -> pd.Timestamp:
    return pd.Timestamp.now(tz="UTC")


def purge(
    store: Workspace,
    *,
    before: pd.Timestamp,
    vault: Vault,
    delete: bool = True,
    shared: bool = False,
    left_out: Objections = NOBODY,
) -> Purged:
    """Delete, or only count, what is of before a time or asked to be left out; hold the lock.

    Parameters
    ----------
    before
        Exams performed earlier go; a coded exam goes when its whole month lies earlier.
    vault
        Forgets patients, studies and readers that have no exam left.
    shared
        Whether all sources share one numbering of patients (``[input] patient_ids_shared``).
    left_out
        Whose exams go however new they are; of readers what issues told them, and their answers.
    """
    stands = patients_joined(store, shared=shared).stands
    gone = _purge_raw(store, before, left_out, stands, delete=delete)
    coded, month = [*vault.known_codes("patient", gone.unwanted)], before.strftime("%Y-%m")

    def is_old(exams: pd.DataFrame) -> pd.Series[bool]:
        return exams["patient_code"].isin(coded) | (exams["performed_month"] < month)

    clean = _purge_rows(store, ("analysis", "clean_exams"), _CLEAN, is_old, delete=delete)
    told = _purge_told(store, vault.known_codes("reader", left_out.readers), delete=delete)
    if not delete:
        known = (vault.known_codes(domain, each) for domain, each in gone.forgotten.items())
        return Purged(gone.exams, clean, sum(map(len, known)), told)
    by = "source_digest"
    _purge_rows(store, ("raw", "months"), (by,), lambda rows: rows[by].isin(gone.digests))
    # Whose exams a damaged shard holds nobody can tell.
    for name in [f"{z}/damaged/{key}.parquet" for z in ZONES for key in store.keys(z, "damaged")]:
        store.objects.remove(name)
    codes = sum(vault.forget(domain, sorted(each)) for domain, each in gone.forgotten.items())
    # Who asked to be left out is known by what was said of the numbers, whatever comes.
    nobody = gone.forgotten["patient"] - gone.unwanted

    def is_said(merges: pd.DataFrame) -> pd.Series[bool]:
        said = [[normalised(n) for n in numbers] for numbers, _ in said_in(merges, shared=shared)]
        of = (any(normalised(stands.get(n, n)) in nobody for n in each) for each in said)
        return pd.Series(of, index=merges.index, dtype="bool")

    _purge_rows(store, ("raw", "merges"), SAID, is_said)
    return Purged(gone.exams, clean, codes, told)


@dataclass(frozen=True, slots=True)
class _Gone:
    """Raw exams to be deleted: how many, which, of whom on request, and who has none left.

    ``digests`` are the exams' source digests; ``unwanted`` the patients who asked to be left out;
    ``forgotten`` by domain the identifiers without an exam left. Patients are listed under each of
    their numbers.
    """

    exams: int
    digests: frozenset[str]
    unwanted: frozenset[str]
    forgotten: Mapping[Domain, frozenset[str]]


def _purge_raw(
    store: Workspace,
    before: pd.Timestamp,
    left_out: Objections,
    stands: Mapping[str, str],
    *,
    delete: bool,
) -> _Gone:
    old: dict[Domain, set[str]] = {domain: set() for domain in _DOMAINS}
    left: dict[Domain, set[str]] = {domain: set() for domain in _DOMAINS}
    count, digests, unwanted = 0, set[str](), set(left_out.joined(stands))
    for key in store.keys("raw", "exams"):
        frame = named(store, key)
        asked = left_out.of_patients(frame, stands)
        gone = (pd.to_datetime(frame["performed_at"], utc=True) < before) | asked
        digests |= set(frame["source_digest"][gone])
        for stated in map(identifiers, (frame, under_one_number(frame, stands))):
            unwanted |= set(stated["patient"][asked])
            for domain, values in stated.items():
                old[domain] |= set(values[gone])
                left[domain] |= set(values[~gone])
        count += int(gone.sum())
        if delete and gone.any():
            told = left_out.apply if "reader_id" in frame else left_out.of_patients
            asked, was = told(frame, stands)[gone], Traces.of(store, key)
            on_request = (*was.on_request, *marks(frame[gone][asked]))
            kept = Traces(on_request, was.past_retention + int((~asked).sum()))
            exams = store.read("raw", "exams", [key])[~gone].reset_index(drop=True)
            store.write("raw", "exams", key, exams, facts=kept)
    old["reader"] = set() if _UNSAID in left["reader"] else old["reader"] | left_out.readers
    forgotten = {domain: frozenset(old[domain] - left[domain]) for domain in old}
    same, nobody = all_numbers(stands), forgotten["patient"]
    others = (same.get(each, frozenset()) for each in nobody)
    forgotten["patient"] = nobody.union(unwanted, *others)
    return _Gone(count, frozenset(digests), frozenset(unwanted), forgotten)


def _purge_rows(
    store: Workspace,
    place: tuple[Zone, str],
    by: Sequence[str],
    is_gone: _Judge,
    *,
    delete: bool = True,
) -> int:
    """Delete rows of a table, known by some columns, and leave its shards' counts; counts them."""
    (zone, table), count = place, 0
    for key in store.keys(zone, table):
        gone = is_gone(store.read(zone, table, [key], columns=by))
        count += int(gone.sum())
        if delete and gone.any():
            kept = store.read(zone, table, [key])[~gone].reset_index(drop=True)
            store.write(zone, table, key, kept, facts=store.facts(zone, table, key, object))
    return count


def _purge_told(store: Workspace, readers: Collection[str], *, delete: bool) -> int:
    """Delete what readers answered and what issues told them; gives how many rows there are."""
    for key in store.keys("analysis", "profiles") if delete else ():
        facts: Any = store.facts("analysis", "profiles", key, object)
        left = [each for each in facts["readers"] if each not in readers]
        if len(left) < len(facts["readers"]):
            frame = store.read("analysis", "profiles", [key])
            frame["profile"] = [_without(each, readers) for each in frame["profile"]]
            store.write("analysis", "profiles", key, frame, facts=facts | {"readers": left})
    by, is_gone = ("reader_code",), lambda rows: rows["reader_code"].isin(readers)
    places: tuple[tuple[Zone, str], ...] = (("analysis", "returns"), ("analysis", "profiles"))
    return sum(_purge_rows(store, each, by, is_gone, delete=delete) for each in places)


def _without(profile: str, readers: Collection[str]) -> str:
    """Take readers out of what a department's profile says of who changed."""
    told = json.loads(profile)
    if told.get("changes"):
        told["changes"] = [each for each in told["changes"] if each["reader"] not in readers]
    return json.dumps(told)


def named(store: Workspace, key: str) -> pd.DataFrame:
    """Read who and when of a shard of identified exams, whichever version wrote it."""
    try:
        return store.read("raw", "exams", [key], columns=(*_NAMED, *_NAMED_SINCE))
    except InputError:
        return store.read("raw", "exams", [key], columns=_NAMED)


def identifiers(exams: pd.DataFrame) -> dict[Domain, pd.Series]:
    """Give what of each exam stands in the vault, by domain, folded as it is looked up."""
    readers = exams["reader_id"] if "reader_id" in exams else [_UNSAID] * len(exams)
    found = (*(name(exams) for name in _NAMED_BY), readers)
    return {
        domain: pd.Series([normalised(n, domain) for n in each], index=exams.index, dtype="object")
        for domain, each in zip(_DOMAINS, found, strict=True)
    }
