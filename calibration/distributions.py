"""What a phrase means: a distribution of the confidence it expresses, given or fitted to answers.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
u       --        one phrase's distribution of the score S on [0, 1]
F(x)    --        P(S ≤ x)
G(x)    --        E[S · 1(S ≤ x)], the partial mean
======  ========  ==============================================================

For a Beta, G(x) = mean · I_x(α + 1, β), so no integral is ever approximated (Wang et al. 2025
suggest quadrature or the midpoint rule after Eq. 7; both go wrong for peaked phrases).
A score is called positive when S ≥ ½, so an atom at exactly ½ is positive.

Moments: a range survey is a mixture of uniforms with known mean and variance; raw percentages use
the sample mean and the population variance, values clamped to [1e-8, 1 − 1e-8] (Wang et al. 2025,
appendix B.3). Likelihood: Σ_j w_j log(F(b_j) − F(b_{j−1})) over ranges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import betainc, betaincc, betaincinv, xlog1py, xlogy
from scipy.special import betaln as log_beta

from calibration.arrays import FloatArray, numbers
from calibration.errors import CalibrationError, SurveyError, number


@dataclass(frozen=True, slots=True)
class Beta:
    """A Beta distribution, density ∝ s^(α−1) (1−s)^(β−1).

    Raises
    ------
    CalibrationError
        If a parameter is not positive and finite.
    """

    alpha: float
    beta: float

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            object.__setattr__(self, name, number(name, getattr(self, name)))
        if not (0 < self.alpha < np.inf and 0 < self.beta < np.inf):
            raise CalibrationError(
                f"Beta({self.alpha}, {self.beta}): both parameters must be positive and finite."
            )

    @property
    def mean(self) -> float:
        """E[S]."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> float:
        """Var[S]."""
        total = self.alpha + self.beta
        return (self.alpha / total) * (self.beta / total) / (total + 1.0)

    def cdf(self, x: FloatArray) -> FloatArray:
        """P(S ≤ x), the regularised incomplete beta function."""
        return np.asarray(betainc(self.alpha, self.beta, np.clip(x, 0.0, 1.0)), dtype=np.float64)

    def quantile(self, q: float) -> float:
        """Smallest x with P(S ≤ x) ≥ q."""
        _check_probability(q)
        return float(betaincinv(self.alpha, self.beta, q))

    def density(self, x: FloatArray) -> FloatArray:
        """Density at x; may be infinite at an end."""
        log = xlogy(self.alpha - 1.0, x) + xlog1py(self.beta - 1.0, -x)
        return np.asarray(np.exp(log - log_beta(self.alpha, self.beta)), dtype=np.float64)

    def probability_positive(self) -> float:
        """P(S ≥ ½)."""
        return float(betaincc(self.alpha, self.beta, 0.5))

    def interval_tables(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mass and partial mean of every (edge, edge], each (M,), by the tail that is smaller."""
        mass = _beta_differences(self.alpha, self.beta, edges)
        return mass, self.mean * _beta_differences(self.alpha + 1.0, self.beta, edges)


@dataclass(frozen=True, slots=True)
class Atom:
    """All the mass at one score: "absent" = 0, "present" = 1, or a stated number."""

    at: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", number("at", self.at))
        if not 0.0 <= self.at <= 1.0:
            raise CalibrationError(f"Atom({self.at}): the score must lie in [0, 1].")

    @property
    def mean(self) -> float:
        """E[S]."""
        return self.at

    @property
    def variance(self) -> float:
        """Var[S], which is 0."""
        return 0.0

    def cdf(self, x: FloatArray) -> FloatArray:
        """P(S ≤ x)."""
        return np.asarray(np.asarray(x) >= self.at, dtype=np.float64)

    def quantile(self, q: float) -> float:
        """Return the atom, whatever the probability."""
        _check_probability(q)
        return self.at

    def density(self, x: FloatArray) -> FloatArray:
        """Zero: an atom has no density, which is how the midpoint rule loses it."""
        return np.zeros_like(np.asarray(x, dtype=np.float64))

    def probability_positive(self) -> float:
        """P(S ≥ ½)."""
        return float(self.at >= 0.5)

    def interval_tables(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mass and partial mean of every (edge, edge], the first closed at 0, each (M,)."""
        mass = np.zeros(len(edges) - 1)
        mass[max(int(np.searchsorted(edges, self.at, side="left")) - 1, 0)] = 1.0
        return mass, self.at * mass


Distribution: TypeAlias = Beta | Atom


def _check_probability(q: float) -> None:
    if not 0.0 <= number("q", q) <= 1.0:
        raise CalibrationError(f"quantile({q}): the probability must lie in [0, 1].")


def _beta_differences(alpha: float, beta: float, edges: FloatArray) -> FloatArray:
    """Differences of I_x taken in the tail that is smaller, so that none loses its digits."""
    lower = np.diff(betainc(alpha, beta, edges))
    upper = -np.diff(betaincc(alpha, beta, edges))
    median = betaincinv(alpha, beta, 0.5)
    return np.asarray(np.where(edges[:-1] >= median, upper, lower), dtype=np.float64)


RANGE_END = 1e-6
"""Width given to the statements "0 %" and "100 %" when they are ranges of a survey."""

_CLAMP = 1e-8
_ALIKE = 1e-20  # of answers all the same, the rounding of their variance stays below it


def moments_of_ranges(edges: FloatArray, proportions: FloatArray) -> tuple[float, float]:
    """Mean and variance of respondents spread evenly within each range, exact.

    Each is rounded once, so that a survey means the same on every processor.

    Parameters
    ----------
    edges
        Ends of the ranges, increasing, shape (J + 1,).
    proportions
        Respondents per range as counts or proportions; renormalised, shape (J,).

    Raises
    ------
    CalibrationError
        If the ranges do not increase inside [0, 1], or hold no respondent or fewer than none.
    """
    edges, people = numbers("edges", edges), numbers("proportions", proportions)
    flat = edges.ndim == people.ndim == 1
    if not flat or len(edges) != len(people) + 1 or not np.all(np.diff(edges) > 0):
        raise CalibrationError("ranges: need J proportions and J + 1 increasing edges.")
    total = float(people.sum())
    if not (0 < total < np.inf and np.all(people >= 0) and edges[0] >= 0 and edges[-1] <= 1):
        raise CalibrationError("ranges: they lie in [0, 1], and respondents are ≥ 0, not all 0.")
    low, high, weights = edges[:-1], edges[1:], people / total
    mean = math.fsum(weights * (low + high)) / 2.0
    centred = (low + high) / 2.0 - mean
    return mean, math.fsum(weights * (centred**2 + (high - low) ** 2 / 12.0))


def moments_of_percentages(percentages: Sequence[float] | FloatArray) -> tuple[float, float]:
    """Mean and population variance of stated percentages (0 to 100), as probabilities."""
    values = numbers("percentages", percentages) / 100.0
    if not values.size or not np.all(np.isfinite(values)):
        raise SurveyError(
            "percentages: none, or some are missing. Give at least one, each a number."
        )
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
    mean, variance = number("mean", mean), number("variance", variance)
    limit = mean * (1.0 - mean)
    if 0.0 <= variance < _ALIKE:
        raise SurveyError(
            f"{phrase!r}: everybody gave the same answer, {100 * mean:.4g} %, which has no Beta. "
            "State it as an atom, or collect more answers."
        )
    if not 0.0 < variance < limit:
        raise SurveyError(
            f"{phrase!r}: a Beta needs 0 < variance < mean·(1 − mean); the survey has mean "
            f"{mean:.6g}, variance {variance:.6g}, limit {limit:.6g}. "
            "State it as an atom, or collect more answers."
        )
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
    from scipy.optimize import minimize  # here: all who only look a phrase up would wait for it

    edges, counts = numbers("edges", edges), numbers("counts", counts)
    mean, variance = moments_of_ranges(edges, counts)  # checks both
    if np.count_nonzero(counts) < 2:
        raise SurveyError(
            f"{phrase!r}: every respondent chose the same range, so the likelihood has no "
            "maximum; use moments or state an atom."
        )
    kept = counts > 0
    low, high, weight = edges[:-1][kept], edges[1:][kept], counts[kept] / counts.sum()
    start = fit_moments(mean, variance, phrase=phrase)

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
        raise SurveyError(f"{phrase!r}: the likelihood search did not converge; use moments.")
    alpha, beta = np.exp(found.x)
    return Beta(float(alpha), float(beta))
