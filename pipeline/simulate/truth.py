"""The truth of a simulation, which no stage reads, and what a page about each reader ought to say.

What is true of a reader: the line logit P = shift + slope · (logit m) + … is fitted to the reader's
true rates of hedges, weighted by use, in expected log loss: it is what a logistic fit converges to
with endless data. Whether shift is read at a meaning of one half or at the middle of the words in
use differs where the slope is not 1. A direction counts as clear only where both agree.

=========  ============================================================================
shift      mean log odds by which CT shows more (> 0: undercalls) or less (< 0: overcalls)
           than the words say
slope      < 1: words more extreme than the truth (too sure); > 1: less (too cautious)
=========  ============================================================================

Rates are those CT shows in the long run among X-rays that get a CT (`rates.long_run_rates`): what a
reader would be told with endless data. docs/simulation.md explains every column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.special import expit

from calibration.arrays import FloatArray
from pipeline.simulate.department import Department, ct_labels, phrase_logits, phrase_means
from pipeline.simulate.lexicon import hospital, load, wording
from pipeline.simulate.rates import hedged
from pipeline.simulate.readers import Reader, Staff

CLEAR_SHIFT: Final = 0.5
"""Log odds from which a reader is clearly off."""

CLEAR_SLOPES: Final = (0.7, 1.4)
"""Slopes at and beyond which a reader is clearly off."""

MARGINS: Final = (0.2, 0.15)
"""Shift and slope - 1 up to which a reader has no direction: the profile's own margins."""

_WORDS: Final = ("overcalls", "undercalls", "too sure", "too cautious")


@dataclass(frozen=True, slots=True)
class Standing:
    """One reader's true line.

    Attributes
    ----------
    shift
        Log odds at ``centre``.
    at_half
        Log odds where the words mean one half: the line's intercept.
    slope
        1 where the words are as extreme as the truth.
    centre
        Mean log odds of the hedges in use.
    """

    shift: float
    at_half: float
    slope: float
    centre: float

    def clear(self) -> frozenset[str]:
        """Words that a page must say: the reader is clearly off in this direction."""
        low, high = CLEAR_SLOPES
        least, most = self.shifts
        return holding(
            most <= -CLEAR_SHIFT, least >= CLEAR_SHIFT, self.slope <= low, self.slope >= high
        )

    def direction(self) -> str:
        """Words beyond the margins of indifference at the middle of the words in use, or none."""
        shift, slope = MARGINS
        told = holding(
            self.shift < -shift,
            self.shift > shift,
            self.slope < 1.0 - slope,
            self.slope > 1.0 + slope,
        )
        return ", ".join(word for word in _WORDS if word in told) or "none"

    @property
    def shifts(self) -> tuple[float, float]:
        """The smaller and the larger of the shifts at the middle and at one half."""
        return min(self.shift, self.at_half), max(self.shift, self.at_half)


def holding(*holds: bool) -> frozenset[str]:
    """Give the words that hold, of overcalls, undercalls, too sure and too cautious."""
    return frozenset(word for word, told in zip(_WORDS, holds, strict=True) if told)


def line_of(rates: FloatArray, use: FloatArray, logits: FloatArray) -> tuple[float, float]:
    """Return intercept and slope of the logistic line nearest to true rates.

    Minimises the expected log loss over cells by Newton steps of at most 1.

    Parameters
    ----------
    rates
        True rate of each cell, shape (..., K).
    use
        How often each cell is stated (counts or shares), shape (..., K); 0 leaves a cell out.
    logits
        Log odds of what each phrase means, shape (K,).
    """
    axes = tuple(range(rates.ndim - 1))
    stated, positive = use.sum(axis=axes), (use * rates).sum(axis=axes)
    design = np.stack([np.ones_like(logits), logits])
    beta = np.array([0.0, 1.0])
    for _ in range(100):
        p = expit(beta @ design)
        gradient = design @ (positive - stated * p)
        hessian = (design * (stated * p * (1.0 - p))) @ design.T
        step = np.linalg.solve(hessian, gradient)
        beta += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-12:
            break
    return float(beta[0]), float(beta[1])


def standing_of(
    rates: FloatArray, use: FloatArray, logits: FloatArray, *, centre: float
) -> Standing:
    """Return where a reader truly stands; arrays as in :func:`line_of`, hedges alone in use."""
    intercept, slope = line_of(rates, use, logits)
    shift = intercept + (slope - 1.0) * centre
    return Standing(shift=shift, at_half=intercept, slope=slope, centre=centre)


EXAM_COLUMNS: Final = tuple(load("tables")["exams"])
"""Columns of the exams table, times in UTC."""

TABLES: Final = {name: tuple(columns) for name, columns in load("tables")["truth"].items()}
"""Truth tables that grow with the simulation, and their columns."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Truth of a simulation or of one chunk of it; from ``readers`` on it is the same in each."""

    pairs: pd.DataFrame
    report_findings: pd.DataFrame
    outcomes: pd.DataFrame
    identifiers: pd.DataFrame
    excluded: pd.DataFrame
    readers: pd.DataFrame
    habits: pd.DataFrame
    swaps: pd.DataFrame
    pathologies: pd.DataFrame
    phrases: pd.DataFrame
    department: Department


@dataclass(slots=True)
class Ledger:
    """Rows collected while the texts are written, by table."""

    exams: list[tuple[Any, ...]] = field(default_factory=list)
    rows: dict[str, list[tuple[Any, ...]]] = field(
        default_factory=lambda: {name: [] for name in TABLES}
    )

    def frames(self) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        """Return the exams table and the growing truth tables."""
        exams = pd.DataFrame(self.exams, columns=list(EXAM_COLUMNS))
        return exams, {
            name: pd.DataFrame(self.rows[name], columns=list(columns))
            for name, columns in TABLES.items()
        }


_SELDOM = 1e-4
"""Share of a reader's statements below which a word has no row of its own."""


def fixed_tables(staff: Staff) -> dict[str, pd.DataFrame]:
    """Return the truth tables that do not grow with the number of pairs."""
    rates = hospital()["rates"]
    pathologies = [
        {"pathology": p.name, **rates[p.name], "ct_misses": missed}
        for p, missed in zip(wording().pathologies, staff.missed.tolist(), strict=True)
    ]
    phrases = {"phrase": wording().phrases, "mean": phrase_means(), "ct_label": ct_labels()}
    return {
        "readers": pd.DataFrame(list(_readers(staff))),
        "habits": _habits(staff),
        "swaps": pd.DataFrame(list(_swaps(staff))),
        "pathologies": pd.DataFrame(pathologies),
        "phrases": pd.DataFrame(phrases),
    }


def _statements(staff: Staff) -> FloatArray:
    """How often each cell (R, P, K) is stated per exam."""
    return np.asarray(staff.practice.mention[:, None] * staff.practice.usage)


def _readers(staff: Staff) -> Iterator[dict[str, Any]]:
    statements, words, weights = _statements(staff), wording().phrases, hospital()["phrase_weights"]
    hedges = np.where(hedged(phrase_means()), statements, 0.0)
    for i, reader in enumerate(staff.readers):
        own = hedges[i].sum(axis=0)
        centre = float(own @ phrase_logits() / own.sum())
        rates, others = staff.rates[i], hedges[i].copy()
        for habit in reader.habits:  # told by themselves; the line is that of all other words
            others[habit.cell] = 0.0
        standing = standing_of(rates, others, phrase_logits(), centre=centre)
        fitted = line_of(rates, statements[i], phrase_logits())
        whole = standing_of(rates, hedges[i], phrase_logits(), centre=centre)
        told, liking = standing.direction(), reader.favourites / [weights[p] for p in words]
        yield {
            "reader_id": reader.reader_id,
            "reader_name": reader.person.full,
            "site": hospital()["site"][reader.site]["name"],
            "kind": reader.kind.name,
            "curve": reader.kind.curve or "line",
            "amount": reader.kind.amount,
            "line_intercept": reader.kind.intercept,
            "line_slope": reader.kind.slope,
            "direction": told,
            "clearly": ", ".join(w for w in told.split(", ") if w in standing.clear()),
            "shift": standing.shift,
            "intercept": standing.at_half,
            "slope": standing.slope,
            "direction_with_habits": whole.direction(),
            "fitted_intercept": fitted[0],
            "fitted_slope": fitted[1],
            "habits": len(reader.habits),
            # Favourites relative to the department's.
            "favourites": "; ".join(words[k] for k in liking[1:-1].argsort()[::-1][:3] + 1),
            "xray_style": reader.xray_style,
            "ct_style": reader.ct_style,
        }


def _habits(staff: Staff) -> pd.DataFrame:
    rows = [
        (
            reader.reader_id,
            habit.pathology,
            habit.phrase,
            habit.probability,
            float(staff.rates[(r, *habit.cell)]),
            float(phrase_means()[habit.cell[1]]),
        )
        for r, reader in enumerate(staff.readers)
        for habit in reader.habits
    ]
    columns = ["reader_id", "pathology", "phrase", "probability", "rate", "meaning"]
    return pd.DataFrame(rows, columns=columns)


def _swaps(staff: Staff) -> Iterator[dict[str, Any]]:
    """One row per reader, hedge and scope: all pathologies by use, then each by itself."""
    statements = _statements(staff)
    for r, reader in enumerate(staff.readers):
        share, rates = statements[r] / statements[r].sum(), staff.rates[r]
        used = share.sum(axis=0)
        pooled = (share * rates).sum(axis=0) / np.maximum(used, 1e-300)
        yield from _rows(reader, "", used, pooled)
        for p, pathology in enumerate(wording().pathologies):
            yield from _rows(reader, pathology.name, share[p], rates[p])


def _rows(
    reader: Reader, pathology: str, share: FloatArray, rates: FloatArray
) -> Iterator[dict[str, Any]]:
    means, hedges = phrase_means(), np.flatnonzero(hedged(phrase_means()))
    for k in hedges[share[hedges] > _SELDOM]:
        best = int(hedges[np.argmin(np.abs(means[hedges] - rates[k]))])
        best = int(k) if means[best] == means[k] else best
        yield {
            "reader_id": reader.reader_id,
            "pathology": pathology,
            "phrase": wording().phrases[k],
            "share": float(share[k]),
            "rate": float(rates[k]),
            "meaning": float(means[k]),
            "nearest": wording().phrases[best],
            "nearest_meaning": float(means[best]),
        }
