"""Advice as a decision: write l for k where the posterior says l is nearer to the truth.

With rate p of the reader's phrase in a scope and meanings M, l is nearer than k exactly if p lies
beyond their midpoint, so

    P(|p − M_l| < |p − M_k|) = E_M[Φ(± (logit p̂ − logit (M_k + M_l) / 2) / √(Var logit p))],

+ where M_l > M_k, over 512 draws of both meanings from the posterior of the survey's error, so that
a swap stands though few were asked what either word means; averaged over the fits with and without
a habit, and the smallest one with the meanings as surveyed and as the department corrects them,
with the rate as it is and less what the instrument may have done (`shared`). Draws are taken where
the mean of M with its variance in the denominator reaches the threshold. Among substitutes that
reach `ProfileSettings.swap_probability` the one with the largest expected gain
E[(p − M_k)² − (p − M_l)²] = (M_l − M_k)(2 E p − M_k − M_l) is taken. All findings come first;
where one finding's own data say the opposite, or they do not support it together, single findings
are asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, expit, logit, ndtri

from calibration.arrays import BoolArray, FloatArray
from calibration.profile.design import Counts
from calibration.profile.rates import Rate
from calibration.profile.results import Interval, Swap
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import EVENLY

_OWN = 10.0
_EVEN = 0.5
# Standard normals (2, 512) for the two meanings of a swap, always the same.
_DRAWS = ndtri(EVENLY[:2])


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """What may be suggested: meanings (K,) as surveyed and less the survey's error.

    ``variance`` (K,) is that error's on the log-odds; ``shared`` (K,) is what the instrument may
    have done to the log-odds of each word's rate; ``allowed`` (K, K) says which word may stand for
    which.
    """

    names: tuple[str, ...]
    findings: tuple[str, ...]
    meaning: FloatArray
    corrected: FloatArray
    variance: FloatArray
    shared: FloatArray
    allowed: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Uses:
    """All readers' hedges and their label mass (R, F, K), effective counts of them, and rates.

    ``whole`` (R, K, 6) and ``cells`` (R, F, K, 6) are those of `all_rates`.
    """

    n: FloatArray
    mass: FloatArray
    effective: Counts
    whole: FloatArray
    cells: FloatArray

    def rate(self, r: int, k: int, finding: int | None) -> Rate:
        """Rate of a reader's phrase in one finding, or in all (None)."""
        of = self.whole[r, k] if finding is None else self.cells[r, finding, k]
        return Rate(*of.tolist())

    def seen(self, r: int, k: int, finding: int | None) -> tuple[float, float]:
        """Count a reader's uses of a phrase there, and the share of them that CT bore out."""
        scope = slice(None) if finding is None else finding
        n = float(self.n[r, scope, k].sum())
        return n, float(self.mass[r, scope, k].sum()) / n


@dataclass(frozen=True, slots=True)
class _Best:
    target: int
    probability: float
    gain: float


def choose_swaps(
    uses: Uses, r: int, *, choices: Choices, settings: ProfileSettings
) -> tuple[Swap, ...]:
    """Give at most three swaps of reader r, by what all uses cautiously gain."""
    found: list[tuple[float, Swap]] = []
    for k in range(len(choices.names)):
        each, best = uses.n[r, :, k], None
        if each.sum() >= settings.least_uses:
            best = _best(k, uses.rate(r, k, None), choices, settings)
        if best is not None and not _contradicted(uses, r, k, best.target, choices, settings):
            found.append(_swap(uses, r, k, None, best, choices))
            continue
        for f in np.flatnonzero(each >= settings.least_uses).tolist():
            best = _best(k, uses.rate(r, k, f), choices, settings)
            if best is not None:
                found.append(_swap(uses, r, k, f, best, choices))
    found.sort(key=lambda pair: -pair[0])
    return tuple(swap for _, swap in found[: settings.most_swaps])


def nearest_words(
    uses: Uses, r: int, *, cells: Iterable[tuple[str, str]], choices: Choices
) -> tuple[Swap, ...]:
    """Give the word nearest to each rate, where it is not the reader's own, whatever its chance.

    Of every word in all findings, and of ``cells`` (phrase, finding).
    """
    places = [(k, None) for k in np.flatnonzero(uses.n[r].any(axis=0)).tolist()]
    named = ((choices.names.index(p), choices.findings.index(f)) for p, f in cells)
    found = []
    for k, finding in (*places, *named):
        rate = uses.rate(r, k, finding)
        away = np.where(choices.allowed[k], np.abs(choices.meaning - rate.value), np.inf)
        target = int(np.argmin(away))
        if away[target] < abs(choices.meaning[k] - rate.value):
            gain = float(away[target] ** 2 - (choices.meaning[k] - rate.value) ** 2)
            best = _Best(target, _nearer_drawn(k, target, rate, choices), -gain)
            found.append(_swap(uses, r, k, finding, best, choices)[1])
    return tuple(found)


def _best(k: int, rate: Rate, choices: Choices, settings: ProfileSettings) -> _Best | None:
    """Take the substitute of the largest expected gain among those probable enough."""
    probability = nearer(k, rate, choices)
    here = choices.meaning[k]
    gain = (choices.meaning - here) * (2.0 * rate.value - here - choices.meaning)
    good = choices.allowed[k] & (probability >= settings.swap_probability)
    good &= gain >= settings.least_gain
    for target in sorted(np.flatnonzero(good).tolist(), key=lambda each: -gain[each]):
        sure = _nearer_drawn(k, target, rate, choices)
        if sure >= settings.swap_probability:
            return _Best(target, sure, float(gain[target]))
    return None


def nearer(k: int, rate: Rate, choices: Choices) -> FloatArray:
    """P(rate nearer to each meaning than to that of k), shape (K,).

    The smallest one of all readings: a word that a whole department uses in its own way may be the
    department's habit or the survey's error, a line that it shares the readers' or the CT's, and a
    swap has to be right either way.
    """
    found = [_nearer(k, each, meaning, choices) for each, meaning in _readings(k, rate, choices)]
    return np.asarray(np.min(found, axis=0))


def _readings(k: int, rate: Rate, choices: Choices) -> list[tuple[Rate, FloatArray]]:
    rates = [rate, rate.less(float(choices.shared[k]))] if choices.shared[k] else [rate]
    return [(each, meaning) for each in rates for meaning in (choices.meaning, choices.corrected)]


def _nearer(k: int, rate: Rate, meaning: FloatArray, choices: Choices) -> FloatArray:
    middle = np.clip((meaning + meaning[k]) / 2.0, 1e-9, 1.0 - 1e-9)
    own = choices.variance * (meaning * (1.0 - meaning)) ** 2
    doubt = (own + own[k]) / 4.0 / (middle * (1.0 - middle)) ** 2
    above = rate.above(np.asarray(logit(middle)), doubt)
    return np.asarray(0.5 + np.sign(meaning - meaning[k]) * (above - 0.5))


def _nearer_drawn(k: int, target: int, rate: Rate, choices: Choices) -> float:
    """P(rate nearer to the target's meaning than to that of k) over draws of both meanings."""
    error = np.sqrt(choices.variance[[k, target]])[:, None] * _DRAWS
    nothing, found = np.zeros(1), []
    for each, meaning in _readings(k, rate, choices):
        here, there = expit(logit(meaning[[k, target]])[:, None] + error)
        above = each.above(np.asarray(logit((here + there) / 2.0)), nothing)
        found.append(float(np.where(there > here, above, 1.0 - above).mean()))
    return min(found)


def _contradicted(
    uses: Uses, r: int, k: int, target: int, choices: Choices, settings: ProfileSettings
) -> bool:
    """Whether some finding puts its rate nearer to k than to the substitute.

    Either its posterior does, or its own data do and its posterior is not sure of the opposite.
    """
    middle = (choices.meaning[k] + choices.meaning[target]) / 2.0
    n = uses.effective.n[r, :, k]
    mass = np.clip(uses.effective.mass[r, :, k], 0.0, n)
    below = betainc(0.5 + mass, 0.5 + n - mass, middle)
    against = below if choices.meaning[target] > choices.meaning[k] else 1.0 - below
    model = np.array([nearer(k, uses.rate(r, k, f), choices)[target] for f in range(len(n))])
    opposed = (against >= settings.contradiction) & (model < settings.swap_probability)
    return bool(((n >= _OWN) & (opposed | (model < _EVEN))).any())


def _swap(
    uses: Uses, r: int, k: int, finding: int | None, best: _Best, choices: Choices
) -> tuple[float, Swap]:
    n, observed = uses.seen(r, k, finding)
    rate = uses.rate(r, k, finding).interval()
    here, there = float(choices.meaning[k]), float(choices.meaning[best.target])
    ends = sorted((there - here) * (2.0 * end - here - there) for end in (rate.low, rate.high))
    swap = Swap(
        phrase=choices.names[k],
        finding=None if finding is None else choices.findings[finding],
        instead=choices.names[best.target],
        n=n,
        observed=observed,
        rate=rate,
        meaning=here,
        instead_meaning=there,
        probability=best.probability,
        gain=Interval(best.gain, ends[0], ends[1]),
    )
    return n * (best.gain + ends[0]), swap
