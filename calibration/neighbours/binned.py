"""Accuracy and binned calibration errors against the majority vote, for comparison.

* Confidence ECE (Guo et al. 2017; Baan et al. 2022, Eq. 3): items are binned by their highest
  probability; mean confidence against the share whose predicted class is the majority's.
* Class-wise ECE (Nixon et al. 2019; Baan et al. 2022, Eq. 8): the same for every class's
  probability, averaged over classes.

Bins are (a, b] of equal width; a probability of exactly 0 belongs to the first bin. The released
code drops such items from the class-wise error and divides by the rest: ``zeros="dropped"``.
Both errors blame a prediction that equals the votes wherever readers disagree. Of tied classes, on
either side, the lowest index is meant.

Bootstrap of items: every statistic of a replicate is read off one set of weights.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibration.arrays import BoolArray, FloatArray, IntArray, divided
from calibration.bins import bin_edges, places
from calibration.errors import check_option
from calibration.neighbours.categorical import checked_pair, majority_credit
from calibration.neighbours.score import BinnedScore, ItemScore

Zeros = Literal["first bin", "dropped"]


def majority_accuracy(*, probs: ArrayLike, votes: ArrayLike) -> ItemScore:
    """Share of items whose most probable class is the majority's.

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
    """
    predictions, earned = _prepared(probs, votes)
    hit = earned[np.arange(len(earned)), predictions.argmax(axis=1)]
    return ItemScore(hit, "accuracy against the majority")


def confidence_ece(*, probs: ArrayLike, votes: ArrayLike, bins: int = 10) -> BinnedScore:
    """Confidence ECE of the most probable class, in [0, 1].

    Parameters
    ----------
    probs
        Predicted class probabilities, shape (n, C).
    votes
        Votes per class, shape (n, C).
    bins
        Number M of equal bins.

    Raises
    ------
    CalibrationError
        If a row is not a distribution, holds no vote, or the shapes differ.

    Examples
    --------
    A prediction equal to the votes is "miscalibrated" by its readers' disagreement.

    >>> votes = [[6, 4], [10, 0]]
    >>> round(confidence_ece(probs=[[0.6, 0.4], [1, 0]], votes=votes), 3)
    0.2
    """
    predictions, earned = _prepared(probs, votes)
    rows, top = np.arange(len(earned)), predictions.argmax(axis=1)
    keep = np.ones((len(rows), 1), dtype=np.bool_)
    return _binned(
        predictions[rows, top][:, None], earned[rows, top][:, None], keep, bins,
        f"confidence ECE ({bins} bins)",
    )  # fmt: skip


def classwise_ece(
    *, probs: ArrayLike, votes: ArrayLike, bins: int = 10, zeros: Zeros = "first bin"
) -> BinnedScore:
    """Class-wise ECE, the mean over classes, in [0, 1].

    Parameters
    ----------
    probs, votes, bins
        As for :func:`confidence_ece`.
    zeros
        Whether items that give a class probability 0 lie in its first bin or are dropped.

    Raises
    ------
    CalibrationError
        If a row is not a distribution, holds no vote, the shapes differ, or an option is unknown.
    """
    check_option("zeros", zeros, Zeros)
    predictions, earned = _prepared(probs, votes)
    keep = np.full(predictions.shape, fill_value=True)
    if zeros == "dropped":
        keep = predictions > 0
    method = f"class-wise ECE ({bins} bins, probability 0: {zeros})"
    return _binned(predictions, earned, keep, bins, method)


def _prepared(probs: ArrayLike, votes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Predictions, and what each class earns."""
    predictions, counts = checked_pair(probs, votes)
    return predictions, majority_credit(counts)


def _binned(
    confidence: FloatArray, earned: FloatArray, keep: BoolArray, bins: int, method: str
) -> BinnedScore:
    """Bin every column (n, R) by itself."""
    columns = []
    for f, y, kept in zip(confidence.T, earned.T, keep.T, strict=True):
        uses = kept.astype(np.float64)
        columns.append(scalar_bins(uses, uses * y, stated=f, bins=bins))
    count, stated, hits = (np.array(each) for each in zip(*columns, strict=True))
    return BinnedScore(bin_edges(bins), count, stated, hits, method)


def replicates_of(
    probs: FloatArray,
    votes: FloatArray,
    averaged: dict[str, ItemScore],
    *,
    bins: int,
    bootstrap: int,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Give every statistic in every bootstrap sample of the items, each (B,).

    Parameters
    ----------
    probs, votes
        Checked predictions and counts, shape (n, C).
    averaged
        Name → measure that is a mean over items.
    bins, bootstrap
        Bins of the binned errors, and B.
    rng
        Source of chance.
    """
    n = len(probs)
    table = np.stack([score.per_item for score in averaged.values()])
    earned, edges = majority_credit(votes), bin_edges(bins)
    rows, top = np.arange(n), probs.argmax(axis=1)
    columns = [(probs[rows, top], earned[rows, top])]
    columns += [(probs[:, k], earned[:, k]) for k in range(probs.shape[1])]
    cells = [(places(f, edges), y - f) for f, y in columns]
    means = np.empty((bootstrap, len(table)))
    gaps = np.empty((bootstrap, len(cells)))
    for b in range(bootstrap):
        weight = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        means[b] = table @ weight / n
        gaps[b] = [_gap(place, residual * weight, bins) / n for place, residual in cells]
    found = dict(zip(averaged, means.T, strict=True))
    return {**found, "confidence_ece": gaps[:, 0], "classwise_ece": gaps[:, 1:].mean(axis=1)}


def _gap(place: IntArray, residual: FloatArray, bins: int) -> float:
    return float(np.abs(np.bincount(place, weights=residual, minlength=bins)).sum())


def scalar_error(n: FloatArray, mass: FloatArray, *, stated: FloatArray, bins: int = 10) -> float:
    """ECE of stated numbers (L,) with uses (L,) and right answers (L,), bins (a, b]."""
    count, confidence, accuracy = scalar_bins(n, mass, stated=stated, bins=bins)
    gap = np.where(count > 0, count * np.abs(accuracy - confidence), 0.0).sum()
    return float(gap / count.sum())


def scalar_bins(
    n: FloatArray, mass: FloatArray, *, stated: FloatArray, bins: int = 10
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count uses per bin, with mean stated number and share right (NaN if empty), each (bins,)."""
    place = places(stated, bin_edges(bins))
    sums = [np.bincount(place, weights=w, minlength=bins) for w in (n, n * stated, mass)]
    count = sums[0].astype(np.float64)
    confidence, accuracy = (divided(s, count) for s in sums[1:])
    return count, confidence, accuracy
