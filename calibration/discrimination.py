"""Area under the ROC curve of phrases, without sampling scores.

With S ~ u_k drawn independently, AUROC = Σ_{k,l} y_k (n_l − y_l) A_kl / (Y (N − Y)), where
A_kl = P(S_k > S_l) + ½ P(S_k = S_l) depends on the phrase table only. An atom's row is exact from
the distribution functions; a pair of continuous phrases is ∫ F_l(F_k⁻¹(q)) dq by 400-point
Gauss-Legendre quadrature on the quantile scale, made antisymmetric.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from calibration.arrays import FloatArray
from calibration.distributions import Atom, Distribution

__all__ = ["auroc", "order_probabilities"]

_NODES = 400


@lru_cache(maxsize=32)
def order_probabilities(distributions: tuple[Distribution, ...]) -> FloatArray:
    """A_kl = P(S_k > S_l) + ½ P(S_k = S_l), shape (K, K); A + Aᵀ = 1."""
    size = len(distributions)
    order = np.full((size, size), 0.5)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    levels = (nodes + 1.0) / 2.0
    for k, first in enumerate(distributions):
        if isinstance(first, Atom):
            row = np.array([_above(first.at, other) for other in distributions])
        else:
            points = np.array([first.quantile(q) for q in levels])
            row = np.array([weights @ d.cdf(points) / 2.0 for d in distributions])
        order[k] = row
    atoms = np.array([isinstance(d, Atom) for d in distributions])
    order[:, atoms] = 1.0 - order[atoms].T
    order = (order + 1.0 - order.T) / 2.0
    order.setflags(write=False)
    return np.asarray(order)


def _above(at: float, other: Distribution) -> float:
    """P(other < at) + ½ P(other = at)."""
    below = float(other.cdf(np.asarray(at)))
    return below - 0.5 if isinstance(other, Atom) and other.at == at else below


def auroc(n: FloatArray, label_mass: FloatArray, *, order: FloatArray) -> FloatArray:
    """AUROC of tallies (..., K); NaN where all labels agree.

    Parameters
    ----------
    n, label_mass
        Uses and label mass, (..., K).
    order
        From :func:`order_probabilities`, (K, K).
    """
    negative = n - label_mass
    favourable = np.einsum("...k,...k->...", label_mass @ order, negative)
    pairs = np.asarray(label_mass.sum(axis=-1) * negative.sum(axis=-1))
    nothing = np.full(pairs.shape, np.nan)
    return np.asarray(np.divide(favourable, pairs, out=nothing, where=pairs > 0))
