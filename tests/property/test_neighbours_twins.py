"""The neighbouring measures: what holds for all inputs, and equality with the slow twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.neighbours import binned, class_scores, disagreement, per_item, ranking
from calibration.neighbours.class_scores import ranking_bound
from calibration.neighbours.correlation import correlations
from calibration.neighbours.difficulty import difficulty, review_order, strata
from calibration.neighbours.indicators import (
    conformal_set_sizes,
    failure_rate,
    first_right,
    mean_entropy,
    pool_dissensus,
    pool_votes,
)
from tests.fixtures import neighbours_twin as twin

SETTINGS = settings(max_examples=60)


@settings(max_examples=20)
@given(st.data())
def test_the_order_of_the_items_changes_no_interval_and_no_control(data: st.DataObject) -> None:
    probs, votes = data.draw(cases())
    place = np.array(data.draw(st.permutations(range(len(probs)))))
    first, other = (
        disagreement.disagreement(
            probs=p, votes=v, rng=np.random.default_rng(1), bootstrap=30, control_votes=1
        )
        for p, v in ((probs, votes), (probs[place], votes[place]))
    )
    for name, estimate in first.estimates.items():
        again = other.estimates[name]
        assert (again.low, again.high) == pytest.approx((estimate.low, estimate.high), nan_ok=True)
    assert first.control is not None
    assert other.control is not None
    assert other.control.prediction == first.control.prediction
    assert other.control.between == first.control.between


@st.composite
def cases(draw: st.DrawFn, *, most: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Predictions with many ties and exact zeros, and votes of few and uneven numbers."""
    classes, size = draw(st.integers(2, 4)), draw(st.integers(1, most))
    weights = st.lists(st.integers(0, 4), min_size=classes, max_size=classes).filter(any)
    rows = np.array(draw(st.lists(weights, min_size=size, max_size=size)), dtype=float)
    votes = np.array(draw(st.lists(weights, min_size=size, max_size=size)), dtype=float)
    return rows / rows.sum(axis=1, keepdims=True), votes


@SETTINGS
@given(cases())
def test_per_item_measures_equal_the_slow_twin(case: tuple[np.ndarray, np.ndarray]) -> None:
    probs, votes = case
    both = {"probs": probs, "votes": votes}
    distance = per_item.distribution_calibration_error(**both)
    entropy = per_item.entropy_calibration_error(**both)
    np.testing.assert_allclose(distance.per_item, twin.twin_distance(probs, votes), atol=1e-12)
    np.testing.assert_allclose(entropy.signed, twin.twin_entropy(probs, votes), atol=1e-12)
    for ties, aware in (("index", False), ("aware", True)):
        found = per_item.ranking_calibration_score(**both, ties=ties)
        assert found.per_item.tolist() == twin.twin_rank_agreement(probs, votes, aware=aware)


@SETTINGS
@given(cases(), st.integers(1, 12))
def test_binned_errors_equal_the_slow_twin(case: tuple[np.ndarray, np.ndarray], bins: int) -> None:
    probs, votes = case
    both = {"probs": probs, "votes": votes, "bins": bins}
    confidence, classwise = binned.confidence_ece(**both), binned.classwise_ece(**both)
    assert confidence == pytest.approx(twin.twin_confidence_ece(probs, votes, bins), abs=1e-12)
    assert classwise == pytest.approx(twin.twin_classwise_ece(probs, votes, bins), abs=1e-12)


@SETTINGS
@given(cases(most=3), st.integers(1, 5))
def test_noise_floor_equals_the_mean_over_every_outcome(
    case: tuple[np.ndarray, np.ndarray], size: int
) -> None:
    probs, _ = case
    votes = np.zeros_like(probs)
    votes[:, 0] = size
    floor = per_item.noise_floor(probs=probs, votes=votes).per_item
    np.testing.assert_allclose(floor, [twin.twin_floor(f, size) for f in probs], atol=1e-12)


@SETTINGS
@given(cases())
def test_a_prediction_equal_to_the_votes_is_right_by_every_human_measure(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    votes = case[1]
    both = {"probs": votes / votes.sum(axis=1, keepdims=True), "votes": votes}
    assert per_item.distribution_calibration_error(**both) == 0.0
    assert per_item.entropy_calibration_error(**both) == pytest.approx(0.0, abs=1e-15)
    assert per_item.ranking_calibration_score(**both) == 1.0
    assert per_item.ranking_calibration_score(**both, ties="aware") == 1.0
    assert binned.majority_accuracy(**both) == 1.0


@SETTINGS
@given(cases(), st.randoms(use_true_random=False))
def test_measures_do_not_depend_on_the_order_of_items_nor_on_their_repetition(
    case: tuple[np.ndarray, np.ndarray], random: object
) -> None:
    probs, votes = case
    order = np.arange(len(probs))
    random.shuffle(order)
    for measure in (
        per_item.distribution_calibration_error,
        per_item.entropy_calibration_error,
        per_item.ranking_calibration_score,
        binned.confidence_ece,
        binned.classwise_ece,
        per_item.brier_of_votes,
    ):
        once = measure(probs=probs, votes=votes)
        assert measure(probs=probs[order], votes=votes[order]) == pytest.approx(once, abs=1e-12)
        twice = measure(probs=np.tile(probs, (2, 1)), votes=np.tile(votes, (2, 1)))
        assert twice == pytest.approx(once, abs=1e-12)


@SETTINGS
@given(cases(), st.permutations(range(4)))
def test_relabelling_classes_changes_no_measure_but_those_that_break_ties_by_index(
    case: tuple[np.ndarray, np.ndarray], order: list[int]
) -> None:
    probs, votes = case
    relabelled = [c for c in order if c < probs.shape[1]]
    for measure in (
        per_item.distribution_calibration_error,
        per_item.entropy_calibration_error,
        per_item.brier_of_votes,
        per_item.noise_floor,
        lambda **both: per_item.ranking_calibration_score(**both, ties="aware"),
    ):
        before = measure(probs=probs, votes=votes)
        after = measure(probs=probs[:, relabelled], votes=votes[:, relabelled])
        assert after == pytest.approx(before, abs=1e-12)


@SETTINGS
@given(cases())
def test_dropping_zeros_takes_exactly_the_items_of_probability_zero_out_of_the_count(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    probs, votes = case
    kept = binned.classwise_ece(probs=probs, votes=votes)
    dropped = binned.classwise_ece(probs=probs, votes=votes, zeros="dropped")
    gone = (kept.count - dropped.count).sum(axis=1)
    assert gone.tolist() == (probs == 0).sum(axis=0).tolist()
    assert dropped >= 0.0


@SETTINGS
@given(cases(), st.integers(0, 2**32 - 1))
def test_subsampled_votes_are_a_part_of_the_votes(
    case: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    votes = case[1]
    size = int(votes.sum(axis=1).min())
    drawn = disagreement.subsample_votes(votes=votes, size=size, rng=np.random.default_rng(seed))
    assert (drawn.sum(axis=1) == size).all()
    assert ((drawn >= 0) & (drawn <= votes)).all()


@SETTINGS
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=200))
def test_ranking_risk_equals_the_slow_twin(pairs: list[tuple[int, int]]) -> None:
    score, judged = zip(*pairs, strict=True)
    found = ranking.ranking_risk(score=score, judged=judged)
    assert (found.wrong, found.tied, found.untied, found.pairs) == twin.twin_ranking_risk(
        score, judged
    )


@SETTINGS
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 1)), min_size=2, max_size=40))
def test_reversing_a_score_without_ties_turns_right_pairs_wrong(
    pairs: list[tuple[float, float]],
) -> None:
    score, judged = (np.array(values) for values in zip(*pairs, strict=True))
    up, down = (ranking.ranking_risk(score=s, judged=judged) for s in (score, -score))
    assert up.lost + down.lost == up.untied


@SETTINGS
@given(cases(), st.integers(0, 2**32 - 1))
def test_pair_risks_and_optima_equal_the_slow_twins(
    case: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    probs, votes = case
    if len(probs) < 2:
        return
    truth = votes / votes.sum(axis=1, keepdims=True)
    values = np.random.default_rng(seed).permutation(probs.shape[1]).astype(float)
    up = np.argsort(values)
    score = probs @ values
    ordered = truth[:, up].tolist()
    found = ranking_bound(probs=probs, truth=truth, values=values)
    assert found.risk == pytest.approx(twin.twin_pair_risk(score.tolist(), ordered), abs=1e-12)
    assert found.optimal == pytest.approx(twin.twin_least(ordered), abs=1e-12)


@SETTINGS
@given(cases(), st.integers(0, 2**32 - 1))
def test_bounds_lie_below_the_class_wise_error_they_bound(
    case: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    probs, votes = case
    truth = votes / votes.sum(axis=1, keepdims=True)
    values = np.sort(np.random.default_rng(seed).random(probs.shape[1]))
    error = class_scores.classwise_error(probs=probs, truth=truth)
    bound = class_scores.error_bound(probs=probs, truth=truth, values=values)
    assert bound.paper <= bound.tight <= error + 1e-12
    if probs.shape[1] == 2:
        assert bound.tight == pytest.approx(error, abs=1e-12)


@SETTINGS
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 6), st.randoms())
def test_quantised_shares_equal_assigning_every_value_to_its_nearest_point(
    values: list[float], count: int, random: object
) -> None:
    points = [k / count for k in range(count + 1)]
    random.shuffle(points)
    share = class_scores.quantise(class_scores.empirical_cdf(values), points=points)
    ordered = sorted(points)
    middles = [(a + b) / 2 for a, b in itertools.pairwise(ordered)]
    nearest = [ordered[sum(v > m for m in middles)] for v in values]
    assert share.tolist() == pytest.approx([nearest.count(p) / len(values) for p in points])
    assert share.sum() == pytest.approx(1.0)


@SETTINGS
@given(cases(most=25), st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.4, 0.5, 0.9]))
def test_leave_one_out_sets_equal_the_slow_twin(
    case: tuple[np.ndarray, np.ndarray], alpha: float
) -> None:
    probs, votes = case
    reference = votes.argmax(axis=1)
    found = conformal_set_sizes(probs=probs, reference=reference, alpha=alpha)
    assert found.tolist() == twin.twin_set_sizes(probs, reference.tolist(), alpha)


@SETTINGS
@given(st.integers(1, 5), st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_pool_indicators_do_not_depend_on_the_order_of_models(
    models: int, items: int, seed: int
) -> None:
    g = np.random.default_rng(seed)
    pool = g.dirichlet([1, 1, 1], (models, items)).round(2)
    pool[..., 2] = 1.0 - pool[..., 0] - pool[..., 1]
    pool = np.abs(pool)
    reference = g.integers(0, 3, items)
    other = pool[g.permutation(models)]
    np.testing.assert_allclose(pool_votes(probs=pool), pool_votes(probs=other))
    np.testing.assert_allclose(mean_entropy(probs=pool), mean_entropy(probs=other))
    assert (pool_dissensus(probs=pool) <= 2 / 3 + 1e-12).all()
    one = failure_rate(probs=pool[:1], reference=reference)
    last_only = first_right(predictions=pool[:1].argmax(axis=2)[None], reference=reference)
    np.testing.assert_allclose(last_only, np.where(one == 1.0, 1.0, 0.5))


@SETTINGS
@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 5))
def test_strata_never_part_items_of_equal_difficulty_and_never_invert(
    values: list[int], count: int
) -> None:
    stratum, cuts = strata(values, count=count)
    level = np.array(values)
    assert len(cuts) < count or count == 1
    order = review_order(values)
    assert (np.diff(stratum[order]) <= 0).all()
    for value in set(values):
        assert len(set(stratum[level == value].tolist())) == 1


def test_a_confidently_wrong_pool_makes_reference_free_indicators_mislead() -> None:
    g = np.random.default_rng(11)
    sure = g.random(600)
    wrong = g.random(600) < 0.4
    shown = np.where(wrong, 1, 0)
    top = 0.5 + 0.5 * sure
    pool = np.zeros((9, 600, 2))
    for model in pool:
        flip = g.random(600) < 0.45 * (1.0 - sure)
        chosen = np.where(flip, 1 - shown, shown)
        model[np.arange(600), chosen] = top
        model[np.arange(600), 1 - chosen] = 1.0 - top
    found = difficulty(probs=pool, reference=np.zeros(600, dtype=int))
    assert found.split is not None
    assert found.split.misleads("M_dis", "M_fail")
    assert found.split.misleads("M_avg_ent", "M_fail")
    assert found.split.n_success + found.split.n_failure == 600


def test_spearman_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    g = np.random.default_rng(5)
    rho = 0.5
    truth = 6.0 / np.pi * np.arcsin(rho / 2.0)
    hits = 0
    for _ in range(400):
        x = g.standard_normal(120)
        y = rho * x + np.sqrt(1.0 - rho**2) * g.standard_normal(120)
        found = correlations({"x": x, "y": y})["x", "y"]
        hits += found.low <= truth <= found.high
    assert 0.92 <= hits / 400 <= 0.98
