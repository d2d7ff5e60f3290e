"""Whether what is said of a reader holds at each of the sites whose exams the reader reads.

Patients, and what their CTs show, differ between sites, and what holds over all may hold at none.
At the fitted chances p of a reader's cells, with n uses and label mass y at site s, the site's own
shift of log-odds is estimated by one step

    d_s = Σ_c (y − n p) / Σ_c w,   v_s = 1 / Σ_c w,   w = n p (1 − p) / (1 + σ² n p (1 − p)),

σ² the variance of a cell's remainder, so that other words and findings at a site are allowed for.
Sites are alike (d_s ~ N(b, v_s)) or differ (d_s ~ N(b, v_s + `_SPREAD`²)), b flat. With a prior
share `_DIFFER` of readers whose sites differ, their marginal likelihoods give P(differ); if they
do, a site's d_s is drawn toward b by `_SPREAD`² / (`_SPREAD`² + v_s). A reader's line at a site is
the line of all exams, moved by that less its mean over all exams. Slopes are taken to be alike.

A swap is held against both: the reader's line at each site, and its own word's exams there alone.

Only sites with `ProfileSettings.least_statements` hedges of the reader are told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, expit, logit

from calibration.arrays import BoolArray, FloatArray
from calibration.profile.habits import HabitFit
from calibration.profile.results import Interval, PhraseRate
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import Evidence
from calibration.profile.tables import Correlation, Hedged

_DIFFER, _SPREAD, _UNKNOWN = 0.3, 0.5, 0.1
_ENDS = (0.5, 0.025, 0.975)
_LEAST = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """How far a reader's line lies at each site from that of all exams, and P(they differ)."""

    moved: FloatArray
    variance: FloatArray
    probability: float

    def lines(self, line: Evidence) -> tuple[Evidence, ...]:
        """Give the line at each site, if they differ."""
        at = zip(self.moved, self.variance, strict=True)
        shift = np.array([1.0, 0.0])
        return tuple(
            Evidence(line.mean + by * shift, line.covariance + v * np.outer(shift, shift))
            for by, v in at
        )


@dataclass(frozen=True, slots=True, eq=False)
class Sites:
    """A reader's hedges at the sites with enough of them, most first; None where they are unknown.

    Without ``apart`` there are no two to compare; ``words`` are each word's by its own exams alone.
    """

    rates: tuple[PhraseRate, ...] | None = None
    apart: Apart | None = None
    several: bool = False
    words: tuple[Apart, ...] = ()

    @property
    def differ(self) -> float:
        """P(they differ), 0 where none are compared."""
        return 0.0 if self.apart is None else self.apart.probability

    def lower(self, words: int) -> tuple[FloatArray, FloatArray]:
        """By how much rates of each word lie lower at each site on the log-odds, if sites differ.

        By the line and by the word's own exams: that and its variance, (K, 2, S, 2), and P(differ),
        (K, 2); of no site where none are compared.
        """
        if self.apart is None:
            return np.zeros((words, 2, 0, 2)), np.zeros((words, 2))
        both = [(self.apart, own) for own in self.words]
        moved = [[np.stack([-each.moved, each.variance], 1) for each in two] for two in both]
        return np.array(moved), np.array([[each.probability for each in two] for two in both])


def sites(
    hedges: Hedged, found: HabitFit, between: Correlation, settings: ProfileSettings
) -> tuple[Sites, ...]:
    """Compare every reader's sites; of a table without sites nothing is known."""
    rows = hedges.rows
    if rows.site is None:
        return (Sites(),) * len(rows.readers)
    each = [seen(hedges, found, between, rows.site == s) for s in range(-1, len(rows.sites))]
    return tuple(_of_reader(own, rows.sites, settings) for own in np.moveaxis(np.array(each), 2, 0))


def seen(hedges: Hedged, found: HabitFit, between: Correlation, of: BoolArray) -> FloatArray:
    """Sum over findings what some rows show of each reader's words, (8, R, K).

    Uses, label mass, both as far as they are worth, y − n p, w, what the words promise, and y − n p
    as far as a cell's remainder leaves it.
    """
    chance, remainder = found.posterior.chance, found.fitted.scales.remainder
    here = hedges.where(of)
    uses, worth = here.total(here.rows.count), here.counts(between)
    read = worth.rightly_read(logit(np.clip(chance, _LEAST, 1.0 - _LEAST)))
    weight, off = read.n * chance * (1.0 - chance), read.mass - read.n * chance
    left = 1.0 / (1.0 + remainder * weight)
    mass = here.total(here.rows.count * here.rows.label)
    promised = uses * hedges.words.meaning
    sums = (uses, mass, worth.n, worth.mass, off, weight * left, promised, off * left)
    return np.array([part.sum(axis=1) for part in sums])


def _of_reader(of: FloatArray, names: tuple[str, ...], settings: ProfileSettings) -> Sites:
    """Compare one reader's sites; ``of`` (1 + S, 8, K) begins with exams of no known site."""
    own = of.sum(axis=2)
    (unknown, *_), known = own[0], own[1:]
    if unknown > _UNKNOWN * own[:, 0].sum() or not known[:, 0].any():
        return Sites()
    enough = np.flatnonzero(known[:, 0] >= settings.least_statements)
    order = enough[np.argsort(-known[enough, 0], kind="stable")]
    by_counts = tuple(rates(known[order], [names[s] for s in order.tolist()]))
    several = int((known[:, 0] > 0.0).sum()) > 1
    if len(order) < 2:
        return Sites(by_counts, several=several)
    line, *words = (_apart(each[order]) for each in (known, *np.moveaxis(of[1:], 2, 0)))
    return Sites(by_counts, line, several, tuple(words))


def _apart(told: FloatArray) -> Apart:
    variance = 1.0 / np.maximum(told[:, 5], _LEAST)
    return compared(told[:, 4] * variance, variance)


def compared(off: FloatArray, variance: FloatArray) -> Apart:
    """Compare sites by their shifts (S,) and the variances of these."""
    spread = _SPREAD**2
    differ = _likelihood(off, variance + spread) - _likelihood(off, variance)
    share = (1.0 / variance) / (1.0 / variance).sum()
    weight, kept = 1.0 / (variance + spread), spread / (spread + variance)
    middle = weight @ off / weight.sum()
    left = np.outer(1.0 - kept, 1.0 - kept) / weight.sum() + np.diag(kept * variance)
    less = np.eye(len(off)) - share
    return Apart(
        less @ (middle + kept * (off - middle)),
        np.diag(less @ left @ less.T),
        float(expit(logit(_DIFFER) + differ)),
    )


def _likelihood(off: FloatArray, variance: FloatArray) -> float:
    """Log marginal likelihood of shifts about one middle of which nothing is known."""
    weight = 1.0 / variance
    away = off - weight @ off / weight.sum()
    return float(np.log(weight).sum() - np.log(weight.sum()) - weight @ away**2) / 2.0


def rates(known: FloatArray, names: list[str]) -> Iterator[PhraseRate]:
    """Give what hedges promise in each of some parts and what CT shows, by their counts alone."""
    for name, (n, mass, worth, positive, _, _, promised, _) in zip(names, known, strict=True):
        ends = betaincinv(0.5 + positive, 0.5 + worth - positive, _ENDS)
        yield PhraseRate(name, n, mass / n, Interval(*map(float, ends)), promised / n)
