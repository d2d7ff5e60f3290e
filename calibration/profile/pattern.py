"""The posterior of (shift, slope) → what may be said first about a reader.

With margins d (shift) and g (slope), a part is stated when its posterior probability reaches
`ProfileSettings.pattern_probability`:

    undercalls  P(shift > d)    overcalls     P(shift < −d)
    too sure    P(slope < 1−g)  too cautious  P(slope > 1+g)

Shift is read where a word means even odds (logit 0), so that it means the same in every department
and issue. Beside a stated slope a shift is stated only if it also holds at the reader's usual word,
because a slope alone shifts every other place, and one that could only be asked about needs a
probability of .95 there: it would turn a plain sentence into a question. What the instrument may
have done (`shared`) is no reader's own: a part on its side is stated only if it also holds beyond
half the margin with that taken off. One that doesn't is shared if the department has it too, and
else can't be told.

Verification: were a CT λ times as likely given disease, whatever the X-ray said, every shift would
rise by log λ (Begg and Greenes 1983); the slope would stay. The tipping point is the λ that brings
a shift back inside its margin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
from scipy.special import ndtr

from calibration.arrays import FloatArray
from calibration.profile.results import Coordinate, Part, Pattern, Untold, Verdict
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import Instrument

_Z = 1.959963984540054
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_MOST = 64.0
_SURELY = 0.4
_OWN = 0.5
_BESIDE = 0.95
_AXIS: Final[Mapping[Part, tuple[int, float]]] = MappingProxyType(
    {
        "overcalls": (0, -1.0),
        "undercalls": (0, 1.0),
        "too sure": (1, -1.0),
        "too cautious": (1, 1.0),
    }
)
"""Which coordinate each part is about, and on which side."""


class Evidence:
    """One reader's bivariate normal posterior of (shift, slope − 1)."""

    __slots__ = ("covariance", "mean", "sd")

    def __init__(self, mean: FloatArray, covariance: FloatArray) -> None:
        self.mean = mean
        self.covariance = covariance
        self.sd = np.sqrt(np.diag(covariance))

    @property
    def correlation(self) -> float:
        """Posterior correlation of the two."""
        return float(self.covariance[0, 1] / (self.sd[0] * self.sd[1]))

    def narrowed(self, factor: float) -> Evidence:
        """Give the same estimate from ``factor`` times the data."""
        return Evidence(self.mean, self.covariance / factor)

    def beyond(self, settings: ProfileSettings, *, margin: float = 1.0) -> dict[Part, float]:
        """P(each part), beyond ``margin`` times the margins."""
        (shift, slope), (a, b) = self.mean, self.sd
        d, g = margin * settings.shift_margin, margin * settings.slope_margin
        return {
            "overcalls": float(ndtr((-d - shift) / a)),
            "undercalls": float(ndtr((shift - d) / a)),
            "too sure": float(ndtr((-g - slope) / b)),
            "too cautious": float(ndtr((slope - g) / b)),
        }

    def less(self, done: Instrument) -> Evidence:
        """Give the line with what the instrument may have done taken off."""
        return Evidence(self.mean - done.mean, self.covariance + done.covariance)

    def moved_to(self, centre: float) -> Evidence:
        """Give the same line with its shift read at another place of the scale."""
        turn = np.array([[1.0, centre], [0.0, 1.0]])
        return Evidence(turn @ self.mean, turn @ self.covariance @ turn.T)

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


@dataclass(frozen=True, slots=True)
class _Parts:
    """What holds of a line: the reader's own, what most readers share, what may be explained."""

    own: tuple[Part, ...] = ()
    shared: tuple[Part, ...] = ()
    explained: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What a reader is judged on: line, usual word, what the instrument may have done to it.

    ``common`` are the parts that the department shares.
    """

    evidence: Evidence
    usual: float
    done: Instrument
    common: tuple[Part, ...]
    hedges: float
    exams: int
    untold: Untold | None = None

    def narrowed(self, factor: float) -> Case:
        """Give the same estimate from ``factor`` times the data."""
        return replace(self, evidence=self.evidence.narrowed(factor))

    def stated(self, settings: ProfileSettings) -> _Parts:
        """Sort what holds of the line by whose it is."""
        parts = _stated(self.evidence, self.usual, settings)
        own = self.evidence.less(self.done).beyond(settings, margin=_OWN)
        open_ = {
            part
            for part in parts
            if self.done.mean[_AXIS[part][0]] * _AXIS[part][1] > 0.0
            and own[part] < settings.pattern_probability
        }
        return _Parts(
            own=tuple(part for part in parts if part not in open_),
            shared=tuple(part for part in parts if part in open_ and part in self.common),
            explained=tuple(part for part in parts if part in open_ and part not in self.common),
        )

    def own(self, settings: ProfileSettings) -> Evidence:
        """Give what is the reader's own."""
        shared = bool(self.stated(settings).shared)
        return self.evidence.less(self.done) if shared else self.evidence

    def nothing(self, settings: ProfileSettings) -> bool:
        """Whether "none" may be said of what is the reader's own."""
        return _nothing(self.own(settings), settings)


def judge_pattern(case: Case, *, settings: ProfileSettings) -> Pattern:
    """State a reader's pattern, or that there is none, or that it can't be told yet."""
    evidence = case.evidence
    enough = case.hedges >= settings.least_statements and case.untold != "one label"
    parts = case.stated(settings) if enough else _Parts()
    stated = parts.own
    off = clearly_off(evidence, settings)
    d, g = settings.shift_margin, settings.slope_margin
    within = evidence.inside((-d, d), (-g, g))
    settled = bool(stated) or (enough and case.nothing(settings))
    untold = case.untold or ("instrument" if parts.explained else None)
    shift, slope = _coordinates(evidence, settings)
    tipping = _tipping(shift.value, settings)
    low, high = settings.plausible_ordering
    shifted = any(part in {"overcalls", "undercalls"} for part in stated)
    verdict = Verdict(
        state="pattern" if stated else "none" if settled else "too few",
        parts=stated,
        question=shifted and low <= tipping <= high,
        more_exams=None if settled or untold else _more(case, settings),
        shared=parts.shared,
        explained=parts.explained,
        slight=_slight(case.own(settings), settings) if settled and not stated else None,
        untold=None if settled else untold,
    )
    return Pattern(verdict, shift, slope, evidence.correlation, within, off, tipping)


def clearly_off(evidence: Evidence, settings: ProfileSettings) -> float:
    """P(shift or slope clearly off)."""
    low, high = settings.clear_slope
    clear = settings.clear_shift
    return 1.0 - evidence.inside((-clear, clear), (-low, high))


def _nothing(evidence: Evidence, settings: ProfileSettings) -> bool:
    """Whether "none" may be said: no part is likely, and being clearly off is not."""
    likely = max(evidence.beyond(settings).values()) > settings.none_probability
    off = clearly_off(evidence, settings)
    limit = settings.too_few_probability
    return off <= limit and (not likely or off <= limit * _SURELY)


def _slight(evidence: Evidence, settings: ProfileSettings) -> Part | None:
    """Name the likeliest part where it is likelier than "none" alone allows."""
    beyond = evidence.beyond(settings)
    part = max(beyond, key=lambda name: beyond[name])
    return part if beyond[part] > settings.none_probability else None


def _stated(evidence: Evidence, usual: float, settings: ProfileSettings) -> tuple[Part, ...]:
    needed = settings.pattern_probability
    here, there = evidence.beyond(settings), evidence.moved_to(usual).beyond(settings)
    slope: list[Part] = [p for p in ("too sure", "too cautious") if here[p] >= needed]
    low, high = settings.plausible_ordering
    asked = low <= _tipping(float(evidence.mean[0]), settings) <= high
    beside = max(needed, _BESIDE) if slope and asked else needed
    shift: list[Part] = [
        p
        for p in ("overcalls", "undercalls")
        if here[p] >= beside and (not slope or there[p] >= needed)
    ]
    return (*shift, *slope)


def _coordinates(evidence: Evidence, settings: ProfileSettings) -> tuple[Coordinate, Coordinate]:
    beyond = evidence.beyond(settings)
    (shift, slope), (a, b) = evidence.mean, evidence.sd
    side = beyond["undercalls"] if shift > 0 else beyond["overcalls"]
    steep = beyond["too cautious"] if slope > 0 else beyond["too sure"]
    slope += 1.0
    return (
        Coordinate(float(shift), float(shift - _Z * a), float(shift + _Z * a), side),
        Coordinate(float(slope), float(slope - _Z * b), float(slope + _Z * b), steep),
    )


def _tipping(shift: float, settings: ProfileSettings) -> float:
    beyond = abs(shift) - settings.shift_margin
    return float(np.exp(np.copysign(beyond, shift))) if beyond > 0 else float("nan")


def _more(case: Case, settings: ProfileSettings) -> int | None:
    """Exams needed beyond these for a verdict, if the estimate stays where it is."""
    if case.hedges <= 0 or case.exams <= 0:
        return None
    least = max(settings.least_statements / case.hedges, 1.0)
    for factor in np.geomspace(least, least * _MOST, 60):
        then = case.narrowed(float(factor))
        if then.stated(settings).own or then.nothing(settings):
            return _rounded_up((factor - 1.0) * case.exams)
    return None


def _rounded_up(value: float) -> int:
    """At least 10, and to two digits upwards: a promise no finer than the guess behind it.

    >>> _rounded_up(3.0), _rounded_up(123.0)
    (10, 130)
    """
    unit = 10 ** max(int(np.floor(np.log10(max(value, 1.0)))) - 1, 1)
    return int(max(np.ceil(value / unit) * unit, 10))
