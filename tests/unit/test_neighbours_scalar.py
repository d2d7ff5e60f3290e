"""One judged number per item, by hand: errors, ranking, quantising, sliders."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.distributions import Atom, Beta
from calibration.errors import CalibrationError
from calibration.neighbours.class_scores import (
    classwise_error,
    empirical_cdf,
    error_bound,
    expected_score,
    quantise,
    ranking_bound,
    scalar_error,
)
from calibration.neighbours.ranking import ranking_risk
from calibration.neighbours.sliders import personal_phrases, slider_calibration
from calibration.survey import builtin

SCALE = builtin("diagnostic-certainty-scale")


def test_class_wise_error_averages_over_classes_and_items() -> None:
    found = classwise_error(probs=[[0.7, 0.3], [0.5, 0.5]], truth=[[1.0, 0.0], [0.5, 0.5]])
    assert found.per_item.tolist() == pytest.approx([0.3, 0.0])
    assert found == pytest.approx(0.15)


def test_expected_score_weighs_class_places() -> None:
    assert expected_score(probs=[[0.5, 0.3, 0.2]], values=[1, 0.4, 0]).tolist() == [0.62]


def test_pairs_judged_equal_can_not_be_wrong() -> None:
    found = ranking_risk(score=[1, 2, 3], judged=[0.5, 0.5, 0.1])
    # Pairs (1,3) and (2,3) are wrong; (1,2) is judged equal.
    assert (found.wrong, found.untied, found.pairs) == (2, 2, 3)
    assert found.over_all_pairs == pytest.approx(2 / 3)
    assert found.over_untied == 1.0


def test_tied_scores_cost_half_a_pair() -> None:
    found = ranking_risk(score=[0.5, 0.5, 0.1], judged=[0.95, 0.4, 0.05])
    assert (found.wrong, found.tied) == (0, 1)
    assert found.over_all_pairs == pytest.approx(1 / 6)


def test_one_item_has_no_ranking_risk_rather_than_none() -> None:
    found = ranking_risk(score=[1.0], judged=[0.2])
    assert math.isnan(found.over_all_pairs)
    assert math.isnan(found.over_untied)


def test_bounds_use_the_range_of_class_places() -> None:
    # Scores .8 and .5 on places 1 and 3: |1.4 − 2| = .6, 2·.6/2 = .6 over 3 and over 3 − 1.
    found = error_bound(probs=[[0.8, 0.2]], truth=[[0.5, 0.5]], values=[1, 3])
    assert (found.paper, found.tight) == pytest.approx((0.2, 0.3))


def test_ranking_bound_of_a_reversed_order_by_hand() -> None:
    # Truth says item 0 is surely high, item 1 surely low; the prediction reverses them: risk 1.
    found = ranking_bound(probs=[[1, 0], [0, 1]], truth=[[0, 1], [1, 0]], values=[0, 1])
    assert (found.risk, found.optimal, found.bound) == (1.0, 0.0, 0.25)


def test_a_value_midway_goes_to_the_lower_point() -> None:
    share = quantise(empirical_cdf([0.5, 0.9]), points=[1.0, 0.0])
    assert share.tolist() == [0.5, 0.5]


def test_quantising_an_atom_puts_all_its_mass_on_the_nearest_point() -> None:
    assert quantise(Atom(0.7).cdf, points=[0.0, 0.5, 1.0]).tolist() == [0.0, 1.0, 0.0]


def test_sliders_that_tell_the_truth_have_no_miscalibration() -> None:
    slider = np.repeat([0.2, 0.6], 10)
    label = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 0, 0], 2)
    label[10:16] = 1
    found = slider_calibration(slider=slider, label=label)
    assert found.observed.tolist() == pytest.approx([0.2, 0.6])
    assert found.corp.miscalibration == pytest.approx(0.0)
    assert found.smooth_error == pytest.approx(0.0, abs=1e-3)
    # Mean |slider − label| of a right reader is 2·m(1 − m): (.32 + .48)/2.
    assert found.error == pytest.approx(0.4)


def test_ranking_risk_of_a_slider_is_one_less_the_area_under_the_curve() -> None:
    found = slider_calibration(slider=[0.1, 0.4, 0.35, 0.8], label=[0, 0, 1, 1])
    # Of four pairs one (.4 against .35) is wrong.
    assert found.ranking.over_untied == pytest.approx(0.25)


def test_personal_distribution_has_the_moments_of_the_sliders() -> None:
    values = [0.6, 0.7, 0.9, 0.8]
    (found,) = personal_phrases(phrase=["likely"] * 4, slider=values, table=SCALE)
    assert isinstance(found.distribution, Beta)
    assert found.distribution.mean == pytest.approx(0.75)
    assert found.distribution.variance == pytest.approx(np.var(values))
    assert found.shares.sum() == pytest.approx(1.0)


def test_agreeing_sliders_are_an_atom_and_impossible_moments_no_distribution() -> None:
    found = personal_phrases(
        phrase=["same", "same", "split", "split"], slider=[0.4, 0.4, 0.0, 1.0], table=SCALE
    )
    assert [p.phrase for p in found] == ["same", "split"]
    assert found[0].distribution == Atom(0.4)
    assert found[1].distribution is None or found[1].distribution.variance < 0.25


def test_sliders_at_a_phrase_mean_are_quantised_onto_that_phrase() -> None:
    at = SCALE.index("likely")
    (found,) = personal_phrases(phrase=["x"], slider=[SCALE.means[at]], table=SCALE)
    assert found.shares[at] == 1.0


BAD = {
    "lengths": (
        lambda: scalar_error(score=[1, 2], judged=[1]),
        "score has 2, judged has 1; give the same items",
    ),
    "missing": (
        lambda: ranking_risk(score=[1, math.nan], judged=[1, 2]),
        "score: 1 of 2 values are missing or infinite; first at row 1",
    ),
    "shape": (lambda: ranking_risk(score=[[1]], judged=[1]), r"score: shape \(1, 1\)"),
    "values": (lambda: expected_score(probs=[[1, 0]], values=[1]), "give 2 class values"),
    "equal values": (
        lambda: error_bound(probs=[[1, 0]], truth=[[1, 0]], values=[1, 1]),
        "not all equal",
    ),
    "truth": (
        lambda: classwise_error(probs=[[1, 0]], truth=[[1, 1]]),
        "truth: 1 of 1 rows do not sum to 1",
    ),
    "points": (lambda: quantise(Beta(2, 2).cdf, points=[0.1, 0.1]), "1 of 2 repeat another"),
    "range": (
        lambda: slider_calibration(slider=[0.2, 60], label=[0, 1]),
        r"slider: 1 of 2 values are outside \[0, 1\]; first at row 1 \(60\)",
    ),
    "label": (lambda: slider_calibration(slider=[0.2], label=[3]), "label: 1 of 1 values"),
    "one item": (
        lambda: ranking_bound(probs=[[1, 0]], truth=[[1, 0]], values=[0, 1]),
        "at least two",
    ),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_bad_input_says_what_and_where(call: object, message: str) -> None:
    with pytest.raises(CalibrationError, match=message):
        call()


def test_ranking_bound_is_none_where_its_assumption_fails() -> None:
    # The places order these two labels as Σ f η does, the best order of the pair is the other one.
    truth = [[0.4, 0.0, 0.6], [0.0, 0.9, 0.1]]
    exact = ranking_bound(probs=truth, truth=truth, values=[0, 0.1, 1])
    assert exact.bound > float(classwise_error(probs=truth, truth=truth)) == 0.0


def test_masked_sliders_are_missing_not_read() -> None:
    with pytest.raises(CalibrationError, match="slider: 1 of 2 values are missing"):
        slider_calibration(slider=np.ma.array([0.5, 0.9], mask=[False, True]), label=[1, 0])
