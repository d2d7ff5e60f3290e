"""Engines side by side on one gold: what each reads better, with paired intervals over reports.

Every resample of reports is the same for all engines, so that what makes a report hard for both
does not widen the interval of their difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from extraction.audit.gold import GoldReport
from extraction.audit.scores import Interval, counts_of, percentiles
from extraction.finding import Outcome
from extraction.vocabulary import Vocabulary

__all__ = ["Difference", "as_lines", "differences"]

_MEASURES: Final[Mapping[str, tuple[tuple[int, ...], tuple[int, ...], int]]] = {
    "cell accuracy, micro": ((3,), (4,), 1),
    "finding F1 (pathology, phrase)": ((0,), (1, 2), 2),
    "hedged statements, exact phrase": ((5,), (6,), 1),
}
"""Measure → columns of the numerator, of the denominator, and a factor."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How much more the second engine scores than the first: positive where it reads better."""

    measure: str
    first: str
    second: str
    gain: Interval

    @property
    def decided(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.gain.low > 0 or self.gain.high < 0


def differences(
    gold: Sequence[GoldReport],
    read: Mapping[str, Sequence[Outcome]],
    *,
    vocabulary: Vocabulary,
    bootstrap: int = 1000,
    rng: np.random.Generator,
) -> tuple[Difference, ...]:
    """Compare every two engines on every measure.

    Parameters
    ----------
    gold
        N labelled reports.
    read
        What each engine, by its name, returned for them, in the same order.
    vocabulary
        The vocabulary all use.
    bootstrap
        Number of resamples of reports; 0 gives differences without intervals.
    rng
        Source of chance.
    """
    counts = {name: counts_of(gold, outcomes, vocabulary) for name, outcomes in read.items()}
    draws = rng.integers(0, len(gold), size=(bootstrap, len(gold)))
    return tuple(
        Difference(measure, first, second, _gain(measure, counts[first], counts[second], draws))
        for first, second in combinations(read, 2)
        for measure in _MEASURES
    )


def as_lines(found: Sequence[Difference]) -> Iterator[str]:
    """Give a line per difference, for a terminal."""
    for each in found:
        gain = each.gain
        yield (
            f"  {each.measure:<34} {gain.value:+.3f}  [{gain.low:+.3f}, {gain.high:+.3f}]"
            f"  {each.second} against {each.first}{'' if each.decided else ', undecided'}"
        )


def _gain(
    measure: str,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    draws: NDArray[np.int64],
) -> Interval:
    value = _share(measure, second.sum(axis=0)) - _share(measure, first.sum(axis=0))
    resampled = _share(measure, second[draws].sum(axis=1)) - _share(
        measure, first[draws].sum(axis=1)
    )
    return percentiles(float(value), resampled)


def _share(measure: str, totals: NDArray[np.float64]) -> NDArray[np.float64]:
    part, whole, factor = _MEASURES[measure]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: NDArray[np.float64] = (
            factor * totals[..., list(part)].sum(axis=-1) / totals[..., list(whole)].sum(axis=-1)
        )
    return shares
