"""Surveys of what people mean by a phrase → one distribution per phrase.

A survey that counts respondents per probability range is a mixture of uniforms with known mean
and variance, so the method of moments is exact and needs no sampling. A survey of raw percentages
uses the sample mean and the population variance, values clamped to [1e-8, 1 − 1e-8].
Source: Wang et al. 2025, appendix B.3, which fits Betas by moments; the radiology survey is
Shinagare et al. 2023.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.arrays import FloatArray
from calibration.distributions import Beta, UniformMixture
from calibration.errors import SurveyError

__all__ = [
    "RANGE_END",
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
