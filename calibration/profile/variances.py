"""Empirical Bayes: the hierarchy's standard deviations from the department's own readers.

On the Laplace posterior, with effects' means μ and variances v, each variance becomes

    σ² ← (ν s² + Σ w μ²) / (ν + Σ (1 − w v / σ²)),

with ν observations' worth of prior at s² (`Priors.worth`): the fixed point of EM in the faster form
of MacKay 1992, which counts the effects the data determine. A reader's shift, slope and set of
quirks are Student-t, `Priors.tail` and `Priors.quirk_tail` degrees of freedom, through
w = (t + n) / (t + Σ E[effect²]/σ²) over the n effects of the set, so that one reader far off is
neither pulled in nor widens the others. Phrase effects of the department are d_k ~ N(0, s_k² + σ²)
with the survey's error s_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.profile.design import CURVE, Counts, Scales, linear_predictor
from calibration.profile.model import Mode, find_mode
from calibration.profile.settings import Priors

_ROUNDS = 80
_SETTLED = 2e-3


@dataclass(frozen=True, slots=True)
class Deviations:
    """Standard deviations of the hierarchy on the log-odds scale (see `Priors`)."""

    shift: float
    slope: float
    bend: float
    quirk: float
    phrase: float
    finding: float
    reader_finding: float
    remainder: float

    def values(self) -> FloatArray:
        """All eight in order, shape (8,)."""
        return np.array([getattr(self, name) for name in self.__slots__])


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
    """The model at its estimated deviations; ``tails`` (R, 4) are the Student weights w.

    ``counts`` are those of words rightly read at the mode (`Counts.rightly_read`).
    """

    counts: Counts
    mode: Mode
    scales: Scales
    deviations: Deviations
    tails: FloatArray
    rounds: int
    settled: bool


def fit(
    counts: Counts, *, priors: Priors, habits: Habits | None = None, start: Fitted | None = None
) -> Fitted:
    """Alternate between the mode and the deviations until neither moves."""
    held = Habits.none(counts) if habits is None else habits
    deviations = _first(priors) if start is None else start.deviations
    tails = np.ones((len(counts.n), CURVE + 1)) if start is None else start.tails
    mode = None if start is None else start.mode
    for rounds in range(1, _ROUNDS + 1):
        scales = _scales(counts, priors, deviations, held, tails)
        mode = find_mode(counts, scales, start=mode)
        read = counts.rightly_read(linear_predictor(counts, scales, mode.total) + mode.remainder)
        moved, weights = _moved(read, priors, scales, deviations, mode)
        change = float(np.abs(np.log(moved.values() / deviations.values())).max())
        now = Fitted(read, mode, scales, deviations, tails, rounds, change < _SETTLED)
        if now.settled:
            break
        deviations, tails = moved, weights
    return now


def refit(counts: Counts, priors: Priors, habits: Habits, start: Fitted) -> Fitted:
    """Find the mode with other habits, at the same deviations."""
    scales = _scales(counts, priors, start.deviations, habits, start.tails)
    mode = find_mode(counts, scales, start=start.mode)
    read = counts.rightly_read(linear_predictor(counts, scales, mode.total) + mode.remainder)
    return Fitted(read, mode, scales, start.deviations, start.tails, start.rounds, start.settled)


def _first(priors: Priors) -> Deviations:
    return Deviations(*(getattr(priors, name) for name in Deviations.__slots__))


def _scales(
    counts: Counts, priors: Priors, deviations: Deviations, habits: Habits, tails: FloatArray
) -> Scales:
    """Prior precisions of every coordinate."""
    readers, findings, _ = counts.n.shape
    theta = np.concatenate(
        [
            [priors.mean_shift**-2, priors.mean_slope**-2, priors.mean_bend**-2],
            1.0 / (counts.survey**2 + deviations.phrase**2),
            np.full(findings, deviations.finding**-2),
        ]
    )
    reader = np.empty((readers, counts.size + habits.cell.shape[1]))
    reader[:, :CURVE] = tails[:, :CURVE] / deviations.values()[:CURVE] ** 2
    spike = deviations.quirk**2 / tails[:, CURVE:]
    slab = spike + priors.habit_spread**2
    reader[:, counts.phrases] = np.where(habits.phrase, 1.0 / slab, 1.0 / spike)
    reader[:, counts.findings] = deviations.reader_finding**-2
    reader[:, counts.size :] = priors.habit_spread**-2
    mean = np.zeros_like(reader)
    mean[:, counts.phrases] = priors.habit_size * habits.phrase_sign
    mean[:, counts.size :] = priors.habit_size * habits.cell_sign
    return Scales(theta, reader, habits.cell, mean, deviations.remainder**2)


def _moved(
    counts: Counts, priors: Priors, scales: Scales, now: Deviations, mode: Mode
) -> tuple[Deviations, FloatArray]:
    """Give new deviations and the Student weights of the readers."""
    mean, variance = mode.reader - scales.habit_mean, mode.reader_variance()
    curve = mean[:, :CURVE] ** 2, variance[:, :CURVE]
    k, f = counts.phrases, counts.findings
    plain = scales.habit_mean[:, k] == 0
    quirk = np.where(plain, (mean[:, k] ** 2 + variance[:, k]) / now.quirk**2, 1.0)
    scaled = np.concatenate(
        [sum(curve) / now.values()[:CURVE] ** 2, quirk.sum(axis=1, keepdims=True)], axis=1
    )
    degrees = np.array([priors.tail] * CURVE + [priors.quirk_tail])
    tails = (degrees + np.array([1] * CURVE + [plain.shape[1]])) / (degrees + scaled)
    own = np.diagonal(mode.theta_covariance)
    effects = (
        *((tails[:, i] * curve[0][:, i], tails[:, i] * curve[1][:, i]) for i in range(CURVE)),
        ((tails[:, CURVE:] * mean[:, k] ** 2)[plain], (tails[:, CURVE:] * variance[:, k])[plain]),
        _phrase_effects(counts, now, mode),
        (mode.theta[f] ** 2, own[f]),
        (mean[:, f] ** 2, variance[:, f]),
        _remainders(counts, scales, mode),
    )
    start = _first(priors).values()
    moved = [
        _updated(worth, scale, before, *effect)
        for worth, scale, before, effect in zip(
            priors.worth, start, now.values(), effects, strict=True
        )
    ]
    return Deviations(*moved), tails


def _updated(
    worth: float, scale: float, before: float, square: FloatArray, variance: FloatArray
) -> float:
    determined = float(np.maximum(1.0 - variance / before**2, 0.0).sum())
    return float(np.sqrt((worth * scale**2 + square.sum()) / (worth + determined)))


def _phrase_effects(counts: Counts, now: Deviations, mode: Mode) -> tuple[FloatArray, FloatArray]:
    """Squared means and variances of the department's phrase effects without the survey's error."""
    spread = now.phrase**2
    share = spread / (spread + counts.survey**2)
    own = np.diagonal(mode.theta_covariance)[counts.phrases]
    mean = share * mode.theta[counts.phrases]
    return mean**2, share**2 * own + spread * (1.0 - share)


def _remainders(counts: Counts, scales: Scales, mode: Mode) -> tuple[FloatArray, FloatArray]:
    """Squared means and variances of the remainders of occupied cells, their line as known."""
    used = counts.n > 0
    chance = expit(linear_predictor(counts, scales, mode.total) + mode.remainder)[used]
    weight = counts.n[used] * chance * (1.0 - chance)
    return mode.remainder[used] ** 2, 1.0 / (weight + 1.0 / scales.remainder)
