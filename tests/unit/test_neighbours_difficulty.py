"""Indicators of difficulty, by hand, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.errors import CalibrationError
from calibration.estimate import Estimate
from calibration.neighbours.correlation import correlations, split_by_success
from calibration.neighbours.difficulty import difficulty, review_order, strata
from calibration.neighbours.indicators import (
    average_failure,
    conformal_set_sizes,
    failure_rate,
    first_right,
    human_dissensus,
    human_entropy,
    leave_one_out_thresholds,
    mean_entropy,
    missing_probability,
    pool_votes,
)

POOL = [[[0.6, 0.4], [0.5, 0.5]], [[0.3, 0.7], [0.9, 0.1]], [[0.2, 0.8], [0.1, 0.9]]]


def test_dissensus_and_entropy_of_votes_by_hand() -> None:
    votes = [[3, 1], [2, 2], [5, 0]]
    assert human_dissensus(votes=votes).tolist() == [0.25, 0.5, 0.0]
    quarter = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert human_entropy(votes=votes).tolist() == pytest.approx([quarter, math.log(2), 0.0])


def test_tied_model_votes_for_the_lowest_class() -> None:
    assert pool_votes(probs=POOL).tolist() == [[1.0, 2.0], [2.0, 1.0]]


def test_failure_rate_counts_models() -> None:
    assert failure_rate(probs=POOL, reference=[1, 1]).tolist() == pytest.approx([1 / 3, 2 / 3])


def test_mean_entropy_looks_at_each_model_by_itself() -> None:
    sure = [[[1.0, 0.0]], [[0.0, 1.0]]]
    assert mean_entropy(probs=sure).tolist() == [0.0]


def test_threshold_of_an_item_does_not_use_its_own_probability() -> None:
    # Reference probabilities .9, .8, .6, .3; α = .4 needs ⌈4·.6⌉ = 3 of the three others.
    probs = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]]
    found = leave_one_out_thresholds(probs=probs, reference=[0, 0, 0, 0], alpha=0.4)
    assert found.tolist() == [0.3, 0.3, 0.3, 0.6]
    sizes = conformal_set_sizes(probs=probs, reference=[0, 0, 0, 0], alpha=0.4)
    # The last item's own classes have .3 and .7: only .7 reaches .6.
    assert sizes.tolist() == [1.0, 1.0, 2.0, 1.0]


def test_too_few_items_for_the_tolerance_put_every_class_in() -> None:
    sizes = conformal_set_sizes(probs=[[0.9, 0.1], [0.2, 0.8]], reference=[0, 1], alpha=0.05)
    assert sizes.tolist() == [2.0, 2.0]


def test_a_set_can_be_empty() -> None:
    probs = [[0.95, 0.05], [0.9, 0.1], [0.92, 0.08], [0.5, 0.5]]
    sizes = conformal_set_sizes(probs=probs, reference=[0, 0, 0, 0], alpha=0.5)
    assert sizes[3] == 0.0


def test_a_tolerance_that_gives_a_whole_number_is_not_rounded_up() -> None:
    # 10·(1 − .1) = 9 of the 9 others, not ⌈9.000000000000002⌉ = 10, which would let all classes in.
    probs = np.column_stack([np.linspace(0.55, 0.95, 10), np.linspace(0.45, 0.05, 10)])
    assert np.isfinite(leave_one_out_thresholds(probs=probs, reference=[0] * 10, alpha=0.1)).all()


def test_first_right_takes_models_of_different_depth() -> None:
    shallow, deep = [[1], [0]], [[1], [0], [0], [0]]
    # Right from the 2nd of 2 (2/3) and from the 2nd of 4 (2/5).
    found = first_right(predictions=[shallow, deep], reference=[0])
    assert found.tolist() == pytest.approx([(2 / 3 + 2 / 5) / 2])
    assert average_failure(predictions=[shallow, deep], reference=[0]).tolist() == [0.375]


def test_a_wrong_end_is_the_hardest_whatever_came_before() -> None:
    assert first_right(predictions=[[[0], [0], [1]]], reference=[0]).tolist() == [1.0]


def test_missing_probability_averages_over_checkpoints() -> None:
    steps = [[[0.2, 0.8]], [[0.6, 0.4]]]
    assert missing_probability(probs=[steps], reference=[0]).tolist() == pytest.approx([0.6])


def _rho(first: np.ndarray, second: np.ndarray) -> Estimate:
    return correlations({"first": first, "second": second})["first", "second"]


def test_constant_indicator_has_no_correlation_rather_than_zero() -> None:
    found = _rho(np.array([1.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0]))
    assert math.isnan(found.value)
    assert found.n == 3


def test_correlation_of_opposite_orders_is_minus_one() -> None:
    found = _rho(np.arange(6.0), -(np.arange(6.0) ** 3))
    assert (found.value, found.low) == (-1.0, -1.0)


def test_a_few_items_that_agree_perfectly_are_not_sure() -> None:
    # n = 5: the nearest other value is 1 − 12/120 = .9; tanh(atanh .9 − 1.96 √(1.5/2)) = −.22
    found = _rho(np.arange(5.0), np.arange(5.0))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(-0.22143, abs=1e-5)
    assert _rho(np.arange(50.0), np.arange(50.0)).low > 0.99


def test_every_pair_of_indicators_is_correlated_once() -> None:
    values = {name: np.random.default_rng(i).random(20) for i, name in enumerate("abc")}
    assert set(correlations(values)) == {("a", "b"), ("a", "c"), ("b", "c")}


def test_split_without_failures_has_no_correlation_there() -> None:
    found = split_by_success(
        free={"a": np.arange(5.0)},
        dependent={"b": np.arange(5.0)},
        failure=np.zeros(5),
        human=np.arange(5.0),
    )
    assert (found.n_success, found.n_failure) == (5, 0)
    assert found.success["a", "b"].value == 1.0
    assert math.isnan(found.failure["a", "b"].value)
    assert math.isnan(found.human_effect)
    assert not found.misleads("a", "b")


def test_effect_is_the_chance_that_a_failed_item_has_more_dissensus() -> None:
    found = split_by_success(
        free={"a": np.arange(4.0)},
        dependent={"b": np.arange(4.0)},
        failure=np.array([0.0, 1.0, 0.5, 1.0]),
        human=np.array([0.1, 0.3, 0.2, 0.15]),
    )
    # Failed .3 and .15 against .1 and .2: three of four pairs are larger. Half is no failure.
    assert found.n_failure == 2
    assert found.human_effect == pytest.approx(0.75)


def test_study_leaves_out_what_it_can_not_compute() -> None:
    bare = difficulty(probs=POOL)
    assert list(bare.free) == ["M_dis", "M_ent", "M_avg_ent"]
    assert bare.human == bare.dependent == {}
    assert bare.split is None
    voted = difficulty(probs=POOL, votes=[[1, 3], [4, 0]], alphas=[0.5])
    told = failure_rate(probs=POOL, reference=[1, 0])
    assert voted.dependent["M_fail"].tolist() == told.tolist()
    assert list(voted.free) == ["M_dis", "M_ent", "M_avg_ent", "M_CP_0.5"]
    full = difficulty(
        probs=POOL, reference=[1, 0], layers=[[[1, 0]], [[0, 0]]], checkpoints=[POOL], alphas=()
    )
    assert list(full.dependent) == [
        "M_fail", "M_first_layer", "M_avg_ckpt_p", "M_first_ckpt", "M_avg_ckpt",
    ]  # fmt: skip


def test_queue_breaks_ties_by_the_next_indicator_then_by_place() -> None:
    assert review_order([0.5, 0.5, 0.9, 0.5], [0.1, 0.3, 0.0, 0.1]).tolist() == [2, 1, 0, 3]


def test_strata_of_items_that_all_tie_are_one() -> None:
    stratum, cuts = strata([0.3, 0.3, 0.3], count=3)
    assert stratum.tolist() == [0, 0, 0]
    assert cuts.tolist() == []


BAD = {
    "flat pool": (lambda: mean_entropy(probs=[[0.5, 0.5]]), r"expected \(models, items, classes\)"),
    "sum": (
        lambda: mean_entropy(probs=[[[0.5, 0.5]], [[0.5, 0.6]]]),
        "probs of model 1: 1 of 1 rows do not sum to 1; first at row 0",
    ),
    "reference": (
        lambda: failure_rate(probs=POOL, reference=[0, 2]),
        r"reference: 1 of 2 classes are outside 0..1; first at row 1 \(2\)",
    ),
    "names": (lambda: failure_rate(probs=POOL, reference=["a", "b"]), "give one class index"),
    "alpha": (
        lambda: conformal_set_sizes(probs=[[0.5, 0.5]], reference=[0], alpha=1.0),
        "alpha 1.0: give a share between 0 and 1",
    ),
    "layers": (
        lambda: first_right(predictions=[[[0, 1]]], reference=[0]),
        r"predictions of model 0: shape \(1, 2\)",
    ),
    "missing prediction": (
        lambda: first_right(predictions=[np.ma.array([[0, 1]], mask=[[0, 1]])], reference=[0, 1]),
        "predictions of model 0: give a class, a whole number from 0, for every item",
    ),
    "missing class": (
        lambda: average_failure(predictions=[[[0, 1]]], reference=[0, math.nan]),
        "reference: give a class",
    ),
    "masked checkpoint": (
        lambda: missing_probability(
            probs=[np.ma.array([[[0.5, 0.5]]], mask=[[[1, 0]]])], reference=[0]
        ),
        "probs of model 0, step 0: 1 of 1 rows hold a missing",
    ),
    "no model": (lambda: first_right(predictions=[], reference=[0]), "holds no model"),
    "no reference": (lambda: difficulty(probs=POOL, layers=[[[0, 1]]]), "need a reference class"),
    "votes": (lambda: difficulty(probs=POOL, votes=[[1, 1]]), "the pool predicts"),
    "checkpoints": (
        lambda: missing_probability(probs=[[[0.5, 0.5]]], reference=[0]),
        "probs of model 0",
    ),
    "correlation": (
        lambda: _rho(np.array([1.0, math.nan]), np.array([1.0, 2.0])),
        "first: 1 of 2 values are missing; first at row 1",
    ),
    "lengths": (lambda: _rho(np.arange(2.0), np.arange(3.0)), "of 2 and 3 items"),
    "strata": (lambda: strata([math.nan]), "give finite values"),
    "queue": (lambda: review_order([1], [1, 2]), "one value per item"),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_bad_input_says_what_and_where(call: object, message: str) -> None:
    with pytest.raises(CalibrationError, match=message):
        call()
