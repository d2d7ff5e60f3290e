"""A measure over time as a process: its mean, its limits, and the signals that it has changed.

An individuals chart (XmR; Wheeler 1993): limits at the mean ± 2.66 times the mean moving range,
which is three standard deviations of a process whose neighbours differ by chance alone. Signals are
those of NHS England's *Making Data Count*: a point beyond a limit; seven points in a row on one
side of the mean; seven in a row that rise, or fall; two of three in the outer third, on one side.
Every point of a run is a signal.

==========  ======  =======================================================
symbol      shape   meaning
==========  ======  =======================================================
values      (T,)    the measure, oldest first; NaN where there is none
==========  ======  =======================================================

A missing value breaks no run: its neighbours count as neighbours. Fewer than `LEAST` values have no
limits and no signals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from calibration.arrays import FloatArray, numbers

LEAST: Final = 10
"""Values below which limits say nothing."""
FIRM: Final = 20
"""Values from which on limits are no longer provisional (Making Data Count)."""
_LIMIT: Final = 2.66
_RUN: Final = 7
_OUTER: Final = 2.0 / 3.0
Rule: TypeAlias = Literal["beyond", "shift", "trend", "near"]


@dataclass(frozen=True, slots=True)
class Signal:
    """A point at which a rule is met, by its place among the values."""

    at: int
    rule: Rule
    up: bool


@dataclass(frozen=True, slots=True)
class Process:
    """Mean, limits (NaN with fewer than `LEAST` values), and every signal in order of time."""

    n: int
    mean: float
    low: float
    high: float
    signals: tuple[Signal, ...]


def process(values: FloatArray) -> Process:
    """Judge values (T,) as one process."""
    values = numbers("values", values)
    places = np.flatnonzero(np.isfinite(values))
    known = values[places]
    mean = float(known.mean()) if known.size else float("nan")
    if known.size < LEAST:
        return Process(int(known.size), mean, float("nan"), float("nan"), ())
    half = _LIMIT * float(np.abs(np.diff(known)).mean())
    found = {(at, rule): up for at, rule, up in _signals(known - mean, half)}
    signals = tuple(Signal(int(places[at]), rule, up) for (at, rule), up in sorted(found.items()))
    return Process(int(known.size), mean, mean - half, mean + half, signals)


def _signals(apart: FloatArray, half: float) -> Iterator[tuple[int, Rule, bool]]:
    """Give the signals of differences from the mean, upwards and downwards."""
    for up in (True, False):
        side = apart if up else -apart
        for at in np.flatnonzero(side > half):
            yield int(at), "beyond", up
        yield from ((at, "shift", up) for at in _ends(side > 0, _RUN))
        rises = _ends(np.diff(side) > 0, _RUN - 1)
        yield from ((point, "trend", up) for at in rises for point in (at, at + 1))
        outer = side > _OUTER * half
        near = np.convolve(outer, np.ones(3))[: len(outer)] >= 2
        yield from ((int(at), "near", up) for at in np.flatnonzero(near & outer))


def _ends(holds: np.ndarray, least: int) -> Iterator[int]:
    """Give every place of the runs in which at least so many in a row have held."""
    run = 0
    for at, each in enumerate(holds):
        run = run + 1 if each else 0
        if run == least:
            yield from range(at - least + 1, at)
        if run >= least:
            yield at
