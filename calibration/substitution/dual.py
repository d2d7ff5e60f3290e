"""Newton's method on the smooth dual of the unbalanced problem.

    D(g) = −ε Σ_k a_k log Z_k(g) − τ Σ_l b_l expm1(−g_l / τ),   Z_k = Σ_l w_l exp((g_l − C_kl) / ε)

=====================  =============================================================  ==========
symbol                 meaning                                                        shape
=====================  =============================================================  ==========
``cost``               C; inf forbids a cell                                          (K, L)
``log_prior``          log w                                                          (L,)
``a``, ``b``           strict row sums and prior column weights, all above 0          (K,), (L,)
``g``                  dual variable of the columns                                   (L,)
∇D = b − Tᵀ1 + b·expm1(−g/τ)   how far the columns are from their optimal weights     (L,)
=====================  =============================================================  ==========

Conventions that make the certificate independent of the processor:

- No term cancels. b exp(−g/τ) − b is written with expm1, so that for large τ the gradient keeps
  the digits that decide how far all g move together. The curvature is a graph's Laplacian plus
  b exp(−g/τ)/τ ≥ 0; its diagonal is the sum of what stands beside it, never a difference, so that
  the nearly free directions (all g of a connected part of the plan moving together, of curvature
  Σ b exp(−g/τ)/τ only) have their true curvature and no rounding in it.
- A step is accepted by the rise of D while D can show it, and by a shorter gradient once the
  promised rise is below D's own rounding. Newton's direction improves both.
- Where D is nearly piecewise linear (ε far below the costs, columns nearly strict) a climb from 0
  may zigzag; such a problem starts again from its own solutions at larger ε, quartered each time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calibration.arrays import FloatArray

_TOLERANCE = 1e-13
_ACCEPTABLE = 1e-9
_MAX_STEPS = 100
_MAX_HALVINGS = 60
_LARGEST_EXPONENT = 600.0
_ARMIJO = 1e-4
_ROUNDING = 1e-13
"""Relative size below which a rise of D is rounding."""
_ROUGHLY = 1e-2
"""Gradient at which a larger ε has done its work."""
_COOLING = 4.0
_SCALINGS = 6
_LEAST = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class DualProblem:
    """One problem, phrases and targets in use alone.

    Attributes
    ----------
    cost
        C, inf where a cell is forbidden, (K, L).
    log_prior
        log w of the columns, (L,).
    a, b
        Row sums (K,) and prior column weights (L,).
    epsilon, tau
        Regularisation and the price of changing the columns, both > 0.
    """

    cost: FloatArray
    log_prior: FloatArray
    a: FloatArray
    b: FloatArray
    epsilon: float
    tau: float


@dataclass(frozen=True, slots=True, eq=False)
class DualSolution:
    """The plan (K, L), the largest component of the gradient, and Newton steps taken."""

    plan: FloatArray
    gradient: float
    steps: int


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """One point g of the dual: D(g), the plan, b exp(−g/τ) and the gradient."""

    g: FloatArray
    value: float
    plan: FloatArray
    pull: FloatArray
    gradient: FloatArray

    @property
    def size(self) -> float:
        """Largest component of the gradient."""
        return float(np.abs(self.gradient).max(initial=0.0))


def solve_dual(problem: DualProblem) -> DualSolution:
    """Damped Newton ascent, to the tolerance or to where no step helps.

    Returns
    -------
    DualSolution
        ``gradient`` is the certificate: a caller decides from it whether the plan is usable.
    """
    point, steps = _climb(problem, _scaled(problem), tolerance=_TOLERANCE)
    if point.size > _ACCEPTABLE:
        point, more = _cooled(problem)
        steps += more
    # From a small gradient one Newton step more leaves rounding.
    after = _at(problem, point.g + _direction(problem, point))
    best = after if after.size < point.size else point
    return DualSolution(best.plan, best.size, steps)


def _scaled(problem: DualProblem) -> FloatArray:
    """Come near from 0 by scaling, which maximises D over each g_l with the plan's rows held.

    Far from the solution exp(−g/τ) makes Newton's steps short, and scaling has no such trouble.
    """
    g = np.zeros_like(problem.b)
    rate, target = 1.0 / problem.epsilon + 1.0 / problem.tau, np.log(problem.b)
    for _ in range(_SCALINGS):
        columns = np.maximum(_at(problem, g).plan.sum(axis=0), _LEAST)
        g = (target - np.log(columns) + g / problem.epsilon) / rate
    return g


def _cooled(problem: DualProblem) -> tuple[_Point, int]:
    """Climb at an ε as large as the costs, and from there at ever smaller ones."""
    costs = np.abs(problem.cost[np.isfinite(problem.cost)])
    largest = float(costs.max(initial=problem.epsilon))
    levels = int(np.ceil(np.log(largest / problem.epsilon) / np.log(_COOLING)))
    g, steps = np.zeros_like(problem.b), 0
    for level in range(levels, 0, -1):
        warm = replace(problem, epsilon=problem.epsilon * _COOLING**level)
        point, more = _climb(warm, g, tolerance=_ROUGHLY)
        g, steps = point.g, steps + more
    point, more = _climb(problem, g, tolerance=_TOLERANCE)
    return point, steps + more


def _climb(problem: DualProblem, start: FloatArray, *, tolerance: float) -> tuple[_Point, int]:
    """Newton steps until the gradient is within the tolerance or no step helps."""
    point, steps = _at(problem, start), 0
    while point.size > tolerance and steps < _MAX_STEPS:
        after = _line_search(problem, point)
        if after is None:
            break
        point, steps = after, steps + 1
    return point, steps


def _at(problem: DualProblem, g: FloatArray) -> _Point:
    a, b = problem.a, problem.b
    scores = problem.log_prior + (g - problem.cost) / problem.epsilon
    top = scores.max(axis=1)
    kernel = np.exp(scores - top[:, None])
    normaliser = kernel.sum(axis=1)
    plan = kernel * (a / normaliser)[:, None]
    slip = b * np.expm1(np.minimum(-g / problem.tau, _LARGEST_EXPONENT))
    value = -problem.tau * slip.sum() - problem.epsilon * (a * (top + np.log(normaliser))).sum()
    return _Point(g, float(value), plan, b + slip, (b - plan.sum(axis=0)) + slip)


def _direction(problem: DualProblem, point: _Point) -> FloatArray:
    """Newton's direction; the curvature is scaled to a unit diagonal before it is solved."""
    curvature = point.plan.T @ (point.plan / problem.a[:, None]) / -problem.epsilon
    np.fill_diagonal(curvature, 0.0)
    diagonal = point.pull / problem.tau - curvature.sum(axis=0)
    scale = np.where(diagonal > 0, diagonal, 1.0) ** -0.5
    curvature *= scale[:, None] * scale
    np.fill_diagonal(curvature, 1.0)
    return np.asarray(np.linalg.solve(curvature, point.gradient * scale) * scale)


def _line_search(problem: DualProblem, point: _Point) -> _Point | None:
    """Halve the step until it helps; None if none does."""
    direction = _direction(problem, point)
    slope = float(point.gradient @ direction)
    seen = _ARMIJO * slope > _ROUNDING * max(1.0, abs(point.value))
    length = 1.0
    for _ in range(_MAX_HALVINGS + 1):
        found = _at(problem, point.g + length * direction)
        # Where D cannot show that it rose, the gradient has to be shorter.
        if seen and found.value >= point.value + _ARMIJO * length * slope:
            return found
        if not seen and found.size <= (1.0 - _ARMIJO * length) * point.size:
            return found
        length /= 2.0
    return None
