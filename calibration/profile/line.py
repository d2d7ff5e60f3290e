"""A reader's hedges taken together: their line (shift and slope), and calibration in the large.

The line is the answer to "what would a logistic fit on this reader's rates give?": (shift,
slope − 1) = β solves, over the reader's cells c with n_c uses, X_c = (1, x_c) and meaning m_c,

    Σ_c n_c X_c (p_c − expit(m_c + X_c β)) = 0.

So the part of phrase and finding effects that lies along a line counts as the line, and the line
measures the reader against the survey (less its error, see `posterior`), not against the
department. A habit in one finding is taken out of p_c in proportion to its probability, so that one
word far off in one finding is not called a pattern; a word far off in all findings stays in, as it
is part of how the reader writes. In the model's coordinates the
derivative of β is A⁻¹ G[:2, :], with A = Σ n X Xᵀ q (1 − q) at the line's rates q, which gives its
covariance.

In the large, with n_k uses of phrase k, meaning M_k and posterior rate p_k, O/E = Σ n_k p_k /
Σ n_k M_k, and E50 and E90 are the median and the 90 % point of |p_k − M_k| over uses (Harrell 2015,
section 10.9). They are functions of all rates at once, whose posterior is normal on the log-odds
scale (θ is shared by all readers, the rest is each reader's own). So medians and O/E's 95 %
interval are taken from 400 draws with a fixed seed, the same ones for every reader and every run.
E50 and E90 are above 0 even for readers who fit the scale, because an uncertain distance is above
0: quantiles of their draws are no interval that holds the truth, and none is given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from calibration.arrays import BoolArray, FloatArray
from calibration.profile.design import CURVE, Counts, information, linear_predictor, places, score
from calibration.profile.habits import HabitFit
from calibration.profile.rates import cell_variance, phrase_rates, phrase_slopes
from calibration.profile.results import NOTHING, Interval, Large
from calibration.profile.variances import Fitted

_STEPS = 50
_TOLERANCE = 1e-9
_RIDGE = 0.1
_LEAST = 0.1
# Spread of meanings (log-odds) over which a clear slope moves a word by half a margin of shift.
_NARROW = 1 / 3


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Every reader's line.

    Attributes
    ----------
    value, covariance
        (shift, slope − 1), shape (R, 2) and (R, 2, 2).
    usual
        Mean log-odds of the words each reader uses, shape (R,).
    moved
        How far the line would move without what was seen of one word in one finding, all else as
        it stands, shape (R, F, K, 2).
    """

    value: FloatArray
    covariance: FloatArray
    usual: FloatArray
    moved: FloatArray


def lines(found: HabitFit) -> Lines:
    """Project every reader's rates on a line, habits out of it as far as they are believed."""
    chance, kept = _without_habits(found), found.kept()
    return _drawn(found, found.counts, chance, np.zeros_like(kept), found.posterior.covariance)


def elsewhere(found: HabitFit, uses: FloatArray) -> tuple[FloatArray, tuple[Lines, ...]]:
    """Say what all findings but one show, without what that one did, of each finding in turn.

    Log-odds and variance of every phrase's rate there by ``uses`` (R, F, K), shape (2, R, F, K),
    NaN where it has none; and every reader's line. One Newton step of the reader's coordinates
    takes the finding's data out: with S their covariance, G its information and g its score, S
    becomes S' = (I − S G)⁻¹ S and they move by −S' g.
    """
    counts, scales, spread = found.counts, found.fitted.scales, found.posterior.covariance
    at, chance, each = found.posterior.chance, _without_habits(found), np.eye(spread.shape[1])
    off, weight = counts.mass - counts.n * at, counts.n * at * (1.0 - at)
    weight, rates, rest = weight / (1.0 + scales.remainder * weight), [], list[Lines]()
    for only in np.eye(counts.n.shape[1])[:, :, None]:
        held = information(counts, scales, weight * only)
        wider = np.asarray(np.linalg.solve(each - spread @ held, spread), dtype=np.float64)
        moved = -np.einsum("rlm,rm->rl", wider, score(counts, scales, off * only))
        others = replace(counts, n=counts.n * (1.0 - only), mass=counts.mass * (1.0 - only))
        rest.append(_drawn(found, others, chance, moved, wider))
        there = replace(found.posterior, covariance=wider)
        rates.append(phrase_rates(counts, there, uses=uses * (1.0 - only), moved=moved))
    return np.moveaxis(np.array(rates), 0, 2), tuple(rest)


def _without_habits(found: HabitFit) -> FloatArray:
    """Give every cell's rate (R, F, K) without its habit, as far as that is believed."""
    fitted, mode = found.fitted, found.fitted.mode
    total = mode.total - (1.0 - found.kept()) * mode.reader
    return np.asarray(expit(linear_predictor(found.counts, fitted.scales, total) + mode.remainder))


def _drawn(
    found: HabitFit, counts: Counts, chance: FloatArray, moved: FloatArray, spread: FloatArray
) -> Lines:
    """Project rates on lines over the uses of ``counts``.

    The coordinates are ``moved`` (R, L), and their covariance is ``spread`` (R, L, L).
    """
    fitted, kept = found.fitted, found.kept()
    line = _projected(counts, chance, found.posterior.survey_error)
    uses = counts.n.sum(axis=1)
    rates = _slopes(counts, fitted, line, chance)
    own = rates * kept[:, None, :]
    wider = own @ (spread - found.posterior.covariance) @ own.transpose(0, 2, 1)
    each = Lines(
        value=line.value + np.einsum("ril,rl->ri", own, moved),
        covariance=_covariance(counts, fitted, line, chance, rates, kept) + wider,
        usual=uses @ counts.meaning / np.maximum(uses.sum(axis=1), _RIDGE),
        moved=_without(found, own),
    )
    return _unsloped(each, line.curvature, found)


def leaned(found: HabitFit, lean: FloatArray) -> FloatArray:
    """Say how far every reader's line would move, were CT's doubt taken for what it leans to.

    ``lean`` (R, F, K) is by how much the mean label of every cell changes then; of words that lie
    together the shift alone moves. Shape (R, 2).
    """
    counts = found.fitted.counts
    line = _projected(counts, found.posterior.chance, found.posterior.survey_error)
    moved = (counts.n * lean).sum(axis=1) @ counts.curve[:, :2]
    both = np.linalg.solve(line.curvature, moved[:, :, None])[:, :, 0]
    level = np.zeros_like(both)
    level[:, 0] = moved[:, 0] / line.curvature[:, 0, 0]
    return np.where(_narrow(line.curvature)[:, None], level, both)


def _narrow(curvature: FloatArray) -> BoolArray:
    """Say whose words lie together, by A (R, 2, 2)."""
    centre = curvature[:, 0, 1] / curvature[:, 0, 0]
    spread = curvature[:, 1, 1] / curvature[:, 0, 0] - centre**2
    return np.asarray(spread < _NARROW**2)


def _unsloped(each: Lines, curvature: FloatArray, found: HabitFit) -> Lines:
    """Take the slope of readers whose words lie together from their curve, their quirks apart."""
    centre = curvature[:, 0, 1] / curvature[:, 0, 0]
    narrow = _narrow(curvature)
    slope = found.fitted.mode.total[:, 1]
    doubt = found.posterior.covariance[:, 1, 1]
    here = np.stack([np.ones_like(centre), centre], axis=1)
    at = (here * each.value).sum(axis=1)
    sure = np.einsum("ri,rij,rj->r", here, each.covariance, here)
    value = np.stack([at - centre * slope, slope], axis=1)
    lever = np.stack([-centre, np.ones_like(slope)], axis=1)
    covariance = doubt[:, None, None] * np.einsum("ri,rj->rij", lever, lever)
    covariance[:, 0, 0] += sure
    value = np.where(narrow[:, None], value, each.value)
    covariance = np.where(narrow[:, None, None], covariance, each.covariance)
    return replace(each, value=value, covariance=covariance)


@dataclass(frozen=True, slots=True, eq=False)
class _Projected:
    """β (R, 2) of every reader, A (R, 2, 2) there, and n q (1 − q) by phrase (R, K)."""

    value: FloatArray
    curvature: FloatArray
    weight: FloatArray


def _projected(counts: Counts, chance: FloatArray, error: FloatArray) -> _Projected:
    """Solve for β by Newton's method, from a line at the meaning."""
    n, positive = counts.n.sum(axis=1), (counts.n * chance).sum(axis=1)
    design = counts.curve[:, :2]
    value = np.zeros((len(n), 2))
    for _ in range(_STEPS):
        q = expit(counts.meaning + error + value @ design.T)
        weight = n * q * (1.0 - q)
        curvature = np.einsum("rk,ki,kj->rij", weight, design, design)
        # A trace of ridge: a reader of one phrase has a line all the same, the nearest to (0, 0).
        curvature += _RIDGE * np.eye(2)
        gradient = (positive - n * q) @ design - _RIDGE * value
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True, initial=1.0)
        value = value + step / longest
        if np.abs(step).max(initial=0.0) < _TOLERANCE:
            break
    return _Projected(value, np.asarray(curvature), np.asarray(weight))


def _slopes(counts: Counts, fitted: Fitted, found: _Projected, chance: FloatArray) -> FloatArray:
    """Differentiate β in the reader's coordinates, shape (R, 2, L)."""
    weight, remainder = counts.n * chance * (1.0 - chance), fitted.scales.remainder
    held = information(counts, fitted.scales, weight / (1.0 + remainder * weight))
    return np.asarray(np.linalg.solve(found.curvature, held[:, :2, :]))


def _without(found: HabitFit, rates: FloatArray) -> FloatArray:
    """Take every cell's data out in turn, by one Newton step of the reader's coordinates.

    With S their covariance, g the cell's score, w its weight and z its design the coordinates
    move by −S z g / (1 − w zᵀ S z), and β by ``rates`` (R, 2, L) as much.
    """
    fitted, counts = found.fitted, found.counts
    chance, remainder = found.posterior.chance, fitted.scales.remainder
    off = counts.mass - counts.n * chance
    weight = counts.n * chance * (1.0 - chance)
    weight = weight / (1.0 + remainder * weight)
    lever = weight * cell_variance(counts, found.posterior)
    through = rates @ found.posterior.covariance
    each = through[:, :, :CURVE] @ counts.curve.T + through[:, :, counts.phrases]
    moved = each[:, :, None, :] + through[:, :, counts.findings, None]
    rows, columns, finding, phrase = places(found.posterior.cell, len(counts.meaning))
    moved[rows, :, finding, phrase] += through[rows, :, counts.size + columns]
    step = -off / np.maximum(1.0 - lever, _LEAST)
    return np.asarray((moved * step[:, None]).transpose(0, 2, 3, 1))


def _covariance(
    counts: Counts,
    fitted: Fitted,
    found: _Projected,
    chance: FloatArray,
    rates: FloatArray,
    kept: FloatArray,
) -> FloatArray:
    """Covariance of β through the coordinates, the survey's error and the cells' remainders."""
    mode, size, own = fitted.mode, counts.size, fitted.held.deviations.phrase**2
    share = counts.survey**2 / (counts.survey**2 + own)
    back = np.linalg.inv(found.curvature)
    weight, remainder = counts.n * chance * (1.0 - chance), fitted.scales.remainder
    design = counts.curve[:, :2].T
    meaning = back @ (design * found.weight[:, None, :])
    common, single = rates[:, :, :size].copy(), rates * kept[:, None, :]
    common[:, :, counts.phrases] -= meaning * share
    through = common - single @ mode.leverage
    known = (weight**2 * remainder / (1.0 + weight * remainder)).sum(axis=1)
    spread = np.einsum("rk,ik,jk->rij", known, design, design) + _RIDGE * np.eye(2)
    return np.asarray(
        through @ mode.theta_covariance @ through.transpose(0, 2, 1)
        + single @ mode.covariance @ single.transpose(0, 2, 1)
        + np.einsum("rik,k,rjk->rij", meaning, share * own, meaning)
        + back @ spread @ back
    )


_DRAWS = 400
_EDGE = 1e-9
_ENDS = (0.5, 0.025, 0.975)


def in_the_large(
    found: HabitFit, *, uses: FloatArray, mass: FloatArray, meaning: FloatArray
) -> tuple[tuple[Large, ...], Large]:
    """Measure every reader, and all of them together.

    Parameters
    ----------
    uses, mass
        Hedges and their label mass in every cell, shape (R, F, K).
    meaning
        Of every hedge, shape (K,).
    """
    n, positive = uses.sum(axis=1), mass.sum(axis=1)
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((_DRAWS, len(found.fitted.mode.theta)))
    alike = rng.standard_normal((_DRAWS, n.shape[1]))
    apart = rng.standard_normal((_DRAWS, *n.shape))
    centre, common, own = _spread(found, uses)
    moved = np.einsum("rkj,sj->srk", common, shared)
    each = expit(centre + moved + np.einsum("rkl,sl->srk", own, alike))
    every = expit(centre + moved + np.einsum("rkl,srl->srk", own, apart))
    readers = tuple(_large(n[r], positive[r], meaning, rates=each[:, r]) for r in range(len(n)))
    whole = _large(
        n.ravel(), positive.ravel(), np.tile(meaning, len(n)), rates=every.reshape(_DRAWS, -1)
    )
    return readers, whole


def _spread(found: HabitFit, uses: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-odds of the phrases' rates (R, K), and what θ (R, K, J) and the rest (R, K, K) add."""
    mode, used = found.fitted.mode, uses.sum(axis=1) > 0
    rate, gradient, rest = phrase_slopes(found.counts, found.posterior, uses=uses)
    safe = np.clip(np.where(used, rate, 0.5), _EDGE, 1.0 - _EDGE)
    scale = np.where(used, 1.0 / (safe * (1.0 - safe)), 0.0)
    slope = scale[:, :, None] * gradient
    through = np.eye(mode.reader.shape[1], len(mode.theta)) - mode.leverage
    common = slope @ through @ np.linalg.cholesky(mode.theta_covariance)
    own = slope @ mode.covariance @ slope.transpose(0, 2, 1)
    own = own + (scale**2 * rest + _EDGE)[:, :, None] * np.eye(own.shape[1])
    return np.asarray(logit(safe)), np.asarray(common), np.asarray(np.linalg.cholesky(own))


def _large(n: FloatArray, positive: FloatArray, meaning: FloatArray, *, rates: FloatArray) -> Large:
    """Summarise draws (S, K) of the rates of phrases used n times (K,)."""
    used = n > 0
    n, meaning, rates = n[used], meaning[used], rates[:, used]
    total, expected = float(n.sum()), float(n @ meaning)
    if total <= 0.0:
        return Large(0.0, 0.0, 0.0, NOTHING, float("nan"), float("nan"))
    distance = np.abs(rates - meaning)
    order = np.argsort(distance, axis=1)
    share = np.cumsum(n[order], axis=1) / total
    far = np.take_along_axis(distance, order, axis=1)
    halves, tenths = (
        float(np.median(far[np.arange(len(far)), np.argmax(share >= q - _EDGE, axis=1)]))
        for q in (0.5, 0.9)
    )
    ratio = _interval(rates @ n / expected)
    seen = float(positive.sum())
    return Large(total, seen, expected, ratio, halves, tenths)


def _interval(draws: FloatArray) -> Interval:
    return Interval(*(float(end) for end in np.quantile(draws, _ENDS)))
