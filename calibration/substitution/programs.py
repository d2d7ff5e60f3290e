"""The monotone map beside transport: least expected Brier score, with phrases kept in their order.

The loss of saying l for k is var_l + m_l² − 2 m_l p̃_k + p̃_k, with p̃_k = (y_k + s m_k) / (n_k + s)
drawn toward its expectation. A phrase never ends below the target of a weaker phrase: a dynamic
programme over phrases ordered by mean. Other maps on the same footing, for comparison alone, are
in ``benchmarks/other_maps.py``.
"""

from __future__ import annotations

import numpy as np

from calibration.arrays import FloatArray, IntArray, divided
from calibration.substitution.cost import SubstitutionMap
from calibration.survey import PhraseTable
from calibration.tally import Tally


def monotone_map(
    tally: Tally, *, phrase_table: PhraseTable, prior_size: float = 10.0
) -> SubstitutionMap:
    """Map of least expected Brier score that keeps phrases in order; unused phrases stay."""
    loss = brier_losses(tally, phrase_table, prior_size)
    used = np.flatnonzero(tally.n > 0)
    order = np.argsort(phrase_table.means, kind="stable")
    rows = order[np.isin(order, used)]
    weighted = tally.n[rows, None] * loss[np.ix_(rows, order)]
    target = np.arange(len(loss))
    target[rows] = order[_monotone_path(weighted)]
    return hard_map(tally, phrase_table, target, loss, "monotone, Brier")


def brier_losses(tally: Tally, table: PhraseTable, prior_size: float) -> FloatArray:
    """Give the expected Brier score per use of l for k, (K, K)."""
    means = table.means
    rate = divided(tally.label_mass + prior_size * means, tally.n + prior_size, nothing=means)
    loss: FloatArray = table.variances + means**2 - 2.0 * rate[:, None] * means + rate[:, None]
    return loss


def _monotone_path(cost: FloatArray) -> IntArray:
    """Non-decreasing column per row with the least total cost; the first such path on ties."""
    best = np.zeros(cost.shape[1])
    origin = np.zeros(cost.shape, dtype=np.int64)
    for row in range(cost.shape[0]):
        reachable = np.minimum.accumulate(best)
        fresh = np.concatenate([[True], best[1:] < reachable[:-1]])
        origin[row] = np.maximum.accumulate(np.where(fresh, np.arange(len(best)), 0))
        best = reachable + cost[row]
    path = np.empty(cost.shape[0], dtype=np.int64)
    column = int(np.argmin(best)) if cost.shape[0] else 0
    for row in range(cost.shape[0] - 1, -1, -1):
        path[row] = column
        column = int(origin[row, column])
    return path


def hard_map(
    tally: Tally, table: PhraseTable, target: IntArray, loss: FloatArray, method: str
) -> SubstitutionMap:
    """Make the map that sends each phrase in use to one target."""
    stay = np.arange(len(target))
    target = np.where(tally.n > 0, target, stay)
    value = float(tally.n @ loss[stay, target]) / tally.total if tally.total > 0 else float("nan")
    weights = np.eye(len(target))[target]
    return as_map(table.phrases, tally, weights, value, converged=True, method=method)


def as_map(
    phrases: tuple[str, ...],
    tally: Tally,
    weights: FloatArray,
    objective: float,
    *,
    converged: bool,
    method: str,
) -> SubstitutionMap:
    """Make weights a map, with the flow that they come to."""
    share = tally.n / tally.total if tally.total > 0 else np.zeros_like(tally.n)
    plan = share[:, None] * weights
    return SubstitutionMap(
        phrases=phrases,
        source_weights=share,
        target_weights=plan.sum(axis=0),
        cost=np.full(weights.shape, np.nan),
        plan=plan,
        objective=objective,
        row_residual=float(np.abs(plan.sum(axis=1) - share).max(initial=0.0)),
        dual_gradient=0.0,
        converged=converged and tally.total > 0,
        method=method,
        regulariser="none",
        epsilon=0.0,
        tau=0.0,
    )
