"""What changed between two periods: real moves are found, chance swings are not called moves."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.profile import DepartmentProfile, profile
from calibration.profile.change import changes
from tests.fixtures.department import SCALE, department


def judged(lines: list[tuple[float, float]], *, statements: int, seed: int) -> DepartmentProfile:
    return profile(department(lines, statements=statements, seed=seed), phrases=SCALE)


@pytest.mark.slow
def test_swings_of_chance_are_no_change_though_the_farthest_come_nearer() -> None:
    g = np.random.default_rng(1)
    raw, found, held = [], [], []
    for seed in range(12):
        lines = [(float(s), 1.0) for s in g.normal(0.0, 0.2, 12)]
        before = judged(lines, statements=150, seed=seed)
        now = judged(lines, statements=150, seed=100 + seed)
        moves = {change.reader: change.shift for change in changes(before, now)}
        for one, other in zip(before, now, strict=True):
            old, new, move = (
                one.pattern.shift.value, other.pattern.shift.value, moves[one.reader],
            )  # fmt: skip
            held.append(move.low < 0.0 < move.high)
            if abs(old) > 0.25:
                raw.append(-np.sign(old) * (new - old))
                found.append(-np.sign(old) * move.value)
    # Nobody changed: what the farthest readers seem to have come nearer is chance.
    assert np.mean(raw) > 0.1
    assert abs(np.mean(found)) < np.mean(raw) / 2.0
    # Of 144 intervals at 95 %, fewer than 129 hold with probability under 1 %.
    assert sum(held) >= 129


def test_reader_who_learned_is_found_and_the_others_are_not() -> None:
    lines = [(0.9, 1.0), (0.5, 1.0), (0.0, 1.0), (-0.4, 1.0), (0.0, 0.7), (0.2, 1.0)]
    before = judged(lines, statements=2500, seed=1)
    now = judged([(0.0, 1.0), *lines[1:]], statements=2500, seed=2)
    moves = changes(before, now)
    assert [change.reader for change in moves] == [f"r{i:02d}" for i in range(6)]
    assert moves[0].shift.high < -0.4
    assert moves[0].shift.probability > 0.95
    assert all(change.shift.probability < 0.85 for change in moves[1:])
    assert all(change.slope.probability < 0.85 for change in moves)


def test_readers_of_one_period_only_and_two_readers_are_not_compared() -> None:
    lines = [(0.0, 1.0)] * 4
    before, now = (judged(lines, statements=300, seed=seed) for seed in (1, 2))
    newcomer = judged([*lines, (0.3, 1.0)], statements=300, seed=3)
    assert len(changes(before, newcomer)) == 4
    assert changes(judged(lines[:2], statements=300, seed=1), now) == ()


def test_readers_of_few_hedges_in_either_period_are_not_said_to_have_stayed() -> None:
    lines = [(0.0, 1.0)] * 4
    few, many = (judged(lines, statements=n, seed=n) for n in (20, 300))
    least = many.settings.least_statements
    assert all(each.hedges < least for each in few)
    assert changes(few, many) == ()
    assert changes(many, few) == ()


def test_readers_are_said_to_differ_by_the_data_and_not_by_the_prior() -> None:
    """The prior's deviation, .35, was printed of departments in which nobody differs."""
    alike = [judged([(0.0, 1.0)] * 8, statements=400, seed=seed).spread for seed in range(6)]
    assert sum(each.low > 0.0 for each in alike) <= 1
    assert np.median([each.value for each in alike]) < 0.1
    # Their standard deviation is .6.
    lines = [(shift, 1.0) for shift in (-0.9, -0.6, -0.3, 0.0, 0.0, 0.3, 0.6, 0.9)]
    for seed in range(4):
        spread = judged(lines, statements=400, seed=seed).spread
        assert 0.2 < spread.low <= 0.6 <= spread.high < 1.8
    assert np.isnan(judged([(0.0, 1.0)] * 4, statements=400, seed=1).spread.value)
