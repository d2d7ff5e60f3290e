"""`radcal check`: rehearse a run on the first rows of its sources, and say what it would refuse.

Nothing is written, and nothing that is shown names a person: texts are shown by their length, other
cells by their shape, values only where they look like codes (`pipeline.formats.people`), and of
readers only how many there are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Final

import pandas as pd
import pyarrow.parquet as pq

from pipeline.config.basis import EXAM_COLUMNS, OPTIONAL_COLUMNS
from pipeline.errors import RadcalError
from pipeline.formats.decoding import files_of
from pipeline.formats.exams import ExamBatch
from pipeline.formats.people import masked, shown_values
from pipeline.formats.sources import FOLDERS, queried
from pipeline.formats.times import ZONED, formats_that_read, iso_times, utc_times
from pipeline.formats.validation import NO_AGE
from pipeline.formats.values import data
from pipeline.run.doubts import doubts
from pipeline.site.site import Finding, Site, finding, site_findings
from pipeline.stages import clean, ingest
from pipeline.stages.deliver import ready

_ROWS: Final = 5_000
_SOURCES: Final = 5
_HEADS: Final = 200
"""Of so many sources the head is looked at."""
_FIRST: Final = 3
_LISTED: Final = 10
_TRIED: Final = 200
"""On so many times that nothing reads the usual formats are tried."""
_SECONDS_AN_EXAM: Final = 0.0025
"""CPU time from export to tally of a report of `_CHARACTERS` (benchmarks/scale_sizing.py)."""
_CHARACTERS: Final = 800
_SECONDS_A_READER: Final = 0.3
_START_SECONDS: Final = 20.0
_SMALL_BYTES: Final = 4 * 2**20
_BESIDE: Final = {"hl7v2": 900, "fhir": 1_500}
"""Characters of a message or resource beside those that are read."""


@dataclass(frozen=True, slots=True)
class Column:
    """One of our columns: its place in the source, how many rows fill it, the first ones' shape."""

    name: str
    place: str
    filled: int
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceSeen:
    """A source as far as it was read; `rows_in_all` is counted where `whole`, else estimated.

    `set_aside` counts rows by the reason that a run gives, `also_fail` those that would fail
    another check were it not for that; `unread` names a table's columns that no line maps.
    """

    name: str
    format: str
    rows: int
    whole: bool
    rows_in_all: int
    set_aside: Mapping[str, int]
    also_fail: Mapping[str, int]
    columns: tuple[Column, ...]
    kept_as: Mapping[str, Mapping[str, int]]
    unread: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unmapped:
    """A value that was met and no map knows, how often, and the line that would map it."""

    value: str
    count: int
    line: str


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What was found; `minutes` is None where no source could be read."""

    findings: tuple[Finding, ...]
    sources: tuple[SourceSeen, ...] = ()
    unmapped: tuple[Unmapped, ...] = ()
    minutes: float | None = None

    @property
    def faults(self) -> int:
        """How many findings would keep a run from starting, or from delivering anything."""
        return sum(each.state == "fault" for each in self.findings)

    @property
    def set_aside(self) -> int:
        """How many of the rows read would be set aside."""
        return sum(sum(each.set_aside.values()) for each in self.sources)


def cheap_findings(site: Site) -> Iterator[Finding]:
    """Check what can be known in milliseconds: all that a run asks before it reads."""
    yield from site_findings(site)
    yield finding("exam codes", lambda: f"{len(site.once(ingest.chest_codes)):,} mapped")
    yield finding("reader ids", lambda: f"{len(site.once(ingest.reader_rules).aliases):,} aliases")
    yield finding("left out", lambda: _left_out(site))
    yield finding("word lists", lambda: clean.tried_words(site))
    yield finding("sources", lambda: _sources(site))


def is_fit(site: Site) -> bool:
    """Whether a run would not be refused before it reads anything."""
    return all(each.state != "fault" for each in cheap_findings(site))


def is_small(site: Site) -> bool:
    """Whether a run over all sources costs less than a server and workers take to start.

    A database is asked only by the run, so a query is never known to be small.
    """
    settings = site.config
    if settings.execution.orchestrated == "always" or settings.execution.dask_address:
        return False
    if settings.input.format == "sql" or settings.extraction.engine != "rules":
        return False
    sources = ingest.files(site) if is_fit(site) else ()
    sizes = (path.stat().st_size for source in sources for path in files_of(source))
    return all(total <= _SMALL_BYTES for total in accumulate(sizes))


def rehearse(site: Site, *, values: bool = False) -> Rehearsal:
    """Check a site, and read the first rows of its sources as a run would.

    `values`: whether values that no map knows may be shown although they may be names.
    """
    met = [*cheap_findings(site), finding("extraction engine", lambda: site.engine.name)]
    findings = list({each if each.state != "fault" else each.told: each for each in met}.values())
    if any(each.state == "fault" for each in findings):
        return Rehearsal(tuple(findings))
    parts, sources = [], []
    readable = _readable(site)
    for name, found in list(readable.items())[:_SOURCES]:
        try:
            part = _Part(site, name, found, as_written=values)
        except RadcalError as error:
            findings.append(Finding(name, "fault", str(error)))
            continue
        parts.append(part)
        sources.append(part.seen)
    if not sources:
        return Rehearsal(tuple(findings))
    raw = pd.concat([part.raw for part in parts], ignore_index=True)
    kept = pd.concat([part.kept for part in parts], ignore_index=True)
    odd_ages = sum(part.unknown[NO_AGE] for part in parts)
    findings += doubts(site, raw, kept, odd_ages=odd_ages)
    findings += _refused(site, list(readable.items())[_SOURCES:_HEADS])
    findings.append(finding("delivery", lambda: ready(site)))
    if not len(kept):
        is_all = len(sources) == len(readable) and all(each.whole for each in sources)
        seen = sum(each.rows for each in sources)
        told = f"no exam in {seen:,} rows read; a run of these alone delivers nothing"
        findings.append(Finding("exams", "fault" if is_all else "note", told))
    rows = sum(each.rows_in_all for each in sources) * len(readable) / len(sources)
    return Rehearsal(
        tuple(findings),
        tuple(sources),
        (*_unknown(parts), *_times(site, raw), *_remedies(sources), *_codes(site, raw, kept)),
        _minutes(site, rows, raw),
    )


class _Part:
    """The first rows of one source, as found and as kept."""

    def __init__(self, site: Site, name: str, source: Path | None, *, as_written: bool) -> None:
        format_ = "sql" if source is None else site.once(ingest.formats).kind(source)
        batches = _batches(site, source)
        raws, kepts, aside, fails = [], [], Counter[str](), Counter[str]()
        self.unknown: Counter[str] = Counter()
        rows, whole = 0, True
        for raw, judged in ingest.judged(site, batches, source=name, as_written=as_written):
            raws.append(raw.exams)
            kepts.append(judged.exams)
            aside.update(judged.quarantined["reason"])
            fails.update(judged.faults)
            self.unknown.update(judged.notes)
            rows = sum(map(len, kepts)) + aside.total()
            if rows >= _ROWS:
                whole = next(batches, None) is None
                break
        batches.close()
        empty = pd.DataFrame(columns=[*EXAM_COLUMNS, *OPTIONAL_COLUMNS], dtype="str")
        self.raw = pd.concat(raws or [empty], ignore_index=True)
        self.kept = pd.concat(kepts or [empty], ignore_index=True)
        in_all = rows if whole else _rows_in_all(source, format_, self.raw, rows)
        columns, kept_as = tuple(_columns(site, self.raw, format_)), _kept_as(self.kept)
        also = dict(fails - aside)
        unread = tuple(site.once(ingest.formats).unread(source)) if source else ()
        self.seen = SourceSeen(
            name, format_, rows, whole, in_all, dict(aside), also, columns, kept_as, unread
        )


def _left_out(site: Site) -> str:
    asked = site.once(ingest.objections)
    told = f"{len(asked.patients):,} patients, {len(asked.readers):,} readers on request"
    return f"{told}; {len(asked.former):,} former readers get no page" if asked.former else told


def _sources(site: Site) -> str:
    if site.config.input.format == "sql":
        ingest.database()
        return "a query"
    found = ingest.files(site)
    for each in found:
        site.once(ingest.formats).kind(each)
    left = ingest.unfinished(site)
    beside = f"; {left:,} still being written (.part, .tmp) are left for a later run" * bool(left)
    return f"{len(found):,} match{beside}"


def _readable(site: Site) -> dict[str, Path | None]:
    if site.config.input.format == "sql":
        return {"query": None}
    paths = ingest.files(site)
    several = Counter(path.name for path in paths)
    return {str(path) if several[path.name] > 1 else path.name: path for path in paths}


def _batches(site: Site, source: Path | None) -> Generator[ExamBatch, None, None]:
    if source is None:
        rows = site.once(ingest.formats).batch_rows
        yield from queried(ingest.database(), site.config.input, batch_rows=rows)
    else:
        yield from ingest.read_source(site, source)


def _rows_in_all(source: Path | None, format_: str, raw: pd.DataFrame, rows: int) -> int:
    """Estimate how many rows a source has, by the length of those read."""
    if source is None:
        return rows
    if format_ == "parquet":
        return int(pq.read_metadata(source).num_rows)
    names = [name for name in raw if name != "source_row" and (raw[name] != "").any()]
    each = sum(float(raw[name].str.len().mean()) + 1 for name in names)
    size = sum(path.stat().st_size for path in files_of(source))
    return max(rows, round(size / (each + _BESIDE.get(format_, 0))))


def _columns(site: Site, raw: pd.DataFrame, format_: str) -> Iterator[Column]:
    map_ = {} if format_ in FOLDERS else site.config.input.columns
    for name in (*EXAM_COLUMNS, *OPTIONAL_COLUMNS):
        stated = raw[name].str.strip() != ""
        if not stated.any() and name in OPTIONAL_COLUMNS:
            continue
        place = map_.get(name, name)
        first = [_shape(name, value) for value in raw[name].head(_FIRST)]
        written = place if isinstance(place, str) else " or ".join(filter(None, place))
        yield Column(name, written, int(stated.sum()), tuple(first))


def _kept_as(kept: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count what the rows that were kept are taken for."""
    if not len(kept):
        return {}
    chest = kept["is_chest"].map({True: "chest", False: "another part"})
    each = {
        "modality": kept["modality"],
        "part": chest,
        "status": kept["status"],
        "class": kept["patient_class"],
        "year": kept["performed_at"].dt.year.astype(str),
    }
    return {name: dict(Counter(values).most_common(_LISTED)) for name, values in each.items()}


def _shape(name: str, value: str) -> str:
    if name == "text":
        return f"{len(value):,} characters" if value else ""
    return masked(value)


def _unknown(parts: Sequence[_Part]) -> Iterator[Unmapped]:
    """List values that no map knows, with the line that would map each."""
    found = sum((part.unknown for part in parts), Counter[str]())
    lines = data("remedies")["values"]
    for told, count in found.most_common(2 * _LISTED):
        if not told.startswith("unknown "):
            continue
        _, name, value = (*told.split(" ", 2), "")[:3]
        known = name if value else f"no {name}"
        line = lines.get("masked" if value.startswith("‹") else known, lines["other"])
        # TOML reads a key as JSON does: quoted, with its backslashes doubled.
        yield Unmapped(told, count, line.format(value=json.dumps(value, ensure_ascii=False)))


def _remedies(sources: Sequence[SourceSeen]) -> Iterator[Unmapped]:
    """Say of each reason for which rows are set aside what to add, or to ask for."""
    met = sum((Counter(s.set_aside) for s in sources), Counter[str]())
    known = data("remedies")["reasons"]
    return (Unmapped(why, n, known[why]) for why, n in met.most_common() if why in known)


def _times(site: Site, raw: pd.DataFrame) -> Iterator[Unmapped]:
    """List the times that are read by no format, with the line that would read them."""
    settings = site.config.input
    for name in ("performed_at", "signed_at"):
        written = raw[name].str.strip()
        times = utc_times(iso_times(written, settings.time_formats), settings.time_zone)
        unread = written[times.isna() & (written != "")]
        if not len(unread):
            continue
        usual = formats_that_read(list(unread.unique()[:_TRIED]))
        line = " or ".join(f'[input] time_format = "{form}"' for form in usual)
        named = bool(unread.iloc[:1].str.extract(ZONED).notna().any(axis=None))
        shape, remedies = masked(unread.iloc[0]), data("remedies")["values"]
        line = line or remedies["zone"] * named
        line = line or remedies["no such time"] * (shape in set(written[times.notna()].map(masked)))
        told = f"{name} written as ‹{shape}›"
        yield Unmapped(told, len(unread), line or "[input] time_format = how it is written")


def _refused(site: Site, rest: Sequence[tuple[str, Path | None]]) -> list[Finding]:
    """Look at the head of sources that are not read: one that lacks a column stops a run."""

    def looked(source: Path | None) -> str:
        return ", ".join(site.once(ingest.formats).unread(source)) if source else ""

    heads = [finding(name, partial(looked, source)) for name, source in rest]
    return [each for each in heads if each.state == "fault"]


def _codes(site: Site, raw: pd.DataFrame, kept: pd.DataFrame) -> Iterator[Unmapped]:
    """List exams of no modality, and exam codes that count as no chest exam by their name alone."""
    bare = raw[raw["modality"].str.strip() == ""]
    exams = bare["exam_code"].where(bare["exam_code"] != "", bare["exam_name"])
    for exam, count in shown_values(exams, strange_words=True).most_common(_LISTED):
        if exam:
            told = f"exam {exam}, of no modality"
            yield Unmapped(told, count, f"exam_codes: {exam},true,XR  (if it is a chest film)")
    if not len(kept):
        return
    mapped = set(site.once(ingest.chest_codes))
    left = kept[~kept["is_chest"].astype(bool) & ~kept["exam_code"].isin(mapped)]
    for code, count in shown_values(left["exam_code"], strange_words=True).most_common(_LISTED):
        if code:
            told = f"exam code {code}, no chest exam by its name"
            yield Unmapped(told, count, f"exam_codes: {code},true  (if it is one)")


def _minutes(site: Site, rows: float, raw: pd.DataFrame) -> float:
    """Estimate how long a first run takes, a language model's time apart."""
    length = float(raw["text"].str.len().mean() or 0.0) if len(raw) else 0.0
    exams = rows * _SECONDS_AN_EXAM * max(length / _CHARACTERS, 0.3)
    pages = raw["reader_id"].nunique() * _SECONDS_A_READER
    return (_START_SECONDS + (exams + pages) / site.config.execution.workers) / 60
