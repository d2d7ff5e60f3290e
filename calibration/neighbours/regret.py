"""The ranking bound: how much worse a score ranks than the best order, against label distributions.

Labels of two items are drawn from η and η'; the score is wrong when it puts the one with the lower
label on top. Over ordered classes the risk of putting x above x' is Σ_{i<j} η_i(x) η_j(x').
Averages are over pairs of different items; equal scores cost half of either order.

RR-b = [L(s̃) − L*] / (K² f_K) (Jiang et al. 2024, Theorem 1). The paper prints L* as a double sum
over all i and j, which counts every pair of classes twice and i = j besides. Three meanings:

* ``least``: Σ_{i<j} min(η_i η'_j, η_j η'_i), the print without the double count (default).
* ``best_order``: min of the two orders' whole risks, what the best order of each pair attains.
* ``scored``: L(s), the risk of the true expected score.

All are O(K² N log N): min(a·d, b·c) over pairs is settled by sorting on the angle of (a, b), after
which prefix sums do the rest. ``best_order`` has such an angle for K ≤ 3 only; with more classes
the pairwise best orders can run in circles, and all pairs are visited.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError, check_option
from calibration.neighbours.categorical import checked_probabilities
from calibration.neighbours.class_scores import checked_values

Optimum = Literal["least", "best_order", "scored"]
_MOST_PAIRWISE: Final = 20_000


@dataclass(frozen=True, slots=True)
class RankingBound:
    """Ranking regret of a prediction and the bound it gives.

    Attributes
    ----------
    risk
        L(s̃), mean pair risk of the prediction's expected score.
    optimal
        L* of the chosen meaning.
    bound
        (risk − optimal) / (K² f_K), a lower bound on the class-wise error.
    optimum
        Which L* was used.
    """

    risk: float
    optimal: float
    bound: float
    optimum: Optimum

    @property
    def regret(self) -> float:
        """Risk − optimal."""
        return self.risk - self.optimal


def ranking_bound(
    *, probs: ArrayLike, truth: ArrayLike, values: ArrayLike, optimum: Optimum = "least"
) -> RankingBound:
    """Bound the class-wise error from below by the ranking regret.

    Parameters
    ----------
    probs
        Predicted class probabilities, shape (N, K), N ≥ 2.
    truth
        Label distribution of the same items, shape (N, K).
    values
        Value of every class, shape (K,); their order is the order of the classes.
    optimum
        Meaning of the best possible risk; see the module.

    Raises
    ------
    CalibrationError
        If a row is not a distribution, shapes differ, the values are unusable, fewer than two
        items are given, or ``best_order`` is asked for more than three classes of over 20,000
        items.
    """
    check_option("optimum", optimum, Optimum)
    p, eta = checked_probabilities(probs), checked_probabilities(truth, name="truth")
    f = checked_values(values, classes=p.shape[1])
    if p.shape != eta.shape or len(p) < 2:
        msg = f"probs {p.shape} and truth {eta.shape}: give the same items, at least two."
        raise CalibrationError(msg)
    upwards = np.argsort(f, kind="stable")
    risk = pair_risk(p @ f, truth=eta[:, upwards])
    if optimum == "scored":
        optimal = pair_risk(eta @ f, truth=eta[:, upwards])
    elif optimum == "best_order":
        optimal = _best_order(eta[:, upwards])
    else:
        optimal = _least(eta[:, upwards])
    bound = (risk - optimal) / (len(f) ** 2 * float(f.max())) if f.max() > 0 else float("nan")
    return RankingBound(risk, optimal, bound, optimum)


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


def _best_order(eta: FloatArray) -> float:
    """Mean over pairs of the smaller of the two orders' risks."""
    if eta.shape[1] > 3:
        return _best_order_pairwise(eta)
    angle = _angle(eta)
    pairs = list(_class_pairs(eta.shape[1]))
    total = sum(_sorted_products(eta[:, i], eta[:, j], angle) for i, j in pairs)
    return total / _pairs(len(eta))


def _angle(eta: FloatArray) -> FloatArray:
    """Where the best order of two items is the order of this angle, K = 2 or 3.

    The difference of the two orders' risks is the determinant of two plane vectors: with
    K = 3, (η_1, η_2, η_3) ↦ (η_1 + η_2, η_2 + η_3), and with K = 2, η itself.
    """
    if eta.shape[1] == 2:
        return np.asarray(np.arctan2(eta[:, 0], eta[:, 1]))
    return np.asarray(np.arctan2(eta[:, 0] + eta[:, 1], eta[:, 1] + eta[:, 2]))


def _best_order_pairwise(eta: FloatArray) -> float:
    if len(eta) > _MOST_PAIRWISE:
        msg = (
            f"best_order: {len(eta):,} items of {eta.shape[1]} classes need all pairs; at most "
            f"{_MOST_PAIRWISE:,} are visited. Use optimum='least' or a sample."
        )
        raise CalibrationError(msg)
    above = np.cumsum(eta[:, ::-1], axis=1)[:, ::-1] - eta
    total = 0.0
    for a in range(len(eta) - 1):
        first_on_top = above[a + 1 :] @ eta[a]
        second_on_top = eta[a + 1 :] @ above[a]
        total += float(np.minimum(first_on_top, second_on_top).sum())
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
