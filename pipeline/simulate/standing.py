"""What is true of a reader: the line nearest to the true rates, and which words it deserves.

The line logit P = shift + slope · (logit m) + … is fitted to the reader's true rates of hedges,
weighted by use, in expected log loss: it is what a logistic fit converges to with endless data.
Whether shift is read at a meaning of one half or at the middle of the words in use differs where
the slope is not 1. A direction counts as clear only where both agree, and as false only where both
contradict it.

=========  ============================================================================
shift      mean log odds by which CT shows more (> 0: undercalls) or less (< 0: overcalls)
           than the words say
slope      < 1: words more extreme than the truth (too sure); > 1: less (too cautious)
=========  ============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

__all__ = ["CLEAR_SHIFT", "CLEAR_SLOPES", "MARGINS", "Standing", "line_of", "standing_of"]

FloatArray: TypeAlias = NDArray[np.float64]

CLEAR_SHIFT: Final = 0.5
"""Log odds from which a reader is clearly off."""

CLEAR_SLOPES: Final = (0.7, 1.4)
"""Slopes at and beyond which a reader is clearly off."""

MARGINS: Final = (0.2, 0.15)
"""Shift and slope - 1 up to which a reader has no direction: the profile's own margins."""

_ALMOST: Final = (0.1, 0.075)
"""Shift and slope - 1 so small that a word about them is false: half the margins."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One reader's true line.

    Attributes
    ----------
    shift
        Log odds at ``centre``.
    at_half
        Log odds where the words mean one half: the line's intercept.
    slope
        1 where the words are as extreme as the truth.
    centre
        Mean log odds of the hedges in use.
    """

    shift: float
    at_half: float
    slope: float
    centre: float

    def at(self, meaning: float) -> float:
        """Return the log odds by which the line departs from words of a meaning."""
        return self.at_half + (self.slope - 1.0) * float(logit(meaning))

    def clear(self) -> frozenset[str]:
        """Words that a page must say: the reader is clearly off in this direction."""
        low, high = CLEAR_SLOPES
        shifts = (self.shift, self.at_half)
        told = {
            "overcalls": max(shifts) <= -CLEAR_SHIFT,
            "undercalls": min(shifts) >= CLEAR_SHIFT,
            "too sure": self.slope <= low,
            "too cautious": self.slope >= high,
        }
        return frozenset(word for word, holds in told.items() if holds)

    def direction(self) -> str:
        """Words beyond the margins of indifference at the middle of the words in use, or none."""
        shift, slope = MARGINS
        told = {
            "overcalls": self.shift < -shift,
            "undercalls": self.shift > shift,
            "too sure": self.slope < 1.0 - slope,
            "too cautious": self.slope > 1.0 + slope,
        }
        return ", ".join(word for word, holds in told.items() if holds) or "none"

    def false(self) -> frozenset[str]:
        """Words that a page must not say: the truth lies on the other side, or almost at none."""
        shift, slope = _ALMOST
        told = {
            "overcalls": min(self.shift, self.at_half) > -shift,
            "undercalls": max(self.shift, self.at_half) < shift,
            "too sure": self.slope > 1.0 - slope,
            "too cautious": self.slope < 1.0 + slope,
        }
        return frozenset(word for word, holds in told.items() if holds)

    def reversed(self) -> frozenset[str]:
        """Words that would send the reader away from the truth: the truth is opposite."""
        told = {
            "overcalls": min(self.shift, self.at_half) > 0.0,
            "undercalls": max(self.shift, self.at_half) < 0.0,
            "too sure": self.slope > 1.0,
            "too cautious": self.slope < 1.0,
        }
        return frozenset(word for word, holds in told.items() if holds)


def line_of(rates: FloatArray, use: FloatArray, logits: FloatArray) -> tuple[float, float]:
    """Return intercept and slope of the logistic line nearest to true rates.

    Minimises the expected log loss over cells by Newton steps of at most 1.

    Parameters
    ----------
    rates
        True rate of each cell, shape (..., K).
    use
        How often each cell is stated (counts or shares), shape (..., K); 0 leaves a cell out.
    logits
        Log odds of what each phrase means, shape (K,).
    """
    axes = tuple(range(rates.ndim - 1))
    stated, positive = use.sum(axis=axes), (use * rates).sum(axis=axes)
    design = np.stack([np.ones_like(logits), logits])
    beta = np.array([0.0, 1.0])
    for _ in range(100):
        p = expit(beta @ design)
        gradient = design @ (positive - stated * p)
        hessian = (design * (stated * p * (1.0 - p))) @ design.T
        step = np.linalg.solve(hessian, gradient)
        beta += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-12:
            break
    return float(beta[0]), float(beta[1])


def standing_of(
    rates: FloatArray, use: FloatArray, logits: FloatArray, *, centre: float
) -> Standing:
    """Return where a reader truly stands; arrays as in :func:`line_of`, hedges alone in use."""
    intercept, slope = line_of(rates, use, logits)
    shift = intercept + (slope - 1.0) * centre
    return Standing(shift=shift, at_half=intercept, slope=slope, centre=centre)
