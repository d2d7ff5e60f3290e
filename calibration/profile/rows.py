"""A table of observations → checked codes of readers, findings, phrases and patients.

Columns: ``reader, phrase, label`` (0 to 1), and where known ``pathology``, ``patient``, ``exam``,
``site``, ``month`` (as 2026-03) and ``count`` (how many alike each row stands for; 1 if not given).
Names are sorted, so the order of the rows changes nothing. Blanks around a name are no part of it;
phrases are matched whatever their capitals; those the table does not know are counted and set
aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import pandas as pd

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.errors import CalibrationError, refuse
from calibration.survey import PhraseTable

ALL_FINDINGS = ""
"""The one finding of a table without a ``pathology`` column."""
# Statements of a table; beyond them a count is a mistake, and every cell would be a habit.
_MOST: Final = 1e7


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Observations as codes, all (N,), with the names the codes stand for.

    ``patient`` numbers (reader, patient) pairs; None where patients are not known. ``exams`` (R,)
    counts the exams behind each reader. ``site`` is −1 where a row names none, and None where no
    row does; its names are ``sites``. ``month`` is of `months`, None where months are not known.
    """

    reader: IntArray
    finding: IntArray
    phrase: IntArray
    label: FloatArray
    count: FloatArray
    patient: IntArray | None
    readers: tuple[str, ...]
    findings: tuple[str, ...]
    exams: IntArray
    unmapped: Mapping[str, int]
    site: IntArray | None = None
    sites: tuple[str, ...] = ()
    month: IntArray | None = None
    months: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Readers and findings."""
        return len(self.readers), len(self.findings)

    @property
    def soft(self) -> BoolArray:
        """Where CT itself hedges: labels between 0 and 1."""
        return np.asarray((self.label > 0.0) & (self.label < 1.0))

    def total(self, weight: FloatArray) -> FloatArray:
        """Sum of the rows' weights for every reader and finding, shape (R, F)."""
        cell, (readers, findings) = self.reader * len(self.findings) + self.finding, self.shape
        sums = np.bincount(cell, weights=weight, minlength=readers * findings)
        return np.asarray(sums, dtype=np.float64).reshape(readers, findings)

    def leaning(self) -> Rows:
        """Take labels between 0 and 1 for what they lean to; ½ leans nowhere."""
        return replace(self, label=np.heaviside(self.label - 0.5, 0.5))

    def take(self, kept: BoolArray) -> Rows:
        """Keep some rows; readers and findings stay numbered as they are."""
        patient, site, month = (
            None if each is None else each[kept] for each in (self.patient, self.site, self.month)
        )
        return Rows(
            self.reader[kept], self.finding[kept], self.phrase[kept], self.label[kept],
            self.count[kept], patient, self.readers, self.findings, self.exams, self.unmapped,
            site, self.sites, month, self.months,
        )  # fmt: skip


def read_rows(frame: pd.DataFrame, *, table: PhraseTable) -> Rows:
    """Check a table of observations and number what it names.

    Raises
    ------
    CalibrationError
        If a column is missing, a reader is not named, or a label is missing or outside [0, 1].
    """
    missing = [name for name in ("reader", "phrase", "label") if name not in frame.columns]
    if missing:
        raise CalibrationError(
            f"observations: column(s) missing: {', '.join(missing)}; "
            f"{_hint(tuple(map(str, frame.columns)), missing)}"
        )
    label = _numbers(frame["label"], "label", 0.0, 1.0)
    count = np.ones(len(frame))
    if "count" in frame.columns:
        count = _numbers(frame["count"], "count", 0.0, _MOST)
        if count.sum() > _MOST:
            raise CalibrationError(
                f"observations: count: {count.sum():.3g} statements in all, more than the "
                f"{_MOST:.0e} that can be judged; is the column what its name says?"
            )
    reader, readers = _named(frame["reader"], "reader")
    finding: IntArray = np.zeros(len(frame), dtype=np.int64)
    findings: tuple[str, ...] = (ALL_FINDINGS,)
    if "pathology" in frame.columns:
        finding, findings = _named(frame["pathology"], "pathology")
    phrase, unmapped = table.codes(frame["phrase"], count=count)
    patient = None
    if "patient" in frame.columns:
        person, people = _named(frame["patient"], "patient")
        patient = np.unique(reader * len(people) + person, return_inverse=True)[1]
    exams = _exams(frame, reader, finding, patient, len(readers), count)
    rows = Rows(
        reader, finding, phrase, label, count, patient, readers, findings, exams,
        dict(sorted(unmapped.items())), *_sites(frame), *_months(frame),
    )  # fmt: skip
    return rows.take(phrase >= 0)


def _sites(frame: pd.DataFrame) -> tuple[IntArray | None, tuple[str, ...]]:
    """Codes of sites in the sorted order of their names; a blank names none."""
    if "site" not in frame.columns:
        return None, ()
    named = frame["site"].astype("str").str.strip().where(frame["site"].notna(), "")
    code, names = pd.factorize(named.where(named != ""), sort=True)
    return (np.asarray(code, dtype=np.int64), tuple(names)) if len(names) else (None, ())


def _months(frame: pd.DataFrame) -> tuple[IntArray | None, tuple[str, ...]]:
    """Codes of months in their order; every row names one, or none does."""
    if "month" not in frame.columns:
        return None, ()
    wrong = ~frame["month"].astype("str").str.fullmatch(r"\d{4}-(?:0[1-9]|1[0-2])").to_numpy(bool)
    refuse("observations: month", wrong, "values are not as 2026-03. Write them so.", first_row=1)
    return _named(frame["month"], "month")


def _hint(columns: tuple[str, ...], missing: list[str]) -> str:
    """Say what is probably meant by a table without the needed columns."""
    if len(columns) == 1 and (mark := next((c for c in ";\t|" if c in columns[0]), "")):
        return f"its only column is named with {mark!r}: separate columns with commas."
    like = [c for c in columns if c not in missing and c.strip().casefold() in missing]
    if like:
        return f"names are lower-case, without blanks: rename {', '.join(map(repr, like))}."
    return "rename them and try again."


def _numbers(column: pd.Series, name: str, low: float, high: float) -> FloatArray:
    values = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
    outside = ~((values >= low) & (values <= high))
    refused = partial(refuse, f"observations: {name}", first_row=1)
    refused(np.isnan(values), "values are missing or not numbers. Drop or correct them.")
    refused(outside, f"values are outside [{low:g}, {high:g}]. Drop or correct them.")
    return values


def _named(column: pd.Series, name: str) -> tuple[IntArray, tuple[str, ...]]:
    """Codes of a column in the sorted order of its names."""
    code, found = pd.factorize(column, use_na_sentinel=True)
    blank = np.array([str(each).strip() == "" for each in found], dtype=bool)
    code = np.where(blank[code], -1, code) if blank.any() else code
    fault = "values are missing. Name them, or drop the column or rows."
    refuse(f"observations: {name}", code < 0, fault, first_row=1)
    words = np.array([str(each).strip() for each in found], dtype=object)
    names, place = np.unique(words, return_inverse=True) if len(words) else (words, code)
    return np.asarray(place[code], dtype=np.int64), tuple(map(str, names))


def _exams(
    frame: pd.DataFrame,
    reader: IntArray,
    finding: IntArray,
    patient: IntArray | None,
    readers: int,
    count: FloatArray,
) -> IntArray:
    """Exams of each reader: counted if named, else the fewest that these statements need.

    An exam has one statement per finding, so a patient needs as many exams as the
    finding stated most often has statements.
    """
    if "exam" in frame.columns:
        exam, names = _named(frame["exam"], "exam")
        pair = np.unique(reader * len(names) + exam)
        return np.bincount(pair // len(names), minlength=readers)
    person = reader if patient is None else patient
    owner = np.zeros(int(person.max(initial=-1)) + 1, dtype=np.int64)
    owner[person] = reader
    findings = int(finding.max(initial=0)) + 1
    cell, at = np.unique(person * findings + finding, return_inverse=True)
    uses = np.bincount(at, weights=count, minlength=len(cell))
    most = np.zeros(len(owner))
    np.maximum.at(most, cell // findings, uses)
    return np.bincount(owner, weights=most, minlength=readers).round().astype(np.int64)
