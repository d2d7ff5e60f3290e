"""Empirical Bayes: the hierarchy's standard deviations from the department's own readers.

On the Laplace posterior, with effects' means μ and variances v, each variance becomes

    σ² ← (ν s² + Σ w μ²) / (ν + Σ (1 − w v / σ²)),

with ν observations' worth of prior at s² (`Priors.worth`): the fixed point of EM in the faster form
of MacKay 1992, which counts the effects the data determine. A reader's effects of one kind (each
coordinate of the curve; the quirks; the findings; the cells) are together Student-t with t degrees
of freedom (`Priors.tails`), through w = (t + Σ (1 − w v / σ²)) / (t + Σ μ²/σ²), so that one reader
far off, or less regular than others, is neither pulled in nor widens the others. Phrase effects of
the department are d_k ~ N(0, s_k² + σ²) with the survey's error s_k.

These deviations lie near their priors where the data say little. Whether readers differ is asked of
the data alone (`readers_apart`): with b_r and s_r² a reader's shift and its variance without the
prior, τ is where Σ (b_r − b̄)² / (s_r² + τ²) meets R − 1, and its 95 % interval where it
meets the ends of χ²(R − 1) (Paule and Mandel 1982; Viechtbauer 2007).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri, expit

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.profile.design import CURVE, Counts, Scales, linear_predictor
from calibration.profile.model import Mode, find_mode
from calibration.profile.results import NOTHING, Interval
from calibration.profile.settings import Priors

_ROUNDS = 400
_SETTLED = 2e-3
# Where they stand among the deviations.
QUIRK, _READER_FINDING, _REMAINDER = 4, 7, 8


@dataclass(frozen=True, slots=True)
class Deviations:
    """Standard deviations of the hierarchy on the log-odds scale (see `Priors`)."""

    shift: float
    slope: float
    bend: float
    twist: float
    quirk: float
    phrase: float
    finding: float
    reader_finding: float
    remainder: float

    def values(self) -> FloatArray:
        """All nine in order, shape (9,)."""
        return np.array([getattr(self, name) for name in self.__slots__])


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Deviations held fixed while the mode is found, with Student weights w (R, 9) of the readers.

    In the order of `Deviations`; weights are 1 for effects that belong to no reader. ``degrees``
    (R, 9) of freedom stand behind each weight: the prior's, and one for every effect that the data
    determine.
    """

    deviations: Deviations
    tails: FloatArray
    degrees: FloatArray

    @property
    def spread(self) -> FloatArray:
        """Prior variance of a reader's effects of every kind, shape (R, 9)."""
        return np.asarray(self.deviations.values() ** 2 / self.tails)


@dataclass(frozen=True, slots=True, eq=False)
class Habits:
    """Which phrases (R, K) and which cells (R, H; flat f·K + k, −1 unused) hold a habit.

    Signs say on which side of the rest each lies: ``phrase_sign`` (R, K), 0 where there is none,
    and ``cell_sign`` (R, H).
    """

    phrase_sign: FloatArray
    cell: IntArray
    cell_sign: FloatArray

    @property
    def phrase(self) -> BoolArray:
        """Where a reader's phrase is a habit in all findings."""
        return np.asarray(self.phrase_sign != 0)

    def without(self, out: BoolArray) -> Habits:
        """Take some out, of the phrases (R, K) and then of the cells (R, H) in one array."""
        phrases = self.phrase_sign.shape[1]
        return Habits(
            np.where(out[:, :phrases], 0.0, self.phrase_sign),
            np.where(out[:, phrases:], -1, self.cell),
            np.where(out[:, phrases:], 0.0, self.cell_sign),
        )

    @classmethod
    def none(cls, counts: Counts) -> Habits:
        """No habit anywhere."""
        readers, _, phrases = counts.n.shape
        empty = np.zeros((readers, 0))
        return cls(np.zeros((readers, phrases)), empty.astype(np.int64), empty)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The model at its estimated deviations.

    ``counts`` are those of words rightly read at the mode (`Counts.rightly_read`).
    """

    counts: Counts
    habits: Habits
    mode: Mode
    scales: Scales
    held: Held
    rounds: int
    settled: bool


def fit(
    counts: Counts, *, priors: Priors, habits: Habits | None = None, start: Fitted | None = None
) -> Fitted:
    """Alternate between the mode and the deviations until neither moves."""
    chosen = Habits.none(counts) if habits is None else habits
    first = Deviations(*(getattr(priors, name) for name in Deviations.__slots__))
    nothing = np.ones((len(counts.n), len(priors.tails)))
    held = Held(first, nothing, nothing * priors.tails) if start is None else start.held
    for rounds in range(1, _ROUNDS + 1):
        now = _at(counts, priors, chosen, held, start)
        moved = _moved(now.counts, priors, now.scales, held, now.mode)
        change = np.abs(np.log(moved.deviations.values() / held.deviations.values())).max()
        now = replace(now, rounds=rounds, settled=bool(change < _SETTLED))
        if now.settled:
            break
        held, start = moved, now
    return now


def refit(counts: Counts, priors: Priors, habits: Habits, start: Fitted) -> Fitted:
    """Find the mode with other habits, at the same deviations."""
    now = _at(counts, priors, habits, start.held, start)
    return replace(now, rounds=start.rounds, settled=start.settled)


def _at(counts: Counts, priors: Priors, habits: Habits, held: Held, start: Fitted | None) -> Fitted:
    """Find the mode at given deviations, beginning where another fit stopped."""
    scales = _scales(counts, priors, habits, held)
    mode = find_mode(counts, scales, start=None if start is None else start.mode)
    read = counts.rightly_read(linear_predictor(counts, scales, mode.total) + mode.remainder)
    return Fitted(read, habits, mode, scales, held, 0, settled=False)


def _scales(counts: Counts, priors: Priors, habits: Habits, held: Held) -> Scales:
    """Prior precisions of every coordinate."""
    findings = counts.n.shape[1]
    theta = np.concatenate(
        [
            np.power(priors.common, -2.0),
            1.0 / (counts.survey**2 + held.deviations.phrase**2),
            np.full(findings, held.deviations.finding**-2),
        ]
    )
    variance = held.spread
    reader = np.empty((len(variance), counts.size + habits.cell.shape[1]))
    reader[:, :CURVE] = 1.0 / variance[:, :CURVE]
    slab = np.where(habits.phrase, priors.habit_spread**2, 0.0)
    reader[:, counts.phrases] = 1.0 / (variance[:, QUIRK, None] + slab)
    reader[:, counts.findings] = 1.0 / variance[:, _READER_FINDING, None]
    reader[:, counts.size :] = priors.habit_spread**-2
    mean = np.zeros_like(reader)
    mean[:, counts.phrases] = priors.habit_size * habits.phrase_sign
    mean[:, counts.size :] = priors.habit_size * habits.cell_sign
    return Scales(theta, reader, habits.cell, mean, variance[:, _REMAINDER, None, None])


def _moved(counts: Counts, priors: Priors, scales: Scales, held: Held, mode: Mode) -> Held:
    """Give new deviations and the Student weights of the readers."""
    now, tails, behind = held.deviations.values(), held.tails.copy(), held.degrees.copy()
    moved = []
    for i, (mean, variance) in enumerate(_effects(counts, scales, held, mode)):
        square, start = (mean**2).sum(axis=1), getattr(priors, Deviations.__slots__[i])
        weight, degrees, worth = tails[: len(mean), i], priors.tails[i], priors.worth[i]
        known = np.maximum(1.0 - weight[:, None] * variance / now[i] ** 2, 0.0).sum(axis=1)
        moved.append(float(np.sqrt((worth * start**2 + weight @ square) / (worth + known.sum()))))
        if np.isfinite(degrees):
            behind[:, i] = degrees + known
            tails[:, i] = behind[:, i] / (degrees + square / now[i] ** 2)
    return Held(Deviations(*moved), tails, behind)


def _effects(
    counts: Counts, scales: Scales, held: Held, mode: Mode
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Means and variances of the effects of every deviation, (R or 1, effects) each."""
    mean, variance = mode.reader - scales.habit_mean, mode.reader_variance()
    k, f = counts.phrases, counts.findings
    for i in range(CURVE):
        yield mean[:, i : i + 1], variance[:, i : i + 1]
    habit, spike = scales.habit_mean[:, k] != 0, held.spread[:, QUIRK, None]
    yield np.where(habit, 0.0, mean[:, k]), np.where(habit, spike, variance[:, k])
    yield _phrase_effects(counts, held.deviations, mode)
    yield mode.theta[None, f], np.diagonal(mode.theta_covariance)[None, f]
    yield mean[:, f], variance[:, f]
    chance = expit(linear_predictor(counts, scales, mode.total) + mode.remainder)
    weight = counts.n * chance * (1.0 - chance)
    left = 1.0 / (weight + 1.0 / scales.remainder)
    yield mode.remainder.reshape(len(weight), -1), left.reshape(len(weight), -1)


def _phrase_effects(counts: Counts, now: Deviations, mode: Mode) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the department's phrase effects without the survey's error."""
    spread = now.phrase**2
    share = spread / (spread + counts.survey**2)
    own = np.diagonal(mode.theta_covariance)[counts.phrases]
    mean = share * mode.theta[counts.phrases]
    return mean[None], (share**2 * own + spread * (1.0 - share))[None]


_TAILS, _DEVIATIONS = (0.025, 0.975), np.linspace(0.0, 3.0, 601)


def readers_apart(fitted: Fitted, enough: BoolArray, *, least: int) -> Interval:
    """Say how far readers' shifts differ by the data alone: their standard deviation.

    Nothing of fewer than ``least`` readers with statements ``enough`` (R,).
    """
    if (readers := int(enough.sum())) < least:
        return NOTHING
    mode, prior = fitted.mode, fitted.held.spread[enough, 0]
    variance = mode.covariance[enough, 0, 0]
    known = np.maximum(1.0 / variance - 1.0 / prior, 1e-9)
    shift = mode.reader[enough, 0] / variance / known
    weight = 1.0 / (1.0 / known + _DEVIATIONS[:, None] ** 2)
    centre = (weight @ shift / weight.sum(axis=1))[:, None]
    left = (weight * (shift - centre) ** 2).sum(axis=1)
    ends = (readers - 1.0, *(float(chdtri(readers - 1, tail)) for tail in _TAILS))
    at = (min(int((left > end).sum()), len(left) - 1) for end in ends)
    return Interval(*(float(_DEVIATIONS[each]) for each in at))
