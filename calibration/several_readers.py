"""Many readers at once: honest intervals, funnel limits, false discoveries.

Reader effects. Shrinking each phrase on its own forgets that a reader who is too sure of one
phrase is too sure of the next, so its intervals are too narrow. Here, for reader r and phrase k,

    logit p_rk = α_k + b0_r + b1_r x_k + e_rk,   b0 ~ N(0, σ0²), b1 ~ N(0, σ1²), e ~ N(0, ω²),

with α_k the department's log-odds and x_k the centred logit of the phrase's mean. The standard
deviations maximise the Laplace marginal likelihood times their product, the boundary-avoiding
prior of Chung et al. 2013, because an estimate of 0 would make intervals too narrow; rates and
95 % intervals come from the Laplace posterior of the log-odds.

Funnel limits (Spiegelhalter 2005): gap_r = (O_r − E_r)/n_r against 0 with standard error
√V_r / n_r, inflated by a between-reader variance τ² (DerSimonian and Laird, z winsorised at the
10 % ends), so that the ordinary differences between readers are not called outliers.

False discoveries: Benjamini and Hochberg 1995, or Benjamini and Yekutieli 2001 under any
dependence; the number of hypotheses is part of the result and is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import false_discovery_control

from calibration.arrays import BoolArray, FloatArray
from calibration.errors import CalibrationError
from calibration.tally import Tally

__all__ = [
    "Discoveries",
    "Funnel",
    "ReaderEffects",
    "control_false_discoveries",
    "funnel",
    "reader_effects",
]

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


@dataclass(frozen=True, slots=True, eq=False)
class Funnel:
    """Each reader's gap between outcomes and words, with limits that know readers differ.

    Attributes
    ----------
    gap
        (O − E) / n, shape (R,); NaN where n = 0.
    standard_error
        Without the between-reader variance, shape (R,).
    n
        Observations, shape (R,).
    between_variance
        τ².
    inflation
        Winsorised mean of z², 1 when readers differ by chance only.
    p_value
        Two-sided, with τ², shape (R,).
    """

    gap: FloatArray
    standard_error: FloatArray
    n: FloatArray
    between_variance: float
    inflation: float
    p_value: FloatArray

    def limits(self, *, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Limits around 0 at the given level, with τ², shape (R,) each."""
        half = float(ndtri(0.5 + level / 2.0)) * np.sqrt(
            self.standard_error**2 + self.between_variance
        )
        return -half, half


def funnel(tallies: Sequence[Tally], *, means: FloatArray) -> Funnel:
    """Funnel of calibration in the large over readers; means are (K,)."""
    n = np.stack([t.n for t in tallies])
    mass = np.stack([t.label_mass for t in tallies]).sum(axis=1)
    total = n.sum(axis=1)
    some = np.where(total > 0, total, np.nan)
    gap = (mass - n @ means) / some
    error = np.sqrt(n @ (means * (1.0 - means))) / some
    known = np.isfinite(gap) & (error > 0)
    tau2, inflation = _between(gap[known], error[known])
    spread = np.sqrt(error**2 + tau2)
    z = np.divide(gap, spread, out=np.full_like(gap, np.nan), where=known)
    return Funnel(gap, error, total, tau2, inflation, 2.0 * ndtr(-np.abs(z)))


def _between(gap: FloatArray, error: FloatArray) -> tuple[float, float]:
    if len(gap) < 3:
        return 0.0, 1.0
    z = gap / error
    low, high = np.quantile(z, [0.1, 0.9])
    inflation = float(np.mean(np.clip(z, low, high) ** 2))
    weight = 1.0 / error**2
    scale = weight.sum() - (weight**2).sum() / weight.sum()
    count = len(gap)
    tau2 = (count * inflation - (count - 1)) / scale if inflation * count > count - 1 else 0.0
    return float(max(tau2, 0.0)), inflation


@dataclass(frozen=True, slots=True, eq=False)
class Discoveries:
    """Which of many hypotheses stand at a false-discovery rate.

    Attributes
    ----------
    adjusted
        Adjusted p-values, NaN where the test was not made, same shape as given.
    rejected
        adjusted ≤ rate.
    hypotheses
        How many were tested.
    rate, method
        The rate controlled and by which procedure.
    """

    adjusted: FloatArray
    rejected: BoolArray
    hypotheses: int
    rate: float
    method: str


def control_false_discoveries(
    p_values: FloatArray, *, rate: float = 0.05, method: Literal["bh", "by"] = "bh"
) -> Discoveries:
    """Adjust p-values of any shape; NaN means "not tested" and does not count."""
    tested = np.isfinite(p_values)
    adjusted = np.full(p_values.shape, np.nan)
    if tested.any():
        adjusted[tested] = false_discovery_control(p_values[tested], method=method)
    rejected = np.where(tested, adjusted, np.inf) <= rate
    return Discoveries(adjusted, rejected, int(tested.sum()), rate, method)
