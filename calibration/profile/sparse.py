"""Habits: one phrase, in one finding or in all, far from where a reader's others put it.

A spike-and-slab prior, searched forward. For a cell (or a phrase) the data of which are taken out,
the rest of the reader and the department predict its log-odds as N(μ, ω); the evidence with a
habit of log-odds ± size (spread) is weighed against the evidence without:

    B = Σ_± ½ ∫ L(η) N(η; μ ± size, ω + spread²) dη  /  ∫ L(η) N(η; μ, ω) dη.

The prior odds are in proportion to use: a habit is a way of using a word often. In each round the
most probable habit of each reader above the threshold is let in and the model fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from calibration.arrays import FloatArray
from calibration.profile.model import Counts
from calibration.profile.posterior import Posterior, posterior
from calibration.profile.rates import cell_variance
from calibration.profile.settings import ProfileSettings
from calibration.profile.variances import Fitted, Habits, fit

__all__ = ["Found", "fit_with_habits"]

_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(15)
_POINTS, _LOG_WEIGHTS = _NODES * np.sqrt(2.0), np.log(_WEIGHTS / np.sqrt(np.pi))
_FEW = 5.0
_ROUNDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The fit with its habits, and P(habit) of each let in; 0 elsewhere.

    ``phrase`` is (R, K), ``cell`` is (R, H) as `Habits.cell`.
    """

    counts: Counts
    fitted: Fitted
    posterior: Posterior
    habits: Habits
    phrase: FloatArray
    cell: FloatArray


def fit_with_habits(
    counts: Counts, *, settings: ProfileSettings, start: Fitted | None = None
) -> Found:
    """Fit, let the most probable habits in one at a time, and fit again."""
    habits = Habits.none(counts)
    phrase, cell = np.zeros_like(habits.phrase_sign), habits.cell_sign
    fitted = fit(counts, priors=settings.priors, habits=habits, start=start)
    for _ in range(_ROUNDS):
        found = posterior(counts, fitted)
        best = _best(counts, fitted, found, habits, settings)
        if not (best.probability >= settings.habit_probability).any():
            break
        habits, phrase, cell = _admitted(habits, phrase, cell, best, settings)
        fitted = fit(counts, priors=settings.priors, habits=habits, start=fitted)
    return Found(counts, fitted, posterior(counts, fitted), habits, phrase, cell)


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    """Each reader's most probable habit not yet let in: all (R,)."""

    probability: FloatArray
    place: FloatArray
    sign: FloatArray


def _best(
    counts: Counts, fitted: Fitted, found: Posterior, habits: Habits, settings: ProfileSettings
) -> _Best:
    """Candidates are the K phrases (places 0 to K − 1) and the F·K cells (K and on)."""
    whole = _phrase_evidence(counts, fitted, settings)
    whole[:, np.asarray(habits.phrase)] = -np.inf
    cells = _cell_evidence(counts, fitted, found, habits, settings)
    log_b = np.concatenate([whole, cells.reshape(2, len(counts.n), -1)], axis=2)
    n = np.concatenate([counts.n.sum(axis=1), counts.n.reshape(len(counts.n), -1)], axis=1)
    total = np.maximum(counts.n.sum(axis=(1, 2)), 1.0)[:, None]
    prior = np.log(np.maximum(settings.priors.habits / 2.0 * n / total, 1e-12))
    odds = logsumexp(log_b, axis=0) - np.log(2.0) + prior
    place = np.argmax(odds, axis=1)
    rows = np.arange(len(place))
    top = odds[rows, place]
    sign = np.where(log_b[1, rows, place] >= log_b[0, rows, place], 1.0, -1.0)
    return _Best(1.0 / (1.0 + np.exp(-np.clip(top, -700, 700))), place.astype(np.float64), sign)


def _phrase_evidence(counts: Counts, fitted: Fitted, settings: ProfileSettings) -> FloatArray:
    """Log B of a habit below and above for every phrase of every reader, shape (2, R, K)."""
    priors, k = settings.priors, counts.phrases
    spike = fitted.deviations.quirk**2 / fitted.tails[:, 2:]
    variance = fitted.mode.reader_variance()[:, k]
    mean = fitted.mode.reader[:, k]
    precision = 1.0 / variance - 1.0 / spike
    known = precision > 1e-6
    noise = 1.0 / np.where(known, precision, 1.0)
    value = mean / variance * noise
    slab = noise + spike + priors.habit_spread**2
    plain = noise + spike
    log_b = np.stack(
        [
            -((value - side * priors.habit_size) ** 2 / slab + np.log(slab)) / 2.0
            + (value**2 / plain + np.log(plain)) / 2.0
            for side in (-1.0, 1.0)
        ]
    )
    enough = known & (counts.n.sum(axis=1) >= _FEW)
    return np.where(enough, log_b, -np.inf)


def _cell_evidence(
    counts: Counts, fitted: Fitted, found: Posterior, habits: Habits, settings: ProfileSettings
) -> FloatArray:
    """Log B of a habit below and above for every cell, shape (2, R, F, K)."""
    remainder = fitted.scales.remainder
    log_b = np.full((2, *counts.n.shape), -np.inf)
    open_ = counts.n >= _FEW
    rows, columns = np.nonzero(habits.cell >= 0)
    finding, phrase = np.divmod(habits.cell[rows, columns], len(counts.x))
    open_[rows, finding, phrase] = False
    if not open_.any():
        return log_b
    variance = cell_variance(counts, found, habits.cell)[open_]
    n, mass, chance = counts.n[open_], counts.mass[open_], found.chance[open_]
    weight = n * chance * (1.0 - chance)
    weight = weight / (1.0 + weight * remainder)
    eta = found.base[open_]
    precision = np.maximum(1.0 / variance - weight, 1e-3)
    centre = (eta / variance - weight * eta - (mass - n * chance)) / precision
    spike = 1.0 / precision + remainder
    plain = _log_evidence(n, mass, centre, spike)
    priors = settings.priors
    for side, sign in enumerate((-1.0, 1.0)):
        moved = centre + sign * priors.habit_size
        slab = spike + priors.habit_spread**2
        log_b[side][open_] = _log_evidence(n, mass, moved, slab) - plain
    return log_b


def _log_evidence(
    n: FloatArray, mass: FloatArray, centre: FloatArray, variance: FloatArray
) -> FloatArray:
    """Log ∫ exp(mass η − n log(1 + e^η)) N(η; centre, variance) dη, about the integrand's mode."""
    eta = centre.copy()
    for _ in range(12):
        p = 1.0 / (1.0 + np.exp(-eta))
        curve = n * p * (1.0 - p) + 1.0 / variance
        step = (mass - n * p - (eta - centre) / variance) / curve
        eta = eta + np.clip(step, -2.0, 2.0)
    p = 1.0 / (1.0 + np.exp(-eta))
    scale = 1.0 / np.sqrt(n * p * (1.0 - p) + 1.0 / variance)
    at = eta[:, None] + scale[:, None] * _POINTS
    log_f = (
        mass[:, None] * at
        - n[:, None] * np.logaddexp(0.0, at)
        - (at - centre[:, None]) ** 2 / (2.0 * variance[:, None])
    )
    inner = logsumexp(log_f + _LOG_WEIGHTS + _POINTS**2 / 2.0, axis=1)
    return np.asarray(inner + np.log(scale) - np.log(variance) / 2.0)


def _admitted(
    habits: Habits,
    phrase: FloatArray,
    cell: FloatArray,
    best: _Best,
    settings: ProfileSettings,
) -> tuple[Habits, FloatArray, FloatArray]:
    """Let each reader's best habit in where it is probable enough; add a column for cells."""
    chosen = best.probability >= settings.habit_probability
    count = habits.phrase_sign.shape[1]
    signs, phrase = habits.phrase_sign.copy(), phrase.copy()
    place = best.place.astype(np.int64)
    whole = np.flatnonzero(chosen & (place < count))
    signs[whole, place[whole]] = best.sign[whole]
    phrase[whole, place[whole]] = best.probability[whole]
    single = chosen & (place >= count)
    column = np.where(single, place - count, -1)[:, None]
    if single.any():
        cells = np.concatenate([habits.cell, column], axis=1)
        sides = np.concatenate(
            [habits.cell_sign, np.where(single, best.sign, 0.0)[:, None]], axis=1
        )
        cell = np.concatenate([cell, np.where(single, best.probability, 0.0)[:, None]], axis=1)
        return Habits(signs, cells, sides), phrase, cell
    return Habits(signs, habits.cell, habits.cell_sign), phrase, cell
