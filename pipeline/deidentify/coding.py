"""Tables in, the same with clean texts out: exams under codes from the vault, or any table.

A report whose text cannot be proved clean is withheld with a reason; its row never leaves the raw
zone. Rows in = rows cleaned + rows withheld.

Columns that hold identifiers feed the known-identifier pass and are left out of the result.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Final

import pandas as pd

from extraction.certainty import phrases_in
from pipeline.config.basis import IDENTIFIERS, LookedFor, digest_of
from pipeline.deidentify.engine import Deidentifier
from pipeline.deidentify.known import KnownIdentifiers, LeakScan
from pipeline.deidentify.spans import Clean, Outcome, Quarantined
from pipeline.deidentify.surrogates import Surrogates
from pipeline.formats.tables import refuse_twins, require_columns

_BANDS: Final = (
    (18, "under 18"), (40, "18-39"), (60, "40-59"), (80, "60-79"), (131, "80 and over"),
)  # fmt: skip

_SEVERAL: Final = ";"

_UNKNOWN: Final = "unknown"
"""What an export does not say; exams of former versions of this program say no sex."""

_WITHHELD: Final = Clean("", (), 0)
"""Stands in for a withheld report until its row is dropped."""

_FACTS: Final = (
    "study_code", "patient_code", "reader_code", "exam_key", "modality", "performed_at",
    "signed_at", "performed_month", "month_is_own", "status", "is_chest", "is_adult", "age_band",
    "patient_class", "patient_sex", "site_code", "drafted", "sequence", "sent_at", "text_digest",
    "text_mark", "text", "phrases_locked", "cues",
)  # fmt: skip


KNOWN_COLUMNS: Final[Mapping[str, LookedFor]] = {
    **IDENTIFIERS,
    "mrn": "numbers",
    **dict.fromkeys(("date_of_birth", "birth_date", "dob"), "date"),
}
"""Column of a report table → what of it is looked for: an exam's, and what else they are called."""
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_REFERENCE: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")


@dataclass(frozen=True, slots=True)
class Codes:
    """Codes of a shard's rows, in row order; ``shift_days`` is constant for a patient.

    ``marks`` (`Vault.marks`) tell texts that were equal before cleaning: each is cleaned by its own
    record's fields too, so that what is left of them may differ.
    ``months`` has, by an exam's digest, the month that is stated where it is not the exam's own,
    and whether it is of its own time; ``surrogate_key`` is the secret that invented values hang on,
    where a site prefers them.
    """

    study: Sequence[str]
    exam: Sequence[str]
    patient: Sequence[str]
    reader: Sequence[str]
    site: Sequence[str]
    shift_days: Sequence[int]
    marks: Sequence[str]
    months: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    surrogate_key: bytes | None = field(default=None, repr=False)

    def surrogates(self) -> list[Surrogates | None]:
        """Give each row's maker of invented values; None where tokens are written."""
        if self.surrogate_key is None:
            return [None] * len(self.patient)
        key = self.surrogate_key
        each = zip(self.patient, self.shift_days, strict=True)
        return [Surrogates(key, patient, days) for patient, days in each]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Coded exams, those withheld (``exam_key, reason``), and what was removed per category."""

    exams: pd.DataFrame
    withheld: pd.DataFrame
    removed: Mapping[str, int]


def known_identifiers(
    rows: pd.DataFrame, columns: Mapping[str, LookedFor] = KNOWN_COLUMNS
) -> list[KnownIdentifiers]:
    """Collect what each row's own columns say about people and numbers, several in a cell."""
    shown = {name: rows[name].fillna("").astype(str) for name in columns if name in rows}
    cells = pd.DataFrame(shown, index=rows.index)
    parts = [cells[[n for n in shown if kind in columns[n]]] for kind in ("names", "numbers")]
    each = zip(*(part.to_numpy().tolist() for part in parts), strict=True)
    return [KnownIdentifiers(_some(names), _some(numbers)) for names, numbers in each]


def _some(cells: Iterable[str]) -> tuple[str, ...]:
    parts = (part.strip() for cell in cells for part in cell.split(_SEVERAL))
    return tuple(part for part in parts if part)


def clean(
    exams: pd.DataFrame,
    *,
    codes: Codes,
    deidentifier: Deidentifier,
    scan: LeakScan,
    min_age_years: int,
) -> Cleaned:
    """De-identify a shard of validated exams.

    Parameters
    ----------
    exams
        Rows of the raw ``exams`` table.
    codes
        Their codes, in the same order.
    scan
        The identifiers of everyone in the batch; a hit withholds the report.
    """
    parts = zip(codes.study, exams["status"], codes.exam, strict=True)
    keys = [".".join(each) for each in parts]
    outcomes = deidentifier.batch(
        exams["text"].tolist(),
        known=known_identifiers(exams),
        scan=scan,
        surrogates=codes.surrogates(),
    )
    kept = [outcome if isinstance(outcome, Clean) else _WITHHELD for outcome in outcomes]
    reasons = [o.reason if isinstance(o, Quarantined) else "" for o in outcomes]
    removed: Counter[str] = Counter(span.category for outcome in kept for span in outcome.removed)
    coded = _coded(exams, codes, min_age_years).assign(
        exam_key=keys,
        text=[outcome.text for outcome in kept],
        text_digest=[digest_of(outcome.text.split()) for outcome in kept],
        text_mark=list(codes.marks),
        phrases_locked=[outcome.phrases_locked for outcome in kept],
        cues=[
            _SEVERAL.join(sorted(phrases_in(outcome.text))) if modality == "XR" else ""
            for outcome, modality in zip(kept, exams["modality"], strict=True)
        ],
    )
    bad = pd.Series(reasons, index=coded.index) != ""
    withheld = pd.DataFrame({"exam_key": keys, "reason": reasons})[bad.to_numpy()]
    return Cleaned(
        coded.loc[~bad, list(_FACTS)].reset_index(drop=True),
        withheld.reset_index(drop=True),
        dict(removed),
    )


def _coded(exams: pd.DataFrame, codes: Codes, min_age_years: int) -> pd.DataFrame:
    shift = pd.to_timedelta(pd.Series(list(codes.shift_days), index=exams.index), unit="D")
    age = exams["patient_age_years"]
    true = exams["performed_at"].dt.strftime("%Y-%m")
    digests = exams.get("source_digest", pd.Series("", index=exams.index))
    stated = [codes.months.get(d, (m, True)) for d, m in zip(digests, true, strict=True)]
    return exams[["modality", "status", "is_chest", "patient_class", "sequence"]].assign(
        study_code=list(codes.study),
        patient_code=list(codes.patient),
        reader_code=list(codes.reader),
        performed_at=exams["performed_at"] + shift,
        signed_at=exams["signed_at"] + shift,
        performed_month=pd.Series([m for m, _ in stated], index=exams.index, dtype="str"),
        month_is_own=[is_own for _, is_own in stated],
        is_adult=is_adult(age, min_age_years),
        age_band=_age_band(age),
        patient_sex=exams.get("patient_sex", _UNKNOWN),
        site_code=[code or _UNKNOWN for code in codes.site],
        drafted=_drafted(exams),
        sent_at=exams["sent_at"] + shift,
    )


def is_adult(age: pd.Series, min_age_years: int) -> pd.Series:
    """Tell who has the least age; an unknown one (NaN) has it only where none is asked for."""
    return (age >= min_age_years) | (age.isna() & (min_age_years == 0))


def _drafted(exams: pd.DataFrame) -> pd.Series:
    """Whether the source names an author of the preliminary report other than the reader."""
    author = exams["preliminary_author"].fillna("").str.strip()
    return (author != "") & (author != exams["reader_id"].fillna("").str.strip())


def _age_band(age: pd.Series) -> pd.Series:
    band = pd.Series("unknown", index=age.index, dtype="object")
    for limit, name in reversed(_BANDS):
        band = band.mask(age < limit, name)
    return band


_MADE: Final = ("report_id", "text", "quarantined", "reason")


@dataclass(frozen=True, slots=True)
class CleanTable:
    """The clean reports, ``quarantined`` (true or false) and ``reason`` added, and the spans."""

    reports: pd.DataFrame
    spans: pd.DataFrame
    quarantined: int

    def summary(self) -> dict[str, object]:
        """Count reports, those withheld and identifiers; name the columns that passed through."""
        by_category = self.spans["category"].value_counts().sort_index()
        return {
            "reports": len(self.reports),
            "quarantined": self.quarantined,
            "identifiers": len(self.spans),
            "by_category": {str(name): int(count) for name, count in by_category.items()},
            "columns_passed_through": [str(each) for each in self.reports if each not in _MADE],
        }


def known_columns(reports: pd.DataFrame) -> dict[str, LookedFor]:
    """Give a table's own names of `KNOWN_COLUMNS`, in whatever case, and what each feeds."""
    return {str(n): KNOWN_COLUMNS[f] for n in reports if (f := _folded(n)) in KNOWN_COLUMNS}


def _folded(column: object) -> str:
    return _NO_LETTERS.sub("_", str(column).casefold()).strip("_")


def table_texts(reports: pd.DataFrame) -> tuple[list[str], list[KnownIdentifiers]]:
    """Give the texts of a table and what each row's own columns say; references are read."""
    texts = [_read(cell) if isinstance(cell, str) else "" for cell in reports["text"].tolist()]
    columns = known_columns(reports)
    stated = reports[list(columns)].fillna("").astype(str).map(_read)
    return texts, known_identifiers(stated, columns)


def _read(cell: str) -> str:
    """Write the characters that a cell names as HTML does (&nbsp;, &#47;)."""
    return _REFERENCE.sub(lambda match: unescape(match[0]), cell).replace("\u00a0", " ")


def clean_table(
    reports: pd.DataFrame,
    *,
    source: str,
    batch: Callable[..., Sequence[Outcome]] | None = None,
    advance: Callable[[int], None] | None = None,
) -> CleanTable:
    """Clean every report of a table.

    Parameters
    ----------
    reports
        ``report_id, text``, any of `KNOWN_COLUMNS` in any case, and columns that pass through.
    source
        The file's name, for messages.
    batch
        What cleans them (`Deidentifier.batch`).
    advance
        Is told how many reports more are clean.

    Raises
    ------
    InputError
        If a needed column is missing, or stands there twice.
    """
    needed = {"report_id": "a name for each report", "text": "the report as written"}
    require_columns(reports, needed, source=source)
    refuse_twins(reports.columns, source)
    texts, known = table_texts(reports)
    cleaned = (batch or Deidentifier().batch)(texts, known=known, advance=advance)
    outcomes = [_if_text(cell, each) for cell, each in zip(reports["text"], cleaned, strict=True)]
    ids = reports["report_id"].astype(str).tolist()
    frame = reports.drop(columns=list(known_columns(reports)))
    frame = frame.assign(
        text=[each.text if isinstance(each, Clean) else "" for each in outcomes],
        quarantined=[not isinstance(each, Clean) for each in outcomes],
        reason=["" if isinstance(each, Clean) else each.reason for each in outcomes],
    )
    return CleanTable(frame, _spans(ids, outcomes), int(frame["quarantined"].sum()))


def _if_text(cell: object, outcome: Outcome) -> Outcome:
    """Withhold a cell that holds neither text nor nothing (bytes, a number)."""
    missing = cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))
    return outcome if missing or isinstance(cell, str) else Quarantined("not-text")


def _spans(ids: list[str], outcomes: list[Outcome]) -> pd.DataFrame:
    rows = [
        (report_id, each.start, each.end, each.category, each.rule)
        for report_id, outcome in zip(ids, outcomes, strict=True)
        if isinstance(outcome, Clean)
        for each in outcome.removed
    ]
    return pd.DataFrame(rows, columns=["report_id", "start", "end", "category", "rule"])
