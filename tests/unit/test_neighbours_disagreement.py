"""Distances to several readers, by hand: one function, arithmetic shown."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.errors import CalibrationError
from calibration.neighbours.binned import classwise_ece, confidence_ece, majority_accuracy
from calibration.neighbours.disagreement import (
    disagreement,
    error_histogram,
    histogram_divergence,
    reader_control,
    subsample_votes,
)
from calibration.neighbours.per_item import (
    brier_of_votes,
    distribution_calibration_error,
    entropy_calibration_error,
    noise_floor,
    ranking_calibration_score,
)
from calibration.scores import phrase_disagreement
from calibration.tally import Tally

PROBS = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]
VOTES = [[9, 1, 0], [3, 4, 3], [0, 2, 8]]


def test_distance_is_half_the_sum_of_differences() -> None:
    found = distribution_calibration_error(probs=PROBS, votes=VOTES)
    # |.7−.9| + |.2−.1| + .1 = .4 · |.2−.3| + |.5−.4| + 0 = .2 · .1 + |.3−.2| + |.6−.8| = .4
    assert found.per_item.tolist() == pytest.approx([0.2, 0.1, 0.2])
    assert found == pytest.approx(0.5 / 3)


def test_entropy_error_is_signed_per_item_and_absolute_in_the_mean() -> None:
    found = entropy_calibration_error(probs=[[1, 0], [0.5, 0.5]], votes=[[2, 2], [4, 0]])
    assert found.signed.tolist() == pytest.approx([-math.log(2), math.log(2)])
    assert found == pytest.approx(math.log(2))
    assert float(found.signed.mean()) == pytest.approx(0.0)


def test_ranking_by_index_calls_the_higher_of_tied_classes_the_higher() -> None:
    votes = [[5, 5, 0], [5, 5, 0]]
    probs = [[0.5, 0.4, 0.1], [0.4, 0.5, 0.1]]
    found = ranking_calibration_score(probs=probs, votes=votes)
    assert found.per_item.tolist() == [0.0, 1.0]
    aware = ranking_calibration_score(probs=probs, votes=votes, ties="aware")
    assert aware.per_item.tolist() == [1.0, 1.0]


def test_a_tied_prediction_does_not_rank_classes_the_votes_tell_apart() -> None:
    found = ranking_calibration_score(probs=[[0.5, 0.5]], votes=[[1, 3]], ties="aware")
    assert found == 0.0


def test_confidence_error_puts_the_upper_end_of_a_bin_inside_it() -> None:
    # .8 lies in (.7, .8], .81 in (.8, .9]: errors |1 − .8| and |0 − .81|, one item each.
    found = confidence_ece(probs=[[0.8, 0.2], [0.81, 0.19]], votes=[[3, 0], [0, 3]])
    assert np.flatnonzero(found.count[0]).tolist() == [7, 8]
    assert found == pytest.approx((0.2 + 0.81) / 2)


def test_a_probability_of_zero_lies_in_the_first_bin_unless_dropped() -> None:
    probs, votes = [[1.0, 0.0], [0.92, 0.08]], [[2, 1], [1, 2]]
    # Majorities 0 and 1. Class 0: 1.0 and .92 in the last bin, |.5 − .96|. Class 1: 0 and .08 in
    # the first, |.5 − .04|. Dropped: class 1 keeps .08 alone, |1 − .08|.
    kept = classwise_ece(probs=probs, votes=votes)
    dropped = classwise_ece(probs=probs, votes=votes, zeros="dropped")
    assert kept == pytest.approx((0.46 + 0.46) / 2)
    assert dropped == pytest.approx((0.46 + 0.92) / 2)


def test_oracle_is_blamed_by_the_binned_error_for_its_readers_disagreement() -> None:
    votes = np.array(VOTES)
    oracle = votes / 10
    # Accuracy 1 everywhere, confidences .9, .4 and .8.
    assert confidence_ece(probs=oracle, votes=votes) == pytest.approx((0.1 + 0.6 + 0.2) / 3)
    assert distribution_calibration_error(probs=oracle, votes=votes) == 0.0


def test_floor_of_one_vote_is_the_chance_of_two_votes_differing() -> None:
    # E ½Σ|f − e_v| = Σ f_c (1 − f_c) = .6·.4 + .3·.7 + .1·.9 = .54
    floor = noise_floor(probs=[[0.6, 0.3, 0.1]], votes=[[0, 1, 0]])
    assert floor == pytest.approx(0.54)


def test_certain_prediction_has_no_noise_floor() -> None:
    assert noise_floor(probs=[[1.0, 0.0]], votes=[[3, 4]]) == 0.0


def test_distance_less_its_floor_is_zero_on_average_for_a_right_prediction() -> None:
    g = np.random.default_rng(2)
    probs = g.dirichlet([1, 1, 1], 40_000)
    votes = np.array([g.multinomial(3, f) for f in probs])
    left = distribution_calibration_error(probs=probs, votes=votes, less_floor=True)
    assert abs(left) < 4 * left.per_item.std() / 200
    assert distribution_calibration_error(probs=probs, votes=votes) > 0.2


def test_brier_score_of_votes_by_hand() -> None:
    # Votes 3:1. Brier (3·((.2)² + (.2)²) + (.8² + .8²))/4.
    both = {"probs": [[0.8, 0.2]], "votes": [[3, 1]]}
    assert brier_of_votes(**both) == pytest.approx((3 * 0.08 + 1.28) / 4)


def test_a_score_is_a_number_that_keeps_its_items() -> None:
    score = entropy_calibration_error(probs=PROBS, votes=VOTES)
    binned = classwise_ece(probs=PROBS, votes=VOTES)
    assert isinstance(score, float)
    assert f"{score:.2f}" == f"{float(score):.2f}"
    assert binned.count.sum() == 9


def test_drawing_all_votes_gives_the_votes_back() -> None:
    drawn = subsample_votes(votes=VOTES, size=10, rng=np.random.default_rng(0))
    assert drawn.tolist() == VOTES
    assert reader_control(votes=VOTES, size=10, rng=np.random.default_rng(0)) == 0.0


def test_divergence_is_smoothed_only_where_the_other_histogram_is_empty() -> None:
    plain = histogram_divergence([1, 3], [2, 2])
    assert plain.kl == pytest.approx(0.25 * math.log(0.5) + 0.75 * math.log(1.5))
    assert not plain.smoothed
    filled = histogram_divergence([1, 3], [0, 4])
    # Pseudo-counts ½: (1.5, 3.5)/5 against (.5, 4.5)/5.
    assert filled.kl == pytest.approx(0.3 * math.log(3) + 0.7 * math.log(3.5 / 4.5))
    assert filled.tvd == pytest.approx(0.25)
    assert filled.smoothed
    assert not histogram_divergence([0, 4], [1, 3]).smoothed


def test_error_histogram_holds_an_error_of_one() -> None:
    found = error_histogram([0.0, 0.49, 0.5, 1.0])
    assert np.flatnonzero(found).tolist() == [0, 9, 10, 19]


def test_phrases_against_uncertain_ct_are_a_distribution_over_cases() -> None:
    counted = Tally(np.array([0.0, 0.5, 1.0]), np.array([[1.0, 1.0, 2.0], [0.0, 0.0, 0.0]]))
    found = phrase_disagreement(counted, means=np.array([0.8, 0.3]))
    # .8 once against 0, once against ½, twice against 1.
    assert found.distance.tolist() == pytest.approx([0.8, 0.3, 0.2])
    assert found.mean_distance == pytest.approx((0.8 + 0.3 + 0.4) / 4)
    assert found.histogram(bins=2).tolist() == [3.0, 1.0]
    assert math.isnan(phrase_disagreement(Tally.empty(2), means=np.array([0.1, 0.2])).mean_distance)


def test_study_agrees_with_the_single_measures_and_brackets_them() -> None:
    g = np.random.default_rng(4)
    probs = g.dirichlet([1, 1, 1], 300)
    votes = np.array([g.multinomial(10, f) for f in g.dirichlet([1, 1, 1], 300)])
    found = disagreement(probs=probs, votes=votes, rng=g, bootstrap=200, control_votes=4)
    both = {"probs": probs, "votes": votes}
    single = {
        "distance": distribution_calibration_error(**both),
        "entropy": entropy_calibration_error(**both),
        "ranking": ranking_calibration_score(**both),
        "confidence_ece": confidence_ece(**both),
        "classwise_ece": classwise_ece(**both),
        "accuracy": majority_accuracy(**both),
    }
    for name, value in single.items():
        estimate = found.estimates[name]
        assert estimate.value == pytest.approx(float(value))
        assert estimate.low < estimate.high
        assert estimate.n == 300
    assert found.control is not None
    assert found.control.distance < found.distance
    assert found.control.between.tvd < found.control.prediction.tvd
    assert len(found.to_frame()) == 300


def test_bootstrap_means_equal_resampling_the_items_outright() -> None:
    g = np.random.default_rng(9)
    probs = g.dirichlet([1, 1, 1], 60)
    votes = np.array([g.multinomial(5, f) for f in probs])
    sorted_ = np.lexsort(np.hstack([probs, votes]).T)
    probs, votes = probs[sorted_], votes[sorted_]
    found = disagreement(
        probs=probs, votes=votes, rng=np.random.default_rng(1), bootstrap=50
    ).estimates
    again = np.random.default_rng(1)
    whole: dict[str, list[float]] = {"distance": [], "classwise_ece": [], "confidence_ece": []}
    measures = (distribution_calibration_error, classwise_ece, confidence_ece)
    for _ in range(50):
        take = again.integers(0, 60, 60)
        for name, measure in zip(whole, measures, strict=True):
            whole[name].append(float(measure(probs=probs[take], votes=votes[take])))
    for name, values in whole.items():
        low, high = np.quantile(values, [0.025, 0.975])
        if name.endswith("ece"):  # basic: reflected about the value
            low, high = 2 * found[name].value - high, 2 * found[name].value - low
        assert (found[name].low, found[name].high) == pytest.approx((low, high))


def test_the_farthest_items_stay_in_the_histogram_though_rounding_puts_them_past_1() -> None:
    probs = np.array([[0.0, 0.1, 0.2, 0.7 + 4e-16], [0.0, 0.3334, 0.3334, 0.3334]])
    distance = distribution_calibration_error(probs=probs, votes=[[3, 0, 0, 0], [1, 0, 0, 0]])
    # ½ (1 + 1.0000000000000004) and ½ (1 + 1.0002)
    assert distance.per_item.min() > 1.0
    assert error_histogram(distance.per_item)[-1] == 2.0


BAD = {
    "sum": ([[0.5, 0.5], [0.5, 0.7]], [[1, 1], [1, 1]], r"rows do not sum to 1; first at row 1 \("),
    "nan": ([[0.5, 0.5], [math.nan, 1]], [[1, 1], [1, 1]], "missing or infinite value; first at"),
    "negative": ([[1.5, -0.5]], [[1, 1]], "negative probability; first at row 0"),
    "no votes": ([[1, 0], [1, 0]], [[1, 1], [0, 0]], "hold no vote; first at row 1"),
    "negative votes": ([[1, 0]], [[2, -1]], "votes: 1 of 1 rows hold a negative count"),
    "fractions": (
        [[1, 0], [1, 0]],
        [[0.5, 0.5], [0.5, 0.7]],
        "rows hold fractions where counts are needed; first",
    ),
    "missing votes": ([[1, 0]], [[math.nan, 1]], "votes: 1 of 1 rows hold a missing"),
    "one class": ([[1], [1]], [[1], [2]], "1 class; a distribution needs at least 2"),
    "mismatch": ([[1, 0]], [[1, 1], [1, 1]], "probs has 1 rows of 2 classes but votes has 2 rows"),
    "flat": ([1, 0], [1, 1], r"shape \(2,\), expected \(items, classes\)"),
    "words": ([["a", "b"]], [[1, 1]], "probs: not a table of numbers"),
    "empty": (np.empty((0, 2)), np.empty((0, 2)), "probs: no items"),
}


@pytest.mark.parametrize(("probs", "votes", "message"), BAD.values(), ids=BAD)
@pytest.mark.parametrize(
    "measure",
    [
        distribution_calibration_error,
        entropy_calibration_error,
        ranking_calibration_score,
        confidence_ece,
        classwise_ece,
    ],
)
def test_bad_input_names_its_first_row(
    measure: object, probs: object, votes: object, message: str
) -> None:
    with pytest.raises(CalibrationError, match=message):
        measure(probs=probs, votes=votes)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ranking_calibration_score(probs=PROBS, votes=VOTES, ties="x"), "use one of index"),
        (lambda: classwise_ece(probs=PROBS, votes=VOTES, zeros="x"), "use one of first bin"),
        (
            lambda: confidence_ece(probs=PROBS, votes=VOTES, bins=0),
            "bins: 0 is not a whole number from 1",
        ),
        (
            lambda: subsample_votes(votes=VOTES, size=11, rng=np.random.default_rng(0)),
            r"fewer than 11 votes; first at row 0 \(10\)",
        ),
        (lambda: histogram_divergence([1, 2], [1]), "use equal bins"),
        (lambda: histogram_divergence([-1, 3], [1, 1]), "1 of 2 bins hold a negative count"),
        (lambda: confidence_ece(probs=PROBS, votes=VOTES, bins="10"), "'10' is not a whole number"),
        (
            lambda: subsample_votes(votes=VOTES, size=2.5, rng=np.random.default_rng(0)),
            "size: 2.5 is not a whole number from 1",
        ),
        (
            lambda: disagreement(
                probs=PROBS, votes=VOTES, bootstrap=-1, rng=np.random.default_rng(0)
            ),
            "bootstrap: -1 is not a whole number from 0",
        ),
        (lambda: error_histogram([0.5, math.nan]), "errors: 1 of 2 values are missing"),
        (lambda: error_histogram([1.4, 0.5]), r"outside \[0, 1\]; first at row 0"),
    ],
)
def test_unusable_options_say_what_can_be_used(call: object, message: str) -> None:
    with pytest.raises(CalibrationError, match=message):
        call()


def test_one_item_has_no_interval() -> None:
    found = disagreement(probs=[[0.5, 0.5]], votes=[[1, 0]], rng=np.random.default_rng(0))
    assert all(math.isnan(each.low) and math.isnan(each.high) for each in found.estimates.values())


def test_masked_entries_are_missing_not_read() -> None:
    hidden = np.ma.array([[0.5, 0.5], [0.9, 0.1]], mask=[[False, False], [True, True]])
    with pytest.raises(CalibrationError, match="1 of 2 rows hold a missing"):
        distribution_calibration_error(probs=hidden, votes=[[1, 0], [1, 1]])
    with pytest.raises(CalibrationError, match="1 of 1 rows hold a missing"):
        noise_floor(probs=[[0.5, 0.5]], votes=np.ma.array([[1, 9]], mask=[[False, True]]))


def test_noise_floor_holds_for_any_number_of_votes() -> None:
    # E|v/n − p| → √(2 p (1 − p) / (π n)), of which the floor is the sum over two classes halved
    for n in (10**9, 10**18):
        floor = float(noise_floor(probs=[[0.3, 0.7]], votes=[[n, 0]]))
        assert floor == pytest.approx(math.sqrt(2 * 0.21 / math.pi / n), rel=1e-8)
