"""Identified exams → coded exams whose text names nobody.

    exports → ingest → **de-identify** → pair → extract → tally → gates → pages → deliver

`REGISTER` gives everyone in the new exams a code, in one process, before shards are cleaned side by
side; `CLEAN` takes one shard of exams. What cannot be proved clean is withheld with a reason.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from pipeline.config.basis import digest_of
from pipeline.deidentify import Deidentifier, LeakScan, Options, Presidio, SecondLayer
from pipeline.deidentify.coding import Codes, clean, known_identifiers
from pipeline.formats.readers import reader_notes
from pipeline.names.lexicon import contents, own_lexicon
from pipeline.stage import Keyed, Made, Named, Stage, options
from pipeline.vault.codes import (
    FEWEST,
    Room,
    exam_identifiers,
    normalised,
    patient_identifiers,
    stated_months,
    study_identifiers,
)
from pipeline.vault.key import key_from_environment

if TYPE_CHECKING:
    from pipeline.site.site import Site
    from pipeline.stages.ingest import Ingested

_IDENTIFIERS: Final = (
    "accession", "exam_id", "patient_id", "patient_name", "reader_id", "reader_name",
    "referring_name", "phone", "patient_birth_date", "preliminary_author", "staff_names",
    "relative_names", "other_ids",
)  # fmt: skip
_LOG: Final = logging.getLogger("radcal")
_BATCH_EXAMS: Final = 50_000
"""So many exams' identifiers are held at a time, however long the export is."""
_WORD_LISTS: Final = "deidentification.word_lists"
_WHEN: Final = ["patient_id", "patient_domain", "performed_at"]
_NO_EARLIER: Final = pd.Timestamp("1900-01-01T00:00:00Z")
"""What is said to have been performed before has no place in any calendar of ours."""
_MOVED: Final = ["shard", "source_digest", "month", "is_own"]


@dataclass(frozen=True, slots=True)
class ExamShard:
    """One shard of exams, and the batch of neighbours whose people the leak scan looks for.

    ``months`` is the key of the run's table of exams whose month is not stated as it is, ``moved``
    a hash of what it holds of this shard; '' where it holds nothing.
    """

    shard: str
    batch: tuple[str, ...]
    months: str = ""
    moved: str = ""


@dataclass(frozen=True, slots=True)
class Coded:
    """What a shard came to: ``rows = cleaned + withheld``; spans removed by category."""

    key: str
    rows: int
    cleaned: int
    withheld: Mapping[str, int]
    removed: Mapping[str, int]
    phrases_locked: int


@dataclass(frozen=True, slots=True)
class _Months:
    """What a run's exams have for months beside their shifted times.

    ``moved`` holds ``shard, source_digest, month, is_own`` of those whose month is stated as
    another; ``rooms`` each patient's room for a date shift, by the hash of who it is.
    """

    key: str
    moved: pd.DataFrame
    rooms: Mapping[int, Room]


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
    months = _months(site, tuple(shard for batch in batches for shard in batch))
    moved = {str(shard): _digest(rows) for shard, rows in months.moved.groupby("shard")}
    return [
        ExamShard(shard, tuple(batch), months.key if shard in moved else "", moved.get(shard, ""))
        for batch in batches
        for shard in batch
    ]


@lru_cache(maxsize=1)
def _months(site: Site, shards: tuple[str, ...]) -> _Months:
    """Look at all exams of each patient for months that would tell the date shift."""
    each = [_times(site, shard) for shard in shards]
    exams = pd.concat(each, ignore_index=True) if each else _times_of(pd.DataFrame(columns=_WHEN))
    room = exams.groupby("patient")[["later", "earlier"]].min()
    tight = room[room["later"] + room["earlier"] <= FEWEST].index
    rooms = dict(zip(room.index, zip(-room["later"], room["earlier"], strict=True), strict=True))
    stated: dict[tuple[int, pd.Timestamp], tuple[str, bool]] = {}
    for patient, times in exams[exams["patient"].isin(tight)].groupby("patient")["performed_at"]:
        at = sorted(set(times))
        months, is_own, rooms[patient] = stated_months(at)
        stated |= {(patient, t): both for t, *both in zip(at, months, is_own, strict=True)}  # type: ignore[misc]
    holding = set(exams.loc[exams["patient"].isin(tight), "shard"])
    found = [_moved(site, shard, stated) for shard in shards if shard in holding]
    moved = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=_MOVED)
    return _Months(_digest(moved), moved, rooms)


def _times(site: Site, shard: str, *more: str) -> pd.DataFrame:
    found = site.workspace.read("raw", "exams", [shard], columns=[*_WHEN, *more])
    return _times_of(found).assign(shard=shard)


def _times_of(exams: pd.DataFrame) -> pd.DataFrame:
    """Say of exams whose they are, and by how many days they could be later or earlier."""
    exams = exams[exams["performed_at"] >= _NO_EARLIER]
    at = pd.to_datetime(exams["performed_at"], utc=True)
    start = at.dt.normalize() - pd.to_timedelta(at.dt.day - 1, unit="D")
    day = pd.Timedelta(days=1)
    end = start + pd.to_timedelta(start.dt.days_in_month, unit="D")
    people = [normalised(each) for each in patient_identifiers(exams)]
    return exams.assign(
        patient=pd.util.hash_array(np.array(people, dtype=object), categorize=False),
        earlier=(at - start) // day,
        later=-(-(end - at) // day) - 1,
    )


def _moved(
    site: Site, shard: str, stated: Mapping[tuple[int, pd.Timestamp], tuple[str, bool]]
) -> pd.DataFrame:
    """Give the exams of a shard whose stated month is another than their own."""
    exams = _times(site, shard, "source_digest")
    who = zip(exams["patient"], exams["performed_at"], strict=True)
    both = [stated.get(each, ("", True)) for each in who]
    exams = exams.assign(month=[m for m, _ in both], is_own=[own for _, own in both])
    true = exams["performed_at"].dt.strftime("%Y-%m")
    other = (exams["month"] != "") & ((exams["month"] != true) | ~exams["is_own"])
    moved: pd.DataFrame = exams.loc[other, _MOVED].drop_duplicates()
    return moved


def _digest(moved: pd.DataFrame) -> str:
    rows = moved.drop(columns="shard").astype("str")
    return digest_of(*sorted(rows.itertuples(index=False, name=None))) if len(moved) else ""


class Clean(Keyed[ExamShard, Coded]):
    """Code and clean one shard of exams."""

    name = kind = "de-identify"
    counted = ("rows", "cleaned")

    def settings(self, site: Site) -> Named:
        """Give how identifiers are found and replaced, and which codes are in force."""
        apart = {"max_quarantined_share", "word_lists"}
        chosen = site.config.deidentification.model_dump(mode="json", exclude=apart)
        return {
            **options("deidentification", chosen),
            "own word lists": digest_of(sorted(own_words(site).items())),
            "pairing.min_age_years": str(site.config.pairing.min_age_years),
            "input.max_text_characters": str(site.config.input.max_text_characters),
            "reader codes' epoch": str(site.reader_epoch),
        }

    def key(self, site: Site, item: ExamShard) -> str:
        """Hash the shard's name, which is a hash of the exams in it, and their stated months."""
        return digest_of(self.digest(site), item.shard, item.moved)

    def find(self, site: Site, key: str) -> Coded | None:
        """Give the counts of a shard that was cleaned."""
        if not site.workspace.complete("analysis", key, "clean_exams", "withheld"):
            return None
        return site.workspace.facts("analysis", "clean_exams", key, Coded)

    def make(self, site: Site, item: ExamShard, key: str) -> Coded:
        """Code and clean the shard's exams."""
        store = site.workspace
        exams = store.read("raw", "exams", [item.shard])
        cleaned = clean(
            exams,
            codes=replace(_codes(site, exams), months=_stated(site, item)),
            deidentifier=site.once(_deidentifier),
            scan=_leak_scan(site, item.batch),
            min_age_years=site.config.pairing.min_age_years,
        )
        found = Coded(
            key=key,
            rows=len(exams),
            cleaned=len(cleaned.exams),
            withheld=dict(Counter(cleaned.withheld["reason"])),
            removed=dict(sorted(cleaned.removed.items())),
            phrases_locked=int(cleaned.exams["phrases_locked"].sum()),
        )
        store.write("analysis", "withheld", key, cleaned.withheld)
        store.write("analysis", "clean_exams", key, cleaned.exams, facts=found)
        return found


CLEAN: Final = Clean()


@dataclass(frozen=True, slots=True)
class Registered:
    """How many shards were new, and what looks wrong in the readers' ids of all of them."""

    shards: int
    notes: Mapping[str, int]


class Register(Stage[tuple[ExamShard, ...], Registered]):
    """Give every patient, study and reader of new shards a code; one writer, before the rest."""

    name = "register"

    def is_done_here(self, site: Site) -> bool:
        """Only the run's own process may write to the vault."""
        del site
        return True

    def do(self, site: Site, item: tuple[ExamShard, ...]) -> Made[Registered]:
        """Register the shards that are not cleaned yet, and look at all readers' ids."""
        months = _months(site, tuple(each.shard for each in item))
        if months.key and not site.workspace.has("raw", "months", months.key):
            site.workspace.write("raw", "months", months.key, months.moved)
        todo = [
            each.shard for each in item
            if not site.workspace.has("analysis", "clean_exams", CLEAN.key(site, each))
        ]  # fmt: skip
        columns = ["accession", "patient_id", "patient_domain", "reader_id", "site", "status"]
        columns.append("source_digest")
        # Codes lie at random places of the vault: many at once touch each page of it once.
        at_once = max(1, _BATCH_EXAMS // site.config.execution.shard_rows)
        with site.open_vault(read_only=False) as vault:
            for first in range(0, len(todo), at_once):
                some = todo[first : first + at_once]
                exams = site.workspace.read("raw", "exams", some, columns=columns)
                vault.codes("study", sorted(set(study_identifiers(exams))))
                vault.codes("exam", exam_identifiers(exams))
                vault.codes("reader", _distinct(exams["reader_id"]))
                vault.codes("site", _distinct(exams["site"]))
                patients = sorted(set(patient_identifiers(exams)))
                vault.codes("patient", patients)
                vault.shift_days(patients, _rooms(months, patients))
        return Made(Registered(len(todo), _reader_notes(site, [each.shard for each in item])))


REGISTER: Final = Register()


def _codes(site: Site, exams: pd.DataFrame) -> Codes:
    with site.open_vault(read_only=True) as vault:
        patients = patient_identifiers(exams)
        return Codes(
            study=vault.codes("study", study_identifiers(exams)),
            exam=vault.codes("exam", exam_identifiers(exams)),
            patient=vault.codes("patient", patients),
            reader=vault.codes("reader", exams["reader_id"].tolist()),
            site=vault.codes("site", exams["site"].tolist()),
            shift_days=vault.shift_days(patients),
            marks=vault.marks(exams["text"]),
            surrogate_key=_surrogate_key(site),
        )


def _stated(site: Site, item: ExamShard) -> Mapping[str, tuple[str, bool]]:
    """Give the months of the shard's exams that are stated as others, by the exam's digest."""
    if not item.moved:
        return {}
    moved = site.workspace.read("raw", "months", [item.months])
    moved = moved[moved["shard"] == item.shard]
    both = zip(moved["month"], moved["is_own"].astype(bool), strict=True)
    return dict(zip(moved["source_digest"], both, strict=True))


def _rooms(months: _Months, patients: Sequence[str]) -> list[Room | None]:
    people = np.array([normalised(each) for each in patients], dtype=object)
    return [months.rooms.get(int(each)) for each in pd.util.hash_array(people, categorize=False)]


def _deidentifier(site: Site) -> Deidentifier:
    """Make the instrument that takes identifiers out of text."""
    settings, folder = site.config.deidentification, _word_lists(site)
    layer: SecondLayer | None = None
    if settings.second_layer != "none":
        model = settings.presidio_model
        layer = Presidio(site.config.path(model) if model else None)
    limits = Options(
        replacement=settings.replacement,
        max_characters=site.config.input.max_text_characters,
        caution=settings.caution,
    )
    own = own_lexicon(folder, option=_WORD_LISTS) if folder else None
    return Deidentifier(limits, own, second_layer=layer)


def own_words(site: Site) -> Mapping[str, str]:
    """Give what the site's own word lists hold, by list."""
    folder = _word_lists(site)
    return contents(folder, option=_WORD_LISTS) if folder else {}


def _word_lists(site: Site) -> Path | None:
    """Find the folder of the site's own word lists, if it has one."""
    name = site.config.deidentification.word_lists
    return site.config.path(name) if name else None


def _surrogate_key(site: Site) -> bytes | None:
    """Give the secret behind invented values, or None where tokens are written."""
    if site.config.deidentification.replacement == "token":
        return None
    return key_from_environment().derive("surrogates")


@lru_cache(maxsize=1)
def _leak_scan(site: Site, batch: tuple[str, ...]) -> LeakScan:
    people = (
        known
        for shard in batch
        for known in known_identifiers(
            site.workspace.read("raw", "exams", [shard], columns=list(_IDENTIFIERS))
        )
    )
    return LeakScan.from_known(people, lexicon=site.once(_deidentifier).lexicon)


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
