"""Intervals where the plain bootstrap is known to fail.

Simultaneous band of a curve. Where nothing went wrong the bootstrap has no variance, yet a true
rate is not exactly 0 or 1. So each bin is moved as Agresti and Coull 1998 move a rate, with the
number of observations the bin is worth,

    ñ_m = (nP)_m² / (nP²)_m + 4,   r̃_m = (r_m (ñ_m − 4) + 2) / ñ_m,   se_m² = r̃_m (1 − r̃_m) / ñ_m,

and the width c is the 95 % quantile of the largest |r̃*_m − r_m| / se*_m over samples drawn from
rates (y + ½)/(n + 1): phrases multinomial, labels binomial, each with its own r̃* and se*.

Interval of the phrase calibration error. A sum of absolute values is biased upward, most of all
when its true value is 0, so quantiles of a bootstrap miss the truth entirely. The interval instead
inverts a test along one ray: true rates m + λ (p̂ − m) for λ ≥ 0; it holds the errors of every λ
under which the observed error lies in the central 95 %. At λ = 0 that is the null distribution, so
the interval starts at 0 exactly when calibration is not refuted. It always holds the value shown.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from calibration.arrays import FloatArray
from calibration.bins import BinTables
from calibration.curve import curve_points
from calibration.phrase_calibration import phrase_error

__all__ = ["phrase_error_interval", "simultaneous_band"]

_LEVEL = 0.95
_LEAST_DENSITY = 1e-6
_RAY = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0])


def simultaneous_band(
    n: FloatArray,
    label_mass: FloatArray,
    *,
    tables: BinTables,
    replicates: int,
    rng: np.random.Generator,
    least_error: FloatArray | None = None,
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
    least_error
        Standard errors (M,) known to be larger, such as those of resampled patients.
    """
    total = int(np.ceil(float(n.sum()) - 1e-9))
    if not (total and replicates):
        return np.full((2, tables.mass.shape[1]), np.nan)[0], np.full(tables.mass.shape[1], np.nan)
    centre, error = _moved(n, label_mass, tables)
    if least_error is not None:
        error = np.fmax(error, least_error)
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
    width = max(float(np.quantile(largest, _LEVEL)), float(ndtri(0.5 + _LEVEL / 2))) * error
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


def phrase_error_interval(
    n: FloatArray,
    label_mass: FloatArray,
    *,
    means: FloatArray,
    replicates: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """95 % interval of the phrase calibration error of one tally (K,); NaN without observations.

    Parameters
    ----------
    n, label_mass, means
        Uses, label mass and expectations, (K,).
    replicates
        Samples per point of the ray; 0 gives NaN.
    rng
        Source of chance.
    """
    if not (n.sum() > 0 and replicates):
        return float("nan"), float("nan")
    used = n > 0
    n, label_mass, means = n[used], label_mass[used], means[used]
    value = float(phrase_error(n, label_mass, means=means))
    whole = np.maximum(np.floor(n + 0.5), 1.0).astype(np.int64)
    ends = np.empty((3, len(_RAY)))
    for place, step in enumerate(_RAY):
        true = np.clip(means + step * (label_mass / n - means), 0.0, 1.0)
        drawn = rng.binomial(whole, true, size=(replicates, len(n))) * (n / whole)
        seen = phrase_error(np.broadcast_to(n, drawn.shape), drawn, means=means)
        ends[:2, place] = np.quantile(seen, [0.5 - _LEVEL / 2, 0.5 + _LEVEL / 2])
        ends[2, place] = float(phrase_error(n, n * true, means=means))
    low_end, high_end = np.maximum.accumulate(ends[:2], axis=1)
    # np.interp holds the ends: 0 where the null already reaches the value, 2 where the ray stops.
    first, last = np.interp(value, high_end, _RAY), np.interp(value, low_end, _RAY)
    low, high = np.interp([first, last], _RAY, ends[2])
    return float(min(low, value)), float(max(high, value))
