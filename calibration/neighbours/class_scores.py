"""Class probabilities against distributed labels and against one judged scalar per item.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
p       (N, K)    predicted class probabilities
η       (N, K)    label distribution, from many annotators
f       (K,)      value of every class on the scale of the scalar
s̃, s    (N,)      expected score Σ_k p_k f_k, and the same of η (Jiang et al. Eq. 1)
z       (N,)      scalar judged directly, 2 or 3 annotators are enough
======  ========  ==============================================================

* Class-wise error CE = E (1/K) Σ_k |p_k − η_k| (Definition 1). No bins.
* MAE = E|s̃ − z|.
* Lower bounds for CE from scalars alone: MAE-b = 2 E|s̃ − s| / (K f_K) (Theorem 4, f_1 = 0);
  ``tight`` divides by the range f_K − f_1 instead, valid for any f, with equality for K = 2.
* The ranking bound, how much worse a score ranks than the best order, against label distributions:
  RR-b = [L(s̃) − L*] / (K² f_K) (Theorem 1). It is as printed, and a lower bound only where one
  score orders every pair best (Assumption 1) and the places suit: the risk does not change with the
  scale of f but the bound does, and an exact prediction that ranks some pair otherwise than L* has
  one above its CE of 0. Labels of two items are drawn from η and η'; the score
  is wrong when it puts the one with the lower label on top. Over ordered classes the risk of
  putting x above x' is Σ_{i<j} η_i(x) η_j(x'). Averages are over pairs of different items; equal
  scores cost half of either order. The paper prints L* as a double sum over all i and j, which
  counts every pair of classes twice and i = j besides; here it is Σ_{i<j} min(η_i η'_j, η_j η'_i),
  the least that any order could risk. All is O(K² N log N): min(a·d, b·c) over pairs is settled by
  sorting on the angle of (a, b), after which prefix sums do the rest.

A distribution over the scale → shares of a few fixed points, nearest in Wasserstein-2.

Jiang et al. 2024, Theorem 2, with F the distribution function (the print says density):
Q(c_i) = F((c_{i+1} + c_i)/2) − F((c_i + c_{i−1})/2), F(−∞) = 0 and F(+∞) = 1. Every value goes to
its nearest point; a value midway goes to the lower one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.arrays import FloatArray, numbers
from calibration.errors import CalibrationError
from calibration.neighbours.categorical import checked_probabilities
from calibration.neighbours.ranking import checked_scalars
from calibration.neighbours.score import ItemScore


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """Lower bound on the class-wise error from a mean difference of scores.

    Attributes
    ----------
    paper
        2 E|s̃ − s| / (K f_K), as printed; NaN if the largest class value is not positive.
    tight
        2 E|s̃ − s| / (K (f_K − f_1)).
    """

    paper: float
    tight: float


def classwise_error(*, probs: ArrayLike, truth: ArrayLike) -> ItemScore:
    """CE: mean over items of (1/K) Σ_k |p_k − η_k|, in [0, 2/K].

    Parameters
    ----------
    probs
        Predicted class probabilities, shape (N, K).
    truth
        Label distribution of the same items, shape (N, K).

    Raises
    ------
    CalibrationError
        If a row is not a distribution or the shapes differ.
    """
    p, eta = _pair(probs, truth)
    return ItemScore(np.abs(p - eta).mean(axis=1), "class-wise error (CE)")


def expected_score(*, probs: ArrayLike, values: ArrayLike) -> FloatArray:
    """Σ_k p_k f_k of every item, shape (N,).

    Parameters
    ----------
    probs
        Class probabilities, shape (N, K).
    values
        Value of every class, shape (K,).

    Raises
    ------
    CalibrationError
        If a row is not a distribution or there is not one value per class.
    """
    p = checked_probabilities(probs)
    return np.asarray(p @ checked_values(values, classes=p.shape[1]), dtype=np.float64)


def scalar_error(*, score: ArrayLike, judged: ArrayLike) -> ItemScore:
    """MAE: mean |s̃ − z| over items.

    Raises
    ------
    CalibrationError
        If lengths differ or a value is missing.
    """
    s, z = checked_scalars(score=score, judged=judged)
    return ItemScore(np.abs(s - z), "mean absolute error (MAE)")


def error_bound(*, probs: ArrayLike, truth: ArrayLike, values: ArrayLike) -> ErrorBound:
    """Bound the class-wise error from below by the error of the scores.

    Parameters
    ----------
    probs, truth
        As for :func:`classwise_error`.
    values
        Value of every class, shape (K,), not all equal.

    Raises
    ------
    CalibrationError
        If a row is not a distribution, shapes differ, or the class values are unusable.
    """
    p, eta = _pair(probs, truth)
    f = checked_values(values, classes=p.shape[1])
    twice = 2.0 * float(np.abs((p - eta) @ f).mean()) / len(f)
    paper = twice / float(f.max()) if f.max() > 0 else float("nan")
    return ErrorBound(paper=paper, tight=twice / float(f.max() - f.min()))


def checked_values(values: ArrayLike, *, classes: int) -> FloatArray:
    """Return class values (K,), finite and not all equal."""
    f = numbers("values", values)
    if f.shape != (classes,) or not np.isfinite(f).all() or f.min() == f.max():
        raise CalibrationError(
            f"values: give {classes} class values, one per class and not all equal."
        )
    return f


def _pair(probs: ArrayLike, truth: ArrayLike) -> tuple[FloatArray, FloatArray]:
    p, eta = checked_probabilities(probs), checked_probabilities(truth, name="truth")
    if p.shape != eta.shape:
        raise CalibrationError(
            f"probs has shape {p.shape} but truth has {eta.shape}; align items and classes first."
        )
    return p, eta


def quantise(cdf: Callable[[FloatArray], FloatArray], *, points: ArrayLike) -> FloatArray:
    """Share of every point, in the order given, shape (K,).

    Parameters
    ----------
    cdf
        F of the distribution: a ``Distribution``'s ``cdf``, or :func:`empirical_cdf` of judgements.
    points
        Fixed points, distinct, in any order, shape (K,).

    Raises
    ------
    CalibrationError
        If there is no point, one is missing, or two are equal.

    Examples
    --------
    >>> from calibration.distributions import Beta
    >>> quantise(Beta(2, 3).cdf, points=[0.05, 0.3, 0.5, 0.8]).round(6).tolist()
    [0.143689, 0.381111, 0.348719, 0.126481]
    """
    (at,) = checked_scalars(points=points)
    order = np.argsort(at)
    ordered = at[order]
    same = np.flatnonzero(np.diff(ordered) == 0)
    if same.size:
        raise CalibrationError(
            f"points: {len(same)} of {len(at)} repeat another; first {ordered[same[0]]:g}. "
            "Merge points that stand at one place."
        )
    below = np.asarray(cdf((ordered[1:] + ordered[:-1]) / 2.0), dtype=np.float64)
    share = np.empty(len(at))
    share[order] = np.diff(below, prepend=0.0, append=1.0)
    return share


def empirical_cdf(values: ArrayLike) -> Callable[[FloatArray], FloatArray]:
    """Give F of a sample: the share of values at or below x."""
    (sample,) = checked_scalars(values=values)
    ordered = np.sort(sample)

    def cdf(x: FloatArray) -> FloatArray:
        return np.asarray(np.searchsorted(ordered, x, side="right") / len(ordered))

    return cdf


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
        (risk − optimal) / (K² f_K); whether the class-wise error is larger, see the module.
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
        raise CalibrationError(
            f"probs {p.shape} and truth {eta.shape}: give the same items, at least two."
        )
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
    for i, j in combinations(range(eta.shape[1]), 2):
        own = float(eta[:, i] @ eta[:, j])
        lost += float(eta[:, i] @ below[:, j])
        lost += 0.5 * (float(eta[:, i] @ at_level[:, j]) - own)
    return lost / _pairs(len(s))


def _least(eta: FloatArray) -> float:
    """Mean over pairs of Σ_{i<j} min(η_i η'_j, η_j η'_i)."""
    total = 0.0
    for i, j in combinations(range(eta.shape[1]), 2):
        # Σ over pairs of η_i(x) · η_j(x'), x being the one with the smaller angle
        order = np.argsort(np.arctan2(eta[:, i], eta[:, j]), kind="stable")
        a, b = eta[order, i], eta[order, j]
        total += float(b[1:] @ np.cumsum(a)[:-1])
    return total / _pairs(len(eta))


def _prefix(eta: FloatArray, upto: NDArray[np.integer]) -> FloatArray:
    """Sum of the first ``upto`` rows for every row, shape (N, K)."""
    total = np.zeros((len(eta) + 1, eta.shape[1]))
    np.cumsum(eta, axis=0, out=total[1:])
    return np.asarray(total[upto])


def _pairs(n: int) -> float:
    return n * (n - 1) / 2.0
