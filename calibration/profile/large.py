"""Calibration in the large: observed over expected, and how far off words are, of hedges together.

With n_k uses of phrase k, meaning M_k and posterior rate p_k, O/E = Σ n_k p_k / Σ n_k M_k, and E50
and E90 are the median and the 90 % point of |p_k − M_k| over uses (Harrell 2015, section 10.9).
They are functions of all rates at once, whose posterior is normal on the log-odds with what readers
share (θ) and what is a reader's own, so medians and 95 % intervals are read off 400 draws. The
draws are the same ones for every reader and every run: nothing varies from one run to the next. Of
a department that fits the scale, E50 and E90 are above 0 all the same: they measure distance, and
every distance that isn't known exactly is above 0.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from calibration.arrays import FloatArray
from calibration.profile.rates import phrase_slopes
from calibration.profile.results import Interval, Large
from calibration.profile.sparse import Found

__all__ = ["in_the_large"]

_DRAWS = 400
_EDGE = 1e-9
_ENDS = (0.5, 0.025, 0.975)
_NOTHING = Interval(float("nan"), float("nan"), float("nan"))


def in_the_large(
    found: Found, *, uses: FloatArray, mass: FloatArray, meaning: FloatArray
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


def _spread(found: Found, uses: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-odds of the phrases' rates (R, K), and what θ (R, K, J) and the rest (R, K, K) add."""
    mode, used = found.fitted.mode, uses.sum(axis=1) > 0
    rate, gradient, rest = phrase_slopes(
        found.counts, found.posterior, found.habits.cell, uses=uses
    )
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
        return Large(0.0, 0.0, 0.0, _NOTHING, _NOTHING, _NOTHING)
    distance = np.abs(rates - meaning)
    order = np.argsort(distance, axis=1)
    share = np.cumsum(n[order], axis=1) / total
    far = np.take_along_axis(distance, order, axis=1)
    halves, tenths = (
        far[np.arange(len(far)), np.argmax(share >= q - _EDGE, axis=1)] for q in (0.5, 0.9)
    )
    return Large(
        n=total,
        observed=float(positive.sum()),
        expected=expected,
        ratio=_interval(rates @ n / expected),
        e50=_interval(halves),
        e90=_interval(tenths),
    )


def _interval(draws: FloatArray) -> Interval:
    return Interval(*(float(end) for end in np.quantile(draws, _ENDS)))
