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
from calibration.estimate import Estimate
from calibration.resample import estimate_from_replicates, multinomial_moments
from calibration.scores import brier
from calibration.tally import Tally

__all__ = ["HeldOutEffect", "held_out_effect", "split_tally"]

MapFitter = Callable[[Tally], FloatArray]
"""Tally → row-stochastic weights (K, K)."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutEffect:
    """Before and after a map, on held-out observations; negative differences are better.

    Attributes
    ----------
    n_fit, n_test
        Observations per split.
    ece_before, ece_after, brier_before, brier_after
        Means over the test halves.
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


def split_tally(
    tally: Tally, *, share: float = 0.5, rng: np.random.Generator
) -> tuple[Tally, Tally]:
    """Split at random within each phrase; fractional counts are split in whole observations.

    Parameters
    ----------
    share
        Share of each phrase's observations that goes to the first part; odd ones fall by chance.
    """
    whole = np.floor(tally.counts + 1e-9).astype(np.int64)
    first = np.zeros_like(tally.counts)
    for k in np.flatnonzero(whole.sum(axis=1)):
        wanted = whole[k].sum() * share
        taken = int(np.floor(wanted)) + int(rng.random() < wanted % 1.0)
        first[k] = rng.multivariate_hypergeometric(whole[k], taken, method="marginals")
    rest = tally.counts - whole
    first += rest * share
    return Tally(tally.label_values, first), Tally(tally.label_values, tally.counts - first)


def held_out_effect(
    tally: Tally,
    *,
    fit: MapFitter,
    tables: BinTables,
    means: FloatArray,
    variances: FloatArray,
    splits: int = 20,
    replicates: int = 10,
    share: float = 0.5,
    rng: np.random.Generator,
) -> HeldOutEffect:
    """Cross-fitted effect of a map on ECE and Brier score.

    Parameters
    ----------
    tally
        All observations.
    fit
        Makes the map from a tally.
    tables, means, variances
        Bin tables (K, M) and moments (K,) of the phrases.
    splits
        Random splits; each is used both ways.
    replicates
        Bootstrap samples of each test part per split, for the interval.
    share
        Share of the observations used for fitting.
    rng
        Source of chance.

    Notes
    -----
    The interval is conditional on the fitted maps: each replicate resamples both test parts of
    one split, its deviation from that split's own value is added to the mean over splits.
    """
    score = _Scores(tables, means, variances)
    values, deviations = [], []
    sizes = np.zeros(2)
    for _ in range(splits):
        parts = split_tally(tally, share=share, rng=rng)
        folds = [parts, parts[::-1]] if share == 0.5 else [parts]
        sizes += [parts[0].total / splits, parts[1].total / splits]
        fold_values, fold_draws = [], []
        for fitted_on, tested_on in folds:
            weights = fit(fitted_on)
            fold_values.append(score.of(tested_on.n, tested_on.label_mass, weights))
            n, mass = multinomial_moments(tested_on, replicates=replicates, rng=rng)
            fold_draws.append(score.of(n, mass, weights))
        values.append(np.mean(fold_values, axis=0))
        deviations.append(np.mean(fold_draws, axis=0) - values[-1][:, None])
    mean = np.mean(values, axis=0)
    spread = np.concatenate(deviations, axis=1)
    return _assemble(mean, spread, tally.total, sizes)


@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    tables: BinTables
    means: FloatArray
    variances: FloatArray

    def of(self, n: FloatArray, mass: FloatArray, weights: FloatArray) -> FloatArray:
        """(ECE before, after, Brier before, after) of tallies (..., K), shape (4, ...)."""
        after_n, after_mass = n @ weights, mass @ weights
        pairs = ((n, mass), (after_n, after_mass))
        errors = [calibration_error(a, b, tables=self.tables) for a, b in pairs]
        losses = [brier(a, b, means=self.means, variances=self.variances) for a, b in pairs]
        return np.stack([*errors, *losses])


def _assemble(
    mean: FloatArray, spread: FloatArray, total: float, sizes: FloatArray
) -> HeldOutEffect:
    def difference(before: int, after: int) -> Estimate:
        value = float(mean[after] - mean[before])
        draws = value + spread[after] - spread[before]
        return estimate_from_replicates(
            value, draws, n=total, rule="percentile", bounds=(-1.0, 1.0)
        )

    return HeldOutEffect(
        n_fit=float(sizes[0]),
        n_test=float(sizes[1]),
        ece_before=float(mean[0]),
        ece_after=float(mean[1]),
        ece_difference=difference(0, 1),
        brier_before=float(mean[2]),
        brier_after=float(mean[3]),
        brier_difference=difference(2, 3),
    )
