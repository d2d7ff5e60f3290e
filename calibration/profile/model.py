"""The hierarchical logistic model of a department at given prior scales: its mode and curvature.

For reader r, finding f and phrase k, with m_k = x_k = logit(meaning of k),

    logit P(CT positive) = m_k + z_fk·(θ + u_r) + habit_rfk + h_rfk,     z_fk = (b_k, e_k, e_f),

b_k = (1, x_k, bend_k, twist_k) is a curve over the words: shift, slope − 1, and what x² and x³ add
(`Counts.curve`). θ (J,) is the department (mean curve, phrase effects, finding effects) and u_r the
reader's departure from it in the same coordinates, J = 4 + K + F; H more columns per reader hold
habits in single cells; h ~ N(0, σ_c²) is what remains of a cell. All have normal priors, so the
mode is found by Newton's method on blocks: eliminate every cell's h (which leaves its log-odds
the weight 1 / (1/(n p (1−p)) + σ_c²)), then every reader's small system, then solve the
department's.

======  ============  ==============================================================
symbol  shape         meaning
======  ============  ==============================================================
N, Y    (R, F, K)     effective observations and label mass
h       (R, F, K)     remainder of every cell at the mode
G_r     (R, L, L)     data's information about (θ + u_r, habits), L = J + H
C_r     (R, L, L)     (Λ_u + G_r)⁻¹, covariance of u_r were θ known
V       (J, J)        posterior covariance of θ
======  ============  ==============================================================

Posterior: u_r | θ has mean û_r − C_r G_r (θ − θ̂), so with D_r = C_r G_r[:, :J]
Var u_r = C_r + D_r V D_rᵀ and Cov(u_r, θ) = −D_r V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from calibration.arrays import FloatArray
from calibration.profile.design import Counts, Scales, information, linear_predictor, score

_STEPS = 100
_TOLERANCE = 1e-8
_LONGEST = 2.0
_HALVINGS = 12
_ROUNDING = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """Where Newton stopped, with the curvature there (see the module's table)."""

    theta: FloatArray
    reader: FloatArray
    remainder: FloatArray
    information: FloatArray
    covariance: FloatArray
    theta_covariance: FloatArray
    gradient: float
    steps: int
    converged: bool

    @property
    def total(self) -> FloatArray:
        """θ + u_r with habits, shape (R, L)."""
        return _total(self.theta, self.reader)

    @property
    def leverage(self) -> FloatArray:
        """D_r = C_r G_r[:, :J], shape (R, L, J)."""
        return np.asarray(self.covariance @ self.information[:, :, : len(self.theta)])

    def reader_variance(self) -> FloatArray:
        """Posterior variance of every coordinate of u_r, shape (R, L)."""
        lever = self.leverage
        own = np.diagonal(self.covariance, axis1=1, axis2=2)
        return np.asarray(own + np.einsum("rlj,rlj->rl", lever @ self.theta_covariance, lever))


def find_mode(counts: Counts, scales: Scales, *, start: Mode | None = None) -> Mode:
    """Maximise the posterior density by Newton's method with steps of at most 2 on the log-odds.

    A step that lowers the density is halved. Where words are misread the density need not be
    log-concave; cells where it bends the wrong way count with their expected information.

    Parameters
    ----------
    counts, scales
        Data and prior precisions.
    start
        A mode to begin at; its habit columns need not be the same.
    """
    size = counts.size
    theta, reader = np.zeros(size), scales.habit_mean.copy()
    remainder = np.zeros_like(counts.n)
    if start is not None:
        theta, remainder = start.theta.copy(), start.remainder
        reader[:, :size] = start.reader[:, :size]
    here = _Place(theta, reader, _remainder(counts, scales, _total(theta, reader), remainder))
    height, steps, longest = here.height(counts, scales), 0, np.inf
    while longest >= _TOLERANCE and steps < _STEPS:
        steps += 1
        point, *step = _point(counts, scales, here)
        moved = _total(*step)
        longest = float(
            np.abs(linear_predictor(counts, scales, moved) - counts.meaning).max(initial=0.0)
        )
        share = min(1.0, _LONGEST / max(longest, _TOLERANCE))
        here, height = _uphill(counts, scales, (here, height), step, share)
    return replace(
        point, theta=here.theta, reader=here.reader, remainder=here.remainder, steps=steps,
        converged=longest < _TOLERANCE,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where Newton stands: θ, u_r, and every cell's remainder given them."""

    theta: FloatArray
    reader: FloatArray
    remainder: FloatArray

    def height(self, counts: Counts, scales: Scales) -> float:
        """Log posterior density, but for a constant."""
        eta = linear_predictor(counts, scales, _total(self.theta, self.reader)) + self.remainder
        off = self.reader - scales.habit_mean
        pull = scales.theta @ self.theta**2 + (scales.reader * off**2).sum()
        pull += (self.remainder**2 / scales.remainder).sum()
        return float(counts.log_likelihood(eta).sum() - pull / 2.0)


def _uphill(
    counts: Counts,
    scales: Scales,
    start: tuple[_Place, float],
    step: Sequence[FloatArray],
    share: float,
) -> tuple[_Place, float]:
    """Go the Newton step, or the first of its halves that does not lower the density."""
    here, height = start
    least = height - _ROUNDING * (1.0 + abs(height))
    for _ in range(_HALVINGS):
        theta, reader = here.theta + share * step[0], here.reader + share * step[1]
        rest = _remainder(counts, scales, _total(theta, reader), here.remainder)
        there = _Place(theta, reader, rest)
        reached = there.height(counts, scales)
        if reached >= least:
            return there, reached
        share /= 2.0
    return here, height


def _total(theta: FloatArray, reader: FloatArray) -> FloatArray:
    """θ + u_r with the reader's habits, shape (R, L)."""
    total = reader.copy()
    total[:, : len(theta)] += theta
    return total


def _remainder(counts: Counts, scales: Scales, total: FloatArray, start: FloatArray) -> FloatArray:
    """Mode of h in every cell given the rest, shape (R, F, K)."""
    eta, variance = linear_predictor(counts, scales, total), scales.remainder
    h = start
    for _ in range(_STEPS):
        chance, read = expit(eta + h), counts.rightly_read(eta + h)
        pull = variance * (read.mass - read.n * chance) - h
        step = pull / (1.0 + variance * read.n * chance * (1.0 - chance))
        h = h + np.clip(step, -1.0, 1.0)
        if float(np.abs(step).max(initial=0.0)) < _TOLERANCE / 10.0:
            break
    return np.asarray(h)


def _point(counts: Counts, scales: Scales, here: _Place) -> tuple[Mode, FloatArray, FloatArray]:
    """Eliminate every reader's block, solve the department's, and go back: two Newton steps."""
    size, theta, reader = counts.size, here.theta, here.reader
    eta = linear_predictor(counts, scales, _total(theta, reader)) + here.remainder
    chance, read = expit(eta), counts.rightly_read(eta)
    weight = read.n * chance * (1.0 - chance)
    slope = score(counts, scales, read.mass - read.n * chance)
    held = information(counts, scales, weight / (1.0 + scales.remainder * weight))
    up = slope - scales.reader * (reader - scales.habit_mean)
    across = slope[:, :size].sum(axis=0) - scales.theta * theta
    prior = scales.reader[:, :, None] * np.eye(reader.shape[1])
    covariance = np.asarray(np.linalg.inv(held + prior), dtype=np.float64)
    lever = covariance @ held[:, :, :size]
    joint = held[:, :size, :size] - held[:, :size, :] @ lever
    joint = np.diag(scales.theta) + joint.sum(axis=0)
    theta_covariance = np.asarray(np.linalg.inv(joint), dtype=np.float64)
    theta_step = theta_covariance @ (across - np.einsum("rlj,rl->j", lever, up))
    gradient = max(float(np.abs(up).max()), float(np.abs(across).max()))
    point = Mode(
        theta, reader, here.remainder, held, covariance, theta_covariance, gradient, 0,
        converged=False,
    )  # fmt: skip
    return point, theta_step, np.einsum("rlm,rm->rl", covariance, up) - lever @ theta_step
