"""Habits: one phrase, in one finding or in all, far from where a reader's others put it.

A spike-and-slab prior, searched forward. For a cell (or a phrase) the data of which are taken out,
the rest of the reader and the department predict its log-odds as N(μ, ω); the evidence with a
habit of log-odds ± size (spread) is weighed against the evidence without:

    B_c = Σ_± ½ ∫ L(η) N(η; μ ± size, ω + spread²) dη  /  ∫ L(η) N(η; μ, ω) dη.

A reader has a habit with probability π, in place c with probability s_c in proportion to its
squared use (a habit is a way of using a word more than its share; places with fewer than 12
effective uses are left out), so P(c) = π s_c B_c / (1 − π + π Σ s B). The posterior mean of π
under a Beta prior over the department's readers is taken. In each round the most probable habit of
each reader above the threshold is let in and the model fitted again. Whatever is read off a place
with a habit is averaged over the fits with and without it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp

from calibration.arrays import FloatArray, IntArray
from calibration.profile.design import CURVE, Counts
from calibration.profile.line import Lines, lines
from calibration.profile.rates import Posterior, cell_variance, posterior
from calibration.profile.settings import Priors, ProfileSettings
from calibration.profile.variances import Fitted, Habits, fit

__all__ = ["Found", "fit_with_habits"]

_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(15)
_POINTS, _LOG_WEIGHTS = _NODES * np.sqrt(2.0), np.log(_WEIGHTS / np.sqrt(np.pi))
_FEW = 12.0
_SINGLE = 0.75
_ROUNDS = 4
_GRID = 100


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The fit with its habits, the posterior without any, and P(habit) of each let in.

    ``phrase`` is (R, K), ``cell`` is (R, H) as `Habits.cell`; 0 where there is none. ``share`` is
    the posterior mean of π.
    """

    counts: Counts
    fitted: Fitted
    posterior: Posterior
    plain: Posterior
    habits: Habits
    phrase: FloatArray
    cell: FloatArray
    share: float

    def lines(self) -> Lines:
        """Every reader's line, habits out of it as far as they are believed."""
        kept = np.ones_like(self.fitted.mode.reader)
        kept[:, self.counts.phrases] = 1.0 - self.phrase
        kept[:, self.counts.size :] = 1.0 - self.cell
        return lines(self.fitted, kept=kept)

    def probability(self) -> FloatArray:
        """P(habit) of every cell, of a phrase's habit in all its cells, shape (R, F, K)."""
        _, findings, phrases = self.counts.n.shape
        held = np.repeat(self.phrase[:, None, :], findings, axis=1)
        rows, columns = np.nonzero(self.habits.cell >= 0)
        finding, phrase = np.divmod(self.habits.cell[rows, columns], phrases)
        held[rows, finding, phrase] = self.cell[rows, columns]
        return held


def fit_with_habits(
    counts: Counts, *, settings: ProfileSettings, start: Fitted | None = None
) -> Found:
    """Fit, let the most probable habits in one at a time, and fit again."""
    habits = Habits.none(counts)
    phrase, cell = np.zeros_like(habits.phrase_sign), habits.cell_sign
    fitted = fit(counts, priors=settings.priors, habits=habits, start=start)
    found = plain = posterior(fitted)
    evidence = _evidence(counts, fitted, found, habits, settings)
    share = _share(evidence, settings.priors)
    for _ in range(_ROUNDS):
        best = _best(evidence, share)
        if not (best.probability >= settings.habit_probability).any():
            break
        habits, phrase, cell = _admitted(habits, phrase, cell, best, settings)
        fitted = fit(counts, priors=settings.priors, habits=habits, start=fitted)
        found = posterior(fitted)
        evidence = _evidence(counts, fitted, found, habits, settings)
    return Found(fitted.counts, fitted, found, plain, habits, phrase, cell, share)


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    """Each reader's most probable habit not yet let in: all (R,)."""

    probability: FloatArray
    place: IntArray
    sign: FloatArray


def _evidence(
    counts: Counts, fitted: Fitted, found: Posterior, habits: Habits, settings: ProfileSettings
) -> FloatArray:
    """Log s_c B_c below and above, shape (2, R, K + F·K): the K phrases, then the cells."""
    readers = len(counts.n)
    whole = _phrase_evidence(fitted, settings)
    whole[:, np.asarray(habits.phrase)] = -np.inf
    cells = _cell_evidence(counts, fitted, found, habits, settings)
    log_b = np.concatenate([whole, cells.reshape(2, readers, -1)], axis=2)
    prior = np.concatenate(
        [
            (1.0 - _SINGLE) * _by_use(counts.n.sum(axis=1)),
            _SINGLE * _by_use(counts.n.reshape(readers, -1)),
        ],
        axis=1,
    )
    return np.asarray(log_b + np.log(np.maximum(prior / 2.0, 1e-300)))


def _by_use(n: FloatArray) -> FloatArray:
    """Share of each place in a reader's squared uses, among those with enough, (R, places)."""
    able = np.where(n >= _FEW, n, 0.0) ** 2
    return np.asarray(able / np.maximum(able.sum(axis=1, keepdims=True), 1.0))


def _share(evidence: FloatArray, priors: Priors) -> float:
    """Posterior mean of π, the share of readers with a habit."""
    if not evidence.size:
        return 0.0
    reader = logsumexp(evidence, axis=(0, 2))
    grid = (np.arange(_GRID) + 0.5) / _GRID
    log_p = np.logaddexp(np.log1p(-grid), np.log(grid) + reader[:, None]).sum(axis=0)
    log_p = log_p + (priors.habit_share * priors.habit_worth - 1.0) * np.log(grid)
    log_p = log_p + ((1.0 - priors.habit_share) * priors.habit_worth - 1.0) * np.log1p(-grid)
    weight = np.exp(log_p - log_p.max())
    return float(weight @ grid / weight.sum())


def _best(evidence: FloatArray, share: float) -> _Best:
    """Find every reader's most probable place for a habit."""
    if not evidence.size:
        none = np.zeros(evidence.shape[1])
        return _Best(none, none.astype(np.int64), none)
    both = logsumexp(evidence, axis=0)
    place = np.argmax(both, axis=1)
    rows = np.arange(len(place))
    odds = np.log(max(share, 1e-12))
    every = np.logaddexp(np.log1p(-min(share, 1.0 - 1e-12)), odds + logsumexp(both, axis=1))
    sign = np.where(evidence[1, rows, place] >= evidence[0, rows, place], 1.0, -1.0)
    return _Best(np.exp(odds + both[rows, place] - every), place, sign)


def _phrase_evidence(fitted: Fitted, settings: ProfileSettings) -> FloatArray:
    """Log B of a habit below and above for every phrase of every reader, shape (2, R, K)."""
    counts, priors = fitted.counts, settings.priors
    k = counts.phrases
    spike = fitted.deviations.quirk**2 / fitted.tails[:, CURVE:]
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
    finding, phrase = np.divmod(habits.cell[rows, columns], len(counts.meaning))
    open_[rows, finding, phrase] = False
    if not open_.any():
        return log_b
    variance, read = cell_variance(counts, found, habits.cell)[open_], fitted.counts
    n, mass, chance = read.n[open_], read.mass[open_], found.chance[open_]
    weight = n * chance * (1.0 - chance)
    weight = weight / (1.0 + weight * remainder)
    eta = found.base[open_]
    precision = np.maximum(1.0 / variance - weight, 1e-3)
    centre = (eta / variance - weight * eta - (mass - n * chance)) / precision
    spike = 1.0 / precision + remainder
    cells = counts.take(open_)
    plain = _log_evidence(cells, centre, spike)
    priors = settings.priors
    for side, sign in enumerate((-1.0, 1.0)):
        moved = centre + sign * priors.habit_size
        slab = spike + priors.habit_spread**2
        log_b[side][open_] = _log_evidence(cells, moved, slab) - plain
    return log_b


def _log_evidence(cells: Counts, centre: FloatArray, variance: FloatArray) -> FloatArray:
    """Log ∫ L(η) N(η; centre, variance) dη of cells (C,), about the integrand's mode."""
    eta = centre.copy()
    for _ in range(12):
        p, read = expit(eta), cells.rightly_read(eta)
        curve = read.n * p * (1.0 - p) + 1.0 / variance
        step = (read.mass - read.n * p - (eta - centre) / variance) / curve
        eta = eta + np.clip(step, -2.0, 2.0)
    p = expit(eta)
    scale = 1.0 / np.sqrt(cells.rightly_read(eta).n * p * (1.0 - p) + 1.0 / variance)
    at = eta + scale * _POINTS[:, None]
    log_f = cells.log_likelihood(at) - (at - centre) ** 2 / (2.0 * variance)
    inner = logsumexp(log_f + (_LOG_WEIGHTS + _POINTS**2 / 2.0)[:, None], axis=0)
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
    place = best.place
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
