"""Gaps of readers: raw by hand, shrunk by formula, adjusted on a case mix that explains them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibration.errors import CalibrationError
from calibration.gaps import Gaps, adjusted_gaps, reader_gaps, shrink_gaps
from calibration.regression import indicators, ridge_logistic, selection_weights
from calibration.tally import Tally

MEANS = np.array([0.2, 0.8])


def test_gap_is_ct_minus_words_per_statement() -> None:
    # 10 uses at .2 with 3 true, 10 at .8 with 6 true: (9 - 10) / 20.
    counted = Tally.from_moments([10, 10], [3, 6])
    found = reader_gaps([counted], means=MEANS)
    assert found.value.tolist() == [pytest.approx(-0.05)]
    # Residuals: 7 of -.2, 3 of .8, 4 of -.8, 6 of .2; about their mean -.05.
    squares = 7 * 0.15**2 + 3 * 0.85**2 + 4 * 0.75**2 + 6 * 0.25**2
    assert found.standard_error[0] == pytest.approx(np.sqrt(squares / 19 / 20))


def test_reader_without_exams_has_no_gap_rather_than_none_at_all() -> None:
    found = reader_gaps([Tally.empty(2)], means=MEANS)
    assert np.isnan(found.value[0])
    assert found.n[0] == 0


def test_readers_who_differ_by_chance_only_are_drawn_wholly_to_the_centre() -> None:
    gaps = Gaps(np.array([0.01, -0.01]), np.array([0.05, 0.05]), np.array([50.0, 50.0]))
    found = shrink_gaps(gaps)
    assert found.between_variance == 0.0
    assert found.value.tolist() == pytest.approx([0.0, 0.0])
    assert found.reliability.tolist() == [0.0, 0.0]


def test_equal_errors_shrink_by_the_textbook_factor() -> None:
    # Σ(g − 0)²/(s² + τ²) = R − 1 with g = ±.1 and s = .05: .02/(s² + τ²) = 1, so τ² = .0175.
    gaps = Gaps(np.array([0.1, -0.1]), np.array([0.05, 0.05]), np.array([50.0, 50.0]))
    found = shrink_gaps(gaps)
    assert found.between_variance == pytest.approx(0.0175)
    assert found.reliability.tolist() == pytest.approx([0.875, 0.875])
    assert found.value.tolist() == pytest.approx([0.0875, -0.0875])
    # s²τ²/(s²+τ²) + (s²/(s²+τ²))² / Σ 1/(s²+τ²) = .0021875 + .015625 · .01
    half = 1.959963984540054 * np.sqrt(0.0021875 + 0.015625 * 0.01)
    assert found.high[0] - found.value[0] == pytest.approx(half)


def test_one_reader_alone_has_no_shrunk_gap() -> None:
    found = shrink_gaps(Gaps(np.array([0.1]), np.array([0.05]), np.array([50.0])))
    assert np.isnan(found.value[0])
    assert np.isnan(found.reliability[0])


def test_shrunk_interval_covers_the_true_gap_in_95_of_100_simulations() -> None:
    rng = np.random.default_rng(7)
    inside = []
    for _ in range(400):
        true = rng.normal(-0.02, 0.04, 20)
        error = rng.uniform(0.01, 0.06, 20)
        found = shrink_gaps(Gaps(rng.normal(true, error), error, np.full(20, 100.0)))
        inside.append((found.low <= true) & (true <= found.high))
    assert 0.92 <= np.mean(inside) <= 0.97


def _two_readers_with_other_case_mixes() -> pd.DataFrame:
    """Build rows in which CT says less than the words in outpatients only, for both alike."""
    return pd.DataFrame(
        {
            "reader": [0, 0, 1, 1],
            "patient_class": ["inpatient", "outpatient"] * 2,
            "n": [900.0, 100.0, 100.0, 900.0],
            "mass": [450.0, 20.0, 50.0, 180.0],
        }
    )


def test_gap_that_case_mix_explains_is_the_same_for_both_once_adjusted() -> None:
    rows = _two_readers_with_other_case_mixes()
    stated = np.full(4, 0.5)
    raw = [(450 + 20 - 500) / 1000, (50 + 180 - 500) / 1000]
    assert raw == [-0.03, -0.27]
    found = adjusted_gaps(
        rows["reader"].to_numpy(),
        stated=stated,
        design=indicators(rows[["patient_class"]]),
        n=rows["n"].to_numpy(),
        mass=rows["mass"].to_numpy(),
        n_readers=2,
    )
    assert found.value.tolist() == pytest.approx([-0.15, -0.15], abs=0.002)
    assert found.n.tolist() == [1000.0, 1000.0]


def test_adjustment_leaves_a_readers_own_overconfidence_standing() -> None:
    rows = _two_readers_with_other_case_mixes()
    mass = np.array([270.0, 30.0, 50.0, 450.0])  # reader 0 right 30 %, reader 1 right 50 %
    found = adjusted_gaps(
        rows["reader"].to_numpy(),
        stated=np.full(4, 0.5),
        design=np.zeros((4, 0)),
        n=rows["n"].to_numpy(),
        mass=mass,
        n_readers=2,
    )
    assert found.value.tolist() == pytest.approx([-0.2, 0.0], abs=1e-6)


def test_ridge_logistic_without_penalty_reproduces_the_rates_of_a_saturated_model() -> None:
    design = np.array([[0.0], [1.0]])
    fitted = ridge_logistic(
        design, n=np.array([10.0, 20.0]), mass=np.array([3.0, 15.0]), penalty=0.0
    )
    assert fitted.tolist() == pytest.approx([0.3, 0.75])


def test_ridge_keeps_a_level_that_separates_finite() -> None:
    design = np.array([[0.0], [1.0]])
    fitted = ridge_logistic(design, n=np.array([50.0, 5.0]), mass=np.array([20.0, 5.0]))
    assert 0.4 < fitted[1] < 0.95


def test_labels_all_alike_are_refused() -> None:
    with pytest.raises(CalibrationError, match="nothing to fit"):
        ridge_logistic(np.zeros((2, 0)), n=np.array([4.0, 4.0]), mass=np.zeros(2))


def test_most_frequent_level_is_the_base_and_missing_is_a_level() -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y", None]})
    assert indicators(frame).tolist() == [[0, 0], [0, 0], [0, 1], [1, 0]]


def test_weights_restore_the_mix_of_all_exams() -> None:
    # 100 of 200 emergency X-rays are taken, 10 of 100 outpatient ones.
    group = np.repeat([0, 1], [200, 100])
    taken = np.concatenate([np.arange(200) < 100, np.arange(100) < 10])
    found = selection_weights(group[:, None].astype(float), taken, n=np.ones(300))
    weighted = [np.nansum(found[group == g]) for g in (0, 1)]
    assert weighted[0] / weighted[1] == pytest.approx(2.0, rel=0.05)
    assert np.isnan(found[~taken]).all()


def test_weight_is_capped() -> None:
    group = np.repeat([0, 1], [1000, 1000])
    taken = np.concatenate([np.ones(1000, bool), np.arange(1000) < 2])
    found = selection_weights(group[:, None].astype(float), taken, n=np.ones(2000))
    assert np.flatnonzero(found == 10.0).tolist() == [1000, 1001]
    assert np.nanmax(found) == 10.0


def test_everything_taken_weighs_one() -> None:
    found = selection_weights(np.zeros((3, 0)), np.ones(3, bool), n=np.ones(3))
    assert found.tolist() == [1.0, 1.0, 1.0]
