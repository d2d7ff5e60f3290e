"""Curves of readers who are off: increasing, inside (0, 1), nothing at an amount of nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.departments.truth import false_of, reversed_of
from pipeline.simulate.department import CURVES
from pipeline.simulate.truth import CLEAR_SHIFT, Standing, standing_of

MEANS = np.linspace(0.01, 0.99, 99)
LOGITS = np.log(MEANS / (1 - MEANS))
WORDS = {"overcalls", "undercalls", "too sure", "too cautious"}


@pytest.mark.parametrize("name", list(CURVES))
def test_a_curve_of_no_amount_changes_nothing(name: str) -> None:
    np.testing.assert_allclose(CURVES[name].rates(MEANS, 0.0), MEANS, atol=1e-12)


@given(name=st.sampled_from(list(CURVES)), place=st.floats(0, 1))
def test_a_stronger_word_never_holds_less_often(name: str, place: float) -> None:
    curve = CURVES[name]
    rates = curve.rates(MEANS, curve.least + place * (curve.most - curve.least))
    assert (np.diff(rates) >= -1e-12).all()
    assert (rates > 0).all()
    assert (rates < 1).all()


@pytest.mark.parametrize("name", list(CURVES))
def test_a_curve_at_its_most_leads_where_it_says_and_is_no_line(name: str) -> None:
    curve = CURVES[name]
    rates = curve.rates(MEANS, curve.most)
    standing = standing_of(rates, np.ones_like(MEANS), LOGITS, centre=0.0)
    assert not set(curve.towards.split(", ")) & false_of(standing)
    line = 1 / (1 + np.exp(-(standing.at_half + standing.slope * LOGITS)))
    assert np.abs(rates - line).max() > 0.004


@given(shift=st.floats(-1.5, 1.5), slope=st.floats(0.3, 2.0), centre=st.floats(-1, 1))
def test_no_word_is_both_due_and_false(shift: float, slope: float, centre: float) -> None:
    at_half = shift - (slope - 1) * centre
    standing = Standing(shift=shift, at_half=at_half, slope=slope, centre=centre)
    assert standing.clear() <= WORDS
    assert not standing.clear() & false_of(standing)
    assert reversed_of(standing) <= false_of(standing)


def test_half_a_unit_of_log_odds_is_clear_and_a_tenth_is_not() -> None:
    clear = Standing(shift=CLEAR_SHIFT, at_half=CLEAR_SHIFT, slope=1.0, centre=0.0)
    assert clear.clear() == {"undercalls"}
    assert reversed_of(clear) == {"overcalls"}
    little = Standing(shift=0.05, at_half=0.05, slope=1.0, centre=0.0)
    assert little.clear() == set()
    assert false_of(little) == WORDS
