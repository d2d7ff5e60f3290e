"""What changed in a reader's line from one period to a later one, regression to the mean taken out.

A reader who stood far off by chance stands nearer next time without having changed. Both periods'
lines are therefore read together. For one coordinate (shift, or slope − 1) reader r has s in the
earlier and t in the later period,

    (s_r, t_r) ~ N((μ_s, μ_t), T [[1, ρ], [ρ, 1]]),

with T the readers' variance (by the law of total variance: the mean of their posterior variances
and the variance of their posterior means, over both periods). A period's own evidence on r is what
its posterior N(m, v) holds beyond that prior: precision 1/e² = 1/v − 1/T at
y = e² (m/v − μ/T). How much of a reader lasts, ρ, has a Beta(18, 2) prior and is averaged over;
μ_t − μ_s, what changed for all, has the prior N(0, .1²) and is known with the error of a mean over
readers. But a reader may have moved while all others last: with prior probability `_MOVED` ρ is 0
for that one, of which the reader's own values tell. (Without it intervals of readers who moved by
.8 held that in 48 %, with it in 75 %, `docs/method.md`.) The change t
− s is then a mixture of normals, given with its mean and ± 1.96 of its deviations. The periods must
not share exams.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from calibration.arrays import FloatArray
from calibration.estimate import Z95
from calibration.profile.results import Coordinate, ReaderProfile
from calibration.profile.whole import Change, DepartmentProfile

_GRID = (np.arange(40) + 0.5) / 40.0
_LOG_PRIOR = 17.0 * np.log(_GRID) + 1.0 * np.log1p(-_GRID)
_COMMON, _MOVED = 0.1, 0.2
_LEAST = 1e-6


def changes(earlier: DepartmentProfile, now: DepartmentProfile) -> tuple[Change, ...]:
    """Compare readers judged in both periods, of enough hedges; none where fewer than three were.

    Enough is ``least_statements``: of fewer, staying where all stand is no finding.
    """
    least = now.settings.least_statements

    def judged(found: DepartmentProfile) -> dict[str, ReaderProfile]:
        return {r.reader: r for r in found if r.hedges >= least and r.pattern.verdict.read}

    before = judged(earlier)
    pairs = [(before[name], r) for name, r in judged(now).items() if name in before]
    if len(pairs) < 3:
        return ()
    margins = now.settings.shift_margin, now.settings.slope_margin
    shifts, slopes = (
        _moves(np.array([[_normal(one, axis) for one in pair] for pair in pairs]), margin)
        for axis, margin in enumerate(margins)
    )
    return tuple(
        Change(pair[1].reader, shift, slope)
        for pair, shift, slope in zip(pairs, shifts, slopes, strict=True)
    )


def _normal(reader: ReaderProfile, axis: int) -> tuple[float, float]:
    """Posterior mean and variance of one coordinate."""
    part = reader.pattern.slope if axis else reader.pattern.shift
    return part.value, ((part.high - part.low) / (2.0 * Z95)) ** 2


def _moves(posterior: FloatArray, margin: float) -> list[Coordinate]:
    """Give every reader's change from posteriors (R, 2 periods, mean and variance)."""
    mean, variance = posterior[:, :, 0], posterior[:, :, 1]
    centre = mean.mean(axis=0)
    spread = float(variance.mean() + mean.var(axis=0).mean())
    precision = np.maximum(1.0 / variance - 1.0 / spread, _LEAST)
    value = (mean / variance - centre / spread) / precision - centre
    each = [_given(value, 1.0 / precision, spread, lasting) for lasting in (*_GRID, 0.0)]
    likely = np.array([log for log, _, _ in each])
    lasts, moves = np.log1p(-_MOVED) + likely[:-1], np.log(_MOVED) + likely[-1]
    both = np.logaddexp(lasts, moves)
    log_p = both.sum(axis=1) + _LOG_PRIOR
    weight = np.exp(log_p - log_p.max())[:, None] / np.exp(log_p - log_p.max()).sum()
    weight = np.concatenate(
        [weight * np.exp(lasts - both), [(weight * np.exp(moves - both)).sum(0)]]
    )
    doubt = float(variance.sum(axis=1).mean()) / len(mean)
    kept = _COMMON**2 / (_COMMON**2 + doubt)
    centres = np.array([move for _, move, _ in each]) + kept * (centre[1] - centre[0])
    spreads = np.array([error for _, _, error in each]) + kept * doubt
    parts = zip(weight.T, centres.T, spreads.T, strict=True)
    return [_coordinate(*part, margin) for part in parts]


def _given(
    value: FloatArray, error: FloatArray, spread: float, lasting: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-likelihood of readers' values (R, 2), and mean and variance of the change, (R,) each."""
    prior = spread * np.array([[1.0, lasting], [lasting, 1.0]])
    seen = prior + np.einsum("rp,pq->rpq", error, np.eye(2))
    back = np.linalg.inv(seen)
    log = -0.5 * (np.linalg.slogdet(seen)[1] + np.einsum("rp,rpq,rq->r", value, back, value))
    move = np.array([-1.0, 1.0]) @ prior
    found = np.einsum("p,rpq,rq->r", move, back, value)
    left = 2.0 * spread * (1.0 - lasting) - np.einsum("p,rpq,q->r", move, back, move)
    return np.asarray(log), found, np.maximum(left, 1e-12)


def _coordinate(
    weight: FloatArray, centre: FloatArray, variance: FloatArray, margin: float
) -> Coordinate:
    """Mean, interval and P(beyond the margin on the side of the mean) of a mixture of normals."""
    value, sd = float(weight @ centre), np.sqrt(variance)
    total = float(weight @ (variance + centre**2)) - value**2
    side = 1.0 if value >= 0.0 else -1.0
    beyond = float(weight @ ndtr((side * centre - margin) / sd))
    return Coordinate.normal(value, total**0.5, beyond)
