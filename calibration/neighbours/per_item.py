"""A predicted distribution against the readers' votes, item by item: distance, entropy, order.

* **DistCE** (Baan et al. 2022, Eq. 7): ½ Σ_c |f_c − π̄_c|, the total variation distance.
* **Noise floor**: what DistCE would be on average if the votes really came from f. With n votes,
  v_c is Binomial(n, f_c) and its mean absolute deviation is known exactly (de Moivre):
  E|v_c/n − f_c| = 2 f_c (1 − f_c) · b(⌊n f_c⌋; n − 1, f_c) with b the binomial probability.
* DistCE is **not proper** with few votes: for π = (.6, .3, .1) and one vote it is least at
  (1, 0, 0), with three votes at (.66, .34, 0). With 2 to 5 readers use the Brier score of the
  votes, which is least at π whatever the number of votes, or the squared distance
  Σ(f − π̄)² − Σ π̄(1 − π̄)/(n − 1), whose mean is Σ(f − π)² exactly.
* **EntCE** (Eq. 5, in nats): is the prediction as undecided as the readers are?
* **RankCS** (Eq. 6): does it order the classes as the readers do? The paper leaves ties open (its
  footnote 4). By ``index``, as in the released code, both rows are sorted upwards, of tied classes
  the one with the higher index counts as the higher, and the orders must be equal class by class.
  ``aware``: where votes tie, any order of the tied classes is right; where votes differ, the
  prediction must differ the same way, strictly.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr
from scipy.stats import binom

from calibration.arrays import BoolArray, FloatArray
from calibration.errors import check_option
from calibration.neighbours.categorical import checked_pair, frequencies
from calibration.neighbours.score import ItemScore, SignedScore


def distribution_calibration_error(
    *, probs: ArrayLike, votes: ArrayLike, less_floor: bool = False
) -> ItemScore:
    """DistCE: mean total variation distance between prediction and votes, in [0, 1].

    Parameters
    ----------
    probs
        Predicted class probabilities, shape (n, C).
    votes
        Votes per class, shape (n, C).
    less_floor
        Subtract each item's noise floor; 0 is then what a right prediction scores on average, and
        single items may be negative.

    Raises
    ------
    CalibrationError
        If a row is not a distribution, holds no vote, or the shapes differ.

    Examples
    --------
    >>> score = distribution_calibration_error(probs=[[0.5, 0.5], [1, 0]], votes=[[4, 1], [3, 0]])
    >>> round(score, 3), score.per_item.round(3).tolist()
    (0.15, [0.3, 0.0])
    """
    predictions, counts = checked_pair(probs, votes)
    distance = 0.5 * np.abs(predictions - frequencies(counts)).sum(axis=1)
    if less_floor:
        return ItemScore(distance - _floor(predictions, counts), "DistCE above its noise floor")
    return ItemScore(distance, "DistCE (total variation distance)")


def noise_floor(*, probs: ArrayLike, votes: ArrayLike) -> ItemScore:
    """Mean DistCE if every item's votes were drawn from its prediction; exact, nothing sampled.

    Parameters
    ----------
    probs, votes
        As for :func:`distribution_calibration_error`; of the votes only their number counts.

    Examples
    --------
    One vote on a coin that is fair is always ½ away.

    >>> float(noise_floor(probs=[[0.5, 0.5]], votes=[[1, 0]]))
    0.5
    """
    predictions, counts = checked_pair(probs, votes)
    return ItemScore(_floor(predictions, counts), "noise floor of DistCE")


def brier_of_votes(*, probs: ArrayLike, votes: ArrayLike) -> ItemScore:
    """Mean over votes of Σ_c (f_c − 1[vote = c])², in [0, 2]; proper for any number of votes."""
    predictions, counts = checked_pair(probs, votes)
    shares = frequencies(counts)
    loss = (predictions**2).sum(axis=1) - 2.0 * (predictions * shares).sum(axis=1) + 1.0
    return ItemScore(loss, "Brier score of the votes")


def _floor(probs: FloatArray, votes: FloatArray) -> FloatArray:
    """½ Σ_c E|v_c/n − f_c| of every item, shape (n,)."""
    size = votes.sum(axis=1, keepdims=True)
    p = np.minimum(probs, 1.0)
    k = np.minimum(np.floor(size * p), size - 1.0)
    deviation = 2.0 * p * (1.0 - p) * binom.pmf(k, size - 1.0, p)
    return np.asarray(0.5 * deviation.sum(axis=1), dtype=np.float64)


def entropy_calibration_error(*, probs: ArrayLike, votes: ArrayLike) -> SignedScore:
    """Mean |EntCE|, with EntCE = H(f) − H(π̄) of every item in ``signed``.

    Above 0 the prediction is less decided than the votes (under-confident), below 0 more decided.
    H(π̄) of n votes is too low by about (C − 1)/2n on average, so with few votes a right
    prediction has a positive mean error.

    Parameters
    ----------
    probs
        Predicted class probabilities, shape (n, C).
    votes
        Votes per class, shape (n, C).

    Raises
    ------
    CalibrationError
        If a row is not a distribution, holds no vote, or the shapes differ.

    Examples
    --------
    >>> score = entropy_calibration_error(probs=[[0.5, 0.5], [1, 0]], votes=[[3, 0], [1, 1]])
    >>> score.signed.round(4).tolist(), round(score, 4)
    ([0.6931, -0.6931], 0.6931)
    """
    predictions, counts = checked_pair(probs, votes)
    signed = entr(predictions).sum(axis=1) - entr(frequencies(counts)).sum(axis=1)
    return SignedScore(np.asarray(signed, dtype=np.float64), "|EntCE| (nats)")


RankTies = Literal["index", "aware"]


def ranking_calibration_score(
    *, probs: ArrayLike, votes: ArrayLike, ties: RankTies = "index"
) -> ItemScore:
    """RankCS: share of items whose classes stand in the same order in prediction and votes.

    Parameters
    ----------
    probs
        Predicted class probabilities, shape (n, C).
    votes
        Votes per class, shape (n, C).
    ties
        How tied classes are ordered; see the module.

    Raises
    ------
    CalibrationError
        If a row is not a distribution, holds no vote, the shapes differ, or the rule is unknown.

    Examples
    --------
    >>> probs, votes = [[0.5, 0.4, 0.1]], [[5, 5, 0]]
    >>> by_index = ranking_calibration_score(probs=probs, votes=votes)
    >>> float(by_index), float(ranking_calibration_score(probs=probs, votes=votes, ties="aware"))
    (0.0, 1.0)
    """
    check_option("ties", ties, RankTies)
    predictions, counts = checked_pair(probs, votes)
    agrees = _by_index(predictions, counts) if ties == "index" else _aware(predictions, counts)
    return ItemScore(agrees.astype(np.float64), f"RankCS (ties: {ties})")


def _by_index(probs: FloatArray, votes: FloatArray) -> BoolArray:
    ours = np.argsort(probs, axis=1, kind="stable")
    theirs = np.argsort(votes, axis=1, kind="stable")
    return np.asarray((ours == theirs).all(axis=1), dtype=np.bool_)


def _aware(probs: FloatArray, votes: FloatArray) -> BoolArray:
    """Walk up the prediction: votes may not fall, and may rise only where the prediction does."""
    order = np.argsort(probs, axis=1, kind="stable")
    rise = np.diff(np.take_along_axis(votes, order, axis=1), axis=1)
    step = np.diff(np.take_along_axis(probs, order, axis=1), axis=1)
    return np.asarray(((rise == 0) | ((rise > 0) & (step > 0))).all(axis=1), dtype=np.bool_)
