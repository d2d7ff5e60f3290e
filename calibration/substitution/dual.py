"""Newton's method on the smooth dual of the unbalanced problem, many problems at a time.

    D(g) = −ε Σ_k a_k log Z_k(g) − τ Σ_l b_l expm1(−g_l / τ),   Z_k = Σ_l w_l exp((g_l − C_kl) / ε)

=====================  =============================================================  ============
symbol                 meaning                                                        shape
=====================  =============================================================  ============
``cost``               C; inf forbids a cell                                          (B, K, L)
``log_prior``          log w                                                          (B, L)
``a``, ``b``           strict row sums and prior column weights; 0 is padding         (B, K), (B, L)
``g``                  dual variable of the columns                                   (B, L)
∇D = b − Tᵀ1 + b·expm1(−g/τ)   how far the columns are from their optimal weights     (B, L)
=====================  =============================================================  ============

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

from calibration.arrays import BoolArray, FloatArray, IntArray

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
class DualProblems:
    """B problems of one shape; rows of weight 0 and columns of weight 0 are padding.

    Attributes
    ----------
    cost
        C, inf where a cell is forbidden, (B, K, L).
    log_prior
        log w of the columns, (B, L).
    a, b
        Row sums (B, K) and prior column weights (B, L).
    epsilon, tau
        Regularisation and the price of changing the columns, both > 0.
    """

    cost: FloatArray
    log_prior: FloatArray
    a: FloatArray
    b: FloatArray
    epsilon: float
    tau: float

    def part(self, which: IntArray) -> DualProblems:
        """Only the problems of these places."""
        return replace(
            self,
            cost=self.cost[which],
            log_prior=self.log_prior[which],
            a=self.a[which],
            b=self.b[which],
        )


@dataclass(frozen=True, slots=True, eq=False)
class DualSolutions:
    """Plans (B, K, L), the largest component of each gradient (B,), and Newton steps (B,)."""

    plan: FloatArray
    gradient: FloatArray
    steps: IntArray


@dataclass(slots=True, eq=False)
class _Points:
    """One point g of every problem's dual: D(g), the plan, b exp(−g/τ) and the gradient."""

    g: FloatArray
    value: FloatArray
    plan: FloatArray
    pull: FloatArray
    gradient: FloatArray

    @property
    def size(self) -> FloatArray:
        """Largest component of each gradient, (B,)."""
        return np.asarray(np.abs(self.gradient).max(axis=1, initial=0.0))

    def part(self, which: IntArray) -> _Points:
        return _Points(
            self.g[which],
            self.value[which],
            self.plan[which],
            self.pull[which],
            self.gradient[which],
        )

    def put(self, which: IntArray, other: _Points) -> None:
        """Overwrite the problems of these places."""
        self.g[which], self.value[which], self.plan[which] = other.g, other.value, other.plan
        self.pull[which], self.gradient[which] = other.pull, other.gradient


def solve_dual(problems: DualProblems) -> DualSolutions:
    """Damped Newton ascent; each problem stops at the tolerance or where no step helps.

    Returns
    -------
    DualSolutions
        ``gradient`` is the certificate: a caller decides from it whether a plan is usable.
    """
    points, steps = _climb(problems, _scaled(problems), tolerance=_TOLERANCE)
    stuck = np.flatnonzero(points.size > _ACCEPTABLE)
    if len(stuck):
        again, more = _cooled(problems.part(stuck))
        points.put(stuck, again)
        steps[stuck] += more
    _polish(problems, points)
    return DualSolutions(points.plan, points.size, steps)


def _scaled(problems: DualProblems) -> FloatArray:
    """Come near from 0 by scaling, which maximises D over each g_l with the plan's rows held.

    Far from the solution exp(−g/τ) makes Newton's steps short, and scaling has no such trouble.
    """
    g = np.zeros_like(problems.b)
    rate = 1.0 / problems.epsilon + 1.0 / problems.tau
    target = np.log(np.where(problems.b > 0, problems.b, 1.0))
    for _ in range(_SCALINGS):
        columns = _at(problems, g).plan.sum(axis=1)
        columns = np.where(problems.b > 0, np.maximum(columns, _LEAST), 1.0)
        g = (target - np.log(columns) + g / problems.epsilon) / rate
    return g


def _polish(problems: DualProblems, points: _Points) -> None:
    """Take one step more where it helps: from a small gradient Newton's step leaves rounding."""
    after = _at(problems, points.g + _direction(problems, points))
    better = np.flatnonzero(after.size < points.size)
    points.put(better, after.part(better))


def _cooled(problems: DualProblems) -> tuple[_Points, IntArray]:
    """Climb at an ε as large as the costs, and from there at ever smaller ones."""
    costs = np.abs(problems.cost[np.isfinite(problems.cost)])
    largest = float(costs.max(initial=problems.epsilon))
    levels = int(np.ceil(np.log(largest / problems.epsilon) / np.log(_COOLING)))
    g, steps = np.zeros_like(problems.b), np.zeros(len(problems.b), dtype=np.int64)
    for level in range(levels, 0, -1):
        warm = replace(problems, epsilon=problems.epsilon * _COOLING**level)
        points, more = _climb(warm, g, tolerance=_ROUGHLY)
        g, steps = points.g, steps + more
    points, more = _climb(problems, g, tolerance=_TOLERANCE)
    return points, steps + more


def _climb(
    problems: DualProblems, start: FloatArray, *, tolerance: float
) -> tuple[_Points, IntArray]:
    """Newton steps until every problem is within the tolerance or can't be helped."""
    points = _at(problems, start)
    steps = np.zeros(len(start), dtype=np.int64)
    moving = np.flatnonzero(points.size > tolerance)
    for _ in range(_MAX_STEPS):
        if not len(moving):
            break
        after, helped = _line_search(problems.part(moving), points.part(moving))
        moving = moving[helped]
        points.put(moving, after.part(np.flatnonzero(helped)))
        steps[moving] += 1
        moving = moving[points.size[moving] > tolerance]
    return points, steps


def _at(problems: DualProblems, g: FloatArray) -> _Points:
    a, b = problems.a, problems.b
    scores = problems.log_prior[:, None, :] + (g[:, None, :] - problems.cost) / problems.epsilon
    top = scores.max(axis=2)
    kernel = np.exp(scores - top[:, :, None])
    normaliser = kernel.sum(axis=2)
    plan = kernel * (a / normaliser)[:, :, None]
    slip = b * np.expm1(np.minimum(-g / problems.tau, _LARGEST_EXPONENT))
    value = -problems.tau * slip.sum(axis=1)
    value -= problems.epsilon * (a * (top + np.log(normaliser))).sum(axis=1)
    return _Points(g, value, plan, b + slip, (b - plan.sum(axis=1)) + slip)


def _direction(problems: DualProblems, points: _Points) -> FloatArray:
    """Newton's direction; the curvature is scaled to a unit diagonal before it is solved."""
    share = points.plan / np.where(problems.a > 0, problems.a, 1.0)[:, :, None]
    curvature = np.matmul(points.plan.swapaxes(1, 2), share) / -problems.epsilon
    diagonal = np.einsum("bii->bi", curvature)
    diagonal[...] = 0.0
    diagonal[...] = points.pull / problems.tau - curvature.sum(axis=1)
    scale = np.where(diagonal > 0, diagonal, 1.0) ** -0.5
    curvature *= scale[:, :, None] * scale[:, None, :]
    diagonal[...] = 1.0
    right = (points.gradient * scale)[:, :, None]
    return np.asarray(np.linalg.solve(curvature, right)[:, :, 0] * scale)


def _line_search(problems: DualProblems, points: _Points) -> tuple[_Points, BoolArray]:
    """Halve each problem's step until it helps; which found one, (B,)."""
    direction = _direction(problems, points)
    slope = (points.gradient * direction).sum(axis=1)
    seen = _ARMIJO * slope > _ROUNDING * np.maximum(1.0, np.abs(points.value))
    found = _at(problems, points.g + direction)
    length = np.ones(len(slope))
    waiting = np.flatnonzero(~_helps(points, found, slope, seen, length))
    for _ in range(_MAX_HALVINGS):
        if not len(waiting):
            break
        length[waiting] /= 2.0
        g = points.g[waiting] + length[waiting, None] * direction[waiting]
        tried = _at(problems.part(waiting), g)
        found.put(waiting, tried)
        helps = _helps(points.part(waiting), tried, slope[waiting], seen[waiting], length[waiting])
        waiting = waiting[~helps]
    helped = np.ones(len(slope), dtype=bool)
    helped[waiting] = False
    return found, helped


def _helps(
    before: _Points, after: _Points, slope: FloatArray, seen: BoolArray, length: FloatArray
) -> BoolArray:
    """Whether D rose enough or, where D can't show it, the gradient is shorter."""
    rose = after.value >= before.value + _ARMIJO * length * slope
    return np.asarray(np.where(seen, rose, after.size <= (1.0 - _ARMIJO * length) * before.size))
