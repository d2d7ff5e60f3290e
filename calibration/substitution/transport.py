"""Unbalanced optimal transport between phrases, solved by Newton steps on its smooth dual.

    min_T  ⟨C, T⟩ + ε Ω(T) + τ KL(Tᵀ1 ‖ b)   subject to  T1 = a        (paper Eq. 13, τ1 → ∞)

The paper prints +εH(T); an entropy that is minimised must be −H, so Ω is KL(T ‖ abᵀ) ("kl") or
Σ T (log T − 1) ("entropy"). Because the rows are strict, the dual has one variable per target:

    D(g) = −ε Σ_k a_k log Z_k(g) + τ Σ_l b_l (1 − exp(−g_l / τ)),
    Z_k = Σ_l w_l exp((g_l − C_kl) / ε),  w = b ("kl") or 1 ("entropy"),

smooth and concave, with gradient b exp(−g/τ) − Tᵀ1; ``dual`` climbs it. The paper used POT's
stabilised Sinkhorn, which returns plans of almost no mass at these settings without saying so; a
test shows it.
Every solve carries its certificate: the row residual, the dual gradient, and ``converged``.

A small ε makes a map decisive, a small τ lets the use of words drift. Each setting is one point:
the share of words a map would change, and the true ECE and Brier score after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from calibration.arrays import BoolArray, FloatArray, numbers
from calibration.bins import BinTables
from calibration.errors import CalibrationError, check_option, number, refuse
from calibration.substitution.cost import SubstitutionMap, substitution_cost
from calibration.substitution.dual import DualProblem, solve_dual
from calibration.tally import Tally

Regulariser = Literal["kl", "entropy"]

_ACCEPTABLE = 1e-9


@dataclass(frozen=True, slots=True)
class Regularisation:
    """What a transport problem pays beside its cost.

    Attributes
    ----------
    epsilon, tau
        Regularisation and the price of changing the use of targets, both > 0.
    regulariser
        Ω, see the module.

    Raises
    ------
    CalibrationError
        If a parameter is not in 1e-300 to 1e300 or Ω is not known.
    """

    epsilon: float = 1e-3
    tau: float = 1e-3
    regulariser: Regulariser = "kl"

    def __post_init__(self) -> None:
        for name in ("epsilon", "tau"):
            object.__setattr__(self, name, number(name, getattr(self, name)))
        if not (1e-300 <= self.epsilon <= 1e300 and 1e-300 <= self.tau <= 1e300):
            raise CalibrationError(
                f"epsilon = {self.epsilon} and tau = {self.tau} must be from 1e-300 to 1e300."
            )
        check_option("regulariser", self.regulariser, Regulariser)


STANDARD = Regularisation()
"""The settings used where none are given."""


def transport_map(
    cost: ArrayLike,
    *,
    phrases: tuple[str, ...],
    source_weights: ArrayLike,
    target_weights: ArrayLike | None = None,
    regularisation: Regularisation = STANDARD,
) -> SubstitutionMap:
    """Solve the unbalanced problem.

    Parameters
    ----------
    cost
        C, shape (K, K); inf forbids a cell; rows of unused phrases are not read.
    phrases
        K names.
    source_weights
        a, shares of use, summing to 1, shape (K,).
    target_weights
        b; ``a`` if not given. A target of weight 0 cannot be reached.
    regularisation
        ε, τ and Ω.

    Raises
    ------
    CalibrationError
        If shapes differ, a number is missing, or a used phrase may go nowhere.
    """
    cost, a, b = _checked(cost, source_weights, target_weights, size=len(phrases))
    plan, gradient, steps = _solved(cost, a, b, regularisation)
    # No phrase in use is a stated absence, not an empty plan.
    posed = bool(a.any())
    residual = float(np.abs(plan.sum(axis=1) - a).max(initial=0.0)) if posed else float("nan")
    return SubstitutionMap(
        phrases=phrases,
        source_weights=a,
        target_weights=b,
        cost=cost,
        plan=plan,
        objective=_objective(cost, plan, a, b, regularisation) if posed else float("nan"),
        row_residual=residual,
        dual_gradient=gradient,
        converged=bool(gradient <= _ACCEPTABLE and residual <= 1e-10),
        method="dual Newton" if posed else "no observations",
        regulariser=regularisation.regulariser,
        epsilon=regularisation.epsilon,
        tau=regularisation.tau,
        steps=steps,
    )


def fitted_map(
    part: Tally,
    *,
    phrases: tuple[str, ...],
    tables: BinTables,
    allowed: BoolArray | None = None,
    regularisation: Regularisation = STANDARD,
) -> SubstitutionMap:
    """Solve the problem that a tally poses: its own costs, its own use of the phrases as weights.

    Parameters
    ----------
    part, phrases, tables
        Counts of K phrases, their names and bin tables (K, M), for sources and targets alike.
    allowed
        Permitted cells (K, K); all if not given.
    """
    cost = substitution_cost(part.n, part.label_mass, source=tables, target=tables)
    if allowed is not None:
        cost = np.where(allowed | np.isnan(cost), cost, np.inf)
    weights = part.n / part.total if part.total > 0 else np.zeros_like(part.n)
    return transport_map(
        cost, phrases=phrases, source_weights=weights, regularisation=regularisation
    )


def _checked(
    cost: ArrayLike, source: ArrayLike, target: ArrayLike | None, *, size: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    cost, a = numbers("cost", cost), numbers("source_weights", source)
    b = a if target is None else numbers("target_weights", target)
    if cost.shape != (size, size) or a.shape != (size,) or b.shape != (size,):
        raise CalibrationError(
            f"cost {cost.shape}, weights {a.shape} and {b.shape} for {size} phrases; give a square "
            "of costs and one weight per phrase."
        )
    for name, weights in (("source_weights", a), ("target_weights", b)):
        refuse(name, ~(np.isfinite(weights) & (weights >= 0.0)), "are negative or not finite")
    used = cost[np.ix_(a > 0.0, b > 0.0)]
    refuse("cost", np.isnan(used) | (used == -np.inf), "cells in use are missing or −inf")
    return cost, a, b


def _solved(
    cost: FloatArray, a: FloatArray, b: FloatArray, paid: Regularisation
) -> tuple[FloatArray, float, int]:
    """Plan, gradient and steps, from the phrases in use and the targets that can be reached."""
    rows, columns = np.flatnonzero(a), np.flatnonzero(b)
    plan = np.zeros(cost.shape)
    if not rows.size:
        return plan, float("nan"), 0
    inside = np.ix_(rows, columns)
    if not np.isfinite(cost[inside]).any(axis=1).all():
        raise CalibrationError("cost: a phrase in use has no allowed target, not even itself.")
    # a factor of b shifts g and leaves the plan
    level = b[columns] * (a[rows].sum() / b[columns].sum())
    weight = level if paid.regulariser == "kl" else np.ones_like(level)
    problem = DualProblem(cost[inside], np.log(weight), a[rows], level, paid.epsilon, paid.tau)
    found = solve_dual(problem)
    plan[inside] = found.plan
    return plan, found.gradient, found.steps


def _objective(
    cost: FloatArray, plan: FloatArray, a: FloatArray, b: FloatArray, paid: Regularisation
) -> float:
    cells = np.ix_(a > 0, b > 0)
    inner, flow, weight = cost[cells], plan[cells], b[b > 0]
    linear = float(np.sum(np.where(flow > 0, inner * np.where(flow > 0, flow, 1.0), 0.0)))
    if paid.regulariser == "kl":
        prior = np.outer(a[a > 0], weight)
        spread = float(rel_entr(flow, prior).sum() - flow.sum() + prior.sum())
    else:
        spread = float(rel_entr(flow, np.ones_like(flow)).sum() - flow.sum())
    columns = flow.sum(axis=0)
    pull = float(rel_entr(columns, weight).sum() - columns.sum() + weight.sum())
    return linear + paid.epsilon * spread + paid.tau * pull
