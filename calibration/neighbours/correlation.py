"""Rank correlation between indicators, with intervals, all items and by success of the pool.

Spearman's ρ with average ranks for ties. Interval: Fisher's z with the standard error of Bonett
and Wright (2000), √((1 + ρ²/2)/(n − 3)); as ρ = ±1 would have no error, four items that happen to
agree be sure, it is read as 1 − 12/(n³ − n), one swap of neighbours away. An indicator that is the
same for every item has no correlation: NaN, not 0.

Mickus et al. (2025, §4, Table 8): indicators that never look at the reference call an item easy
when a pool is confidently wrong. Split by whether more than half of the pool fails, such an
indicator rises with the failure rate among successes and falls with it among failures: it
misleads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import mannwhitneyu, rankdata

from calibration.arrays import BoolArray, FloatArray
from calibration.errors import CalibrationError, refuse
from calibration.estimate import Z95, Estimate

_METHOD = "Spearman, Bonett-Wright interval"


def correlations(indicators: Mapping[str, FloatArray]) -> dict[tuple[str, str], Estimate]:
    """ρ of every pair of named indicators, each ranked once.

    Parameters
    ----------
    indicators
        Name → values, each (n,).

    Raises
    ------
    CalibrationError
        If lengths differ or a value is missing.
    """
    ranks = {name: _ranks(values, name) for name, values in indicators.items()}
    return {(a, b): _estimate(ranks[a], ranks[b]) for a, b in combinations(ranks, 2)}


@dataclass(frozen=True, slots=True, eq=False)
class SuccessSplit:
    """Correlations where most of the pool succeeds and where most of it fails.

    Attributes
    ----------
    n_success, n_failure
        Items of either kind.
    success, failure
        Reference-free and reference-dependent indicator → ρ there.
    human_effect
        Chance that an item the pool fails on has more human dissensus than one it succeeds on
        (common-language effect size); NaN without votes or with one kind of item only.
    human_p_value
        Two-sided Mann-Whitney p-value of the same.
    """

    n_success: int
    n_failure: int
    success: dict[tuple[str, str], Estimate]
    failure: dict[tuple[str, str], Estimate]
    human_effect: float
    human_p_value: float

    def misleads(self, free: str, dependent: str) -> bool:
        """Whether ρ is surely positive among successes and surely negative among failures."""
        up, down = self.success[free, dependent], self.failure[free, dependent]
        return up.low > 0.0 and down.high < 0.0

    @property
    def misleading(self) -> tuple[str, ...]:
        """Reference-free indicators that mislead about some reference-dependent one."""
        found = {free for free, dependent in self.success if self.misleads(free, dependent)}
        return tuple(sorted(found))


def split_by_success(
    *,
    free: Mapping[str, FloatArray],
    dependent: Mapping[str, FloatArray],
    failure: FloatArray,
    human: FloatArray | None = None,
) -> SuccessSplit:
    """Correlate reference-free with reference-dependent indicators on either side of success.

    Parameters
    ----------
    free, dependent
        Name → values, each (n,).
    failure
        Failure rate of every item, shape (n,); above ½ most of the pool fails.
    human
        Human dissensus or entropy of every item, shape (n,), for the effect size.
    """
    failed: BoolArray = np.asarray(failure) > 0.5
    sides = []
    for side in (~failed, failed):
        taken = {name: np.asarray(values)[side] for name, values in {**free, **dependent}.items()}
        both = {(a, b) for a in free for b in dependent}
        ranks = {name: _ranks(values, name, some=False) for name, values in taken.items()}
        sides.append({(a, b): _estimate(ranks[a], ranks[b]) for a, b in sorted(both)})
    effect, p_value = _effect(human, failed)
    return SuccessSplit(
        n_success=int((~failed).sum()),
        n_failure=int(failed.sum()),
        success=sides[0],
        failure=sides[1],
        human_effect=effect,
        human_p_value=p_value,
    )


def _effect(human: FloatArray | None, failed: BoolArray) -> tuple[float, float]:
    if human is None or failed.all() or not failed.any():
        return math.nan, math.nan
    hard, easy = np.asarray(human)[failed], np.asarray(human)[~failed]
    found = mannwhitneyu(hard, easy, alternative="two-sided", method="asymptotic")
    return float(found.statistic) / (len(hard) * len(easy)), float(found.pvalue)


def _ranks(values: FloatArray, name: str, *, some: bool = True) -> FloatArray:
    """Centred average ranks scaled to unit length, shape (n,); all 0 for a constant."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or (some and not len(array)):
        raise CalibrationError(f"{name}: shape {array.shape}, expected one value per item.")
    refuse(name, ~np.isfinite(array), "values are missing")
    if not len(array):
        return array
    ranks = rankdata(array) - (len(array) + 1) / 2.0
    length = float(np.linalg.norm(ranks))
    return np.asarray(ranks / length if length > 0 else ranks, dtype=np.float64)


def _estimate(first: FloatArray, second: FloatArray) -> Estimate:
    n = len(first)
    if n != len(second):
        raise CalibrationError(
            f"indicators of {n} and {len(second)} items; correlate the same items."
        )
    if n < 2 or not first.any() or not second.any():
        return Estimate(math.nan, math.nan, math.nan, n, "no correlation: fewer than two values")
    rho = round(float(np.clip(first @ second, -1.0, 1.0)), 15)
    if n < 4:
        return Estimate(rho, math.nan, math.nan, n, "Spearman, too few items for an interval")
    width = Z95 * math.sqrt((1.0 + rho**2 / 2.0) / (n - 3))
    nearest = 1.0 - 12.0 / (n**3 - n)
    centre = math.atanh(min(max(rho, -nearest), nearest))
    low, high = min(rho, math.tanh(centre - width)), max(rho, math.tanh(centre + width))
    return Estimate(rho, low, high, n, _METHOD)
