"""Does the prediction order the classes as the readers do? (Baan et al. 2022, Eq. 6).

The paper leaves ties open (its footnote 4). Two rules:

* ``index``, as in the released code: both rows are sorted upwards, of tied classes the one with
  the higher index counts as the higher, and the orders must be equal class by class.
* ``aware``: where votes tie, any order of the tied classes is right; where votes differ, the
  prediction must differ the same way, strictly.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from calibration.arrays import BoolArray, FloatArray
from calibration.errors import CalibrationError
from calibration.neighbours.categorical import checked_pair
from calibration.neighbours.disagreement.score import ItemScore

__all__ = ["RankTies", "ranking_calibration_score"]

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
        Votes per class, counts or shares, shape (n, C).
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
    if ties not in get_args(RankTies):
        msg = f"ties {ties!r}: use one of {', '.join(get_args(RankTies))}."
        raise CalibrationError(msg)
    predictions, counts = checked_pair(probs, votes, shares=True)
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
