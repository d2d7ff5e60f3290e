"""One reader's share of the posterior in the words of `results`: rates, habits, advice, pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from calibration.arrays import FloatArray
from calibration.profile.line import Lines, in_the_large
from calibration.profile.pattern import Case, judge_pattern
from calibration.profile.rates import Rates, cell_rates, phrase_rates
from calibration.profile.results import (
    AtomJudgement,
    Habit,
    Interval,
    Large,
    Part,
    PhraseRate,
    ReaderProfile,
    Shared,
    Untold,
)
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import Common, Evidence
from calibration.profile.sparse import Found
from calibration.profile.swaps import Choices, Uses, choose_swaps
from calibration.profile.tables import Hedged
from calibration.profile.variances import Fitted

_Z = 1.959963984540054
_EVEN = 0.5
_NEARLY_ALL = 0.95
"""Share of a reader's hedges from which one phrase decides the line alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The fitted department with all rates computed once, (R, F, K) and (R, K).

    ``shared`` is what readers share, ``done`` what of it may be the instrument's,
    ``before`` what the issue before told of readers; ``large`` every
    reader's and the department's calibration in the large. With ``one_label`` every statement of
    the department has the same label, and nothing may be said of anybody.
    """

    hedges: Hedged
    found: Found
    choices: Choices
    lines: Lines
    shared: Shared
    done: Common
    before: Mapping[str, tuple[Part, ...]]
    settings: ProfileSettings
    one_label: bool
    n: FloatArray = field(init=False)
    mass: FloatArray = field(init=False)
    whole: Rates = field(init=False)
    cells: Rates = field(init=False)
    large: tuple[tuple[Large, ...], Large] = field(init=False)

    def __post_init__(self) -> None:
        rows, found = self.hedges.rows, self.found
        n = self.hedges.total(rows.count)
        probability, empty = found.probability(), found.habits.cell[:, :0]
        cells = (
            *cell_rates(found.counts, found.posterior, found.habits.cell),
            *cell_rates(found.counts, found.plain, empty),
            _certain_if_none(probability),
        )
        whole = (
            *phrase_rates(found.counts, found.posterior, found.habits.cell, uses=n),
            *phrase_rates(found.counts, found.plain, empty, uses=n),
            _certain_if_none(probability.max(axis=1, initial=0.0)),
        )
        degrees = self.settings.priors.quirk_tail + n.shape[2]
        object.__setattr__(self, "n", n)
        mass = self.hedges.total(rows.count * rows.label)
        meaning = self.choices.meaning
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "large", in_the_large(found, uses=n, mass=mass, meaning=meaning))
        object.__setattr__(self, "cells", Rates(*cells, degrees))
        object.__setattr__(self, "whole", Rates(*whole, degrees))


def _certain_if_none(probability: FloatArray) -> FloatArray:
    """Weight of the fit with habits: all of it where no habit stands to be doubted."""
    return np.where(probability > 0, probability, 1.0)


def read_reader(
    reading: Reading, r: int, *, n: float, atoms: tuple[AtomJudgement, AtomJudgement]
) -> ReaderProfile:
    """Everything said of reader r, who made n statements."""
    rows, settings = reading.hedges.rows, reading.settings
    hedges = float(reading.n[r].sum())
    lines, exams = reading.lines, int(rows.exams[r])
    evidence = Evidence(lines.value[r], lines.covariance[r])
    untold = _untold(reading, r)
    usual, common = float(lines.usual[r]), reading.shared.parts
    before = reading.before.get(rows.readers[r])
    case = Case(evidence, usual, reading.done, common, hedges, exams, untold, before)
    advice = choose_swaps(_uses(reading, r), choices=reading.choices, settings=settings)
    return ReaderProfile(
        reader=rows.readers[r],
        n=n,
        hedges=hedges,
        exams=exams,
        pattern=judge_pattern(case, settings=settings),
        habits=() if reading.one_label else tuple(_habits(reading, r)),
        absent=atoms[0],
        present=atoms[1],
        advice=() if reading.one_label else advice,
        phrases=tuple(_phrases(reading, r)),
        large=reading.large[0][r],
    )


def _untold(reading: Reading, r: int) -> Untold | None:
    """Say why no number of statements like these would tell of reader r, if so it is."""
    if reading.one_label:
        return "one label"
    uses = reading.n[r].sum(axis=0)
    return "one phrase" if uses.sum() > 0 and uses.max() >= _NEARLY_ALL * uses.sum() else None


def _uses(reading: Reading, r: int) -> Uses:
    counts = reading.found.counts
    return Uses(
        n=reading.n[r],
        mass=reading.mass[r],
        effective=counts.n[r],
        effective_mass=counts.mass[r],
        reader=r,
        whole=reading.whole,
        cells=reading.cells,
    )


def _phrases(reading: Reading, r: int) -> list[PhraseRate]:
    n, mass = reading.n[r].sum(axis=0), reading.mass[r].sum(axis=0)
    return [
        PhraseRate(
            phrase=reading.choices.names[k],
            n=float(n[k]),
            observed=float(mass[k] / n[k]),
            rate=reading.whole.at((r, k)).interval(),
            meaning=float(reading.choices.meaning[k]),
        )
        for k in np.flatnonzero(n > 0).tolist()
    ]


def _habits(reading: Reading, r: int) -> list[Habit]:
    """Habits let into the fit that can be seen in their rates, the most probable first."""
    found, counts = reading.found, reading.found.counts
    held: list[tuple[float, int | None, int]] = [
        (float(found.phrase[r, k]), None, int(k)) for k in np.flatnonzero(found.phrase[r])
    ]
    for h in np.flatnonzero(found.cell[r]):
        finding, phrase = divmod(int(found.habits.cell[r, h]), len(counts.meaning))
        held.append((float(found.cell[r, h]), finding, phrase))
    held = [habit for habit in held if habit[0] >= reading.settings.habit_probability]
    held.sort(key=lambda habit: -habit[0])
    told = [_habit(reading, r, *habit) for habit in held]
    return [each for each in told if each.visible and each.n >= reading.settings.least_uses]


def _habit(reading: Reading, r: int, probability: float, finding: int | None, phrase: int) -> Habit:
    scope = slice(None) if finding is None else slice(finding, finding + 1)
    rate = (
        reading.whole.at((r, phrase)) if finding is None else reading.cells.at((r, finding, phrase))
    )
    if probability < _EVEN:
        rate = replace(rate, weight=1.0)
    n = float(reading.n[r, scope, phrase].sum())
    return Habit(
        phrase=reading.choices.names[phrase],
        finding=None if finding is None else reading.choices.findings[finding],
        n=n,
        observed=float(reading.mass[r, scope, phrase].sum()) / n,
        rate=rate.interval(),
        expected=float(expit(rate.centre - _size(reading, r, finding, phrase))),
        meaning=float(reading.choices.meaning[phrase]),
        probability=probability,
    )


def _size(reading: Reading, r: int, finding: int | None, phrase: int) -> float:
    """How far a habit lies from the rest on the log-odds scale."""
    mode, counts = reading.found.fitted.mode, reading.found.counts
    if finding is None:
        return float(mode.reader[r, counts.phrases][phrase])
    column = np.flatnonzero(reading.found.habits.cell[r] == finding * len(counts.meaning) + phrase)
    return float(mode.reader[r, counts.size + column[0]])


def department_line(fitted: Fitted) -> tuple[Interval, Interval]:
    """Mean shift and slope of the department's readers, with 95 % intervals."""
    value, error = fitted.mode.theta[:2], np.sqrt(np.diag(fitted.mode.theta_covariance)[:2])
    ends = [(v, v - _Z * e, v + _Z * e) for v, e in zip(value, error, strict=True)]
    shift, slope = ends
    return Interval(*map(float, shift)), Interval(*(float(each) + 1.0 for each in slope))
