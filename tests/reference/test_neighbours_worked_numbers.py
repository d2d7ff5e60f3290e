"""The neighbouring measures against numbers made elsewhere and against other programs.

The files beside the checkout, where present, hold worked examples of the scalar and difficulty
measures. The invented examples below were worked out by the sums written beside them.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from calibration.distributions import Beta
from calibration.neighbours import (
    binned,
    class_scores,
    correlation,
    indicators,
    per_item,
    ranking,
)


def shared(name: str) -> dict[str, Any]:
    root = os.environ.get("RADCAL_SHARED_DATA")
    here = Path(root) if root else Path(__file__).parents[3] / "shared" / "data"
    path = here / "worked" / name
    if not path.is_file():
        pytest.skip(f"{name} is not at hand")
    worked: dict[str, Any] = json.loads(path.read_text("utf-8"))["worked"]
    return worked


def test_scalar_measures_give_the_worked_numbers() -> None:
    w = shared("scalar.json")
    p, eta, f, z = (np.array(w[name]) for name in ("p", "eta", "f", "z"))
    score = class_scores.expected_score(probs=p, values=f)
    assert score.tolist() == pytest.approx(w["score"], abs=1e-15)
    assert class_scores.expected_score(probs=eta, values=f) == pytest.approx(
        w["score_eta"], abs=1e-15
    )
    assert class_scores.classwise_error(probs=p, truth=eta) == pytest.approx(w["CE"], abs=1e-15)
    assert class_scores.scalar_error(score=score, judged=z) == pytest.approx(w["MAE"], abs=1e-15)
    bound = class_scores.error_bound(probs=p, truth=eta, values=f)
    assert {"paper": bound.paper, "tight": bound.tight} == pytest.approx(w["MAE_b"], abs=1e-15)
    share = class_scores.quantise(Beta(2, 3).cdf, points=w["w2_c"])
    assert share.tolist() == pytest.approx(w["w2_beta23"], abs=1e-12)


def test_ranking_measures_give_the_worked_numbers() -> None:
    w = shared("scalar.json")
    eta, f = np.array(w["eta"]), np.array(w["f"])
    for score, judged, name in (
        (w["score"], w["z"], "RR"),
        (w["score_bad"], w["z_ties"], "RR_bad"),
        (w["score_ties"], w["z"], "RR_score_ties_half"),
    ):
        found = ranking.ranking_risk(score=score, judged=judged)
        got = {"over_all_pairs": found.over_all_pairs, "over_untied": found.over_untied}
        assert got == pytest.approx(w[name], abs=1e-15)
    tied = ranking.ranking_risk(score=w["score_ties"], judged=w["z"])
    lost = tied.wrong + tied.tied  # where a tie is a whole mistake
    worst = {"over_all_pairs": lost / tied.pairs, "over_untied": lost / tied.untied}
    assert worst == pytest.approx(w["RR_score_ties_wrong"], abs=1e-15)
    good = class_scores.ranking_bound(probs=w["p"], truth=eta, values=f)
    bad = class_scores.ranking_bound(probs=w["p_bad"], truth=eta, values=f)
    assert good.regret == pytest.approx(w["regret_pair"], abs=1e-15)
    assert bad.regret == pytest.approx(w["regret_pair_bad"], abs=1e-15)


def test_difficulty_indicators_give_the_worked_numbers() -> None:
    w = shared("difficulty.json")
    pool, y, votes = np.array(w["probs"]), np.array(w["y"]), w["human_counts"]
    assert indicators.pool_votes(probs=pool).tolist() == w["pool_votes"]
    for name, values in (
        ("H_dis", indicators.human_dissensus(votes=votes)),
        ("H_ent", indicators.human_entropy(votes=votes)),
        ("M_dis", indicators.pool_dissensus(probs=pool)),
        ("M_ent", indicators.pool_entropy(probs=pool)),
        ("M_avg_ent", indicators.mean_entropy(probs=pool)),
        ("M_fail", indicators.failure_rate(probs=pool, reference=y)),
    ):
        assert values.tolist() == pytest.approx(w[name], abs=1e-15), name
    for alpha, sizes in w["M_CP"].items():
        found = indicators.mean_set_size(probs=pool, reference=y, alpha=float(alpha))
        assert found.tolist() == pytest.approx(sizes, abs=1e-15), alpha


def test_training_indicators_give_the_worked_numbers() -> None:
    w = shared("difficulty.json")
    pool, y = np.array(w["probs"]), np.array(w["y"])
    steps, wrong_end = w["preds_T_by_N"], w["preds_last_wrong_item0"]
    first = indicators.first_right(predictions=[steps], reference=y)
    assert first.tolist() == pytest.approx(w["first_correct_T+1_norm"], abs=1e-15)
    late = indicators.first_right(predictions=[wrong_end], reference=y)
    assert late.tolist() == pytest.approx(w["first_correct_last_wrong"], abs=1e-15)
    failed = indicators.average_failure(predictions=[steps], reference=y)
    assert failed.tolist() == pytest.approx(w["avg_ckpt"], abs=1e-15)
    missing = indicators.missing_probability(probs=[pool, pool[::-1]], reference=y)
    expected = w["avg_ckpt_p_of_stack(P,reversed P) m=2,T=3"]
    assert missing.tolist() == pytest.approx(expected, abs=1e-15)


def test_quantised_beta_gives_the_published_example() -> None:
    share = class_scores.quantise(Beta(2, 3).cdf, points=[0.05, 0.3, 0.5, 0.8])
    assert share.round(6).tolist() == [0.143689, 0.381111, 0.348719, 0.126481]


def _expected(measure: Callable[..., float], f: list[float], pi: list[float], size: int) -> float:
    """Mean of a measure of f over every outcome of ``size`` votes from π."""
    total = 0.0
    for drawn in itertools.product(range(3), repeat=size):
        chance = math.prod(pi[c] for c in drawn)
        votes = [[drawn.count(c) for c in range(3)]]
        total += chance * float(measure(probs=[f], votes=votes))
    return total


GRID = [[i / 50, j / 50, (50 - i - j) / 50] for i in range(51) for j in range(51 - i)]


@pytest.mark.parametrize(
    ("measure", "size", "best"),
    [
        (per_item.distribution_calibration_error, 1, [1.0, 0.0, 0.0]),
        (per_item.distribution_calibration_error, 3, [0.66, 0.34, 0.0]),
        (per_item.brier_of_votes, 1, [0.6, 0.3, 0.1]),
        (per_item.brier_of_votes, 3, [0.6, 0.3, 0.1]),
    ],
)
def test_few_votes_pull_the_distance_but_not_the_proper_scores(
    measure: Callable[..., float], size: int, best: list[float]
) -> None:
    pi = [0.6, 0.3, 0.1]
    least = min(
        ((_expected(measure, f, pi, size), f) for f in GRID),
        key=lambda pair: pair[0],
    )
    assert least[1] == pytest.approx(best, abs=1e-9)


def test_entropies_equal_scipy() -> None:
    g = np.random.default_rng(0)
    probs, votes = g.dirichlet([1, 1, 1, 1], 50), g.multinomial(30, [0.1, 0.2, 0.3, 0.4], 50)
    found = per_item.entropy_calibration_error(probs=probs, votes=votes)
    shares = votes / 30
    assert found.signed == pytest.approx(
        stats.entropy(probs, axis=1) - stats.entropy(shares, axis=1)
    )


def test_wrong_pairs_equal_those_of_kendalls_tau() -> None:
    g = np.random.default_rng(1)
    score, judged = g.random(500), g.random(500)
    found = ranking.ranking_risk(score=score, judged=judged)
    tau = stats.kendalltau(score, judged).statistic
    assert found.over_all_pairs == pytest.approx((1.0 - tau) / 2.0)


def test_ranking_risk_against_an_outcome_equals_the_mann_whitney_count() -> None:
    g = np.random.default_rng(2)
    score, label = g.integers(0, 12, 300).astype(float), g.integers(0, 2, 300)
    found = ranking.ranking_risk(score=score, judged=label)
    u = stats.mannwhitneyu(score[label == 1], score[label == 0]).statistic
    assert found.over_untied == pytest.approx(1.0 - u / found.untied)


def test_spearman_equals_scipy_with_ties() -> None:
    g = np.random.default_rng(3)
    first, second = g.integers(0, 5, 200).astype(float), g.integers(0, 9, 200).astype(float)
    found = correlation.correlations({"a": first, "b": second})["a", "b"]
    assert found.value == pytest.approx(stats.spearmanr(first, second).statistic)


def test_conformal_sets_hold_the_reference_as_often_as_promised() -> None:
    g = np.random.default_rng(4)
    probs = g.dirichlet([2, 1, 1], 4000)
    truth = np.array([g.choice(3, p=p) for p in probs])
    for alpha in (0.05, 0.1, 0.2):
        t = indicators.leave_one_out_thresholds(probs=probs, reference=truth, alpha=alpha)
        covered = (probs[np.arange(4000), truth] >= t).mean()
        assert covered == pytest.approx(1 - alpha, abs=0.002)


def test_published_regularities_of_the_case_study_appear_on_data_of_its_kind() -> None:
    """100 votes on borderline items: the oracle is blamed by ECE, a sure model less so."""
    g = np.random.default_rng(6)
    pi = g.dirichlet([1.3, 1.3, 1.0], 1500)
    votes = np.array([g.multinomial(100, p) for p in pi])
    logits = 2.0 * np.log(pi + 1e-3) + g.normal(0, 1.2, pi.shape)
    sure = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    oracle = votes / 100
    both = {"probs": sure, "votes": votes}
    blamed = {"probs": oracle, "votes": votes}
    assert binned.confidence_ece(**blamed) > binned.confidence_ece(**both)
    assert binned.majority_accuracy(**blamed) == 1.0
    assert per_item.distribution_calibration_error(**blamed) == 0.0
    assert binned.confidence_ece(**blamed) == pytest.approx(1 - oracle.max(axis=1).mean())
    rank, right = (
        per_item.ranking_calibration_score(**both),
        binned.majority_accuracy(**both),
    )
    assert rank <= right


def test_case_study_measures_equal_exact_fractions_on_data_of_its_kind() -> None:
    """1,514 items of 100 votes, probabilities in thousandths: every sum done without rounding.

    Many probabilities and shares lie on the ends of bins, many votes tie or are zero.
    """
    g = np.random.default_rng(2022)
    pi = g.dirichlet([1.2, 1.2, 0.8], 1514)
    votes = np.array([g.multinomial(100, p) for p in pi])
    votes[::50] = [50, 50, 0]
    soft = np.exp(2.0 * np.log(pi + 1e-3) + g.normal(0, 1.0, pi.shape))
    thousandths = np.floor(1000 * soft / soft.sum(axis=1, keepdims=True)).astype(int)
    thousandths[::3] = 100 * (thousandths[::3] // 100)
    thousandths[:, 0] += 1000 - thousandths.sum(axis=1)
    probs = thousandths / 1000
    for name, exact in _exact_case_study(thousandths, votes).items():
        room = per_item if hasattr(per_item, name) else binned
        measured = getattr(room, name)(probs=probs, votes=votes)
        assert float(measured) == pytest.approx(exact, abs=1e-12), name
    oracle = binned.classwise_ece(probs=votes / 100, votes=votes)
    exact = _exact_case_study(10 * votes, votes)["classwise_ece"]
    assert float(oracle) == pytest.approx(exact, abs=1e-12)


def _exact_case_study(thousandths: np.ndarray, votes: np.ndarray) -> dict[str, float]:
    """Baan et al. 2022, Eq. 3 and 5 to 8, in exact fractions (entropies by math.fsum)."""
    n, classes = votes.shape
    f = [[Fraction(int(x), 1000) for x in row] for row in thousandths]
    pi = [[Fraction(int(x), 100) for x in row] for row in votes]

    def top(row: list[Fraction]) -> int:
        return row.index(max(row))

    def entropy(row: list[Fraction]) -> float:
        return -math.fsum(float(x) * math.log(x) for x in row if x)

    def order(row: list[Fraction]) -> list[int]:
        return sorted(range(classes), key=lambda c: (row[c], c))

    def binned(pairs: list[tuple[Fraction, bool]]) -> Fraction:
        gaps = [Fraction(0)] * 10
        for stated, hit in pairs:
            gaps[max(math.ceil(10 * stated) - 1, 0)] += hit - stated
        return sum(map(abs, gaps), Fraction(0)) / n

    both = list(zip(f, pi, strict=True))
    return {
        "majority_accuracy": sum(top(a) == top(b) for a, b in both) / n,
        "confidence_ece": float(binned([(max(a), top(a) == top(b)) for a, b in both])),
        "classwise_ece": float(
            sum(binned([(a[c], top(b) == c) for a, b in both]) for c in range(classes)) / classes
        ),
        "ranking_calibration_score": sum(order(a) == order(b) for a, b in both) / n,
        "entropy_calibration_error": math.fsum(abs(entropy(a) - entropy(b)) for a, b in both) / n,
        "distribution_calibration_error": float(
            sum(abs(x - y) for a, b in both for x, y in zip(a, b, strict=True)) / (2 * n)
        ),
    }
