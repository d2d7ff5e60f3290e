"""Tallies and bin tables → reliability curve, calibration error, and a band that holds near zero.

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

Simultaneous band of a curve. Where nothing went wrong the bootstrap has no variance, yet a true
rate is not exactly 0 or 1. So each bin is moved as Agresti and Coull 1998 move a rate, with the
number of observations the bin is worth,

    ñ_m = (nP)_m² / (nP²)_m + 4,   r̃_m = (r_m (ñ_m − 4) + 2) / ñ_m,   se_m² = r̃_m (1 − r̃_m) / ñ_m,

and the width c is the 95 % quantile of the largest |r̃*_m − r_m| / se*_m over samples drawn from
rates (y + ½)/(n + 1): phrases multinomial, labels binomial, each with its own r̃* and se*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import FloatArray, divided
from calibration.bins import BinTables
from calibration.estimate import LEVEL, Z95


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


def curve_points(
    n: FloatArray, label_mass: FloatArray, *, tables: BinTables
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """r, g and p of every bin (Eq. 6, 7), each (..., M); r and g are NaN in empty bins."""
    mass = n @ tables.mass
    observed, confidence = (
        divided(each, mass) for each in (label_mass @ tables.mass, n @ tables.moment)
    )
    return observed, confidence, divided(mass, mass.sum(axis=-1, keepdims=True), nothing=0.0)


def calibration_error(n: FloatArray, label_mass: FloatArray, *, tables: BinTables) -> FloatArray:
    """ECE (Eq. 4) of one tally (K,) or of many (..., K); NaN where there is no observation."""
    residual = label_mass @ tables.mass - n @ tables.moment
    return divided(np.abs(residual).sum(axis=-1), (n @ tables.mass).sum(axis=-1))


def calibration_error_without_end_bins(
    n: FloatArray, label_mass: FloatArray, *, tables: BinTables
) -> FloatArray:
    """ECE over the inner bins only, as the paper's released code computes ECE*.

    It drops everything in the first and last bin, a quarter of "very unlikely" among it; the
    ``ece_star`` of a result drops the phrases that are no hedges instead.
    """
    inner = BinTables(tables.edges[1:-1], tables.mass[:, 1:-1], tables.moment[:, 1:-1])
    return calibration_error(n, label_mass, tables=inner)


_LEAST_DENSITY = 1e-6


def simultaneous_band(
    n: FloatArray,
    label_mass: FloatArray,
    *,
    tables: BinTables,
    replicates: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Band that holds a whole curve in 95 % of samples, (M,) each; NaN in empty bins.

    Parameters
    ----------
    n, label_mass
        One tally, (K,).
    tables
        Bin tables (K, M).
    replicates
        Samples for the width; 0 gives NaN.
    rng
        Source of chance.
    """
    total = int(np.ceil(float(n.sum()) - 1e-9))
    if not (total and replicates):
        return np.full((2, tables.mass.shape[1]), np.nan)[0], np.full(tables.mass.shape[1], np.nan)
    centre, error = _moved(n, label_mass, tables)
    rate = (label_mass + 0.5) / (n + 1.0)
    true, _, _ = curve_points(n, n * rate, tables=tables)
    drawn = rng.multinomial(total, n / n.sum(), size=replicates).astype(np.float64)
    hits = rng.binomial(drawn.astype(np.int64), rate).astype(np.float64)
    again, spread = _moved(drawn, hits, tables)
    use = n @ tables.mass
    relevant = use > _LEAST_DENSITY * use.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.abs(again - true) / spread
    largest = np.where(relevant & np.isfinite(ratio), ratio, 0.0).max(axis=1)
    width = max(float(np.quantile(largest, LEVEL)), Z95) * error
    return np.clip(centre - width, 0.0, 1.0), np.clip(centre + width, 0.0, 1.0)


def _moved(
    n: FloatArray, label_mass: FloatArray, tables: BinTables
) -> tuple[FloatArray, FloatArray]:
    """r̃ and its standard error of tallies (..., K), each (..., M); NaN in empty bins."""
    mass = n @ tables.mass
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = mass**2 / (n @ tables.mass**2)
        moved = (label_mass @ tables.mass / mass * worth + 2.0) / (worth + 4.0)
        return moved, np.sqrt(moved * (1.0 - moved) / (worth + 4.0))
