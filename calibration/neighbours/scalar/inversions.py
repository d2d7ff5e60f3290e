"""Counting pairs in O(N log N), vectorised: out of order, and equal."""

from __future__ import annotations

from typing import Final

import numpy as np

from calibration.arrays import IntArray

__all__ = ["equal_pairs", "inversions"]

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
