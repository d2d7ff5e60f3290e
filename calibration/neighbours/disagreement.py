"""Every measure of one prediction against one set of readers, with intervals from one bootstrap.

Items are resampled once per replicate and every statistic is read off the same weights, so the
intervals may be compared. Binned errors use per-bin sums of the same weights.

The control is readers against readers. Baan et al. 2022, §5.2: a "classifier" made of a few of an
item's own votes is as good as it realistically gets. Its DistCE histogram is the yardstick for a
model's. The sample is drawn without replacement and, as in the paper, compared with all votes, of
which it is a part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from calibration.arrays import FloatArray, IntArray, numbers
from calibration.errors import CalibrationError, refuse, whole
from calibration.estimate import Estimate, estimate_from_replicates
from calibration.neighbours.binned import (
    classwise_ece,
    confidence_ece,
    majority_accuracy,
    replicates_of,
)
from calibration.neighbours.categorical import (
    SUM_TOLERANCE,
    checked_pair,
    checked_votes,
    frequencies,
)
from calibration.neighbours.per_item import (
    brier_of_votes,
    distribution_calibration_error,
    entropy_calibration_error,
    noise_floor,
    ranking_calibration_score,
)
from calibration.neighbours.ranking import checked_scalars
from calibration.neighbours.score import BinnedScore, ItemScore, SignedScore
from calibration.plain import named


def subsample_votes(*, votes: ArrayLike, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw ``size`` of every item's votes without replacement, shape (n, C).

    Raises
    ------
    CalibrationError
        If an item has fewer votes than asked for.
    """
    held = checked_votes(votes)
    most = held.sum(axis=1) > _MOST_DRAWN_FROM
    refuse("votes", most, "rows hold more than a billion votes. Give fewer.")
    counts = held.astype(np.int64)
    size = whole("size", size, least=1)
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


HISTOGRAM_BINS: Final = 20
"""Bins of the error histograms compared with the control."""


def error_histogram(errors: ArrayLike) -> FloatArray:
    """Items per equal bin of [0, 1], shape (`HISTOGRAM_BINS`,); bins are [a, b), the last closed.

    Raises
    ------
    CalibrationError
        If an error is missing, or outside [0, 1] by more than probabilities may be off 1.
    """
    (values,) = checked_scalars(errors=errors)
    refuse("errors", np.abs(values - 0.5) > 0.5 + SUM_TOLERANCE, "values are outside [0, 1]")
    count, _ = np.histogram(values.clip(0.0, 1.0), bins=HISTOGRAM_BINS, range=(0.0, 1.0))
    return count.astype(np.float64)


_MOST_DRAWN_FROM = 1e9
"""numpy draws without replacement from no more."""
_PSEUDO_COUNT = 0.5


@dataclass(frozen=True, slots=True)
class Divergence:
    """How far one error histogram is from a reference histogram.

    Attributes
    ----------
    kl
        Σ p log(p/q) in nats, p the reference.
    tvd
        ½ Σ |p − q|, of the histograms as they are.
    smoothed
        Whether pseudo-counts were added for ``kl``.
    """

    kl: float
    tvd: float
    smoothed: bool


def histogram_divergence(reference: ArrayLike, other: ArrayLike) -> Divergence:
    """KL(reference ‖ other) and total variation between two histograms on the same bins.

    Where the other histogram has an empty bin that the reference fills, KL would be infinite: half
    an item is then added to every bin of both.

    Parameters
    ----------
    reference, other
        Items per bin, each (M,).

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
    first, second = numbers("reference", reference), numbers("other", other)
    if first.shape != second.shape or not (first.sum() > 0 and second.sum() > 0):
        raise CalibrationError(
            f"histograms of shape {first.shape} and {second.shape}: use equal bins, not empty."
        )
    refuse("histograms", np.minimum(first, second) < 0, "bins hold a negative count")
    tvd = 0.5 * float(np.abs(first / first.sum() - second / second.sum()).sum())
    smoothed = bool(np.any((second == 0) & (first > 0)))
    if smoothed:
        first, second = first + _PSEUDO_COUNT, second + _PSEUDO_COUNT
    kl = float(rel_entr(first / first.sum(), second / second.sum()).sum())
    return Divergence(kl, tvd, smoothed)


@dataclass(frozen=True, slots=True, eq=False)
class Control:
    """Readers against readers: what the prediction's DistCE is to be compared with.

    Attributes
    ----------
    size
        Votes drawn per item.
    distance
        DistCE of the drawn votes.
    second
        DistCE of a second, independent draw: the yardstick of the yardstick.
    prediction, between
        Divergence from the first draw's error histogram to the prediction's and to the second's.
    """

    size: int = field(metadata=named("votes_drawn"))
    distance: ItemScore
    second: ItemScore = field(metadata=named("second_distance"))
    prediction: Divergence
    between: Divergence = field(metadata=named("between_controls"))


@dataclass(frozen=True, slots=True, eq=False)
class Disagreement:
    """What one prediction says about one set of votes.

    Attributes
    ----------
    n
        Items.
    fewest_votes, most_votes
        Range of votes per item.
    distance, floor, brier, entropy, ranking, accuracy
        Per-item measures; ``floor`` is the noise floor of ``distance``.
    confidence, classwise
        Binned errors against the majority.
    estimates
        Every statistic with its interval, by name.
    control
        Readers against readers; None if not asked for.
    """

    n: int
    fewest_votes: int
    most_votes: int
    distance: ItemScore
    floor: ItemScore
    brier: ItemScore
    entropy: SignedScore
    ranking: ItemScore
    accuracy: ItemScore
    confidence: BinnedScore
    classwise: BinnedScore
    estimates: dict[str, Estimate]
    control: Control | None

    def to_frame(self) -> pd.DataFrame:
        """One row per item: distance, floor, brier, entropy_nats, same_ranking, correct."""
        return pd.DataFrame(
            {
                "distance": self.distance.per_item,
                "floor": self.floor.per_item,
                "brier": self.brier.per_item,
                "entropy_nats": self.entropy.signed,
                "same_ranking": self.ranking.per_item,
                "correct": self.accuracy.per_item,
            }
        )


def disagreement(
    *,
    probs: ArrayLike,
    votes: ArrayLike,
    rng: np.random.Generator,
    bins: int = 10,
    bootstrap: int = 1000,
    control_votes: int = 0,
) -> Disagreement:
    """Measure a prediction against votes in every way this package knows.

    Parameters
    ----------
    probs
        Predicted class probabilities, shape (n, C).
    votes
        Votes per class, shape (n, C).
    rng
        Source of chance, for the intervals and the control.
    bins
        Bins of the binned errors.
    bootstrap
        Replicates; 0 gives values without intervals.
    control_votes
        Votes per item of the control; 0 leaves it out.

    Raises
    ------
    CalibrationError
        If a row is not a distribution, holds no vote, the shapes differ, or an item has fewer
        votes than the control draws.
    """
    p, v = checked_pair(probs, votes)
    bootstrap = whole("bootstrap", bootstrap, least=0)
    control_votes = whole("control_votes", control_votes, least=0)
    return _measured(p, v, bins, bootstrap, control_votes, rng)


def _measured(
    p: FloatArray,
    v: FloatArray,
    bins: int,
    bootstrap: int,
    control_votes: int,
    rng: np.random.Generator,
) -> Disagreement:
    entropy = entropy_calibration_error(probs=p, votes=v)
    averaged = _averaged(p, v, entropy)
    binned = {
        "confidence_ece": confidence_ece(probs=p, votes=v, bins=bins),
        "classwise_ece": classwise_ece(probs=p, votes=v, bins=bins),
    }
    several = bootstrap if len(v) > 1 else 0
    # Chance meets the items in an order of their own, so that the rows' order changes nothing.
    order = np.lexsort(np.hstack([p, v]).T)
    ordered = {name: ItemScore(s.per_item[order], s.method) for name, s in averaged.items()}
    replicates = replicates_of(p[order], v[order], ordered, bins=bins, bootstrap=several, rng=rng)
    size, distance = v.sum(axis=1), averaged["distance"]
    return Disagreement(
        n=len(v),
        fewest_votes=int(size.min()),
        most_votes=int(size.max()),
        distance=distance,
        floor=noise_floor(probs=p, votes=v),
        brier=averaged["brier"],
        entropy=entropy,
        ranking=averaged["ranking"],
        accuracy=averaged["accuracy"],
        confidence=binned["confidence_ece"],
        classwise=binned["classwise_ece"],
        estimates=_estimates({**averaged, **binned}, replicates, len(v)),
        control=_control(distance, v, order, control_votes, rng) if control_votes else None,
    )


def _averaged(p: FloatArray, v: FloatArray, entropy: SignedScore) -> dict[str, ItemScore]:
    """Give every measure that is a mean over items, by name."""
    return {
        "distance": distribution_calibration_error(probs=p, votes=v),
        "distance_above_floor": distribution_calibration_error(probs=p, votes=v, less_floor=True),
        "brier": brier_of_votes(probs=p, votes=v),
        "entropy": entropy,
        "entropy_signed": ItemScore(entropy.signed, "EntCE (nats)"),
        "ranking": ranking_calibration_score(probs=p, votes=v),
        "ranking_aware": ranking_calibration_score(probs=p, votes=v, ties="aware"),
        "accuracy": majority_accuracy(probs=p, votes=v),
    }


def _estimates(
    scores: dict[str, ItemScore | BinnedScore], replicates: dict[str, FloatArray], n: int
) -> dict[str, Estimate]:
    bounds = {"entropy_signed": (-np.inf, np.inf), "distance_above_floor": (-1.0, 1.0)}
    bounds |= {"entropy": (0.0, np.inf), "brier": (0.0, 2.0)}
    return {
        name: estimate_from_replicates(
            float(value),
            replicates[name],
            n=n,
            rule="basic" if isinstance(value, BinnedScore) else "percentile",
            bounds=bounds.get(name, (0.0, 1.0)),
            resampled="items",
        )
        for name, value in scores.items()
    }


def _control(
    distance: ItemScore, votes: FloatArray, order: IntArray, size: int, rng: np.random.Generator
) -> Control:
    drawn = [reader_control(votes=votes[order], size=size, rng=rng) for _ in range(2)]
    back = np.argsort(order)
    first, second = (ItemScore(each.per_item[back], each.method) for each in drawn)
    histograms = [error_histogram(score.per_item) for score in (first, second, distance)]
    return Control(
        size=size,
        distance=first,
        second=second,
        prediction=histogram_divergence(histograms[0], histograms[2]),
        between=histogram_divergence(histograms[0], histograms[1]),
    )
