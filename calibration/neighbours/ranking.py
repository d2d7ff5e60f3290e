"""Ranking risk: how often a score and a judged scalar order two items differently.

Jiang et al. 2024, §4: RR = P{(z − z')·r < 0} for the order r that the score gives.

* Pairs judged equal (z = z') can never be wrong.
* Pairs with equal scores and unequal judgements count ½ (``ties="half"``), 1 or 0.
* The denominator is all N(N − 1)/2 pairs, or only those judged unequal; both are in the result.

Counting pairs in O(N log N), vectorised: out of order, and equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray, IntArray
from calibration.errors import CalibrationError, check_option

ScoreTies = Literal["half", "wrong", "right"]
_TIE_COST = {"half": 0.5, "wrong": 1.0, "right": 0.0}


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
    n
        Items.
    ties
        What a tied score costs: half, wrong or right.
    """

    wrong: int
    tied: int
    untied: int
    pairs: int
    n: int
    ties: ScoreTies

    @property
    def lost(self) -> float:
        """Wrong pairs with ties at their cost."""
        return self.wrong + _TIE_COST[self.ties] * self.tied

    @property
    def over_all_pairs(self) -> float:
        """Risk over all pairs, as the paper's definition has it; NaN for fewer than two items."""
        return self.lost / self.pairs if self.pairs else float("nan")

    @property
    def over_untied(self) -> float:
        """Risk over pairs judged unequal; NaN if there is none."""
        return self.lost / self.untied if self.untied else float("nan")

    def __float__(self) -> float:
        """Risk over all pairs."""
        return self.over_all_pairs


def ranking_risk(*, score: ArrayLike, judged: ArrayLike, ties: ScoreTies = "half") -> RankingRisk:
    """Count wrongly ordered pairs in O(N log N).

    Parameters
    ----------
    score
        What the prediction says, shape (N,).
    judged
        What the annotator says, shape (N,).
    ties
        Cost of a pair with equal scores and unequal judgements.

    Raises
    ------
    CalibrationError
        If lengths differ, a value is missing, or the rule is unknown.

    Examples
    --------
    >>> ranking_risk(score=[0.66, 0.12, 0.32], judged=[0.2, 0.9, 0.9]).over_untied
    1.0
    """
    check_option("ties", ties, ScoreTies)
    s, z = checked_scalars(score=score, judged=judged)
    score_rank, judged_rank = _dense(s), _dense(z)
    order = np.lexsort((score_rank, judged_rank))
    ordered = score_rank[order]
    fresh = (np.diff(ordered, prepend=-1) != 0) | (np.diff(judged_rank[order], prepend=-1) != 0)
    n = len(s)
    pairs = n * (n - 1) // 2
    return RankingRisk(
        wrong=inversions(ordered),
        tied=equal_pairs(score_rank) - equal_pairs(np.cumsum(fresh) - 1),
        untied=pairs - equal_pairs(judged_rank),
        pairs=pairs,
        n=n,
        ties=ties,
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
        values = np.asarray(array, dtype=np.float64)
        if values.ndim != 1:
            msg = f"{name}: shape {values.shape}, expected one value per item."
            raise CalibrationError(msg)
        missing = np.flatnonzero(~np.isfinite(values))
        if missing.size:
            msg = (
                f"{name}: {len(missing)} of {len(values)} values are missing or infinite; "
                f"first at row {missing[0]}. Drop or correct them before calling."
            )
            raise CalibrationError(msg)
        checked[name] = values
    lengths = {name: len(values) for name, values in checked.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        msg = f"values per item: {found}; give the same items, at least one, in the same order."
        raise CalibrationError(msg)
    return tuple(checked.values())


def _dense(values: FloatArray) -> IntArray:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


_BLOCK: Final = 32
_BEYOND: Final = 1 << 40
"""Above any rank, so that blocks stay apart when laid end to end."""


def inversions(ranks: IntArray) -> int:
    """Count pairs i < j with ranks[i] > ranks[j]; equal ranks are in order.

    Blocks are sorted from small to large. When two sorted neighbours merge, the pairs between
    them are counted by one search of the right block's values in the left block; all blocks of a
    size are searched at once because each is lifted above the one before it.

    Parameters
    ----------
    ranks
        Integers from 0 below 2³⁹, shape (N,).

    Examples
    --------
    >>> inversions(np.array([2, 0, 1, 1]))
    3
    """
    size = max(_BLOCK, 1 << max(len(ranks) - 1, 0).bit_length())
    padded = np.full(size, _BEYOND - 1, dtype=np.int64)
    padded[: len(ranks)] = ranks
    blocks = padded.reshape(-1, _BLOCK)
    count = sum(
        int(np.count_nonzero(blocks[:, :-lag] > blocks[:, lag:])) for lag in range(1, _BLOCK)
    )
    blocks = np.sort(blocks, axis=1)
    while len(blocks) > 1:
        count += _between_neighbours(blocks)
        blocks = np.sort(blocks.reshape(len(blocks) // 2, -1), axis=1)
    return count


def _between_neighbours(blocks: IntArray) -> int:
    """Pairs (left > right) between blocks 0 and 1, 2 and 3, ..., each sorted."""
    width = blocks.shape[1]
    lift = np.arange(len(blocks) // 2, dtype=np.int64)[:, None]
    left, right = blocks[0::2] + lift * _BEYOND, blocks[1::2] + lift * _BEYOND
    not_above = np.searchsorted(left.ravel(), right.ravel(), side="right").reshape(right.shape)
    return int((width * (lift + 1) - not_above).sum())


def equal_pairs(keys: IntArray) -> int:
    """Count pairs of equal keys; keys are small whole numbers from 0, shape (N,)."""
    sizes = np.bincount(keys)
    return int((sizes * (sizes - 1) // 2).sum())
