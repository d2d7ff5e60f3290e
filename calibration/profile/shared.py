"""What most readers of a department share: a question about the department, not about a reader.

If CTs are ordered for disease that no word told of, if CT misses disease, or if extraction misreads
words, every reader's line moves alike; so may all readers truly be off, and a survey of other
people can't tell which. What two readers of three have in common is therefore stated once, for the
department, with the ordering λ that would explain it; a reader is told of a shift or slope that
stands beyond the margin against the survey *and* beyond half the margin with what the instrument
may have done taken off.

That is c = (a − 1.2 b, −b): a = log λ of the ordering, and b ≥ 0 what a CT that misses disease and
misread words take off every slope, and 1.2 times as much off the shift at even odds (it is the
words near certainty that a missed finding costs most). Both lie in their plausible range, with half
of the prior on 0. Readers scatter about c by (.1, .07), or, three in five, by (.8, .35): those who
truly are off. So the readers in one place say where c lies, not the mean, and its error counts.

A reader's shift is known to within its posterior, so the readers' shifts have the distribution
function F(x) = mean_r Φ((x − shift_r) / sd_r). Shared, as it is reported, is the point that a third
of F lies below, or above, if it lies on that side of 0: what the other two thirds exceed. Its
interval is that of a quantile of R readers, from F at ⅓ ± 1.96 √(⅓ · ⅔ / R). The mean would count a
few readers who are far off as everybody's; this doesn't, as long as they are fewer than two in
three.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from calibration.arrays import BoolArray, FloatArray
from calibration.profile.line import Lines
from calibration.profile.results import Interval, Part, Shared
from calibration.profile.settings import ProfileSettings

_Z = 1.959963984540054
_REACH = 9.0
_EDGE = 0.01
_HALF = 0.5
_ORDERINGS, _MISSES = 26, 16
_ORDERED, _MISSED, _FALL = 0.25, 0.12, 1.2
_APART, _ALIKE, _FAR = 0.6, np.array([0.1, 0.07]), np.array([0.8, 0.35])


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


@dataclass(frozen=True, slots=True, eq=False)
class Instrument:
    """What ordering, CT and reading may do to every line: mean (2,), covariance (2, 2)."""

    mean: FloatArray
    covariance: FloatArray


def instrument(found: Lines, enough: BoolArray, *, settings: ProfileSettings) -> Instrument:
    """Say how far (shift, slope − 1) of every reader may be the instrument's doing.

    Fewer than `ProfileSettings.least_shared` readers say nothing of it: then it is the prior.

    Parameters
    ----------
    found, enough
        As for `shared_line`.
    """
    low, high = np.log(settings.plausible_ordering)
    ordering = np.linspace(low, high, _ORDERINGS)
    missing = np.linspace(0.0, 1.0 - settings.plausible_slope, _MISSES)
    place = np.stack(np.meshgrid(ordering, missing, indexing="ij"), axis=-1).reshape(-1, 2)
    line = np.stack([place[:, 0] - _FALL * place[:, 1], -place[:, 1]], axis=1)
    log_p = np.add.outer(_log_prior(ordering, _ORDERED), _log_prior(missing, _MISSED)).ravel()
    if enough.sum() >= settings.least_shared:
        off = found.value[enough, None, :] - line
        log_p = log_p + np.logaddexp(
            np.log1p(-_APART) + _log_density(off, found.covariance[enough], _ALIKE),
            np.log(_APART) + _log_density(off, found.covariance[enough], _FAR),
        ).sum(axis=0)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    mean = weight @ line
    return Instrument(mean, np.asarray((weight * (line - mean).T) @ (line - mean)))


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
