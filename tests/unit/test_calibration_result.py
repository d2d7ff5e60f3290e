"""Group results: zero points, degenerate groups, scores by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from calibration.analysis import Settings, Study
from calibration.bins import BinTables, phrase_bins
from calibration.curve import (
    curve_points,
    simultaneous_band,
)
from calibration.diagnostics import (
    corp,
    diagnose,
    phrase_chi_squared,
    smooth_calibration_error,
    spiegelhalter_z,
)
from calibration.distributions import Atom, Beta
from calibration.errors import CalibrationError, TallyError
from calibration.estimate import Likeness, Options, likeness
from calibration.neighbours.stated_confidence import fit_baseline
from calibration.phrase_calibration import phrase_error, phrase_error_interval
from calibration.profile.settings import ProfileSettings
from calibration.profile.vocabulary import vocabulary
from calibration.regression import logistic_calibration
from calibration.result import calibrate
from calibration.scores import auroc, order_probabilities
from calibration.substitution.guardrails import GuardRails, allowed_cells
from calibration.survey import PhraseTable, builtin
from calibration.tally import Tally, tally, tally_groups

ATOMS = PhraseTable("atoms", ("low", "high"), (Atom(0.2), Atom(0.8)), (None, None))


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_empty_group_says_so_and_has_no_numbers() -> None:
    result = calibrate(Tally.empty(2), phrase_table=ATOMS, rng=rng())
    assert result.n == 0.0
    for estimate in (result.ece, result.ece_star, result.phrase_error, result.brier):
        assert math.isnan(estimate.value)
        assert math.isnan(estimate.low)
        assert estimate.n == 0.0
        assert estimate.method == "no observations"
    assert np.isnan(result.curve.observed).all()
    assert result.ece.summary() == "not estimable (n = 0)"


def test_one_phrase_and_one_label_give_plain_numbers() -> None:
    result = calibrate(tally([1, 1], [1, 1], n_phrases=2), phrase_table=ATOMS, rng=rng())
    assert result.ece.value == pytest.approx(0.2)
    assert result.phrase_error.value == pytest.approx(0.2)
    assert result.brier.value == pytest.approx(0.04)
    assert result.accuracy.value == 1.0


def test_a_single_phrase_table_works() -> None:
    table = PhraseTable("one", ("likely",), (Beta(4, 1),), (None,))
    result = calibrate(tally([0, 0, 0], [1, 1, 0], n_phrases=1), phrase_table=table, rng=rng())
    assert result.n == 3.0
    assert result.phrases.observed[0] == pytest.approx(2 / 3)


def test_binned_error_of_phrases_right_on_average_is_its_reference_level() -> None:
    table = builtin("diagnostic-certainty-scale")
    n = np.full(len(table), 10.0)
    exact = Tally.from_moments(n, n * table.means)
    result = calibrate(exact, phrase_table=table, rng=rng(), options=Options(bootstrap=50))
    assert result.ece.value > 0.03
    assert result.ece.value == pytest.approx(result.ece.reference_level, abs=1e-12)
    assert result.phrase_error.value == pytest.approx(0.0, abs=1e-12)


def test_ece_star_leaves_out_statements_of_certainty() -> None:
    table = PhraseTable("t", ("absent", "likely"), (Atom(0.0), Atom(0.8)), (None, None))
    # absent: 4 uses, 1 wrong; likely: 2 uses, both right
    result = calibrate(
        tally([0, 0, 0, 0, 1, 1], [1, 0, 0, 0, 1, 1], n_phrases=2), phrase_table=table, rng=rng()
    )
    assert result.ece.value == pytest.approx((1 + 0.4) / 6)
    assert result.ece_star.value == pytest.approx(0.2)
    assert result.ece_star.n == 2.0


def test_a_hedge_is_the_same_in_scores_in_profiles_and_in_swaps() -> None:
    """The phrase "diagnostic of" means 99.99995 %: no atom, and no hedge."""
    table = builtin("diagnostic-certainty-scale")
    sorted_ = vocabulary(table, settings=ProfileSettings())
    hedges = tuple(p for p, sure in zip(table.phrases, table.certain, strict=True) if not sure)
    assert hedges == sorted_.hedges
    assert "diagnostic of" not in hedges
    n = np.full(len(table), 10.0)
    result = calibrate(
        Tally.from_moments(n, n * table.means), phrase_table=table, rng=rng(),
        options=Options(bootstrap=0),
    )  # fmt: skip
    assert result.ece_star.n == 10.0 * len(hedges)
    open_ = allowed_cells(table, guard_rails=GuardRails(max_step=1.0, min_respondents=0))
    assert [p for p, row in zip(table.phrases, open_, strict=True) if row.sum() > 1] == [*hedges]


def test_chance_is_taken_out_of_a_phrase_error_and_of_its_interval_alike() -> None:
    """Exactly right words in small numbers: what is seen is chance, what is left is about 0."""
    table, g = builtin("diagnostic-certainty-scale"), rng()
    n, seen, left = np.full(len(table), 12.0), 0.0, 0.0
    for _ in range(20):
        counted = Tally.from_moments(n, g.binomial(12, table.means).astype(float))
        found = calibrate(
            counted, phrase_table=table, rng=g, options=Options(bootstrap=50)
        ).phrase_error
        assert found.low <= found.corrected <= found.value <= found.high
        seen, left = seen + found.value, left + found.corrected
    assert left < 0.5 * seen


def test_empty_bins_are_nan_and_the_density_sums_to_one() -> None:
    result = calibrate(
        tally([0, 1], [0, 1], n_phrases=2), phrase_table=ATOMS, options=Options(bins=5), rng=rng()
    )
    assert np.isnan(result.curve.observed).tolist() == [False, True, True, False, True]
    assert result.curve.density.sum() == pytest.approx(1.0)


def test_intervals_hold_the_value_and_bands_are_wider() -> None:
    table = builtin("diagnostic-certainty-scale")
    g = rng()
    k = g.integers(0, len(table), 400)
    y = (g.random(400) < table.means[k]).astype(float)
    result = calibrate(tally(k, y, n_phrases=len(table)), phrase_table=table, rng=g)
    curve = result.curve
    assert result.brier.low < result.brier.value < result.brier.high
    assert np.all(curve.low <= curve.observed + 1e-12)
    assert np.all(curve.band_low <= curve.low + 0.02)
    assert np.all(curve.band_high >= curve.high - 0.02)


def test_no_bootstrap_leaves_intervals_nan() -> None:
    result = calibrate(
        tally([0], [1], n_phrases=2), phrase_table=ATOMS, options=Options(bootstrap=0), rng=rng()
    )
    assert result.ece.value == pytest.approx(0.8)
    assert math.isnan(result.ece.low)
    assert np.isnan(result.curve.low).all()


def test_a_tally_of_another_table_is_refused() -> None:
    with pytest.raises(TallyError, match="counts 3 phrases but the phrase table 'atoms' has 2"):
        calibrate(Tally.empty(3), phrase_table=ATOMS, rng=rng())


def test_patients_widen_the_interval_when_they_agree_with_themselves() -> None:
    g = rng()
    patient = np.repeat(np.arange(40), 10)
    label = np.repeat(g.integers(0, 2, 40), 10)
    groups = tally_groups(patient, np.ones(400, dtype=int), label, n_groups=40, n_phrases=2)
    plain = calibrate(groups.pooled(), phrase_table=ATOMS, rng=rng())
    clustered = calibrate(groups.pooled(), phrase_table=ATOMS, patients=groups, rng=rng())
    assert clustered.brier.high - clustered.brier.low > 2 * (plain.brier.high - plain.brier.low)
    assert "patients" in clustered.brier.method


def test_likeness_of_statements_that_come_in_pairs_is_two_and_of_single_ones_one() -> None:
    phrase, label = np.array([0, 0, 1, 1]), np.array([0.0, 1.0, 0.0, 1.0])
    alone = tally_groups(np.arange(4), phrase, label, n_groups=4, n_phrases=2)
    assert likeness(alone) == Likeness(1.0, 1.0)
    twice = np.tile(np.arange(4), 2)
    pairs = tally_groups(twice, phrase[twice], label[twice], n_groups=4, n_phrases=2)
    assert likeness(pairs) == Likeness(2.0, 2.0)
    # one patient of each outcome, who has both phrases: alike in all, not in one phrase
    across = tally_groups([0, 1, 0, 1], phrase, label, n_groups=2, n_phrases=2)
    assert likeness(across) == Likeness(1.0, 2.0)
    never = tally_groups(np.arange(4), phrase, np.zeros(4), n_groups=4, n_phrases=2)
    assert likeness(never) == Likeness()


def test_what_is_known_of_likeness_widens_as_resampled_patients_do() -> None:
    """Every statement three times: rate, phrase error and score vary as a third of them do."""
    g, scale = rng(), builtin("diagnostic-certainty-scale")
    phrase = np.repeat(g.integers(1, len(scale) - 1, 600), 3)
    fate = np.repeat(g.random(600), 3)
    label = (fate < scale.means[phrase]).astype(float)
    patient = np.repeat(np.arange(600), 3)
    groups = tally_groups(patient, phrase, label, n_groups=600, n_phrases=len(scale))
    alike = likeness(groups)
    assert alike.phrase == pytest.approx(3.0)
    found = {
        name: calibrate(groups.pooled(), phrase_table=scale, patients=known, rng=rng())
        for name, known in {"none": None, "alike": alike, "patients": groups}.items()
    }

    def wide(name: str, of: str) -> float:
        estimate = getattr(found[name], of)
        return float(estimate.high - estimate.low)

    for of in ("ece", "brier", "accuracy"):
        assert wide("patients", of) > 1.4 * wide("none", of)
        assert wide("alike", of) == pytest.approx(wide("patients", of), rel=0.2)
    for name in ("alike", "patients"):
        assert found[name].phrase_error.method == "test inversion along the observed gaps"
        assert found[name].phrase_error.null_high > 1.4 * found["none"].phrase_error.null_high
        table, plain = found[name].phrases, found["none"].phrases
        used = plain.n > 0
        assert (table.high - table.low > 1.4 * (plain.high - plain.low))[used].all()


def test_brier_in_closed_form_equals_a_hand_sum() -> None:
    table = PhraseTable("t", ("maybe",), (Beta(2, 2),), (None,))
    # E(S − y)² = var + (mean − y)²: .05 + .25 for either label
    result = calibrate(tally([0, 0, 0], [1, 0, 1], n_phrases=1), phrase_table=table, rng=rng())
    assert result.brier.value == pytest.approx(0.3)
    assert result.accuracy.value == pytest.approx(0.5)


def test_auroc_counts_pairs() -> None:
    order = order_probabilities((Atom(0.2), Atom(0.8)))
    # positives: one low, two high; negatives: two low, one high → (1·(½·2) + 2·(2 + ½)) / 9 = 6/9
    value = auroc(np.array([3.0, 3.0]), np.array([1.0, 2.0]), order=order)
    assert float(value) == pytest.approx(6 / 9)
    assert math.isnan(float(auroc(np.array([3.0, 3.0]), np.array([3.0, 3.0]), order=order)))


def test_spiegelhalter_and_chi_squared_by_hand() -> None:
    counted = Tally.from_moments([10, 10], [4, 7])
    means = np.array([0.2, 0.8])
    # Z: (2·.6 + (−1)·(−.6)) / sqrt(20·.36·.16) ; χ²: 2²/1.6 + 1²/1.6
    assert spiegelhalter_z(counted, means=means).statistic == pytest.approx(1.8 / math.sqrt(1.152))
    assert phrase_chi_squared(counted, means=means).statistic == pytest.approx(5 / 1.6)
    assert phrase_chi_squared(counted, means=means).degrees == 2


def test_statements_of_certainty_are_not_tested_but_their_contradictions_counted() -> None:
    for test in (phrase_chi_squared, spiegelhalter_z):
        found = test(Tally.from_moments([10, 10], [1, 7]), means=np.array([0.0, 1.0]))
        assert math.isnan(found.p_value)
        assert found.contradicted == 4.0
        beside = Tally.from_moments([1000, 200], [20, 160])
        found = test(beside, means=np.array([0.0, 0.8]))
        assert (found.statistic, found.n) == (pytest.approx(0.0, abs=1e-9), 200.0)
        assert found.contradicted == 20.0


def test_corp_parts_add_up_to_the_score() -> None:
    parts = corp(Tally.from_moments([10, 10, 20], [4, 2, 15]), means=np.array([0.2, 0.5, 0.8]))
    total = parts.miscalibration - parts.discrimination + parts.uncertainty
    assert parts.score == pytest.approx(total)
    # rates .4 and .2 violate the order and pool to .3; .75 stays. Per use, f² − 2fr + r:
    before = (10 * (0.04 - 0.16 + 0.4) + 10 * (0.25 - 0.2 + 0.2) + 20 * (0.64 - 1.2 + 0.75)) / 40
    after = (20 * (0.09 - 0.18 + 0.3) + 20 * (0.5625 - 1.125 + 0.75)) / 40
    assert parts.score == pytest.approx(before)
    assert parts.miscalibration == pytest.approx(before - after)


def test_smooth_error_of_one_biased_phrase_is_close_to_its_bias() -> None:
    counted = Tally.from_moments([1000], [700])
    assert smooth_calibration_error(counted, means=np.array([0.5])) == pytest.approx(0.2, abs=0.01)
    assert math.isnan(smooth_calibration_error(Tally.empty(1), means=np.array([0.5])))


def reflected_sum(
    at: np.ndarray, means: np.ndarray, residual: np.ndarray, sigma: float
) -> np.ndarray:
    """Residuals smoothed by a Gaussian that is reflected at 0 and 1, as a sum over its images."""
    images = [2.0 * k + sign * means for k in range(-6, 7) for sign in (1.0, -1.0)]
    heights = [norm.pdf(at[:, None], loc=image, scale=sigma) for image in images]
    return np.asarray(np.sum(heights, axis=0) @ residual)


@pytest.mark.parametrize("positive", [(30.0, 90.0), (60.0, 70.0), (2.0, 99.0)])
def test_smooth_error_is_the_width_at_which_the_smoothed_residual_has_its_own_size(
    positive: tuple[float, float],
) -> None:
    n, means = np.array([100.0, 100.0]), np.array([0.15, 0.8])
    residual = (np.array(positive) - n * means) / n.sum()
    at = (np.arange(4000) + 0.5) / 4000
    found = smooth_calibration_error(Tally.from_moments(n, positive), means=means)
    size = np.abs(reflected_sum(at, means, residual, found)).mean()
    assert size == pytest.approx(found, abs=1e-5)


def test_smooth_error_of_a_phrase_right_on_average_is_nothing_and_one_use_counts() -> None:
    exact = Tally.from_moments([10, 10], [2, 8])
    assert smooth_calibration_error(exact, means=np.array([0.2, 0.8])) == 0.0
    once = Tally.from_moments([1], [1])
    assert smooth_calibration_error(once, means=np.array([0.5])) == pytest.approx(0.5, abs=0.01)


def band(n: list[float], mass: list[float], tables: BinTables) -> tuple[np.ndarray, np.ndarray]:
    return simultaneous_band(np.array(n), np.array(mass), tables=tables, replicates=2000, rng=rng())


def test_band_of_one_observation_is_that_of_agresti_and_coull() -> None:
    """Worth 1: r̃ = (0 + 2) / 5 = .4, se² = .4 · .6 / 5, and no sample is further off than 1.96."""
    tables = phrase_bins((Atom(0.35),), bins=10)
    low, high = band([1.0], [0.0], tables)
    place = 3
    assert low[place] == 0.0  # .4 − .4294, cut off
    assert high[place] == pytest.approx(0.4 + 1.959964 * math.sqrt(0.048), abs=1e-6)
    low, high = band([1.0], [1.0], tables)
    assert low[place] == pytest.approx(0.6 - 1.959964 * math.sqrt(0.048), abs=1e-6)
    assert high[place] == 1.0
    assert np.isnan(np.delete(high, place)).all()


def test_band_weighs_a_bin_by_the_observations_it_is_worth() -> None:
    """Bin 1 holds all of phrase a and half of b: worth (10 + 10)² / (10 + 5) = 80/3."""
    tables = phrase_bins((Atom(0.25), Beta(1.0, 1.0)), bins=2)
    low, high = band([10.0, 20.0], [2.0, 10.0], tables)
    worth, rate = 80 / 3, (2.0 + 5.0) / 20.0
    moved = (rate * worth + 2.0) / (worth + 4.0)
    error = math.sqrt(moved * (1.0 - moved) / (worth + 4.0))
    assert (low[0] + high[0]) / 2 == pytest.approx(moved)
    assert 1.96 < (high[0] - low[0]) / 2 / error < 2.6  # wider than for one bin, for there are two


def test_empty_bins_have_no_rate_and_no_density_and_each_tally_its_own() -> None:
    tables = phrase_bins(ATOMS.distributions, bins=10)
    n = np.array([[10.0, 0.0], [5.0, 15.0], [0.0, 0.0]])
    observed, confidence, density = curve_points(n, n / 2, tables=tables)
    assert np.isnan(observed[0, 7])
    assert np.isnan(confidence[0, 7])
    assert density[:, [1, 7]].tolist() == [[1.0, 0.0], [0.25, 0.75], [0.0, 0.0]]


def test_interval_of_the_phrase_error_of_one_phrase_far_off_is_that_of_its_rate() -> None:
    """.7 of 400 where .4 is meant: .3 ± 1.96 · √(.7 · .3 / 400)."""
    counted, means = Tally.from_moments([400], [280]), np.array([0.4])
    middle, low, high = phrase_error_interval(counted, means=means, replicates=4000, rng=rng())
    assert middle == pytest.approx(0.3, abs=0.003)
    assert low == pytest.approx(0.3 - 0.0449, abs=0.006)
    assert high == pytest.approx(0.3 + 0.0449, abs=0.006)


def test_interval_of_the_phrase_error_counts_single_uses_and_parts_of_one() -> None:
    both, means = Tally.from_moments([1, 1], [1, 1]), np.array([0.2, 0.2])
    middle, low, high = phrase_error_interval(both, means=means, replicates=200, rng=rng())
    assert low <= middle <= 0.8 <= high
    part = Tally.from_moments([0.25, 0.25], [0.25, 0.25])
    assert np.isfinite(phrase_error_interval(part, means=means, replicates=200, rng=rng())).all()
    assert np.isnan(phrase_error_interval(both, means=means, replicates=0, rng=rng())).all()


@pytest.mark.parametrize(
    ("mean", "n", "right", "true"), [(0.28, 22, 0, 0.03), (0.774, 20, 20, 0.95)]
)
def test_interval_of_the_phrase_error_stays_open_where_all_labels_are_alike(
    mean: float, n: int, right: int, true: float
) -> None:
    """None of 22 has a chance of .97^22 = .51 at .03, all of 20 one of .36 at .95."""
    counted = Tally.from_moments([n], [right])
    middle, low, high = phrase_error_interval(
        counted, means=np.array([mean]), replicates=1000, rng=rng()
    )
    assert low <= abs(true - mean) < middle <= high
    assert high == pytest.approx(abs(right / n - mean))


def test_the_curve_of_a_reader_right_on_average_lies_on_its_zero_line_not_on_the_diagonal() -> None:
    table = builtin("diagnostic-certainty-scale")
    n = np.full(len(table), 50.0)
    right = calibrate(
        Tally.from_moments(n, n * table.means),
        phrase_table=table,
        options=Options(bootstrap=0),
        rng=rng(),
    )
    curve = right.curve
    np.testing.assert_allclose(curve.observed, curve.expected, atol=1e-12)
    assert np.nanmax(np.abs(curve.expected - curve.confidence)) > 0.05
    off = calibrate(
        Tally.from_moments(n, 0.5 * n), phrase_table=table, options=Options(bootstrap=0), rng=rng()
    )
    np.testing.assert_array_equal(off.curve.expected, curve.expected)
    weighted = np.nansum(curve.density * np.abs(curve.expected - curve.confidence))
    assert right.ece.reference_level == pytest.approx(weighted, abs=1e-12)


def test_logistic_line_of_a_calibrated_reader_is_the_diagonal() -> None:
    table = builtin("language-model-phrases")
    n = np.full(len(table), 500.0)
    line = logistic_calibration(Tally.from_moments(n, n * table.means), phrase_table=table)
    assert line.slope.value == pytest.approx(1.0, abs=1e-6)
    assert line.intercept.value == pytest.approx(0.0, abs=1e-6)
    assert line.slope.low < 1.0 < line.slope.high


@pytest.mark.parametrize(
    ("n", "mass"),
    [([0, 0], [0, 0]), ([10, 0], [3, 0]), ([10, 10], [10, 10]), ([10, 10], [0, 10])],
    ids=["empty", "one phrase", "all labels equal", "separated"],
)
def test_a_line_that_does_not_exist_is_nan_with_its_n(n: list[float], mass: list[float]) -> None:
    line = logistic_calibration(Tally.from_moments(n, mass), phrase_table=ATOMS)
    assert math.isnan(line.slope.value)
    assert line.slope.n == sum(n)
    assert "no finite maximum" in line.slope.method


def test_baselines_recover_a_planted_recalibration() -> None:
    table = builtin("language-model-phrases")
    n = np.full(len(table), 1000.0)
    halved = Tally.from_moments(n, n * table.means / 2)
    for name in ("platt", "histogram", "isotonic", "beta"):
        fitted = fit_baseline(halved, means=table.means, name=name)
        assert phrase_error(halved.n, halved.label_mass, means=fitted) < 0.06
    exact = Tally.from_moments(n, n * table.means)
    for name in ("platt", "isotonic", "beta"):
        assert np.allclose(
            fit_baseline(exact, means=table.means, name=name), table.means, atol=1e-4
        )


def test_baseline_without_both_labels_is_refused() -> None:
    with pytest.raises(CalibrationError, match="all labels agree"):
        fit_baseline(Tally.from_moments([5, 5], [5, 5]), means=np.array([0.2, 0.8]), name="platt")


def test_diagnostics_of_an_empty_group_are_nan() -> None:
    found = diagnose(Tally.empty(2), phrase_table=ATOMS, rng=rng())
    assert math.isnan(found.auroc.value)
    assert math.isnan(found.corp.score)


@pytest.mark.slow
def test_a_group_of_single_uses_is_analysed_whatever_the_split() -> None:
    table = builtin("diagnostic-certainty-scale")
    counted = tally([6, 7, 11, 12], [0, 1, 1, 0], n_phrases=len(table))
    for seed in range(30):
        for holdout in (0.5, 0.9):
            study = Study(table, Settings(bootstrap=10, holdout=holdout), seed)
            found = study.analysis(counted, "single uses")
            effect = found.map.held_out
            assert effect is not None
            assert math.isnan(effect.ece_before) or effect.ece_before > 0.0


def test_one_patient_or_one_statement_has_no_interval() -> None:
    table = builtin("diagnostic-certainty-scale")
    phrase, label = [4] * 5, [1, 1, 1, 0, 1]
    patients = tally_groups([0] * 5, phrase, label, n_groups=1, n_phrases=len(table))
    options = Options(bootstrap=50)
    for counted, known in (
        (patients.pooled(), patients),
        (tally([4], [1], n_phrases=len(table)), None),
    ):
        found = calibrate(counted, phrase_table=table, options=options, patients=known, rng=rng())
        for each in (found.ece, found.brier, found.accuracy):
            assert np.isnan([each.low, each.high]).all()
            assert each.method == "no interval"
