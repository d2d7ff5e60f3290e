"""What saying phrase l for phrase k costs, and a map of such swaps with proof of its optimum.

C_kl = [ECE(u_k → v_l) − ECE] / a_k (Wang et al. 2025, Eq. 12), where a_k = n_k / N. Replacing one
phrase changes the residual yP − nE by a matrix of rank one, so no observation is revisited:
residual − (y_k P_k − n_k E_k) + (y_k Q_l − n_k F_l), with (Q, F) the tables of the targets.
The denominator Σ (nP)_m is N, because every exact row of P sums to 1; under the midpoint rule the
denominator changes with the phrase and is recomputed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from calibration.arrays import FloatArray, divided
from calibration.bins import BinTables
from calibration.curve import calibration_error
from calibration.errors import NotConvergedError
from calibration.plain import LEFT_OUT, plain_fields


@dataclass(frozen=True, slots=True, eq=False)
class SubstitutionMap:
    """A stochastic map from phrases to phrases, with the proof that it solves its problem.

    Attributes
    ----------
    phrases
        K phrases in table order, sources and targets alike.
    cost
        C, inf where forbidden, NaN in rows of phrases never used, shape (K, K).
    plan
        T, rows sum to a, shape (K, K).
    source_weights, target_weights
        a and b, shares of use, shape (K,).
    objective
        Value of the minimised objective.
    row_residual
        Largest |Σ_l T_kl − a_k|.
    dual_gradient
        Largest component of the dual gradient at the solution; 0 where the method has no dual.
    converged
        False means that ``plan`` must not be used; :meth:`weights` then refuses.
    method, regulariser, epsilon, tau
        How it was made.
    steps
        Newton steps taken.
    """

    phrases: tuple[str, ...] = field(metadata=LEFT_OUT)
    cost: FloatArray
    plan: FloatArray
    source_weights: FloatArray
    target_weights: FloatArray
    objective: float
    converged: bool
    row_residual: float
    dual_gradient: float
    method: str
    regulariser: str
    epsilon: float
    tau: float
    steps: int = field(default=0, metadata=LEFT_OUT)

    def to_plain(self) -> dict[str, object]:
        """Return what is written of it: no weights and no plan where it did not converge."""
        weights, plan = (self.weights(), self.plan) if self.converged else (None, None)
        return {"weights": weights, **plain_fields(self, own=True), "plan": plan}

    def weights(self) -> FloatArray:
        """Rows of the plan as probabilities; a phrase never used keeps itself, shape (K, K).

        Raises
        ------
        NotConvergedError
            If the solver did not converge.
        """
        if not self.converged:
            raise NotConvergedError(
                f"The substitution map did not converge (dual gradient {self.dual_gradient:.1e}, "
                f"row residual {self.row_residual:.1e}); raise epsilon, now {self.epsilon:g}."
            )
        total = self.plan.sum(axis=1, keepdims=True)
        return divided(self.plan, total, nothing=np.eye(len(self.plan)))

    def weights_or_identity(self) -> FloatArray:
        """Give the weights, or the map that changes nothing where there is none to use, (K, K)."""
        return self.weights() if self.converged else np.eye(len(self.plan))


_BLOCK = 512
"""Rows at a time: two buffers of 512 · 100 doubles stay in a core's cache."""


def substituted_error(
    n: FloatArray, label_mass: FloatArray, *, source: BinTables, target: BinTables
) -> FloatArray:
    """ECE(u_k → v_l) for every pair, shape (..., K, L), from tallies (..., K).

    Rows of phrases that no tally uses are the unchanged ECE, and are not computed.
    """
    flat_n = np.atleast_2d(n).reshape(-1, n.shape[-1])
    flat_mass = np.atleast_2d(label_mass).reshape(flat_n.shape)
    used = np.flatnonzero(flat_n.any(axis=0))
    residual = flat_mass @ source.mass - flat_n @ source.moment
    sums = np.empty((len(flat_n), n.shape[-1], len(target.mass)))
    sums[:] = np.abs(residual).sum(axis=1)[:, None, None]
    factors = np.stack([flat_mass[:, used].T, -flat_n[:, used].T], axis=-1)
    rest = np.matmul(factors, np.stack([source.mass[used], source.moment[used]], axis=1))
    np.subtract(residual, rest, out=rest)
    swapped = _swapped_sums(rest.reshape(-1, rest.shape[-1]), factors.reshape(-1, 2), target)
    sums[:, used] = swapped.reshape(len(used), len(flat_n), len(target.mass)).swapaxes(0, 1)
    share, reached = source.mass.sum(axis=1), target.mass.sum(axis=1)
    total = (flat_n @ share)[:, None, None] + flat_n[..., None] * (reached - share[:, None])
    return divided(sums, total).reshape(*n.shape, len(target.mass))


def _swapped_sums(rest: FloatArray, factors: FloatArray, target: BinTables) -> FloatArray:
    """Σ_m |rest + d_l| with d_l = y Q_l − n F_l; rests (R, M) and factors (y, −n) (R, 2), (R, L).

    |rest + d| = 2 max(d, −rest) + rest − d, so that of the three passes over the R·L·M numbers two
    are products, with a matrix of two rows and with ones. An atom moves one bin, if any.
    """
    occupied = (target.mass != 0) | (target.moment != 0)
    pairs = np.stack([target.mass, target.moment], axis=1)
    sums = np.empty((len(rest), len(pairs)))
    wide = np.flatnonzero(occupied.sum(axis=1) > 1)
    larger = 2.0 * _larger_sums(factors, pairs[wide], least=-rest)
    larger += rest.sum(axis=1)[:, None] - factors @ pairs[wide].sum(axis=2).T
    sums[:, wide] = larger
    whole = np.abs(rest).sum(axis=1)
    for place in np.flatnonzero(occupied.sum(axis=1) <= 1):
        at = np.flatnonzero(occupied[place])
        moved = rest[:, at] + factors @ pairs[place][:, at]
        sums[:, place] = whole + (np.abs(moved) - np.abs(rest[:, at])).sum(axis=1)
    return sums


def _larger_sums(factors: FloatArray, pairs: FloatArray, *, least: FloatArray) -> FloatArray:
    """Σ_m max(factors @ pairs_l, least) for rows (R, M) and L pairs (2, M), (R, L)."""
    rows, bins = least.shape
    sums, ones = np.empty((len(pairs), rows)), np.ones(bins)
    buffer = np.empty((min(_BLOCK, rows), bins))
    for start in range(0, rows, _BLOCK):
        block = slice(start, start + _BLOCK)
        own, floor = factors[block], least[block]
        changed = buffer[: len(own)]
        for place, pair in enumerate(pairs):
            np.matmul(own, pair, out=changed)
            np.maximum(changed, floor, out=changed)
            np.matmul(changed, ones, out=sums[place, block])
    return sums.T


def substitution_cost(
    n: FloatArray, label_mass: FloatArray, *, source: BinTables, target: BinTables
) -> FloatArray:
    """C_kl (Eq. 12), shape (..., K, L); NaN in the rows of phrases never used."""
    base = calibration_error(n, label_mass, tables=source)[..., None, None]
    gain = substituted_error(n, label_mass, source=source, target=target) - base
    return divided(gain, divided(n, n.sum(axis=-1, keepdims=True), nothing=0.0)[..., None])
