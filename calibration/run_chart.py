"""A measure over time as a process: its mean, its limits, and the signals that it has changed.

An individuals chart (XmR; Wheeler 1993) whose months know their own sampling error. Of month t with
error e_t, limits lie at the mean ± c √(e_t² + τ²), where τ is what neighbouring months differ by
beyond their errors (Spiegelhalter 2005; of e = 0 it is the mean step / 1.128, as in every XmR):

    Σ |x_t+1 − x_t| = (2/√π) Σ √((e_t² + e_t+1²) / 2 + τ²),   τ ≥ 0,

and the mean weighs months by 1 / (e_t² + τ²). Rules are those of NHS England's *Making Data Count*:
a point beyond a limit; so many points in a row on one side of the mean; so many in a row that rise,
or fall; two of three near a limit, on one side. Every point of a run is a signal; of three that are
judged together those two that are near, the third is none. Those see a lasting change of two
standard deviations late; so there is a fifth, a step: of all divisions into months before and
since, `_SIDE` at least each, the one with the largest difference by its error.

By those rules' own figures (c = 3, seven in a row, two thirds of the limits) 5 % of charts of 12
months in which nothing changes have a signal, 16 % of 24 and 27 % of 36. So the figures are set by
each chart's own null: `_CHARTS` charts of its months, that differ by their errors and τ alone, are
judged as it is, and each rule is met as seldom as the others, all together in `FALSE` of them.

==========  ======  =======================================================
symbol      shape   meaning
==========  ======  =======================================================
values      (T,)    the measure, oldest first; NaN where there is none
noise       (S, T)  draws of what sampling alone makes of steady months, mean 0
z           (S, T)  differences from the mean by √(e² + τ²), of many charts
==========  ======  =======================================================

A missing value breaks no run: its neighbours count as neighbours. Fewer than `LEAST` values have no
limits and no signals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

import numpy as np

from calibration.arrays import BoolArray, FloatArray, numbers

LEAST: Final = 10
"""Values below which limits say nothing."""
FIRM: Final = 20
"""Values from which on limits are no longer provisional (Making Data Count)."""
FALSE: Final = 0.05
"""Share of charts in which nothing changes that have a signal."""
_CHARTS: Final = 2000
_STEP: Final = 2.0 / np.sqrt(np.pi)
_NEWTON: Final = 8
# Parts of a spread below which a point lies on the mean, and the least spread.
_ALIKE: Final = 1e-6
_TINY: Final = 1e-9
# Of a value: what a mean of equal values may differ from them by.
_ROUNDING: Final = 1e-12
_SIDE: Final = 3
Rule: TypeAlias = Literal["beyond", "near", "shift", "step", "trend"]
_RULES: Final[tuple[Rule, ...]] = get_args(Rule)
_RUNS: Final[tuple[Rule, ...]] = ("shift", "trend")


@dataclass(frozen=True, slots=True)
class Signal:
    """A point at which a rule is met, by its place among the values.

    ``run`` is how many points in a row the rule needs, of a step how many there are since; else 0.
    """

    at: int
    rule: Rule
    up: bool
    run: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Process:
    """Mean, limits (T,) (NaN with fewer than `LEAST` values), and every signal in order of time."""

    n: int
    mean: float
    low: FloatArray
    high: FloatArray
    signals: tuple[Signal, ...]


def process(values: FloatArray, noise: FloatArray | None = None) -> Process:
    """Judge values (T,) as one process; without ``noise`` (S, T) their errors are not known."""
    values = numbers("values", values)
    places = np.flatnonzero(np.isfinite(values))
    nothing, known = np.full(len(values), np.nan), values[places][None]
    if places.size < LEAST:
        level = float(known.mean()) if places.size else float("nan")
        return Process(int(places.size), level, nothing, nothing, ())
    drawn = np.zeros((1, len(places))) if noise is None else noise[:, places]
    variance = drawn.var(axis=0)
    z, mean, spread = _standing(known, variance)
    rng = np.random.default_rng(0)
    steady = drawn[rng.integers(len(drawn), size=_CHARTS)]
    beyond = np.sqrt(np.maximum(spread**2 - variance, 0.0))
    steady = steady + beyond * rng.standard_normal(steady.shape)
    most = _most(_measures(*_standing(steady, variance)[::2], steady))
    half = nothing.copy()
    half[places] = most["beyond"] * spread[0]
    found = {(at, rule): up for at, rule, up in _signals(_measures(z, spread, known), most)}
    runs = {rule: int(most[rule]) + 1 for rule in _RUNS}
    runs["step"] = sum(rule == "step" for _, rule in found)
    signals = tuple(
        Signal(int(places[at]), rule, up, runs.get(rule, 0))
        for (at, rule), up in sorted(found.items())
    )
    return Process(int(places.size), float(mean[0]), mean[0] - half, mean[0] + half, signals)


def _standing(
    values: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give z (S, T) of charts of values, their means (S,) and √(e² + τ²) (S, T)."""
    step = np.abs(np.diff(values)).mean(axis=1) / _STEP
    pair = (variance[1:] + variance[:-1]) / 2.0
    beyond = np.maximum(step**2 - pair.max(), 0.0)
    for _ in range(_NEWTON):  # concave, from below: each step stays short of the root
        each = np.maximum(np.sqrt(pair + beyond[:, None]), _TINY)
        short = step - each.mean(axis=1)
        beyond = np.maximum(beyond + 2.0 * short / (1.0 / each).mean(axis=1), 0.0)
    spread = np.sqrt(variance + beyond[:, None])
    weight = 1.0 / np.maximum(spread, _TINY) ** 2
    mean = (values * weight).sum(axis=1) / weight.sum(axis=1)
    off = values - mean[:, None]
    off[np.abs(off) <= _ROUNDING * np.abs(values).max()] = 0.0
    return off * np.sqrt(weight), mean, spread


def _measures(
    z: FloatArray, spread: FloatArray, values: FloatArray
) -> dict[tuple[Rule, bool], FloatArray]:
    """Say of every point how nearly each rule is met there, upwards and downwards, (S, T).

    Of runs it is how many points in a row lead to it.
    """
    found: dict[tuple[Rule, bool], FloatArray] = {}
    step = _step(z, np.maximum(spread, _TINY))
    for up in (True, False):
        side, rising = (z, values) if up else (-z, -values)
        found["beyond", up] = side
        found["near", up] = np.clip(np.minimum(side, _beside(side)), 0.0, None)
        found["shift", up] = _in_a_row(side > _ALIKE)
        steps = _in_a_row(np.diff(rising) > 0)
        found["trend", up] = np.pad(steps, ((0, 0), (1, 0))) + 1.0
        found["step", up] = step if up else -step
    return found


def _most(steady: dict[tuple[Rule, bool], FloatArray]) -> dict[Rule, float]:
    """Give what each rule may come to, so that `FALSE` of charts pass one, each rule as seldom."""
    both = {rule: np.maximum(steady[rule, True], steady[rule, False]) for rule in _RULES}
    each = {rule: of.max(axis=1) for rule, of in both.items()}
    ordered = {rule: np.sort(of) for rule, of in each.items()}
    charts = len(ordered["beyond"])
    reach = [charts - np.searchsorted(ordered[rule], of) for rule, of in each.items()]
    least = int(np.sort(np.min(reach, axis=0))[int(FALSE * charts)])
    return {rule: float(of[charts - least]) for rule, of in ordered.items()}


def _signals(
    seen: dict[tuple[Rule, bool], FloatArray], most: dict[Rule, float]
) -> Iterator[tuple[int, Rule, bool]]:
    """Give the signals of one chart; every point of a run is one, and all since a step."""
    for (rule, up), of in seen.items():
        ends = np.flatnonzero(of[0] > most[rule]).tolist()
        if rule == "step" and ends:
            yield from ((at, rule, up) for at in range(int(np.argmax(of[0])), of.shape[1]))
            continue
        for end in ends:
            first = end - int(of[0, end]) + 1 if rule in _RUNS else end
            yield from ((at, rule, up) for at in range(first, end + 1))


def _step(z: FloatArray, spread: FloatArray) -> FloatArray:
    """Give the difference of the points since each from those before, by its error, (S, T)."""
    weight, sums = (each.cumsum(axis=1) for each in (spread**-2.0, z / spread))
    before, after = weight[:, :-1], weight[:, -1:] - weight[:, :-1]
    apart = (sums[:, -1:] - sums[:, :-1]) / after - sums[:, :-1] / before
    found = np.zeros_like(z)
    found[:, 1:] = apart / np.sqrt(1.0 / before + 1.0 / after)
    found[:, :_SIDE] = found[:, -_SIDE + 1 :] = 0.0
    return found


def _beside(z: FloatArray) -> FloatArray:
    """Give the largest of the two points before each and the two after it, (S, T)."""
    padded = np.pad(z, ((0, 0), (2, 2)), constant_values=-np.inf)
    around = [padded[:, by : by + z.shape[1]] for by in (0, 1, 3, 4)]
    return np.asarray(np.max(around, axis=0))


def _in_a_row(holds: BoolArray) -> FloatArray:
    """Count for how many points in a row, up to each, it has held, (S, T)."""
    count = np.zeros(holds.shape)
    for t in range(holds.shape[1]):
        count[:, t] = (count[:, t - 1] + 1.0) * holds[:, t] if t else holds[:, t]
    return count
