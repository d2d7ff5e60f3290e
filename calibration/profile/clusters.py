"""Effective observations: what repeated patients and hedging CTs leave of a row's information.

Two outcomes of one patient are correlated, ρ within a finding (its repeated exams) and ρ' across
findings. With residuals e = y − p and v = p (1 − p) of a first fit, pooled over the department,

    ρ = (Σ_pairs e_i e_j + κ ρ0 v̄) / (Σ_pairs √(v_i v_j) + κ v̄),

κ pairs' worth of prior at ρ0. A row counts 1 / (1 + ρ (m − 1) + ρ' m'), with m rows of its reader's
patient in its finding and m' in others: for a patient's m alike rows this is generalised least
squares, and for contrasts within a patient it errs on the side of caution.

Soft labels vary less than 0/1 labels of the same mean; phrase k's rows count 1/φ_k with
φ_k = Σ (y − ȳ_k)² / Σ ȳ_k (1 − ȳ_k), exactly 1 for hard labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import FloatArray, IntArray
from calibration.profile.rows import Rows

__all__ = ["Correlation", "correlation", "dispersion", "effective"]

_SAME, _OTHER = 0.5, 0.02
_SAME_WORTH, _OTHER_WORTH = 25.0, 200.0
_LEAST = 0.2


@dataclass(frozen=True, slots=True)
class Correlation:
    """ρ within a finding and ρ' across findings of one patient."""

    same: float
    other: float


def _sums(code: IntArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(code, weights=values), dtype=np.float64)


def correlation(rows: Rows, *, chance: FloatArray) -> Correlation:
    """Estimate the correlations from the rows' residuals; ``chance`` (N,) is p of every row."""
    if rows.patient is None:
        return Correlation(0.0, 0.0)
    v = chance * (1.0 - chance)
    e, root = rows.label - chance, np.sqrt(v)
    typical = float(v.mean()) if len(v) else 0.25
    finding = rows.patient * max(len(rows.findings), 1) + rows.finding
    within = np.unique(finding, return_inverse=True)[1]
    same_e, same_v = _pairs(within, e), _pairs(within, root)
    all_e, all_v = _pairs(rows.patient, e), _pairs(rows.patient, root)
    prior = _SAME_WORTH * typical
    same = (same_e + prior * _SAME) / (same_v + prior)
    prior = _OTHER_WORTH * typical
    other = (all_e - same_e + prior * _OTHER) / (all_v - same_v + prior)
    return Correlation(float(np.clip(same, 0.0, 1.0)), float(np.clip(other, 0.0, 0.5)))


def _pairs(code: IntArray, values: FloatArray) -> float:
    """Sum of products over ordered pairs of different rows with one code."""
    return float((_sums(code, values) ** 2).sum() - (values**2).sum())


def dispersion(rows: Rows, *, phrases: int) -> FloatArray:
    """φ_k of every phrase, shape (K,), drawn toward all phrases' where uses are few."""
    n = np.bincount(rows.phrase, weights=rows.count, minlength=phrases)
    mass = np.bincount(rows.phrase, weights=rows.count * rows.label, minlength=phrases)
    square = np.bincount(rows.phrase, weights=rows.count * rows.label**2, minlength=phrases)
    mean = np.divide(mass, n, out=np.zeros(phrases), where=n > 0)
    hard, found = mass - n * mean**2, square - n * mean**2
    total = hard.sum()
    if total <= 0:  # every phrase always true or never: nothing varies, hard or soft
        return np.ones(phrases)
    pooled, worth = float(found.sum() / total), 50.0 * total / n.sum()
    shrunk = (found + worth * pooled) / (hard + worth)
    return np.asarray(np.clip(shrunk, _LEAST, 1.0))


def effective(rows: Rows, *, between: Correlation, spread: FloatArray) -> FloatArray:
    """Effective count of every row, shape (N,)."""
    count = rows.count / spread[rows.phrase]
    if rows.patient is None:
        return count
    finding = rows.patient * max(len(rows.findings), 1) + rows.finding
    within = np.unique(finding, return_inverse=True)[1]
    same = _sums(within, rows.count)[within] if len(within) else count
    all_ = _sums(rows.patient, rows.count)[rows.patient] if len(within) else count
    inflation = 1.0 + between.same * (same - 1.0) + between.other * (all_ - same)
    return np.asarray(count / np.maximum(inflation, 1.0))
