"""One reader's share of the posterior in the words of `results`: rates, habits, advice, pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from calibration.arrays import FloatArray
from calibration.profile.line import Lines
from calibration.profile.pattern import Case, judge_pattern
from calibration.profile.rates import Rates
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
from calibration.profile.rows import Rows
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import Common, Evidence
from calibration.profile.sparse import Found
from calibration.profile.swaps import Choices, Uses, choose_swaps
from calibration.profile.variances import Fitted

_EVEN = 0.5
_NEARLY_ALL = 0.95
"""Share of a reader's hedges from which one phrase decides the line alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The fitted department with all rates computed once.

    ``n`` and ``mass`` (R, F, K) are hedges and their label mass, ``whole`` and ``cells`` their
    rates over findings and in each, ``large`` every reader's calibration in the large. ``shared``
    is what readers share, ``done`` what of it may be the instrument's, ``before`` what the issue
    before told of readers. With ``one_label`` every statement of the department has the same
    label, and nothing may be said of anybody.
    """

    rows: Rows
    found: Found
    choices: Choices
    lines: Lines
    n: FloatArray
    mass: FloatArray
    whole: Rates
    cells: Rates
    large: tuple[Large, ...]
    shared: Shared
    done: Common
    before: Mapping[str, tuple[Part, ...]]
    settings: ProfileSettings
    one_label: bool


def read_reader(
    reading: Reading, r: int, *, n: float, atoms: tuple[AtomJudgement, AtomJudgement]
) -> ReaderProfile:
    """Everything said of reader r, who made n statements."""
    rows, settings = reading.rows, reading.settings
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
        large=reading.large[r],
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
    return Interval.normal(value[0], error[0]), Interval.normal(1.0 + value[1], error[1])
