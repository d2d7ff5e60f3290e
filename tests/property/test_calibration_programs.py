"""Programs against brute force, and intervals against simulated truth."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.other_maps import brier_map, exact_error_map
from calibration.bins import phrase_bins
from calibration.curve import (
    calibration_error,
    curve_points,
    simultaneous_band,
)
from calibration.distributions import Beta
from calibration.phrase_calibration import phrase_error, phrase_error_interval
from calibration.substitution.programs import monotone_map
from calibration.survey import PhraseTable, builtin
from calibration.tally import Tally, tally

SETTINGS = settings(max_examples=40)
SCALE = builtin("diagnostic-certainty-scale")


def small_table(g: np.random.Generator) -> PhraseTable:
    fits = tuple(Beta(*g.uniform(0.5, 10.0, 2)) for _ in range(4))
    return PhraseTable("small", tuple("abcd"), fits, (None,) * 4)


@SETTINGS
@given(st.integers(0, 2**32 - 1))
def test_monotone_map_is_the_best_of_all_ordered_maps(seed: int) -> None:
    g = np.random.default_rng(seed)
    table = small_table(g)
    n = g.integers(1, 30, 4).astype(float)
    counted = Tally.from_moments(n, n * g.random(4))
    found = monotone_map(counted, phrase_table=table, prior_size=2.0)
    order = np.argsort(table.means)
    rate = (counted.label_mass + 2.0 * table.means) / (n + 2.0)
    loss = table.variances + table.means**2 - 2 * rate[:, None] * table.means + rate[:, None]
    best = min(
        sum(n[k] * loss[k, order[rank]] for k, rank in zip(order, ranks, strict=True))
        for ranks in itertools.combinations_with_replacement(range(4), 4)
    )
    assert found.objective * counted.total == pytest.approx(best, abs=1e-9)


@SETTINGS
@given(st.integers(0, 2**32 - 1))
def test_no_deterministic_map_beats_the_linear_program(seed: int) -> None:
    g = np.random.default_rng(seed)
    table = small_table(g)
    tables = phrase_bins(table.distributions, bins=10)
    n = g.integers(1, 30, 4).astype(float)
    counted = Tally.from_moments(n, n * g.random(4))
    found = exact_error_map(counted, phrases=table.phrases, source=tables, target=tables)
    for targets in itertools.product(range(4), repeat=4):
        w = np.eye(4)[list(targets)]
        error = calibration_error(n @ w, counted.label_mass @ w, tables=tables)
        assert found.objective <= float(error) + 1e-7


@SETTINGS
@given(st.integers(0, 2**32 - 1))
def test_endless_prior_makes_the_brier_map_ignore_the_data(seed: int) -> None:
    g = np.random.default_rng(seed)
    table = small_table(g)
    n = g.integers(1, 30, 4).astype(float)
    one, two = (
        brier_map(Tally.from_moments(n, n * g.random(4)), phrase_table=table, prior_size=1e12)
        for _ in range(2)
    )
    assert np.array_equal(one.weights(), two.weights())


def sample(rate: np.ndarray, size: int, g: np.random.Generator) -> Tally:
    phrase = g.integers(0, len(SCALE), size)
    label = (g.random(size) < rate[phrase]).astype(float)
    return tally(phrase, label, n_phrases=len(SCALE))


@pytest.mark.parametrize("size", [30, 300])
def test_interval_of_the_phrase_error_covers_a_calibrated_reader(size: int) -> None:
    g = np.random.default_rng(1)
    hits = 0
    for _ in range(60):
        counted = sample(SCALE.means, size, g)
        middle, low, high = phrase_error_interval(counted, means=SCALE.means, replicates=100, rng=g)
        assert low <= float(phrase_error(counted.n, counted.label_mass, means=SCALE.means)) + 1e-9
        assert low <= middle <= high
        hits += low == 0.0
        assert high > 0.0
    assert hits >= 54  # 95 % of 60 is 57; below 54 has probability 3 %


@pytest.mark.parametrize("off", [["likely"], ["unlikely", "possibly"], SCALE.phrases])
@pytest.mark.parametrize("size", [100, 1000])
def test_interval_of_the_phrase_error_covers_however_many_phrases_are_off(
    off: Sequence[str], size: int
) -> None:
    """Of the phrases that are off, those below one half are right more often, the rest less."""
    g = np.random.default_rng(3)
    wrong = np.isin(SCALE.phrases, off)
    rate = np.where(wrong, 0.5 + 0.6 * (SCALE.means - 0.5), SCALE.means)
    use = np.where(wrong, 6.0, 1.0) / np.where(wrong, 6.0, 1.0).sum()
    truth, held = float(use @ np.abs(rate - SCALE.means)), 0
    for _ in range(60):
        n = g.multinomial(size, use)
        counted = Tally.from_moments(n, g.binomial(n, rate))
        _, low, high = phrase_error_interval(counted, means=SCALE.means, replicates=100, rng=g)
        held += low <= truth <= high
    assert held >= 53  # 95 % of 60 is 57; below 53 has probability 1 %


@pytest.mark.parametrize("size", [30, 300])
def test_simultaneous_band_holds_the_whole_true_curve(size: int) -> None:
    g = np.random.default_rng(2)
    rate = 0.5 + 0.6 * (SCALE.means - 0.5)
    tables = phrase_bins(SCALE.distributions)
    use = np.ones(len(SCALE))
    truth, _, _ = curve_points(use, rate, tables=tables)
    hits = 0
    for _ in range(60):
        counted = sample(rate, size, g)
        low, high = simultaneous_band(
            counted.n, counted.label_mass, tables=tables, replicates=100, rng=g
        )
        hits += bool(np.all((low <= truth) & (truth <= high)))
    assert hits >= 53


def test_nothing_observed_gives_no_interval_and_no_band() -> None:
    nothing = np.zeros(len(SCALE))
    g = np.random.default_rng(0)
    ends = phrase_error_interval(Tally.empty(len(SCALE)), means=SCALE.means, replicates=50, rng=g)
    assert np.isnan(ends).all()
    tables = phrase_bins(SCALE.distributions)
    band = simultaneous_band(nothing, nothing, tables=tables, replicates=50, rng=g)
    assert np.isnan(band).all()
