"""Bootstrap of items: every statistic of a replicate is read off one set of weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibration.arrays import FloatArray, IntArray
from calibration.neighbours.categorical import credit, predicted
from calibration.neighbours.disagreement.score import ItemScore

__all__ = ["replicates_of"]


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
    earned, edges = credit(votes), np.linspace(0.0, 1.0, bins + 1)
    rows, top = np.arange(n), predicted(probs)
    columns = [(probs[rows, top], earned[rows, top])]
    columns += [(probs[:, k], earned[:, k]) for k in range(probs.shape[1])]
    cells = [(_place(f, edges), y - f) for f, y in columns]
    means = np.empty((bootstrap, len(table)))
    gaps = np.empty((bootstrap, len(cells)))
    for b, weight in enumerate(_weights(n, bootstrap, rng)):
        means[b] = table @ weight / n
        gaps[b] = [_gap(place, residual * weight, bins) / n for place, residual in cells]
    found = dict(zip(averaged, means.T, strict=True))
    return {**found, "confidence_ece": gaps[:, 0], "classwise_ece": gaps[:, 1:].mean(axis=1)}


def _weights(n: int, bootstrap: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    for _ in range(bootstrap):
        yield np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)


def _place(confidence: FloatArray, edges: FloatArray) -> IntArray:
    place = np.searchsorted(edges, confidence, side="left") - 1
    return np.clip(place, 0, len(edges) - 2).astype(np.int64)


def _gap(place: IntArray, residual: FloatArray, bins: int) -> float:
    return float(np.abs(np.bincount(place, weights=residual, minlength=bins)).sum())
