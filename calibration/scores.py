"""Scores of phrases in closed form from a tally, and the labels they are held against.

With S ~ u_k drawn independently of the label given the exam, expectations need no sampling:

* Brier  Σ_k [n_k (var_k + mean_k²) − 2 mean_k y_k + Σ y²] / N,
  where Σ y² is the label mass itself when Y ~ Bernoulli(label), which is how soft labels are read;
* accuracy  Σ_k [y_k π_k + (n_k − y_k)(1 − π_k)] / N with π_k = P(S ≥ ½ | k).

Leading axes broadcast: n and y may be (B, K).

Area under the ROC curve: AUROC = Σ_{k,l} y_k (n_l − y_l) A_kl / (Y (N − Y)), where
A_kl = P(S_k > S_l) + ½ P(S_k = S_l) depends on the phrase table only. An atom's row is exact from
the distribution functions; a pair of continuous phrases is ∫ F_l(F_k⁻¹(q)) dq by 400-point
Gauss-Legendre quadrature on the quantile scale, made antisymmetric.

Uncertain outcomes: with c the distribution a CT phrase expresses, its label between 0 and 1 is
P(c ≥ ½) ("probability", Wang et al. 2025, section 3.2 and appendix A.2; the default) or E[c]
("mean"). The first hardens: "likely" is .774 on average but lies above ½ with probability .918.
Results state which was used.

X-ray words against uncertain CT words, case by case (Baan et al. 2022): with two classes, "present"
and "not", the X-ray phrase says m (its mean), the CT label says y; a case's distance (DistCE) is
|m − y|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from calibration.arrays import FloatArray, IntArray, divided
from calibration.distributions import Atom, Distribution
from calibration.errors import CalibrationError, check_option
from calibration.estimate import cells_of
from calibration.tally import Tally


def brier(
    n: FloatArray, label_mass: FloatArray, *, means: FloatArray, variances: FloatArray
) -> FloatArray:
    """Return the expected Brier score of tallies (..., K); NaN where there is no observation."""
    loss = n @ (variances + means**2) - 2.0 * (label_mass @ means) + label_mass.sum(axis=-1)
    return divided(loss, n.sum(axis=-1))


def accuracy(n: FloatArray, label_mass: FloatArray, *, positive: FloatArray) -> FloatArray:
    """Return the expected accuracy of tallies (..., K) when S ≥ ½ is read as yes; NaN if empty."""
    right = label_mass @ positive + (n - label_mass) @ (1.0 - positive)
    return divided(right, n.sum(axis=-1))


_NODES = 400


@lru_cache(maxsize=32)
def order_probabilities(distributions: tuple[Distribution, ...]) -> FloatArray:
    """A_kl = P(S_k > S_l) + ½ P(S_k = S_l), (K, K); A + Aᵀ = 1; quadrature but for atoms."""
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
    return divided(favourable, label_mass.sum(axis=-1) * negative.sum(axis=-1))


LabelRule = Literal["probability", "mean"]


def label_values(
    distributions: Sequence[Distribution], *, rule: LabelRule = "probability"
) -> FloatArray:
    """Label of every CT phrase, shape (K,).

    Parameters
    ----------
    distributions
        What the CT phrases express.
    rule
        See the module.

    Raises
    ------
    CalibrationError
        If the rule is unknown.

    Examples
    --------
    >>> from calibration.distributions import Atom, Beta
    >>> label_values([Atom(0.0), Beta(2, 2), Atom(1.0)]).tolist()
    [0.0, 0.5, 1.0]
    """
    check_option("label rule", rule, LabelRule)
    if rule == "mean":
        return np.array([d.mean for d in distributions])
    return np.array([d.probability_positive() for d in distributions])


@dataclass(frozen=True, slots=True, eq=False)
class CaseErrors:
    """One row per occupied (phrase, label) cell, weighted by its cases.

    Attributes
    ----------
    phrase
        Index of the phrase, shape (C,).
    weight
        Cases of the cell, shape (C,).
    distance
        |m − y|, shape (C,).
    """

    phrase: IntArray
    weight: FloatArray
    distance: FloatArray

    @property
    def n(self) -> float:
        """Cases."""
        return float(self.weight.sum())

    @property
    def mean_distance(self) -> float:
        """Mean DistCE over cases; NaN if there is none."""
        return float(self.weight @ self.distance / self.n) if self.n > 0 else float("nan")

    def histogram(self, bins: int = 20) -> FloatArray:
        """Cases per equal bin of distance in [0, 1], shape (bins,)."""
        return np.histogram(self.distance, bins=bins, range=(0.0, 1.0), weights=self.weight)[0]


def phrase_disagreement(tally: Tally, *, means: FloatArray) -> CaseErrors:
    """Distance of every case in a tally.

    Parameters
    ----------
    tally
        Counts per phrase and label value.
    means
        Phrase means, shape (K,).

    Raises
    ------
    CalibrationError
        If there is not one mean per phrase.

    Examples
    --------
    >>> counted = Tally(np.array([0.0, 1.0]), np.array([[1.0, 3.0]]))
    >>> phrase_disagreement(counted, means=np.array([0.8])).mean_distance
    0.35
    """
    if np.shape(means) != (tally.n_phrases,):
        raise CalibrationError(
            f"means: shape {np.shape(means)} for a tally of {tally.n_phrases} phrases."
        )
    phrase, label, weight = cells_of(tally)
    m = np.asarray(means, dtype=np.float64)[phrase]
    return CaseErrors(phrase, weight, np.abs(m - label))
