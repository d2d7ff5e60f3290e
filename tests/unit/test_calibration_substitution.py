"""Maps between phrases: certificates, guard-rails, splits, reasons for silence."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from benchmarks.other_maps import brier_map, exact_error_map
from calibration.bins import BinRule, phrase_bins
from calibration.curve import calibration_error
from calibration.distributions import Atom, Beta
from calibration.errors import CalibrationError, NotConvergedError
from calibration.estimate import Likeness, multinomial_moments
from calibration.extraction_errors import Audit, correct_tally, corrected_replicates
from calibration.substitution import GuardRails, advise, transport_map
from calibration.substitution.advice import hold_order
from calibration.substitution.cost import substitution_cost
from calibration.substitution.effect import (
    Scores,
    fold_tally,
    held_out_effect,
    split_effect,
    split_tally,
)
from calibration.substitution.guardrails import (
    Setting,
    SuppressionReason,
    allowed_cells,
    best_target,
    resolution,
)
from calibration.substitution.programs import monotone_map
from calibration.substitution.suggestion import Suggestion, Suppressed, cell_reason
from calibration.substitution.transport import Regularisation
from calibration.survey import PhraseTable, builtin
from calibration.tally import Tally, tally

SCALE = builtin("diagnostic-certainty-scale")
NAMES = SCALE.phrases


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def overconfident(uses: float = 120.0, gap: float = 0.25) -> Tally:
    """Every phrase right on average but "likely", which is right less often by ``gap``."""
    n = np.full(len(SCALE), 30.0)
    likely = SCALE.index("likely")
    n[likely] = uses
    rate = SCALE.means.copy()
    rate[likely] -= gap
    mass = np.round(n * rate)
    return Tally.from_moments(n, mass)


def test_identity_costs_nothing_and_unused_phrases_have_no_cost() -> None:
    tables = phrase_bins(SCALE.distributions)
    counted = tally([6, 6, 11], [0, 1, 1], n_phrases=len(SCALE))
    cost = substitution_cost(counted.n, counted.label_mass, source=tables, target=tables)
    assert np.abs(np.diag(cost)[[6, 11]]).max() < 1e-12
    assert np.isnan(cost[0]).all()


def test_no_observation_is_a_stated_absence_of_a_map() -> None:
    nothing = transport_map(np.full((2, 2), np.nan), phrases=("a", "b"), source_weights=np.zeros(2))
    assert not nothing.converged
    assert (nothing.method, nothing.steps) == ("no observations", 0)
    assert np.isnan([nothing.objective, nothing.row_residual, nothing.dual_gradient]).all()
    with pytest.raises(NotConvergedError, match="did not converge"):
        nothing.weights()


def test_forbidden_cells_carry_nothing_and_a_row_without_any_is_refused() -> None:
    cost = np.array([[0.0, -1.0], [np.inf, 0.0]])
    weights = np.array([0.5, 0.5])
    solved = transport_map(
        cost,
        phrases=("a", "b"),
        source_weights=weights,
        regularisation=Regularisation(epsilon=0.01),
    )
    assert solved.plan[1, 0] == 0.0
    with pytest.raises(CalibrationError, match="no allowed target"):
        transport_map(np.full((2, 2), np.inf), phrases=("a", "b"), source_weights=weights)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"source_weights": [1.0]}, r"weights \(1,\) and \(1,\) for 2 phrases"),
        ({"cost": np.zeros((2, 3))}, r"cost \(2, 3\)"),
        ({"phrases": ("a",)}, "for 1 phrases"),
        ({"source_weights": [-0.5, 1.5]}, "source_weights: 1 of 2 are negative or not finite"),
        ({"target_weights": [math.nan, 1.0]}, "target_weights: 1 of 2 are negative or not finite"),
        ({"cost": [[0.0, math.nan], [0.0, 0.0]]}, "cost: 1 of 4 cells in use are missing"),
        ({"cost": [["a", "b"], ["c", "d"]]}, "cost: not an array of numbers"),
    ],
)
def test_a_transport_problem_that_is_none_is_refused(given: dict[str, Any], message: str) -> None:
    plain = {"cost": [[0.0, 0.1], [0.1, 0.0]], "phrases": ("a", "b"), "source_weights": [0.5, 0.5]}
    lists, changed = transport_map(**plain), {**plain, **given}
    assert (
        lists.plan.tolist()
        == transport_map(**{**plain, "cost": np.array(plain["cost"])}).plan.tolist()
    )
    with pytest.raises(CalibrationError, match=message):
        transport_map(**changed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0.0}, "must be from 1e-300 to 1e300"),
        ({"tau": -1.0}, "must be from 1e-300 to 1e300"),
        ({"tau": math.inf}, "must be from 1e-300 to 1e300"),
        ({"epsilon": 1e-320}, "must be from 1e-300 to 1e300"),
        ({"regulariser": "l2"}, "use one of kl, entropy"),
    ],
)
def test_unusable_transport_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(CalibrationError, match=message):
        Regularisation(**options)  # type: ignore[arg-type]


def transport_problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Costs and shares of a reader somewhat too sure, of few, some or very many statements."""
    g = np.random.default_rng(seed)
    size, evenness = ((1000, 1.0), (30, 0.2), (100_000, 5.0))[seed % 3]
    phrase = g.choice(len(SCALE), size=size, p=g.dirichlet(np.full(len(SCALE), evenness)))
    label = (g.random(size) < 0.8 * SCALE.means[phrase] + 0.05).astype(float)
    counted = tally(phrase, label, n_phrases=len(SCALE))
    tables = phrase_bins(SCALE.distributions)
    cost = substitution_cost(counted.n, counted.label_mass, source=tables, target=tables)
    return cost, counted.n / counted.total


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("epsilon", [1e-4, 1e-3, 1e-2, 1.0])
@pytest.mark.parametrize("tau", [1e-4, 1e-3, 1.0, 1e3, 1e5])
def test_every_setting_ends_with_a_certificate_of_the_size_of_rounding(
    seed: int, epsilon: float, tau: float
) -> None:
    cost, share = transport_problem(seed)
    for rule in ("kl", "entropy"):
        solved = transport_map(
            cost,
            phrases=SCALE.phrases,
            source_weights=share,
            regularisation=Regularisation(epsilon=epsilon, tau=tau, regulariser=rule),
        )
        assert solved.dual_gradient <= 1e-13
        assert solved.row_residual <= 1e-15


def test_costs_far_above_epsilon_and_nearly_strict_columns_are_solved_by_cooling() -> None:
    """C / ε reaches 20,000: a climb from zero alternates between corners without an end."""
    g = np.random.default_rng(4)
    source, target = g.dirichlet(np.full(14, 5.0)), g.dirichlet(np.full(14, 0.5)) + 1e-4
    solved = transport_map(
        g.normal(size=(14, 14)),
        phrases=tuple("abcdefghijklmn"),
        source_weights=source,
        target_weights=target / target.sum(),
        regularisation=Regularisation(epsilon=1.2e-4, tau=80.0),
    )
    assert solved.converged
    assert solved.dual_gradient <= 1e-12
    assert 100 < solved.steps < 200  # the climb from zero gives up at a hundred


def test_a_common_factor_of_the_target_weights_leaves_the_plan() -> None:
    cost, share = transport_problem(0)
    plain, doubled = (
        transport_map(
            cost,
            phrases=SCALE.phrases,
            source_weights=share,
            target_weights=b,
            regularisation=Regularisation(tau=1e5),
        ).plan
        for b in (share, 2.0 * share)
    )
    assert np.abs(plain - doubled).max() < 1e-12


def test_a_single_phrase_maps_to_itself() -> None:
    solved = transport_map(np.zeros((1, 1)), phrases=("a",), source_weights=np.ones(1))
    assert solved.converged
    assert solved.weights().tolist() == [[1.0]]


def test_a_map_that_did_not_converge_changes_nothing_where_its_effect_is_measured() -> None:
    shares = np.array([0.6, 0.4])
    swap = np.array([[5.0, 0.0], [0.0, 5.0]])  # each phrase is far better said as the other
    solved = transport_map(swap, phrases=("a", "b"), source_weights=shares)
    assert solved.converged
    assert np.array_equal(solved.weights_or_identity(), solved.weights())
    assert solved.weights()[0, 1] > 0.9
    assert np.array_equal(replace(solved, converged=False).weights_or_identity(), np.eye(2))


def test_splitting_keeps_every_observation_and_halves_every_phrase() -> None:
    whole = overconfident()
    first, second = split_tally(whole, rng=rng())
    assert np.array_equal(first.counts + second.counts, whole.counts)
    assert np.array_equal(first.n, whole.n / 2)
    parts = fold_tally(whole, folds=5, rng=rng())
    assert np.allclose(sum(part.counts for part in parts), whole.counts)
    assert max(abs(part.n - whole.n / 5).max() for part in parts) <= 1.0


def test_splitting_a_weighted_tally_loses_no_weight() -> None:
    whole = Tally(np.array([0.0, 1.0]), np.array([[2.5, 3.25], [0.4, 0.0]]))
    first, second = split_tally(whole, rng=rng())
    assert np.allclose(first.counts + second.counts, whole.counts)
    assert np.allclose(first.counts % 1.0, [[0.25, 0.125], [0.2, 0.0]])


TWO = PhraseTable("two", ("low", "high"), (Beta(2, 6), Beta(6, 2)), (None, None))


def two_scores() -> Scores:
    return Scores(phrase_bins(TWO.distributions), TWO.means, TWO.variances)


def mixed(part: Tally) -> np.ndarray:
    """Give a map that differs with what it was fitted on."""
    rate = part.label_mass / np.maximum(part.n, 1.0)
    return np.array([[1.0 - rate[0], rate[0]], [1.0 - rate[1], rate[1]]])


def test_the_held_out_effect_is_that_of_maps_fitted_on_all_other_parts() -> None:
    whole = Tally.from_moments(np.array([3000.0, 1500.0]), np.array([1800.0, 600.0]))
    found = held_out_effect(whole, fit=mixed, scores=two_scores(), folds=3, splits=1, rng=rng(5))
    parts = fold_tally(whole, folds=3, rng=rng(5))
    expected = np.zeros(4)
    for at, part in enumerate(parts):
        rest = sum(other.counts for i, other in enumerate(parts) if i != at)
        weights = mixed(Tally(whole.label_values, rest))
        expected += part.total / 4500.0 * two_scores().of(part.n, part.label_mass, weights)
    got = found.ece_before, found.ece_after, found.brier_before, found.brier_after
    assert got == pytest.approx(expected.tolist(), abs=1e-12)
    assert (found.n_fit, found.n_test) == (3000.0, 1500.0)
    for change, after, before in (
        (found.ece_difference, expected[1], expected[0]),
        (found.brier_difference, expected[3], expected[2]),
    ):
        assert change.value == pytest.approx(after - before)
        assert change.low < change.value < change.high
        assert change.high - change.low < abs(change.value)  # 4,500 observations


def test_one_split_holds_out_the_share_that_is_asked_for() -> None:
    found = split_effect(
        overconfident(),
        fit=lambda part: np.eye(part.n_phrases),
        scores=Scores(phrase_bins(SCALE.distributions), SCALE.means, SCALE.variances),
        test_share=0.2,
        rng=rng(),
    )
    whole = overconfident().total
    assert found.n_test == pytest.approx(0.2 * whole, abs=len(SCALE))
    assert found.n_fit + found.n_test == pytest.approx(whole)


@pytest.mark.parametrize("seed", range(6))
def test_parts_without_an_observation_count_for_nothing(seed: int) -> None:
    one = Tally.from_moments(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    fit = lambda part: np.eye(part.n_phrases)  # noqa: E731
    found = held_out_effect(one, fit=fit, scores=two_scores(), folds=3, splits=1, rng=rng(seed))
    alone = two_scores().of(one.n, one.label_mass, np.eye(2))
    assert (found.ece_before, found.brier_before) == pytest.approx((alone[0], alone[2]))
    nothing = held_out_effect(
        Tally.empty(2), fit=fit, scores=two_scores(), folds=3, splits=1, rng=rng(seed)
    )
    assert math.isnan(nothing.ece_before)
    assert math.isnan(nothing.brier_difference.value)


def test_the_identity_map_changes_nothing_on_held_out_data() -> None:
    tables = phrase_bins(SCALE.distributions)
    for measure in (held_out_effect, split_effect):
        effect = measure(
            overconfident(),
            fit=lambda part: np.eye(part.n_phrases),
            scores=Scores(tables, SCALE.means, SCALE.variances),
            rng=rng(),
        )
        assert effect.ece_difference.value == 0.0
        assert effect.brier_difference.low == effect.brier_difference.high == 0.0


def test_protected_atoms_and_steps_and_pairs_shape_what_is_allowed() -> None:
    rails = GuardRails(max_step=0.3, forbidden=frozenset({("likely", "suggestive of")}))
    allowed = allowed_cells(SCALE, guard_rails=rails)
    index = SCALE.index
    assert allowed[index("present"), index("present")]
    assert allowed[index("present")].sum() == 1
    assert not allowed[index("likely"), index("present")]
    assert not allowed[index("likely"), index("suggestive of")]
    assert not allowed[index("likely"), index("may represent")]  # .774 − .441 > .3
    assert allowed[index("likely"), index("suspicious for")]
    assert not allowed[index("unlikely"), index("maybe")]  # six people were asked
    free = allowed_cells(SCALE, guard_rails=GuardRails(max_step=1.0))
    assert free[index("likely"), index("may represent")]


def test_guard_rails_out_of_range_are_refused() -> None:
    with pytest.raises(CalibrationError, match="GuardRails"):
        GuardRails(min_stability=1.2)


def test_planted_fault_is_the_first_advice() -> None:
    advice = advise(overconfident(), phrase_table=SCALE, guard_rails=GuardRails(), rng=rng())
    first = advice.suggestions[0]
    assert first.source == "likely"
    assert first.target_expected < first.expected
    assert first.high < first.expected
    assert first.stability >= 0.8
    assert first.effect is not None
    assert first.effect.brier_difference.high < 0.0
    assert first.n == 120.0


def shipped_scale() -> GuardRails:
    """Suggest the recommended terms alone: the nearest one to "likely" is "may represent"."""
    terms = {"most likely", "likely", "may represent", "unlikely", "very unlikely"}
    barred = ((s, t) for s in NAMES for t in NAMES if t not in terms and s != t)
    return GuardRails(max_step=0.5, forbidden=frozenset(barred))


def test_a_far_word_is_advised_where_it_is_the_better_bet_and_no_further() -> None:
    # halfway between "likely" (.774) and "may represent" (.441) lies .608
    first = advise(
        overconfident(100.0, 0.25), phrase_table=SCALE, guard_rails=shipped_scale(), rng=rng()
    ).suggestions[0]
    assert (first.source, first.target) == ("likely", "may represent")
    assert first.effect is not None
    assert first.effect.brier_difference.value < 0.0
    nearer = advise(
        overconfident(400.0, 0.15), phrase_table=SCALE, guard_rails=shipped_scale(), rng=rng()
    )
    held = {s.source: s.reason for s in nearer.suppressed}
    assert held["likely"] == "forbidden"


def test_of_two_words_that_gain_alike_the_smaller_step_is_advised() -> None:
    # true in .605: "likely" gains .0342 a use, "may represent" .0357; in .52: .0481 and .1061
    setting = Setting.of(SCALE, shipped_scale())
    most_likely = SCALE.index("most likely")
    chosen = {}
    for rate in (0.605, 0.52):
        n = np.zeros(len(SCALE))
        n[most_likely] = 100.0
        chosen[rate] = NAMES[best_target(n, n * rate, source=most_likely, setting=setting)]
    assert chosen == {0.605: "likely", 0.52: "may represent"}


def test_a_gain_too_small_to_matter_is_no_target() -> None:
    # true in .606 "may represent" gains .0008 a use, in .590 it gains .0115; .05² = .0025 decides
    setting = Setting.of(SCALE, shipped_scale())
    likely = SCALE.index("likely")
    n = np.zeros(len(SCALE))
    n[likely] = 1e6
    assert NAMES[best_target(n, n * 0.606, source=likely, setting=setting)] == "likely"
    assert NAMES[best_target(n, n * 0.590, source=likely, setting=setting)] == "may represent"


def test_exams_in_triplicate_prove_no_more_than_single_ones() -> None:
    once = Tally.from_moments([40.0, 40.0], [20.0, 24.0])
    table = PhraseTable("two", ("low", "high"), (Beta(5.0, 5.0), Beta(8.0, 2.0)), (None, None))
    thrice = Tally(once.label_values, 3.0 * once.counts)
    # "high" says .8: 24 of 40 has p = .003, 72 of 120 of 4e-7; a tenth of a per cent is asked for
    rails = GuardRails(family_error=0.001, informativeness_floor=0.0, min_stability=0.0)
    alone, copied, known = (
        advise(counted, phrase_table=table, guard_rails=rails, alike=alike, rng=rng())
        for counted, alike in (
            (once, Likeness()),
            (thrice, Likeness()),
            (thrice, Likeness(3.0, 3.0)),
        )
    )
    assert [s.source for s in copied.suggestions] == ["high"]
    for each in (alone, known):
        assert [s.reason for s in each.suppressed] == ["matches expectation"] * 2
    assert known.effect is not None
    assert alone.effect is not None
    assert (known.effect.n_test, alone.effect.n_test) == (120.0, 40.0)
    assert known.effect.ece_difference.low == pytest.approx(alone.effect.ece_difference.low)


def test_a_count_that_rounding_took_from_the_whole_is_split() -> None:
    parts = split_tally(Tally.from_moments([3.0 - 1e-10], [1.0 - 1e-10]), rng=rng())
    assert sum(part.total for part in parts) == pytest.approx(3.0)


def test_a_calibrated_reader_gets_no_advice_and_every_phrase_its_reason() -> None:
    advice = advise(overconfident(gap=0.0), phrase_table=SCALE, guard_rails=GuardRails(), rng=rng())
    assert advice.suggestions == ()
    reasons = {s.source: s.reason for s in advice.suppressed}
    assert len(reasons) == len(SCALE)
    assert reasons["likely"] == "matches expectation"
    assert reasons["present"] == "protected"


def test_a_small_group_is_silent_for_its_size() -> None:
    few = Tally.from_moments(overconfident(10).n / 30 * 3, overconfident(10).n * 0)
    advice = advise(few, phrase_table=SCALE, guard_rails=GuardRails(), rng=rng())
    assert advice.suggestions == ()
    assert {s.reason for s in advice.suppressed} <= {"too few uses", "protected"}


def test_a_swap_behind_a_guard_rail_is_withheld_with_its_name() -> None:
    table = PhraseTable("t", ("unlikely", "likely"), (Beta(1, 9), Beta(9, 1)), (None, None))
    wrong = Tally.from_moments([200, 200], [20, 30])
    rails = {
        "step too large": GuardRails(max_step=0.3),
        "forbidden": GuardRails(max_step=1.0, forbidden=frozenset({("likely", "unlikely")})),
    }
    for reason, rail in rails.items():
        advice = advise(wrong, phrase_table=table, guard_rails=rail, rng=rng())
        withheld = {s.source: s for s in advice.suppressed}
        assert withheld["likely"].reason == reason
        assert withheld["likely"].target == "unlikely"


def test_a_swap_that_would_empty_the_words_of_information_is_withheld() -> None:
    table = PhraseTable("t", ("even", "likely"), (Beta(50, 50), Beta(80, 20)), (None, None))
    blunt = Tally.from_moments([300, 300], [135, 174])
    advice = advise(
        blunt, phrase_table=table, guard_rails=GuardRails(informativeness_floor=0.9), rng=rng()
    )
    withheld = {s.source: s for s in advice.suppressed}["likely"]
    assert withheld.reason == "less informative"
    assert len(withheld.shares) == 2
    assert withheld.detail == "{:.0%} of the resolution is left, {:.0%} needed".format(
        *withheld.shares
    )


def test_advice_on_nothing_is_nothing() -> None:
    advice = advise(
        Tally.empty(len(SCALE)), phrase_table=SCALE, guard_rails=GuardRails(), rng=rng()
    )
    assert advice.suggestions == advice.suppressed == ()
    assert advice.effect is None
    assert not advice.map.converged


def test_the_same_seed_gives_the_same_advice() -> None:
    one, two = (
        advise(overconfident(), phrase_table=SCALE, guard_rails=GuardRails(), rng=rng(5))
        for _ in range(2)
    )
    assert one.suggestions[0].stability == two.suggestions[0].stability
    assert one.effect is not None
    assert two.effect is not None
    assert one.effect.ece_difference == two.effect.ece_difference


def test_monotone_map_keeps_the_order_of_phrases() -> None:
    g = rng(2)
    n = g.integers(1, 40, len(SCALE)).astype(float)
    counted = Tally.from_moments(n, n * g.random(len(SCALE)))
    solved = monotone_map(counted, phrase_table=SCALE, prior_size=0.0)
    targets = SCALE.means[np.argmax(solved.weights(), axis=1)]
    assert np.all(np.diff(targets) >= 0)
    free = brier_map(counted, phrase_table=SCALE, prior_size=0.0)
    assert free.objective <= solved.objective + 1e-12


def test_linear_program_beats_every_other_map_on_its_own_data() -> None:
    tables = phrase_bins(SCALE.distributions)
    counted = overconfident()
    best = exact_error_map(counted, phrases=NAMES, source=tables, target=tables)
    cost = substitution_cost(counted.n, counted.label_mass, source=tables, target=tables)
    others = [
        transport_map(cost, phrases=NAMES, source_weights=counted.n / counted.total),
        brier_map(counted, phrase_table=SCALE),
        monotone_map(counted, phrase_table=SCALE),
    ]
    for other in others:
        w = other.weights()
        after = calibration_error(counted.n @ w, counted.label_mass @ w, tables=tables)
        assert best.objective <= float(after) + 1e-9
    w = best.weights()
    after = calibration_error(counted.n @ w, counted.label_mass @ w, tables=tables)
    assert float(after) == pytest.approx(best.objective, abs=1e-8)


@pytest.mark.parametrize("rule", get_args(BinRule))
def test_linear_program_that_moves_nothing_has_the_tally_s_own_error(rule: BinRule) -> None:
    tables, counted = phrase_bins(SCALE.distributions, rule=rule), overconfident()
    stay = np.eye(len(SCALE), dtype=bool)
    kept = exact_error_map(counted, phrases=NAMES, source=tables, target=tables, allowed=stay)
    error = calibration_error(counted.n, counted.label_mass, tables=tables)
    assert kept.objective == pytest.approx(float(error))


def test_linear_program_respects_forbidden_cells() -> None:
    tables = phrase_bins(SCALE.distributions)
    stay = np.eye(len(SCALE), dtype=bool)
    fixed = exact_error_map(
        overconfident(), phrases=NAMES, source=tables, target=tables, allowed=stay
    )
    assert np.allclose(fixed.weights(), np.eye(len(SCALE)))


def test_a_map_that_did_not_converge_is_written_without_weights_and_plan() -> None:
    found = brier_map(overconfident(), phrase_table=SCALE)
    written = found.to_plain()
    assert written["plan"] is found.plan
    np.testing.assert_array_equal(written["weights"], found.weights())
    assert {"cost", "objective", "method"} <= set(written)
    assert "phrases" not in written
    refused = replace(found, converged=False).to_plain()
    assert (refused["weights"], refused["plan"], refused["converged"]) == (None, None, False)


def test_a_map_by_phrase_says_how_it_was_made_and_keeps_its_books() -> None:
    """Of 4 uses of a and 6 of b all say b: per use var + m² − 2 m rate + rate, m = .6."""
    table = PhraseTable("two", ("a", "b"), (Atom(0.1), Atom(0.6)), (9, 9))
    counted = Tally.from_moments([4, 6], [3, 3])
    for found, method in (
        (brier_map(counted, phrase_table=table, prior_size=0.0), "Brier, shrunk rates"),
        (monotone_map(counted, phrase_table=table, prior_size=0.0), "monotone, Brier"),
    ):
        assert (found.phrases, found.method, found.regulariser) == (("a", "b"), method, "none")
        assert (found.converged, found.epsilon, found.tau, found.dual_gradient) == (True, 0, 0, 0)
        assert found.source_weights.tolist() == [0.4, 0.6]
        assert found.plan.tolist() == [[0.0, 0.4], [0.0, 0.6]]
        assert found.target_weights.tolist() == [0.0, 1.0]
        assert np.isnan(found.cost).all()
        assert found.cost.shape == (2, 2)
        assert found.row_residual == 0.0
        losses = 0.4 * (0.36 - 1.2 * 0.75 + 0.75) + 0.6 * (0.36 - 1.2 * 0.5 + 0.5)
        assert found.objective == pytest.approx(losses)
    empty = brier_map(Tally.empty(2), phrase_table=table)
    assert not empty.converged
    assert math.isnan(empty.objective)


def test_resolution_is_the_spread_of_rates_about_the_whole() -> None:
    """Rates 1 and .2 about .4: (1 · .36 + 3 · .04) / 4; an unused phrase does not count."""
    found = resolution(np.array([1.0, 3.0, 0.0]), np.array([1.0, 0.6, 0.0]))
    assert found == pytest.approx(0.12)
    assert math.isnan(resolution(np.zeros(2), np.zeros(2)))


def test_a_forbidden_cell_names_the_rail_that_forbids_it() -> None:
    table = PhraseTable(
        "t", ("no", "low", "high", "new"), (Atom(0.0), Atom(0.2), Atom(0.8), Atom(0.3)),
        (50, 50, 50, 3),
    )  # fmt: skip
    rails = GuardRails(max_step=0.5, forbidden=frozenset({("high", "low")}))
    reasons = {
        (2, 1): "forbidden", (1, 2): "step too large", (1, 0): "protected", (0, 1): "protected",
        (1, 3): "target little surveyed",
    }  # fmt: skip
    allowed = allowed_cells(table, guard_rails=rails)
    for (source, target), reason in reasons.items():
        assert not allowed[source, target]
        found = cell_reason(source, target, setting=Setting.of(table, rails))
        assert found == reason


def test_a_phrase_that_is_off_without_a_closer_one_is_told_so() -> None:
    table = PhraseTable("two", ("maybe", "likely"), (Beta(5, 5), Beta(9, 1)), (50, 50))
    found = advise(
        Tally.from_moments([400, 400], [150, 360]),
        phrase_table=table,
        guard_rails=GuardRails(),
        rng=rng(),
    )
    told = {held.source: held for held in found.suppressed}
    assert told["maybe"] == Suppressed(
        "maybe", None, "no better phrase", "no phrase of the table is closer to CT"
    )
    assert told["likely"].reason == "matches expectation"


def test_order_is_that_of_meanings_wherever_phrases_stand_in_the_table() -> None:
    """The first falls to .3, below c (.4): held back if c is in use, kept if nobody says c."""
    table = PhraseTable("three", ("b", "c", "a"), (Atom(0.5), Atom(0.4), Atom(0.1)), (9, 9, 9))
    swap = Suggestion("b", "x", 9.0, 0.3, 0.2, 0.4, 0.5, 0.3, 0.5, 1.0, None)
    in_use, unused = np.array([9.0, 1.0, 9.0]), np.array([9.0, 0.0, 9.0])
    kept, held = hold_order([swap], n=in_use, phrase_table=table)
    assert (kept, held[0].reason, held[0].source, held[0].target) == ((), "out of order", "b", "x")
    assert held[0].detail.startswith("another phrase in use would then mean more")
    assert hold_order([swap], n=unused, phrase_table=table) == ((swap,), ())


def test_extraction_errors_are_taken_out_again() -> None:
    # 100 of "a" and 50 of "b"; 20 % of "a" is read as "b", labels flip 10 % of the time
    confusion = np.array([[80.0, 20.0], [0.0, 100.0]])
    labels = np.array([[90.0, 10.0], [10.0, 90.0]])
    seen_n = np.array([80.0, 70.0])
    seen_true = np.array([0.8 * 60, 0.2 * 60 + 10.0])  # 60 of "a" and 10 of "b" are positive
    seen_y = 0.9 * seen_true + 0.1 * (seen_n - seen_true)
    fixed = correct_tally(seen_n, seen_y, audit=Audit(confusion, labels))
    assert fixed.n == pytest.approx([100.0, 50.0])
    assert fixed.label_mass == pytest.approx([60.0, 10.0])
    assert fixed.moved == pytest.approx(0.0, abs=1e-9)


def test_an_audit_that_cannot_be_inverted_is_refused() -> None:
    with pytest.raises(CalibrationError, match="confuses some"):
        correct_tally(np.ones(2), np.ones(2), audit=Audit(np.full((2, 2), 5.0)))
    with pytest.raises(CalibrationError, match="carry no information"):
        correct_tally(
            np.ones(2), np.ones(2), audit=Audit(np.eye(2), np.array([[1.0, 1.0], [1.0, 1.0]]))
        )


def test_the_audits_own_error_widens_the_interval() -> None:
    counted = Tally.from_moments([400, 400], [100, 300])
    n, mass = multinomial_moments(counted, replicates=300, rng=rng())
    confusion = np.array([[16.0, 4.0], [4.0, 16.0]])
    small, _ = corrected_replicates(
        counted, audit=Audit(confusion), n=n, label_mass=mass, rng=rng(1)
    )
    large, _ = corrected_replicates(
        counted, audit=Audit(confusion * 1000), n=n, label_mass=mass, rng=rng(1)
    )
    assert np.nanstd(small[:, 0]) > 1.5 * np.nanstd(large[:, 0])


def test_atoms_can_be_targets_of_a_map_without_rails() -> None:
    table = PhraseTable("t", ("absent", "maybe"), (Atom(0.0), Beta(5, 5)), (None, None))
    tables = phrase_bins(table.distributions)
    counted = Tally.from_moments([50, 50], [0, 0])
    cost = substitution_cost(counted.n, counted.label_mass, source=tables, target=tables)
    solved = transport_map(cost, phrases=table.phrases, source_weights=counted.n / 100)
    assert solved.weights()[1, 0] == pytest.approx(1.0)
    assert not math.isnan(solved.objective)


def test_nearly_certain_phrases_are_protected_like_atoms() -> None:
    allowed = allowed_cells(SCALE, guard_rails=GuardRails(max_step=1.0))
    assert not allowed[SCALE.index("consistent with"), SCALE.index("diagnostic of")]
    assert not allowed[SCALE.index("diagnostic of"), SCALE.index("consistent with")]


def test_the_result_files_page_names_every_reason_for_silence() -> None:
    page = (Path(__file__).parents[2] / "docs" / "result-json.md").read_text("utf-8")
    text = " ".join(page.split())
    assert [reason for reason in get_args(SuppressionReason) if reason not in text] == []


def drawn_reader(g: np.random.Generator, shift: float) -> Tally:
    """About 120 uses of "likely" among some 700 observations, its rate moved by ``shift``."""
    use = np.ones(len(SCALE))
    use[[SCALE.index(p) for p in ("absent", "present", "likely", "may represent")]] = 5.0
    rate = SCALE.means.copy()
    rate[SCALE.index("likely")] += shift
    spoken = g.choice(len(SCALE), size=800, p=use / use.sum())
    return tally(spoken, (g.random(800) < rate[spoken]).astype(float), n_phrases=len(SCALE))


@pytest.mark.slow
def test_calibrated_readers_get_no_advice_and_planted_faults_are_found() -> None:
    """A small run of benchmarks/calibration_advice.py, which has the figures."""
    g = rng(9)
    silent = found = 0
    for _ in range(40):
        calm, sure = (
            advise(drawn_reader(g, shift), phrase_table=SCALE, guard_rails=GuardRails(), rng=g)
            for shift in (0.0, -0.25)
        )
        silent += not calm.suggestions
        found += bool(sure.suggestions) and sure.suggestions[0].source == "likely"
    assert silent >= 38
    assert found >= 32


def test_whole_number_costs_give_the_same_plan() -> None:
    weights, cost = np.array([0.3, 0.7]), np.array([[0, 1], [2, 0]])
    whole, real = (
        transport_map(each, phrases=("a", "b"), source_weights=weights)
        for each in (cost, cost.astype(float))
    )
    assert whole.converged
    assert np.array_equal(whole.plan, real.plan)
