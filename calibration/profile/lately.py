"""Whether what is said of a period's X-rays still holds of the latest: a reader may have mended.

The months are cut in two, at the ends of all but the last of `_PARTS` parts in turn. By the fitted
chances p of a reader's cells, with n uses and label mass y on one side of a cut, that side's own
departure (shift, slope − 1) from the reader's line is, by one step of generalised least squares,

    d = I⁻¹ Σ_c z (y − n p) v,   I = Σ_c z zᵀ n p (1 − p) v,   v = 1 / (1 + σ² n p (1 − p)),

z = (1, log-odds of the word's meaning), σ² the variance of a cell's remainder. The difference of
both sides d_later − d_earlier has the variance V = I_earlier⁻¹ + I_later⁻¹; the truth δ of it is 0,
or at one of the cuts, each as likely, N(0, S) with deviations `_SPREAD`. With a prior share
`_CHANGED` of readers, marginal likelihoods give P(changed there). The line of all exams lies
between those of both sides by what either told of it, so that the later one is

    line + (I_earlier + I_later)⁻¹ I_earlier δ.

What is told, a pattern or a swap, is held back where P(the line changed, and it is so no longer) is
above `shared.PAST`. Only cuts with `ProfileSettings.least_statements` hedges of the reader on both
sides are tried.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import compress

import numpy as np
from scipy.special import softmax

from calibration.arrays import FloatArray
from calibration.profile.habits import HabitFit
from calibration.profile.results import PhraseRate
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import Evidence
from calibration.profile.sites import rates, seen
from calibration.profile.tables import Correlation, Hedged

_PARTS, _CHANGED, _SPREAD = 8, 0.3, (0.5, 0.3)
_LEAST, _NAMES = 1e-6, ("strong_before", "strong_since", "weak_before", "weak_since")


@dataclass(frozen=True, slots=True, eq=False)
class Later:
    """How a reader's line moved if it changed at each of C cuts, and P of each, (C,).

    ``moved`` (C, 2) and its ``variance`` (C, 2, 2) are of the line after the cut. ``since`` is the
    first month after the likeliest, ``rates`` those of strong and weak words before it and since;
    ``known`` says whether there are months to compare.
    """

    probability: FloatArray = field(default_factory=lambda: np.zeros(0))
    moved: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    variance: FloatArray = field(default_factory=lambda: np.zeros((0, 2, 2)))
    since: str = ""
    rates: tuple[PhraseRate, ...] = ()
    known: bool = False

    @property
    def changed(self) -> float:
        """P(the line changed at any of the cuts)."""
        return float(self.probability.sum())

    def lines(self, line: Evidence) -> tuple[Evidence, ...]:
        """Give the line after each cut, if it changed there."""
        each = zip(self.moved, self.variance, strict=True)
        return tuple(Evidence(line.mean + by, line.covariance + v) for by, v in each)

    def lower(self, log_odds: FloatArray) -> FloatArray:
        """By how much each word's rate lies lower now, had the line changed; its variance, (K, 2).

        These are the mean and the variance over the cuts.
        """
        share, z = self.probability / max(self.changed, _LEAST), _lines(log_odds)
        by, variance = self.moved @ z.T, np.einsum("ka,cab,kb->ck", z, self.variance, z)
        mean = share @ by
        return np.stack([-mean, share @ (variance + (by - mean) ** 2)], axis=1)


def lately(
    hedges: Hedged, found: HabitFit, between: Correlation, settings: ProfileSettings
) -> tuple[Later, ...]:
    """Compare every reader's later X-rays with the earlier; of a table without months, of none."""
    month, months = hedges.rows.month, hedges.rows.months
    if month is None or len(months) < 2:
        return (Later(),) * len(hedges.rows.readers)
    cuts = sorted({round(len(months) * i / _PARTS) for i in range(1, _PARTS)} - {0, len(months)})
    every = np.array([
        [seen(hedges, found, between, side) for side in (month < cut, month >= cut)] for cut in cuts
    ]).reshape(len(cuts), 2, 8, len(hedges.rows.readers), -1)  # fmt: skip
    since = [months[cut] for cut in cuts]
    told = np.moveaxis(every, 3, 0)
    return tuple(_of_reader(own, since, hedges.words.log_odds, settings) for own in told)


def _lines(log_odds: FloatArray) -> FloatArray:
    return np.stack([np.ones_like(log_odds), log_odds], axis=1)


def _of_reader(
    of: FloatArray, since: list[str], log_odds: FloatArray, settings: ProfileSettings
) -> Later:
    """Compare one reader's X-rays before and after each cut; ``of`` is (C, 2, 8, K)."""
    tried = np.flatnonzero(of[:, :, 0].sum(axis=2).min(axis=1) >= settings.least_statements)
    if not len(tried):
        return Later(known=True)
    z, prior, log, moved = _lines(log_odds), np.diag(_SPREAD) ** 2, [0.0], []
    for _, _, _, _, _, weight, _, off in np.moveaxis(of[tried], 2, 1):
        held = np.einsum("sk,ka,kb->sab", weight, z, z) + _LEAST * np.eye(2)
        back = np.linalg.inv(held)
        apart = back[1] @ (off[1] @ z) - back[0] @ (off[0] @ z)
        noise, share = back.sum(axis=0), np.linalg.inv(held.sum(axis=0)) @ held[0]
        log.append(_density(apart, noise + prior) - _density(apart, noise))
        gain = prior @ np.linalg.inv(noise + prior)
        moved.append((share @ gain @ apart, share @ (prior - gain @ prior) @ share.T))
    each = np.log([1.0 - _CHANGED, *[_CHANGED / len(tried)] * len(tried)])
    p = softmax(each + log)[1:]
    best, strong = tried[int(np.argmax(p))], log_odds > 0.0
    sides = np.moveaxis(of[best] @ np.stack([strong, ~strong], axis=1), 2, 0).reshape(4, 8)
    used = sides[:, 0] > 0.0
    shown = tuple(rates(sides[used], list(compress(_NAMES, used))))
    by, variance = (np.array(part) for part in zip(*moved, strict=True))
    return Later(p, by, variance, since[best], shown, known=True)


def _density(off: FloatArray, variance: FloatArray) -> float:
    """Log density of two values about 0, but for a constant."""
    away = off @ np.linalg.solve(variance, off)
    return float(-np.linalg.slogdet(variance)[1] - away) / 2.0
