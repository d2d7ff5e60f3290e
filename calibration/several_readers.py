"""Many readers at once: funnel limits and false discoveries.

Funnel limits (Spiegelhalter 2005): gap_r = (O_r − E_r)/n_r against 0 with standard error
√V_r / n_r, inflated by a between-reader variance τ² (DerSimonian and Laird, z winsorised at the
10 % ends), so that the ordinary differences between readers are not called outliers.

False discoveries: Benjamini and Hochberg 1995, or Benjamini and Yekutieli 2001 under any
dependence; the number of hypotheses is part of the result and is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import false_discovery_control

from calibration.arrays import BoolArray, FloatArray
from calibration.tally import Tally

__all__ = [
    "Discoveries",
    "Funnel",
    "control_false_discoveries",
    "funnel",
]


@dataclass(frozen=True, slots=True, eq=False)
class Funnel:
    """Each reader's gap between outcomes and words, with limits that know readers differ.

    Attributes
    ----------
    gap
        (O − E) / n, shape (R,); NaN where n = 0.
    standard_error
        Without the between-reader variance, shape (R,).
    n
        Observations, shape (R,).
    between_variance
        τ².
    inflation
        Winsorised mean of z², 1 when readers differ by chance only.
    p_value
        Two-sided, with τ², shape (R,).
    """

    gap: FloatArray
    standard_error: FloatArray
    n: FloatArray
    between_variance: float
    inflation: float
    p_value: FloatArray

    def limits(self, *, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Limits around 0 at the given level, with τ², shape (R,) each."""
        half = float(ndtri(0.5 + level / 2.0)) * np.sqrt(
            self.standard_error**2 + self.between_variance
        )
        return -half, half


def funnel(tallies: Sequence[Tally], *, means: FloatArray) -> Funnel:
    """Funnel of calibration in the large over readers; means are (K,)."""
    n = np.stack([t.n for t in tallies])
    mass = np.stack([t.label_mass for t in tallies]).sum(axis=1)
    total = n.sum(axis=1)
    some = np.where(total > 0, total, np.nan)
    gap = (mass - n @ means) / some
    error = np.sqrt(n @ (means * (1.0 - means))) / some
    known = np.isfinite(gap) & (error > 0)
    tau2, inflation = _between(gap[known], error[known])
    spread = np.sqrt(error**2 + tau2)
    z = np.divide(gap, spread, out=np.full_like(gap, np.nan), where=known)
    return Funnel(gap, error, total, tau2, inflation, 2.0 * ndtr(-np.abs(z)))


def _between(gap: FloatArray, error: FloatArray) -> tuple[float, float]:
    if len(gap) < 3:
        return 0.0, 1.0
    z = gap / error
    low, high = np.quantile(z, [0.1, 0.9])
    inflation = float(np.mean(np.clip(z, low, high) ** 2))
    weight = 1.0 / error**2
    scale = weight.sum() - (weight**2).sum() / weight.sum()
    count = len(gap)
    tau2 = (count * inflation - (count - 1)) / scale if inflation * count > count - 1 else 0.0
    return float(max(tau2, 0.0)), inflation


@dataclass(frozen=True, slots=True, eq=False)
class Discoveries:
    """Which of many hypotheses stand at a false-discovery rate.

    Attributes
    ----------
    adjusted
        Adjusted p-values, NaN where the test was not made, same shape as given.
    rejected
        adjusted ≤ rate.
    hypotheses
        How many were tested.
    rate, method
        The rate controlled and by which procedure.
    """

    adjusted: FloatArray
    rejected: BoolArray
    hypotheses: int
    rate: float
    method: str


def control_false_discoveries(
    p_values: FloatArray, *, rate: float = 0.05, method: Literal["bh", "by"] = "bh"
) -> Discoveries:
    """Adjust p-values of any shape; NaN means "not tested" and does not count."""
    tested = np.isfinite(p_values)
    adjusted = np.full(p_values.shape, np.nan)
    if tested.any():
        adjusted[tested] = false_discovery_control(p_values[tested], method=method)
    rejected = np.where(tested, adjusted, np.inf) <= rate
    return Discoveries(adjusted, rejected, int(tested.sum()), rate, method)
