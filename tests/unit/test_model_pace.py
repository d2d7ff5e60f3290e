"""Unit: how many questions at once, against servers of known speed, on a clock of our own."""

from __future__ import annotations

import pytest

from extraction.engines.health import CEILING, START, Pace


def driven(pace: Pace, *, takes: int, answers: int, seconds_each: float = 1.0) -> list[int]:
    """Answer at the rate of a server that works on `takes` questions at once; give each limit."""
    now, limits = 0.0, []
    for _ in range(answers):
        now += seconds_each / min(pace.limit, takes)
        pace.answered(now, waiting=True)
        limits.append(pace.limit)
    return limits


@pytest.mark.parametrize("takes", [32, 100, 256])
def test_limit_climbs_to_what_the_server_takes_and_not_far_beyond(takes: int) -> None:
    limits = driven(Pace(), takes=takes, answers=20_000)
    assert max(limits) <= takes * 1.5 * 1.5
    settled = limits[5_000:]
    assert sum(takes * 0.6 <= limit for limit in settled) / len(settled) > 0.9


def test_server_that_takes_sixteen_is_left_at_sixteen_most_of_the_time() -> None:
    limits = driven(Pace(), takes=16, answers=20_000)
    assert sum(limit == START for limit in limits) / len(limits) > 0.9


def test_limit_never_passes_the_ceiling() -> None:
    assert max(driven(Pace(), takes=10_000, answers=100_000)) == CEILING


def test_busy_server_lowers_the_limit_but_never_to_nothing() -> None:
    pace = Pace()
    for _ in range(50):
        pace.refused()
    assert pace.limit == 1


def test_answers_without_anybody_waiting_say_nothing_about_the_server() -> None:
    pace = Pace()
    for n in range(10_000):
        pace.answered(n / 1e6, waiting=False)
    assert pace.limit == START


def test_fixed_number_never_changes() -> None:
    pace = Pace(7)
    pace.refused()
    assert set(driven(pace, takes=500, answers=5_000)) == {7}
