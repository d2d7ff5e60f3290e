"""Slow twins of the neighbouring measures: the papers' sums, item by item and pair by pair.

Written plainly from the definitions, shared by the benchmark's ratios and the property tests, and
never imported by the package.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

__all__ = [
    "twin_classwise_ece",
    "twin_confidence_ece",
    "twin_distance",
    "twin_entropy",
    "twin_floor",
    "twin_least",
    "twin_pair_risk",
    "twin_rank_agreement",
    "twin_ranking_risk",
    "twin_set_sizes",
]

Table = Sequence[Sequence[float]] | np.ndarray


def twin_distance(probs: Table, votes: Table) -> list[float]:
    """Half the sum of absolute differences per item."""
    found = []
    for f, v in zip(probs, votes, strict=True):
        total = sum(v)
        found.append(0.5 * sum(abs(a - b / total) for a, b in zip(f, v, strict=True)))
    return found


def twin_entropy(probs: Table, votes: Table) -> list[float]:
    """H(f) − H(votes) per item, in nats."""

    def entropy(shares: Sequence[float]) -> float:
        return -sum(s * math.log(s) for s in shares if s > 0)

    found = []
    for f, v in zip(probs, votes, strict=True):
        total = sum(v)
        found.append(entropy(list(f)) - entropy([b / total for b in v]))
    return found


def twin_rank_agreement(probs: Table, votes: Table, *, aware: bool) -> list[bool]:
    """Whether the classes stand in one order, by index or by comparing every pair of classes."""
    found = []
    for f, v in zip(probs, votes, strict=True):
        classes = range(len(f))
        if not aware:
            ours = sorted(classes, key=lambda c, f=f: (f[c], c))
            theirs = sorted(classes, key=lambda c, v=v: (v[c], c))
            found.append(ours == theirs)
        else:
            pairs = itertools.permutations(classes, 2)
            found.append(all(f[c] > f[d] for c, d in pairs if v[c] > v[d]))
    return found


def _binned(confidence: list[float], credit: list[float], bins: int) -> float:
    """Per bin (a, b], 0 in the first: weight · |mean credit − mean confidence|."""
    total = 0.0
    edges = np.linspace(0.0, 1.0, bins + 1)
    for m in range(bins):
        low, high = edges[m], edges[m + 1]
        inside = [i for i, c in enumerate(confidence) if (low < c <= high) or (m == 0 and c == 0.0)]
        if inside:
            mean_credit = sum(credit[i] for i in inside) / len(inside)
            stated = sum(confidence[i] for i in inside) / len(inside)
            total += len(inside) / len(confidence) * abs(mean_credit - stated)
    return total


def _first_largest(row: Sequence[float]) -> int:
    return max(range(len(row)), key=lambda c: (row[c], -c))


def twin_confidence_ece(probs: Table, votes: Table, bins: int = 10) -> float:
    """Confidence ECE against the majority."""
    top = [_first_largest(f) for f in probs]
    hit = [float(t == _first_largest(v)) for t, v in zip(top, votes, strict=True)]
    return _binned([f[t] for f, t in zip(probs, top, strict=True)], hit, bins)


def twin_classwise_ece(probs: Table, votes: Table, bins: int = 10) -> float:
    """Class-wise ECE against the majority, 0 in the first bin."""
    classes = range(len(probs[0]))
    majority = [_first_largest(v) for v in votes]
    errors = [
        _binned([float(f[k]) for f in probs], [float(m == k) for m in majority], bins)
        for k in classes
    ]
    return sum(errors) / len(errors)


def twin_floor(f: Sequence[float], size: int) -> float:
    """Mean distance over every possible outcome of ``size`` votes drawn from f."""
    total = 0.0
    for drawn in itertools.product(range(len(f)), repeat=size):
        chance = math.prod(f[c] for c in drawn)
        shares = [drawn.count(c) / size for c in range(len(f))]
        total += chance * 0.5 * sum(abs(a - b) for a, b in zip(f, shares, strict=True))
    return total


def twin_ranking_risk(score: Sequence[float], judged: Sequence[float]) -> tuple[int, int, int, int]:
    """Wrong, tied, untied and all pairs, by looking at each."""
    wrong = tied = untied = pairs = 0
    for (s, z), (t, y) in itertools.combinations(zip(score, judged, strict=True), 2):
        pairs += 1
        if z == y:
            continue
        untied += 1
        wrong += (z - y) * (s - t) < 0
        tied += s == t
    return wrong, tied, untied, pairs


def _on_top(upper: Sequence[float], lower: Sequence[float]) -> float:
    """Risk of ranking the first item above the second."""
    pairs = itertools.combinations(range(len(upper)), 2)
    return sum(upper[i] * lower[j] for i, j in pairs)


def twin_pair_risk(score: Sequence[float], truth: Table) -> float:
    """Mean pair risk of a score; equal scores cost half of either order."""
    losses = []
    for (s, a), (t, b) in itertools.combinations(zip(score, truth, strict=True), 2):
        above, below = _on_top(a, b), _on_top(b, a)
        losses.append(above if s > t else below if s < t else (above + below) / 2)
    return sum(losses) / len(losses)


def twin_least(truth: Table) -> float:
    """Mean over pairs of Σ_{i<j} min(η_i η'_j, η_j η'_i)."""
    losses = []
    for a, b in itertools.combinations(truth, 2):
        classes = itertools.combinations(range(len(a)), 2)
        losses.append(sum(min(a[i] * b[j], a[j] * b[i]) for i, j in classes))
    return sum(losses) / len(losses)


def twin_set_sizes(probs: Table, reference: Sequence[int], alpha: float) -> list[int]:
    """Leave-one-out conformal set sizes, the threshold found anew for every item."""
    found = []
    for i, f in enumerate(probs):
        others = [p[y] for j, (p, y) in enumerate(zip(probs, reference, strict=True)) if j != i]
        needed = math.ceil(round((len(others) + 1) * (1 - alpha), 9))
        fitting = [t for t in others if sum(p >= t for p in others) >= needed]
        threshold = -math.inf if needed > len(others) else max(fitting)
        found.append(sum(p >= threshold for p in f))
    return found
