"""How much of a transport map is the sample's luck: main targets over bootstrap replicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.bins import phrase_bins
from calibration.resample import multinomial_moments
from calibration.substitution.cost import substitution_cost
from calibration.substitution.transport import Regulariser, transport_maps
from calibration.survey import PhraseTable
from calibration.tally import Tally

__all__ = ["MapStability", "map_stability"]


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
