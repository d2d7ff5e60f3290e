"""What the posterior says of any of a reader's rates, in one finding or over all of them.

Of a department's phrase effect d_k the share s²/(s² + σ²) is the survey's: it moves the meaning
m_k, not the reader.

Over all findings the rate is Σ_f w_f p_fk, weighted by the reader's own uses w_f. Its variance is
that of its gradient in the model's coordinates; on its log-odds it is treated as Student's t. What
is chosen for advice or as a habit is chosen because it lies far off, where the tails matter. A word
that is only listed has `_LISTED` times the degrees of freedom: without, its intervals held the
truth too often in simulation (docs/method.md). The factor is measured, not derived.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit, logit, ndtri, stdtr, stdtrit

from calibration.arrays import BoolArray, FloatArray, IntArray, divided
from calibration.estimate import Z95
from calibration.profile.design import CURVE, Counts, linear_predictor, places
from calibration.profile.results import Interval
from calibration.profile.variances import Fitted


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Covariances of every reader's coordinates, and what they make of every cell.

    Attributes
    ----------
    cell
        Single cells with a habit, as `Habits.cell`, shape (R, H).
    covariance
        Of θ + u_r with habits, shape (R, L, L).
    base, chance
        Log-odds of every cell without its remainder, and P(CT positive) with it, (R, F, K).
    remainder
        Variance of every cell's remainder given the rest, shape (R, F, K).
    with_quirks
        How far every coordinate goes with each quirk of u_r, by regression, shape (R, L, K).
    survey_error, survey_variance
        The survey's error of each phrase's meaning and its variance, shape (K,).
    """

    cell: IntArray
    covariance: FloatArray
    base: FloatArray
    chance: FloatArray
    remainder: FloatArray
    with_quirks: FloatArray
    survey_error: FloatArray
    survey_variance: FloatArray


def posterior(fitted: Fitted) -> Posterior:
    """Gather what all readings of the fit need."""
    counts = fitted.counts
    mode, size = fitted.mode, counts.size
    spread = np.eye(mode.reader.shape[1], size) - mode.leverage
    covariance = mode.covariance + spread @ mode.theta_covariance @ spread.transpose(0, 2, 1)
    survey, own = counts.survey**2, fitted.held.deviations.phrase**2
    share, effect = survey / (survey + own), counts.phrases
    base, across = linear_predictor(counts, fitted.scales, mode.total), mode.leverage[:, effect]
    quirks = spread @ mode.theta_covariance @ across.transpose(0, 2, 1)
    quirks = mode.covariance[:, :, effect] - quirks
    chance = np.asarray(expit(base + mode.remainder))
    return Posterior(
        cell=fitted.scales.cell,
        covariance=covariance,
        base=base,
        chance=chance,
        remainder=1.0 / (counts.n * chance * (1.0 - chance) + 1.0 / fitted.scales.remainder),
        with_quirks=quirks / mode.reader_variance()[:, None, effect],
        survey_error=share * mode.theta[effect],
        survey_variance=own * share + share**2 * np.diagonal(mode.theta_covariance)[effect],
    )


_TAIL = 0.025
_EDGE = 1e-9
_FAR = 40.0
_LISTED = 3.0
_QUANTILES = ndtri((np.arange(64) + 0.5) / 64)


@dataclass(frozen=True, slots=True)
class Rate:
    """One rate's posterior on the log-odds scale: two Student's t mixed.

    ``weight`` is P(habit); ``centre`` and ``variance`` hold with it, ``plain_centre`` and
    ``plain_variance`` without. Where no habit was let in, all weight is on the first.
    ``degrees`` of freedom stand behind ``variance``, as the scale of a reader's quirks is known.
    """

    centre: float
    variance: float
    plain_centre: float
    plain_variance: float
    weight: float
    degrees: float = np.inf

    @property
    def listed(self) -> Rate:
        """The rate of a word that was not chosen because of it."""
        return replace(self, degrees=_LISTED * self.degrees)

    def less(self, offset: float, variance: float = 0.0) -> Rate:
        """Give the rate with its log-odds lower by ``offset``, known less by ``variance``."""
        return Rate(
            self.centre - offset, self.variance + variance, self.plain_centre - offset,
            self.plain_variance + variance, self.weight, self.degrees,
        )  # fmt: skip

    @property
    def value(self) -> float:
        """The expected rate."""
        with_it, without = expit(self.centre), expit(self.plain_centre)
        return float(self.weight * with_it + (1.0 - self.weight) * without)

    def above(self, log_odds: FloatArray, doubt: FloatArray) -> FloatArray:
        """P(log-odds above each of the given, which have variances ``doubt``)."""
        z = (self.centre - log_odds) / np.sqrt(self.variance + doubt)
        plain_z = (self.plain_centre - log_odds) / np.sqrt(self.plain_variance + doubt)
        with_it, without = stdtr(self.degrees, z), stdtr(self.degrees, plain_z)
        return np.asarray(self.weight * with_it + (1.0 - self.weight) * without)

    def interval(self) -> Interval:
        """Give the expected rate with its central 95 % interval."""
        if self.weight >= 1.0:
            half = float(stdtrit(self.degrees, 1.0 - _TAIL) * np.sqrt(self.variance))
            ends = (self.centre - half, self.centre + half)
        else:
            ends = (self._quantile(_TAIL), self._quantile(1.0 - _TAIL))
        return Interval(self.value, float(expit(ends[0])), float(expit(ends[1])))

    def _quantile(self, q: float) -> float:
        reach = _FAR * np.sqrt(max(self.variance, self.plain_variance))
        low = min(self.centre, self.plain_centre) - reach
        high = max(self.centre, self.plain_centre) + reach
        nothing = np.zeros(1)

        def missing(x: float) -> float:
            return float(1.0 - self.above(np.array([x]), nothing)[0]) - q

        return float(brentq(missing, low, high, xtol=1e-8))


def expected_distance(rate: Interval, meaning: float) -> float:
    """Give the expected distance of a rate from a meaning, by the rate as it is printed.

    Of a rate near it that is more than their difference, which lets those on both sides even out.

    Examples
    --------
    >>> round(expected_distance(Interval(0.5, 0.4, 0.6), 0.5), 3)
    0.041
    """
    low, centre, high = logit(np.clip([rate.low, rate.value, rate.high], _EDGE, 1.0 - _EDGE))
    apart = expit(centre + (high - low) / (2.0 * Z95) * _QUANTILES) - meaning
    return float(np.abs(apart).mean())


def cell_variance(counts: Counts, found: Posterior) -> FloatArray:
    """Posterior variance of every cell's log-odds without its remainder, shape (R, F, K)."""
    c, curve = found.covariance, counts.curve
    k, f, b = counts.phrases, counts.findings, slice(0, CURVE)
    diagonal = np.diagonal(c, axis1=1, axis2=2)
    own = np.einsum("ki,rij,kj->rk", curve, c[:, b, b], curve) + diagonal[:, k]
    own = own + 2.0 * np.einsum("ki,rik->rk", curve, c[:, b, k])
    with_f = diagonal[:, f, None] + 2.0 * c[:, f, b] @ curve.T
    variance = own[:, None, :] + with_f + 2.0 * c[:, f, k]
    rows, columns, finding, phrase = places(found.cell, len(curve))
    at = counts.size + columns
    joint = (c[rows, at, :CURVE] * curve[phrase]).sum(axis=1) + c[rows, at, k.start + phrase]
    joint = joint + c[rows, at, f.start + finding]
    np.add.at(variance, (rows, finding, phrase), c[rows, at, at] + 2.0 * joint)
    return np.asarray(np.maximum(variance, 1e-12))


def cell_rates(counts: Counts, found: Posterior) -> tuple[FloatArray, FloatArray]:
    """Log-odds and variance of every cell, shape (R, F, K) each, with its finding's tilt."""
    centre = logit(np.clip(found.chance, _EDGE, 1.0 - _EDGE))
    free, (tilt, doubt) = _free(counts, found), _tilts(counts, found)
    own = free**2 * (cell_variance(counts, found) + doubt)
    return np.asarray(centre + free * tilt), own + found.remainder


def _tilts(counts: Counts, found: Posterior) -> tuple[FloatArray, FloatArray]:
    """Say how far a finding moves strong and weak words apart in all hands, and how unsurely.

    The model moves all words of a finding alike. A CT that misses the share q of it takes
    log((1 − (1 − q) M) / (1 − M)) more off the log-odds of a word that means M, and that goes as
    −log(1 − M). So finding f has a slope s_f ~ N(0, σ²) over z, which is −log(1 − M) less its mean
    there: by the score g_f and information G_f of its cells s_f = g_f / (G_f + 1/σ²), with
    σ² = Σ (g² − G) / Σ G² by moments, or 0. Gives s_f z and its variance, (F, K).
    """
    weight = counts.n * found.chance * (1.0 - found.chance) * _free(counts, found)
    by_word, off = weight.sum(axis=0), (counts.mass - counts.n * found.chance).sum(axis=0)
    place = -log_expit(-counts.meaning)
    z = place - divided(by_word @ place, by_word.sum(axis=1), nothing=0.0)[:, None]
    held, pulls = (by_word * z**2).sum(axis=1), (off * z).sum(axis=1)
    spread = max(float(divided((pulls**2 - held).sum(), (held**2).sum(), nothing=0.0)), 0.0)
    share = spread / (1.0 + spread * held)
    return (share * pulls)[:, None] * z, share[:, None] * z**2


def _free(counts: Counts, found: Posterior) -> FloatArray:
    """How much a cell's log-odds follow the rest and not its remainder, shape (R, F, K)."""
    return 1.0 - counts.n * found.chance * (1.0 - found.chance) * found.remainder


def phrase_rates(
    counts: Counts,
    found: Posterior,
    *,
    uses: FloatArray,
    sides: BoolArray | None = None,
    moved: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Log-odds and variance of the rates over findings, shape (R, K); NaN where not used.

    ``uses`` (R, F, K) are the weights. With ``sides`` (S, K) the phrases of each are taken
    together, shape (R, S); with ``moved`` (R, L) the coordinates have moved so far.
    """
    rate, gradient, rest = phrase_slopes(counts, found, uses=uses)
    if sides is not None:
        n = uses.sum(axis=1)[:, None, :] * sides
        share = divided(n, n.sum(axis=2, keepdims=True))
        rate, gradient = np.einsum("rsk,rk->rs", share, np.nan_to_num(rate)), share @ gradient
        rest = np.einsum("rsk,rk->rs", share**2, rest)
    variance = np.einsum("rkl,rlm,rkm->rk", gradient, found.covariance, gradient, optimize=True)
    safe = np.clip(rate, _EDGE, 1.0 - _EDGE)
    slope = safe * (1.0 - safe)
    by = 0.0 if moved is None else np.einsum("rkl,rl->rk", gradient, moved) / slope
    return np.asarray(logit(safe) + by), np.asarray((variance + rest) / slope**2)


def phrase_pulls(counts: Counts, found: Posterior, *, uses: FloatArray) -> FloatArray:
    """Give how far the log-odds of a rate over findings follow the word's own quirk, (R, K)."""
    rate, gradient, _ = phrase_slopes(counts, found, uses=uses)
    safe = np.clip(rate, _EDGE, 1.0 - _EDGE)
    pull = np.einsum("rkl,rlk->rk", gradient, found.with_quirks)
    return np.asarray(pull / (safe * (1.0 - safe)))


def phrase_slopes(
    counts: Counts, found: Posterior, *, uses: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give rates over findings (R, K), NaN where not used, and their gradients (R, K, L).

    The third is the variance that the cells' remainders add, shape (R, K).
    """
    total = uses.sum(axis=1, keepdims=True)
    weight = divided(uses, total, nothing=0.0)
    slope = weight * found.chance * (1.0 - found.chance)
    gradient = _gradient(counts, slope * _free(counts, found), found.cell)
    rest = (slope**2 * found.remainder).sum(axis=1)
    rate = np.where(total[:, 0] > 0, (weight * found.chance).sum(axis=1), np.nan)
    return np.asarray(rate), gradient, np.asarray(rest)


def _gradient(counts: Counts, slope: FloatArray, cell: IntArray) -> FloatArray:
    """Differentiate every phrase's rate in the coordinates, shape (R, K, L)."""
    readers, _, phrases = slope.shape
    size = counts.size
    full = np.zeros((readers, phrases, size + cell.shape[1]))
    every = slope.sum(axis=1)
    each = np.arange(phrases)
    full[:, :, :CURVE] = every[:, :, None] * counts.curve
    full[:, each, counts.phrases.start + each] = every
    full[:, :, counts.findings] = slope.transpose(0, 2, 1)
    rows, columns, finding, phrase = places(cell, phrases)
    full[rows, phrase, size + columns] = slope[rows, finding, phrase]
    return full
