"""The ranking bound: how much worse a score ranks than the best order, against label distributions.

Labels of two items are drawn from η and η'; the score is wrong when it puts the one with the lower
label on top. Over ordered classes the risk of putting x above x' is Σ_{i<j} η_i(x) η_j(x').
Averages are over pairs of different items; equal scores cost half of either order.

RR-b = [L(s̃) − L*] / (K² f_K) (Jiang et al. 2024, Theorem 1). The paper prints L* as a double sum
over all i and j, which counts every pair of classes twice and i = j besides; here it is
Σ_{i<j} min(η_i η'_j, η_j η'_i), the least that any order could risk.

All is O(K² N log N): min(a·d, b·c) over pairs is settled by sorting on the angle of (a, b), after
which prefix sums do the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError
from calibration.neighbours.categorical import checked_probabilities
from calibration.neighbours.class_scores import checked_values


@dataclass(frozen=True, slots=True)
class RankingBound:
    """Ranking regret of a prediction and the bound it gives.

    Attributes
    ----------
    risk
        L(s̃), mean pair risk of the prediction's expected score.
    optimal
        L*, the least possible.
    bound
        (risk − optimal) / (K² f_K), a lower bound on the class-wise error.
    """

    risk: float
    optimal: float
    bound: float

    @property
    def regret(self) -> float:
        """Risk − optimal."""
        return self.risk - self.optimal


def ranking_bound(*, probs: ArrayLike, truth: ArrayLike, values: ArrayLike) -> RankingBound:
    """Bound the class-wise error from below by the ranking regret.

    Parameters
    ----------
    probs
        Predicted class probabilities, shape (N, K), N ≥ 2.
    truth
        Label distribution of the same items, shape (N, K).
    values
        Value of every class, shape (K,); their order is the order of the classes.

    Raises
    ------
    CalibrationError
        If a row is not a distribution, shapes differ, the values are unusable, or fewer than two
        items are given.
    """
    p, eta = checked_probabilities(probs), checked_probabilities(truth, name="truth")
    f = checked_values(values, classes=p.shape[1])
    if p.shape != eta.shape or len(p) < 2:
        msg = f"probs {p.shape} and truth {eta.shape}: give the same items, at least two."
        raise CalibrationError(msg)
    upwards = np.argsort(f, kind="stable")
    risk, optimal = pair_risk(p @ f, truth=eta[:, upwards]), _least(eta[:, upwards])
    bound = (risk - optimal) / (len(f) ** 2 * float(f.max())) if f.max() > 0 else float("nan")
    return RankingBound(risk, optimal, bound)


def pair_risk(score: FloatArray, *, truth: FloatArray) -> float:
    """Mean over pairs of the probability that the score's order contradicts the labels.

    Parameters
    ----------
    score
        One value per item, shape (N,).
    truth
        Label distributions over classes in ascending order, shape (N, K).
    """
    order = np.argsort(score, kind="stable")
    eta, s = truth[order], score[order]
    below, upto = (_prefix(eta, np.searchsorted(s, s, side=side)) for side in ("left", "right"))
    at_level = upto - below
    lost = 0.0
    for i, j in _class_pairs(eta.shape[1]):
        own = float(eta[:, i] @ eta[:, j])
        lost += float(eta[:, i] @ below[:, j])
        lost += 0.5 * (float(eta[:, i] @ at_level[:, j]) - own)
    return lost / _pairs(len(s))


def _least(eta: FloatArray) -> float:
    """Mean over pairs of Σ_{i<j} min(η_i η'_j, η_j η'_i)."""
    total = 0.0
    for i, j in _class_pairs(eta.shape[1]):
        total += _sorted_products(eta[:, i], eta[:, j], np.arctan2(eta[:, i], eta[:, j]))
    return total / _pairs(len(eta))


def _sorted_products(low: FloatArray, high: FloatArray, angle: FloatArray) -> float:
    """Σ over pairs of low(x) · high(x'), x being the one with the smaller angle."""
    order = np.argsort(angle, kind="stable")
    a, b = low[order], high[order]
    return float(b[1:] @ np.cumsum(a)[:-1])


def _prefix(eta: FloatArray, upto: NDArray[np.integer]) -> FloatArray:
    """Sum of the first ``upto`` rows for every row, shape (N, K)."""
    total = np.zeros((len(eta) + 1, eta.shape[1]))
    np.cumsum(eta, axis=0, out=total[1:])
    return np.asarray(total[upto])


def _class_pairs(classes: int) -> Iterator[tuple[int, int]]:
    for i in range(classes):
        for j in range(i + 1, classes):
            yield i, j


def _pairs(n: int) -> float:
    return n * (n - 1) / 2.0
