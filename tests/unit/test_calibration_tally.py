"""Counting, resampling and refusing bad observations."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.errors import CalibrationError, TallyError
from calibration.estimate import (
    Options,
    cluster_moments,
    interval,
    multinomial_moments,
    null_moments,
)
from calibration.tally import Tally, tally, tally_groups


def test_counts_and_label_mass_are_sums_over_observations() -> None:
    counted = tally([0, 0, 2, 2, 2], [1.0, 0.0, 0.25, 0.25, 1.0], n_phrases=3)
    assert counted.n.tolist() == [2.0, 0.0, 3.0]
    assert counted.label_mass.tolist() == [1.0, 0.0, 1.5]
    assert counted.total == 5.0


def test_weights_count_as_repeats() -> None:
    weighted = tally([0, 1], [1.0, 0.5], n_phrases=2, weight=[3.0, 2.0])
    repeated = tally([0, 0, 0, 1, 1], [1.0, 1.0, 1.0, 0.5, 0.5], n_phrases=2)
    assert np.array_equal(weighted.counts, repeated.counts)


def test_groups_are_counted_in_one_pass() -> None:
    groups = tally_groups([1, 0, 1], [0, 1, 1], [1.0, 0.0, 0.3], n_groups=3, n_phrases=2)
    assert groups.group(0).n.tolist() == [0.0, 1.0]
    assert groups.group(1).label_mass.tolist() == [1.0, 0.3]
    assert groups.group(2).total == 0.0
    assert groups.group(1).n.tolist() == [1.0, 1.0]


def test_a_million_groups_of_one_observation_are_counted() -> None:
    size = 1_000_000
    groups = tally_groups(
        np.arange(size), np.arange(size) % 19, np.arange(size) % 2, n_groups=size, n_phrases=19
    )
    assert groups.group(size - 1).total == 1.0
    assert groups.pooled().total == size


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([0.0, 1.4, 2.0], r"2 of 3 values are outside \[0, 1\] or missing; first at row 1 \(1.4\)"),
        ([0.0, np.nan, 1.0], r"1 of 3 values are outside \[0, 1\] or missing; first at row 1"),
        ([-0.1, 0.0, 1.0], "first at row 0"),
    ],
)
def test_labels_that_cannot_be_used_are_counted_and_placed(
    label: list[float], message: str
) -> None:
    with pytest.raises(TallyError, match=message):
        tally([0, 0, 0], label, n_phrases=1)


def test_unknown_phrase_index_is_refused_with_its_row() -> None:
    with pytest.raises(TallyError, match=r"1 of 2 values are outside 0\.\.2; first at row 1 \(3\)"):
        tally([0, 3], [0.0, 1.0], n_phrases=3)


def test_shapes_weights_and_types_are_checked() -> None:
    with pytest.raises(TallyError, match="1 values for 2 phrases"):
        tally([0, 0], [1.0], n_phrases=1)
    with pytest.raises(TallyError, match="negative or not finite"):
        tally([0, 0], [1.0, 0.0], n_phrases=1, weight=[1.0, np.inf])
    with pytest.raises(TallyError, match="array of integers"):
        tally([0.5], [1.0], n_phrases=1)
    with pytest.raises(TallyError, match="n_phrases: -1 is not a whole number from 0"):
        tally([], [], n_phrases=-1)
    with pytest.raises(TallyError, match="n_phrases: '3' is not a whole number"):
        Tally.empty("3")  # type: ignore[arg-type]
    with pytest.raises(TallyError, match=r"label values must lie in \[0, 1\]"):
        Tally(np.array([0.0, 2.0]), np.ones((1, 2)))
    with pytest.raises(CalibrationError, match="weight: not an array of numbers"):
        tally([0], [1.0], n_phrases=1, weight=["one"])


def test_unusable_numbers_of_bins_and_replicates_are_refused_where_they_are_given() -> None:
    with pytest.raises(CalibrationError, match=r"bins: 2\.5 is not a whole number from 1"):
        Options(bins=2.5)  # type: ignore[arg-type]
    with pytest.raises(CalibrationError, match="bootstrap: -1 is not a whole number from 0"):
        Options(bootstrap=-1)


def test_empty_observations_give_an_empty_tally() -> None:
    counted = tally(np.array([], dtype=int), np.array([]), n_phrases=4)
    assert counted.total == 0.0
    assert counted.n.shape == (4,)


def test_tallies_of_different_phrase_tables_cannot_be_added() -> None:
    with pytest.raises(TallyError, match="2 phrases cannot be added to 3"):
        Tally.empty(2) + Tally.empty(3)


def test_bootstrap_keeps_the_total_and_the_expectation() -> None:
    counted = tally([0, 0, 0, 1, 1, 2], [1, 0, 0, 1, 1, 0], n_phrases=3)
    n, mass = multinomial_moments(counted, replicates=20_000, rng=np.random.default_rng(0))
    assert np.all(n.sum(axis=1) == 6.0)
    assert np.allclose(n.mean(axis=0), counted.n, atol=0.05)
    assert np.allclose(mass.mean(axis=0), counted.label_mass, atol=0.05)
    # n_0 is Binomial(6, 1/2): variance 1.5
    assert n[:, 0].var() == pytest.approx(1.5, rel=0.05)


def test_patients_are_resampled_whole() -> None:
    # two patients of three observations each: n is 6 in every replicate, in steps of 3 per phrase
    patients = tally_groups(
        [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 1], n_groups=2, n_phrases=2
    )
    n, mass = cluster_moments(patients, replicates=500, rng=np.random.default_rng(0))
    assert set(n[:, 0].tolist()) == {0.0, 3.0, 6.0}
    assert set(mass[:, 0].tolist()) == {0.0, 2.0, 4.0}


def test_single_observation_patients_give_the_multinomial_bootstrap() -> None:
    rng = np.random.default_rng(3)
    phrase, label = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    patients = tally_groups(np.arange(60), phrase, label, n_groups=60, n_phrases=3)
    clustered, _ = cluster_moments(patients, replicates=4000, rng=rng)
    plain, _ = multinomial_moments(patients.pooled(), replicates=4000, rng=rng)
    assert np.allclose(clustered.var(axis=0), plain.var(axis=0), rtol=0.1)


def test_null_labels_are_drawn_at_the_phrases_means() -> None:
    mass = null_moments(
        np.array([100.0, 10.0]),
        np.array([0.3, 0.9]),
        replicates=5000,
        rng=np.random.default_rng(0),
    )
    assert mass.mean(axis=0) == pytest.approx([30.0, 9.0], rel=0.01)


def test_interval_rules_differ_where_the_replicates_are_biased() -> None:
    replicates = np.arange(1001) / 1000.0
    assert interval(0.2, replicates, rule="percentile") == pytest.approx((0.025, 0.975))
    assert interval(0.2, replicates, rule="basic") == pytest.approx((-0.575, 0.375))
    low, high = interval(0.2, replicates, rule="bias-corrected")
    assert low < 0.025
    assert high < 0.975


def test_weights_of_groups_count_in_uses_as_in_label_mass() -> None:
    # group 0: 0.5 · phrase 0 with label 1; group 1: 2 · phrase 1 with label .25, 0 · phrase 0
    groups = tally_groups(
        [0, 1, 1], [0, 1, 0], [1.0, 0.25, 1.0], n_groups=2, n_phrases=2, weight=[0.5, 2.0, 0.0]
    )
    counted = [groups.group(number) for number in range(2)]
    assert [each.n.tolist() for each in counted] == [[0.5, 0.0], [0.0, 2.0]]
    assert [each.label_mass.tolist() for each in counted] == [[0.5, 0.0], [0.0, 0.5]]


def test_groups_in_the_middle_are_kept_as_they_were_and_renumbered() -> None:
    groups = tally_groups(
        [0, 1, 1, 2, 3], [0, 1, 0, 1, 0], [1.0, 0.0, 0.5, 1.0, 0.0], n_groups=4, n_phrases=2
    )
    inside = groups.slice_groups(1, 3)
    for number in range(2):
        assert np.array_equal(inside.group(number).counts, groups.group(number + 1).counts)
    assert inside.pooled().total == 3.0


def test_a_tally_as_plain_data_is_its_uses_and_label_mass() -> None:
    counted = tally([0, 2, 2], [1.0, 0.0, 0.5], n_phrases=3)
    plain = counted.to_plain()
    assert list(plain) == ["counts", "label_mass"]
    assert [list(values) for values in plain.values()] == [[1.0, 0.0, 2.0], [1.0, 0.0, 0.5]]


def test_tallies_are_summed_from_0_and_from_nothing_else() -> None:
    counted = tally([0], [1.0], n_phrases=1)
    assert sum([counted, counted]).total == 2.0
    with pytest.raises(TypeError):
        sum([counted], start=1)
    assert Tally.empty(2).label_values.tolist() == [0.0, 1.0]
    assert Tally.from_moments([3, 1], [1, 1]).counts.dtype == np.float64


def test_what_cannot_be_counted_is_told_in_words() -> None:
    with pytest.raises(TallyError, match=r"^label: not an array of numbers; give one\.$"):
        tally([0], ["yes"], n_phrases=1)
    with pytest.raises(TallyError, match=r"^label: expected a flat array"):
        tally([0], [[1.0]], n_phrases=1)
    with pytest.raises(TallyError, match=r"^weight: 2 values for 1 observations\.$"):
        tally([0], [1.0], n_phrases=1, weight=[1.0, 1.0])
    with pytest.raises(TallyError, match=r"^weight: 1 of 2 values are negative or not finite"):
        tally([0, 0], [1.0, 1.0], n_phrases=1, weight=[1.0, -0.5])
    assert tally([0, 0], [True, False], n_phrases=1).label_mass.tolist() == [1.0]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.ones(2), r"^Tally: counts have shape \(2,\), expected \(phrases, 2\)\.$"),
        (np.ones((2, 3)), r"^Tally: counts have shape \(2, 3\), expected \(phrases, 2\)\.$"),
        (np.ones((1, 2, 2)), r"^Tally: counts have shape \(1, 2, 2\), expected"),
        (np.array([[1.0, -1.0]]), r"^Tally: counts must be finite and not negative\.$"),
        (np.array([[1.0, np.inf]]), r"^Tally: counts must be finite and not negative\.$"),
    ],
)
def test_counts_that_are_no_tally_are_refused(counts: np.ndarray, message: str) -> None:
    with pytest.raises(TallyError, match=message):
        Tally(np.array([0.0, 1.0]), counts)


def test_which_of_the_two_indices_is_wrong_is_told() -> None:
    counts = {"n_groups": 2, "n_phrases": 2}
    with pytest.raises(TallyError, match=r"^phrase_index: 1 of 1 values are outside 0\.\.1"):
        tally_groups([0], [2], [1.0], **counts)
    with pytest.raises(TallyError, match=r"^group_index: 1 of 1 values are outside 0\.\.1"):
        tally_groups([2], [0], [1.0], **counts)
    with pytest.raises(TallyError, match=r"^group_index: 2 values for 1 phrases\.$"):
        tally_groups([0, 1], [0], [1.0], **counts)


def test_labels_of_two_tallies_that_neither_shares_stand_side_by_side() -> None:
    """Labels 0 and ½ beside ½ and 1: the two uses at ½ add up."""
    first = tally([0, 0], [0.0, 0.5], n_phrases=1)
    both = first + tally([0, 0], [0.5, 1.0], n_phrases=1)
    assert both.label_values.tolist() == [0.0, 0.5, 1.0]
    assert both.counts.tolist() == [[1.0, 2.0, 1.0]]


def test_masked_entries_are_missing_not_counted() -> None:
    hidden = np.ma.array([0.0, 1.0], mask=[True, False])
    with pytest.raises(TallyError, match=r"label: 1 of 2 values .* missing"):
        tally([0, 1], hidden, n_phrases=2)
    with pytest.raises(TallyError, match="weight: 1 of 2 values"):
        tally([0, 1], [0, 1], n_phrases=2, weight=hidden)
    with pytest.raises(TallyError, match="phrase_index: 1 of 2 values"):
        tally(np.ma.array([0, 1], mask=[True, False]), [0, 1], n_phrases=2)
