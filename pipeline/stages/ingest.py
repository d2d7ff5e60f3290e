"""Exports → identified exams, and the rows that cannot be used.

    **ingest** → register → de-identify → pair → extract → tally → gates → issue → pages → deliver

One item is one source: a file, a folder of messages, or the spooled rows of a query. Its quarantine
shard is written last and carries the counts, so a source that has one is done.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

from pipeline.config.basis import digest_of
from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.decoding import files_of
from pipeline.formats.exams import ExamBatch, Merge
from pipeline.formats.fhir.directory import BY_RESOURCE
from pipeline.formats.readers import ReaderRules
from pipeline.formats.sources import FOLDERS, Sources, spool
from pipeline.formats.tables import named, read_table, refuse
from pipeline.formats.validation import CLOCK_TOLERANCE, IngestOptions, validate
from pipeline.stages import Keyed, Look, Named, options
from pipeline.store.files import require_readable
from pipeline.vault.merges import merge_table
from pipeline.vault.objections import Objections

if TYPE_CHECKING:
    from pipeline.site.site import Site

_LOG: Final = logging.getLogger("radcal")
_CHEST: Final = {"true": True, "1": True, "yes": True, "y": True,
                 "false": False, "0": False, "no": False, "n": False}  # fmt: skip
_ALIKE: Final = (
    "modalities", "chest_pattern", "time_zone", "max_text_characters", "statuses",
    "patient_ids_shared",
)  # fmt: skip
"""Options that the configuration and the checks call by one name."""
_WILD: Final = frozenset("*?[")
_NO_ROW: Final = "table with a header and no row"
_LOST: Final = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one source came to: its rows, and the shards of those that were kept.

    ``quarantined`` counts rows set aside by reason, ``attribution`` where readers were found, and
    ``reading`` what was not written as it should be; ``not_before`` is when a row that lay in the
    future may be judged again, '' if there is none. ``merges`` is the key of what it says of
    patients' numbers, '' where it says nothing.
    """

    rows: int
    kept: int
    quarantined: Mapping[str, int]
    attribution: Mapping[str, int]
    reading: Mapping[str, int]
    shards: tuple[str, ...]
    not_before: str
    merges: str = ""


class Ingest(Keyed[str, Ingested]):
    """Read one export into ``raw/exams`` shards and one ``raw/quarantine`` shard."""

    name = kind = "ingest"
    counted = ("rows", "kept")
    missing = "{missing:,} of {items:,} sources are new or changed"

    def settings(self, site: Site) -> Named:
        """Give how exports are read."""
        apart = {"paths", "exam_codes", "query", "reader_ids", "max_missing_share", "left_out"}
        read = site.config.input.model_dump(mode="json", exclude=apart)
        chest = digest_of(sorted(site.once(chest_codes).items()))
        rules = site.once(reader_rules)
        readers = digest_of(rules.case_sensitive, sorted(rules.aliases.items()))
        return {**options("input", read), "exam codes": chest, "reader ids": readers}

    def key(self, site: Site, item: str) -> str:
        """Hash what a source holds.

        Rows that lay in the future when it was read (a wrong date, or this machine's clock set
        back) are judged again when their time has come: under a key of its own, for a shard never
        changes.

        Raises
        ------
        InputError
            If the source vanished.
        """
        key = digest_of(self.digest(site), _content(site, Path(item)))
        while (found := self.find(site, key)) is not None:
            due = found.not_before
            if not due or pd.Timestamp(due) > _now() + CLOCK_TOLERANCE:
                break
            key = digest_of(key, due)
        return key

    def find(self, site: Site, key: str) -> Ingested | None:
        """Give the counts of a source whose quarantine and exams are all there."""
        store = site.workspace
        if not store.has("raw", "quarantine", key):
            return None
        found = store.facts("raw", "quarantine", key, Ingested)
        whole = all(store.has("raw", "exams", shard) for shard in found.shards)
        whole &= not found.merges or store.has("raw", "merges", found.merges)
        return found if whole else None

    def make(self, site: Site, item: str, key: str) -> Ingested:
        """Read and judge a source, batch by batch.

        Raises
        ------
        InputError
            If the source vanished or changed while it was read; nothing of it counts then.
        """
        store, path, batches = site.workspace, Path(item), _Batches()
        read = read_source(site, path, index=store.root / "raw" / "places.sqlite")
        for _, batch in judged(site, read, source=path.name):
            # Under what it holds: of an export that grows, what stands in it already costs nothing.
            rows = pd.util.hash_pandas_object(batch.exams, index=False)
            shard = digest_of(self.digest(site), rows.tolist())
            # What is there may be purged, and then must not come back.
            if len(batch.exams) and not store.has("raw", "exams", shard):
                store.write("raw", "exams", shard, batch.exams)
            batches.add(batch, shard)
        if self.key(site, item) != key:
            raise InputError(
                f"{path.name}: changed while it was read. Run again when the export is complete."
            )
        if site.once(formats).kind(path) not in FOLDERS and not batches.rows:
            batches.reading[_NO_ROW] = 1
        found, quarantined = batches.sum()
        if found.merges:  # under a key of its own, so that other code finds the same
            store.write("raw", "merges", found.merges, merge_table(batches.merges))
        store.write("raw", "quarantine", key, quarantined, facts=found)
        return found

    def look(self, site: Site, items: Iterable[str]) -> Look[Ingested]:
        """Look for every source's exams; a query's answer is not known before it is asked."""
        if site.config.input.format == "sql":
            return Look(1, 1, why="the database is asked anew by every run")
        return super().look(site, items)


INGEST: Final = Ingest()


class _Batches:
    """What the batches of one source came to, added up while they are read."""

    def __init__(self) -> None:
        self.set_aside: list[pd.DataFrame] = []
        self.shards: list[str] = []
        self.merges: list[tuple[str, int, Merge]] = []
        self.kept = 0
        self.attribution: Counter[str] = Counter()
        self.reading: Counter[str] = Counter()

    @property
    def rows(self) -> int:
        return self.kept + sum(map(len, self.set_aside))

    def add(self, batch: ExamBatch, shard: str) -> None:
        self.set_aside.append(batch.quarantined)
        self.merges += batch.merges
        self.kept += len(batch.exams)
        self.attribution.update(_attribution(batch.exams))
        self.reading.update(_reading(batch.exams))
        self.reading.update(batch.notes)
        self.shards += [shard] if len(batch.exams) else []

    def sum(self) -> tuple[Ingested, pd.DataFrame]:
        parts = self.set_aside
        rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
        reasons = rows["reason"].value_counts().to_dict() if len(rows) else {}
        found = Ingested(
            rows=self.rows,
            kept=self.kept,
            quarantined={str(k): int(v) for k, v in sorted(reasons.items())},
            attribution=dict(sorted(self.attribution.items())),
            reading=dict(sorted(self.reading.items())),
            shards=tuple(self.shards),
            not_before=_not_before(rows),
            merges=digest_of(*map(str, self.merges)) if self.merges else "",
        )
        return found, rows


def sources(site: Site) -> Iterator[str]:
    """Give what matches ``[input] paths``, by name, or the spooled rows of the query.

    Raises
    ------
    InputError
        If nothing matches, or a folder that does holds no file.
    ConfigurationError
        If a query is configured and no database named.
    """
    settings = site.config.input
    if settings.format == "sql":
        folder = site.workspace.root / "raw" / "queries"
        yield str(spool(database(), settings, folder, batch_rows=site.config.execution.shard_rows))
        return
    if left := unfinished(site):
        _LOG.warning("input.paths: %d file(s) still being written are left for a later run", left)
    yield from (str(path) for path in files(site))


def files(site: Site) -> list[Path]:
    """Give the files and folders that match ``[input] paths``, by name.

    HL7 and FHIR, where they are named, read a folder as one source; of any other format, or an
    unnamed one, each file in it or below it is one.

    Raises
    ------
    InputError
        If nothing matches, or what does holds no file.
    """
    found: set[Path] = set()
    matches = [match for pattern in site.config.input.paths for match in _matches(site, pattern)]
    for match in matches:
        is_one = site.config.input.format in FOLDERS
        found.update([match] if is_one else files_of(match))
    if not any(files_of(each) for each in found):
        told = f"{min(matches)} holds no file that may be read." if matches else _unmatched(site)
        raise InputError(f"input.paths: {told} Has the export been written yet?")
    return sorted(found)


def unfinished(site: Site) -> int:
    """Count the files that match and are still being written, by their names (``.part``)."""
    matches = {match for pattern in site.config.input.paths for match in _matches(site, pattern)}
    return sum(len(files_of(match, unfinished=True)) for match in matches)


def _matches(site: Site, pattern: str) -> Iterator[Path]:
    inner = Path(pattern)
    anchor = Path(inner.anchor) if inner.is_absolute() else site.config.folder
    inner = inner.relative_to(inner.anchor)  # the configuration's own folder is no pattern
    for each, parent in pairwise((inner, *inner.parents)):
        is_wild = not _WILD.isdisjoint(each.name)
        for folder in (anchor.glob(f"{parent}/") if parent.name else [anchor]) if is_wild else ():
            require_readable(folder)
    return anchor.glob(str(inner))


def _unmatched(site: Site) -> str:
    """Say which paths match no file, and how many lie below where the first of them looks."""
    folder, paths = site.config.folder, site.config.input.paths
    place = next(each for each in (folder / paths[0]).parents if each.is_dir())
    number = len(files_of(place)) if place != folder else 0
    below = f"; {number:,} file(s) lie in {place} and the folders in it" if number else ""
    return f"no file matches {', '.join(paths)} in {folder}{below}."


def database() -> str:
    """Give the database's address.

    Raises
    ------
    ConfigurationError
        If none is set.
    """
    address = os.environ.get("RADCAL_SQL_URL", "")
    if not address:
        raise ConfigurationError("The database's address is missing: set RADCAL_SQL_URL.")
    return address


def formats(site: Site) -> Sources:
    """How this site's sources are read."""
    table = site.once(_exam_codes)
    modality = table["modality"] if "modality" in table else pd.Series(dtype="str")
    known = dict(zip(table["exam_code"], modality, strict=False))
    return Sources(site.config.input, known, site.config.execution.shard_rows)


def read_source(site: Site, path: Path, index: Path | None = None) -> Iterator[ExamBatch]:
    """Read a source as it is found, and what it points at in others."""
    return site.once(formats).read(path, _elsewhere(site, path), index)


def _elsewhere(site: Site, path: Path) -> list[Path]:
    found = site.once(formats)
    return found.elsewhere(path, files(site)) if found.kind(path) == "fhir" else []


def reader_rules(site: Site) -> ReaderRules:
    """Which of this site's reader ids are one reader's."""
    settings, encoding = site.config.input.reader_ids, site.config.input.encoding
    path = site.config.path(settings.aliases) if settings.aliases else None
    return ReaderRules.of(path, case_sensitive=settings.case_sensitive, encoding=encoding)


def objections(site: Site) -> Objections:
    """Which patients and readers asked this site to be left out."""
    given = site.config.input
    path = site.config.path(given.left_out) if given.left_out else None
    rules, shared = site.once(reader_rules), given.patient_ids_shared
    return Objections.of(path, rules, given.encoding, shared=shared)


def _exam_codes(site: Site) -> pd.DataFrame:
    """Read the configured exam-code map; no rows where there is none."""
    if (name := site.config.input.exam_codes) is None:
        return pd.DataFrame({"exam_code": [], "chest": [], "modality": []}, dtype="str")
    needed = {"exam_code": "the code as exported", "chest": "true or false"}
    with named("input.exam_codes"):
        return read_table(site.config.path(name), needed, site.config.input.encoding).astype("str")


def chest_codes(site: Site) -> dict[str, bool]:
    """Exam code → whether it is a chest exam; codes with an empty cell go by their name."""
    table = site.once(_exam_codes)
    stated = table[table["chest"].str.strip() != ""]
    chest = stated["chest"].str.strip().str.lower().map(_CHEST)
    if unread := int(chest.isna().sum()):
        raise ConfigurationError(
            f"input.exam_codes: in {unread:,} row(s) the column chest is neither true nor false; "
            f"first for the exam code {stated['exam_code'][chest.isna()].iloc[0]}."
        )
    denied = chest.groupby(stated["exam_code"]).transform("nunique") > 1
    refuse(denied, "input.exam_codes", "rows say of a code what another row denies")
    return dict(zip(stated["exam_code"], chest.astype(bool), strict=True))


def _content(site: Site, path: Path) -> str:
    try:
        return site.once(formats).digest(path, _elsewhere(site, path))
    except FileNotFoundError:
        raise InputError(
            f"{path.name}: vanished during this run. Run again when the export is complete."
        ) from None


def judged(
    site: Site, found: Iterable[ExamBatch], *, source: str, as_written: bool = False
) -> Iterator[tuple[ExamBatch, ExamBatch]]:
    """Judge what a source gives; each batch comes as it was found and as it is kept."""
    settings = site.config.input
    checks = IngestOptions(
        now=_now(),
        time_formats=settings.time_formats,
        chest_codes=site.once(chest_codes),
        as_written=as_written,
        **{name: getattr(settings, name) for name in _ALIKE},
    )
    rules, seen = site.once(reader_rules), set[str]()
    for batch in found:
        kept = validate(batch, source=source, options=checks, seen=seen)
        yield batch, replace(kept, exams=rules.applied(kept.exams))


def _now() -> pd.Timestamp:
    return pd.Timestamp.now(tz="UTC")


def _not_before(quarantined: pd.DataFrame) -> str:
    """Give the earliest time at which a row set aside as lying in the future is due; '' if none."""
    times = quarantined.get("not_before", pd.Series(dtype="str")).dropna()
    return str(times[times != ""].min()) if (times != "").any() else ""


def _attribution(exams: pd.DataFrame) -> Counter[str]:
    """Count where each report's reader was found, and where text and fields disagree."""
    stated = exams["reader_id"].str.strip() != ""
    place = exams["reader_source"]
    where = place.where(place != "", "a column").where(stated, "nowhere")
    counts = Counter({f"reader named in {k}": int(v) for k, v in where.value_counts().items()})
    counts["text names another reader"] = int((exams["reader_conflict"] == "1").sum())
    return +counts


def _reading(exams: pd.DataFrame) -> Counter[str]:
    """Count the exams whose writing was not what it should be, so that none is mended silently."""
    met = (("read as", exams["decoded_as"]), ("text from", exams["text_form"]))
    counts = Counter({f"{how} {each}": int(n) for how, column in met
                      for each, n in column.value_counts().items() if each})  # fmt: skip
    told = exams["reader_source"].str.endswith(BY_RESOURCE)
    counts[f"reader told {BY_RESOURCE}"] = int(told.sum())
    given = exams["patient_authority"].str.strip() != ""
    if given.any():
        counts["patient number without an assigning authority"] = int((~given).sum())
    same = (exams["performed_at"] == exams["signed_at"]).sum()
    counts["exam time equal to time of signing"] = int(same)
    counts["text with characters lost"] = int(exams["text"].str.contains(_LOST, regex=False).sum())
    return +counts
