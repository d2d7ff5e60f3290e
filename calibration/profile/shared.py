"""A reader's line as evidence, the line that readers share, and the instrument's possible share.

"The instrument" is everything between a reader's words and their labels that is no reader's doing:
CTs that are ordered for disease which no word mentioned, CTs that miss disease, and extraction that
misreads words. Each of these moves every reader's line in the same way. But all readers may also
truly be off together, and a survey of other people cannot tell which it is. So what readers have in
common is stated once, for the department, with the ordering λ that would explain it; a shift or
slope is stated of a reader only if it stands beyond half the margin after the instrument's possible
share is taken off.

Readers' lines scatter about a common line c: two in five with deviations (.1, .07), and three in
five, those who truly are off, with (.8, .35). So c is located by the readers who stand together,
not by the mean of all, and its own error counts. Two priors of c ask two questions of one
likelihood:

    shared      c ~ N(0, (.5, .3)²): where do they stand?
    instrument  c = (a − 1.2 b, −b): a = log λ of the ordering, and b ≥ 0 what a CT that misses
                disease and misread words take off every slope, and 1.2 times as much off the shift
                at even odds (the words near certainty lose most by a missed finding). Both lie in
                their plausible range, with half of the prior on 0. Of what is there some b / 3 at
                least is then missed or misread (a CT that misses q takes 1.3 q off a slope), and no
                reader's "present" is borne out in more than 1 − b / 3: with t ~ U(0, 1) the share
                of the reader's y + w that holds, y of them borne out,

                P(y | b) ∝ ∫ Bin(y; y + w, (1 − b/3) t) dt ∝ I_{1−b/3}(y + 1, w + 1) / (1 − b/3).

                Where labels lie between 0 and 1 there is a third, c = (a − 1.2 b, −b − s): labels
                drawn toward one half whatever CT saw take s ≥ 0 off every slope, up to
                `_SOFTEST`. They do so of "absent" and "present" too, by s / 3 at least: b + s
                stands for b above, and of "absent" as much comes true as of "present" does not.

What all readers share cannot be told from the instrument by any number of them: their lines fix c
alone. So a part of c is found (`Shared.parts`) only if it stands beyond half its margin with each
(a, b, s) taken off that is plausible and that "absent" and "present" do not contradict (a
likelihood within `_CONTRADICTED` of the best), and so does c as it were with CT's own doubt taken
for what it leans to (`line.leaned`, of each reader); no prior weighs these. Here b may
be below 0 too: a CT that shows disease where there is none takes |b| off every slope and raises the
shift, and bears out less of "absent". And CTs may be chosen by doubt that no word told of, up to
`plausible_doubt` times as readily in doubt: with (e, d) what that makes of a line (0, 0) by the
department's own words (`vocabulary`), c goes to (c₁ + e, (1 + c₂)(1 + d) − 1). (Of one reader
neither is taken off: |b| was measured to spare nobody, and what the choice by doubt may have done
is only as far as b reaches; `docs/method.md`, Limits.) What stands beyond only without is
`Shared.explained`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, product
from typing import Final

import numpy as np
from scipy.special import betainc, ndtr, ndtri

from calibration.arrays import BoolArray, FloatArray
from calibration.profile.atoms import AtomCounts
from calibration.profile.line import Lines
from calibration.profile.results import Interval, Part, Shared
from calibration.profile.settings import ProfileSettings

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_HALF = 0.5
# Grids of a, of b and of s: points, the largest s, and the prior deviation of s.
_ORDERINGS, _MISSES = 26, 16
_SOFTENINGS, _SOFTEST, _SOFTENED = 16, 0.75, 0.5
# Prior deviations of a and of b; 1.2 and 3 of the module; a probability that is not yet 0.
_ORDERED, _MISSED, _FALL, _STEEPER, _LEAST = 0.25, 0.12, 1.2, 3.0, 1e-300
# Log-likelihood that is lost at the end of a 95 % interval.
_CONTRADICTED = 1.92
# Share of readers who are truly off, and deviations of (shift, slope) of those who aren't and are.
_APART, _ALIKE, _FAR = 0.6, np.array([0.1, 0.07]), np.array([0.8, 0.35])
_SPREAD = np.array([0.5, 0.3])
_GRID = np.stack(
    np.meshgrid(np.linspace(-1.5, 1.5, 61), np.linspace(-0.75, 0.75, 31), indexing="ij"), axis=-1
).reshape(-1, 2)
PARTS: Final[tuple[Part, ...]] = ("overcalls", "undercalls", "too sure", "too cautious")
_BOTH = [(a < 0, a > 0, b < 0, b > 0) for a, b in product((0, -1, 1), repeat=2) if a or b]
SETS = np.array(_BOTH)  # which parts (8, 4) may be stated together
STATED: Final = tuple(tuple(compress(PARTS, each)) for each in _BOTH)  # the same by name
PAST: Final = 0.25
"""P(the line changed, and what is told is so no longer) beyond which it is not told (`lately`)."""
EVENLY = (np.arange(512) + 0.5) * np.array([[1 / 512], [(5**0.5 - 1) / 2], [2**0.5 - 1]]) % 1.0
"""An even lattice in three dimensions, (3, 512), so that draws are always the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Common:
    """A line (shift, slope − 1) that readers share: its places (G, 2) and their weights (G,)."""

    place: FloatArray
    weight: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Posterior mean, shape (2,)."""
        return np.asarray(self.weight @ self.place)

    @property
    def covariance(self) -> FloatArray:
        """Posterior covariance, shape (2, 2)."""
        off = self.place - self.mean
        return np.asarray((self.weight * off.T) @ off)

    def at(self, quantile: FloatArray) -> FloatArray:
        """Give the places (S, 2) at which the weights add up to some quantiles (S,)."""
        number = np.searchsorted(self.weight.cumsum(), quantile)
        return np.asarray(self.place[np.minimum(number, len(self.place) - 1)])


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One reader's bivariate normal posterior of (shift, slope − 1)."""

    mean: FloatArray
    covariance: FloatArray

    @property
    def sd(self) -> FloatArray:
        """Standard deviation of both, shape (2,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def correlation(self) -> float:
        """Posterior correlation of the two."""
        return float(self.covariance[0, 1] / (self.sd[0] * self.sd[1]))

    @property
    def draws(self) -> FloatArray:
        """Draws of the line, shape (512, 2)."""
        return np.asarray(self.mean + ndtri(EVENLY[:2].T) @ np.linalg.cholesky(self.covariance).T)

    def at(self, place: float) -> Evidence:
        """Give the line with its shift read where a word means other log-odds than 0."""
        move = np.array([[1.0, place], [0.0, 1.0]])
        return Evidence(move @ self.mean, move @ self.covariance @ move.T)

    def beyond(self, settings: ProfileSettings) -> dict[Part, float]:
        """P(each part), beyond the margins."""
        (shift, slope), (a, b) = self.mean, self.sd
        d, g = settings.shift_margin, settings.slope_margin
        ends = ((-d - shift) / a, (shift - d) / a, (-g - slope) / b, (slope - g) / b)
        return {part: float(ndtr(z)) for part, z in zip(PARTS, ends, strict=True)}

    def clearly_off(self, settings: ProfileSettings) -> float:
        """P(shift or slope clearly off)."""
        (low, high), clear = settings.clear_slope, settings.clear_shift
        return 1.0 - self.inside((-clear, clear), (-low, high))

    def less(self, done: Common) -> Evidence:
        """Give the line with what the instrument may have done taken off."""
        return Evidence(self.mean - done.mean, self.covariance + done.covariance)

    def inside(self, shift: tuple[float, float], slope: tuple[float, float]) -> float:
        """P(shift and slope − 1 both inside), by Gauss and Legendre over the shift."""
        low, high = ((np.array(shift) - self.mean[0]) / self.sd[0]).clip(-9.0, 9.0)
        z = (high - low) / 2.0 * _NODES + (high + low) / 2.0
        rho = self.correlation
        rest = self.sd[1] * np.sqrt(max(1.0 - rho**2, 1e-12))
        centre = self.mean[1] + rho * self.sd[1] * z
        held = ndtr((slope[1] - centre) / rest) - ndtr((slope[0] - centre) / rest)
        density = np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi)
        return float(np.clip((high - low) / 2.0 * (_WEIGHTS @ (density * held)), 0.0, 1.0))


def parts_of(
    line: FloatArray, usual: float, limits: Sequence[float] | FloatArray, *, even: bool = False
) -> BoolArray:
    """Say which parts (S, 4) hold of lines (S, 2) beyond limits of shift, 1 − slope, slope − 1.

    A shift does that lies on one side at even odds and at the usual word, and beyond its limit at
    either; or at ``even`` odds.
    """
    shift, sure, cautious = limits
    middle, slope = line[:, 0], line[:, 1]
    low, high = np.sort([middle, middle + usual * slope], axis=0)
    least, most = (middle, middle) if even else (low, high)
    down, up = (least < -shift) & (high < 0.0), (most > shift) & (low > 0.0)
    return np.stack([down, up, slope < -sure, slope > cautious], axis=1)


def sound_sets(near: BoolArray, beyond: BoolArray) -> BoolArray:
    """Say which of `SETS` are sound of every line, shape (S, 8)."""
    return np.asarray(~(~near @ SETS.T) & (beyond @ SETS.T))


def judge_sets(
    near: BoolArray, beyond: BoolArray, clear: BoolArray, worth: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """P(each of `SETS` is sound and whole), and P(it is sound)."""
    alone = sound_sets(near, beyond)
    whole = alone & ~(~worth @ SETS.T) & ~(clear @ ~SETS.T)
    return np.asarray(whole.mean(axis=0)), np.asarray(alone.mean(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Instruments:
    """What the instrument may plausibly have done.

    ``place`` (G, 2) is what it makes of a line (0, 0), ``prior`` (G,) its log prior where it is
    taken off one reader, −∞ for what is only asked of all, and ``seen``
    (G,) the log-likelihood of what CT bears out of "absent" and "present".
    """

    place: FloatArray
    prior: FloatArray
    seen: FloatArray

    def limits(self) -> FloatArray:
        """Give the least and the most, (2, 2), of what "absent" and "present" don't contradict."""
        held = self.place[self.seen >= self.seen.max() - _CONTRADICTED]
        return np.stack([held.min(axis=0), held.max(axis=0)])


def instruments(
    absent: AtomCounts,
    present: AtomCounts,
    *,
    soft: bool,
    doubted: FloatArray,
    settings: ProfileSettings,
) -> Instruments:
    """Lay out what the instrument may have done.

    Parameters
    ----------
    absent, present
        Statements of "absent" and of "present".
    soft
        Whether labels lie between 0 and 1.
    doubted
        What the furthest choice of CTs by doubt makes of (shift, slope − 1), shape (2,).
    """
    low, high = np.log(settings.plausible_ordering)
    ordering, lost = np.linspace(low, high, _ORDERINGS), 1.0 - settings.plausible_slope
    missing = np.linspace(0.0, lost, _MISSES)
    wrong = np.concatenate([-missing[:0:-1], missing])
    softened = np.linspace(0.0, _SOFTEST, _SOFTENINGS) if soft else np.zeros(1)
    a, b, s = np.meshgrid(ordering, wrong, softened, indexing="ij")
    seen = [
        _log_borne_out(certain, np.add.outer(np.maximum(side * wrong, 0.0), softened).ravel())
        for certain, side in ((present, 1.0), (absent, -1.0))
    ]
    of_one = np.concatenate([np.full(_MISSES - 1, -np.inf), _log_prior(missing, _MISSED)])
    log_p = of_one[:, None] + _log_prior(softened, _SOFTENED)
    log_p = _log_prior(ordering, _ORDERED)[:, None] + log_p.ravel()
    place = np.stack([a - _FALL * b, -np.abs(b) - s], axis=-1).reshape(-1, 2)
    chosen = place + doubted * np.stack([np.ones(len(place)), 1.0 + place[:, 1]], axis=1)
    return Instruments(
        np.concatenate([place, chosen]),
        np.concatenate([log_p.ravel(), np.full(len(place), -np.inf)]),
        np.tile(sum(seen), 2 * len(ordering)),
    )


def shared_line(
    found: Lines,
    enough: BoolArray,
    *,
    lean: FloatArray,
    reach: Instruments,
    settings: ProfileSettings,
) -> Shared:
    """Say what readers share; nothing where fewer than `ProfileSettings.least_shared` are judged.

    Parameters
    ----------
    found
        Every reader's line.
    enough
        Who has statements enough to be judged, shape (R,).
    lean
        How far every line moves with CT's doubt taken for what it leans to, shape (R, 2).
    reach
        What the instrument may have done.
    """
    readers = int(enough.sum())
    if readers < settings.least_shared:
        nothing, one = Interval(0.0, 0.0, 0.0), Interval(1.0, 1.0, 1.0)
        return Shared(nothing, one, readers, (), float("nan"), question=False)
    log_p = -((_GRID / _SPREAD) ** 2).sum(axis=1) / 2.0
    common = _posterior(found, enough, _GRID, log_p)
    leaned = _posterior(replace(found, value=found.value + lean), enough, _GRID, log_p)
    mean, sd = common.mean, np.sqrt(np.diag(common.covariance))
    margins = _HALF * np.array([settings.shift_margin, settings.slope_margin])
    side, limits = np.sign(mean), reach.limits()
    taken = np.where(side > 0, limits[1], limits[0])
    seen, left, sure = (
        ndtr((side * (line - each) - margins) / sd) >= settings.own_probability
        for line, each in ((mean, np.zeros(2)), (mean, taken), (leaned.mean, taken))
    )
    left &= sure
    parts, explained = (
        tuple(PARTS[2 * axis + int(mean[axis] > 0)] for axis in np.flatnonzero(of).tolist())
        for of in (seen & left, seen & ~left)
    )
    low, high = settings.plausible_ordering
    tipping = float(np.exp(mean[0] - side[0] * margins[0])) if seen[0] else float("nan")
    shift, slope = Interval.normal(mean[0], sd[0]), Interval.normal(1.0 + mean[1], sd[1])
    question = bool(low <= tipping <= high)
    return Shared(shift, slope, readers, parts, tipping, question, explained)


def instrument(
    found: Lines, enough: BoolArray, *, reach: Instruments, settings: ProfileSettings
) -> Common:
    """Say how far (shift, slope − 1) of every reader may be the instrument's doing.

    Of the lines fewer than `ProfileSettings.least_shared` readers say nothing: then it is the
    prior, and what "absent" and "present" leave of it. Parameters are those of `shared_line`.
    """
    told = enough if enough.sum() >= settings.least_shared else np.zeros_like(enough)
    of_one = np.isfinite(reach.prior)
    log_p = reach.prior[of_one] + reach.seen[of_one]
    return _posterior(found, told, reach.place[of_one], log_p)


def _log_borne_out(certain: AtomCounts, off: FloatArray) -> FloatArray:
    """Log P(what was borne out | ``off`` (G,) taken off every slope), over all readers."""
    lost = 1.0 - off[:, None] / _STEEPER
    wrong = certain.effective_wrong.sum(axis=1)
    held = certain.effective.sum(axis=1) - wrong
    seen = np.maximum(betainc(1.0 + held, 1.0 + wrong, lost), _LEAST)
    return np.asarray(np.log(seen / lost).sum(axis=1))


def _posterior(found: Lines, told: BoolArray, place: FloatArray, log_p: FloatArray) -> Common:
    """Weigh places (G, 2) of c by their prior and by the readers that tell of it."""
    off, covariance = found.value[told, None, :] - place, found.covariance[told]
    log_p = log_p + np.logaddexp(
        np.log1p(-_APART) + _log_density(off, covariance, _ALIKE),
        np.log(_APART) + _log_density(off, covariance, _FAR),
    ).sum(axis=0)
    weight = np.exp(log_p - log_p.max())
    return Common(place, np.asarray(weight / weight.sum()))


def _log_prior(value: FloatArray, spread: float) -> FloatArray:
    """Half of the prior on nothing (the value nearest 0), half of it normal."""
    weight = np.exp(-(value**2) / (2.0 * spread**2))
    weight /= 2.0 * weight.sum()
    weight[np.argmin(np.abs(value))] += 0.5
    return np.asarray(np.log(weight))


def _log_density(off: FloatArray, covariance: FloatArray, spread: FloatArray) -> FloatArray:
    """Log density of every reader's line (R, G) so far off, readers scattered by ``spread``."""
    total = covariance + np.diag(spread**2)
    back, size = np.linalg.inv(total), np.linalg.slogdet(total)[1]
    return np.asarray(-0.5 * (np.einsum("rgi,rij,rgj->rg", off, back, off) + size[:, None]))
