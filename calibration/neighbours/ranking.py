"""Ranking risk: how often a score and a judged scalar order two items differently.

Jiang et al. 2024, §4: RR = P{(z − z')·r < 0} for the order r that the score gives.

* Pairs judged equal (z = z') can never be wrong.
* Pairs with equal scores and unequal judgements count ½ ; how many there are is in the result.
* The denominator is all N(N − 1)/2 pairs, or only those judged unequal; both are in the result.

Pairs out of order are counted by scipy's Kendall tau_b, in O(N log N): of its numerator, a whole
number that ten million items do not round, what is not in order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau

from calibration.arrays import FloatArray, IntArray, numbers
from calibration.errors import CalibrationError, refuse


@dataclass(frozen=True, slots=True)
class RankingRisk:
    """Pairs of items and how many the score orders wrongly.

    Attributes
    ----------
    wrong
        Pairs ordered the other way round.
    tied
        Pairs judged unequal whose scores are equal.
    untied
        Pairs judged unequal.
    pairs
        All pairs, N(N − 1)/2.
    """

    wrong: int
    tied: int
    untied: int
    pairs: int

    @property
    def lost(self) -> float:
        """Wrong pairs, and half of those whose scores tie."""
        return self.wrong + 0.5 * self.tied

    @property
    def over_all_pairs(self) -> float:
        """Risk over all pairs, as the paper's definition has it; NaN for fewer than two items."""
        return self.lost / self.pairs if self.pairs else float("nan")

    @property
    def over_untied(self) -> float:
        """Risk over pairs judged unequal; NaN if there is none."""
        return self.lost / self.untied if self.untied else float("nan")


def ranking_risk(*, score: ArrayLike, judged: ArrayLike) -> RankingRisk:
    """Count wrongly ordered pairs in O(N log N).

    Parameters
    ----------
    score
        What the prediction says, shape (N,).
    judged
        What the annotator says, shape (N,).

    Raises
    ------
    CalibrationError
        If lengths differ or a value is missing.

    Examples
    --------
    >>> ranking_risk(score=[0.66, 0.12, 0.32], judged=[0.2, 0.9, 0.9]).over_untied
    1.0
    """
    s, z = checked_scalars(score=score, judged=judged)
    pairs = len(s) * (len(s) - 1) // 2
    own, theirs = _dense(s), _dense(z)
    tied, level, both = (_equal_pairs(x) for x in (own, theirs, _dense(own * len(s) + theirs)))
    untied = pairs - level
    surplus = 0  # of pairs in order over those that are not: the numerator of tau_b
    if untied and tied < pairs:
        scale = math.sqrt(pairs - tied) * math.sqrt(untied)
        surplus = round(float(kendalltau(s, z).statistic) * scale)
    return RankingRisk(
        wrong=(untied - tied + both - surplus) // 2, tied=tied - both, untied=untied, pairs=pairs
    )


def checked_scalars(**arrays: ArrayLike) -> tuple[FloatArray, ...]:
    """Return flat finite arrays of one length, or say which row of which is not usable.

    Raises
    ------
    CalibrationError
        If an array is not flat, lengths differ, or a value is missing.
    """
    checked: dict[str, FloatArray] = {}
    for name, array in arrays.items():
        values = numbers(name, array)
        if values.ndim != 1:
            raise CalibrationError(f"{name}: shape {values.shape}, expected one value per item.")
        refuse(name, ~np.isfinite(values), "values are missing or infinite")
        checked[name] = values
    lengths = {name: len(values) for name, values in checked.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise CalibrationError(
            f"values per item: {found}; give the same items, at least one, in the same order."
        )
    return tuple(checked.values())


def _dense(values: np.ndarray) -> IntArray:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _equal_pairs(keys: IntArray) -> int:
    """Count pairs of equal keys; keys are small whole numbers from 0, shape (N,)."""
    sizes = np.bincount(keys)
    return int((sizes * (sizes - 1) // 2).sum())
