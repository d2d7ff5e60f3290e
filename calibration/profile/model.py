"""The hierarchical logistic model of a department at given prior scales: its mode and curvature.

For reader r, finding f and phrase k, with m_k = x_k = logit(meaning of k),

    logit P(CT positive) = m_k + z_fk·(θ + u_r) + habit_rfk + h_rfk,     z_fk = (b_k, e_k, e_f),

b_k = (1, x_k, bend_k) is a curve over the words: shift, slope − 1, and a bend at right angles to
both. θ (J,) is the department (mean curve, phrase effects, finding effects) and u_r the reader's
departure from it in the same coordinates, J = 3 + K + F; H more columns per reader hold habits in
single cells; h ~ N(0, σ_c²) is what remains of a cell. All have normal priors, so the
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

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from calibration.arrays import FloatArray
from calibration.profile.design import Counts, Scales, information, linear_predictor, score

__all__ = ["Mode", "find_mode"]

_STEPS = 60
_TOLERANCE = 1e-8
_LONGEST = 2.0


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
        size = len(self.theta)
        return np.asarray(self.covariance @ self.information[:, :, :size])

    def reader_variance(self) -> FloatArray:
        """Posterior variance of every coordinate of u_r, shape (R, L)."""
        lever = self.leverage
        own = np.diagonal(self.covariance, axis1=1, axis2=2)
        return np.asarray(own + np.einsum("rlj,rlj->rl", lever @ self.theta_covariance, lever))


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """Gradient and curvature at one place, and the Newton step from it."""

    information: FloatArray
    covariance: FloatArray
    theta_covariance: FloatArray
    gradient: float
    theta_step: FloatArray
    reader_step: FloatArray


def find_mode(counts: Counts, scales: Scales, *, start: Mode | None = None) -> Mode:
    """Maximise the posterior density by Newton's method with steps of at most 2 on the log-odds.

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
    steps, longest = 0, np.inf
    while longest >= _TOLERANCE and steps < _STEPS:
        steps += 1
        remainder = _remainder(counts, scales, _total(theta, reader), remainder)
        point = _point(counts, scales, theta, reader, remainder)
        moved = _total(point.theta_step, point.reader_step)
        longest = float(
            np.abs(linear_predictor(counts, scales, moved) - counts.meaning).max(initial=0.0)
        )
        share = min(1.0, _LONGEST / max(longest, _TOLERANCE))
        theta = theta + share * point.theta_step
        reader = reader + share * point.reader_step
    return Mode(
        theta,
        reader,
        remainder,
        point.information,
        point.covariance,
        point.theta_covariance,
        point.gradient,
        steps,
        longest < _TOLERANCE,
    )


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
        chance = expit(eta + h)
        pull = variance * (counts.mass - counts.n * chance) - h
        step = pull / (1.0 + variance * counts.n * chance * (1.0 - chance))
        h = h + np.clip(step, -1.0, 1.0)
        if float(np.abs(step).max(initial=0.0)) < _TOLERANCE / 10.0:
            break
    return np.asarray(h)


def _point(
    counts: Counts, scales: Scales, theta: FloatArray, reader: FloatArray, remainder: FloatArray
) -> _Point:
    """Eliminate every reader's block, solve the department's, and go back."""
    size = counts.size
    chance = expit(linear_predictor(counts, scales, _total(theta, reader)) + remainder)
    weight = counts.n * chance * (1.0 - chance)
    slope = score(counts, scales, counts.mass - counts.n * chance)
    held = information(counts, scales, weight / (1.0 + scales.remainder * weight))
    up = slope - scales.reader * (reader - scales.habit_mean)
    across = slope[:, :size].sum(axis=0) - scales.theta * theta
    prior = scales.reader[:, :, None] * np.eye(reader.shape[1])
    covariance = np.linalg.inv(held + prior)
    lever = covariance @ held[:, :, :size]
    joint = held[:, :size, :size] - held[:, :size, :] @ lever
    theta_covariance = np.linalg.inv(np.diag(scales.theta) + joint.sum(axis=0))
    theta_step = theta_covariance @ (across - np.einsum("rlj,rl->j", lever, up))
    return _Point(
        information=held,
        covariance=np.asarray(covariance, dtype=np.float64),
        theta_covariance=np.asarray(theta_covariance, dtype=np.float64),
        gradient=max(float(np.abs(up).max()), float(np.abs(across).max())),
        theta_step=theta_step,
        reader_step=np.einsum("rlm,rm->rl", covariance, up) - lever @ theta_step,
    )
