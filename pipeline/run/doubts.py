"""What looks wrong in the rows that `radcal check` reads, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from extraction.certainty import is_foreign
from pipeline.formats.readers import reader_notes
from pipeline.formats.times import has_no_offset, iso_times
from pipeline.formats.values import data
from pipeline.site.site import Finding, Site


def doubts(
    site: Site, raw: pd.DataFrame, kept: pd.DataFrame, *, odd_ages: int
) -> Iterator[Finding]:
    """Look through rows as they are written and as they were kept; `odd_ages` nobody has."""
    yield from _language(site, kept)
    yield from _notes(kept)
    yield from _ages(kept, site.config.pairing.min_age_years, odd_ages)
    yield from _zone(site, raw)


def _language(site: Site, kept: pd.DataFrame) -> Iterator[Finding]:
    """Tell of reports in another language than English, which no engine is asked to read."""
    foreign = sum(map(is_foreign, kept["text"]))
    if foreign:
        told = f"{foreign:,} of {len(kept):,} reports are not in English and would not be read"
        is_much = foreign > site.config.extraction.max_failed_share * len(kept)
        yield Finding("language", "fault" if is_much else "note", told)


def _notes(kept: pd.DataFrame) -> Iterator[Finding]:
    """Tell what looks wrong in the readers' ids."""
    notes, films = data("remedies")["notes"], kept.loc[kept["modality"] == "XR", "reader_id"]
    nobody = int((films.str.strip() == "").sum())
    if nobody:
        told = f"{nobody:,} of {len(films):,} {notes['nobody']}"
        yield Finding("reader ids", "fault" if nobody == len(films) else "note", told)
    exams = kept.groupby(["accession", "patient_domain"])[["patient_id", "performed_at"]]
    if several := int((exams.nunique().max(axis=1) > 1).sum()):
        yield Finding("accession numbers", "note", f"{several:,} {notes['several']}")
    version = ["accession", "patient_id", "modality", "signed_at", "status", "sequence", "sent_at"]
    named = kept[kept["reader_id"].str.strip() != ""].groupby(version, dropna=False)["reader_id"]
    if twice := sum(each > 1 for each in named.nunique()):
        yield Finding("reader ids", "note", f"{twice:,} {notes['two_readers']}")
    if apart := sum(each > 1 for each in kept.groupby(version, dropna=False)["text"].nunique()):
        yield Finding("versions", "note", f"{apart:,} {notes['apart']}")
    readers = kept[["reader_id", "reader_name"]].drop_duplicates()
    for note, count in reader_notes(readers.itertuples(index=False, name=None)).items():
        yield Finding("reader ids", "note", f"{count:,} {note}; see [input.reader_ids]")


def _ages(kept: pd.DataFrame, least: int, odd: int) -> Iterator[Finding]:
    """Tell of X-rays whose patient's age nobody knows: they count as no adult's."""
    if not least or not len(kept):
        return
    films = kept[kept["modality"] == "XR"]
    unknown = films[films["patient_age_years"].isna()]
    if len(unknown):
        dated = int((unknown["patient_birth_date"].str.strip() != "").sum())
        unread = f" that can be read ({dated:,} have one: see [input] time_format)" * bool(dated)
        told = f"{len(unknown):,} of {len(films):,} X-rays have neither an age nor a birth date"
        beside = f" (in {odd:,} rows what is stated is nobody's, or cannot be read)" * bool(odd)
        told += f"{unread}{beside} and {data('remedies')['notes']['ages']}"
        yield Finding("ages", "note", told)


def _zone(site: Site, raw: pd.DataFrame) -> Iterator[Finding]:
    """Tell of times without an offset where the zone is the one that nobody may have set."""
    settings = site.config.input
    bare = int(has_no_offset(iso_times(raw["performed_at"], settings.time_formats)).sum())
    if settings.time_zone == "UTC" and bare:
        told = f"{bare:,} of {len(raw):,} {data('remedies')['notes']['no_zone']}"
        yield Finding("time zone", "note", told)
