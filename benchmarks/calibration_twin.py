"""The slow twins of the engine, for the ratios; never imported by the package.

One counts per observation, written plainly as one would from the paper (Eq. 6, 7, 4 and 12), with
one vectorised step per bin where the paper's own code has one. The other, ``numpy_group``, does
what a group of numerics §9 needs the way one would in vectorised numpy: from a table of counts,
whole arrays at a time, Newton's method for the map.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.bins import BinTables
from calibration.tally import Tally

__all__ = ["numpy_group", "twin_cost_matrix", "twin_ece", "twin_tally"]


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


def numpy_group(
    phrase: np.ndarray,
    label: np.ndarray,
    tables: BinTables,
    *,
    replicates: int,
    whole: bool = True,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Curve with its interval, bootstrapped cost matrices, map, and error after the map.

    ``whole`` fills every row of the cost matrices, as the specification counts them (361 cells of
    19 phrases); otherwise the rows of phrases that the group never uses are left out.

    Returns
    -------
    tuple
        r_m with its interval (3, M), cost matrices of the sample and its replicates
        (1 + B, K, K), the plan (K, K), and the error after the map.
    """
    size = len(tables.mass)
    values, place = np.unique(label, return_inverse=True)
    cells = np.bincount(phrase * len(values) + place, minlength=size * len(values))
    drawn = rng.multinomial(len(phrase), cells / len(phrase), replicates)
    counts = np.vstack([cells[None], drawn]).reshape(-1, size, len(values))
    n, mass = counts.sum(axis=2).astype(float), counts @ values
    with np.errstate(divide="ignore", invalid="ignore"):
        curve = (mass @ tables.mass) / (n @ tables.mass)
    low, high = np.quantile(np.nan_to_num(curve)[1:], [0.025, 0.975], axis=0)
    cost = _numpy_costs(n, mass, tables, whole=whole)
    plan = _numpy_plan(cost[0], n[0] / n[0].sum())
    weights = np.where(n[0][:, None] > 0, plan / np.maximum(n[0] / n[0].sum(), 1e-300)[:, None], 0)
    residual = (mass[0] @ weights) @ tables.mass - (n[0] @ weights) @ tables.moment
    return np.stack([curve[0], low, high]), cost, plan, float(np.abs(residual).sum() / n[0].sum())


def _numpy_costs(n: np.ndarray, mass: np.ndarray, tables: BinTables, *, whole: bool) -> np.ndarray:
    """Eq. 12 for (B, K) counts: every replicate and every target of one phrase at once."""
    residual = mass @ tables.mass - n @ tables.moment
    base = np.abs(residual).sum(axis=1)
    cost = np.full((len(n), n.shape[1], n.shape[1]), np.nan)
    for k in range(n.shape[1]) if whole else np.flatnonzero(n.any(axis=0)):
        y, uses = mass[:, k, None], n[:, k, None]
        rest = residual - y * tables.mass[k] + uses * tables.moment[k]
        moved = y[:, None] * tables.mass - uses[:, None] * tables.moment
        changed = np.abs(rest[:, None, :] + moved).sum(axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            cost[:, k] = (changed - base[:, None]) / uses
    return cost


def _numpy_plan(
    cost: np.ndarray, share: np.ndarray, epsilon: float = 1e-3, tau: float = 1e-3
) -> np.ndarray:
    """Damped Newton on the dual of the unbalanced problem, one problem at a time."""
    used = share > 0
    a, inner = share[used], cost[np.ix_(used, used)]
    g = np.zeros(len(a))

    def at(g: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        scores = (g - inner) / epsilon + np.log(a)
        top = scores.max(axis=1)
        kernel = np.exp(scores - top[:, None])
        total = kernel.sum(axis=1)
        pull = a * np.exp(np.minimum(-g / tau, 600.0))
        value = tau * (a - pull).sum() - epsilon * (a @ (top + np.log(total)))
        return value, kernel * (a / total)[:, None], pull

    value, plan, pull = at(g)
    for _ in range(200):
        gradient = pull - plan.sum(axis=0)
        if np.abs(gradient).max() < 1e-12:
            break
        curvature = np.diag(plan.sum(axis=0) / epsilon + pull / tau)
        curvature -= plan.T @ (plan / a[:, None]) / epsilon
        step = np.linalg.solve(curvature, gradient)
        length, rise = 1.0, gradient @ step
        while (tried := at(g + length * step))[0] < value + 1e-4 * length * rise - 1e-15:
            length /= 2.0
        g = g + length * step
        value, plan, pull = tried
    padded = np.zeros_like(cost)
    padded[np.ix_(used, used)] = plan
    return padded
