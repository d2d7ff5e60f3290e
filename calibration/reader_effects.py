"""A mixed model of readers, for rates and honest intervals of small readers.

Shrinking each phrase on its own forgets that a reader who is too sure of one
phrase is too sure of the next, so its intervals are too narrow. Here, for reader r and phrase k,

    logit p_rk = α_k + b0_r + b1_r x_k + e_rk,   b0 ~ N(0, σ0²), b1 ~ N(0, σ1²), e ~ N(0, ω²),

with α_k the department's log-odds and x_k the centred logit of the phrase's mean. The standard
deviations maximise the Laplace marginal likelihood times their product, the boundary-avoiding
prior of Chung et al. 2013, because an estimate of 0 would make intervals too narrow; rates and
95 % intervals come from the Laplace posterior of the log-odds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError
from calibration.tally import Tally

__all__ = ["ReaderEffects", "reader_effects"]

_CLIP = 0.01
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True, eq=False)
class ReaderEffects:
    """Rates of R readers for K phrases under the mixed model.

    Attributes
    ----------
    rate, low, high
        Rate with its 95 % interval, shape (R, K); NaN for phrases nobody used.
    department
        expit(α), shape (K,).
    sd_intercept, sd_slope, sd_phrase
        σ0, σ1 and ω on the log-odds scale.
    log_likelihood
        Laplace marginal log-likelihood at the fit.
    converged
        Whether the search over the three standard deviations ended by its tolerance.
    """

    rate: FloatArray
    low: FloatArray
    high: FloatArray
    department: FloatArray
    sd_intercept: float
    sd_slope: float
    sd_phrase: float
    log_likelihood: float
    converged: bool


def reader_effects(tallies: Sequence[Tally], *, means: FloatArray) -> ReaderEffects:
    """Fit the mixed model to one tally per reader.

    Parameters
    ----------
    tallies
        One per reader, against the same phrases; soft labels count as fractions.
    means
        Phrase means, clipped to [.01, .99] for x, shape (K,).

    Raises
    ------
    CalibrationError
        If fewer than two readers are given.
    """
    if len(tallies) < 2:
        msg = f"reader_effects: {len(tallies)} reader(s); the variance between readers needs two."
        raise CalibrationError(msg)
    n = np.stack([t.n for t in tallies])
    mass = np.stack([t.label_mass for t in tallies])
    used = n.sum(axis=0) > 0
    model = _Model.of(n[:, used], mass[:, used], means[used])

    def loss(theta: FloatArray) -> float:
        return -model.fit(np.exp(theta))[0] - float(theta.sum())

    best = minimize(
        loss,
        np.log(np.array([0.3, 0.1, 0.2])),
        method="Nelder-Mead",
        bounds=[(-6.0, 2.0)] * 3,
        options={"xatol": 0.02, "fatol": 0.01, "maxiter": 200},
    )
    deviations = np.exp(best.x)
    likelihood, centre, variance = model.fit(deviations)
    half = _Z * np.sqrt(variance + model.alpha_variance)
    shape = (len(tallies), len(used))
    rate, low, high = np.full((3, *shape), np.nan)
    rate[:, used], low[:, used], high[:, used] = (
        expit(centre),
        expit(centre - half),
        expit(centre + half),
    )
    everyone = np.full(len(used), np.nan)
    everyone[used] = expit(model.alpha)
    return ReaderEffects(
        rate=rate,
        low=low,
        high=high,
        department=everyone,
        sd_intercept=float(deviations[0]),
        sd_slope=float(deviations[1]),
        sd_phrase=float(deviations[2]),
        log_likelihood=likelihood,
        converged=bool(best.success),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """Counts (R, K) with the department's log-odds and the design of the reader effects."""

    n: FloatArray
    mass: FloatArray
    alpha: FloatArray
    alpha_variance: FloatArray
    x: FloatArray

    @classmethod
    def of(cls, n: FloatArray, mass: FloatArray, means: FloatArray) -> _Model:
        total, yes = n.sum(axis=0) + 1.0, mass.sum(axis=0) + 0.5
        x = logit(np.clip(means, _CLIP, 1.0 - _CLIP))
        x = x - np.average(x, weights=total)
        variance = 1.0 / yes + 1.0 / (total - yes)
        return cls(n, mass, np.asarray(logit(yes / total)), variance, x)

    def fit(self, deviations: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Laplace log-likelihood, posterior mode (R, K) and variance (R, K) of the log-odds."""
        sd0, sd1, sd2 = deviations
        size = len(self.x)
        prior = sd0**2 + sd1**2 * np.outer(self.x, self.x) + sd2**2 * np.eye(size)
        precision = np.linalg.inv(prior)
        eta = np.tile(self.alpha, (len(self.n), 1))
        for _ in range(50):
            p = expit(eta)
            gradient = self.mass - self.n * p - (eta - self.alpha) @ precision
            curvature = precision + (self.n * p * (1.0 - p))[:, :, None] * np.eye(size)
            step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
            eta = eta + np.clip(step, -2.0, 2.0)
            if float(np.abs(step).max()) < 1e-8:
                break
        inner = self.mass * eta - self.n * np.logaddexp(0.0, eta)
        gap = eta - self.alpha
        penalty = np.einsum("rk,kl,rl->r", gap, precision, gap)
        log_det = np.linalg.slogdet(curvature)[1] - np.linalg.slogdet(precision)[1]
        likelihood = float(np.sum(inner.sum(axis=1) - (penalty + log_det) / 2.0))
        return likelihood, eta, np.diagonal(np.linalg.inv(curvature), axis1=1, axis2=2)
