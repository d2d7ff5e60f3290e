"""The work on one shard: read it, call one pure function, write the result, tell the counts.

Every function takes the configuration's path and keys, so that it runs the same in this process,
in a worker process or on another machine; a shard that exists is not made again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pipeline.config import digest_of
from pipeline.deidentify import LeakScan
from pipeline.formats import exports
from pipeline.formats.exams import ExamBatch
from pipeline.pairing import PairedExams, pair
from pipeline.site import Site
from pipeline.stages.clean import Codes, clean, known_identifiers
from pipeline.stages.ingest import IngestOptions, validate
from pipeline.stages.read import read_reports

__all__ = ["clean_shard", "ingest_source", "pair_exams", "read_shard", "register"]

_READ_TABLES: Final = ("findings", "report_findings", "readings")
_IDENTIFIERS: Final = (
    "accession", "exam_id", "patient_id", "patient_name", "reader_name", "referring_name", "phone",
    "patient_birth_date",
)  # fmt: skip

Facts = dict[str, Any]


def ingest_source(config: str, source: str) -> Facts:
    """Turn one source file into ``raw/exams`` shards and one ``raw/quarantine`` shard.

    The quarantine shard is written last and carries the counts: a source that has one is done.
    """
    site = Site.open(config)
    store, path = site.workspace, Path(source)
    key = digest_of(site.ingest_digest(), _file_digest(path))
    if store.has("raw", "quarantine", key):
        return {**store.facts("raw", "quarantine", key), "new": False}
    shards: list[str] = []
    set_aside: list[pd.DataFrame] = []
    kept = 0
    for number, batch in enumerate(_validated(site, path)):
        set_aside.append(batch.quarantined)
        kept += len(batch.exams)
        if len(batch.exams):
            shard = f"{key}-{number:05d}"
            store.write("raw", "exams", shard, batch.exams)
            shards.append(shard)
    quarantined = pd.concat(set_aside, ignore_index=True) if set_aside else pd.DataFrame()
    reasons = quarantined["reason"].value_counts().to_dict() if len(quarantined) else {}
    facts = {
        "rows": kept + len(quarantined),
        "kept": kept,
        "quarantined": {str(k): int(v) for k, v in sorted(reasons.items())},
        "shards": shards,
    }
    store.write("raw", "quarantine", key, quarantined, facts=facts)
    return {**facts, "new": True}


def register(config: str, shards: list[str]) -> int:
    """Give every patient, study and reader of these shards a code; one writer, before the rest."""
    site = Site.open(config)
    todo = [
        s for s in shards if not site.workspace.has("analysis", "clean_exams", _clean_key(site, s))
    ]
    with site.open_vault(read_only=False) as vault:
        for shard in todo:
            columns = ["accession", "patient_id", "reader_id"]
            exams = site.workspace.read("raw", "exams", [shard], columns=columns)
            vault.codes("study", _distinct(exams["accession"]))
            vault.codes("reader", _distinct(exams["reader_id"]))
            vault.codes("patient", patients := _distinct(exams["patient_id"]))
            vault.shift_days(patients)
    return len(todo)


def clean_shard(config: str, shard: str, batch: list[str]) -> Facts:
    """De-identify one shard; `batch` are the shards whose people the leak scan looks for."""
    site = Site.open(config)
    store, key = site.workspace, _clean_key(site, shard)
    if not store.has("analysis", "clean_exams", key):
        exams = store.read("raw", "exams", [shard])
        cleaned = clean(
            exams,
            codes=_codes(site, exams),
            deidentifier=site.deidentifier,
            scan=_leak_scan(config, tuple(batch)),
            min_age_years=site.config.pairing.min_age_years,
        )
        facts = {
            "key": key,
            "rows": len(exams),
            "cleaned": len(cleaned.exams),
            "withheld": dict(Counter(cleaned.withheld["reason"])),
            "removed": dict(sorted(cleaned.removed.items())),
            "phrases_locked": int(cleaned.exams["phrases_locked"].sum()),
        }
        store.write("analysis", "withheld", key, cleaned.withheld)
        store.write("analysis", "clean_exams", key, cleaned.exams, facts=facts)
    return store.facts("analysis", "clean_exams", key)


def pair_exams(config: str, clean_keys: list[str]) -> Facts:
    """Pair all coded exams; later versions of one key (an exam exported twice) count once."""
    site = Site.open(config)
    store, settings = site.workspace, site.config.pairing
    key = digest_of("pair", sorted(clean_keys), settings.model_dump(mode="json"))
    exams = _coded_exams(site, clean_keys)
    if not store.has("analysis", "pairs", key):
        paired = pair(
            exams,
            window_hours=settings.window_hours,
            ct_before_hours=settings.ct_before_hours,
            accept_preliminary=settings.preliminary_reads == "accept",
        )
        store.write("analysis", "fates", key, paired.fates)
        store.write("analysis", "pairs", key, paired.pairs, facts=_pair_facts(key, paired))
    pairs = store.read("analysis", "pairs", [key], columns=["xr_exam_key", "ct_exam_key"])
    used = exams["exam_key"].isin(pairs["xr_exam_key"]) | exams["exam_key"].isin(
        pairs["ct_exam_key"]
    )
    wanted = exams[used].groupby("shard", sort=True)["exam_key"].apply(sorted)
    return {
        **store.facts("analysis", "pairs", key),
        "to_read": {str(shard): list(keys) for shard, keys in wanted.items()},
    }


def read_shard(config: str, clean_key: str, exam_keys: list[str]) -> Facts:
    """Read the wanted reports of one coded shard; its ``readings`` are written last."""
    site = Site.open(config)
    store = site.workspace
    key = digest_of(site.read_digest(), clean_key, exam_keys)
    if not store.has("analysis", "readings", key):
        exams = store.read(
            "analysis", "clean_exams", [clean_key], columns=["exam_key", "modality", "text"]
        )
        wanted = exams[exams["exam_key"].isin(exam_keys)].drop_duplicates("exam_key")
        tables = read_reports(wanted, engine=site.engine, vocabulary=site.vocabulary)
        failed = tables.readings.loc[tables.readings["outcome"] == "failed", "reason"]
        unmapped = tables.findings.loc[tables.findings["outcome"] == "unmapped", "cue"]
        facts = {
            "key": key,
            "reports": len(wanted),
            "failed": dict(Counter(failed)),
            "statements": len(tables.findings),
            "unmapped": dict(Counter(unmapped.str.lower())),
        }
        for name in _READ_TABLES:
            mark = facts if name == "readings" else None
            store.write("analysis", name, key, getattr(tables, name), facts=mark)
    return store.facts("analysis", "readings", key)


def _validated(site: Site, path: Path) -> Iterator[ExamBatch]:
    settings = site.config.input
    options = exports.TableOptions(
        encoding=settings.encoding,
        columns=settings.columns,
        batch_rows=site.config.execution.shard_rows,
    )
    checks = IngestOptions(
        modalities=settings.modalities,
        chest_pattern=settings.chest_pattern,
        now=pd.Timestamp.now(tz="UTC"),
        time_zone=settings.time_zone,
        max_text_characters=settings.max_text_characters,
        chest_codes=site.chest_codes,
    )
    seen: set[tuple[str, str, str]] = set()
    for batch in exports.read(path, options):
        yield validate(batch, source=path.name, options=checks, seen=seen)


def _clean_key(site: Site, shard: str) -> str:
    return digest_of(site.clean_digest(), shard)


def _codes(site: Site, exams: pd.DataFrame) -> Codes:
    with site.open_vault(read_only=True) as vault:
        readers = exams["reader_id"].tolist()
        named = vault.codes("reader", [r for r in readers if r])
        coded = iter(named)
        return Codes(
            study=vault.codes("study", exams["accession"].tolist()),
            patient=vault.codes("patient", exams["patient_id"].tolist()),
            reader=[next(coded) if r else "" for r in readers],
            shift_days=vault.shift_days(exams["patient_id"].tolist()),
        )


@lru_cache(maxsize=1)
def _leak_scan(config: str, batch: tuple[str, ...]) -> LeakScan:
    site = Site.open(config)
    people = (
        known
        for shard in batch
        for known in known_identifiers(
            site.workspace.read("raw", "exams", [shard], columns=list(_IDENTIFIERS))
        )
    )
    return LeakScan.from_known(people)


def _coded_exams(site: Site, clean_keys: list[str]) -> pd.DataFrame:
    columns = [
        "study_code", "patient_code", "reader_code", "exam_key", "modality", "performed_at",
        "signed_at", "performed_month", "status", "is_chest", "is_adult", "age_band",
        "patient_class",
    ]  # fmt: skip
    parts = [
        site.workspace.read("analysis", "clean_exams", [key], columns=columns).assign(shard=key)
        for key in sorted(clean_keys)
    ]
    return pd.concat(parts, ignore_index=True).drop_duplicates("exam_key")


def _pair_facts(key: str, paired: PairedExams) -> Facts:
    return {
        "key": key,
        "pairs": len(paired.pairs),
        "flow": [[s.name, s.remaining, s.excluded, s.reason] for s in paired.flow],
    }


def _distinct(values: pd.Series) -> list[str]:
    return sorted(set(values[values != ""]))


def _file_digest(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
