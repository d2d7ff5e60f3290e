"""Rounding for print: bounded, blind within its classes, and never across a minimum or from 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibration.profile import AtomJudgement, Interval, PhraseRate, Swap
from calibration.profile.shown import VISIBLE, reaches
from calibration.rounding import BASE, STEP, counted, estimated, measured, part, rounded
from calibration.tally import Tally
from reports.rounded import profile as rounded_profile
from tests.fixtures.reports import sample_profiles as samples

counts = st.lists(
    st.integers(0, 3000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    min_size=1,
    max_size=12,
)


def drawn(rows: list[tuple[int, int]]) -> Tally:
    cells = np.array([(n - y, y) for n, y in rows], dtype=float)
    return Tally(np.array([0.0, 1.0]), cells)


@given(counts)
def test_a_rounded_tally_is_near_the_exact_one_and_rounding_it_again_changes_nothing(
    rows: list[tuple[int, int]],
) -> None:
    exact = drawn(rows)
    shown = rounded(exact)
    assert np.all(np.abs(shown.n - exact.n) <= BASE // 2)
    assert ((shown.n == 0) == (exact.n == 0)).all()
    used = exact.n > 0
    off = shown.label_mass[used] / shown.n[used] - exact.label_mass[used] / exact.n[used]
    assert np.all(np.abs(off) <= STEP / 2 / shown.n[used] + 1e-9)
    assert np.array_equal(rounded(shown).counts, shown.counts)


@given(n=st.integers(1, 5000), minimum=st.integers(1, 20).map(lambda k: BASE * k))
def test_no_count_crosses_a_minimum(n: int, minimum: int) -> None:
    assert (counted(n) >= minimum) == (n >= minimum)


@given(n=st.integers(BASE, 3000))
def test_a_positive_among_negatives_cannot_be_told_from_none(n: int) -> None:
    for y in (0, 1):
        assert rounded(drawn([(n, y)])).label_mass[0] in (0.0, STEP)
    whole = BASE * (n // BASE)
    alike = {tuple(rounded(drawn([(m, y)])).counts[0]) for m in range(whole, whole + BASE)
             for y in (0, 1)}  # fmt: skip
    assert len(alike) == 1


def test_withheld_numbers_stay_withheld() -> None:
    assert np.isnan(counted(np.nan))
    assert np.isnan(measured(np.nan, 30))
    assert np.isnan(part(np.nan, 30))


def posterior(n: int, y: int, prior: tuple[float, float]) -> tuple[float, tuple[float, float]]:
    """Mean and 95 % interval of a rate under a Beta prior, in place of a model's."""
    found = stats.beta(prior[0] + y, prior[1] + n - y)
    return float(found.mean()), (float(found.ppf(0.025)), float(found.ppf(0.975)))


priors = st.sampled_from([(2.0, 2.0), (4.0, 16.0), (10.0, 10.0), (1.0, 20.0), (8.0, 3.0)])


@given(n=st.integers(20, 600), share=st.floats(0.0, 1.0), prior=priors)
def test_an_estimate_is_printed_inside_its_interval_and_near_itself(
    n: int, share: float, prior: tuple[float, float]
) -> None:
    rate, (low, high) = posterior(n, round(n * share), prior)
    value, least, most = estimated(rate, (low, high), n)
    assert low <= value <= high
    assert abs(value - rate) <= STEP / n + 0.005
    assert 0.0 < least < value < most < 1.0


def test_a_rate_is_printed_no_coarser_than_three_statements_and_a_rung_ask_for() -> None:
    # Three of these 24 statements move the rate by ten points and a half: multiples of twelve.
    value, low, high = estimated(0.815, (0.633, 0.919), 24, beside=(0.967,))
    assert round(value, 9) == 0.84
    assert low < 0.815 < high


def test_few_statements_more_or_less_print_the_same_estimate() -> None:
    alike = []
    for prior in ((2.0, 2.0), (4.0, 16.0), (10.0, 10.0), (8.0, 3.0)):
        for n in (20, 35, 90, 400):
            drawn_rates = [posterior(n, y, prior) for y in range(n + 1)]
            printed = [
                tuple(round(100 * x) for x in estimated(rate, limits, n))
                for rate, limits in drawn_rates
            ]
            alike += [printed.count(each) for each in printed]
    assert np.mean(alike) > STEP
    assert np.mean(np.array(alike) == 1) < 0.12


@given(
    n=st.integers(20, 600), share=st.floats(0.0, 1.0), prior=priors, beside=st.floats(0.02, 0.98)
)
def test_an_interval_holds_what_a_word_says_after_rounding_exactly_where_it_did_before(
    n: int, share: float, prior: tuple[float, float], beside: float
) -> None:
    """Longer intervals reached words that the exact ones missed, and swaps were lost by it."""
    rate, (low, high) = posterior(n, round(n * share), prior)
    value, least, most = estimated(rate, (low, high), n, beside=(beside,))
    assert least <= value <= most
    if low <= beside <= high:
        assert least <= beside <= most
    elif abs(value - beside) > 0.02:
        assert not least <= beside <= most


@given(
    rate=st.floats(0.05, 0.95), meaning=st.floats(0.05, 0.95), doubt=st.floats(0.0, 0.1),
    wide=st.floats(0.1, 0.8), n=st.integers(20, 300),
)  # fmt: skip
def test_rounding_leaves_a_word_as_far_off_as_it_was_of_what_its_survey_leaves_open(
    rate: float, meaning: float, doubt: float, wide: float, n: int
) -> None:
    word = PhraseRate("likely", n, rate, samples.around(rate, wide), meaning, doubt=doubt)
    reader = replace(samples.profile_of(np.random.default_rng(1)), phrases=(word,))
    (shown,) = rounded_profile(reader).phrases
    if abs(abs(rate - meaning) - doubt) > VISIBLE:
        assert reaches(shown) == reaches(word)


@given(
    rate=st.floats(0.05, 0.95), meaning=st.floats(0.05, 0.95), doubt=st.floats(0.0, 0.1),
    wide=st.floats(0.1, 0.8), n=st.integers(20, 300),
)  # fmt: skip
def test_a_card_and_the_chart_print_one_interval_of_a_word_that_holds_its_meaning_as_before(
    rate: float, meaning: float, doubt: float, wide: float, n: int
) -> None:
    """A card said 4 % (1–8 %) where the chart below it drew 1–17 %."""
    at = samples.around(rate, wide)
    word = PhraseRate("likely", n, rate, at, meaning, doubt=doubt)
    swap = Swap("likely", None, "unlikely", n, rate, at, meaning, 0.1, 0.95, Interval(0.1, 0, 0.2))
    reader = replace(samples.profile_of(np.random.default_rng(1)), phrases=(word,), advice=(swap,))
    shown = rounded_profile(reader)
    assert shown.advice[0].rate == shown.phrases[0].rate
    if abs(rate - meaning) > 2 * VISIBLE and not at.low <= meaning <= at.high:
        assert not shown.advice[0].rate.low <= meaning <= shown.advice[0].rate.high


def _absent(wrong: float, expected: float, low: float, *, others: float = 4000.0) -> AtomJudgement:
    drawn = samples.profile_of(np.random.default_rng(1))
    rate = Interval(wrong / 109, low, 2 * wrong / 109)
    found = replace(
        drawn.absent, n=109.0, wrong=wrong, positive=wrong, expected=expected, rate=rate,
        expected_wrong=expected, state="more often", others=others,
    )  # fmt: skip
    return rounded_profile(replace(drawn, absent=found)).absent


def test_what_others_lead_to_expect_is_printed_in_whole_cases_and_not_in_own_steps() -> None:
    """Of 107 statements it was 3 for 1.6 to 4.4: as much as lies between others and the reader."""
    assert [_absent(12.0, each, 0.08).expected_wrong for each in (1.7, 4.3)] == [2.0, 4.0]
    # Three of the others' statements are never told apart: of 30 others 11 cases are one step.
    assert {_absent(40.0, each, 0.3, others=30.0).expected_wrong for each in (6.0, 15.0)} == {11.0}


def test_present_and_absent_are_off_only_where_the_printed_interval_misses_what_is_expected() -> (
    None
):
    assert _absent(12.0, 4.3, 0.06).state == "more often"
    assert _absent(6.0, 3.6, 0.035).state == "as others"
