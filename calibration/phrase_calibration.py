"""Phrase by phrase: how often it was right, against what readers expect it to mean.

The table a radiologist is shown first. Its error, Σ n_k |y_k/n_k − mean_k| / N, is 0 for a reader
whose every phrase is right on average; the binned ECE is not.
Wilson interval: Wilson 1927, with fractional label mass when labels are soft.

Interval of the phrase calibration error. A sum of absolute values is biased upward, most of all
when its true value is 0, so quantiles of a bootstrap miss the truth entirely. The interval instead
inverts a test along two rays of true rates m + λd, λ ≥ 0: it holds the errors of every λ under
which the observed error lies in the central 95 %. The same observed error is a smaller true one
where few phrases are off, for the rest of it is chance, and a larger one where all are off a
little, so each end has a ray of its own. With δ = p̂ − m and s_k² = m_k (1 − m_k) φ / n_k:

* low end, few phrases off: d_k = δ_k max(0, 1 − 4 s_k² / δ_k²) (the non-negative garrote, Breiman
  1995), or δ where no gap is beyond 2 s_k;
* high end, all off: d_k = sign(δ_k) √(δ_k² + s_k²/4).

At λ = 0 that is the null distribution, so the interval starts at 0 exactly when calibration is not
refuted. It always holds the value shown. Coverage is measured in docs/method.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

import numpy as np

from calibration.arrays import BoolArray, FloatArray, divided
from calibration.distributions import Distribution
from calibration.estimate import LEVEL, Z95
from calibration.plain import LEFT_OUT
from calibration.survey import PhraseTable, certain
from calibration.tally import Tally


@dataclass(frozen=True, slots=True, eq=False)
class PhraseCalibration:
    """One row per phrase; probabilities between 0 and 1, NaN where there is nothing to say.

    Attributes
    ----------
    phrases
        K phrases in table order.
    n
        Uses, shape (K,).
    observed, low, high
        y_k / n_k with its 95 % Wilson interval; NaN where n_k = 0.
    expected, expected_low, expected_high
        Mean of the phrase's distribution and its central 80 %.
    expected_error
        Half of the mean's 95 % interval by the survey's respondents, 0 where it was assigned.
    """

    phrases: tuple[str, ...] = field(metadata=LEFT_OUT)
    n: FloatArray = field(metadata=LEFT_OUT)
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
    z = Z95
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
        observed=divided(mass, n),
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
    return divided(np.abs(label_mass - n * means).sum(axis=-1), n.sum(axis=-1))


_RAY = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
_CHANCE: Final = 4.0
"""Squared standard errors of a gap that are chance where few phrases are off."""
_HIDDEN: Final = 0.25
"""Squared standard errors that a gap may hide where all phrases are off."""
_SAME: Final = 1e-9
"""Errors that differ by less are one."""


def drawn_errors(
    tally: Tally,
    rates: FloatArray,
    *,
    means: FloatArray,
    replicates: int,
    rng: np.random.Generator,
    effect: float = 1.0,
) -> FloatArray:
    """Phrase errors of samples of a tally's size and true rates (..., K), (replicates, ...)."""
    n = tally.n
    whole = np.maximum(np.floor(n / effect + 0.5), 1.0).astype(np.int64)
    mass = rng.binomial(whole, rates, size=(replicates, *rates.shape)) * (n / whole)
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

    The middle is where the value would be the median of what is seen, halfway between the rays;
    NaN without observations.

    Parameters
    ----------
    tally
        Uses and label mass.
    means
        Expectations, (K,).
    replicates
        Samples per point of a ray; 0 gives NaN.
    rng
        Source of chance.
    effect
        Design effect: n uses vary as n / ``effect`` independent ones.
    """
    if not (tally.total > 0 and replicates):
        return float("nan"), float("nan"), float("nan")
    used = tally.n > 0
    tally, means = replace(tally, counts=tally.counts[used]), means[used]
    gaps = tally.label_mass / tally.n - means
    true = rays(gaps, means * (1.0 - means) * effect / tally.n, means=means)
    seen = drawn_errors(tally, true, means=means, replicates=replicates, rng=rng, effect=effect)
    value = float(phrase_error(tally.n, tally.label_mass, means=means))
    return inverted(value, seen, np.abs(true - means) @ (tally.n / tally.total))


def inverted(value: float, seen: FloatArray, errors: FloatArray) -> tuple[float, float, float]:
    """Invert what is seen (B, 2, S) where the true errors are ``errors`` (2, S) at `rays`' steps.

    Gives the middle and both ends of the true error behind ``value``.
    """
    levels = np.quantile(seen, [0.5 - LEVEL / 2, 0.5, 0.5 + LEVEL / 2], axis=0)
    levels = np.maximum.accumulate(levels, axis=2)
    (few, every), (highest, middle, lowest) = errors, levels
    middles = [
        [_first(value, level, error), _last(value, level, error)]
        for level, error in zip(middle, errors, strict=True)
    ]
    low, high = _first(value, lowest[0], few), _last(value, highest[1], every)
    low, high = min(low, value), max(high, value)
    return float(np.clip(np.mean(middles), low, high)), low, high


# Where rates near 0 or 1 leave what is seen as it is over many steps, the first and the last step
# that show the value lie apart. Beyond both ends of a ray np.interp holds them.
def _first(value: float, level: FloatArray, error: FloatArray) -> float:
    step = np.interp(_SAME - value, -level[::-1], _RAY[::-1])
    return float(np.interp(step, _RAY, error))


def _last(value: float, level: FloatArray, error: FloatArray) -> float:
    return float(np.interp(np.interp(value + _SAME, level, _RAY), _RAY, error))


def rays(gaps: FloatArray, variance: FloatArray, *, means: FloatArray) -> FloatArray:
    """Rates on both rays, few phrases off and all, (2, S, K), by gaps and their variances (K,).

    Examples
    --------
    >>> means, variance = np.array([0.5, 0.7]), np.array([0.01, 0.01])
    >>> rays(np.array([0.4, -0.1]), variance, means=means)[:, 2].round(3).tolist()
    [[0.8, 0.7], [0.903, 0.588]]
    """
    size = gaps**2
    few = gaps * np.maximum(1.0 - _CHANCE * divided(variance, size, nothing=1.0), 0.0)
    every = np.copysign(np.sqrt(size + _HIDDEN * variance), gaps)
    apart = np.stack([few if few.any() else gaps, every])
    return np.asarray(np.clip(means + _RAY[:, None] * apart[:, None], 0.0, 1.0))
