"""Habits: one phrase, in one finding or in all, whose rate lies far from the reader's other words.

A spike-and-slab prior, searched forward. For a cell (or a phrase) the data of which are taken out,
the rest of the reader and the department predict its log-odds as N(μ, ω); the evidence with a
habit of log-odds ± size (spread) is weighed against the evidence without:

    B_c = Σ_± ½ ∫ L(η) N(η; μ ± size, ω + spread²) dη  /  ∫ L(η) N(η; μ, ω) dη.

A reader has a habit with probability π, in place c with probability s_c: three in four in a single
cell, in proportion to (n_fk · n_fk n / (n_f n_k))², and else in a phrase, in proportion to n_k².
The excess n_fk n / (n_f n_k) is there because a habit goes with using a word more than its share;
for a word used almost only in one finding it is all that distinguishes a habit in that finding from
a quirk. Places with fewer than `FEW_USES` effective uses are left out. So P(c) = π s_c B_c / (1 − π
+ π Σ s B), with the posterior mean of π under a Beta prior over the department's readers. In each
round the most probable habit of each reader above the threshold is let in and the model fitted
again. At the end every habit's probability is computed again with the others in, because a habit
that is not yet let in hides others. A rate at a place with a habit is averaged over the fits with
and without it.

The suspected word (`HabitFit.suspected`). A habit of a word that is written everywhere may be seen
in one finding or in all, and then has a middling probability in each place. The probability that
the word holds a habit at all is the sum over its places before any habit was let in, or the largest
one at the end, if that is more (a large habit widens a reader's own scale until it is let in).
`without_word` fits the model without that word, for what the reader's other words say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit, logsumexp

from calibration.arrays import BoolArray, FloatArray, IntArray, divided
from calibration.profile.design import Counts, places
from calibration.profile.rates import Posterior, cell_variance, posterior
from calibration.profile.settings import Priors, ProfileSettings
from calibration.profile.variances import QUIRK, Fitted, Habits, fit, refit

_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(15)
_POINTS, _LOG_WEIGHTS = _NODES * np.sqrt(2.0), np.log(_WEIGHTS / np.sqrt(np.pi))
FEW_USES = 16.0
"""Effective uses below which a place is not searched for a habit."""
_SINGLE = 0.75
_HABITS = 4
ROUNDS = 1 + _HABITS
_GRID = 100


@dataclass(frozen=True, slots=True, eq=False)
class Far:
    """Words in all findings, all (R, K), that may be far off though no habit was let in there.

    ``probability`` is that they are, any word as likely as another; the quirk is then ``moved`` so
    far and its variance ``widened`` by so much.
    """

    probability: FloatArray
    moved: FloatArray
    widened: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class HabitFit:
    """The fit with the habits let in, the posterior without any, and P(habit) of each.

    ``phrase`` is (R, K), ``cell`` is (R, H) as `Habits.cell`; 0 where there is none. ``first``
    (R, 1 + F, K) is P(habit) of every place before one was let in: of phrases, then of cells.
    ``far`` are words where none was.
    """

    fitted: Fitted
    posterior: Posterior
    plain: Posterior
    phrase: FloatArray
    cell: FloatArray
    first: FloatArray
    far: Far

    @property
    def counts(self) -> Counts:
        """Effective counts of words rightly read."""
        return self.fitted.counts

    def kept(self) -> FloatArray:
        """Share of each coordinate of u_r that is no habit of one finding, shape (R, L)."""
        kept = np.ones_like(self.fitted.mode.reader)
        kept[:, self.counts.size :] = 1.0 - self.cell
        return kept

    def suspected(self) -> tuple[IntArray, FloatArray]:
        """Each reader's word that most probably holds a habit, in one finding or in all, and P."""
        each = np.maximum(self.first.sum(axis=1), self.probability().max(axis=1, initial=0.0))
        return np.argsort(-each, axis=1)[:, :1].sum(axis=1), each.max(axis=1, initial=0.0)

    def probability(self) -> FloatArray:
        """P(habit) of every cell, of a phrase's habit in all its cells, shape (R, F, K)."""
        _, findings, phrases = self.counts.n.shape
        held = np.repeat(self.phrase[:, None, :], findings, axis=1)
        rows, columns, finding, phrase = places(self.posterior.cell, phrases)
        held[rows, finding, phrase] = self.cell[rows, columns]
        return held


def fit_with_habits(
    counts: Counts,
    *,
    settings: ProfileSettings,
    advance: Callable[[int], None],
    start: Fitted | None = None,
) -> HabitFit:
    """Fit, let the most probable habits in one at a time, and fit again, `ROUNDS` fits at most."""
    share, (readers, findings, phrases) = 0.0, counts.n.shape
    first = np.zeros((readers, 1 + findings, phrases))
    fitted = fit(counts, priors=settings.priors, start=start)
    found = plain = posterior(fitted)
    advance(1)
    for turn in range(_HABITS if counts.n.size else 0):
        evidence = _evidence(counts, fitted, found, settings)
        if not turn:
            share = _share(evidence, settings.priors)
            first = np.exp(_log_probability(evidence, share)).reshape(first.shape)
        habits = _admitted(fitted.habits, evidence, share, settings)
        if habits is None:
            advance(_HABITS - turn)
            break
        fitted = fit(counts, priors=settings.priors, habits=habits, start=fitted)
        found = posterior(fitted)
        advance(1)
    phrase, cell = _read_again(counts, fitted, settings)
    far = _far(fitted, settings.priors)
    return HabitFit(fitted, found, plain, phrase, cell, first, far)


def without_word(found: HabitFit, counts: Counts, settings: ProfileSettings) -> HabitFit:
    """Find the mode without every use of each reader's suspected word, at the same deviations."""
    kept = np.arange(counts.n.shape[2]) != found.suspected()[0][:, None]
    left = replace(counts, n=counts.n * kept[:, None], mass=counts.mass * kept[:, None])
    fitted = refit(left, settings.priors, found.fitted.habits, found.fitted)
    return replace(found, fitted=fitted, posterior=posterior(fitted))


def _read_again(
    counts: Counts, fitted: Fitted, settings: ProfileSettings
) -> tuple[FloatArray, FloatArray]:
    """P(habit) of every habit let in, the reader's others being in: (R, K) and (R, H).

    One habit of each reader at a time is taken out, the mode found at the same deviations, and the
    evidence read at its place.
    """
    habits, (readers, phrases) = fitted.habits, fitted.habits.phrase_sign.shape
    held = np.concatenate([habits.phrase, habits.cell >= 0], axis=1)
    whole = np.broadcast_to(np.arange(phrases), (readers, phrases))
    place = np.concatenate([whole, phrases + habits.cell], axis=1)
    number, probability = held.cumsum(axis=1), np.zeros(held.shape)
    for turn in range(1, int(number.max(initial=0)) + 1):
        out = held & (number == turn)
        there = refit(counts, settings.priors, habits.without(out), fitted)
        evidence = _evidence(counts, there, posterior(there), settings)
        log_p = _log_probability(evidence, _share(evidence, settings.priors))
        rows, columns = np.nonzero(out)
        probability[rows, columns] = np.exp(log_p[rows, place[rows, columns]])
    return probability[:, :phrases], probability[:, phrases:]


def _evidence(
    counts: Counts, fitted: Fitted, found: Posterior, settings: ProfileSettings
) -> FloatArray:
    """Log s_c B_c below and above, shape (2, R, K + F·K): the K phrases, then the cells."""
    readers = len(counts.n)
    whole = _phrase_evidence(fitted, settings)
    whole[:, fitted.habits.phrase] = -np.inf
    cells = _cell_evidence(counts, fitted, found, settings.priors)
    log_b = np.concatenate([whole, cells.reshape(2, readers, -1)], axis=2)
    by_phrase = counts.n.sum(axis=1)
    single = _SINGLE * _shares(counts.n * _excess(counts.n), counts.n)
    prior = np.concatenate([(1.0 - _SINGLE) * _shares(by_phrase, by_phrase), single], axis=1)
    return np.asarray(log_b + np.log(np.maximum(prior / 2.0, 1e-300)))


def _excess(n: FloatArray) -> FloatArray:
    """n_fk n / (n_f n_k): how many times as often as expected a word stands in a finding."""
    expected = n.sum(axis=1, keepdims=True) * n.sum(axis=2, keepdims=True)
    total = n.sum(axis=(1, 2), keepdims=True)
    return divided(n * total, expected, nothing=0.0)


def _shares(use: FloatArray, n: FloatArray) -> FloatArray:
    """Share of each place in a reader's squared uses, among those with enough, (R, places)."""
    able = np.where(n >= FEW_USES, use, 0.0).reshape(len(n), -1) ** 2
    return divided(able, able.sum(axis=1, keepdims=True), nothing=0.0)


def _share(evidence: FloatArray, priors: Priors) -> float:
    """Posterior mean of π, the share of readers with a habit."""
    reader = logsumexp(evidence, axis=(0, 2))
    grid = (np.arange(_GRID) + 0.5) / _GRID
    log_p = np.logaddexp(np.log1p(-grid), np.log(grid) + reader[:, None]).sum(axis=0)
    log_p = log_p + (priors.habit_share * priors.habit_worth - 1.0) * np.log(grid)
    log_p = log_p + ((1.0 - priors.habit_share) * priors.habit_worth - 1.0) * np.log1p(-grid)
    weight = np.exp(log_p - log_p.max())
    return float(weight @ grid / weight.sum())


def _log_probability(evidence: FloatArray, share: float) -> FloatArray:
    """Log P(c) of a habit in every place, shape (R, places)."""
    both = np.log(max(share, 1e-12)) + logsumexp(evidence, axis=0)
    every = np.logaddexp(np.log1p(-min(share, 1.0 - 1e-12)), logsumexp(both, axis=1))
    return np.asarray(both - every[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class _Apart:
    """What the data alone say of every quirk: N(value, noise) where known, all (R, K).

    ``spike`` (R, 1) is its prior variance without a habit, ``slab`` with one.
    """

    value: FloatArray
    noise: FloatArray
    known: BoolArray
    spike: FloatArray
    slab: FloatArray

    @classmethod
    def of(cls, fitted: Fitted, priors: Priors) -> _Apart:
        k, spike = fitted.counts.phrases, fitted.held.spread[:, QUIRK, None]
        variance = fitted.mode.reader_variance()[:, k]
        precision = 1.0 / variance - 1.0 / spike
        known = precision > 1e-6
        noise = 1.0 / np.where(known, precision, 1.0)
        value = fitted.mode.reader[:, k] / variance * noise
        return cls(value, noise, known, spike, spike + priors.habit_spread**2)

    def evidence(self, size: float) -> FloatArray:
        """Log B of a habit of a size below and above, shape (2, R, K)."""
        slab, plain = self.noise + self.slab, self.noise + self.spike
        return np.stack(
            [
                -((self.value - side * size) ** 2 / slab + np.log(slab)) / 2.0
                + (self.value**2 / plain + np.log(plain)) / 2.0
                for side in (-1.0, 1.0)
            ]
        )


def _phrase_evidence(fitted: Fitted, settings: ProfileSettings) -> FloatArray:
    """Log B of a habit below and above for every phrase of every reader, shape (2, R, K)."""
    apart = _Apart.of(fitted, settings.priors)
    able = apart.known & (fitted.counts.n.sum(axis=1) >= FEW_USES)
    return np.where(able, apart.evidence(settings.priors.habit_size), -np.inf)


def _far(fitted: Fitted, priors: Priors) -> Far:
    """Say how probably each word is far off, and what its quirk then is.

    The prior share of readers with a habit is spread over a reader's words. The department's own
    share is that of habits that could be found, and says little of words too rare for that.
    """
    apart, size = _Apart.of(fitted, priors), priors.habit_size
    used = apart.known & (fitted.counts.n.sum(axis=1) > 0)
    log_b = np.where(used, apart.evidence(size), -np.inf)
    each = priors.habit_share / np.maximum(used.sum(axis=1, keepdims=True), 1)
    probability = expit(logit(each) + logsumexp(log_b, axis=0) - np.log(2.0))
    side = np.where(log_b[1] >= log_b[0], size, -size)
    wide, tight = (1.0 / (1.0 / apart.noise + 1.0 / s) for s in (apart.slab, apart.spike))
    told = apart.value / apart.noise
    moved = wide * (told + side / apart.slab) - tight * told
    return Far(np.asarray(probability), moved, wide - tight)


def _cell_evidence(counts: Counts, fitted: Fitted, found: Posterior, priors: Priors) -> FloatArray:
    """Log B of a habit below and above for every cell, shape (2, R, F, K)."""
    log_b = np.full((2, *counts.n.shape), -np.inf)
    open_ = counts.n >= FEW_USES
    rows, _, finding, phrase = places(found.cell, len(counts.meaning))
    open_[rows, finding, phrase] = False
    if not open_.any():
        return log_b
    variance, read = cell_variance(counts, found)[open_], fitted.counts
    remainder = np.broadcast_to(fitted.scales.remainder, open_.shape)[open_]
    n, mass, chance = read.n[open_], read.mass[open_], found.chance[open_]
    weight = n * chance * (1.0 - chance)
    weight = weight / (1.0 + weight * remainder)
    eta = found.base[open_]
    precision = np.maximum(1.0 / variance - weight, 1e-3)
    centre = (eta / variance - weight * eta - (mass - n * chance)) / precision
    spike = 1.0 / precision + remainder
    cells = counts.take(open_)
    plain = _log_evidence(cells, centre, spike)
    slab = spike + priors.habit_spread**2
    for side, sign in enumerate((-1.0, 1.0)):
        moved = centre + sign * priors.habit_size
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
    habits: Habits, evidence: FloatArray, share: float, settings: ProfileSettings
) -> Habits | None:
    """Let each reader's most probable habit in where it is probable enough; None where none is.

    Habits in single cells get a column.
    """
    log_p = _log_probability(evidence, share)
    place, rows = np.argmax(log_p, axis=1), np.arange(len(log_p))
    chosen = np.exp(log_p[rows, place]) >= settings.habit_probability
    if not chosen.any():
        return None
    side = np.where(evidence[1, rows, place] >= evidence[0, rows, place], 1.0, -1.0)
    signs, count = habits.phrase_sign.copy(), habits.phrase_sign.shape[1]
    whole = np.flatnonzero(chosen & (place < count))
    signs[whole, place[whole]] = side[whole]
    single = (chosen & (place >= count))[:, None]
    if not single.any():
        return replace(habits, phrase_sign=signs)
    column = np.where(single, place[:, None] - count, -1)
    return Habits(
        signs,
        np.concatenate([habits.cell, column], axis=1),
        np.concatenate([habits.cell_sign, np.where(single, side[:, None], 0.0)], axis=1),
    )
