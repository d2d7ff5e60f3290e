"""Run charts: Making Data Count's rules on rows of numbers whose answer can be read off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.run_chart import LEAST, process

LEVEL = [4.0, 6.0] * 8
"""Mean 5, every step 2: limits 5 ± 5.32."""


def rules(values: list[float]) -> list[tuple[int, str, bool]]:
    return [(s.at, s.rule, s.up) for s in process(np.array(values)).signals]


def test_limits_are_the_mean_and_two_point_six_six_mean_steps() -> None:
    found = process(np.array(LEVEL))
    assert (found.mean, found.low, found.high) == pytest.approx((5.0, -0.32, 10.32))
    assert found.signals == ()


def test_one_month_far_off_is_beyond_its_limit() -> None:
    assert (15, "beyond", True) in rules([*LEVEL[:15], 30.0])
    assert (15, "beyond", False) in rules([*LEVEL[:15], -25.0])


def test_seven_on_one_side_are_a_shift_and_six_are_none() -> None:
    high, low = [6.0, 5.9] * 4, [1.0, 2.0] * 8
    assert [s for s in rules([*low, *high[:6]]) if s[1] == "shift" and s[2]] == []
    assert (22, "shift", True) in rules([*low, *high[:7]])


def test_seven_rising_months_are_a_trend_and_six_are_none() -> None:
    zigzag = [5.0, 1.0, 6.0, 2.0, 5.0, 1.0, 6.0, 0.0]
    rising = [0.5 * i for i in range(1, 8)]
    assert (13, "trend", True) in rules([*zigzag, *rising[:6]])
    assert not [s for s in rules([*zigzag, *rising[:5], 0.2, 5.0]) if s[1] == "trend"]


def test_every_one_of_seven_rising_months_is_a_signal_the_first_among_them() -> None:
    values = [5.0, 4.0] * 3 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 4.0, 5.0, 4.0, 5.0]
    assert [at for at, rule, _ in rules(values) if rule == "trend"] == [*range(6, 13)]


def test_the_first_two_months_near_a_limit_are_a_signal() -> None:
    """Mean 5.5, steps 35.5 / 17 on average: the outer third begins at 5.5 + ⅔ · 5.55 = 9.2."""
    near = [s for s in rules([9.5, 9.5, *LEVEL]) if s[1] == "near"]
    assert near == [(1, "near", True)]


def test_two_of_three_near_a_limit_are_a_signal_and_one_is_none() -> None:
    once, twice = [*LEVEL, 10.0, 4.0, 6.0], [*LEVEL, 10.0, 5.0, 10.0]
    assert [s for s in rules(once) if s[1] == "near"] == []
    assert (18, "near", True) in rules(twice)


def test_few_months_have_no_limits_and_missing_ones_break_no_run() -> None:
    few = process(np.array(LEVEL[: LEAST - 1]))
    assert np.isnan(few.low)
    assert few.signals == ()
    gap = [*LEVEL[:8], float("nan"), *LEVEL[8:15], 30.0]
    assert (16, "beyond", True) in rules(gap)


@given(st.lists(st.floats(-5, 5), min_size=LEAST, max_size=30), st.floats(-100, 100))
def test_a_constant_added_moves_no_signal(values: list[float], constant: float) -> None:
    here = np.round(np.array(values), 3)
    moved = process(here + round(constant))
    assert {s.rule for s in moved.signals if s.rule == "trend"} == {
        s.rule for s in process(here).signals if s.rule == "trend"
    }
    assert moved.mean == pytest.approx(process(here).mean + round(constant))
