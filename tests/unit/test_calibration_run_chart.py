"""Run charts: Making Data Count's rules on rows of numbers whose answer can be read off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.run_chart import FALSE, LEAST, process

LEVEL = [4.0, 6.0] * 8
"""Mean 5, every step 2: months differ by 2 / 1.128 = 1.77."""


def rules(values: list[float]) -> list[tuple[int, str, bool]]:
    return [(s.at, s.rule, s.up) for s in process(np.array(values)).signals]


def test_limits_are_some_three_times_what_months_differ_by() -> None:
    found = process(np.array(LEVEL))
    assert found.mean == pytest.approx(5.0)
    assert found.high - 5.0 == pytest.approx(5.0 - found.low)
    assert (found.high[0] - 5.0) / 1.773 == pytest.approx(3.25, abs=0.15)
    assert found.signals == ()


def test_of_charts_in_which_nothing_changes_few_have_a_signal_though_months_grow() -> None:
    """Sampling errors fall from .02 to .01: by limits as wide for all months 21 % had one."""
    rng, error = np.random.default_rng(3), np.linspace(0.02, 0.01, 24)
    noise = error * rng.standard_normal((500, 24))
    charts = 0.1 + error * rng.standard_normal((150, 24))
    charts[:75] += 0.03 * rng.standard_normal((75, 24))  # months differ by more than chance
    signals = sum(bool(process(chart, noise).signals) for chart in charts)
    assert signals <= 150 * FALSE + 2.0 * np.sqrt(150 * FALSE)


@pytest.mark.parametrize("level", [0.07, 0.1, 0.12, 0.3, 1e-6, 700.1])
def test_months_all_alike_have_no_signal_by_the_rounding_of_their_mean(level: float) -> None:
    for months in (10, 12, 24):
        assert process(np.full(months, level)).signals == ()
        assert process(np.full(months, level), np.zeros((50, months))).signals == ()


def test_a_large_month_has_narrower_limits_and_weighs_more() -> None:
    error = np.tile([0.03, 0.01], 8)
    noise = error * np.random.default_rng(1).standard_normal((4000, 16))
    found = process(np.tile([0.11, 0.10], 8), noise)
    half = found.high - found.mean
    assert half[0] == pytest.approx(3 * half[1], rel=0.02)
    assert found.mean == pytest.approx(0.101, rel=0.001)  # (.11 + 9 · .10) / 10


def test_one_month_far_off_is_beyond_its_limit() -> None:
    assert (15, "beyond", True) in rules([*LEVEL[:15], 30.0])
    assert (15, "beyond", False) in rules([*LEVEL[:15], -25.0])


def test_nine_on_one_side_are_a_shift_and_eight_are_none() -> None:
    high, low = [6.0, 5.9] * 5, [1.0, 2.0] * 6
    assert [s for s in rules([*low, *high[:8]]) if s[1] == "shift" and s[2]] == []
    found = process(np.array([*low, *high[:9]])).signals
    assert (20, "shift", True, 9) in [(s.at, s.rule, s.up, s.run) for s in found]


def test_a_lasting_change_is_a_step_from_its_first_month_on() -> None:
    """Of two steps' size, five months after it: no month is near a limit, and no run is long."""
    found = process(np.array([*LEVEL, *[9.0, 7.0, 8.0, 9.0, 7.0]])).signals
    steps = [(s.at, s.up, s.run) for s in found if s.rule == "step"]
    assert steps == [(at, True, 5) for at in range(16, 21)]
    assert {s.rule for s in found} == {"step"}
    noise = np.random.default_rng(1).normal(0.0, np.repeat([0.001, 1.0], 10), (500, 20))
    months = np.array([*[4.0, 4.001] * 5, *[5.0, 6.0] * 5])  # the second half is far less sure
    assert not [s for s in process(months, noise).signals if s.at < 10 and s.rule == "step"]


def test_the_longer_a_chart_the_more_months_in_a_row_are_a_shift() -> None:
    row, before = [6.0, 5.9] * 6, [1.0, 2.0]
    needed = [
        next(s.run for s in process(np.array(before * n + row)).signals if s.rule == "shift")
        for n in (3, 7, 20)
    ]
    assert needed == sorted({*needed})


def test_seven_rising_months_are_a_trend_and_six_are_none() -> None:
    zigzag = [5.0, 1.0, 6.0, 2.0, 5.0, 1.0, 6.0, 0.0]
    rising = [0.5 * i for i in range(1, 8)]
    assert (13, "trend", True) in rules([*zigzag, *rising[:6]])
    assert not [s for s in rules([*zigzag, *rising[:5], 0.2, 5.0]) if s[1] == "trend"]


def test_every_one_of_seven_rising_months_is_a_signal_the_first_among_them() -> None:
    values = [5.0, 4.0] * 3 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 4.0, 5.0, 4.0, 5.0]
    assert [at for at, rule, _ in rules(values) if rule == "trend"] == [*range(6, 13)]


def test_the_first_two_months_near_a_limit_are_a_signal() -> None:
    """Mean 5.5, steps 35.5 / 17 on average: near a limit begins two of 1.9 above 5.5."""
    near = [s for s in rules([10.0, 10.0, *LEVEL]) if s[1] == "near"]
    assert near == [(0, "near", True), (1, "near", True)]


def test_two_of_three_near_a_limit_are_a_signal_and_one_is_none() -> None:
    once, twice = [*LEVEL, 10.5, 4.0, 6.0], [*LEVEL, 10.5, 5.0, 10.5]
    assert [s for s in rules(once) if s[1] == "near"] == []
    assert [s for s in rules(twice) if s[1] == "near"] == [(16, "near", True), (18, "near", True)]


def test_a_month_that_is_not_near_a_limit_is_no_signal_after_two_that_are() -> None:
    """The month after both was marked, beside the mean, and the first of both was not."""
    after = [*LEVEL, 10.5, 10.5, 6.0]
    assert [s for s in rules(after) if s[1] == "near"] == [(16, "near", True), (17, "near", True)]


def test_few_months_have_no_limits_and_missing_ones_break_no_run() -> None:
    few = process(np.array(LEVEL[: LEAST - 1]))
    assert np.isnan(few.low).all()
    assert few.signals == ()
    gap = [*LEVEL[:8], float("nan"), *LEVEL[8:15], 30.0]
    assert (16, "beyond", True) in rules(gap)


@settings(max_examples=25)
@given(st.lists(st.floats(-5, 5), min_size=LEAST, max_size=30), st.floats(-100, 100))
def test_a_constant_added_moves_no_signal(values: list[float], constant: float) -> None:
    here = np.round(np.array(values), 3)
    moved = process(here + round(constant))
    assert {s.rule for s in moved.signals if s.rule == "trend"} == {
        s.rule for s in process(here).signals if s.rule == "trend"
    }
    assert moved.mean == pytest.approx(process(here).mean + round(constant))
