"""Recalibrations of stated confidence, scored on what they were not fitted on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.errors import CalibrationError
from calibration.neighbours.binned import scalar_bins, scalar_error
from calibration.neighbours.stated_confidence import (
    compare_methods,
)
from calibration.survey import builtin
from calibration.tally import Tally

SCALE = builtin("diagnostic-certainty-scale")


def test_error_of_stated_numbers_by_hand() -> None:
    # .7 said 10 times, right 4; .65 said 10 times, right 8: one bin (.6, .7], |12/20 − .675|.
    n, right = np.array([10.0, 10.0]), np.array([4.0, 8.0])
    found = scalar_error(n, right, stated=np.array([0.7, 0.65]))
    assert found == pytest.approx(0.075)
    count, confidence, accuracy = scalar_bins(n, right, stated=np.array([0.7, 0.65]))
    assert np.flatnonzero(count).tolist() == [6]
    assert (confidence[6], accuracy[6]) == pytest.approx((0.675, 0.6))
    assert math.isnan(accuracy[0])


def test_overconfidence_is_mended_by_every_method_but_none() -> None:
    stated = np.array([0.3, 0.5, 0.7, 0.9])
    n = np.full(4, 2000.0)
    tally = Tally.from_moments(n, np.round(n * (stated - 0.2)))
    scores = compare_methods(tally, means=stated, rng=np.random.default_rng(0), splits=3)
    by_name = {score.method: score for score in scores}
    assert list(by_name) == ["uncalibrated", "platt", "histogram", "isotonic", "beta"]
    assert by_name["uncalibrated"].ece == pytest.approx(0.2, abs=0.01)
    for name in ("platt", "histogram", "isotonic", "beta"):
        assert by_name[name].ece < 0.05
        assert by_name[name].brier < by_name["uncalibrated"].brier
        assert by_name[name].halves == 6


def test_phrases_get_maps_besides_baselines_and_maps_help_out_of_sample() -> None:
    g = np.random.default_rng(1)
    n = g.integers(150, 250, len(SCALE)).astype(float)
    rate = np.clip(0.35 + 0.3 * SCALE.means, 0, 1)
    tally = Tally.from_moments(n, g.binomial(n.astype(int), rate))
    scores = compare_methods(
        tally, means=SCALE.means, phrase_table=SCALE, rng=np.random.default_rng(0), splits=2
    )
    by_name = {score.method: score for score in scores}
    assert {"transport", "monotone"} <= set(by_name)
    for name in ("monotone", "isotonic"):
        assert by_name[name].brier < by_name["uncalibrated"].brier
    assert len(scores) == 7


def test_a_method_that_can_not_be_fitted_says_why_instead_of_guessing() -> None:
    tally = Tally.from_moments([20.0, 30.0], [20.0, 30.0])
    scores = compare_methods(tally, means=np.array([0.6, 0.9]), rng=np.random.default_rng(0))
    failed = {score.method: score for score in scores if score.failure}
    assert set(failed) == {"platt", "beta"}
    assert math.isnan(failed["platt"].ece)
    assert "all labels agree" in failed["platt"].failure


def test_too_few_answers_are_refused() -> None:
    with pytest.raises(CalibrationError, match="1 answers over 1 stated values"):
        compare_methods(
            Tally.from_moments([1.0], [1.0]), means=np.array([0.5]), rng=np.random.default_rng(0)
        )
