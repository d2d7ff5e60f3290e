"""Exports to coded exams: ingest a source, register codes, de-identify a shard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pipeline.config import digest_of
from pipeline.deidentify import LeakScan
from pipeline.errors import InputError
from pipeline.formats.exams import ExamBatch
from pipeline.site.site import Site
from pipeline.tables.coding import Codes, clean, exam_identifiers, known_identifiers
from pipeline.tables.validation import CLOCK_TOLERANCE, IngestOptions, validate

__all__ = [
    "batches", "clean_key", "clean_shard", "ingest_source", "register", "source_content",
    "source_key",
]  # fmt: skip

_IDENTIFIERS: Final = (
    "accession", "exam_id", "patient_id", "patient_name", "reader_id", "reader_name",
    "referring_name", "phone", "patient_birth_date", "preliminary_author", "staff_names",
    "relative_names", "other_ids",
)  # fmt: skip

_LOST: Final = "\N{REPLACEMENT CHARACTER}"

_BATCH_EXAMS: Final = 50_000
"""So many exams' identifiers are held at a time, however long the export is."""

Facts = dict[str, Any]


def ingest_source(config: str, source: str) -> Facts:
    """Turn one source file into ``raw/exams`` shards and one ``raw/quarantine`` shard.

    The quarantine shard is written last and carries the counts: a source that has one is done.

    Raises
    ------
    InputError
        If the source vanished or changed while it was read; nothing of it counts then.
    """
    site = Site.open(config)
    store, path = site.workspace, Path(source)
    content = source_content(site, path)
    key, found = source_key(site, content)
    if found is not None:
        return {**found, "made": False}
    shards: list[str] = []
    set_aside: list[pd.DataFrame] = []
    attributed: Counter[str] = Counter()
    deciphered: Counter[str] = Counter()
    kept = 0
    for number, batch in enumerate(_validated(site, path)):
        set_aside.append(batch.quarantined)
        kept += len(batch.exams)
        attributed.update(_attribution(batch.exams))
        deciphered.update(_reading(batch.exams))
        if len(batch.exams):
            shard = f"{key}-{number:05d}"
            store.write("raw", "exams", shard, batch.exams)
            shards.append(shard)
    if source_content(site, path) != content:
        msg = f"{path.name}: changed while it was read. Run again when the export is complete."
        raise InputError(msg)
    quarantined = pd.concat(set_aside, ignore_index=True) if set_aside else pd.DataFrame()
    reasons = quarantined["reason"].value_counts().to_dict() if len(quarantined) else {}
    facts = {
        "rows": kept + len(quarantined),
        "kept": kept,
        "quarantined": {str(k): int(v) for k, v in sorted(reasons.items())},
        "attribution": dict(sorted(attributed.items())),
        "reading": dict(sorted(deciphered.items())),
        "shards": shards,
        "not_before": _not_before(quarantined),
    }
    store.write("raw", "quarantine", key, quarantined, facts=facts)
    return {**facts, "made": True}


def register(config: str, shards: list[str]) -> int:
    """Give every patient, study and reader of these shards a code; one writer, before the rest."""
    site = Site.open(config)
    todo = [
        s for s in shards if not site.workspace.has("analysis", "clean_exams", clean_key(site, s))
    ]
    columns = ["accession", "patient_id", "reader_id", "status", "source_digest"]
    # Codes lie at random places of the vault: many at once touch each page of it once.
    at_once = max(1, _BATCH_EXAMS // site.config.execution.shard_rows)
    with site.open_vault(read_only=False) as vault:
        for first in range(0, len(todo), at_once):
            some = todo[first : first + at_once]
            exams = site.workspace.read("raw", "exams", some, columns=columns)
            vault.codes("study", _distinct(exams["accession"]))
            vault.codes("exam", exam_identifiers(exams))
            vault.codes("reader", _distinct(exams["reader_id"]))
            vault.codes("patient", patients := _distinct(exams["patient_id"]))
            vault.shift_days(patients)
    return len(todo)


def clean_shard(config: str, shard: str, batch: list[str]) -> Facts:
    """De-identify one shard; `batch` are the shards whose people the leak scan looks for."""
    site = Site.open(config)
    store, key = site.workspace, clean_key(site, shard)
    made = not store.complete("analysis", key, "clean_exams", "withheld")
    if made:
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
    return {**store.facts("analysis", "clean_exams", key), "made": made}


def batches(sources: Sequence[Facts]) -> list[list[str]]:
    """Give each shard of these sources, in their order, the batch of neighbours it lies in."""
    found: list[list[str]] = [[]]
    held = 0.0
    for source in sources:
        for shard in source["shards"]:
            if held >= _BATCH_EXAMS:
                found.append([])
                held = 0.0
            found[-1].append(shard)
            held += source["kept"] / len(source["shards"])
    return [batch for batch in found for _ in batch]


def source_content(site: Site, path: Path) -> str:
    """Hash what a source holds.

    Raises
    ------
    InputError
        If it vanished.
    """
    try:
        return site.formats.digest(path)
    except FileNotFoundError:
        msg = f"{path.name}: vanished during this run. Run again when the export is complete."
        raise InputError(msg) from None


def source_key(site: Site, content: str) -> tuple[str, Facts | None]:
    """Give the key of a source's reading, and its counts if that is complete and still holds.

    Rows that lay in the future then (a wrong date, or this machine's clock set back) are judged
    again when their time has come: under a key of its own, for a shard never changes.
    """
    store, key = site.workspace, digest_of(site.digest_of("ingest"), content)
    while store.has("raw", "quarantine", key):
        found = store.facts("raw", "quarantine", key)
        if not all(store.has("raw", "exams", shard) for shard in found["shards"]):
            return key, None
        due = found["not_before"]
        if not due or pd.Timestamp(due) > _now() + CLOCK_TOLERANCE:
            return key, found
        key = digest_of(key, due)
    return key, None


def _not_before(quarantined: pd.DataFrame) -> str:
    """Give the earliest time at which a row set aside as lying in the future is due; '' if none."""
    times = quarantined.get("not_before", pd.Series(dtype="str")).dropna()
    return str(times[times != ""].min()) if (times != "").any() else ""


def _now() -> pd.Timestamp:
    return pd.Timestamp.now(tz="UTC")


def _validated(site: Site, path: Path) -> Iterator[ExamBatch]:
    settings = site.config.input
    checks = IngestOptions(
        modalities=settings.modalities,
        chest_pattern=settings.chest_pattern,
        now=_now(),
        time_zone=settings.time_zone,
        time_formats=settings.time_formats,
        max_text_characters=settings.max_text_characters,
        chest_codes=site.chest_codes,
        statuses=settings.statuses,
    )
    seen: set[str] = set()
    for batch in site.formats.read(path):
        yield validate(batch, source=path.name, options=checks, seen=seen)


def _attribution(exams: pd.DataFrame) -> Counter[str]:
    """Count where each report's reader was found, and where text and fields disagree."""
    stated = exams["reader_id"].str.strip() != ""
    place = exams.get("reader_source", pd.Series("", index=exams.index))
    where = place.where(place != "", "a column").where(stated, "nowhere")
    counts = Counter({f"reader named in {k}": int(v) for k, v in where.value_counts().items()})
    if "reader_conflict" in exams:
        counts["text names another reader"] = int((exams["reader_conflict"] == "1").sum())
    return +counts


def _reading(exams: pd.DataFrame) -> Counter[str]:
    """Count the exams whose writing was not what it should be, so that none is mended silently."""
    marks = exams.get("decoded_as", pd.Series("", index=exams.index))
    counts = Counter({f"read as {k}": int(v) for k, v in marks.value_counts().items() if k})
    forms = exams.get("text_form", pd.Series("", index=exams.index))
    counts.update({f"text from {k}": int(v) for k, v in forms.value_counts().items() if k})
    same = (exams["performed_at"] == exams["signed_at"]).sum()
    counts["exam time equal to time of signing"] = int(same)
    counts["text with characters lost"] = int(exams["text"].str.contains(_LOST, regex=False).sum())
    return +counts


def clean_key(site: Site, shard: str) -> str:
    """Give the key of a shard's coded exams."""
    return digest_of(site.digest_of("de-identify"), shard)


def _codes(site: Site, exams: pd.DataFrame) -> Codes:
    with site.open_vault(read_only=True) as vault:
        patients = exams["patient_id"].tolist()
        return Codes(
            study=vault.codes("study", exams["accession"].tolist()),
            exam=vault.codes("exam", exam_identifiers(exams)),
            patient=vault.codes("patient", patients),
            reader=vault.codes("reader", exams["reader_id"].tolist()),
            shift_days=vault.shift_days(patients),
            surrogate_key=site.surrogate_key,
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
    return LeakScan.from_known(people, lexicon=site.deidentifier.lexicon)


def _distinct(values: pd.Series) -> list[str]:
    return sorted(set(values[values != ""]))
