"""What is true of a department in the long run: rates of words as CT labels them, and lines.

A rate is the expected label of a word as written, among X-rays that get a CT: what endless months
of the same practice would show. Misreading is a fault of the instrument and no part of the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logit

from benchmarks.departments.conditions import Conditions
from benchmarks.departments.ct import expected_parts
from benchmarks.departments.exams import Exams, draw_exams
from benchmarks.departments.staff import Reader, Staff, draw_staff, hedges, meanings, scale
from pipeline.simulate.standing import Standing, standing_of

__all__ = ["Department", "ReaderTruth", "draw_department"]

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ReaderTruth:
    """One reader's truth.

    Attributes
    ----------
    rates, use
        Expected label and share of statements by finding and phrase, shape (F, K).
    standing
        The line nearest to the rates of hedges.
    """

    reader: Reader
    findings: tuple[str, ...]
    rates: FloatArray
    use: FloatArray
    standing: Standing

    @property
    def is_calibrated(self) -> bool:
        """Whether nothing but quirks is wrong with the reader's words."""
        return self.reader.curve is None and self.reader.habit is None

    def rate(self, phrase: str, finding: str | None) -> float:
        """Return the true rate of a phrase in one finding, or in all by use."""
        k = scale().index(phrase)
        if finding is not None:
            return float(self.rates[self.findings.index(finding), k])
        return float(np.average(self.rates[:, k], weights=self.use[:, k] + 1e-12))


@dataclass(frozen=True, slots=True)
class Department:
    """Observations for the estimator, truth for the judge."""

    observations: pd.DataFrame
    truths: tuple[ReaderTruth, ...]


def draw_department(conditions: Conditions, *, rng: np.random.Generator) -> Department:
    """Draw a department, its exams under some conditions, and what is true of it."""
    staff = draw_staff(rng)
    missed = rng.uniform(0.0, 2.0 * conditions.missed, staff.mention.size)
    exams = draw_exams(staff, conditions, missed, rng)
    rates = _long_run(staff, conditions, missed, exams)
    use = staff.mention[:, None] * staff.use
    logits, hedged = logit(meanings()), hedges()
    total = np.where(hedged, use.sum(axis=(0, 1)), 0.0)
    centre = float(total @ logits / total.sum())
    truths = []
    for r, reader in enumerate(staff.readers):
        own = np.where(hedged, use[r], 0.0)
        standing = standing_of(rates[r], own, logits, centre=centre)
        truths.append(ReaderTruth(reader, staff.findings, rates[r], use[r], standing))
    return Department(exams.observations(staff), tuple(truths))


def _long_run(staff: Staff, conditions: Conditions, missed: FloatArray, exams: Exams) -> FloatArray:
    """Return the expected label (R, F, K) among exams with a CT.

    If a CT is λ times as likely when the finding it was asked about is there, those statements are
    there λp / (λp + 1 − p) of the time; the share of such statements is the department's own for
    each phrase. Other findings of the same exam are all but untouched.
    """
    shown = staff.disease * (1.0 - missed[:, None])
    there, absent = expected_parts(staff.disease, shown=shown, hedged=conditions.hedged)
    if conditions.disease == 1.0:
        return there + absent
    times = conditions.disease
    selected = (times * there + absent) / (1.0 + (times - 1.0) * staff.disease)
    words = staff.disease.shape[-1]
    count = np.bincount(exams.phrase, minlength=words)
    asked = np.bincount(exams.phrase[exams.asked], minlength=words) / np.maximum(count, 1)
    return np.asarray(asked * selected + (1.0 - asked) * (there + absent), dtype=np.float64)
