"""What may be printed of a count or a share: nothing so fine that one statement can be told by it.

Pages come out month after month over months that overlap, and show totals beside their parts. So
that no difference of two printed numbers gives what few statements say:

* a **count** n > 0 is printed as the middle of its five: 5·⌊n/5⌋ + 2; 0 stays 0;
* a **share** y/n is printed as a multiple of three statements among that count: the nearest of
  0, 3/n̂, 6/n̂, …;
* a **rate that a model estimates** from more than those n, is printed as a multiple of what three
  statements would move it by, finer where much else stands behind it;
* a **distance** or mean of n statements, with its limits, likewise;
* a **tally** is rounded in this way, phrase by phrase, before anything is computed from it, so that
  every curve, interval and measure is a function of rounded counts and tells no more than they do.
  The phrase calibration error alone is that of exact counts, and rounded itself: a sum of absolute
  gaps takes what rounding does to small counts for a distance.

A class of five never reaches over a minimum that is a multiple of 5, and rounding down below
another one withholds more, never less. Rounding twice changes nothing. There is no chance in it:
the same numbers are rounded alike in every issue, so that printing them often tells nothing new.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
n̂_k     (K,)      rounded uses of phrase k: n_k = 23 → 22
ŷ_k     (K,)      rounded label mass: the multiple of 3 nearest to n̂_k·y_k/n_k, at most n̂_k
======  ========  ==============================================================

Source: rounding of frequency tables to a base, with shares taken from rounded counts (Hundepool et
al., *Statistical Disclosure Control*, 2012, chapter 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from calibration.arrays import FloatArray, divided
from calibration.estimate import Z95, Estimate
from calibration.tally import Tally

Rated = TypeVar("Rated", bound=Estimate)
BASE: Final = 5
"""Counts that are printed alike."""
STEP: Final = 3
"""Statements by which two printed shares of the same count differ at least."""
MOST: Final = 0.75
"""Share of a number's statements from which on it is mostly one reader's."""
_STEPS: Final = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.10, 0.12, 0.15, 0.20)
"""Distances of the rates that may be printed of an estimate."""
_RUNGS: Final = 1.25
"""Ratio of the lengths that may be printed of half an interval."""
_PRINTED: Final = 0.01
"""Difference of two limits that whole per cents show."""
_FARTHEST: Final = 1e-4
"""Limits are read as no nearer to 0 or 1 than this."""
_SLACK: Final = 1e-9
"""Sums of weights that are whole but for their last digits."""


def counted(n: ArrayLike) -> FloatArray:
    """Give the middle of a count's five; 0 and NaN (withheld) stay what they are.

    Examples
    --------
    >>> counted([0, 1, 19, 20, 24, 1003]).tolist()
    [0.0, 2.0, 17.0, 22.0, 22.0, 1002.0]
    """
    exact = np.asarray(n, dtype=np.float64)
    middle = BASE * np.floor((exact + _SLACK) / BASE) + BASE // 2
    return np.asarray(np.where(exact > 0, middle, exact), dtype=np.float64)


def measured(value: ArrayLike, n: ArrayLike) -> FloatArray:
    """Give a share or mean over n statements on the grid of its rounded count; NaN where n is 0.

    Examples
    --------
    >>> measured([0.5, 0.53, 0.6], 23).round(3).tolist()
    [0.545, 0.545, 0.545]
    """
    among = counted(n) / STEP
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.floor(np.asarray(value) * among + 0.5) / among, dtype=np.float64)


def estimated(
    rate: float, limits: tuple[float, float], n: float, *, beside: Sequence[float] = ()
) -> tuple[float, float, float]:
    """Give what may be printed of a rate that a model estimates: itself, lower and upper limit.

    A statement moves log-odds by about their posterior variance σ², so a rate p by p(1 − p)σ²,
    and never by more than 1/n. The rate becomes a multiple of three times that, in whole per
    cent; what is nearest to 0 or 1, half of one off; what would cross one of ``beside`` goes to
    its own side. The limits keep their distances in log-odds, made longer to the next of a coarse
    ladder; an interval holds each of ``beside`` after it exactly where it did before, as far as the
    rate and those that come later let it.

    Examples
    --------
    >>> [round(x, 3) for x in estimated(0.044, (0.017, 0.11), 22)]
    [0.04, 0.015, 0.102]
    """
    ends = np.clip([limits[0], rate, limits[1]], _FARTHEST, 1.0 - _FARTHEST)
    down, up = np.diff(logit(ends))
    spread = (down + up) / (2.0 * Z95)
    moved = STEP * min(rate * (1.0 - rate) * spread**2, 1.0 / max(n, 1.0))
    step = next((each for each in _STEPS if each >= moved - _SLACK), _STEPS[-1])
    value = min(max(round(rate / step) * step, step / 2.0), 1.0 - step / 2.0)
    for mark in beside:
        if (value - mark) * (rate - mark) < 0:
            value = min(max(value + math.copysign(step, rate - mark), step / 2.0), 1.0 - step / 2.0)
    middle = float(logit(value))
    low, high = float(expit(middle - _longer(down))), float(expit(middle + _longer(up)))
    for mark in beside:
        held = limits[0] <= mark <= limits[1]
        if value > mark:
            low = min(low, mark) if held else max(low, min(mark + _PRINTED, value - _PRINTED))
        elif value < mark:
            high = max(high, mark) if held else min(high, max(mark - _PRINTED, value + _PRINTED))
    return value, low, high


def _longer(distance: float) -> float:
    if distance <= 0.0:
        return 0.0
    return float(_RUNGS ** math.ceil(math.log(distance, _RUNGS) - _SLACK))


def estimate(found: Rated, n: float) -> Rated:
    """Give what may be printed of a mean or distance of n statements, with its limits.

    Examples
    --------
    >>> estimate(Estimate(0.17, 0.02, 0.24, 22, "", corrected=0.1), 22).summary()
    '0.136 (0.000 to 0.273, n = 22)'
    """
    exact, middle = found.without_chance(), share_of(found.without_chance().value, n)
    ends = share_of(found.low, n), share_of(found.high, n)
    low, high = _around(middle, ends, exact, n) if middle == middle else ends
    names = ("value", "reference_level", "null_high", "corrected")
    rest: dict[str, Any] = {name: share_of(getattr(found, name), n) for name in names}
    return replace(found, n=float(counted(n)), low=low, high=high, **rest)


def share_of(value: float, n: float) -> float:
    """Give one `measured` share or mean of n statements."""
    return float(measured(value, n))


def _around(
    value: float, ends: tuple[float, float], exact: Estimate, n: float
) -> tuple[float, float]:
    """Move limits that rounding brought onto their estimate, or past it, one step off it.

    Where a limit was the estimate itself it stays so. The step is the grid's own, so that what is
    printed remains a function of what is rounded.
    """
    middle, least, most = exact.value, exact.low, exact.high
    step = STEP / float(counted(max(n, 1.0)))
    low, high = min(ends[0], value), max(ends[1], value)
    low = share_of(value - step, n) if least < middle and low >= value else low
    high = share_of(value + step, n) if most > middle and high <= value else high
    return max(low, 0.0) if least >= 0 else low, min(high, 1.0) if most <= 1 else high


def part(share: ArrayLike, n: ArrayLike) -> FloatArray:
    """Give the share that a part is of n, both as rounded counts: for parts that may be small.

    Examples
    --------
    >>> part([0.0, 0.03, 1.0], 100).round(3).tolist()
    [0.0, 0.02, 1.0]
    """
    whole = np.asarray(n, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(counted(np.asarray(share) * whole) / counted(whole), dtype=np.float64)


def rounded(tally: Tally) -> Tally:
    """Round a tally phrase by phrase; labels become the 0 and 1 that give its rounded mass.

    Examples
    --------
    >>> exact = Tally(np.array([0.0, 1.0]), np.array([[24.0, 7.0], [3.0, 0.0]]))
    >>> rounded(exact).counts.tolist()
    [[26.0, 6.0], [2.0, 0.0]]
    """
    n, uses = tally.n, counted(tally.n)
    share = divided(tally.label_mass, n, nothing=0.0)
    mass = rounded_mass(share * uses, uses)
    return Tally.from_moments(uses, mass)


def rounded_mass(label_mass: FloatArray, uses: FloatArray) -> FloatArray:
    """Give label masses (..., K) as they are printed among rounded uses (K,).

    Examples
    --------
    >>> rounded_mass(np.array([[6.7, 1.0], [8.0, 7.0]]), np.array([22.0, 7.0])).tolist()
    [[6.0, 0.0], [9.0, 6.0]]
    """
    share = divided(label_mass, uses, nothing=0.0)
    with np.errstate(invalid="ignore"):
        printed = np.minimum(np.rint(measured(share, uses) * uses), uses)
    return np.asarray(np.where(uses > 0, printed, 0.0), dtype=np.float64)
