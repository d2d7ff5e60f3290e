"""Small cells: what must be withheld, and what with it so that nothing follows by subtraction.

Where a total is printed and exactly one of its parts is withheld, that part is the total less the
others. One more part, the smallest of those shown, is then withheld with it. Two or more withheld
parts hide each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from calibration.arrays import FloatArray
from calibration.phrase_calibration import PhraseCalibration

__all__ = ["complementary", "of_enough_readers"]

Name = TypeVar("Name")


def complementary(sizes: Mapping[Name, float], withheld: Collection[Name]) -> frozenset[Name]:
    """Name the part to withhold besides those withheld already; ties go to the first.

    Parameters
    ----------
    sizes
        Observations behind every part of a printed total; a part of size 0 hides nothing.
    withheld
        Parts withheld for reasons of their own.

    Examples
    --------
    >>> sorted(complementary({"a": 7, "b": 40, "c": 90}, {"a"}))
    ['b']
    >>> sorted(complementary({"a": 7, "b": 12, "c": 90}, {"a", "b"}))
    []
    """
    hidden = [name for name in withheld if sizes[name] > 0]
    shown = {name: n for name, n in sizes.items() if n > 0 and name not in withheld}
    if len(hidden) != 1 or not shown:
        return frozenset()
    return frozenset({min(shown, key=lambda name: shown[name])})


def of_enough_readers(
    phrases: PhraseCalibration, readers: Mapping[str, int], *, minimum: int
) -> PhraseCalibration:
    """Blank the department's rates of phrases that fewer than `minimum` readers used."""
    few = np.array([readers.get(phrase, 0) < minimum for phrase in phrases.phrases])

    def kept(values: FloatArray, otherwise: float = np.nan) -> FloatArray:
        return np.where(few, otherwise, values)

    return replace(
        phrases,
        n=kept(phrases.n, 0.0),
        label_mass=kept(phrases.label_mass, 0.0),
        observed=kept(phrases.observed),
        low=kept(phrases.low),
        high=kept(phrases.high),
        shrunk=kept(phrases.shrunk),
        shrunk_low=kept(phrases.shrunk_low),
        shrunk_high=kept(phrases.shrunk_high),
    )
