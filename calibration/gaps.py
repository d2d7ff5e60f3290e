"""Readers' gaps, CT minus words: raw, shrunk and adjusted for case mix.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
g_r     (R,)      (Σ labels − Σ mean of the phrases used) / n, reader by reader
s_r     (R,)      its standard error, from the spread of label − mean
τ²      ()        variance of the readers' true gaps (Paule and Mandel 1982)
μ       ()        their centre, weighted by 1 / (s² + τ²)
======  ========  ==============================================================

Shrunk gap: μ + (g − μ)·τ²/(s² + τ²), with variance s²τ²/(s² + τ²) + B²·Var μ + v·(g − μ)²,
B = s²/(s² + τ²), v = 2 B² (s̄² + τ²) / ((R − 3)(s² + τ²)), s̄² the mean weighted by 1/(s² + τ²)
(Morris 1983, section 5: the last two terms carry the error of μ and of τ²; the last is left out
below five readers). Reliability: τ²/(s² + τ²) = 1 − B.

Adjusted gap, by indirect standardisation: (O_r − E_r)/n_r + g, where E_r is what the department's
readers would have seen with the same words on the same case mix, and g the gap of all together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import logit

from calibration.arrays import FloatArray, IntArray
from calibration.estimate import Z95
from calibration.regression import ridge_logistic
from calibration.tally import Tally

_CLIP = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Gaps of R readers with their standard errors; NaN where n = 0 (error: n < 2)."""

    value: FloatArray
    standard_error: FloatArray
    n: FloatArray

    def limits(self) -> tuple[FloatArray, FloatArray]:
        """95 % interval of each gap, shape (R,) each."""
        half = Z95 * self.standard_error
        return self.value - half, self.value + half

    def widened(self, effect: ArrayLike) -> Gaps:
        """Give the gaps with n observations that vary as n / ``effect`` do, shape (R,) or one."""
        return Gaps(self.value, self.standard_error * np.sqrt(effect), self.n)


@dataclass(frozen=True, slots=True, eq=False)
class ShrunkGaps:
    """Empirical-Bayes gaps of R readers.

    Attributes
    ----------
    value, low, high
        Shrunk gap with its 95 % interval, shape (R,).
    reliability
        Share of a raw gap's variance that is not chance, shape (R,); NaN below two readers.
    centre, between_variance
        μ and τ².
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    reliability: FloatArray
    centre: float
    between_variance: float


def reader_gaps(tallies: Sequence[Tally], *, means: FloatArray) -> Gaps:
    """Raw gap of every reader; means are (K,), tallies against the same K phrases."""
    n = np.array([t.total for t in tallies])
    value, error = np.full((2, len(tallies)), np.nan)
    for r, counted in enumerate(tallies):
        if n[r] <= 0:
            continue
        residual = counted.label_values - means[:, None]
        value[r] = float((counted.counts * residual).sum() / n[r])
        if n[r] > 1:
            spread = float((counted.counts * (residual - value[r]) ** 2).sum())
            error[r] = np.sqrt(spread / (n[r] - 1.0) / n[r])
    return Gaps(value, error, n)


def shrink_gaps(gaps: Gaps) -> ShrunkGaps:
    """Draw every gap toward the centre, the less the surer it is."""
    known = np.isfinite(gaps.value) & (gaps.standard_error > 0)
    value, low, high, reliability = np.full((4, len(gaps.value)), np.nan)
    if known.sum() < 2:
        return ShrunkGaps(value, low, high, reliability, float("nan"), float("nan"))
    g, s2 = gaps.value[known], gaps.standard_error[known] ** 2
    tau2 = _paule_mandel(g, s2)
    weight = 1.0 / (s2 + tau2)
    centre = float(weight @ g / weight.sum())
    signal = tau2 * weight
    variance = s2 * signal + (1.0 - signal) ** 2 / weight.sum()
    if len(g) > 4:
        typical = float(weight @ s2 / weight.sum())
        doubt = 2.0 / (len(g) - 3.0) * (1.0 - signal) ** 2 * (typical + tau2) * weight
        variance = variance + doubt * (g - centre) ** 2
    spread = np.sqrt(variance)
    value[known] = centre + signal * (g - centre)
    low[known], high[known] = value[known] - Z95 * spread, value[known] + Z95 * spread
    reliability[known] = signal
    return ShrunkGaps(value, low, high, reliability, centre, tau2)


def _paule_mandel(g: FloatArray, s2: FloatArray) -> float:
    """τ² at which Σ (g − μ)² / (s² + τ²) = R − 1; 0 if readers differ no more than chance."""

    def excess(tau2: float) -> float:
        weight = 1.0 / (s2 + tau2)
        centre = weight @ g / weight.sum()
        return float(weight @ (g - centre) ** 2) - (len(g) - 1.0)

    if excess(0.0) <= 0.0:
        return 0.0
    top = float(np.ptp(g)) ** 2 + float(s2.max())
    while excess(top) > 0.0:
        top *= 2.0
    return float(brentq(excess, 0.0, top, xtol=1e-14))


def adjusted_gaps(
    reader: IntArray,
    *,
    stated: FloatArray,
    design: FloatArray,
    n: FloatArray,
    mass: FloatArray,
    n_readers: int,
) -> Gaps:
    """Gaps for the department's case mix, with the standard error under the department's model.

    Parameters
    ----------
    reader
        Reader of every row as an index, shape (C,).
    stated
        Mean of the phrase of every row, in [0, 1], shape (C,).
    design
        Case mix of every row as indicators, shape (C, D).
    n, mass
        Observations and label mass of every row, shape (C,).
    n_readers
        R.

    Notes
    -----
    The department's model is logit P = logit(stated) + case mix, with a level of its own for
    statements of 0 % and of 100 %, so that the clip to [.01, .99] decides nothing.

    Raises
    ------
    CalibrationError
        If all labels are equal, or the fit does not converge.
    """
    certain = np.stack([stated <= 0.0, stated >= 1.0], axis=1).astype(np.float64)
    offset = np.asarray(logit(np.clip(stated, _CLIP, 1.0 - _CLIP)))
    case_mix = np.concatenate([certain, design], axis=1)
    expected = ridge_logistic(case_mix, n=n, mass=mass, offset=offset)

    def added(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(reader, weights=values, minlength=n_readers), np.float64)

    total = added(n)
    seen = np.where(total > 0, total, np.nan)
    common = float((mass - n * stated).sum() / n.sum())
    value = added(mass - n * expected) / seen + common
    error = np.sqrt(added(n * expected * (1.0 - expected))) / seen
    return Gaps(value, error, total)
