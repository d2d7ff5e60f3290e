"""What a measure returns: a float, the value over all items, that remembers what it was made of.

A measure can be compared, rounded, formatted and averaged like any number; its items, bins and
method travel with it for tables, figures and intervals.
"""

from __future__ import annotations

import math
from typing import Self

import numpy as np

from calibration.arrays import FloatArray, divided
from calibration.estimate import Z95, Estimate


class ItemScore(float):
    """The mean of one value per item.

    Attributes
    ----------
    per_item
        Value of every item, shape (n,).
    method
        What was measured and by which convention, for a caption.
    """

    __slots__ = ("method", "per_item")
    per_item: FloatArray
    method: str

    def __new__(cls, values: FloatArray, method: str) -> Self:
        """Take the mean of the values."""
        self = super().__new__(cls, np.mean(values))
        self.per_item, self.method = values, method
        return self

    @property
    def n(self) -> int:
        """Items."""
        return len(self.per_item)

    def estimate(self) -> Estimate:
        """Value with the normal 95 % interval of a mean of n items; no interval for one item."""
        width = math.nan
        if self.n > 1:
            width = Z95 * float(self.per_item.std(ddof=1)) / math.sqrt(self.n)
        value = float(self)
        return Estimate(
            value, value - width, value + width, float(self.n), "normal interval over items"
        )


class SignedScore(ItemScore):
    """The mean absolute value of one signed error per item.

    Attributes
    ----------
    signed
        Error of every item with its sign, shape (n,); ``per_item`` are its absolute values.
    """

    __slots__ = ("signed",)
    signed: FloatArray

    def __new__(cls, signed: FloatArray, method: str) -> Self:
        """Take the mean of the absolute errors."""
        self = super().__new__(cls, np.abs(signed), method)
        self.signed = signed
        return self


class BinnedScore(float):
    """A calibration error over bins.

    Attributes
    ----------
    edges
        Ends of the bins, shape (M + 1,); bin m is (edges[m], edges[m + 1]].
    count
        Items per class and bin, shape (R, M); R = 1 for the confidence error.
    confidence, accuracy
        Mean probability and mean credit per class and bin, NaN where empty, each (R, M).
    method
        What was measured and by which convention, for a caption.
    """

    __slots__ = ("accuracy", "confidence", "count", "edges", "method")
    edges: FloatArray
    count: FloatArray
    confidence: FloatArray
    accuracy: FloatArray
    method: str

    def __new__(
        cls,
        edges: FloatArray,
        count: FloatArray,
        confidence: FloatArray,
        accuracy: FloatArray,
        method: str,
    ) -> BinnedScore:
        """Weigh each class's bins by their items, then average the classes."""
        gap = np.where(count > 0, count * np.abs(accuracy - confidence), 0.0).sum(axis=1)
        per_class = divided(gap, count.sum(axis=1), nothing=0.0)
        self = super().__new__(cls, per_class.mean())
        self.edges, self.count, self.confidence = edges, count, confidence
        self.accuracy, self.method = accuracy, method
        return self
