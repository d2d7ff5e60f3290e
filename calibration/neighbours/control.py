"""Histograms over items: readers against readers, and prediction and votes side by side.

Baan et al. 2022, §5.2: a "classifier" made of a few of an item's own votes is as good as it
realistically gets. Its DistCE histogram is the yardstick for a model's.

The sample is drawn without replacement. The paper compares it with all votes, of which it is a
part; ``against="rest"`` compares it with the votes left over.

Side by side (appendix B): the probability of each class; the probability of the k-th guess, classes
being put in order on either side by itself; the entropy, in shares of its maximum log C. Bins are
(a, b].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, rel_entr

from calibration.arrays import FloatArray, IntArray
from calibration.bins import places
from calibration.errors import CalibrationError, check_option, refuse
from calibration.neighbours.categorical import checked_pair, checked_votes, frequencies
from calibration.neighbours.per_item import distribution_calibration_error
from calibration.neighbours.score import ItemScore

Against = Literal["all", "rest"]


def subsample_votes(*, votes: ArrayLike, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw ``size`` of every item's votes without replacement, shape (n, C).

    Raises
    ------
    CalibrationError
        If an item has fewer votes than asked for.
    """
    counts = checked_votes(votes).astype(np.int64)
    if size < 1:
        msg = f"size: {size}; draw at least one vote."
        raise CalibrationError(msg)
    left: IntArray = counts.sum(axis=1)
    refuse("votes", left < size, f"rows hold fewer than {size} votes. Draw fewer.", shown=left)
    drawn = np.zeros_like(counts)
    open_ = np.full(len(counts), size)
    for c in range(counts.shape[1] - 1):
        left = left - counts[:, c]
        drawn[:, c] = rng.hypergeometric(counts[:, c], left, open_)
        open_ = open_ - drawn[:, c]
    drawn[:, -1] = open_
    return drawn.astype(np.float64)


def reader_control(
    *, votes: ArrayLike, size: int, rng: np.random.Generator, against: Against = "all"
) -> ItemScore:
    """DistCE of a classifier made of ``size`` of every item's votes.

    Parameters
    ----------
    votes
        Votes per class, shape (n, C).
    size
        Votes drawn per item.
    rng
        Source of chance.
    against
        All votes (the paper), or those that were not drawn.

    Raises
    ------
    CalibrationError
        If an item has too few votes, or the option is unknown.
    """
    check_option("against", against, Against)
    counts = checked_votes(votes)
    drawn = subsample_votes(votes=counts, size=size, rng=rng)
    reference = counts if against == "all" else counts - drawn
    score = distribution_calibration_error(probs=frequencies(drawn), votes=reference)
    return ItemScore(score.per_item, f"DistCE of {size} votes against {against}")


def error_histogram(errors: ArrayLike, *, bins: int = 20) -> FloatArray:
    """Items per equal bin of [0, 1], shape (bins,); bins are [a, b), the last one closed."""
    return np.histogram(np.asarray(errors), bins=bins, range=(0.0, 1.0))[0].astype(np.float64)


@dataclass(frozen=True, slots=True)
class Divergence:
    """How far one error histogram is from a reference histogram.

    Attributes
    ----------
    kl
        Σ p log(p/q) in nats, p the reference; infinite where q is empty, p is not, and nothing
        smooths.
    tvd
        ½ Σ |p − q|, of the histograms as they are.
    smoothed
        Whether pseudo-counts were added for ``kl``.
    """

    kl: float
    tvd: float
    smoothed: bool


def histogram_divergence(
    reference: ArrayLike, other: ArrayLike, *, pseudo_count: float = 0.5
) -> Divergence:
    """KL(reference ‖ other) and total variation between two histograms on the same bins.

    Parameters
    ----------
    reference, other
        Items per bin, each (M,).
    pseudo_count
        Added to every bin of both, only where the other histogram has an empty bin that the
        reference fills; 0 leaves KL infinite there.

    Raises
    ------
    CalibrationError
        If the histograms differ in length or one holds nothing.

    Examples
    --------
    >>> histogram_divergence([2, 2], [3, 1]).tvd
    0.25
    >>> histogram_divergence([1, 1], [2, 0]).smoothed
    True
    """
    first, second = np.asarray(reference, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.shape != second.shape or not (first.sum() > 0 and second.sum() > 0):
        msg = f"histograms of shape {first.shape} and {second.shape}: use equal bins, not empty."
        raise CalibrationError(msg)
    tvd = 0.5 * float(np.abs(first / first.sum() - second / second.sum()).sum())
    smoothed = bool(np.any((second == 0) & (first > 0))) and pseudo_count > 0
    if smoothed:
        first, second = first + pseudo_count, second + pseudo_count
    kl = float(rel_entr(first / first.sum(), second / second.sum()).sum())
    return Divergence(kl, tvd, smoothed)


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
