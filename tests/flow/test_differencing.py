"""All pages of two years side by side give no number of a cell that is too small to be printed.

Months of statements are drawn for a department in which one reader comes and one goes. Twenty-four
monthly issues over twelve months each are filled as a run fills them, up to the door at which pages
take their numbers. Then an attacker who holds them all writes down what they say as inequalities
over the unknown counts and positives of every reader, finding, phrase and month: printed counts and
shares with the rule known, totals, what total and parts leave for the withheld, the states "too
few" and "not used", and the tallies behind the committee's charts by month. Linear programming
tells how far a small cell can still move; where only one whole number is left, it is recovered.
The same attack on pages that print exact counts shows that it can recover.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from calibration import rounding
from calibration.estimate import Estimate
from calibration.groups import Group, GroupResults, group_results, tally_of, trend
from calibration.result import GroupResult
from calibration.survey import builtin
from pipeline.config import Configuration
from pipeline.pages import content
from pipeline.tables.results import Period, Scale
from reports import rounded
from reports.content import RadiologistContent, SuppressedCell
from reports.disclosure import guard_radiologist
from reports.review_content import CaseMix, MixRow

CONFIG = Configuration(input={"paths": ["none"]}, calibration={"bootstrap": 100, "bins": 10})
SCALE = Scale(builtin("diagnostic-certainty-scale"), CONFIG)
PHRASES = ("unlikely", "may represent", "likely")
FINDINGS = ("effusion", "nodule")
READERS = ("R-1", "R-2", "R-3", "R-4", "R-5")
MONTHS = [str(pd.Period("2024-01", "M") + i) for i in range(35)]
RATES = np.array([[1.0, 2.2, 2.0], [0.7, 3.0, 1.2]])
"""Statements a month, by finding and phrase: windows of twelve months hold 8 to 36."""
WINDOW = 12
SMALL = ((4, 0, 20), (0, 1, 8), (4, None, 17), (0, None, 20), (None, 0, 33), (None, 1, 2))
"""Reader, kind of case and month of some cells."""
ISSUES = range(len(MONTHS) - WINDOW + 1)
MINIMUM = CONFIG.reports.min_exams
READERS_ENOUGH = CONFIG.reports.min_readers
SHAPE = (len(READERS), *RATES.shape, len(MONTHS))


@dataclass(frozen=True)
class Department:
    """Counts and positives by reader, finding, phrase and month."""

    n: np.ndarray
    y: np.ndarray

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Give the tally table, as an issue holds it."""
        rows = [
            (READERS[r], FINDINGS[f], MONTHS[m], PHRASES[p], label, float(count))
            for (r, f, p, m), n in np.ndenumerate(self.n)
            for label, count in ((1.0, self.y[r, f, p, m]), (0.0, n - self.y[r, f, p, m]))
            if count
        ]
        names = ["reader_code", "pathology", "month", "phrase", "label_value", "count"]
        return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module")
def department() -> Department:
    g = np.random.default_rng(17)
    n = g.poisson(RATES[None, :, :, None], SHAPE)
    n[0, ..., 22:] = 0
    n[4, ..., :16] = 0
    means = [SCALE.phrases.means[SCALE.phrases.index(p)] for p in PHRASES]
    return Department(n, g.binomial(n, np.array(means)[None, None, :, None]))


def some(
    *,
    reader: int | None = None,
    finding: int | None = None,
    phrases: Sequence[int] = (0, 1, 2),
    months: Sequence[int] = range(len(MONTHS)),
) -> np.ndarray:
    """Mark cells of the department; None: of all."""
    each = (
        range(SHAPE[0]) if reader is None else [reader],
        range(SHAPE[1]) if finding is None else [finding],
        phrases,
        months,
    )
    mask = np.zeros(SHAPE, dtype=bool)
    mask[np.ix_(*map(list, each))] = True
    return mask


@dataclass(frozen=True)
class Said:
    """What pages say of some cells: how many statements they hold, and which share is positive."""

    cells: np.ndarray
    least: float
    most: float
    share: tuple[float, float] | None = None


@dataclass(frozen=True)
class Reading:
    """How an attacker reads numbers: as rounded by the known rule, or as whole per cent."""

    rounds: bool

    def count(self, cells: np.ndarray, n: float, of: int = 1) -> Said:
        """Read a count, or the sum of some; rounded ones are the middle of their class."""
        loose = of * (rounding.BASE // 2)
        return Said(cells, max(n - loose, 0), n + loose)

    def row(self, cells: np.ndarray, n: float, share: float) -> Said:
        """Read a phrase and its share."""
        off = rounding.STEP / 2 / n if self.rounds else 0.005
        known = self.count(cells, n)
        return Said(cells, known.least, known.most, (share - off, share + off))


def issues(department: Department, reading: Reading, readers: Sequence[int]) -> list[Said]:
    """Write down what the issues say of some readers, and of the department if of all."""
    said: list[Said] = []
    for start in ISSUES:
        span = range(start, start + WINDOW)
        months = [MONTHS[m] for m in span]
        cells = department.cells[department.cells["month"].isin(months)]
        parts = [_of_reader(cells, r, span, reading) for r in readers]
        if len(readers) == len(READERS):
            whole = _results(cells, "department")
            parts.append(_of_results(whole.overall, whole.by_pathology.values(), span, reading))
            parts.append(_of_run_charts(cells, span, reading))
        said += (each for part in parts for each in part)
    return _each_once(said)


def _each_once(said: Sequence[Said]) -> list[Said]:
    return list({(s.cells.tobytes(), s.least, s.most, s.share): s for s in said}.values())


def _of_run_charts(cells: pd.DataFrame, span: range, reading: Reading) -> Iterator[Said]:
    """Give the attacker every month's rounded tally in place of the committee's charts by month.

    They print less: the distance over all phrases in steps of three statements, which is not
    linear in the cells, and the share of recommended words.
    """
    for month in span:
        part = cells[cells["month"] == MONTHS[month]]
        few = part["count"].sum() < MINIMUM or part["reader_code"].nunique() < READERS_ENOUGH
        if few:
            continue
        shown = rounding.rounded(tally_of(part, SCALE.phrases))
        for p, phrase in enumerate(PHRASES):
            at = SCALE.phrases.index(phrase)
            if n := shown.n[at]:
                where = some(phrases=[p], months=[month])
                yield reading.row(where, n, shown.label_mass[at] / n)


def _results(cells: pd.DataFrame, name: str) -> GroupResults:
    return group_results(
        Group(name, cells), pathologies=FINDINGS, study=SCALE.study, minimum=MINIMUM
    )


def _of_reader(
    cells: pd.DataFrame, r: int, span: range, reading: Reading, *, findings: bool = True
) -> Iterator[Said]:
    own = cells[cells["reader_code"] == READERS[r]]
    if own.empty:
        yield Said(some(reader=r, months=span), 0, 0)
        return
    filled = _page(own, READERS[r], [MONTHS[m] for m in span])
    parts = [part.result for part in filled.by_pathology if findings]
    yield from _of_results(filled.overall, parts, span, reading, reader=r)
    for point in filled.trend or ():
        inside = [m for m in span if _quarter(MONTHS[m]) == point.period]
        few = isinstance(point.gap, SuppressedCell)
        if not few:
            yield reading.count(some(reader=r, months=inside), point.n, of=len(PHRASES))


def _page(own: pd.DataFrame, reader: str, months: list[str]) -> RadiologistContent:
    """Fill one reader's page of an issue as a run does, and pass it through the door."""
    series = trend(Group(reader, own), months=months, study=SCALE.study, minimum=MINIMUM)
    filled = content.radiologist_content(
        content.Issue(CONFIG, Period(months[-1], tuple(months))),
        reader,
        results=_results(own, reader),
        profile=None,
        department=SuppressedCell(5, "readers"),
    )
    return guard_radiologist(replace(filled, trend=content.trend_points(series, MINIMUM)))


def _quarter(month: str) -> str:
    return f"{month[:4]} Q{(int(month[5:]) + 2) // 3}"


def _of_results(
    overall: GroupResult | SuppressedCell | None,
    parts: Sequence[GroupResult | SuppressedCell | None],
    span: range,
    reading: Reading,
    reader: int | None = None,
) -> Iterator[Said]:
    for finding, result in enumerate((overall, *parts), start=-1):
        of = None if finding < 0 else finding
        if isinstance(result, GroupResult):
            yield from _of_result(result, reader, of, span, reading)
        elif not (isinstance(result, SuppressedCell) and result.of == "complementary"):
            yield Said(some(reader=reader, finding=of, months=span), 0, MINIMUM + rounding.BASE)


def _of_result(
    result: GroupResult, reader: int | None, finding: int | None, span: range, reading: Reading
) -> Iterator[Said]:
    """Phrases that are shown, states of the others, the total, and what it leaves for the few."""
    few, left = [], result.n
    for p, phrase in enumerate(PHRASES):
        at = result.phrases.phrases.index(phrase)
        n, cells = result.phrases.n[at], some(
            reader=reader, finding=finding, phrases=[p], months=span
        )  # fmt: skip
        if n >= MINIMUM:
            left -= n
            yield reading.row(cells, n, result.phrases.observed[at])
        elif n > 0:
            few.append(p)
            yield Said(cells, 1, MINIMUM - 1)
        else:
            yield Said(cells, 0, 0)
    if few:
        cells = some(reader=reader, finding=finding, phrases=few, months=span)
        yield reading.count(cells, left, of=len(few))


class Attack:
    """All that is known of a part of the department, as constraints over its cells."""

    def __init__(self, said: Sequence[Said], part: np.ndarray) -> None:
        self.part, self.size = part, int(part.sum())
        rows, most = [], []
        none = np.zeros(self.size)
        for each in said:
            if (each.cells & ~part).any():
                continue
            x = each.cells[part].astype(float)
            rows += [np.concatenate([x, none]), np.concatenate([-x, none])]
            most += [each.most, -each.least]
            if each.share is not None:
                low, high = each.share
                rows += [np.concatenate([low * x, -x]), np.concatenate([-high * x, x])]
                most += [0.0, 0.0]
        within = np.eye(self.size)
        self.rows = csr_array(np.vstack([*rows, np.hstack([-within, within])]))
        self.most = np.concatenate([most, none]) + 1e-6

    def recovers(self, cells: np.ndarray) -> bool:
        """Whether one whole number is left for the cells' statements, or for their positives."""
        return any(self._settled(cells, at) for at in (0, self.size))

    def _settled(self, cells: np.ndarray, at: int) -> bool:
        aim = np.zeros(2 * self.size)
        aim[at : at + self.size] = cells[self.part]
        least, most = (
            sign * linprog(sign * aim, A_ub=self.rows, b_ub=self.most, method="highs-ds").fun
            for sign in (1.0, -1.0)
        )
        return bool(np.floor(most + 1e-3) - np.ceil(least - 1e-3) < 0.5)


def small_cells(department: Department, part: np.ndarray, how_many: int, seed: int) -> list:
    """Draw small cells within a part: months and whole windows of a reader, finding and phrase."""
    g, drawn = np.random.default_rng(seed), []
    while len(drawn) < how_many:
        start = int(g.choice(ISSUES))
        months = range(start, start + WINDOW) if len(drawn) % 2 else [start + int(g.integers(12))]
        reader, finding = int(g.integers(5)), int(g.integers(2))
        cells = some(reader=reader, finding=finding, phrases=[int(g.integers(3))], months=months)
        if not (cells & ~part).any() and 0 < department.n[cells].sum() < MINIMUM:
            drawn.append(cells)
    return drawn


@pytest.mark.slow
def test_no_small_cell_is_recovered_from_two_years_of_monthly_pages(
    department: Department,
) -> None:
    said = issues(department, Reading(rounds=True), range(len(READERS)))
    parts = [some(reader=reader) for reader in range(len(READERS))]
    parts.append(some(phrases=[2]))
    for number, part in enumerate(parts):
        attack = Attack(said, part)
        cells = small_cells(department, part, 6, seed=number)
        assert not any(attack.recovers(each) for each in cells), number


def kinds_of_cases(
    department: Department, reading: Reading, kinds: Sequence[np.ndarray]
) -> list[Said]:
    """Write down the committee's kinds of cases, each told by the cells that it has."""
    said = []
    for start in ISSUES:
        span = range(start, start + WINDOW)
        each = [kind & some(months=span) for kind in kinds]
        counts = [(float(department.n[c].sum()), float(department.y[c].sum())) for c in each]
        total = sum(n for n, _ in counts)
        rows = [
            MixRow(
                "age", str(kind), int(n), n / total, Estimate(y / n, 0.0, 1.0, n=n, method=""), None
            )
            for kind, (n, y) in enumerate(counts)
            if n >= MINIMUM
        ]
        few = [(c, n) for c, (n, _) in zip(each, counts, strict=True) if n < MINIMUM]
        said += [Said(c, min(n, 1), MINIMUM - 1 if n else 0) for c, n in few]
        shown = rounded.case_mix(CaseMix(tuple(rows)))
        for row in shown.rows if shown else ():
            gap = row.gap
            assert isinstance(gap, Estimate)
            said.append(reading.row(each[int(row.level)], row.n, gap.value))
    return said


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [True, False])
def test_no_month_of_a_kind_of_case_is_recovered_unless_the_table_were_exact(
    department: Department, monkeypatch: pytest.MonkeyPatch, *, rounds: bool
) -> None:
    if not rounds:
        unrounded(monkeypatch)
    readers = [some(reader=kind) for kind in range(SHAPE[0])]  # they stand for kinds
    said = kinds_of_cases(department, Reading(rounds=rounds), readers)
    recovered = 0
    for kind in range(SHAPE[0]):
        attack = Attack(said, some(reader=kind))
        months = [some(reader=kind, months=[m]) for m in range(len(MONTHS))]
        small = [c for c in months if 0 < department.n[c].sum() < MINIMUM]
        assert len(small) > 10
        recovered += sum(attack.recovers(c) for c in small[::4])
    assert (recovered == 0) is rounds


def unrounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages print exact numbers."""
    monkeypatch.setattr(rounding, "BASE", 1)
    monkeypatch.setattr(rounding, "STEP", 1e-9)


def everything_joined(department: Department, reading: Reading) -> list[Said]:
    """Write down pages and kinds of cases of two years.

    What else are findings stand for the kinds of a case here: no table of pages tells them apart. A
    profile's counts and shares are those of its phrases; the department's decisions are worded by
    the rounded rows of all readers.
    """
    said = kinds_of_cases(department, reading, [some(finding=kind) for kind in range(SHAPE[1])])
    for start in ISSUES:
        span = range(start, start + WINDOW)
        cells = department.cells[department.cells["month"].isin([MONTHS[m] for m in span])]
        said += _of_results(_results(cells, "department").overall, (), span, reading)
        said += _of_run_charts(cells, span, reading)
        for r in range(SHAPE[0]):
            said += _of_reader(cells, r, span, reading, findings=False)
    return _each_once(said)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [True, False])
def test_nothing_small_is_recovered_from_pages_and_kinds_together_unless_exact(
    department: Department, monkeypatch: pytest.MonkeyPatch, *, rounds: bool
) -> None:
    if not rounds:
        unrounded(monkeypatch)
    one = some(phrases=[2])  # one word: the fewest unknowns behind every total
    department = Department(department.n * one, department.y * one)
    said = everything_joined(department, Reading(rounds=rounds))
    attack = Attack([replace(each, cells=each.cells & one) for each in said], one)
    cells = [some(reader=r, finding=k, months=[m]) & one for r, k, m in SMALL]
    small = [*cells, *small_cells(department, one, 4, seed=8)]
    assert all(0 < department.n[each].sum() < MINIMUM for each in small)
    assert any(attack.recovers(each) for each in small) is not rounds


@pytest.mark.slow
def test_the_same_attack_recovers_small_cells_from_pages_that_do_not_round(
    department: Department, monkeypatch: pytest.MonkeyPatch
) -> None:
    unrounded(monkeypatch)
    reader = 4
    said = issues(department, Reading(rounds=False), [reader])
    attack = Attack(said, some(reader=reader))
    cells = small_cells(department, some(reader=reader), 12, seed=4)
    assert sum(attack.recovers(each) for each in cells) >= 4
