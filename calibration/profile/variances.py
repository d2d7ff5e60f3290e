"""Empirical Bayes: the hierarchy's standard deviations from the department's own readers.

Generalised EM on the Laplace posterior: each variance becomes

    σ² ← (ν s² + Σ w E[effect²]) / (ν + number of effects),

with ν observations' worth of prior at s² (`Priors.worth`) and E over the posterior of the
effects. Readers' shifts and slopes are Student-t with `Priors.tail` degrees of freedom through
w = (t + 1) / (t + E[effect²]/σ²), so that one reader far off is neither pulled in nor widens the
others. Phrase effects of the department share d_k ~ N(0, s_k² + σ²) with the survey's error s_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.profile.model import Counts, Mode, Scales, find_mode
from calibration.profile.settings import Priors

__all__ = ["Deviations", "Fitted", "Habits", "fit"]

_ROUNDS = 80
_SETTLED = 2e-3


@dataclass(frozen=True, slots=True)
class Deviations:
    """Standard deviations of the hierarchy on the log-odds scale (see `Priors`)."""

    shift: float
    slope: float
    quirk: float
    phrase: float
    finding: float
    reader_finding: float

    def values(self) -> FloatArray:
        """All six in order, shape (6,)."""
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

    @classmethod
    def none(cls, counts: Counts) -> Habits:
        """No habit anywhere."""
        readers, _, phrases = counts.n.shape
        empty = np.zeros((readers, 0))
        return cls(np.zeros((readers, phrases)), empty.astype(np.int64), empty)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The model at its estimated deviations; ``tails`` (R, 2) are the Student weights w."""

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
    tails = np.ones((len(counts.n), 2)) if start is None else start.tails
    mode = None if start is None else start.mode
    rounds, change = 0, np.inf
    while change >= _SETTLED and rounds < _ROUNDS:
        rounds += 1
        scales = _scales(counts, priors, deviations, held, tails)
        mode = find_mode(counts, scales, start=mode)
        used = deviations
        deviations, tails = _moved(counts, priors, used, held, mode)
        change = float(np.abs(np.log(deviations.values() / used.values())).max())
    final = mode if mode is not None else find_mode(counts, scales)
    return Fitted(final, scales, used, tails, rounds, change < _SETTLED)


def _first(priors: Priors) -> Deviations:
    return Deviations(
        priors.shift, priors.slope, priors.quirk, priors.phrase, priors.finding,
        priors.reader_finding,
    )  # fmt: skip


def _scales(
    counts: Counts, priors: Priors, deviations: Deviations, habits: Habits, tails: FloatArray
) -> Scales:
    """Prior precisions of every coordinate."""
    readers, findings, _ = counts.n.shape
    theta = np.concatenate(
        [
            [priors.mean_shift**-2, priors.mean_slope**-2],
            1.0 / (counts.survey**2 + deviations.phrase**2),
            np.full(findings, deviations.finding**-2),
        ]
    )
    reader = np.empty((readers, counts.size + habits.cell.shape[1]))
    reader[:, :2] = tails / np.array([deviations.shift, deviations.slope]) ** 2
    slab = deviations.quirk**2 + priors.habit_spread**2
    quirks = reader[:, counts.phrases]
    quirks[...] = np.where(habits.phrase, 1.0 / slab, deviations.quirk**-2)
    reader[:, counts.findings] = deviations.reader_finding**-2
    reader[:, counts.size :] = priors.habit_spread**-2
    mean = np.zeros_like(reader)
    mean[:, counts.phrases] = priors.habit_size * habits.phrase_sign
    mean[:, counts.size :] = priors.habit_size * habits.cell_sign
    return Scales(theta, reader, habits.cell, mean)


def _moved(
    counts: Counts, priors: Priors, now: Deviations, habits: Habits, mode: Mode
) -> tuple[Deviations, FloatArray]:
    """One step of EM: new deviations and the Student weights of the readers."""
    square = mode.reader**2 + mode.reader_variance()
    line = square[:, :2]
    tails = (priors.tail + 1.0) / (priors.tail + line / np.array([now.shift, now.slope]) ** 2)
    quirks = square[:, counts.phrases][~habits.phrase]
    own = np.diagonal(mode.theta_covariance)
    spread = now.phrase**2
    share = spread / (spread + counts.survey**2)
    common = mode.theta**2 + own
    phrase = share**2 * common[counts.phrases] + spread * (1.0 - share)
    parts = (
        tails[:, 0] * line[:, 0], tails[:, 1] * line[:, 1], quirks, phrase,
        common[counts.findings], square[:, counts.findings].ravel(),
    )  # fmt: skip
    scales = _first(priors).values()
    moved = [
        np.sqrt((worth * scale**2 + part.sum()) / (worth + part.size))
        for worth, scale, part in zip(priors.worth, scales, parts, strict=True)
    ]
    return Deviations(*map(float, moved)), tails
