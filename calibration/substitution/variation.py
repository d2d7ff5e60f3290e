"""How a map depends on its settings, ε and τ, and on the luck of the sample.

A small ε makes a map decisive, a small τ lets the use of words drift. Each setting is one point:
the share of words a map would change, and the true ECE and Brier score after it.
Stability: how often the maps of bootstrap replicates have the same main targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.arrays import BoolArray
from calibration.bins import BinTables, phrase_bins
from calibration.curve import calibration_error
from calibration.scores import brier
from calibration.substitution.cost import SubstitutionMap, substitution_cost
from calibration.substitution.transport import Regularisation, transport_map
from calibration.survey import PhraseTable
from calibration.tally import Tally

__all__ = [
    "FrontierPoint",
    "frontier",
]


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
    settings: Sequence[Regularisation],
    allowed: BoolArray | None = None,
) -> tuple[FrontierPoint, ...]:
    """Fit one map per setting on one tally and test it on another (they may be the same)."""
    tables = phrase_bins(phrase_table.distributions)
    cost = substitution_cost(fitted_on.n, fitted_on.label_mass, source=tables, target=tables)
    if allowed is not None:
        cost = np.where(allowed | np.isnan(cost), cost, np.inf)
    source_weights = fitted_on.n / max(fitted_on.total, 1e-300)
    points = []
    for setting in settings:
        fitted = transport_map(
            cost,
            phrases=phrase_table.phrases,
            source_weights=source_weights,
            regularisation=setting,
        )
        points.append(_point(fitted, tested_on, phrase_table, tables))
    return tuple(points)


def _point(
    fitted: SubstitutionMap, tested_on: Tally, phrase_table: PhraseTable, tables: BinTables
) -> FrontierPoint:
    """Measure one setting's map on the tested observations."""
    if not fitted.converged:
        nothing = float("nan")
        return FrontierPoint(fitted.epsilon, fitted.tau, nothing, nothing, nothing, converged=False)
    weights = fitted.weights()
    n, mass = tested_on.n @ weights, tested_on.label_mass @ weights
    loss = brier(n, mass, means=phrase_table.means, variances=phrase_table.variances)
    return FrontierPoint(
        epsilon=fitted.epsilon,
        tau=fitted.tau,
        words_changed=float(fitted.source_weights @ (1.0 - np.diag(weights))),
        ece_after=float(calibration_error(n, mass, tables=tables)),
        brier_after=float(loss),
        converged=True,
    )
