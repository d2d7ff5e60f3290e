"""Phrase by phrase: how often it was right, against what readers expect it to mean.

The table a radiologist is shown first. Its error, Σ n_k |y_k/n_k − mean_k| / N, is 0 for a reader
whose every phrase is right on average; the binned ECE is not.
Wilson interval: Wilson 1927, with fractional label mass when labels are soft.

Interval of the phrase calibration error. A sum of absolute values is biased upward, most of all
when its true value is 0, so quantiles of a bootstrap miss the truth entirely. The interval instead
inverts a test along one ray: true rates m + λ (p̂ − m) for λ ≥ 0; it holds the errors of every λ
under which the observed error lies in the central 95 %. At λ = 0 that is the null distribution, so
the interval starts at 0 exactly when calibration is not refuted. It always holds the value shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np
from scipy.special import ndtri

from calibration.arrays import BoolArray, FloatArray
from calibration.distributions import Distribution
from calibration.estimate import LEVEL, Z95
from calibration.plain import LEFT_OUT
from calibration.rounding import rounded_mass
from calibration.survey import PhraseTable, certain
from calibration.tally import Tally


@dataclass(frozen=True, slots=True, eq=False)
class PhraseCalibration:
    """One row per phrase; probabilities between 0 and 1, NaN where there is nothing to say.

    Attributes
    ----------
    phrases
        K phrases in table order.
    n, label_mass
        Uses and label mass, shape (K,).
    observed, low, high
        y_k / n_k with its 95 % Wilson interval; NaN where n_k = 0.
    expected, expected_low, expected_high
        Mean of the phrase's distribution and its central 80 %.
    expected_error
        Half of the mean's 95 % interval by the survey's respondents, 0 where it was assigned.
    """

    phrases: tuple[str, ...] = field(metadata=LEFT_OUT)
    n: FloatArray = field(metadata=LEFT_OUT)
    label_mass: FloatArray = field(metadata=LEFT_OUT)
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    expected: FloatArray
    expected_low: FloatArray
    expected_high: FloatArray
    expected_error: FloatArray = field(metadata=LEFT_OUT)

    @property
    def hedges(self) -> BoolArray:
        """Which phrases are hedges, (K,)."""
        return ~certain(self.expected)


def wilson(label_mass: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """95 % Wilson score interval of the rates label_mass / n; NaN where n = 0.

    Examples
    --------
    >>> low, high = wilson(np.array([8.0]), np.array([10.0]))
    >>> round(float(low[0]), 4), round(float(high[0]), 4)
    (0.4902, 0.9433)
    """
    z = float(ndtri(0.975))
    uses = np.where(n > 0, n, np.nan)
    rate = label_mass / uses
    centre = (rate + z**2 / (2 * uses)) / (1 + z**2 / uses)
    half = z / (1 + z**2 / uses) * np.sqrt(rate * (1 - rate) / uses + z**2 / (4 * uses**2))
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def phrase_calibration(
    tally: Tally, *, phrase_table: PhraseTable, effect: float = 1.0
) -> PhraseCalibration:
    """Observed rate of every phrase beside its expectation; n vary as n / ``effect`` do."""
    n, mass = tally.n, tally.label_mass
    low, high = wilson(mass / effect, n / effect)
    quantiles = _central_range(phrase_table.distributions)
    return PhraseCalibration(
        phrases=phrase_table.phrases,
        n=n,
        label_mass=mass,
        observed=np.divide(mass, n, out=np.full(len(n), np.nan), where=n > 0),
        low=low,
        high=high,
        expected=phrase_table.means,
        expected_low=quantiles[:, 0],
        expected_high=quantiles[:, 1],
        expected_error=Z95 * phrase_table.errors,
    )


@lru_cache(maxsize=32)
def _central_range(distributions: tuple[Distribution, ...]) -> FloatArray:
    """Give the ends of the central 80 % of every phrase, (K, 2), computed once per phrase table."""
    return np.array([[d.quantile(0.1), d.quantile(0.9)] for d in distributions])


def phrase_error(n: FloatArray, label_mass: FloatArray, *, means: FloatArray) -> FloatArray:
    """Phrase calibration error Σ_k |y_k − n_k mean_k| / N of tallies (..., K); NaN if empty."""
    total = np.asarray(n.sum(axis=-1))
    error = np.abs(label_mass - n * means).sum(axis=-1)
    return np.asarray(np.divide(error, total, out=np.full(total.shape, np.nan), where=total > 0))


_RAY = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0])


def drawn_errors(
    tally: Tally,
    rates: FloatArray,
    *,
    means: FloatArray,
    replicates: int,
    rng: np.random.Generator,
    effect: float = 1.0,
) -> FloatArray:
    """Phrase errors of samples of a tally's size and true rates (K,), shape (replicates,).

    A rounded tally's samples are rounded as it was: else what rounding does to a sum of absolute
    values would be taken for a reader's distance.
    """
    n = tally.n
    whole = np.maximum(np.floor(n / effect + 0.5), 1.0).astype(np.int64)
    mass = rng.binomial(whole, rates, size=(replicates, len(n))) * (n / whole)
    mass = rounded_mass(mass, n) if tally.rounded else mass
    return phrase_error(np.broadcast_to(n, mass.shape), mass, means=means)


def phrase_error_interval(
    tally: Tally,
    *,
    means: FloatArray,
    replicates: int,
    rng: np.random.Generator,
    effect: float = 1.0,
) -> tuple[float, float, float]:
    """Give the true phrase error of one tally (K,), chance taken out, with its 95 % interval.

    The middle is where the value would be the median of what is seen; NaN without observations.

    Parameters
    ----------
    tally
        Uses and label mass; rounded ones are compared with rounded chance.
    means
        Expectations, (K,).
    replicates
        Samples per point of the ray; 0 gives NaN.
    rng
        Source of chance.
    effect
        Design effect: n uses vary as n / ``effect`` independent ones.
    """
    if not (tally.total > 0 and replicates):
        return float("nan"), float("nan"), float("nan")
    used = tally.n > 0
    tally, means = replace(tally, counts=tally.counts[used]), means[used]
    n, rates = tally.n, tally.label_mass / tally.n
    value = float(phrase_error(n, tally.label_mass, means=means))
    chance = partial(
        drawn_errors, tally, means=means, replicates=replicates, rng=rng, effect=effect
    )
    ends = np.empty((4, len(_RAY)))
    for place, step in enumerate(_RAY):
        true = np.clip(means + step * (rates - means), 0.0, 1.0)
        ends[:3, place] = np.quantile(chance(true), [0.5 - LEVEL / 2, 0.5, 0.5 + LEVEL / 2])
        ends[3, place] = float(phrase_error(n, n * true, means=means))
    levels = np.maximum.accumulate(ends[:3], axis=1)
    # np.interp holds the ends: 0 where the null already reaches the value, 2 where the ray stops.
    steps = [np.interp(value, level, _RAY) for level in levels]
    high, middle, low = np.interp(steps, _RAY, ends[3])
    return float(middle), float(min(low, value)), float(max(high, value))
