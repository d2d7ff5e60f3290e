"""Prediction and votes side by side as histograms over items (Baan et al. 2022, appendix B).

Three views: the probability of each class; the probability of the k-th guess, classes being put in
order on either side by itself; the entropy, in shares of its maximum log C. Bins are (a, b].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from calibration.arrays import FloatArray
from calibration.neighbours.categorical import checked_pair, frequencies

__all__ = ["Marginals", "Pair", "marginals"]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Shares of items per bin of [0, 1], each (M,): what is predicted, and what the votes are."""

    predicted: FloatArray
    voted: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """Histograms of prediction and votes on the same bins.

    Attributes
    ----------
    edges
        Ends of the bins, shape (M + 1,).
    classes
        One pair per class.
    guesses
        One pair per rank, the most probable class first.
    entropy
        Entropy over log C.
    """

    edges: FloatArray
    classes: tuple[Pair, ...]
    guesses: tuple[Pair, ...]
    entropy: Pair


def marginals(*, probs: ArrayLike, votes: ArrayLike, bins: int = 20) -> Marginals:
    """Count items per bin for every view.

    Parameters
    ----------
    probs
        Predicted class probabilities, shape (n, C).
    votes
        Votes per class, shape (n, C).
    bins
        Equal bins of [0, 1].

    Raises
    ------
    CalibrationError
        If a row is not a distribution, holds no vote, or the shapes differ.
    """
    predictions, counts = checked_pair(probs, votes)
    shares = frequencies(counts)
    edges = np.linspace(0.0, 1.0, bins + 1)
    ours, theirs = (-np.sort(-table, axis=1) for table in (predictions, shares))
    most = np.log(shares.shape[1])
    spread = [entr(table).sum(axis=1) / most for table in (predictions, shares)]
    columns = range(shares.shape[1])
    return Marginals(
        edges=edges,
        classes=tuple(_pair(predictions[:, k], shares[:, k], edges) for k in columns),
        guesses=tuple(_pair(ours[:, k], theirs[:, k], edges) for k in columns),
        entropy=_pair(spread[0], spread[1], edges),
    )


def _pair(predicted: FloatArray, voted: FloatArray, edges: FloatArray) -> Pair:
    return Pair(_shares(predicted, edges), _shares(voted, edges))


def _shares(values: FloatArray, edges: FloatArray) -> FloatArray:
    """Share of items per bin (a, b], 0 in the first."""
    bins = len(edges) - 1
    place = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, bins - 1)
    return np.bincount(place, minlength=bins) / len(values)
