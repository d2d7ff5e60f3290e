"""Brier score and accuracy of phrases, in closed form from a tally.

With S ~ u_k drawn independently of the label given the exam, expectations need no sampling:

* Brier  Σ_k [n_k (var_k + mean_k²) − 2 mean_k y_k + Σ y²] / N,
  where Σ y² is the label mass itself when Y ~ Bernoulli(label), which is how soft labels are read;
* accuracy  Σ_k [y_k π_k + (n_k − y_k)(1 − π_k)] / N with π_k = P(S ≥ ½ | k).

Leading axes broadcast: n and y may be (B, K).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.arrays import FloatArray
from calibration.distributions import Distribution

__all__ = ["accuracy", "brier", "positive_probabilities"]


def positive_probabilities(distributions: Sequence[Distribution]) -> FloatArray:
    """π_k = P(S ≥ ½ | k), shape (K,)."""
    return np.array([d.probability_positive() for d in distributions])


def brier(
    n: FloatArray, label_mass: FloatArray, *, means: FloatArray, variances: FloatArray
) -> FloatArray:
    """Return the expected Brier score of tallies (..., K); NaN where there is no observation."""
    loss = n @ (variances + means**2) - 2.0 * (label_mass @ means) + label_mass.sum(axis=-1)
    return _per_observation(loss, n)


def accuracy(n: FloatArray, label_mass: FloatArray, *, positive: FloatArray) -> FloatArray:
    """Return the expected accuracy of tallies (..., K) when S ≥ ½ is read as yes; NaN if empty."""
    right = label_mass @ positive + (n - label_mass) @ (1.0 - positive)
    return _per_observation(right, n)


def _per_observation(amount: FloatArray, n: FloatArray) -> FloatArray:
    total = np.asarray(n.sum(axis=-1))
    nothing = np.full(total.shape, np.nan)
    return np.asarray(np.divide(amount, total, out=nothing, where=total > 0))
