"""Maps that only comparisons ask for, on the footing of those in ``calibration.substitution``.

* ``exact_error_map``: the stochastic map of least true ECE, a linear program: minimise Σ_m t_m
  with −t_m ≤ Σ_kl W_kl (y_k P_lm − n_k E_lm) ≤ t_m, rows of W summing to 1.
* ``brier_map``: each phrase goes where the expected Brier score is least, whatever their order
  (`calibration.substitution.programs`).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array, eye_array, kron

from calibration.arrays import BoolArray
from calibration.bins import BinTables
from calibration.substitution.cost import SubstitutionMap
from calibration.substitution.programs import as_map, brier_losses, hard_map
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
    return as_map(phrases, tally, weights, value, converged=solved.success, method="exact ECE LP")


def brier_map(
    tally: Tally, *, phrase_table: PhraseTable, prior_size: float = 10.0
) -> SubstitutionMap:
    """Map of least expected Brier score at the shrunk rates; ``prior_size`` is s ≥ 0."""
    loss = brier_losses(tally, phrase_table, prior_size)
    target = np.argmin(loss, axis=1).astype(np.int64)
    return hard_map(tally, phrase_table, target, loss, "Brier, shrunk rates")
