"""What most readers of a department share: a question about the department, not about a reader.

If CTs are ordered for disease that no word told of, if CT misses disease, or if extraction misreads
words, every reader's line moves alike; so may all readers truly be off, and a survey of other
people can't tell which. What two readers of three have in common is therefore stated once, for the
department, with the ordering λ that would explain it; a reader is told of a shift or slope that
stands beyond the margin against the survey *and* beyond half the margin against what is shared.

A reader's shift is known to within its posterior, so the readers' shifts have the distribution
function F(x) = mean_r Φ((x − shift_r) / sd_r). Shared is the point that a third of F lies below, or
above, if it lies on that side of 0: what the other two thirds exceed. Its interval is that of a
quantile of R readers, from F at ⅓ ± 1.96 √(⅓ · ⅔ / R). The mean would count a few readers who are
far off as everybody's; this doesn't, as long as they are fewer than two in three.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from calibration.arrays import BoolArray, FloatArray
from calibration.profile.line import Lines
from calibration.profile.results import Interval, Part, Shared
from calibration.profile.settings import ProfileSettings

__all__ = ["explained", "shared_line"]

_Z = 1.959963984540054
_REACH = 9.0
_EDGE = 0.01
_HALF = 0.5


def shared_line(found: Lines, enough: BoolArray, *, settings: ProfileSettings) -> Shared:
    """Say what readers share; nothing where fewer than `ProfileSettings.least_shared` are judged.

    Parameters
    ----------
    found
        Every reader's line.
    enough
        Who has statements enough to be judged, shape (R,).
    """
    readers = int(enough.sum())
    nothing = Interval(0.0, 0.0, 0.0)
    if readers < settings.least_shared:
        return Shared(nothing, Interval(1.0, 1.0, 1.0), readers, (), float("nan"), question=False)
    value = found.value[enough]
    sd = np.sqrt(np.diagonal(found.covariance, axis1=1, axis2=2)[enough])
    shift, slope = (_common(value[:, i], sd[:, i], settings.shared_by) for i in (0, 1))
    parts: list[Part] = []
    if abs(shift.value) > _HALF * settings.shift_margin:
        parts.append("undercalls" if shift.value > 0 else "overcalls")
    if abs(slope.value) > _HALF * settings.slope_margin:
        parts.append("too cautious" if slope.value > 0 else "too sure")
    low, high = settings.plausible_ordering
    shifted = abs(shift.value) > _HALF * settings.shift_margin
    tipping = float(np.exp(shift.value)) if shifted else float("nan")
    return Shared(
        shift=shift,
        slope=Interval(1.0 + slope.value, 1.0 + slope.low, 1.0 + slope.high),
        readers=readers,
        parts=tuple(parts),
        tipping=tipping,
        question=bool(low <= tipping <= high),
    )


def explained(shared: Shared, *, settings: ProfileSettings) -> FloatArray:
    """(shift, slope − 1) that is shared and may be the instrument's doing, shape (2,).

    A shift within the plausible orderings of CTs, and a slope below 1 that misreading or a CT that
    misses disease can make of a calibrated one. Nothing but readers makes a slope above 1.
    """
    shift = slope = 0.0
    if {"overcalls", "undercalls"} & set(shared.parts):
        shift = float(np.clip(shared.shift.value, *np.log(settings.plausible_ordering)))
    if "too sure" in shared.parts:
        slope = max(shared.slope.value, settings.plausible_slope) - 1.0
    return np.array([shift, slope])


def _common(value: FloatArray, sd: FloatArray, share: float) -> Interval:
    """Find what ``share`` of the readers exceed on one side of 0, with its 95 % interval."""
    error = _Z * np.sqrt(share * (1.0 - share) / len(value))
    rest = 1.0 - share
    ends = [float(np.clip(rest + move, _EDGE, 1.0 - _EDGE)) for move in (0.0, -error, error)]
    below = [_quantile(value, sd, q) for q in ends]
    above = [_quantile(value, sd, 1.0 - q) for q in ends]
    if below[0] > 0.0:
        return Interval(below[0], below[1], below[2])
    if above[0] < 0.0:
        return Interval(above[0], above[2], above[1])
    return Interval(0.0, min(below[1], 0.0), max(above[1], 0.0))


def _quantile(value: FloatArray, sd: FloatArray, q: float) -> float:
    """Where the readers' distribution function is q."""
    reach = _REACH * float(sd.max())

    def missing(x: float) -> float:
        return float(ndtr((x - value) / sd).mean()) - q

    return float(brentq(missing, value.min() - reach, value.max() + reach, xtol=1e-10))
