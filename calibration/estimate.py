"""One number with its interval, and how both were made."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Estimate"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A sample value with its interval.

    Attributes
    ----------
    value
        The sample value itself, never a bootstrap mean or median. NaN when it does not exist
        (no observation), which ``n`` then says.
    low, high
        Ends of the 95 % interval (or as ``method`` says); NaN when no interval was asked for.
    n
        Observations the value rests on (a sum of weights; fractional weights are possible).
    method
        How the interval was made, in words a caption can carry.
    reference_level
        What a reader whose every phrase is right on average would score; NaN where 0 or unknown.
    null_high
        95 % point of the value for a calibrated reader with the same phrases; NaN if not computed.
    corrected
        Bias-corrected value 2·value − mean of the bootstrap; NaN if not computed.
    """

    value: float
    low: float
    high: float
    n: float
    method: str
    reference_level: float = math.nan
    null_high: float = math.nan
    corrected: float = math.nan

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of 0; False when there is no interval."""
        return self.low > 0.0 or self.high < 0.0

    def summary(self) -> str:
        """One line for a caption."""
        if math.isnan(self.value):
            return f"not estimable (n = {self.n:g})"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f}, n = {self.n:g})"
