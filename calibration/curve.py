"""Tallies and bin tables → reliability curve and calibration error.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
n, y    (K,)      uses and label mass of every phrase
r_m     (M,)      (yP)_m / (nP)_m, observed frequency (paper Eq. 6)
g_m     (M,)      (nE)_m / (nP)_m, stated confidence (paper Eq. 7)
p_m     (M,)      (nP)_m / Σ(nP), density of use
e_m     (M,)      ((n·mean)P)_m / (nP)_m, r_m of a reader whose every phrase is right on average
======  ========  ==============================================================

ECE = Σ_m |(yP − nE)_m| / Σ_m (nP)_m (paper Eq. 4), without dividing per bin. A bin with no mass is
NaN, never 0. Leading axes broadcast: n and y may be (B, K) for B bootstrap replicates.

Without bins:

* Continuous curve (Wang et al. 2025, Eq. 8): r(s) = Σ y_k u_k(s) / Σ n_k u_k(s) over the phrases
  that have a density; atoms are separate points.
* Smooth ECE (Błasiok and Nakkiran 2023) of the phrase means: the residual y_k − n_k m_k, a point
  mass at m_k, is smoothed by a Gaussian reflected at 0 and 1; smECE_σ = ∫ |smoothed| / N, at the
  one σ with smECE_σ = σ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from calibration.arrays import FloatArray
from calibration.bins import BinTables
from calibration.plain import LEFT_OUT
from calibration.tally import Tally

__all__ = [
    "ReliabilityCurve",
    "calibration_error",
    "calibration_error_without_end_bins",
    "curve_points",
    "maximum_calibration_error",
    "smooth_calibration_error",
]


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityCurve:
    """Observed frequency against stated confidence, bin by bin.

    Attributes
    ----------
    bin_edges
        Shape (M + 1,).
    observed
        r_m, NaN where no phrase in use has mass, shape (M,).
    confidence
        g_m, NaN likewise, shape (M,).
    density
        Share of use in the bin, sums to 1, shape (M,).
    expected
        e_m: where ``observed`` would lie if every phrase were right on average. A phrase covers a
        range, and its exams count the same all along it, so this line leaves the diagonal towards
        the middle; it, not the diagonal, is the curve's zero. Shape (M,).
    low, high
        Pointwise 95 % interval of ``observed``; NaN if none was asked for, shape (M,).
    band_low, band_high
        Simultaneous 95 % band: the whole true curve lies inside it in 95 % of samples, shape (M,).
    n
        Observations.
    """

    bin_edges: FloatArray
    observed: FloatArray
    confidence: FloatArray
    density: FloatArray
    expected: FloatArray
    low: FloatArray
    high: FloatArray
    band_low: FloatArray
    band_high: FloatArray
    n: float = field(metadata=LEFT_OUT)

    def to_frame(self) -> pd.DataFrame:
        """One row per bin; probabilities between 0 and 1."""
        return pd.DataFrame(
            {
                "bin_low": self.bin_edges[:-1],
                "bin_high": self.bin_edges[1:],
                "observed": self.observed,
                "confidence": self.confidence,
                "density": self.density,
                "expected": self.expected,
                "low": self.low,
                "high": self.high,
                "band_low": self.band_low,
                "band_high": self.band_high,
            }
        )


def curve_points(
    n: FloatArray, label_mass: FloatArray, *, tables: BinTables
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """r, g and p of every bin (Eq. 6, 7), each (..., M); r and g are NaN in empty bins."""
    mass = n @ tables.mass
    empty = mass <= 0.0
    divisor = np.where(empty, 1.0, mass)
    observed = np.where(empty, np.nan, label_mass @ tables.mass / divisor)
    confidence = np.where(empty, np.nan, n @ tables.moment / divisor)
    total = mass.sum(axis=-1, keepdims=True)
    density = np.divide(mass, total, out=np.zeros_like(mass), where=total > 0)
    return observed, confidence, density


def calibration_error(n: FloatArray, label_mass: FloatArray, *, tables: BinTables) -> FloatArray:
    """ECE (Eq. 4) of one tally (K,) or of many (..., K); NaN where there is no observation."""
    residual = label_mass @ tables.mass - n @ tables.moment
    total = np.asarray((n @ tables.mass).sum(axis=-1))
    error = np.abs(residual).sum(axis=-1)
    return np.asarray(np.divide(error, total, out=np.full(total.shape, np.nan), where=total > 0))


def calibration_error_without_end_bins(
    n: FloatArray, label_mass: FloatArray, *, tables: BinTables
) -> FloatArray:
    """ECE over the inner bins only, as the paper's released code computes ECE*.

    It drops everything in the first and last bin, a quarter of "very unlikely" among it; the
    ``ece_star`` of a result drops the statements of 0 % and 100 % instead.
    """
    inner = BinTables(tables.edges[1:-1], tables.mass[:, 1:-1], tables.moment[:, 1:-1])
    return calibration_error(n, label_mass, tables=inner)


def maximum_calibration_error(
    n: FloatArray, label_mass: FloatArray, *, tables: BinTables, min_density: float = 0.0
) -> float:
    """Largest |r_m − g_m| over bins that hold more than ``min_density`` of the use."""
    observed, confidence, density = curve_points(n, label_mass, tables=tables)
    gaps = np.abs(observed - confidence)[density > min_density]
    return float(gaps.max()) if gaps.size else float("nan")


_GRID = (np.arange(1000) + 0.5) / 1000


def smooth_calibration_error(tally: Tally, *, means: FloatArray) -> float:
    """Smooth ECE of the phrase means (K,); NaN where there is no observation."""
    used = tally.n > 0
    if not used.any():
        return float("nan")
    residual = (tally.label_mass - tally.n * means)[used] / tally.total
    centres = means[used]

    def excess(sigma: float) -> float:
        return float(np.abs(residual @ _reflected(centres, sigma)).mean()) - sigma

    if excess(1e-3) <= 0.0:
        return float(np.abs(residual @ _reflected(centres, 1e-3)).mean())
    return float(brentq(excess, 1e-3, 1.0, xtol=1e-9))


def _reflected(centres: FloatArray, sigma: float) -> FloatArray:
    """Gaussian kernels (A, G) reflected into [0, 1], each with mean height 1 on the grid."""
    images = np.array([0.0, 2.0, -2.0])
    total = np.zeros((len(centres), len(_GRID)))
    for shift in images:
        for sign in (1.0, -1.0):
            z = (_GRID - (shift + sign * centres[:, None])) / sigma
            total += np.exp(-(z**2) / 2.0)
    return np.asarray(total / total.mean(axis=1, keepdims=True))
