"""Is the prediction as undecided as the readers are? (Baan et al. 2022, Eq. 5, in nats)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from calibration.neighbours.categorical import checked_pair, frequencies
from calibration.neighbours.disagreement.score import SignedScore

__all__ = ["entropy_calibration_error"]


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
        Votes per class, counts or shares, shape (n, C).

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
    predictions, counts = checked_pair(probs, votes, shares=True)
    signed = entr(predictions).sum(axis=1) - entr(frequencies(counts)).sum(axis=1)
    return SignedScore(np.asarray(signed, dtype=np.float64), "|EntCE| (nats)")
