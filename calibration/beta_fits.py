"""Answers → a Beta: by moments (exact, no sampling) or by interval-censored likelihood.

Moments: a range survey is a mixture of uniforms with known mean and variance; raw percentages use
the sample mean and the population variance, values clamped to [1e-8, 1 − 1e-8] (Wang et al. 2025,
appendix B.3). Likelihood: Σ_j w_j log(F(b_j) − F(b_{j−1})) over ranges.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import betainc

from calibration.arrays import FloatArray
from calibration.distributions import Beta, UniformMixture
from calibration.errors import SurveyError

__all__ = [
    "RANGE_END",
    "fit_likelihood",
    "fit_moments",
    "moments_of_percentages",
    "moments_of_ranges",
]

RANGE_END = 1e-6
"""Width given to the statements "0 %" and "100 %" when they are ranges of a survey."""

_CLAMP = 1e-8


def moments_of_ranges(edges: FloatArray, proportions: FloatArray) -> tuple[float, float]:
    """Mean and variance of respondents spread evenly within each range.

    Parameters
    ----------
    edges
        Ends of the ranges, increasing, shape (J + 1,).
    proportions
        Respondents per range as counts or proportions; renormalised, shape (J,).
    """
    mixture = UniformMixture.from_counts(edges, proportions)
    return mixture.mean, mixture.variance


def moments_of_percentages(percentages: Sequence[float] | FloatArray) -> tuple[float, float]:
    """Mean and population variance of stated percentages (0 to 100), as probabilities."""
    values = np.asarray(percentages, dtype=np.float64) / 100.0
    clamped = np.clip(values, _CLAMP, 1.0 - _CLAMP)
    return float(clamped.mean()), float(clamped.var())


def fit_moments(mean: float, variance: float, *, phrase: str = "phrase") -> Beta:
    """Beta with the given mean and variance.

    Raises
    ------
    SurveyError
        Unless 0 < variance < mean · (1 − mean), naming the phrase.

    Examples
    --------
    >>> fitted = fit_moments(0.5, 0.05)
    >>> round(fitted.alpha, 6), round(fitted.beta, 6)
    (2.0, 2.0)
    """
    limit = mean * (1.0 - mean)
    if not 0.0 < variance < limit:
        msg = (
            f"{phrase!r}: a Beta needs 0 < variance < mean·(1 − mean); the survey has mean "
            f"{mean:.6g}, variance {variance:.6g}, limit {limit:.6g}. "
            "State it as an atom, or collect more answers."
        )
        raise SurveyError(msg)
    size = limit / variance - 1.0
    return Beta(mean * size, (1.0 - mean) * size)


def fit_likelihood(edges: FloatArray, counts: FloatArray, *, phrase: str = "phrase") -> Beta:
    """Beta of greatest interval-censored likelihood.

    Parameters
    ----------
    edges
        Ends of the ranges from 0 to 1, shape (J + 1,).
    counts
        Respondents per range, shape (J,).

    Raises
    ------
    SurveyError
        If fewer than two ranges were chosen, or the search did not converge.
    """
    if np.count_nonzero(counts) < 2:
        msg = (
            f"{phrase!r}: every respondent chose the same range, so the likelihood has no "
            "maximum; use moments or state an atom."
        )
        raise SurveyError(msg)
    kept = counts > 0
    low, high, weight = edges[:-1][kept], edges[1:][kept], counts[kept] / counts.sum()
    start = fit_moments(*moments_of_ranges(edges, counts), phrase=phrase)

    def loss(theta: FloatArray) -> float:
        alpha, beta = np.exp(theta)
        mass = betainc(alpha, beta, high) - betainc(alpha, beta, low)
        return -float(weight @ np.log(np.maximum(mass, 1e-300)))

    found = minimize(
        loss,
        np.log([start.alpha, start.beta]),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000, "maxfev": 4000},
    )
    if not found.success:
        msg = f"{phrase!r}: the likelihood search did not converge; use moments."
        raise SurveyError(msg)
    alpha, beta = np.exp(found.x)
    return Beta(float(alpha), float(beta))
