"""A stochastic map between phrases with the proof that it solves its problem."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from calibration.arrays import FloatArray
from calibration.errors import NotConvergedError
from calibration.plain import LEFT_OUT, plain_fields

__all__ = ["SubstitutionMap"]


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
            msg = (
                f"The substitution map did not converge (dual gradient {self.dual_gradient:.1e}, "
                f"row residual {self.row_residual:.1e}); raise epsilon, now {self.epsilon:g}."
            )
            raise NotConvergedError(msg)
        total = self.plan.sum(axis=1, keepdims=True)
        used = total > 0
        return np.where(used, self.plan / np.where(used, total, 1.0), np.eye(len(self.plan)))

    def to_frame(self) -> pd.DataFrame:
        """One row per flow of the map: ``source, target, share_of_source, share_of_use, cost``."""
        weights = self.weights()
        rows, columns = np.nonzero(self.plan)
        return pd.DataFrame(
            {
                "source": np.array(self.phrases)[rows],
                "target": np.array(self.phrases)[columns],
                "share_of_source": weights[rows, columns],
                "share_of_use": self.plan[rows, columns],
                "cost": self.cost[rows, columns],
            }
        )

    def weights_or_identity(self) -> FloatArray:
        """Give the weights, or the map that changes nothing where there is none to use, (K, K)."""
        return self.weights() if self.converged else np.eye(len(self.plan))
