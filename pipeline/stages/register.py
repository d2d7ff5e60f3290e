"""Identified exams → a code in the vault for every patient, study, exam, reader and site in them.

    ingest → **register** → de-identify → pair → extract → tally → gates → issue → pages → deliver

One process looks at all exams of a run before shards are cleaned in parallel, for three reasons:
the vault has a single writer; messages of this or an earlier run may say that two numbers are one
patient's; and a patient's date shift could be worked out from the true months of many exams, so
that for some patients another month is stated (`pipeline.vault.shifts`). A merge that contradicts
another joins nobody and is set aside.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from pipeline.config.basis import digest_of
from pipeline.formats.people import Joined
from pipeline.formats.readers import reader_notes
from pipeline.stages import Made, Stage
from pipeline.stages.clean import CLEAN, ExamShard
from pipeline.stages.ingest import objections
from pipeline.vault.codes import (
    exam_identifiers,
    normalised,
    patient_identifiers,
    study_identifier,
    study_identifiers,
)
from pipeline.vault.merges import folded, patients_joined, said_in, under_one_number
from pipeline.vault.objections import NOBODY, SAID_OF, Traces, marks
from pipeline.vault.shifts import LEAST_SHIFTS, Room, bounds, stated_months

if TYPE_CHECKING:
    from pipeline.site.site import Site
    from pipeline.stages.ingest import Ingested
    from pipeline.vault.vault import Vault

_LOG: Final = logging.getLogger("radcal")
_BATCH_EXAMS: Final = 50_000
"""Most exams whose identifiers are held in memory at a time."""
_WHEN: Final = ["patient_id", "patient_domain", "performed_at"]
_NO_EARLIER: Final = pd.Timestamp("1900-01-01T00:00:00Z")
"""Exams dated before are taken for errors of the date and get no stated month."""
_MOVED: Final = ["shard", "source_digest", "month", "is_own"]
MERGED: Final = "exam under a patient number that was merged into another"
UNMET: Final = "id in left_out that no exam bears: misspelt, purged, or of another authority"
PURGED: Final = "exam purged past its retention: in no figure that was made since"
CONTRADICTING: Final = "merges_contradict"
_WHY_NOT: Final = "merged in a circle or into two, or listed with different numbers; not followed"


@dataclass(frozen=True, slots=True)
class _Months:
    """The months that are stated beside the shifted times of a run's exams.

    ``key`` is the key of the table ``moved``, which holds ``shard, source_digest, month, is_own``
    of the exams whose stated month is not their true one; ``rooms`` gives each patient's `Room` for
    a date shift, by the hash of the patient's identifier; ``merged`` gives for each shard a hash of
    which of its patients' numbers were merged into others, and how many exams bear such a number.
    """

    key: str
    moved: pd.DataFrame
    rooms: Mapping[int, Room]
    merged: Mapping[str, tuple[str, int]]


def shards(site: Site, sources: Sequence[Ingested]) -> list[ExamShard]:
    """Give each shard of these sources, in their order, the batch of neighbours it lies in."""
    batches: list[list[str]] = [[]]
    held = 0.0
    for source in sources:
        for shard in source.shards:
            if held >= _BATCH_EXAMS:
                batches.append([])
                held = 0.0
            batches[-1].append(shard)
            held += source.kept / len(source.shards)
    merged = _joined(site)
    every = tuple(s for batch in batches for s in batch)
    months = site.once(_months, every, tuple(sorted(merged.stands.items())))
    moved = {str(shard): _digest(rows) for shard, rows in months.moved.groupby("shard")}
    return [
        ExamShard(
            shard,
            tuple(batch),
            months.key if shard in moved else "",
            moved.get(shard, ""),
            months.merged.get(shard, ("", 0))[0],
            _left_out(site, shard, merged.stands),
        )
        for batch in batches
        for shard in batch
    ]


def _months(site: Site, shards: tuple[str, ...], merged: tuple[tuple[str, str], ...]) -> _Months:
    """Look at all exams of each patient for months that would tell the date shift.

    `merged` gives the patient's numbers that are read as another.
    """
    if not shards:
        return _Months("", pd.DataFrame(columns=_MOVED), {}, {})
    stands = dict(merged)
    exams = pd.concat([_times(site, shard, stands) for shard in shards], ignore_index=True)
    room = exams.groupby("patient")[["later", "earlier"]].min()
    tight = room[room["later"] + room["earlier"] <= LEAST_SHIFTS].index
    rooms = dict(zip(room.index, zip(-room["later"], room["earlier"], strict=True), strict=True))
    stated: dict[tuple[int, pd.Timestamp], tuple[str, bool]] = {}
    for patient, times in exams[exams["patient"].isin(tight)].groupby("patient")["performed_at"]:
        at = sorted(set(times))
        months, is_own, rooms[patient] = stated_months(at)
        stated |= {(patient, t): both for t, *both in zip(at, months, is_own, strict=True)}  # type: ignore[misc]
    holding = set(exams.loc[exams["patient"].isin(tight), "shard"])
    found = [_moved(site, shard, stated, stands) for shard in shards if shard in holding]
    moved = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=_MOVED)
    was = exams[exams["was"] != ""].groupby("shard")["was"]
    of_shards = {
        str(shard): (digest_of(*((n, stands[n]) for n in sorted(set(each)))), len(each))
        for shard, each in was
    }
    return _Months(_digest(moved), moved, rooms, of_shards)


def _left_out(site: Site, shard: str, stands: Mapping[str, str]) -> str:
    """Hash which exams of a shard are left out, the same after they were purged; '' for none."""
    asked = site.once(objections)
    gone = list(Traces.of(site.workspace, shard).on_request)
    if asked != NOBODY:
        exams = site.workspace.read("raw", "exams", [shard], columns=SAID_OF)
        gone += marks(exams[asked.apply(exams, stands)])
    return digest_of(*sorted(gone)) if gone else ""


def former(site: Site) -> Collection[str]:
    """Give the codes of readers who left and object to nothing: they get no page."""
    named = site.once(objections).former
    if not named:
        return ()
    with site.open_vault(read_only=True) as vault:
        return vault.known_codes("reader", named)


def _unmet(site: Site, shards: Sequence[str], stands: Mapping[str, str]) -> int:
    """Count who is to be left out and stands in no exam: a slip of the pen leaves nobody out."""
    asked, met = site.once(objections), set[str]()
    for shard in shards if asked != NOBODY else ():
        met |= asked.met(site.workspace.read("raw", "exams", [shard], columns=SAID_OF), stands)
    return len(asked) - len(met)


def _times(
    site: Site, shard: str, stands: Mapping[str, str], more: Sequence[str] = ()
) -> pd.DataFrame:
    """Say of a shard's exams whose they are, when by the clocks of the months stated, and room."""
    found = site.workspace.read("raw", "exams", [shard], columns=[*_WHEN, *more])
    was = [each if (each := normalised(n)) in stands else "" for n in patient_identifiers(found)]
    exams = under_one_number(found, stands).assign(was=was, shard=shard)
    exams = exams[exams["performed_at"] >= _NO_EARLIER]
    at = pd.to_datetime(exams["performed_at"], utc=True).dt.tz_convert(site.month_zone)
    months = at.dt.tz_localize(None).to_numpy().astype("datetime64[M]").astype("datetime64[s]")
    start, end = bounds(pd.Series(months, index=at.index), site.month_zone)
    day = pd.Timedelta(days=1)
    people = [normalised(each) for each in patient_identifiers(exams)]
    return exams.assign(
        performed_at=at,
        patient=pd.util.hash_array(np.array(people, dtype=object), categorize=False),
        earlier=(at - start) // day,
        later=-(-(end - at) // day) - 1,
    )


def _moved(
    site: Site,
    shard: str,
    stated: Mapping[tuple[int, pd.Timestamp], tuple[str, bool]],
    stands: Mapping[str, str],
) -> pd.DataFrame:
    """Give the exams of a shard whose stated month is another than their own."""
    exams = _times(site, shard, stands, ["source_digest"])
    who = zip(exams["patient"], exams["performed_at"], strict=True)
    both = [stated.get(each, ("", True)) for each in who]
    exams = exams.assign(month=[m for m, _ in both], is_own=[own for _, own in both])
    true = exams["performed_at"].dt.strftime("%Y-%m")
    other = (exams["month"] != "") & ((exams["month"] != true) | ~exams["is_own"])
    moved: pd.DataFrame = exams.loc[other, _MOVED].drop_duplicates()
    return moved


def _digest(moved: pd.DataFrame) -> str:
    """Hash whose month is stated as another, and in which shards, for a table names its shards."""
    rows = moved.astype("str")
    return digest_of(*sorted(rows.itertuples(index=False, name=None))) if len(moved) else ""


def _coded(vault: Vault, exams: pd.DataFrame, stands: Mapping[str, str], months: _Months) -> None:
    """Give everyone of some exams a code, and patients a date shift, where they have none."""
    vault.rename("study", _renamed(exams, stands))
    exams = under_one_number(exams, stands)
    patients = sorted(set(patient_identifiers(exams)))
    vault.codes("study", sorted(set(study_identifiers(exams))))
    vault.codes("exam", exam_identifiers(exams))
    vault.codes("reader", _distinct(exams["reader_id"]))
    vault.codes("site", _distinct(exams["site"]))
    vault.codes("patient", patients)
    vault.shift_days(patients, _rooms(months, patients))


@dataclass(frozen=True, slots=True)
class ExamsToRegister:
    """Keys of a run's shards of exams, and of its tables of merged patient numbers."""

    shards: tuple[ExamShard, ...]
    merges: tuple[str, ...]

    @classmethod
    def of(cls, shards: Sequence[ExamShard], sources: Sequence[Ingested]) -> ExamsToRegister:
        """Collect the keys from the results of the ingest stage."""
        return cls(tuple(shards), tuple(s.merges for s in sources if s.merges))


@dataclass(frozen=True, slots=True)
class Registered:
    """What registering found that the run has to report.

    ``notes`` counts what looks wrong in the readers' ids, and exams under a number that was merged;
    ``set_aside`` the rows, by reason, whose merge contradicts another.
    """

    notes: Mapping[str, int]
    set_aside: Mapping[str, int] = field(default_factory=dict)


class Register(Stage[ExamsToRegister, Registered]):
    """Give every patient, study and reader of new shards a code; one writer, before the rest."""

    name = "register"
    only_here = True  # no other process may write to the vault

    def do(self, site: Site, item: ExamsToRegister) -> Made[Registered]:
        """Register the shards that are not cleaned yet, and look at all readers' ids."""
        merged = _joined(site)
        every = tuple(each.shard for each in item.shards)
        months = site.once(_months, every, tuple(sorted(merged.stands.items())))
        if months.key and not site.workspace.has("raw", "months", months.key):
            site.workspace.write("raw", "months", months.key, months.moved)
        todo = [
            each.shard for each in item.shards
            if not site.workspace.has("analysis", "clean_exams", CLEAN.key(site, each))
        ]  # fmt: skip
        columns = ["accession", "patient_id", "patient_domain", "reader_id", "site", "status"]
        columns += ["source_digest", "modality"]
        # Codes lie at random places of the vault: many at once touch each page of it once.
        at_once = max(1, _BATCH_EXAMS // site.config.execution.shard_rows)
        with site.open_vault(read_only=False) as vault:
            for first in range(0, len(todo), at_once):
                some = todo[first : first + at_once]
                exams = site.workspace.read("raw", "exams", some, columns=columns)
                exams = exams[~site.once(objections).apply(exams, merged.stands)]
                _coded(vault, exams, merged.stands, months)
        site.note_vault()
        notes = Counter(_reader_notes(site, every))
        notes[MERGED] = sum(count for _, count in months.merged.values())
        notes[UNMET] = _unmet(site, every, merged.stands)
        notes[PURGED] = sum(Traces.of(site.workspace, each).past_retention for each in every)
        return Made(Registered(+notes, _contradicting(site, item.merges, merged)))


REGISTER: Final = Register()


def _renamed(exams: pd.DataFrame, stands: Mapping[str, str]) -> dict[str, str]:
    """Give each study under a number that stands for another, and how it is known now."""
    numbers = defaultdict(list)
    for number, one in stands.items():
        numbers[normalised(one)].append(number)
    now = under_one_number(exams, stands)
    each = zip(patient_identifiers(now), exams["accession"], study_identifiers(now), strict=True)
    return {
        study_identifier(number, accession): study
        for patient, accession, study in each
        for number in numbers.get(normalised(patient), ())
    }


def _joined(site: Site) -> Joined:
    """Find whose numbers are one patient's, by what sources of this and of former runs said."""
    return patients_joined(site.workspace, shared=site.config.input.patient_ids_shared)


def _contradicting(site: Site, merges: Sequence[str], merged: Joined) -> Mapping[str, int]:
    """Set aside the rows whose merge contradicts another."""
    if not merges:
        return {}
    rows = site.workspace.read("raw", "merges", merges)
    shared = site.config.input.patient_ids_shared
    unclear = [folded(said) in merged.unclear for said in said_in(rows, shared=shared)]
    if not any(unclear):
        return {}
    found = rows.loc[unclear, ["source", "row"]]
    found = found.assign(reason=CONTRADICTING, detail=_WHY_NOT, not_before="")
    site.workspace.write("raw", "quarantine", digest_of(CONTRADICTING, *merges), found)
    return {CONTRADICTING: len(found)}


def _rooms(months: _Months, patients: Sequence[str]) -> list[Room | None]:
    people = np.array([normalised(each) for each in patients], dtype=object)
    return [months.rooms.get(int(each)) for each in pd.util.hash_array(people, categorize=False)]


def _reader_notes(site: Site, shards: Sequence[str]) -> Mapping[str, int]:
    """Count and tell what looks wrong in the readers' ids, before any page is made of them."""
    columns, found = ["reader_id", "reader_name"], set[tuple[str, str]]()
    for shard in shards:
        exams = site.workspace.read("raw", "exams", [shard], columns=columns).drop_duplicates()
        found.update(zip(exams["reader_id"], exams["reader_name"], strict=True))
    notes = reader_notes(found)
    for note, count in notes.items():
        _LOG.warning("%s: %d; see [input.reader_ids]", note, count)
    return notes


def _distinct(values: pd.Series) -> list[str]:
    return sorted(set(values[values != ""]))
