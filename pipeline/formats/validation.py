"""Exams as a source gives them → exams as the contract has them; what cannot be used is set aside.

Each row is judged by every check and quarantined under the first that it fails, in the order of
`REASONS`; rows in = rows kept + rows quarantined.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import pandas as pd

from pipeline.formats import times, values
from pipeline.formats.exams import ExamBatch
from pipeline.formats.people import masked, shown_values

REASONS: Final[Mapping[str, str]] = values.data("remedies")["checks"]
"""Why a row is set aside; a closed set, beside what a format's reader says."""

_HOUR: Final = pd.Timedelta(hours=1)
CLOCK_TOLERANCE: Final = pd.Timedelta(days=1)
"""A time may lie this far ahead of this machine's clock."""

_DATE_ONLY: Final = r"\d{4}(?:[-/. ]?\d\d?){0,2}"
_OF_A_REPORT: Final = values.data("remedies")["of_a_report"]["checks"]
"""What is wrong with a report only, and not with the word that takes one back."""
_BETWEEN: Final = r"[\\/,;+]"
"""Between the modalities of a study that has several, as DICOM and others write them."""
_WITHOUT_PICTURES: Final = frozenset({"SR", "PR", "KO", "OT", "DOC", "SEG", "REG", "AU", ""})
"""DICOM's words for what stands beside a study's pictures: its report, marks, documents."""
_TIMES: Final = ("performed_at", "signed_at", "sent_at")
_BETWEEN_CLOCKS: Final = "time in an hour that a clock change doubles or leaves out"
_OTHER_SEASON: Final = "time under the name of its zone's other season (EST in July)"
_NO_STATUS: Final = "report without a status among others that have one, taken for final"
_OTHER_ZONE: Final = "time of sending (MSH-7) of another zone than input.time_zone"
_OFFSET: Final = r"(?<=[T \d:.])[+-](?!00:?00$)\d\d:?\d\d$"
"""At the end of a time; that of UTC is a machine's own and says nothing of where it stands."""
NO_AGE: Final = "age or birth date that cannot be read, or is nobody's"
_BORN_IN: Final = r"^((?:18|19|20)\d\d)(?:-?(0\d|1[0-2])(?:-?00)?)?$"
"""A birth date of which the day, or the month too, is unknown: left out, or 00."""
_LISTED: Final = 20
"""So many unknown values of a column are named; the others are counted."""
_NUMBER: Final = r"(\d{1,9})(?:\.(\d{1,4}))?"
_CONTROL: Final = r"[\x00-\x08\x0e-\x1f\x7f]"
"""No identifier and no name holds these."""
_MOST_CHARACTERS: Final = 2000
"""Of any column but the text; several names may stand in one."""
_BESIDE: Final = ["text", "source_row"]
_NAMING: Final = ["exam_name", "exam_code", "modality", "status", "reader_name", "accession"]
"""What stands in one of these is no report, whichever column it stands in."""
_HEADING: Final = r"^\s*(?:FINDINGS|IMPRESSION):\s"
_SIGNED: Final = ("final", "corrected")
_NO_REPORT: Final = ("only_attachment", "no_valid_report")
_SAID: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)?")
_NOTICE: Final = 200
_EARLIEST: Final = pd.Timestamp("1980-01-01", tz="UTC")
"""Before it lie the days that programs write where the true one is lost: 0001, 1900, 1970."""
_ROUNDED: Final = r"\d{1,3}(?:(?:[.,]\d*)?[Ee]\+|[.,]\d*[Ee])\d{1,3}"
"""A number as a spreadsheet or a program shows it that has thrown its last figures away: with a
sign (3E+11, 2.6e+016) or a fraction (2.6E16). One with neither (26E123) may be a true number."""
_NUMBERS: Final = ["accession", "patient_id", "reader_id"]
_IDENTITY: Final = (
    "accession", "status", "version", "patient_id", "reader_id", "modality", "exam_code",
    "exam_name", "performed_at", "signed_at", "text", "site", "patient_class",
    "patient_age_years", "patient_birth_date", "preliminary_author", "patient_authority",
)  # fmt: skip
"""What tells one version of a report from another, whenever and how often it was sent."""


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """What ingest needs of the configuration; ``chest_codes`` maps exam code → chest or not."""

    modalities: Mapping[str, str]
    chest_pattern: str
    now: pd.Timestamp
    time_zone: str = "UTC"
    time_formats: tuple[str, ...] = ()
    max_text_characters: int = 200_000
    chest_codes: Mapping[str, bool] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    patient_ids_shared: bool = False
    as_written: bool = False
    """Whether notes hold values that no map knows as they are, be they names or not."""


def validate(batch: ExamBatch, *, source: str, options: IngestOptions, seen: set[str]) -> ExamBatch:
    """Type a batch's columns and set aside what cannot be used.

    Parameters
    ----------
    seen
        ``source_digest`` and time of sending of the source's earlier rows; this batch's are added.

    Returns
    -------
    ExamBatch
        Exams with times as UTC timestamps (``performed_at, signed_at, sent_at``), canonical
        modality, status and class, ``patient_age_years`` as a float (NaN = unknown), ``sequence``
        (the source's number of the version, NaN = none), ``patient_domain`` (who gave the patient's
        number), ``is_chest``, and ``source_digest``, which tells one version of a report from
        another. A row set aside as ``future_date`` says in ``not_before`` when it may be judged
        again.
    """
    raw, zone = _dated(batch.exams, options), options.time_zone
    exams = _typed(raw, options)
    fails = _fails(raw, exams, options, seen)
    reason = pd.Series("", index=raw.index, dtype="object")
    for name in reversed(fails.columns):
        reason = reason.mask(fails[name], name)
    kept = exams[reason == ""].drop(columns="text_cut").reset_index(drop=True)
    early = exams[["performed_at", "signed_at"]].max(axis=1).where(reason == "future_date")
    set_aside = pd.DataFrame(
        {
            "source": pd.Series(batch.files or source, index=raw.index, dtype="str"),
            "row": raw["source_row"],
            "reason": reason,
            "detail": reason.map(REASONS).mask(reason == "text_cut", raw["text_cut"]),
            "not_before": early.dt.strftime("%Y-%m-%dT%H:%M:%SZ").fillna(""),
        }
    )[reason != ""]
    parts = [frame for frame in (batch.quarantined, set_aside) if len(frame)]
    quarantined = pd.concat(parts, ignore_index=True) if parts else batch.quarantined
    notes = _unknown(raw, fails, as_written=options.as_written) + Counter(batch.notes)
    signed = _end_of_day(raw["signed_at"])
    for told, named in ((_BETWEEN_CLOCKS, False), (_OTHER_SEASON, True)):
        each = (times.between_clocks(t, zone, named=named) for t in (raw["performed_at"], signed))
        notes[told] = int((next(each) | next(each))[reason == ""].sum())
    stated = raw["status"].str.strip() != ""
    notes[_NO_STATUS] = int((~stated & (reason == "")).sum()) * bool(stated.any())
    notes[_OTHER_ZONE] = int(_other_zone(raw, zone)[reason == ""].sum())
    has_one = (raw[["patient_age_years", "patient_birth_date"]] != "").any(axis=1)
    notes[NO_AGE] = int((has_one & exams["patient_age_years"].isna())[reason == ""].sum())
    return replace(batch, exams=kept, quarantined=quarantined, notes=+notes, faults=_counted(fails))


def _typed(raw: pd.DataFrame, options: IngestOptions) -> pd.DataFrame:
    """Give every column its type and its canonical words; what cannot be read is missing."""
    zone = options.time_zone
    modalities = {name.upper(): modality for name, modality in options.modalities.items()}
    known = {said: values.status_of(said, options.statuses) for said in raw["status"].unique()}
    exams = raw.assign(
        modality=known_modality(raw["modality"].str.upper(), modalities),
        status=_texts(raw["status"].map(known), raw.index),
        patient_class=_worded(raw["patient_class"], "patient_class"),
        patient_sex=_worded(raw["patient_sex"], "sex"),
        performed_at=_not_lost(times.utc_times(raw["performed_at"], zone)),
        signed_at=_not_lost(times.utc_times(_end_of_day(raw["signed_at"]), zone, last=True)),
        sent_at=_not_lost(times.utc_times(raw["sent_at"], zone, last=True)),
        sequence=_sequence(raw["version"]),
        patient_domain=_patient_domain(raw, shared=options.patient_ids_shared),
        version=raw["version"].where(raw["version"] != "", "1"),
    )
    exams = _retractions(exams)
    is_added = exams["status"].isin(_SIGNED) & raw["text"].str.contains(values.ADDED)
    return exams.assign(
        status=exams["status"].mask(is_added, "addendum"),
        patient_age_years=_ages(raw, exams["performed_at"]),
        is_chest=_chest(exams, options),
        source_digest=_texts(map(_digest, raw[list(_IDENTITY)].itertuples(index=False)), raw.index),
    )


def _counted(fails: pd.DataFrame) -> Counter[str]:
    return +Counter({str(name): int(count) for name, count in fails.sum().items()})


def _unknown(raw: pd.DataFrame, fails: pd.DataFrame, *, as_written: bool) -> Counter[str]:
    """Count the modalities and statuses that no map knows; what is somebody's number is masked.

    So is what stands in a row of which a number is a status: two columns were changed over there.
    """
    found: Counter[str] = Counter()
    numbers = pd.concat([_folded(raw[name]) for name in _NUMBERS]).dropna()
    for name in ("modality", "status"):
        rows = raw[fails[f"unknown_{name}"]]
        met = rows[name].str.strip()
        is_status = [rows[c].str.strip().map(lambda n: n and values.status_of(n)) for c in _NUMBERS]
        is_own = _folded(met).isin(numbers) | pd.concat(is_status, axis=1).any(axis=1)
        known = Counter(met) if as_written else shown_values(met[~is_own])
        known.update(f"‹{masked(value)}›" for value in met[is_own & (not as_written)])
        listed = dict(known.most_common(_LISTED))
        found.update({f"unknown {name} {value}": count for value, count in listed.items()})
        found[f"unknown {name}, other values"] += known.total() - sum(listed.values())
    return +found


def _fails(
    raw: pd.DataFrame, exams: pd.DataFrame, options: IngestOptions, seen: set[str]
) -> pd.DataFrame:
    """Tell which rows fail which check, in the order of `REASONS`."""
    performed, signed = exams["performed_at"], exams["signed_at"]
    latest = options.now + CLOCK_TOLERANCE
    text, gone = raw["text"], exams["status"] == values.RETRACTED
    fails: dict[str, pd.Series] = {
        "missing_accession": raw["accession"].map(values.is_no_number),
        "missing_patient_id": raw["patient_id"].map(values.is_no_number),
        "rounded_number": _any(raw[_NUMBERS], lambda one: one.str.strip().str.fullmatch(_ROUNDED)),
        "nul_bytes": _any(raw, lambda column: column.str.contains(_CONTROL, regex=True))
        | (text.str.contains("\x00", regex=False) & ~gone),
        "field_too_long": _any(raw, lambda column: column.str.len() > _MOST_CHARACTERS),
        "unknown_status": exams["status"] == "",
        "missing_text": text.map(values.is_no_number).astype(bool),
        "not_a_report": _folded(text.str.replace(_HEADING, "", regex=True)).isin(
            pd.concat([_folded(raw[name]) for name in _NAMING]).dropna()
        ),
        **{why: text.map(no_report) == why for why in _NO_REPORT},
        "text_too_long": text.str.len() > options.max_text_characters,
        "text_cut": raw["text_cut"] != "",
        "unknown_modality": exams["modality"].isna(),
        "bad_performed_at": performed.isna(),
        "no_time_of_day": raw["performed_at"].str.strip().str.fullmatch(_DATE_ONLY),
        "bad_signed_at": signed.isna() & (raw["signed_at"].str.strip() != ""),
        "future_date": (performed > latest) | (signed > latest),
        "signed_before_performed": signed < performed - _HOUR,
        "duplicate_exam": _repeats(exams, seen),
    }
    fails |= {name: fails[name] & ~gone for name in _OF_A_REPORT}
    return pd.DataFrame(fails, index=raw.index).fillna(value=False).astype(bool)


def no_report(text: str) -> str:
    """Give the reason for which a short text is no report; '' where it may be one.

    Examples
    --------
    >>> no_report("Please see scanned report."), no_report("CT chest: exam not performed.")
    ('only_attachment', 'no_valid_report')
    >>> no_report("See report: no pneumonia."), no_report("CT chest. No change.")
    ('', '')
    """
    known = values.data("words")["no_report"]
    said = _SAID.findall(text.casefold()) if len(text) <= _NOTICE else []
    is_notice = all(word in known["words"] or re.search(r"\d", word) for word in said)
    told = " ".join(said) if is_notice else ""
    return next((s["means"] for s in known["says"] if re.search(s["pattern"], told)), "")


def _folded(cells: pd.Series) -> pd.Series:
    return cells.str.casefold().str.split().str.join(" ").mask(cells.str.strip() == "", None)


def _any(raw: pd.DataFrame, is_so: Callable[[pd.Series], pd.Series]) -> pd.Series:
    """Tell which rows have a cell beside their text of which something is so."""
    names = raw.columns.drop(_BESIDE, errors="ignore")
    return pd.DataFrame({name: is_so(raw[name]) for name in names}, index=raw.index).any(axis=1)


def _not_lost(found: pd.Series) -> pd.Series:
    return found.where(found >= _EARLIEST)


def _retractions(exams: pd.DataFrame) -> pd.DataFrame:
    """Let what takes a report back stand without text, modality or the time of the exam."""
    gone = exams["status"] == values.RETRACTED
    known = exams["performed_at"].fillna(exams["signed_at"]).fillna(exams["sent_at"])
    return exams.assign(
        text=exams["text"].where(~gone, ""),
        modality=exams["modality"].where(~gone | exams["modality"].notna(), ""),
        performed_at=exams["performed_at"].where(~gone, known),
    )


def _repeats(exams: pd.DataFrame, seen: set[str]) -> pd.Series:
    """Find rows that came before; one sent again at another time may undo a retraction."""
    sent = exams["sent_at"].dt.strftime("%Y%m%d%H%M%S%f").fillna("")
    sending = exams["source_digest"] + "/" + sent
    repeated: pd.Series = sending.duplicated() | sending.isin(seen)
    seen.update(sending)
    return repeated


def _dated(exams: pd.DataFrame, options: IngestOptions) -> pd.DataFrame:
    """Rewrite the times of the site's own formats in ISO 8601."""
    found = {name: times.iso_times(exams[name], options.time_formats) for name in _TIMES}
    performed = times.utc_times(found["performed_at"], options.time_zone)
    born = _born(exams["patient_birth_date"], performed, options.time_formats)
    return exams.assign(patient_birth_date=born, **found)


def _born(stated: pd.Series, performed: pd.Series, formats: tuple[str, ...]) -> pd.Series:
    """Rewrite birth dates in ISO 8601.

    A year of two figures is one of 1969 to 2068 to every program: whom that lets be born after
    their exam was born a hundred years before.
    """
    born = times.iso_times(stated, times.date_formats(formats))
    whole = [form for form in formats if not re.search("%[yx]", form)]
    day = pd.to_datetime(born, utc=True, errors="coerce", format="ISO8601")
    back = (day > performed + CLOCK_TOLERANCE) & (
        born != times.iso_times(stated, times.date_formats(whole))
    )
    born[back] = [f"{int(date[:4]) - 100}{date[4:]}" for date in born[back]]
    return born


def _texts(cells: Iterable[str], index: pd.Index) -> pd.Series:
    """Make a column of text, also of no rows: a batch may hold nothing but what was set aside."""
    return pd.Series(list(cells), index=index, dtype="str")


def _mapped(cells: pd.Series, mapping: Mapping[str, str]) -> pd.Series:
    return cells.str.strip().map(dict(mapping))


def _worded(cells: pd.Series, of: str) -> pd.Series:
    """Give our words for a source's (`values.known_words`), "unknown" for any other."""
    return _mapped(cells.str.lower(), values.known_words(of)).fillna("unknown")


def known_modality(stated: pd.Series, modalities: Mapping[str, str]) -> pd.Series:
    r"""Map modalities; of several in one cell (``CT\SR``) the one that all with pictures are."""
    found = _mapped(stated, modalities)
    for at in found.index[found.isna() & stated.str.contains(_BETWEEN, regex=True)]:
        parts = {part.strip() for part in re.split(_BETWEEN, stated[at])} - _WITHOUT_PICTURES
        meant = {modalities.get(part) for part in parts}
        found[at] = meant.pop() if len(meant) == 1 else None
    return found


def _other_zone(raw: pd.DataFrame, zone: str) -> pd.Series:
    """Tell whose sender names another zone than that by which the time of the exam is read."""
    sent, performed = raw["sent_at"].str.strip(), raw["performed_at"].str.strip()
    named = sent.str.contains(rf"T.*{_OFFSET}", regex=True)
    named &= performed.str.fullmatch(r"[\d-]{10}T[\d:.]+")
    here = times.utc_times(sent.where(named, "").str.replace(_OFFSET, "", regex=True), zone)
    other: pd.Series = named & (here != times.utc_times(sent.where(named, ""), zone))
    return other


def _end_of_day(signed: pd.Series) -> pd.Series:
    """Take a date of signing without a time as the end of that day.

    Nothing that may have been signed after the CT then passes for what was said before it.
    """
    text = signed.str.strip()
    return text.mask(text.str.fullmatch(_DATE_ONLY), text + "T23:59:59")


def _patient_domain(raw: pd.DataFrame, *, shared: bool) -> pd.Series:
    """Say who gave each patient's number: its assigning authority, else the site; '' where shared.

    Two sites may give one number to two people; their exams must not meet.
    """
    authority, site = raw["patient_authority"].str.strip(), raw["site"].str.strip()
    issuer = authority.where(authority != "", site)
    return pd.Series("", index=raw.index, dtype="str") if shared else issuer


def _sequence(versions: pd.Series) -> pd.Series:
    """Read the numbers of versions, 2 or 1.2; NaN for labels and where there is none.

    Each part is a whole number: 1.10 comes behind 1.9.
    """
    parts = versions.str.strip().str.extract(f"^{_NUMBER}$").astype(float)
    return parts[0] + parts[1].fillna(0) / 10_000


def _ages(raw: pd.DataFrame, performed_at: pd.Series) -> pd.Series:
    """Age in years as stated, else from the birth date; NaN where neither is known.

    Of a birth date without its day or month the last that it may be is taken, so that nobody counts
    as an adult who may be none.
    """
    stated = raw["patient_age_years"].map(values.age_in_years).astype(float)
    text = raw["patient_birth_date"].str.strip()
    parts = text.str.extract(_BORN_IN)
    month = parts[0] + "-" + parts[1].replace("00", None).fillna("12")
    latest = pd.to_datetime(month, format="%Y-%m", utc=True) + pd.offsets.MonthEnd()
    born = latest.fillna(pd.to_datetime(text, utc=True, errors="coerce", format="ISO8601"))
    on, then = performed_at.dt, born.dt
    is_before = (on.month < then.month) | ((on.month == then.month) & (on.day < then.day))
    derived = (on.year - then.year - is_before).astype(float)
    return stated.fillna(derived.where(derived.between(0, values.OLDEST)))


def _chest(exams: pd.DataFrame, options: IngestOptions) -> pd.Series:
    pattern = re.compile(options.chest_pattern, re.IGNORECASE)
    by_name = exams["exam_name"].map(lambda name: pattern.search(name) is not None)
    by_code = exams["exam_code"].map(dict(options.chest_codes))
    return by_code.astype("boolean").fillna(by_name.astype("boolean")).astype(bool)


def _digest(row: tuple[object, ...]) -> str:
    return hashlib.sha256("\x1f".join(map(str, row)).encode("utf-8", "surrogatepass")).hexdigest()
