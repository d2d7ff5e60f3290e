"""Unbalanced optimal transport between phrases, solved by Newton steps on its smooth dual.

    min_T  ⟨C, T⟩ + ε Ω(T) + τ KL(Tᵀ1 ‖ b)   subject to  T1 = a        (paper Eq. 13, τ1 → ∞)

The paper prints +εH(T); an entropy that is minimised must be −H, so Ω is KL(T ‖ abᵀ) ("kl") or
Σ T (log T − 1) ("entropy"). Because the rows are strict, the dual has one variable per target:

    D(g) = −ε Σ_k a_k log Z_k(g) + τ Σ_l b_l (1 − exp(−g_l / τ)),
    Z_k = Σ_l w_l exp((g_l − C_kl) / ε),  w = b ("kl") or 1 ("entropy"),

smooth and concave, with gradient b exp(−g/τ) − Tᵀ1. The paper used POT's stabilised Sinkhorn,
which returns plans of almost no mass at these settings without saying so; a test shows it.
Every solve carries its certificate: the row residual, the dual gradient, and ``converged``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import rel_entr

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError
from calibration.substitution.substitution_map import SubstitutionMap

__all__ = ["Regulariser", "transport_map"]

Regulariser = Literal["kl", "entropy"]

_TOLERANCE = 1e-12
_ACCEPTABLE = 1e-9
_MAX_STEPS = 500
_LARGEST_EXPONENT = 600.0


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
    scaled = -inner / epsilon
    if regulariser == "kl":
        scaled = scaled + np.log(b_used)
    solved = _newton(_Dual(scaled, a_used, b_used, epsilon, tau))
    plan = np.zeros_like(cost)
    plan[np.ix_(rows, columns)] = solved.plan
    residual = float(np.abs(plan.sum(axis=1) - source_weights).max(initial=0.0))
    return SubstitutionMap(
        phrases=phrases,
        source_weights=source_weights,
        target_weights=b,
        cost=cost,
        plan=plan,
        objective=_objective(inner, solved.plan, a_used, b_used, epsilon, tau, regulariser),
        row_residual=residual,
        dual_gradient=solved.gradient,
        converged=bool(solved.gradient <= _ACCEPTABLE and residual <= 1e-10),
        method="dual Newton",
        regulariser=regulariser,
        epsilon=epsilon,
        tau=tau,
        steps=solved.steps,
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


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    plan: FloatArray
    gradient: float
    steps: int


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """One point of the dual: g, D(g), the plan, b exp(−g/τ) and the gradient."""

    g: FloatArray
    value: float
    plan: FloatArray
    pull: FloatArray
    gradient: FloatArray

    @property
    def size(self) -> float:
        """Largest component of the gradient."""
        return float(np.abs(self.gradient).max())


@dataclass(frozen=True, slots=True, eq=False)
class _Dual:
    """D(g) of one problem; ``scaled`` is −C/ε plus the log prior."""

    scaled: FloatArray
    a: FloatArray
    b: FloatArray
    epsilon: float
    tau: float

    def at(self, g: FloatArray) -> _Point:
        scores = self.scaled + g / self.epsilon
        top = scores.max(axis=1)
        kernel = np.exp(scores - top[:, None])
        normaliser = kernel.sum(axis=1)
        plan = kernel * (self.a / normaliser)[:, None]
        pull = self.b * np.exp(np.minimum(-g / self.tau, _LARGEST_EXPONENT))
        value = self.tau * float((self.b - pull).sum())
        value -= self.epsilon * float(self.a @ (top + np.log(normaliser)))
        return _Point(g, value, plan, pull, pull - plan.sum(axis=0))

    def direction(self, point: _Point) -> FloatArray:
        """Newton direction; the curvature is scaled to a unit diagonal before it is solved."""
        plan = point.plan
        curvature = -(plan.T @ (plan / self.a[:, None])) / self.epsilon
        diagonal = np.einsum("ii->i", curvature)
        diagonal += plan.sum(axis=0) / self.epsilon + point.pull / self.tau
        scale = 1.0 / np.sqrt(np.maximum(diagonal, np.finfo(float).tiny))
        scaled = curvature * scale[:, None] * scale
        np.einsum("ii->i", scaled)[:] += 1e-14
        return np.asarray(np.linalg.solve(scaled, point.gradient * scale) * scale)


def _newton(dual: _Dual) -> _Solved:
    """Damped Newton ascent on the dual; stops at the tolerance or when no step helps."""
    point = dual.at(np.zeros(len(dual.b)))
    for step in range(_MAX_STEPS):
        if point.size <= _TOLERANCE:
            return _Solved(point.plan, point.size, step)
        moved = _line_search(dual, point, dual.direction(point))
        if moved is None:
            return _Solved(point.plan, point.size, step)
        point = moved
    return _Solved(point.plan, point.size, _MAX_STEPS)


def _line_search(dual: _Dual, point: _Point, direction: FloatArray) -> _Point | None:
    """Halve the step until the dual rises enough; None if rounding is all that is left."""
    slope = float(point.gradient @ direction)
    slack = 1e-15 * max(1.0, abs(point.value))
    length = 1.0
    for _ in range(60):
        candidate = dual.at(point.g + length * direction)
        if candidate.value >= point.value + 1e-4 * length * slope - slack:
            return candidate
        length /= 2.0
    return None


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
