"""The profile's model: modes, covariances and decisions that can be checked by hand or by force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import multivariate_normal

from calibration.distributions import Beta
from calibration.errors import CalibrationError
from calibration.profile import profile
from calibration.profile.atoms import AtomCounts
from calibration.profile.design import CURVE, Counts, Scales, linear_predictor
from calibration.profile.habits import Far, HabitFit, fit_with_habits, without_word
from calibration.profile.line import Lines, lines
from calibration.profile.model import find_mode
from calibration.profile.pattern import Case
from calibration.profile.rates import Rate, cell_rates, phrase_rates, posterior
from calibration.profile.readings import whole_rates
from calibration.profile.results import Part, Shared
from calibration.profile.rows import read_rows
from calibration.profile.settings import Priors, ProfileSettings
from calibration.profile.shared import (
    Common,
    Evidence,
    Instruments,
    instrument,
    instruments,
    shared_line,
)
from calibration.profile.swaps import Choices, nearer
from calibration.profile.tables import Correlation, dispersion, effective, hedged
from calibration.profile.variances import Deviations, Fitted, Habits, fit, refit
from calibration.profile.vocabulary import vocabulary
from calibration.regression import expected_line
from calibration.survey import PhraseTable
from tests.fixtures.department import SCALE, department

MEANING = logit(np.array([0.1, 0.3, 0.6, 0.9]))


def small(seed: int = 0) -> tuple[Counts, Scales]:
    """Three readers, two findings, four phrases and one habit column."""
    g = np.random.default_rng(seed)
    n = g.integers(0, 30, (3, 2, 4)).astype(float)
    mass = g.binomial(n.astype(int), 0.4).astype(float)
    counts = Counts(n, mass, MEANING, np.zeros(4))
    width = counts.size + 1
    cell = np.array([[5], [-1], [-1]])
    return counts, Scales(
        theta=np.full(counts.size, 4.0),
        reader=np.full((3, width), 9.0),
        cell=cell,
        habit_mean=np.zeros((3, width)),
        remainder=np.array([0.04, 0.02, 0.09]).reshape(3, 1, 1),
    )


def log_posterior(counts: Counts, scales: Scales, packed: np.ndarray) -> float:
    """Write down the density plainly: every coordinate and every remainder at once."""
    size, width = counts.size, scales.reader.shape[1]
    theta, rest = packed[:size], packed[size:]
    reader, remainder = rest[: 3 * width].reshape(3, width), rest[3 * width :].reshape(3, 2, 4)
    total = reader.copy()
    total[:, :size] += theta
    eta = linear_predictor(counts, scales, total) + remainder
    likelihood = (counts.mass * eta - counts.n * np.logaddexp(0.0, eta)).sum()
    prior = (scales.theta * theta**2).sum() + (scales.reader * reader**2).sum()
    return float(likelihood - (prior + (remainder**2 / scales.remainder).sum()) / 2.0)


def test_mode_is_where_a_plain_optimiser_finds_it() -> None:
    counts, scales = small()
    mode = find_mode(counts, scales)
    size, width = counts.size, scales.reader.shape[1]
    start = np.zeros(size + 3 * width + 24)
    plain = minimize(
        lambda p: -log_posterior(counts, scales, p), start, method="BFGS", options={"gtol": 1e-6}
    )
    assert mode.converged
    assert mode.gradient < 1e-6
    assert mode.theta == pytest.approx(plain.x[:size], abs=1e-4)
    assert mode.reader.ravel() == pytest.approx(plain.x[size : size + 3 * width], abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_mode_of_misread_words_is_where_a_plain_optimiser_finds_it(seed: int) -> None:
    """Cells of all-positive and all-negative labels included: no misreading alone explains them."""
    counts, scales = small(seed)
    g = np.random.default_rng(seed)
    mass = np.where(g.random(counts.n.shape) < 0.5, g.integers(0, 2, counts.n.shape), 0.3)
    wrong, other = np.full((3, 1, 4), 0.2), np.full((3, 2, 1), 0.6)
    counts = replace(counts, mass=mass * counts.n, misread=wrong, elsewhere=other)
    scales = replace(scales, reader=np.full_like(scales.reader, 0.5))
    mode = find_mode(counts, scales)
    size, width = counts.size, scales.reader.shape[1]

    def density(packed: np.ndarray) -> float:
        theta, rest = packed[:size], packed[size:]
        reader, h = rest[: 3 * width].reshape(3, width), rest[3 * width :].reshape(3, 2, 4)
        total = reader.copy()
        total[:, :size] += theta
        p = 1.0 / (1.0 + np.exp(-linear_predictor(counts, scales, total) - h))
        seen = 0.8 * p + 0.2 * 0.6
        fits = counts.mass * np.log(seen) + (counts.n - counts.mass) * np.log(1.0 - seen)
        prior = (scales.theta * theta**2).sum() + (scales.reader * reader**2).sum()
        return float(fits.sum() - (prior + (h**2 / scales.remainder).sum()) / 2.0)

    packed = np.concatenate([mode.theta, mode.reader.ravel(), mode.remainder.ravel()])
    plain = minimize(lambda p: -density(p), packed, method="BFGS", options={"gtol": 1e-6})
    assert mode.converged
    assert density(packed) == pytest.approx(-plain.fun, abs=1e-6)
    assert packed == pytest.approx(plain.x, abs=1e-2)


def test_block_covariance_is_the_inverse_of_the_whole_curvature() -> None:
    counts, scales = small()
    mode = find_mode(counts, scales)
    size, width = counts.size, scales.reader.shape[1]
    whole = np.zeros((size + 3 * width, size + 3 * width))
    whole[:size, :size] = np.diag(scales.theta) + mode.information[:, :size, :size].sum(axis=0)
    for r in range(3):
        at = slice(size + r * width, size + (r + 1) * width)
        whole[at, at] = mode.information[r] + np.diag(scales.reader[r])
        whole[at, :size] = mode.information[r][:, :size]
        whole[:size, at] = whole[at, :size].T
    inverse = np.linalg.inv(whole)
    assert mode.theta_covariance == pytest.approx(inverse[:size, :size], abs=1e-10)
    assert mode.reader_variance().ravel() == pytest.approx(np.diag(inverse)[size:], abs=1e-10)


def test_bend_and_twist_are_at_right_angles_to_what_is_lower_and_of_mean_square_one() -> None:
    curve = small()[0].curve
    assert curve.shape == (4, CURVE)
    assert curve[:, 2] @ curve[:, :2] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert curve[:, 3] @ curve[:, :3] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert np.mean(curve[:, 2:] ** 2, axis=0) == pytest.approx([1.0, 1.0])


def test_a_reader_whose_findings_scatter_has_a_scale_of_his_own_and_widens_no_other_s() -> None:
    g = np.random.default_rng(0)
    effect = 0.05 * g.normal(size=(6, 8, 1))
    effect[2] = 0.8 * g.normal(size=(8, 1))
    n = np.full((6, 8, 4), 120.0)
    counts = Counts(n, n * expit(MEANING + effect), MEANING, np.zeros(4))
    found = fit(counts, priors=Priors()).held
    kind = Deviations.__slots__.index("reader_finding")
    assert found.tails[2, kind] < 0.1
    assert np.delete(found.tails[:, kind], 2).min() > 0.8
    assert found.deviations.reader_finding < 0.12
    assert found.spread[2, kind] ** 0.5 > 0.3


def test_three_phrases_show_no_twist_and_two_no_bend() -> None:
    counts = small()[0]
    for phrases in (3, 2):
        curve = replace(counts, meaning=MEANING[:phrases]).curve
        assert np.ptp(curve[:, phrases - 1]) > 0.0
        assert not curve[:, phrases:].any()


def rows_of(patients: list[str], labels: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "reader": "a",
            "phrase": "likely",
            "pathology": "effusion",
            "patient": patients,
            "label": labels,
        }
    )


def test_three_exams_of_a_patient_count_as_their_correlation_says() -> None:
    rows = read_rows(rows_of(["p", "p", "p", "q"], [1, 1, 1, 0]), table=SCALE)
    weight = effective(rows, between=Correlation(0.5, 0.1), spread=np.ones((1, len(SCALE))))
    # 1 / (1 + .5 · 2) for each of the three, 1 for the one alone.
    assert weight.tolist() == [0.5, 0.5, 0.5, 1.0]


def test_hard_labels_have_dispersion_one_and_soft_ones_less() -> None:
    hard = read_rows(rows_of(list("abcd"), [1, 0, 0, 1]), table=SCALE)
    soft = read_rows(rows_of(list("abcd"), [0.9, 0.1, 0.1, 0.9]), table=SCALE)
    k = SCALE.index("likely")
    assert dispersion(hard, phrases=len(SCALE))[0, k] == pytest.approx(1.0)
    # Σ (y − ½)² = 4 · .16 against 4 · .25 for hard labels of the same mean.
    assert dispersion(soft, phrases=len(SCALE))[0, k] == pytest.approx(0.64)


def test_plain_labels_are_no_surer_for_colleagues_whose_are_soft() -> None:
    """400 uses each of mean ½: soft ones .64, plain ones 1, drawn by 50 uses toward .82 of all."""
    plain = rows_of([f"p{i}" for i in range(400)], [1.0, 0.0] * 200)
    soft = plain.assign(reader="b", label=0.1 + 0.8 * plain["label"])
    rows = read_rows(pd.concat([plain, soft]), table=SCALE)
    own, others = dispersion(rows, phrases=len(SCALE))[:, SCALE.index("likely")]
    first = (400 + 50 * 0.82) / 450
    assert own == pytest.approx((400 + 50 * first) / 450)
    assert others < 0.67


def test_a_table_of_one_column_is_told_how_its_columns_are_separated() -> None:
    frame = pd.DataFrame({"reader;phrase;label": ["r1;likely;1"]})
    with pytest.raises(CalibrationError, match="named with ';': separate columns with commas"):
        read_rows(frame, table=SCALE)


def test_missing_label_is_named_by_row() -> None:
    frame = rows_of(["p", "q"], [1.0, np.nan])
    with pytest.raises(CalibrationError, match=r"label: 1 of 2 values are missing.*row 2"):
        read_rows(frame, table=SCALE)


@pytest.mark.parametrize("column", ["reader", "patient", "pathology"])
def test_blank_name_is_an_error_and_not_one_more_name(column: str) -> None:
    frame = rows_of(["p", "q"], [1.0, 0.0])
    frame[column] = ["x", " "]
    with pytest.raises(CalibrationError, match=f"{column}: 1 of 2 values are missing"):
        read_rows(frame, table=SCALE)


def test_phrases_are_known_whatever_their_capitals_and_unknown_ones_are_counted() -> None:
    frame = rows_of(["p", "q", "s"], [1.0, 0.0, 1.0]).assign(
        phrase=["Likely", "hmm", "LIKELY "], count=[1, 4, 2]
    )
    rows = read_rows(frame, table=SCALE)
    assert rows.unmapped == {"hmm": 4}
    assert rows.count.tolist() == [1.0, 2.0]


def test_exams_are_counted_by_name_or_as_few_as_the_statements_need() -> None:
    frame = pd.DataFrame(
        {
            "reader": ["a"] * 4,
            "phrase": ["likely"] * 4,
            "label": [0.0] * 4,
            "pathology": ["x", "x", "y", "x"],
            "patient": ["p", "p", "p", "q"],
        }
    )
    # Patient p has "x" twice, so two exams at least; q has one.
    assert read_rows(frame, table=SCALE).exams.tolist() == [3]
    named = frame.assign(exam=["1", "2", "3", "4"])
    assert read_rows(named, table=SCALE).exams.tolist() == [4]


def test_probability_of_a_rectangle_is_the_bivariate_normal_one() -> None:
    covariance = np.array([[0.04, 0.01], [0.01, 0.02]])
    evidence = Evidence(np.array([0.1, -0.2]), covariance)
    law = multivariate_normal(evidence.mean, covariance)
    corners = [(0.5, 0.4, 1), (-0.5, 0.4, -1), (0.5, -0.3, -1), (-0.5, -0.3, 1)]
    exact = sum(sign * law.cdf([x, y]) for x, y, sign in corners)
    assert evidence.inside((-0.5, 0.5), (-0.3, 0.4)) == pytest.approx(exact, abs=1e-6)


NOTHING_DONE = Common(np.zeros((1, 2)), np.ones(1))


def soundness(parts: set[str], shift: float, slope: float, usual: float) -> bool:
    """Say plainly whether parts are sound of a line: margins .2 and .15, halves .1 and .075."""
    ends = sorted((shift, shift + usual * slope))
    near = {
        "overcalls": ends[0] < -0.1, "undercalls": ends[1] > 0.1,
        "too sure": slope < -0.075, "too cautious": slope > 0.075,
    }  # fmt: skip
    beyond = {
        "overcalls": ends[0] < -0.2, "undercalls": ends[1] > 0.2,
        "too sure": slope < -0.15, "too cautious": slope > 0.15,
    }  # fmt: skip
    return all(near[part] for part in parts) and any(beyond[part] for part in parts)


@pytest.mark.parametrize(
    ("shift", "slope", "stated"),
    [
        (0.45, -0.05, {"undercalls"}),
        (-0.5, 0.0, {"overcalls"}),
        (0.05, -0.45, {"too sure"}),
        (0.6, 0.5, {"undercalls", "too cautious"}),
    ],
)
def test_what_is_stated_is_sound_as_often_as_plain_draws_say(
    shift: float, slope: float, stated: set[str]
) -> None:
    mean, covariance = np.array([shift, slope]), np.array([[0.02, 0.004], [0.004, 0.01]])
    case = Case(Evidence(mean, covariance), 0.7, NOTHING_DONE, (), hedges=500.0, exams=200)
    found = case.stated(ProfileSettings())
    assert set(found.own) == stated
    draws = np.random.default_rng(3).multivariate_normal(mean, covariance, 20_000)
    plain = np.mean([soundness(stated, x, y, 0.7) for x, y in draws.tolist()])
    assert found.sound == pytest.approx(plain, abs=0.02)


@pytest.mark.parametrize(
    ("shift", "usual", "stated"),
    [
        (-0.25, 0.0, ("too sure",)),
        (-0.65, 0.0, ("overcalls", "too sure")),
        # At the usual word .65 - 1.2 · .4 = .17 are left of it, and then the other side.
        (-0.65, -1.2, ("overcalls", "too sure")),
        (-0.65, -2.4, ("too sure",)),
    ],
)
def test_shift_beside_a_slope_is_said_where_even_odds_show_it(
    shift: float, usual: float, stated: tuple[Part, ...]
) -> None:
    evidence = Evidence(np.array([shift, -0.4]), np.diag([0.04**2, 0.04**2]))
    case = Case(evidence, usual, NOTHING_DONE, (), 500.0, 200)
    assert case.stated(ProfileSettings()).own == stated


def test_reader_judged_before_is_told_anew_only_if_surer_and_hears_on_what_stands() -> None:
    def told(slope: float, before: tuple[Part, ...] | None) -> tuple[Part, ...]:
        evidence = Evidence(np.array([0.0, slope]), np.diag([0.05**2, 0.08**2]))
        case = Case(evidence, 0.0, NOTHING_DONE, (), 500.0, 200, before=before)
        return case.stated(ProfileSettings()).own

    # P(slope < .85) is .65, .92 and .98.
    sure, slopes = ("too sure",), (-0.18, -0.26, -0.31)
    assert [told(s, None) for s in slopes] == [(), sure, sure]
    assert [told(s, ()) for s in slopes] == [(), (), sure]
    assert [told(s, sure) for s in slopes] == [sure, sure, sure]
    assert told(-0.16, sure) == ()
    assert told(0.4, sure) == ("too cautious",)


def test_shift_that_a_plausible_ordering_explains_is_stated_only_when_surer() -> None:
    def told(shift: float, sd: float) -> tuple[Part, ...]:
        evidence = Evidence(np.array([shift, 0.0]), np.diag([sd**2, 0.04**2]))
        return Case(evidence, 0.0, NOTHING_DONE, (), 500.0, 200).stated(ProfileSettings()).own

    # λ of 1.16 and of 1.65; P(shift > .2) is .91, .99 and .93.
    assert [told(*line) for line in ((0.35, 0.11), (0.35, 0.06), (0.7, 0.33))] == [
        (), ("undercalls",), ("undercalls",)
    ]  # fmt: skip


def choices(meaning: list[float]) -> Choices:
    size = len(meaning)
    allowed = ~np.eye(size, dtype=bool)
    names = tuple(f"w{k}" for k in range(size))
    given, nothing = np.array(meaning), np.zeros(size)
    return Choices(names, ("",), given, given, nothing, nothing, allowed, nothing, nothing)


def test_rate_at_the_midpoint_is_as_near_to_one_word_as_to_the_other() -> None:
    rate = Rate(float(logit(0.5)), 0.1, 0.0, 1.0, 1.0)
    assert nearer(0, rate, choices([0.3, 0.7])).tolist() == pytest.approx([0.5, 0.5])


def test_doubtful_habit_is_averaged_over_the_fits_with_and_without_it() -> None:
    sure = Rate(float(logit(0.9)), 1e-8, float(logit(0.1)), 1e-8, 0.25)
    assert sure.value == pytest.approx(0.25 * 0.9 + 0.75 * 0.1)
    assert nearer(0, sure, choices([0.1, 0.9]))[1] == pytest.approx(0.25)
    low_high = sure.interval()
    assert low_high.low == pytest.approx(0.1, abs=1e-3)
    assert low_high.high == pytest.approx(0.9, abs=1e-3)


def test_survey_error_makes_a_swap_less_certain() -> None:
    rate = Rate(float(logit(0.55)), 0.01, 0.0, 1.0, 1.0)
    known = choices([0.3, 0.7])
    loose = replace(known, variance=np.array([0.01, 0.01]))
    assert 0.5 < nearer(0, rate, loose)[1] < nearer(0, rate, known)[1]


def test_swap_must_be_right_with_the_meaning_surveyed_and_with_the_department_s() -> None:
    rate = Rate(float(logit(0.55)), 0.01, 0.0, 1.0, 1.0)
    surveyed = choices([0.3, 0.7])
    moved = replace(surveyed, corrected=np.array([0.5, 0.7]))
    # Nearer to .7 than to .3, yet nearer to .5 than to .7.
    assert nearer(0, rate, surveyed)[1] > 0.95
    assert nearer(0, rate, moved)[1] < 0.5


def test_swap_must_be_right_with_and_without_what_most_readers_share() -> None:
    rate = Rate(float(logit(0.55)), 0.01, 0.0, 1.0, 1.0)
    alone = choices([0.3, 0.7])
    shared = replace(alone, shared=np.full(2, 0.5))
    # Of log-odds .2 a half is everybody's: what is left lies nearer to .3 than to .7.
    assert nearer(0, rate, alone)[1] > 0.95
    assert nearer(0, rate, shared)[1] < 0.05


def lines_of(shift: list[float], slope: list[float], *, sd: float = 0.02) -> Lines:
    value = np.stack([np.array(shift), np.array(slope) - 1.0], axis=1)
    readers = len(shift)
    covariance = np.repeat(np.diag([sd**2] * 2)[None], readers, axis=0)
    return Lines(value, covariance, np.zeros(readers), np.zeros((readers, 0, 0, 2)))


def reach_of(
    readers: int, absent: tuple[int, int], present: tuple[int, int], *, soft: bool
) -> Instruments:
    """``present`` counts each reader's statements of "present" that CT bears out, and does not."""
    atoms = []
    for name, each in (("absent", absent), ("present", present)):
        n, wrong = (np.full((readers, 1), float(count)) for count in (sum(each), each[1]))
        names = ((name,),) * readers
        atoms.append(AtomCounts(names, positive_is_wrong=False, n=n, wrong=wrong, effective=n))
    none = np.zeros(2)
    return instruments(*atoms, soft=soft, doubted=none, settings=ProfileSettings())


def shared_of(
    shift: list[float],
    slope: list[float],
    *,
    present: tuple[int, int] = (0, 0),
    absent: tuple[int, int] = (0, 0),
    leaning: list[tuple[float, float]] | None = None,
) -> Shared:
    reach = reach_of(len(shift), absent, present, soft=False)
    enough, rules = np.ones(len(shift), dtype=bool), ProfileSettings()
    lean = np.zeros((len(shift), 2)) if leaning is None else np.array(leaning)
    return shared_line(lines_of(shift, slope), enough, lean=lean, reach=reach, settings=rules)


def done_of(
    shift: list[float],
    slope: list[float],
    *,
    present: tuple[int, int] = (0, 0),
    absent: tuple[int, int] = (0, 0),
    soft: bool = False,
) -> Common:
    enough, here = np.ones(len(shift), dtype=bool), lines_of(shift, slope)
    reach = reach_of(len(shift), absent, present, soft=soft)
    return instrument(here, enough, reach=reach, settings=ProfileSettings())


def test_where_most_readers_stand_is_shared_whatever_the_others() -> None:
    found = shared_of([0.3] * 7 + [0.9, 1.2, -0.4], [1.0] * 10)
    assert found.shift.value == pytest.approx(0.3, abs=0.05)
    assert found.shift.low < 0.3 < found.shift.high
    assert (found.parts, found.explained) == ((), ("undercalls",))
    assert found.question
    # Half a margin, .1, is no matter.
    assert found.tipping == pytest.approx(np.exp(found.shift.value - 0.1))


def test_what_ct_doubt_makes_of_some_readers_lines_is_not_shared_by_all() -> None:
    """Six of ten say too much only as far as their CTs hedge; the median reader leans half way."""
    shift, slope = [0.0] * 10, [1.0] * 4 + [0.5] * 6
    leaning = [(0.0, 0.0)] * 5 + [(0.0, 0.5)] * 5
    assert not shared_of(shift, slope, leaning=leaning, present=(980, 20), absent=(980, 20)).parts
    plain = shared_of(shift, slope, present=(980, 20), absent=(980, 20))
    assert plain.parts == ("too sure",)


def test_a_shared_shift_of_which_a_plausible_choice_leaves_nothing_that_matters_is_asked() -> None:
    """At -.29 it was "more than is plausible", though a λ of .8 leaves -.07 of it."""
    found = shared_of([-0.29] * 8, [1.0] * 8)
    assert found.seen == ("overcalls",)
    assert found.tipping == pytest.approx(np.exp(found.shift.value + 0.1))
    assert found.question
    assert not shared_of([-0.45] * 8, [1.0] * 8).question


def test_readers_in_one_place_say_what_the_instrument_may_have_done_whatever_the_others() -> None:
    near = done_of([0.3] * 7 + [0.9, 1.2, -0.4], [1.0] * 10)
    assert near.mean[0] == pytest.approx(0.3, abs=0.06)
    far = done_of([0.3] * 7 + [2.9, 3.2, -2.4], [1.0] * 10)
    assert far.mean == pytest.approx(near.mean, abs=0.05)


def test_four_of_ten_far_off_are_no_department() -> None:
    found = shared_of([0.0] * 6 + [0.9] * 4, [1.0] * 6 + [0.5] * 4)
    assert found.seen == ()
    assert found.shift.value == pytest.approx(0.0, abs=0.05)
    done = done_of([0.0] * 6 + [0.9] * 4, [1.0] * 6 + [0.5] * 4)
    assert done.mean == pytest.approx([0.0, 0.0], abs=0.05)


def test_shared_shift_is_explained_only_as_far_as_is_plausible() -> None:
    found = shared_of([1.0] * 8, [0.5] * 8)
    assert (found.parts, found.explained) == (("undercalls", "too sure"), ())
    assert not found.question
    done = done_of([1.0] * 8, [0.5] * 8)
    assert 0.0 < done.mean[0] <= np.log(1.5)
    assert -0.25 <= done.mean[1] < -0.1


def test_a_missed_finding_lowers_the_shift_with_the_slope() -> None:
    done = done_of([-0.17] * 9, [0.86] * 9)
    assert done.mean == pytest.approx([-0.17, -0.14], abs=0.04)
    flat = done_of([0.0] * 9, [1.0] * 9)
    assert np.abs(flat.mean).max() < 0.03
    assert flat.covariance[0, 0] < done.covariance[0, 0] + 0.01


def test_what_a_plausible_ct_makes_of_all_readers_is_found_of_none_of_them() -> None:
    """It was found of 30 of 30 departments that kept to the scale while CT missed .12."""
    missed = shared_of([-0.3] * 12, [0.8] * 12)
    assert (missed.parts, missed.explained) == ((), ("overcalls", "too sure"))
    # CTs that show it in .05 of those without, too: then words come true more often.
    invented = shared_of([0.25] * 12, [0.86] * 12)
    assert (invented.parts, invented.explained) == ((), ("undercalls", "too sure"))
    # No CT's error makes words less extreme than the truth.
    assert shared_of([0.0] * 12, [1.3] * 12).parts == ("too cautious",)


def test_a_ct_that_bears_out_present_and_absent_explains_less_of_what_all_share() -> None:
    line = ([0.0] * 12, [0.78] * 12)
    assert shared_of(*line).explained == ("too sure",)
    held = {"present": (198, 2), "absent": (198, 2)}
    assert shared_of(*line, **held).parts == ("too sure",)
    # Of either alone the other error may still be CT's.
    for one in held:
        assert shared_of(*line, **{one: held[one]}).explained == ("too sure",)


def test_present_that_ct_bears_out_tells_of_a_ct_that_misses_little() -> None:
    lines = ([-0.17] * 9, [0.86] * 9)
    unknown, missed, seen = (
        done_of(*lines, present=held).mean[1] for held in ((0, 0), (180, 20), (198, 2))
    )
    # Nine readers' "present" holds in 90 or in 99 %: a CT that misses a tenth leaves at most 90.
    assert missed == pytest.approx(unknown, abs=0.02)
    assert unknown < -0.1 < seen


def test_four_readers_share_nothing_that_could_be_told_from_their_own() -> None:
    found = shared_of([0.5] * 4, [1.0] * 4)
    assert (found.readers, found.seen) == (4, ())
    assert done_of([0.5] * 4, [1.0] * 4).mean == pytest.approx(done_of([0.0], [1.0]).mean)


def test_prior_of_the_settings_is_stated_for_every_scale() -> None:
    priors = ProfileSettings().priors
    assert len(priors.worth) == len(priors.tails) == len(Deviations.__slots__)
    assert all(worth > 0 for worth in priors.worth)


def test_counts_may_stand_for_rows() -> None:
    frame = department([(0.0, 1.0)], statements=50, seed=1)
    table: PhraseTable = SCALE
    both = pd.concat([frame, frame], ignore_index=True).drop(columns=["patient", "exam"])
    counted = frame.drop(columns=["patient", "exam"]).assign(count=2)
    one, other = read_rows(both, table=table), read_rows(counted, table=table)
    assert one.count.sum() == other.count.sum()


def test_labels_drawn_toward_one_half_may_take_any_slope_off_all_readers() -> None:
    shift, slope = [0.0] * 12, [-0.5] * 8 + [-0.8] * 2 + [0.1, -0.1]
    hard = done_of(shift, slope, absent=(85, 15), present=(85, 15))
    soft = done_of(shift, slope, absent=(85, 15), present=(85, 15), soft=True)
    assert hard.mean[1] > -0.26  # what CT may miss, and no more
    assert soft.mean[1] == pytest.approx(-0.5, abs=0.06)
    assert soft.mean[0] == pytest.approx(0.0, abs=0.15)
    borne_out = done_of(shift, slope, absent=(495, 5), present=(495, 5), soft=True)
    assert borne_out.mean[1] > -0.06  # then CT's doubt is honest, and the readers are too sure


def test_line_without_a_cell_is_where_a_fit_without_its_data_puts_it() -> None:
    g = np.random.default_rng(5)
    meaning, n = np.linspace(-2.5, 2.5, 8), g.integers(4, 14, (6, 5, 8)).astype(float)
    mass = g.binomial(n.astype(int), expit(meaning)).astype(float)
    mass[2, 1, 7] = 1.0
    counts = Counts(n, mass, meaning, np.zeros(8))
    full = fit(counts, priors=Priors())
    line = lines(_without_habits(full))
    for cell in ((2, 1, 7), (2, 3, 0), (4, 2, 5)):
        left = np.ones_like(n)
        left[cell] = 1e-6
        less = replace(counts, n=n * left, mass=mass * left)
        there = refit(less, Priors(), Habits.none(counts), full)
        moved = lines(_without_habits(replace(there, counts=counts))).value - line.value
        assert line.moved[cell] == pytest.approx(moved[cell[0]], rel=0.05)


def test_what_the_other_words_say_does_not_know_what_ct_showed_of_the_suspected_word() -> None:
    frame = department([(0.0, 1.0)] * 4, statements=900, seed=8)
    own = ((frame["reader"] == "r02") & (frame["phrase"] == "likely")).to_numpy()
    frame["label"] = np.where(own, 0.0, frame["label"])
    rules = ProfileSettings()
    words = vocabulary(SCALE, settings=rules)
    counts = hedged(read_rows(frame, table=SCALE), words, misread=0.0).counts(Correlation(0.0, 0.0))
    found = fit_with_habits(counts, settings=rules, advance=lambda _: None)
    word, probability = found.suspected()
    assert words.hedges[word[2]] == "likely"
    assert probability[2] > 0.99
    assert probability.max() <= 1.0 + 1e-9
    mass = counts.mass.copy()
    mass[2, :, word[2]] = counts.n[2, :, word[2]]
    for seen in (counts, replace(counts, mass=mass)):
        rest = lines(without_word(found, seen, rules))
        assert rest.value[2] == pytest.approx([0.0, 0.0], abs=0.3)
        assert rest.value == pytest.approx(lines(without_word(found, counts, rules)).value)
    assert lines(found).value[2, 0] < rest.value[2, 0] - 0.1


def with_a_rare_word(positive: int) -> pd.DataFrame:
    """Twelve readers on the scale; "likely" is left to one of them 14 times, some of them true."""
    frame = department([(0.0, 1.0)] * 12, statements=900, seed=8)
    own = frame.index[(frame["reader"] == "r02") & (frame["phrase"] == "likely")]
    frame.loc[own[:14], "label"] = np.repeat([1.0, 0.0], [positive, 14 - positive])
    return frame.drop(own[14:])


def test_a_rare_word_far_off_is_not_shut_out_of_its_own_interval() -> None:
    """Nobody looks for a habit in 14 uses, and the interval left out what they show."""
    rare, usual = (
        next(p for r in profile(with_a_rare_word(n), phrases=SCALE).readers if r.reader == "r02"
             for p in r.phrases if p.phrase == "likely").rate
        for n in (4, 11)
    )  # fmt: skip
    assert rare.low < 4 / 14 < rare.value < 0.5  # it was .62 to .80
    assert rare.high > 0.7  # or it is chance
    assert 0.6 < usual.low < usual.value < usual.high < 0.9


def test_a_word_that_may_be_far_off_lies_where_a_fit_with_a_habit_there_puts_it() -> None:
    rules = ProfileSettings()
    words = vocabulary(SCALE, settings=rules)
    rows = read_rows(with_a_rare_word(4), table=SCALE)
    counts = hedged(rows, words, misread=0.0).counts(Correlation(0.0, 0.0))
    found = fit_with_habits(counts, settings=rules, advance=lambda _: None)
    k = words.hedges.index("likely")
    assert not found.phrase[2, k]
    sign = np.zeros_like(found.phrase)
    sign[2, k] = -1.0
    there = refit(
        counts, rules.priors, replace(found.fitted.habits, phrase_sign=sign), found.fitted
    )
    rate, variance = phrase_rates(there.counts, posterior(there), uses=counts.n)
    moved = Rate(*whole_rates(found, uses=counts.n)[2, k])
    assert 0.02 < moved.weight < 0.9
    # One Newton step from where the word lies without a habit, instead of all.
    assert moved.centre == pytest.approx(rate[2, k], abs=0.15)
    assert moved.variance == pytest.approx(variance[2, k], rel=0.15)
    assert moved.plain_centre > moved.centre + 1.0


def _without_habits(fitted: Fitted) -> HabitFit:
    found, (readers, _, phrases) = posterior(fitted), fitted.counts.n.shape
    nothing, first = np.zeros((readers, phrases)), np.zeros((readers, 1, phrases))
    return HabitFit(
        fitted, found, found, nothing, nothing[:, :0], first,
        Far(nothing, nothing, nothing),
    )  # fmt: skip


@pytest.mark.parametrize(("missed", "tilted"), [(0.5, True), (0.0, False)])
def test_what_ct_misses_of_one_finding_is_told_of_its_strong_words_and_not_of_its_weak(
    missed: float, *, tilted: bool
) -> None:
    """Half missed takes .8 off the log-odds of weak words and 1.9 off strong ones: one move."""
    shown = np.where(np.arange(5) == 4, 1.0 - missed, 1.0)[:, None] * expit(MEANING)
    n = np.full((8, 5, 4), 40.0)
    mass = np.random.default_rng(2).binomial(40, shown, size=n.shape).astype(float)
    fitted = fit(Counts(n, mass, MEANING, np.zeros(4)), priors=Priors())
    found = posterior(fitted)
    centre, variance = cell_rates(fitted.counts, found)
    off = centre[:, 4] - logit(shown[4])
    assert (np.abs(off) <= 1.96 * np.sqrt(variance[:, 4])).mean() >= 0.9
    untold = logit(found.chance[:, 4]) - logit(shown[4])
    ends = np.array([-1.0, 0.0, 0.0, 1.0])
    assert (untold.mean(axis=0) @ ends > 0.5) == tilted
    assert abs(off.mean(axis=0) @ ends) < 0.35


def test_what_a_choice_by_doubt_does_is_what_is_seen_of_beliefs_drawn() -> None:
    words = vocabulary(SCALE, settings=ProfileSettings())
    g, n, mass = np.random.default_rng(4), [], []
    for name in words.hedges:
        of = SCALE.distributions[SCALE.index(name)]
        assert isinstance(of, Beta)
        belief = g.beta(of.alpha, of.beta, 40_000)
        doubt = (belief > 0.2) & (belief <= 0.8)
        taken = belief[g.random(len(belief)) < np.where(doubt, 1.0, 0.25)]
        n.append(float(len(taken)))
        mass.append(float((g.random(len(taken)) < taken).sum()))
    uses, seen = np.array(n), np.array(mass)
    line = expected_line(words.log_odds, n=uses, rate=seen / uses)
    moved = words.chosen_by_doubt(uses, ratio=4.0)
    assert moved == pytest.approx(line - [0.0, 1.0], abs=0.02)
    assert words.chosen_by_doubt(uses, ratio=1.0) == pytest.approx([0.0, 0.0], abs=1e-9)
    one = np.where(np.arange(len(uses)) == 3, 50.0, 0.0)
    assert words.chosen_by_doubt(one, ratio=4.0).tolist() == [0.0, 0.0]


def test_a_choice_by_doubt_is_taken_off_what_all_share_and_off_no_reader() -> None:
    atoms = AtomCounts(
        (("absent",),) * 8, positive_is_wrong=False, n=np.full((8, 1), 1000.0),
        wrong=np.full((8, 1), 10.0), effective=np.full((8, 1), 1000.0),
    )  # fmt: skip
    rules, doubted = ProfileSettings(), np.array([-0.05, -0.25])
    plain, reach = (
        instruments(atoms, atoms, soft=False, doubted=each, settings=rules)
        for each in (0.0 * doubted, doubted)
    )
    (low, high), (least, most) = plain.limits(), reach.limits()
    assert least == pytest.approx([low[0] - 0.05, (1.0 + low[1]) * 0.75 - 1.0])
    assert most == pytest.approx(high)
    of_one = np.isfinite(reach.prior)
    assert reach.place[of_one].tolist() == plain.place[np.isfinite(plain.prior)].tolist()
