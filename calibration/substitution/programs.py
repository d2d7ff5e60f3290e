"""Other maps beside transport, compared on the same footing.

* ``exact_error_map``: the stochastic map of least true ECE, a linear program: minimise Σ_m t_m
  with −t_m ≤ Σ_kl W_kl (y_k P_lm − n_k E_lm) ≤ t_m, rows of W summing to 1.
* ``brier_map``: each phrase goes where the expected Brier score is least,
  var_l + m_l² − 2 m_l p̃_k, with p̃_k = (y_k + s m_k) / (n_k + s) drawn toward its expectation.
* ``monotone_map``: the same loss, but a phrase never ends below the target of a weaker phrase;
  a dynamic programme over phrases ordered by mean.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array, eye_array, kron

from calibration.arrays import BoolArray, FloatArray, IntArray, divided
from calibration.bins import BinTables
from calibration.substitution.cost import SubstitutionMap
from calibration.survey import PhraseTable
from calibration.tally import Tally


def exact_error_map(
    tally: Tally,
    *,
    phrases: tuple[str, ...],
    source: BinTables,
    target: BinTables,
    allowed: BoolArray | None = None,
) -> SubstitutionMap:
    """Map of least ECE on the given tally; its objective is that ECE.

    Under a bin rule that loses mass it is the sum over bins divided by what the source has.

    Parameters
    ----------
    tally
        Counts of K source phrases.
    phrases
        Names.
    source, target
        Bin tables (K, M) and (L, M); the denominator is the source's Σ (nP)_m.
    allowed
        Permitted cells (K, L); all if not given.
    """
    n, mass = tally.n, tally.label_mass
    rows = np.flatnonzero(n > 0)
    permitted = np.ones((len(n), len(target.mass)), dtype=bool) if allowed is None else allowed
    effect = mass[rows, None, None] * target.mass - n[rows, None, None] * target.moment
    bins, targets = effect.shape[2], effect.shape[1]
    total = max(float((n @ source.mass).sum()), 1e-12)
    flow = csr_array(effect.reshape(-1, bins).T / total)
    slack = eye_array(bins)
    one_each = kron(eye_array(len(rows)), np.ones((1, targets)))
    ceiling = np.concatenate([permitted[rows].ravel().astype(np.float64), np.full(bins, np.inf)])
    # The stubs of linprog know lists of pairs only, not the (n, 2) array it documents.
    solved = linprog(  # type: ignore[call-overload]
        np.concatenate([np.zeros(len(rows) * targets), np.ones(bins)]),
        A_ub=block_array([[flow, -slack], [-flow, -slack]]).toarray(),
        b_ub=np.zeros(2 * bins),
        A_eq=block_array([[one_each, csr_array((len(rows), bins))]]).toarray(),
        b_eq=np.ones(len(rows)),
        bounds=np.stack([np.zeros_like(ceiling), ceiling], axis=1),
        method="highs",
    )
    weights = np.eye(len(n), targets)
    if solved.success:
        found = np.clip(solved.x[: len(rows) * targets].reshape(len(rows), targets), 0.0, None)
        weights[rows] = found / found.sum(axis=1, keepdims=True)
    # The solver meets its constraints to 1e-8; the error of its map is recomputed exactly.
    value = float(np.abs(np.tensordot(weights[rows], effect, axes=2)).sum() / total)
    return _as_map(phrases, tally, weights, value, converged=solved.success, method="exact ECE LP")


def brier_map(
    tally: Tally, *, phrase_table: PhraseTable, prior_size: float = 10.0
) -> SubstitutionMap:
    """Map of least expected Brier score at the shrunk rates; ``prior_size`` is s ≥ 0."""
    loss = _brier_losses(tally, phrase_table, prior_size)
    target = np.argmin(loss, axis=1).astype(np.int64)
    return _hard_map(tally, phrase_table, target, loss, "Brier, shrunk rates")


def monotone_map(
    tally: Tally, *, phrase_table: PhraseTable, prior_size: float = 10.0
) -> SubstitutionMap:
    """Map of least expected Brier score that keeps phrases in order; unused phrases stay."""
    loss = _brier_losses(tally, phrase_table, prior_size)
    used = np.flatnonzero(tally.n > 0)
    order = np.argsort(phrase_table.means, kind="stable")
    rows = order[np.isin(order, used)]
    weighted = tally.n[rows, None] * loss[np.ix_(rows, order)]
    target = np.arange(len(loss))
    target[rows] = order[_monotone_path(weighted)]
    return _hard_map(tally, phrase_table, target, loss, "monotone, Brier")


def _brier_losses(tally: Tally, table: PhraseTable, prior_size: float) -> FloatArray:
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


def _hard_map(
    tally: Tally, table: PhraseTable, target: IntArray, loss: FloatArray, method: str
) -> SubstitutionMap:
    stay = np.arange(len(target))
    target = np.where(tally.n > 0, target, stay)
    value = float(tally.n @ loss[stay, target]) / tally.total if tally.total > 0 else float("nan")
    weights = np.eye(len(target))[target]
    return _as_map(table.phrases, tally, weights, value, converged=True, method=method)


def _as_map(
    phrases: tuple[str, ...],
    tally: Tally,
    weights: FloatArray,
    objective: float,
    *,
    converged: bool,
    method: str,
) -> SubstitutionMap:
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
