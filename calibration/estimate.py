"""One number with its interval, and the replicates that intervals are made from.

One multinomial over the occupied (phrase × label value) cells has exactly the distribution of
resampling the observations, so the rows are not needed. Replicates are reduced at once to their
2K sufficient numbers (n, y), each (B, K).

A tally of weighted observations is resampled as ⌈total⌉ draws rescaled to the total.

Cluster bootstrap: patients are resampled, not their observations.

One patient may contribute several findings and several exams; resampling observations would then
call correlated numbers independent. Patients with the same counts are interchangeable, so one
multinomial over distinct patient profiles has exactly the distribution of resampling patients.

Where patients cannot be resampled (a test's null, a rate's interval, counts that were rounded for a
page), n observations vary as n / φ independent ones, with the design effect φ of `Likeness`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from calibration.arrays import FloatArray, IntArray, divided, numbers
from calibration.bins import BinRule, BinTables, phrase_bins
from calibration.distributions import Distribution
from calibration.errors import check_option, number, whole
from calibration.tally import GroupedTally, Tally


@dataclass(frozen=True, slots=True)
class Estimate:
    """A sample value with its interval.

    Attributes
    ----------
    value
        The sample value itself, never a bootstrap mean or median. NaN when it does not exist
        (no observation), which ``n`` then says.
    low, high
        Ends of the 95 % interval (or as ``method`` says); NaN when no interval was asked for.
    n
        Observations the value rests on (a sum of weights; fractional weights are possible).
    method
        How the interval was made, in words a caption can carry.
    reference_level
        What a reader whose every phrase is right on average would score; NaN where 0 or unknown.
    null_high
        95 % point of the value for a calibrated reader with the same phrases; NaN if not computed.
    corrected
        Bias-corrected value 2·value − mean of the bootstrap, or the phrase error whose median is
        the value; NaN if not computed.
    """

    value: float
    low: float
    high: float
    n: float
    method: str
    reference_level: float = math.nan
    null_high: float = math.nan
    corrected: float = math.nan

    def without_chance(self) -> Estimate:
        """Give a phrase error as its interval takes it, with chance taken out, where it was."""
        return replace(self, value=self.corrected) if math.isfinite(self.corrected) else self

    def summary(self) -> str:
        """One line for a caption."""
        if math.isnan(self.value):
            return f"not estimable (n = {self.n:g})"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f}, n = {self.n:g})"


IntervalRule = Literal["percentile", "basic", "bias-corrected"]

LEVEL: Final = 0.95
"""Of every interval."""

Z95: Final = 1.959963984540054
"""Half of a 95 % interval of a normal distribution, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the statistics of a group are computed.

    Attributes
    ----------
    bins, bin_rule
        Equal-width bins and how their integrals are computed (see ``calibration.bins``).
    bootstrap
        Replicates for the intervals; 0 leaves them NaN.
    interval
        How an interval is read off the replicates.
    """

    bins: int = 100
    bin_rule: BinRule = "exact"
    bootstrap: int = 1000
    interval: IntervalRule = "percentile"

    def __post_init__(self) -> None:
        whole("bins", self.bins, least=1)
        whole("bootstrap", self.bootstrap, least=0)
        check_option("bin rule", self.bin_rule, BinRule)
        check_option("interval rule", self.interval, IntervalRule)

    def tables(self, distributions: tuple[Distribution, ...]) -> BinTables:
        """Bin tables of the phrases' distributions."""
        return phrase_bins(distributions, bins=self.bins, rule=self.bin_rule)


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike a patient's statements turn out: the design effects of Kish 1965, section 5.4.

    Attributes
    ----------
    phrase
        Variance of the residuals' sum over one phrase, relative to independent statements; ≥ 1.
    whole
        The same over all phrases together; at least ``phrase``.
    """

    phrase: float = 1.0
    whole: float = 1.0

    def __post_init__(self) -> None:
        for name in ("phrase", "whole"):
            object.__setattr__(self, name, number(name, getattr(self, name)))


def likeness(patients: GroupedTally) -> Likeness:
    """Φ = Σ_patients (Σ e)² / Σ e² with e = label − rate of its phrase, in one phrase and in all.

    Parameters
    ----------
    patients
        One group per patient, of the observations of one result group.
    """
    row, label = np.divmod(patients.cell, max(len(patients.label_values), 1))
    phrase, value = row % patients.n_phrases, patients.label_values[label]
    mass = np.bincount(phrase, weights=patients.count * value, minlength=1)
    n = np.bincount(phrase, weights=patients.count, minlength=1)
    residual = value - divided(mass, n, nothing=0.0)[phrase]
    alone = float(patients.count @ residual**2)
    if not alone > 0.0:  # every phrase always true or never: nothing varies
        return Likeness()
    each = np.bincount(row, weights=patients.count * residual)
    together = np.bincount(np.arange(len(each)) // patients.n_phrases, weights=each)
    single = max(float(each @ each) / alone, 1.0)
    return Likeness(single, max(float(together @ together) / alone, single))


def cells_of(tally: Tally) -> tuple[IntArray, FloatArray, FloatArray]:
    """Occupied cells: phrase (C,), label value (C,), weight (C,)."""
    phrase, label = np.nonzero(tally.counts)
    return phrase.astype(np.int64), tally.label_values[label], tally.counts[phrase, label]


def multinomial_moments(
    tally: Tally, *, replicates: int, rng: np.random.Generator, effect: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """N and label mass of bootstrap samples of the observations, each (B, K).

    Parameters
    ----------
    tally
        Counts to resample; an empty tally gives zeros.
    replicates
        B.
    rng
        Source of chance.
    effect
        Design effect φ: as many draws as there are observations / φ.
    """
    phrase, label, weight = cells_of(tally)
    n = np.zeros((replicates, tally.n_phrases))
    mass = np.zeros_like(n)
    if not len(weight):
        return n, mass
    total = float(weight.sum())
    draws = int(np.ceil(total / effect - 1e-9))
    counts = rng.multinomial(draws, weight / total, size=replicates) * (total / draws)
    starts = np.flatnonzero(np.diff(phrase, prepend=-1))
    used = phrase[starts]
    n[:, used] = np.add.reduceat(counts, starts, axis=1)
    mass[:, used] = np.add.reduceat(counts * label, starts, axis=1)
    return n, mass


def null_moments(
    n: FloatArray,
    means: FloatArray,
    *,
    replicates: int,
    rng: np.random.Generator,
    effect: float = 1.0,
) -> FloatArray:
    """Label mass (B, K) of a reader whose labels are Bernoulli(mean_k), phrases held fixed."""
    least = np.minimum(np.floor(n + 0.5), 1.0)
    whole = np.maximum(np.floor(n / effect + 0.5), least).astype(np.int64)
    drawn = rng.binomial(whole, means, size=(replicates, len(n)))
    return np.asarray(drawn * divided(n, whole, nothing=0.0), dtype=np.float64)


def interval(
    value: float, replicates: FloatArray, *, rule: IntervalRule = "percentile"
) -> tuple[float, float]:
    """95 % interval from replicates (B,), NaN replicates left out.

    ``percentile`` reads the quantiles off (the paper), ``basic`` reflects them about the value,
    ``bias-corrected`` shifts them by the share of replicates below the value (Efron 1987, BC).
    None holds its level for a sum of absolute values near its least: the ECE of narrow
    distributions or atoms, the phrase error (docs/method.md has figures).
    """
    check_option("interval rule", rule, IntervalRule)
    value, replicates = number("value", value), numbers("replicates", replicates)
    kept = replicates[np.isfinite(replicates)]
    if not kept.size or not np.isfinite(value):
        return float("nan"), float("nan")
    tails = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if rule == "bias-corrected":
        below = (np.sum(kept < value) + 0.5 * np.sum(kept == value)) / kept.size
        shift = ndtri(np.clip(below, 0.5 / kept.size, 1 - 0.5 / kept.size))
        tails = ndtr(2.0 * shift + ndtri(tails))
    low, high = np.quantile(kept, tails)
    if rule == "basic":
        low, high = 2.0 * value - high, 2.0 * value - low
    return float(low), float(high)


def estimate_from_replicates(
    value: float,
    replicates: FloatArray,
    *,
    n: float,
    rule: IntervalRule,
    bounds: tuple[float, float] = (0.0, 1.0),
    resampled: str = "observations",
) -> Estimate:
    """Pair the sample value with an interval from replicates (B,), clipped to what is possible."""
    low, high = interval(value, replicates, rule=rule) if replicates.size else (np.nan, np.nan)
    kept = replicates[np.isfinite(replicates)]
    method = "no interval"
    if not n > 0:
        method = "no observations"
    elif replicates.size:
        method = f"{rule} bootstrap of {resampled}, {replicates.size} replicates"
    return Estimate(
        value=float(value),
        low=float(np.clip(low, *bounds)),
        high=float(np.clip(high, *bounds)),
        n=float(n),
        method=method,
        corrected=float(2.0 * value - kept.mean()) if kept.size else float("nan"),
    )


def cluster_moments(
    patients: GroupedTally, *, replicates: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw n and label mass of bootstrap samples of patients, each (B, K); none of one patient.

    Parameters
    ----------
    patients
        One group per patient, of the observations of one result group; patients without
        observations do not count.
    replicates
        B.
    rng
        Source of chance.
    """
    shape = (replicates, patients.n_phrases)
    if not len(patients.cell):
        return np.zeros(shape), np.zeros(shape)
    profiles, people = _profiles(patients)
    several = replicates if people.sum() > 1 else 0
    drawn = rng.multinomial(int(people.sum()), people / people.sum(), size=several) @ profiles
    counts = drawn.reshape(several, patients.n_phrases, len(patients.label_values))
    return counts.sum(axis=2), counts @ patients.label_values


def _profiles(patients: GroupedTally) -> tuple[FloatArray, FloatArray]:
    """Distinct patient counts (D, K·L) and how many patients have each (D,)."""
    size = patients.n_phrases * len(patients.label_values)
    patient, cell = np.divmod(patients.cell, size)
    starts = np.flatnonzero(np.diff(patient, prepend=-1))
    # A random weight per (cell, count) pair makes the sum over a patient's cells its fingerprint.
    pair, code = np.unique(np.stack([cell, patients.count]), axis=1, return_inverse=True)
    mark = np.random.default_rng(0).integers(1, 2**40, size=(pair.shape[1],))
    fingerprint = np.add.reduceat(mark[code.ravel()], starts)
    _, first, people = np.unique(fingerprint, return_index=True, return_counts=True)
    ends = np.append(starts[1:], len(cell))
    profiles = np.zeros((len(first), size))
    for row, index in enumerate(first):
        span = slice(starts[index], ends[index])
        profiles[row, cell[span]] = patients.count[span]
    return profiles, people.astype(np.float64)
