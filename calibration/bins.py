"""Bins of [0, 1] and what every phrase puts into each of them.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
I_m     --        (b_{m−1}, b_m]; the first bin is closed at 0
P       (K, M)    P(S ∈ I_m | phrase k)
E       (K, M)    E[S · 1(S ∈ I_m) | phrase k]
======  ========  ==============================================================

Rules: ``exact`` (default) uses the distribution functions; ``midpoint`` is density × width at the
middle of the bin and E = middle · P, which loses every atom; ``paper`` is Wang et al. 2025,
section 4.1: midpoint inside, exact in the first and last bin, and exact for every atom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from calibration.arrays import FloatArray, IntArray
from calibration.distributions import Atom, Distribution
from calibration.errors import CalibrationError, check_option, whole

BinRule = Literal["exact", "midpoint", "paper"]


@dataclass(frozen=True, slots=True, eq=False)
class BinTables:
    """P and E of K distributions over M bins.

    Attributes
    ----------
    edges
        b_0..b_M, shape (M + 1,).
    mass
        P, shape (K, M); rows sum to 1 under the exact rule.
    moment
        E, shape (K, M).
    """

    edges: FloatArray
    mass: FloatArray
    moment: FloatArray


def bin_edges(bins: int) -> FloatArray:
    """Edges of equal-width bins, m / M, so that decimal scores fall on them, shape (M + 1,)."""
    count = whole("bins", bins, least=1)
    return np.arange(count + 1) / count


def places(values: FloatArray, edges: FloatArray) -> IntArray:
    """Bin of every value, (edge, edge] and the first closed, as indices below M, shape (N,)."""
    found = np.searchsorted(edges, values, side="left") - 1
    return np.clip(found, 0, len(edges) - 2).astype(np.int64)


def bin_tables(
    distributions: Sequence[Distribution], *, edges: FloatArray, rule: BinRule = "exact"
) -> BinTables:
    """Mass and first moment of every distribution in every bin.

    Parameters
    ----------
    distributions
        K distributions.
    edges
        b_0 = 0 to b_M = 1, increasing, shape (M + 1,).
    rule
        How a bin's integral is computed; see the module.

    Raises
    ------
    CalibrationError
        If the edges do not cover [0, 1] or the rule is unknown.
    """
    _check(edges, rule)
    pairs = [_tables(d, edges, rule) for d in distributions]
    return BinTables(edges, np.stack([p for p, _ in pairs]), np.stack([e for _, e in pairs]))


@lru_cache(maxsize=64)
def phrase_bins(
    distributions: tuple[Distribution, ...], *, bins: int = 100, rule: BinRule = "exact"
) -> BinTables:
    """Tables over equal-width bins, computed once per phrase table; the arrays are read-only."""
    tables = bin_tables(distributions, edges=bin_edges(bins), rule=rule)
    for array in (tables.edges, tables.mass, tables.moment):
        array.setflags(write=False)
    return tables


def _tables(
    distribution: Distribution, edges: FloatArray, rule: BinRule
) -> tuple[FloatArray, FloatArray]:
    if rule == "exact" or (rule == "paper" and isinstance(distribution, Atom)):
        return distribution.interval_tables(edges)
    middles = (edges[:-1] + edges[1:]) / 2.0
    mass = distribution.density(middles) * np.diff(edges)
    moment = middles * mass
    if rule == "paper":
        exact_mass, exact_moment = distribution.interval_tables(edges)
        ends = [0, -1]
        mass[ends], moment[ends] = exact_mass[ends], exact_moment[ends]
    return mass, moment


def _check(edges: FloatArray, rule: str) -> None:
    check_option("bin rule", rule, BinRule)
    if len(edges) < 2 or edges[0] != 0.0 or edges[-1] != 1.0 or not np.all(np.diff(edges) > 0):
        raise CalibrationError("edges: they must increase from 0 to 1.")
