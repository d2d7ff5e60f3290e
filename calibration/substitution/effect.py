"""What a map does on observations it was not fitted on.

The transport cost is linear and only a proxy: it can promise an ECE of .03 where the truth is .09.
The true ECE after a map comes from expected counts: n' = nW, y' = yW. A tally is split as its
observations would be: within each phrase, half at random (stratified, as in the paper), the label
values following a multivariate hypergeometric. Cross-fitting uses both halves both ways and
several splits, so that nothing hangs on one lucky cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibration.arrays import FloatArray
from calibration.bins import BinTables
from calibration.curve import calibration_error
from calibration.estimate import Estimate, estimate_from_replicates, multinomial_moments
from calibration.scores import brier
from calibration.tally import Tally

MapFitter = Callable[[Tally], FloatArray]
"""Tally → row-stochastic weights (K, K)."""

_REPLICATES = 50
"""Bootstrap samples of the test parts of each of several splits, for the interval."""
_REPLICATES_OF_ONE_SPLIT = 1000


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutEffect:
    """Before and after a map, on held-out observations; negative differences are better.

    Attributes
    ----------
    n_fit, n_test
        Observations per split.
    ece_before, ece_after, brier_before, brier_after
        Means over the test parts.
    ece_difference, brier_difference
        After − before, with an interval.
    """

    n_fit: float
    n_test: float
    ece_before: float
    ece_after: float
    ece_difference: Estimate
    brier_before: float
    brier_after: float
    brier_difference: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What a map is judged by: bin tables (K, M) and moments (K,) of the phrases.

    ``effect`` is the design effect φ of `calibration.estimate.Likeness`: n observations are split
    and resampled as n / φ, for a patient's exams on both sides of a split hold nothing out.
    """

    tables: BinTables
    means: FloatArray
    variances: FloatArray
    effect: float = 1.0

    def told(self, tally: Tally) -> Tally:
        """Give as many observations as tell independently of each other."""
        return Tally(tally.label_values, tally.counts / self.effect)

    def of(self, n: FloatArray, mass: FloatArray, weights: FloatArray) -> FloatArray:
        """(ECE before, after, Brier before, after) of tallies (..., K), shape (4, ...)."""
        after_n, after_mass = n @ weights, mass @ weights
        pairs = ((n, mass), (after_n, after_mass))
        errors = [calibration_error(a, b, tables=self.tables) for a, b in pairs]
        losses = [brier(a, b, means=self.means, variances=self.variances) for a, b in pairs]
        return np.stack([*errors, *losses])


def split_tally(
    tally: Tally, *, share: float = 0.5, rng: np.random.Generator
) -> tuple[Tally, Tally]:
    """Split at random within each phrase; a fraction of an observation is shared out evenly.

    Parameters
    ----------
    share
        Share of each phrase's observations that goes to the first part; odd ones fall by chance.
    """
    whole = np.floor(tally.counts + 1e-9).astype(np.int64)
    first = np.clip(tally.counts - whole, 0.0, None) * share
    for k in np.flatnonzero(whole.sum(axis=1)):
        wanted = float(whole[k].sum()) * share
        taken = int(wanted) + int(rng.random() < wanted % 1.0)
        first[k] += rng.multivariate_hypergeometric(whole[k], taken)
    rest = np.clip(tally.counts - first, 0.0, None)
    return Tally(tally.label_values, first), Tally(tally.label_values, rest)


def fold_tally(tally: Tally, *, folds: int, rng: np.random.Generator) -> list[Tally]:
    """Split into equal parts at random within each phrase."""
    parts, rest = [], tally
    for left in range(folds, 1, -1):
        part, rest = split_tally(rest, share=1.0 / left, rng=rng)
        parts.append(part)
    return [*parts, rest]


def held_out_effect(
    tally: Tally,
    *,
    fit: MapFitter,
    scores: Scores,
    folds: int = 2,
    splits: int = 20,
    rng: np.random.Generator,
) -> HeldOutEffect:
    """Cross-fitted effect of a map on ECE and Brier score.

    Parameters
    ----------
    tally
        All observations.
    fit
        Makes the map from a tally.
    scores
        What the map is judged by.
    folds
        Parts per split; each is tested with the map fitted on all others. 2 is the paper's 50/50.
    splits
        Random splits to average over.
    rng
        Source of chance.

    Notes
    -----
    The interval is conditional on the fitted maps: each replicate resamples all test parts of one
    split, and its deviation from that split's own value is added to the mean over splits.
    """
    told = scores.told(tally)
    rounds = [
        _cross_fit(_pairs(fold_tally(told, folds=folds, rng=rng)), fit, scores, _REPLICATES, rng)
        for _ in range(splits)
    ]
    share = tally.total / folds
    return _assemble(rounds, tally.total, (tally.total - share, share))


def split_effect(
    tally: Tally,
    *,
    fit: MapFitter,
    scores: Scores,
    test_share: float = 0.5,
    rng: np.random.Generator,
) -> HeldOutEffect:
    """Effect on one held-out part, as in the paper, see :func:`held_out_effect`."""
    fitted_on, tested_on = split_tally(scores.told(tally), share=1.0 - test_share, rng=rng)
    rounds = [_cross_fit([(fitted_on, tested_on)], fit, scores, _REPLICATES_OF_ONE_SPLIT, rng)]
    sizes = fitted_on.total * scores.effect, tested_on.total * scores.effect
    return _assemble(rounds, sizes[1], sizes)


def _pairs(parts: list[Tally]) -> list[tuple[Tally, Tally]]:
    """Each part with the sum of all others: (fitted on, tested on)."""
    values = parts[0].label_values
    counts = np.sum([part.counts for part in parts], axis=0)
    return [(Tally(values, np.clip(counts - p.counts, 0.0, None)), p) for p in parts]


def _cross_fit(
    pairs: list[tuple[Tally, Tally]],
    fit: MapFitter,
    scores: Scores,
    replicates: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Scores (4,) averaged over the test parts, and their bootstrap deviations (4, B)."""
    value, draws = np.zeros(4), np.zeros((4, replicates))
    tested = sum(part.total for _, part in pairs)
    if not tested > 0:
        return value + np.nan, draws + np.nan
    for fitted_on, tested_on in pairs:
        if tested_on.total <= 0:
            continue
        weights, share = fit(fitted_on), tested_on.total / tested
        value += share * scores.of(tested_on.n, tested_on.label_mass, weights)
        n, mass = multinomial_moments(tested_on, replicates=replicates, rng=rng)
        draws += share * scores.of(n, mass, weights)
    return value, draws - value[:, None]


def _assemble(
    rounds: list[tuple[FloatArray, FloatArray]], total: float, sizes: tuple[float, float]
) -> HeldOutEffect:
    mean = np.mean([value for value, _ in rounds], axis=0)
    spread = np.concatenate([deviation for _, deviation in rounds], axis=1)

    def difference(before: int, after: int) -> Estimate:
        value = float(mean[after] - mean[before])
        draws = value + spread[after] - spread[before]
        return estimate_from_replicates(
            value, draws, n=total, rule="percentile", bounds=(-1.0, 1.0)
        )

    return HeldOutEffect(
        n_fit=sizes[0],
        n_test=sizes[1],
        ece_before=float(mean[0]),
        ece_after=float(mean[1]),
        ece_difference=difference(0, 1),
        brier_before=float(mean[2]),
        brier_after=float(mean[3]),
        brier_difference=difference(2, 3),
    )
