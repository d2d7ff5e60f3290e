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


def substituted_error(
    n: FloatArray, label_mass: FloatArray, *, source: BinTables, target: BinTables
) -> FloatArray:
    """ECE(u_k → v_l) for every pair, shape (..., K, L), from tallies (..., K).

    Rows of phrases that no tally uses are the unchanged ECE, and are not computed.
    """
    used = np.flatnonzero(n.any(axis=tuple(range(n.ndim - 1))))
    residual = label_mass @ source.mass - n @ source.moment
    sums = np.empty((*n.shape, len(target.mass)))
    sums[:] = np.abs(residual).sum(axis=-1)[..., None, None]
    mass, uses = label_mass[..., used, None], n[..., used, None]
    rest = residual[..., None, :] - (mass * source.mass[used] - uses * source.moment[used])
    for place, (told, moment) in enumerate(zip(target.mass, target.moment, strict=True)):
        sums[..., used, place] = np.abs(rest + (mass * told - uses * moment)).sum(axis=-1)
    share, reached = source.mass.sum(axis=1), target.mass.sum(axis=1)
    total = (n @ share)[..., None, None] + n[..., None] * (reached - share[:, None])
    return divided(sums, total)


def substitution_cost(
    n: FloatArray, label_mass: FloatArray, *, source: BinTables, target: BinTables
) -> FloatArray:
    """C_kl (Eq. 12), shape (..., K, L); NaN in the rows of phrases never used."""
    base = calibration_error(n, label_mass, tables=source)[..., None, None]
    gain = substituted_error(n, label_mass, source=source, target=target) - base
    return divided(gain, divided(n, n.sum(axis=-1, keepdims=True), nothing=0.0)[..., None])
