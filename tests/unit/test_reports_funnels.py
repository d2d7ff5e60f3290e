"""A funnel computed by calibration arrives on the page as computed."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.gaps import Funnel as Measured
from reports.figures.readers import funnel_content


def measured(n: tuple[float, ...]) -> Measured:
    size = np.array(n)
    # variance per statement .16: standard error .4/√n
    return Measured(
        gap=np.array([0.05, -0.10, 0.02]),
        standard_error=0.4 / np.sqrt(size),
        n=size,
        between_variance=0.0009,
        inflation=1.4,
        p_value=np.array([0.5, 0.001, 0.9]),
    )


SIGNALS = frozenset({"R-B"})


def test_readers_below_the_minimum_are_not_drawn_and_the_rest_stand_in_code_order() -> None:
    made = funnel_content(
        ("R-C", "R-B", "R-A"),
        measured=measured((400.0, 100.0, 19.0)),
        signals=SIGNALS,
        minimum_n=20,
    )
    assert made is not None
    assert [(p.code, p.n, p.signal) for p in made.points] == [
        ("R-B", 100, True),
        ("R-C", 400, False),
    ]
    assert (made.hypotheses, made.overdispersion) == (3, 1.4)


def test_limits_are_those_of_the_median_variance_per_statement_and_tau() -> None:
    made = funnel_content(
        ("a", "b", "c"), measured=measured((400.0, 100.0, 100.0)), signals=SIGNALS, minimum_n=20
    )
    assert made is not None
    # at n = 20: √(.16/20 + .0009) = √.0089 = .094340; times 1.959964
    assert made.high_95[0] == pytest.approx(0.094340 * 1.959964, rel=1e-4)
    assert made.low_998[0] == pytest.approx(-0.094340 * 3.090232, rel=1e-4)


def test_no_reader_with_enough_exams_gives_no_funnel() -> None:
    made = funnel_content(
        ("a", "b", "c"), measured=measured((4.0, 1.0, 1.0)), signals=SIGNALS, minimum_n=20
    )
    assert made is None
