"""How a map depends on its settings, ε and τ, and on the luck of the sample.

A small ε makes a map decisive, a small τ lets the use of words drift. Each setting is one point:
the share of words a map would change, and the true ECE and Brier score after it.
Stability: how often the maps of bootstrap replicates have the same main targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.bins import phrase_bins
from calibration.curve import calibration_error
from calibration.resample import multinomial_moments
from calibration.scores import brier
from calibration.substitution.cost import substitution_cost
from calibration.substitution.transport import Regulariser, transport_map, transport_maps
from calibration.survey import PhraseTable
from calibration.tally import Tally

__all__ = [
    "EPSILONS",
    "TAUS",
    "FrontierPoint",
    "MapStability",
    "frontier",
    "frontier_frame",
    "map_stability",
]

EPSILONS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
TAUS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """One setting's map.

    Attributes
    ----------
    epsilon, tau
        The setting.
    words_changed
        Share of observations whose phrase would change, Σ_k a_k (1 − W_kk).
    ece_after, brier_after
        On the tested observations; NaN if the solver did not converge.
    converged
        Whether there is a map at all.
    """

    epsilon: float
    tau: float
    words_changed: float
    ece_after: float
    brier_after: float
    converged: bool


def frontier(
    fitted_on: Tally,
    *,
    tested_on: Tally,
    phrase_table: PhraseTable,
    epsilons: Sequence[float] = EPSILONS,
    taus: Sequence[float] = TAUS,
    regulariser: Regulariser = "kl",
    allowed: BoolArray | None = None,
) -> tuple[FrontierPoint, ...]:
    """Fit one map per setting on one tally and test it on another (they may be the same)."""
    tables = phrase_bins(phrase_table.distributions)
    cost = substitution_cost(fitted_on.n, fitted_on.label_mass, source=tables, target=tables)
    if allowed is not None:
        cost = np.where(allowed | np.isnan(cost), cost, np.inf)
    points = []
    for epsilon in epsilons:
        for tau in taus:
            fitted = transport_map(
                cost,
                phrases=phrase_table.phrases,
                source_weights=fitted_on.n / max(fitted_on.total, 1e-300),
                epsilon=epsilon,
                tau=tau,
                regulariser=regulariser,
            )
            if not fitted.converged:
                nothing = float("nan")
                points.append(
                    FrontierPoint(epsilon, tau, nothing, nothing, nothing, converged=False)
                )
                continue
            weights = fitted.weights()
            n, mass = tested_on.n @ weights, tested_on.label_mass @ weights
            loss = brier(n, mass, means=phrase_table.means, variances=phrase_table.variances)
            points.append(
                FrontierPoint(
                    epsilon=epsilon,
                    tau=tau,
                    words_changed=float(fitted.source_weights @ (1.0 - np.diag(weights))),
                    ece_after=float(calibration_error(n, mass, tables=tables)),
                    brier_after=float(loss),
                    converged=True,
                )
            )
    return tuple(points)


def frontier_frame(points: Sequence[FrontierPoint]) -> pd.DataFrame:
    """One row per setting, columns as the attributes."""
    return pd.DataFrame(
        [{name: getattr(point, name) for name in FrontierPoint.__slots__} for point in points]
    )


@dataclass(frozen=True, slots=True, eq=False)
class MapStability:
    """Main target of every phrase, and how often bootstrap maps agree.

    Attributes
    ----------
    target
        Phrase that receives most of each row, −1 for phrases not in use, (K,).
    share
        Share of replicates that use the phrase and have the same main target, NaN if none, (K,).
    replicates
        Replicates whose map converged.
    """

    target: IntArray
    share: FloatArray
    replicates: int


def map_stability(
    tally: Tally,
    *,
    phrase_table: PhraseTable,
    epsilon: float = 1e-3,
    tau: float = 1e-3,
    regulariser: Regulariser = "kl",
    allowed: BoolArray | None = None,
    replicates: int = 100,
    rng: np.random.Generator,
) -> MapStability:
    """Refit the transport map to bootstrap samples and compare each row's main target."""
    n, mass = multinomial_moments(tally, replicates=replicates, rng=rng)
    n, mass = np.vstack([tally.n, n]), np.vstack([tally.label_mass, mass])
    tables = phrase_bins(phrase_table.distributions)
    cost = substitution_cost(n, mass, source=tables, target=tables)
    if allowed is not None:
        cost = np.where(allowed | np.isnan(cost), cost, np.inf)
    total = n.sum(axis=1, keepdims=True)
    fitted = transport_maps(
        cost,
        phrases=phrase_table.phrases,
        source_weights=np.divide(n, total, out=np.zeros_like(n), where=total > 0),
        epsilon=epsilon,
        tau=tau,
        regulariser=regulariser,
    )
    targets = [
        np.where(uses > 0, np.argmax(each.plan, axis=1), -1)
        for uses, each in zip(n, fitted, strict=True)
        if each.converged
    ]
    if not targets:
        nothing = np.full(len(phrase_table), -1, dtype=np.int64)
        return MapStability(nothing, np.full(len(phrase_table), np.nan), 0)
    chosen, again = targets[0], np.array(targets[1:]).reshape(-1, len(phrase_table))
    used = again >= 0
    count = used.sum(axis=0)
    same = ((again == chosen) & used).sum(axis=0)
    share = np.divide(same, count, out=np.full(len(count), np.nan), where=count > 0)
    return MapStability(chosen.astype(np.int64), np.where(chosen >= 0, share, np.nan), len(again))
