"""The slow twin: the paper's formulas per observation, without tallies, for the ratios.

It is written plainly, as one would from the paper (Eq. 6, 7, 4 and 12), with one vectorised step
per bin where the paper's own code has one, and it is never imported by the package.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.bins import BinTables
from calibration.tally import Tally

__all__ = ["twin_cost_matrix", "twin_ece", "twin_tally"]


def twin_tally(phrase: np.ndarray, label: np.ndarray, n_phrases: int) -> Tally:
    """Count observation by observation."""
    n, mass = np.zeros(n_phrases), np.zeros(n_phrases)
    for k, y in zip(phrase.tolist(), label.tolist(), strict=True):
        n[k] += 1.0
        mass[k] += y
    return Tally.from_moments(n, mass)


def twin_ece(phrase: np.ndarray, label: np.ndarray, tables: BinTables) -> float:
    """ECE with an (N, M) matrix of every observation's share in every bin."""
    share = tables.mass[phrase]
    stated = tables.moment[phrase].sum(axis=0)
    weight = share.sum(axis=0)
    hits = (share * label[:, None]).sum(axis=0)
    seen = weight > 0
    r, g = hits[seen] / weight[seen], stated[seen] / weight[seen]
    return float(np.sum(weight[seen] / len(phrase) * np.abs(r - g)))


def twin_cost_matrix(
    phrase: np.ndarray, label: np.ndarray, tables: BinTables, used: Sequence[int]
) -> np.ndarray:
    """Eq. 12 by recounting all observations for every pair of phrases."""
    base = twin_ece(phrase, label, tables)
    targets = len(tables.mass)
    cost = np.full((targets, targets), np.nan)
    for k in used:
        mine = phrase == k
        for other in range(targets):
            swapped = np.where(mine, other, phrase)
            cost[k, other] = (twin_ece(swapped, label, tables) - base) / mine.mean()
    return cost
