"""Prediction and votes side by side as histograms over items (Baan et al. 2022, appendix B).

Three views: the probability of each class; the probability of the k-th guess, classes being put in
order on either side by itself; the entropy, in shares of its maximum log C. Bins are (a, b].

X-ray phrases against uncertain CT phrases, as a distribution over cases.

Two classes, "present" and "not": the X-ray phrase says m (its mean), the CT label says y, so a
case's DistCE is |m − y| and its EntCE is H(m) − H(y) in nats. Both come from the tally's cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from calibration.arrays import FloatArray, IntArray
from calibration.bins import places
from calibration.errors import CalibrationError
from calibration.estimate import cells_of
from calibration.neighbours.categorical import checked_pair, frequencies
from calibration.tally import Tally


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
    return np.bincount(places(values, edges), minlength=len(edges) - 1) / len(values)


@dataclass(frozen=True, slots=True, eq=False)
class CaseErrors:
    """One row per occupied (phrase, label) cell, weighted by its cases.

    Attributes
    ----------
    phrase
        Index of the phrase, shape (C,).
    label
        What CT said, shape (C,).
    weight
        Cases of the cell, shape (C,).
    distance
        |m − y|, shape (C,).
    entropy
        H(m) − H(y), shape (C,): above 0 the X-ray phrase is the less decided one.
    """

    phrase: IntArray
    label: FloatArray
    weight: FloatArray
    distance: FloatArray
    entropy: FloatArray

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
    """Distance and entropy error of every case in a tally.

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
        msg = f"means: shape {np.shape(means)} for a tally of {tally.n_phrases} phrases."
        raise CalibrationError(msg)
    phrase, label, weight = cells_of(tally)
    m = np.asarray(means, dtype=np.float64)[phrase]
    spread = entr(m) + entr(1.0 - m) - entr(label) - entr(1.0 - label)
    return CaseErrors(phrase, label, weight, np.abs(m - label), np.asarray(spread))
