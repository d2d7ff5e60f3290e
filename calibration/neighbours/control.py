"""Histograms over items: readers against readers.

Baan et al. 2022, §5.2: a "classifier" made of a few of an item's own votes is as good as it
realistically gets. Its DistCE histogram is the yardstick for a model's.

The sample is drawn without replacement and, as in the paper, compared with all votes, of which it
is a part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from calibration.arrays import FloatArray, IntArray
from calibration.errors import CalibrationError, refuse
from calibration.neighbours.categorical import checked_votes, frequencies
from calibration.neighbours.per_item import distribution_calibration_error
from calibration.neighbours.score import ItemScore


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


def reader_control(*, votes: ArrayLike, size: int, rng: np.random.Generator) -> ItemScore:
    """DistCE of a classifier made of ``size`` of every item's votes.

    Parameters
    ----------
    votes
        Votes per class, shape (n, C).
    size
        Votes drawn per item.
    rng
        Source of chance.

    Raises
    ------
    CalibrationError
        If an item has too few votes.
    """
    drawn = subsample_votes(votes=votes, size=size, rng=rng)
    score = distribution_calibration_error(probs=frequencies(drawn), votes=votes)
    return ItemScore(score.per_item, f"DistCE of {size} votes against all")


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
