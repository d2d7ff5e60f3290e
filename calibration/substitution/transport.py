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
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy.special import rel_entr

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError
from calibration.substitution.dual import DualProblems, solve_dual
from calibration.substitution.substitution_map import SubstitutionMap

__all__ = ["Regulariser", "transport_map"]

Regulariser = Literal["kl", "entropy"]

_ACCEPTABLE = 1e-9


def transport_map(
    cost: FloatArray,
    *,
    phrases: tuple[str, ...],
    source_weights: FloatArray,
    target_weights: FloatArray | None = None,
    epsilon: float = 1e-3,
    tau: float = 1e-3,
    regulariser: Regulariser = "kl",
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
    epsilon, tau
        Regularisation and the price of changing the use of targets, both > 0.
    regulariser
        Ω, see the module.

    Raises
    ------
    CalibrationError
        If a parameter is not positive or a used phrase may go nowhere.
    """
    _check(epsilon, tau, regulariser)
    b = source_weights if target_weights is None else target_weights
    rows, columns = np.flatnonzero(source_weights > 0), np.flatnonzero(b > 0)
    inner, a_used, b_used = cost[np.ix_(rows, columns)], source_weights[rows], b[columns]
    if not len(rows):
        return _nothing(cost, phrases, source_weights, b, epsilon, tau, regulariser)
    if not np.all(np.isfinite(inner).any(axis=1)):
        msg = "cost: a phrase in use has no allowed target, not even itself."
        raise CalibrationError(msg)
    level = b_used * (a_used.sum() / b_used.sum())  # a factor of b shifts g and leaves the plan
    log_prior = np.log(level) if regulariser == "kl" else np.zeros_like(level)
    problems = DualProblems(
        inner[None], log_prior[None], a_used[None], level[None], epsilon=epsilon, tau=tau
    )
    solved = solve_dual(problems)
    inside, gradient = solved.plan[0], float(solved.gradient[0])
    plan = np.zeros_like(cost)
    plan[np.ix_(rows, columns)] = inside
    residual = float(np.abs(plan.sum(axis=1) - source_weights).max(initial=0.0))
    return SubstitutionMap(
        phrases=phrases,
        source_weights=source_weights,
        target_weights=b,
        cost=cost,
        plan=plan,
        objective=_objective(inner, inside, a_used, b_used, epsilon, tau, regulariser),
        row_residual=residual,
        dual_gradient=gradient,
        converged=bool(gradient <= _ACCEPTABLE and residual <= 1e-10),
        method="dual Newton",
        regulariser=regulariser,
        epsilon=epsilon,
        tau=tau,
        steps=int(solved.steps[0]),
    )


def _nothing(
    cost: FloatArray,
    phrases: tuple[str, ...],
    a: FloatArray,
    b: FloatArray,
    epsilon: float,
    tau: float,
    regulariser: str,
) -> SubstitutionMap:
    """No phrase is in use: a stated absence of a plan, not an empty plan."""
    return SubstitutionMap(
        phrases=phrases,
        source_weights=a,
        target_weights=b,
        cost=cost,
        plan=np.zeros_like(cost),
        objective=float("nan"),
        row_residual=float("nan"),
        dual_gradient=float("nan"),
        converged=False,
        method="no observations",
        regulariser=regulariser,
        epsilon=epsilon,
        tau=tau,
    )


def _objective(
    cost: FloatArray,
    plan: FloatArray,
    a: FloatArray,
    b: FloatArray,
    epsilon: float,
    tau: float,
    regulariser: str,
) -> float:
    linear = float(np.sum(np.where(plan > 0, cost * np.where(plan > 0, plan, 1.0), 0.0)))
    if regulariser == "kl":
        prior = np.outer(a, b)
        spread = float(rel_entr(plan, prior).sum() - plan.sum() + prior.sum())
    else:
        spread = float(rel_entr(plan, np.ones_like(plan)).sum() - plan.sum())
    columns = plan.sum(axis=0)
    pull = float(rel_entr(columns, b).sum() - columns.sum() + b.sum())
    return linear + epsilon * spread + tau * pull


def _check(epsilon: float, tau: float, regulariser: str) -> None:
    if not (epsilon > 0 and tau > 0):
        msg = f"epsilon = {epsilon} and tau = {tau} must both be positive."
        raise CalibrationError(msg)
    if regulariser not in get_args(Regulariser):
        known = ", ".join(get_args(Regulariser))
        msg = f"regulariser {regulariser!r}: use one of {known}."
        raise CalibrationError(msg)
