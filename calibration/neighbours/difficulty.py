"""All indicators that the arrays at hand allow, their correlations, and the success split.

Names follow Mickus et al. (2025): ``H_dis``, ``H_ent`` · ``M_dis``, ``M_ent``, ``M_avg_ent``,
``M_CP_<α>`` · ``M_fail``, ``M_first_layer``, ``M_first_ckpt``, ``M_avg_ckpt``, ``M_avg_ckpt_p``.
What cannot be computed is absent from the result, never 0.

What difficulty is used for: which items a person should read, and strata for fair comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray, IntArray, numbers
from calibration.errors import CalibrationError, whole
from calibration.estimate import Estimate
from calibration.neighbours.categorical import checked_pool, checked_votes
from calibration.neighbours.correlation import SuccessSplit, correlations, split_by_success
from calibration.neighbours.indicators import (
    average_failure,
    failure_rate,
    first_right,
    human_dissensus,
    human_entropy,
    majority_reference,
    mean_entropy,
    mean_set_size,
    missing_probability,
    pool_dissensus,
    pool_entropy,
)


@dataclass(frozen=True, slots=True, eq=False)
class Difficulty:
    """Every indicator of every item, and how the indicators relate.

    Attributes
    ----------
    n, models
        Items and models of the pool.
    human, free, dependent
        Name → values (n,): from votes, without the reference, with it.
    correlations
        ρ of every pair.
    split
        Correlations by success of the pool; None without a reference.
    """

    n: int
    models: int
    human: dict[str, FloatArray]
    free: dict[str, FloatArray]
    dependent: dict[str, FloatArray]
    correlations: dict[tuple[str, str], Estimate]
    split: SuccessSplit | None

    def to_frame(self) -> pd.DataFrame:
        """One row per item, one column per indicator."""
        return pd.DataFrame({**self.human, **self.free, **self.dependent})


def difficulty(
    *,
    probs: ArrayLike,
    votes: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    layers: Sequence[ArrayLike] = (),
    checkpoints: Sequence[ArrayLike] = (),
    alphas: Sequence[float] = (0.05, 0.1, 0.2),
) -> Difficulty:
    """Compute every indicator the given arrays allow.

    Parameters
    ----------
    probs
        Final class probabilities of the pool, shape (m, n, C).
    votes
        Votes of people, shape (n, C); their majority is the reference unless one is given.
    reference
        Reference class of every item, shape (n,).
    layers
        Per model the classes its layers predict, each (T, n).
    checkpoints
        Per model the class probabilities of its training checkpoints, each (T, n, C).
    alphas
        Tolerances of the conformal sets.

    Raises
    ------
    CalibrationError
        If an array is unusable, shapes differ, or layers or checkpoints come without a reference.
    """
    pool = checked_pool(probs)
    human: dict[str, FloatArray] = {}
    if votes is not None:
        counts = _votes_on(pool, votes)
        human = {"H_dis": human_dissensus(votes=counts), "H_ent": human_entropy(votes=counts)}
        reference = majority_reference(votes=counts) if reference is None else reference
    dependent = _dependent(pool, reference, layers, checkpoints)
    free = _free(pool, reference, numbers("alphas", alphas).ravel().tolist())
    return Difficulty(
        n=pool.shape[1],
        models=len(pool),
        human=human,
        free=free,
        dependent=dependent,
        correlations=correlations({**human, **free, **dependent}),
        split=_split(free, dependent, human),
    )


def _votes_on(pool: FloatArray, votes: ArrayLike) -> FloatArray:
    counts = checked_votes(votes)
    if counts.shape != pool.shape[1:]:
        raise CalibrationError(
            f"votes has shape {counts.shape} but the pool predicts {pool.shape[1:]}."
        )
    return counts


def _free(
    pool: FloatArray, reference: ArrayLike | None, alphas: Sequence[float]
) -> dict[str, FloatArray]:
    """Give what the pool alone says; conformal sets need a reference for their threshold."""
    found = {
        "M_dis": pool_dissensus(probs=pool),
        "M_ent": pool_entropy(probs=pool),
        "M_avg_ent": mean_entropy(probs=pool),
    }
    if reference is not None:
        for alpha in alphas:
            found[f"M_CP_{alpha:g}"] = mean_set_size(probs=pool, reference=reference, alpha=alpha)
    return found


def _dependent(
    pool: FloatArray,
    reference: ArrayLike | None,
    layers: Sequence[ArrayLike],
    checkpoints: Sequence[ArrayLike],
) -> dict[str, FloatArray]:
    if reference is None:
        if len(layers) or len(checkpoints):
            raise CalibrationError(
                "layers and checkpoints need a reference class per item, or votes to take it from."
            )
        return {}
    found = {"M_fail": failure_rate(probs=pool, reference=reference)}
    if len(layers):
        found["M_first_layer"] = first_right(predictions=layers, reference=reference)
    if len(checkpoints):
        found["M_avg_ckpt_p"] = missing_probability(probs=checkpoints, reference=reference)
        chosen = [np.asarray(model).argmax(axis=2) for model in checkpoints]
        found["M_first_ckpt"] = first_right(predictions=chosen, reference=reference)
        found["M_avg_ckpt"] = average_failure(predictions=chosen, reference=reference)
    return found


def _split(
    free: dict[str, FloatArray], dependent: dict[str, FloatArray], human: dict[str, FloatArray]
) -> SuccessSplit | None:
    if not dependent:
        return None
    failure = dependent["M_fail"]
    return split_by_success(
        free=free, dependent=dependent, failure=failure, human=human.get("H_ent")
    )


def review_order(*indicators: ArrayLike) -> IntArray:
    """Items from hardest to easiest, shape (n,): by the first indicator, ties by the next.

    Ties in all keep the items' own order, so that a queue is the same every time it is made.

    Examples
    --------
    >>> review_order([0.0, 0.5, 0.5], [0.1, 0.2, 0.9]).tolist()
    [2, 1, 0]
    """
    keys = [-np.asarray(values, dtype=np.float64) for values in indicators]
    if not keys or len({key.shape for key in keys}) > 1 or keys[0].ndim != 1:
        raise CalibrationError(
            "review_order: give at least one indicator, all with one value per item."
        )
    return np.lexsort(keys[::-1]).astype(np.int64)


def strata(values: ArrayLike, *, count: int = 3) -> tuple[IntArray, FloatArray]:
    """Stratum of every item from 0 (easiest), shape (n,), and the cuts between strata.

    Cuts are quantiles; an item on a cut belongs below it, so items of equal difficulty are never
    parted and strata can be uneven or, where most items tie, fewer than asked for.

    Parameters
    ----------
    values
        One indicator, shape (n,).
    count
        Strata wanted.

    Raises
    ------
    CalibrationError
        If a value is missing or fewer than one stratum is wanted.

    Examples
    --------
    >>> strata([0.1, 0.2, 0.2, 0.9], count=2)
    (array([0, 0, 0, 1]), array([0.2]))
    """
    level, count = numbers("values", values), whole("count", count, least=1)
    if level.ndim != 1 or not level.size or not np.isfinite(level).all():
        raise CalibrationError(
            f"strata: {level.size} values into {count}; give finite values and one stratum or more."
        )
    wanted = np.quantile(level, np.arange(1, count) / count, method="inverted_cdf")
    cuts = np.unique(wanted[wanted < level.max()])
    return np.searchsorted(cuts, level, side="left").astype(np.int64), cuts
