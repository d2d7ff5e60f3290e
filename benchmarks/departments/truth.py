"""What is true of a department in the long run: rates of words as CT labels them, and lines.

A rate is the expected label of a word as meant, among X-rays that get a CT: what endless months of
the same practice would show. Misreading is a fault of the instrument and no part of the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logit

from benchmarks.departments.exams import draw_statements
from benchmarks.departments.staff import Reader, Staff, draw_staff, meanings, scale
from pipeline.simulate.department import Observation
from pipeline.simulate.rates import hedged, long_run_rates
from pipeline.simulate.truth import MARGINS, Standing, holding, standing_of

__all__ = [
    "Department",
    "ReaderTruth",
    "draw_department",
    "false_of",
    "line_at",
    "reversed_of",
    "truths_of",
]

FloatArray: TypeAlias = NDArray[np.float64]


def line_at(standing: Standing, meaning: float) -> float:
    """Return the log odds by which a line departs from words of a meaning."""
    return standing.at_half + (standing.slope - 1.0) * float(logit(meaning))


def false_of(standing: Standing) -> frozenset[str]:
    """Words that a page must not say: the truth lies on the other side, or almost at none.

    A direction is false only where the shift at the middle and that at one half both contradict it;
    shift and slope - 1 are almost none within half the profile's margins of indifference.
    """
    return _beyond(standing, *(margin / 2 for margin in MARGINS))


def reversed_of(standing: Standing) -> frozenset[str]:
    """Words that would send the reader away from the truth: the truth is opposite."""
    return _beyond(standing, 0.0, 0.0)


def _beyond(standing: Standing, shift: float, slope: float) -> frozenset[str]:
    """Words whose opposite is true, or would be if the truth were moved by so much."""
    (least, most), at = standing.shifts, standing.slope
    return holding(least > -shift, most < shift, at > 1.0 - slope, at < 1.0 + slope)


@dataclass(frozen=True, slots=True)
class ReaderTruth:
    """One reader's truth.

    Attributes
    ----------
    rates, use
        Expected label and share of statements by finding and phrase, shape (F, K).
    standing
        The line nearest to the rates of hedges, without a habit's cell (it is told by itself).
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
    """Observations for the estimator, truth for the judge.

    ``disease`` are the readers' lines of what is there in all X-rays, whatever CT shows of it.
    """

    observations: pd.DataFrame
    truths: tuple[ReaderTruth, ...]
    disease: tuple[Standing, ...]


def draw_department(
    observation: Observation,
    *,
    rng: np.random.Generator,
    staffed: Callable[[np.random.Generator], Staff] = draw_staff,
) -> Department:
    """Draw a department, its exams as they are observed, and what is true of it."""
    staff = staffed(rng)
    missed = rng.uniform(0.0, 2.0 * observation.missed, len(staff.findings))
    statements = draw_statements(staff, observation, missed, rng)
    rates = long_run_rates(staff.practice, observation, missed[:, None], rng)
    disease = tuple(truth.standing for truth in truths_of(staff, staff.practice.chance))
    return Department(statements.observations(staff), truths_of(staff, rates), disease)


def truths_of(staff: Staff, rates: FloatArray) -> tuple[ReaderTruth, ...]:
    """Give what is true of every reader whose words come true at such rates (R, F, K)."""
    logits = logit(meanings())
    use = staff.practice.mention[:, None] * staff.practice.usage
    hedges = np.where(hedged(meanings()), use, 0.0)
    total = hedges.sum(axis=(0, 1))
    centre = float(total @ logits / total.sum())
    return tuple(
        ReaderTruth(
            reader,
            staff.findings,
            rates[r],
            use[r],
            standing_of(rates[r], _without(reader, hedges[r]), logits, centre=centre),
        )
        for r, reader in enumerate(staff.readers)
    )


def _without(reader: Reader, hedges: FloatArray) -> FloatArray:
    others = hedges.copy()
    if reader.habit is not None:
        others[reader.habit.finding, reader.habit.phrase] = 0.0
    return others
