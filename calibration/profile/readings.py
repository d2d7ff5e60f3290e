"""One reader's share of the posterior in the words of `results`: rates, habits, advice, pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

import numpy as np
from scipy.special import expit, logit

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.profile.habits import FEW_USES, HabitFit
from calibration.profile.lately import Later
from calibration.profile.line import Lines
from calibration.profile.pattern import Case, judge_pattern
from calibration.profile.rates import Rate, cell_rates, phrase_pulls, phrase_rates
from calibration.profile.results import (
    AtomJudgement,
    Cell,
    Habit,
    Interval,
    Large,
    Part,
    PhraseRate,
    ReaderProfile,
    Shared,
    Swap,
    Untold,
)
from calibration.profile.rows import Rows
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import Common, Evidence
from calibration.profile.sites import Sites
from calibration.profile.swaps import Choices, Uses, choose_swaps, nearest_words
from calibration.profile.variances import QUIRK, Fitted

_Words: TypeAlias = tuple[str, ...]
_EVEN = 0.5
# Share of a reader's hedges from which one phrase decides the line alone.
_NEARLY_ALL = 0.95
# P(far off) below which a rate is no other.
_DOUBTFUL = 0.005
# Cells that are taken out of a reader's line in turn: at most so many, the weightiest first, and
# only rare ones that move it by so many standard errors (of others it is known if they're habits).
_CELLS, _HEAVY = 4, 2 / 3
# Share of a reader's hedges that leaves too few elsewhere to say what holds without that finding.
_MOSTLY = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The fitted department with all rates computed once.

    ``suspected`` is `HabitFit.suspected`, ``rest`` every reader's line without that word, and
    ``elsewhere`` (F) those without each finding.
    ``large`` is every reader's calibration in the large, ``shared`` what readers share, ``done``
    what of it may be the instrument's, ``lean`` (R, 2) how lines and ``leaning`` (R, F, K) how mean
    labels move with CT's doubt taken for what it leans to, ``before`` what the issue before told of
    readers, ``sites`` how each reader's sites compare, ``later`` how the latest X-rays do.
    With ``one_label`` every statement of the department has the same label, and nothing may be said
    of anybody.
    """

    rows: Rows
    found: HabitFit
    choices: Choices
    lines: Lines
    rest: Lines
    elsewhere: tuple[Lines, ...]
    suspected: tuple[IntArray, FloatArray]
    uses: Uses
    large: tuple[Large, ...]
    shared: Shared
    done: Common
    lean: FloatArray
    leaning: FloatArray
    before: Mapping[str, tuple[Part, ...]]
    sites: tuple[Sites, ...]
    later: tuple[Later, ...]
    settings: ProfileSettings
    one_label: bool

    def choices_of(self, r: int) -> Choices:
        """Say what may be suggested to reader r, whose CTs have doubts of their own."""
        n, mass = self.uses.n[r], self.uses.mass[r]
        more, uses = (n * self.leaning[r]).sum(axis=0), n.sum(axis=0) + 2.0 * _EVEN
        now, then = (logit((mass.sum(axis=0) + _EVEN + by) / uses) for by in (0.0, more))
        lower, differ = self.sites[r].lower(len(now))
        since, later = self.later[r], self.later[r].lower(logit(self.choices.meaning))
        return replace(
            self.choices, lean=then - now, sites=lower, differ=differ, changed=since.changed,
            later=later,
        )  # fmt: skip


def all_rates(
    found: HabitFit, others: FloatArray, *, uses: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rates of phrases over findings by ``uses`` (R, K, 6), and of single cells (R, F, K, 6).

    The third are those of ``others`` (2, R, F, K), see `elsewhere`. The last axis holds the fields
    of `Rate`.
    """
    single = (cell_rates(found.counts, fit) for fit in (found.posterior, found.plain))
    cells = _stacked(single, found.probability(), found)
    beside = _stacked([(others[0], others[1])] * 2, np.zeros_like(uses), found)
    return whole_rates(found, uses=uses), cells, beside


def whole_rates(found: HabitFit, *, uses: FloatArray, sides: BoolArray | None = None) -> FloatArray:
    """Rates of phrases over findings by ``uses`` (R, F, K), shape (R, K, 6).

    Of all phrases of each of ``sides`` (S, K) together, shape (R, S, 6).
    """
    fits = found.posterior, found.plain
    whole = (phrase_rates(found.counts, fit, uses=uses, sides=sides) for fit in fits)
    habit = found.probability().max(axis=1, initial=0.0)
    if sides is not None:
        habit = (habit[:, None, :] * sides).max(axis=2, initial=0.0)
        return _stacked(whole, habit, found)
    return _with_far(_stacked(whole, habit, found), habit, found, uses)


def _with_far(
    rates: FloatArray, habit: FloatArray, found: HabitFit, uses: FloatArray
) -> FloatArray:
    """Average rates of words without a habit (R, K, 6) over their being far off all the same."""
    far, counts = found.far, found.counts
    pull = phrase_pulls(counts, found.posterior, uses=uses)
    other = rates[..., [0, 1, 0, 1, 4, 5]]
    other[..., 0] += pull * far.moved
    other[..., 1] += pull**2 * far.widened
    other[..., 4] = far.probability
    doubtful = (habit == 0) & (far.probability >= _DOUBTFUL) & np.isfinite(pull)
    return np.where(doubtful[..., None], other, rates)


def _stacked(
    fits: Iterable[tuple[FloatArray, FloatArray]], habit: FloatArray, found: HabitFit
) -> FloatArray:
    """Put the fields of `Rate` together: all weight with habits where none was let in.

    Quirks of variance s², known with d degrees of freedom, leave a rate of variance v with
    d / (d log v / d log s²)² = d / (v / s²)²: the more its own data tell, the less it asks of s².
    """
    held, own = found.fitted.held, (slice(None), QUIRK, *[None] * (habit.ndim - 1))
    degrees, spread = held.degrees[own], held.spread[own]
    parts = [*chain.from_iterable(fits), np.where(habit > 0, habit, 1.0)]
    share = np.clip(parts[1] / spread, 1e-9, 1.0)
    return np.asarray(np.stack([*parts, degrees / share**2], axis=-1))


def read_reader(
    reading: Reading, r: int, *, n: float, atoms: tuple[AtomJudgement, AtomJudgement]
) -> ReaderProfile:
    """Everything said of reader r, who made n statements."""
    rows, settings = reading.rows, reading.settings
    case, choices = _case(reading, r), reading.choices_of(r)
    advice = choose_swaps(reading.uses, r, choices=choices, settings=settings)
    habits = () if reading.one_label else tuple(_habits(reading, r))
    own = [(each.phrase, each.finding) for each in habits if each.finding]
    said: tuple[Habit | Swap, ...] = (*advice, *habits)
    if choices.differ.any() or choices.changed:
        # A word whose swap these hold back was chosen because it lies far off all the same.
        alike = replace(choices, differ=np.zeros_like(choices.differ), changed=0.0)
        said = (*said, *choose_swaps(reading.uses, r, choices=alike, settings=settings))
    chosen = tuple(each.phrase for each in said if each.finding is None)
    phrases = tuple(
        _phrase(reading.uses, reading.choices, r, k, chosen=chosen)
        for k in np.flatnonzero(reading.uses.n[r].any(axis=0)).tolist()
    )
    rates = {each.phrase: each.rate for each in phrases}
    near = tuple(
        each if each.finding else replace(each, rate=rates[each.phrase])
        for each in nearest_words(reading.uses, r, cells=own, choices=choices, settings=settings)
    )
    pattern = judge_pattern(case, settings=settings)
    if reading.one_label or pattern.verdict.untold in {"sites", "mended", "moved"}:
        advice, near, habits = (), (), ()
    return ReaderProfile(
        rows.readers[r], n, case.hedges, case.exams, pattern,
        habits, *atoms, advice, phrases, reading.large[r], considered=near,
        judged=int((reading.uses.n[r] >= settings.least_uses).sum()), sites=reading.sites[r].rates,
        since=reading.later[r].since, lately=reading.later[r].rates,
    )  # fmt: skip


def _case(reading: Reading, r: int) -> Case:
    """Put together what reader r's pattern is judged on."""
    own, (word, suspected) = reading.lines, reading.suspected
    (cells, moved), (findings, others), rest = _weightiest(reading, r), _elsewhere(reading, r), None
    cells = (*cells, *findings)
    if suspected[r] > 0:
        cells = (*cells, Cell(reading.choices.names[word[r]], ""))
        rest = Evidence(reading.rest.value[r], reading.rest.covariance[r])
    return Case(
        Evidence(own.value[r], own.covariance[r]), float(own.usual[r]), reading.done,
        reading.shared.seen, float(reading.uses.n[r].sum()), int(reading.rows.exams[r]),
        _untold(reading, r), reading.before.get(reading.rows.readers[r]), cells, moved,
        float(suspected[r]), rest, others, reading.lean[r],
        bool(reading.shared.explained), reading.sites[r], reading.later[r],
    )  # fmt: skip


def with_rest(readers: Sequence[ReaderProfile], reading: Reading) -> tuple[ReaderProfile, ...]:
    """Add what rates words have in all findings but those where they are told apart.

    Those are of a habit, of a swap, and the one without which no pattern would stand.
    """
    uses, names = reading.uses, reading.choices.names
    left = uses.n.copy()
    apart: list[dict[str, _Words]] = []
    for r, reader in enumerate(readers):
        likely = (habit for habit in reader.habits if habit.probability >= _EVEN)
        said: tuple[Habit | Swap, ...] = (*likely, *reader.advice)
        cells = {(each.phrase, each.finding) for each in said if each.finding}
        carried = reader.pattern.verdict.carried
        if carried and carried.finding and carried.phrase not in {"", *(p for p, _ in cells)}:
            cells.add((carried.phrase, carried.finding))
        apart.append({})
        for phrase, finding in sorted(cells):
            left[r, reading.choices.findings.index(finding), names.index(phrase)] = 0.0
            apart[r][phrase] = (*apart[r].get(phrase, ()), finding)
    if not any(apart):
        return tuple(readers)
    whole = whole_rates(reading.found, uses=left)
    others = replace(uses, n=left, mass=np.where(left > 0.0, uses.mass, 0.0), whole=whole)
    return tuple(
        replace(
            reader,
            rest=tuple(
                _phrase(others, reading.choices, r, names.index(phrase), besides)
                for phrase, besides in apart[r].items()
                if left[r, :, names.index(phrase)].any()
            ),
        )
        for r, reader in enumerate(readers)
    )


def _with_findings(readers: Sequence[ReaderProfile], reading: Reading) -> Iterator[ReaderProfile]:
    """Add the rate of all hedges in each finding taken together, where findings are told apart."""
    uses, of = reading.uses, reading.choices
    every, place = np.ones((1, len(of.meaning)), dtype=bool), np.arange(len(of.findings))
    only = [uses.n * (place == f)[:, None] for f in place] if len(place) > 1 else []
    rates = [whole_rates(reading.found, uses=each, sides=every)[:, 0] for each in only]
    for r, reader in enumerate(readers):
        found = []
        for f in np.flatnonzero(uses.n[r].any(axis=1) & (len(place) > 1)).tolist():
            n = float(uses.n[r, f].sum())
            share, seen = uses.n[r, f] / n, float(uses.mass[r, f].sum()) / n
            rate, doubt = Rate(*rates[f][r].tolist()), float(np.linalg.norm(share * of.doubt))
            means, told = float(share @ of.meaning), rate.listed.interval()
            found.append(PhraseRate(of.findings[f], n, seen, told, means, doubt=doubt))
        yield replace(reader, findings=tuple(found))


def with_sides(readers: Sequence[ReaderProfile], reading: Reading) -> tuple[ReaderProfile, ...]:
    """Add the rates of all words above even odds together, of all others, and of each finding."""
    meaning, uses = reading.choices.meaning, reading.uses
    sides = np.stack([meaning > _EVEN, meaning <= _EVEN])
    rates = whole_rates(reading.found, uses=uses.n, sides=sides).tolist()
    weigh = uses.n.sum(axis=1), uses.mass.sum(axis=1), uses.n.sum(axis=1) * meaning
    sums = np.stack([each @ sides.T for each in weigh], axis=-1).tolist()
    doubt = np.sqrt((weigh[0] * reading.choices.doubt) ** 2 @ sides.T).tolist()

    def together(r: int, s: int, name: str) -> PhraseRate:
        (n, seen, promised), rate = sums[r][s], Rate(*rates[r][s]).listed.interval()
        return PhraseRate(name, n, seen / n, rate, promised / n, doubt=doubt[r][s] / n)

    named = tuple(enumerate(("strong", "weak")))
    return tuple(
        replace(reader, sides=tuple(together(r, *side) for side in named if sums[r][side[0]][0]))
        for r, reader in enumerate(_with_findings(readers, reading))
    )


def _weightiest(reading: Reading, r: int) -> tuple[tuple[Cell, ...], FloatArray]:
    """Give the cells without which the line would move far, for its errors, and how (C, 2)."""
    moved = reading.lines.moved[r].reshape(-1, 2)
    far = np.einsum("ci,ij,cj->c", moved, np.linalg.inv(reading.lines.covariance[r]), moved)
    most, names = np.argsort(-far, kind="stable")[:_CELLS], reading.choices
    most = most[(far[most] >= _HEAVY**2) & (reading.found.counts.n[r].ravel()[most] < FEW_USES)]
    findings, phrases = np.divmod(most, len(names.names))
    cells = zip(phrases.tolist(), findings.tolist(), strict=True)
    return tuple(Cell(names.names[k], names.findings[f]) for k, f in cells), moved[most]


def _elsewhere(reading: Reading, r: int) -> tuple[tuple[Cell, ...], tuple[Evidence, ...]]:
    """Give the findings about which reader r hedges, and the line without each."""
    n = reading.uses.n[r].sum(axis=1)
    places = np.flatnonzero((n > 0.0) & (n <= _MOSTLY * n.sum())).tolist()
    lines = [reading.elsewhere[f] for f in places]
    cells = tuple(Cell("", reading.choices.findings[f]) for f in places)
    return cells, tuple(Evidence(each.value[r], each.covariance[r]) for each in lines)


def _untold(reading: Reading, r: int) -> Untold | None:
    """Say why no number of statements like these would tell of reader r, if so it is."""
    if reading.one_label:
        return "one label"
    uses = reading.uses.n[r].sum(axis=0)
    if uses.sum() <= 0:
        return "no hedge"
    return "one phrase" if uses.max() >= _NEARLY_ALL * uses.sum() else None


def _phrase(
    uses: Uses, choices: Choices, r: int, k: int, besides: _Words = (), chosen: _Words = ()
) -> PhraseRate:
    rate, name = uses.rate(r, k, None), choices.names[k]
    return PhraseRate(
        name,
        *uses.seen(r, k, None),
        rate=(rate if name in chosen else rate.listed).interval(),
        meaning=float(choices.meaning[k]),
        besides=besides,
        doubt=float(choices.doubt[k]),
    )


def _habits(reading: Reading, r: int) -> list[Habit]:
    """Habits let into the fit that can be seen in their rates, the most probable first."""
    found, counts = reading.found, reading.found.counts
    size = found.fitted.mode.reader[r]
    held: list[tuple[float, int | None, int, float]] = [
        (float(found.phrase[r, k]), None, k, float(size[counts.phrases][k]))
        for k in np.flatnonzero(found.phrase[r]).tolist()
    ]
    for h in np.flatnonzero(found.cell[r]).tolist():
        place = divmod(int(found.posterior.cell[r, h]), len(counts.meaning))
        held.append((float(found.cell[r, h]), *place, float(size[counts.size + h])))
    held = [habit for habit in held if habit[0] >= reading.settings.habit_probability]
    held.sort(key=lambda habit: -habit[0])
    told = [_habit(reading, r, *habit) for habit in held]
    return [each for each in told if each.visible and each.n >= reading.settings.least_uses]


def _habit(
    reading: Reading, r: int, probability: float, finding: int | None, k: int, size: float
) -> Habit:
    """Say how far, on the log-odds scale, a habit of phrase k lies from the rest: ``size``."""
    rate, choices = reading.uses.rate(r, k, finding), reading.choices
    if probability < _EVEN:
        rate = replace(rate, weight=1.0)
    return Habit(
        choices.names[k],
        None if finding is None else choices.findings[finding],
        *reading.uses.seen(r, k, finding),
        rate=rate.interval(),
        expected=float(expit(rate.centre - size)),
        meaning=float(choices.meaning[k]),
        probability=probability,
    )


def department_line(fitted: Fitted) -> tuple[Interval, Interval]:
    """Mean shift and slope of the department's readers, with 95 % intervals."""
    value, error = fitted.mode.theta[:2], np.sqrt(np.diag(fitted.mode.theta_covariance)[:2])
    return Interval.normal(value[0], error[0]), Interval.normal(1.0 + value[1], error[1])
