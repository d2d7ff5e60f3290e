"""Survey files in every shape, fits by hand, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibration.distributions import (
    Atom,
    Beta,
    fit_likelihood,
    fit_moments,
    moments_of_percentages,
)
from calibration.errors import SurveyError
from calibration.survey import PhraseTable
from calibration.survey_fit import PhraseSurvey, fit_phrase
from calibration.survey_frames import columns_left_out, read_survey

NONE = np.zeros(0)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_phrase_is_found_whatever_its_capitals_unless_these_tell_two_apart() -> None:
    table = PhraseTable(
        "twins", ("likely", "Odd", "odd"), (Atom(0.7), Atom(0.2), Atom(0.3)), (5,) * 3
    )
    spoken = pd.Series(["LIKELY", " likely ", "Odd", "odd", "ODD", "what", None, "what"])
    code, unknown = table.codes(spoken, count=np.array([1, 1, 1, 1, 2, 3, 1, 4.0]))
    assert code.tolist() == [0, 0, 1, 2, -1, -1, -1, -1]
    assert unknown == {"ODD": 2, "what": 7, "nan": 1}


def test_percentages_use_the_population_variance() -> None:
    # .6, .7, .8: mean .7, variance (.01 + 0 + .01)/3
    mean, variance = moments_of_percentages([60, 70, 80])
    assert mean == pytest.approx(0.7)
    assert variance == pytest.approx(0.02 / 3)


def test_answers_of_0_and_100_are_clamped_not_refused() -> None:
    mean, variance = moments_of_percentages([0, 100])
    assert mean == pytest.approx(0.5)
    fitted = fit_moments(mean, variance)
    assert fitted.alpha == pytest.approx(fitted.beta, rel=1e-6)


@pytest.mark.parametrize(("mean", "variance"), [(0.5, -0.1), (0.5, 0.25), (0.2, 0.3)])
def test_a_survey_that_allows_no_beta_names_its_phrase(mean: float, variance: float) -> None:
    with pytest.raises(SurveyError, match="'maybe': a Beta needs 0 < variance"):
        fit_moments(mean, variance, phrase="maybe")


@pytest.mark.parametrize("answers", [[80, 80, 80], [0.95] * 12, [0, 0], [70]])
@pytest.mark.parametrize("bootstrap", [0, 5])
def test_a_phrase_that_everybody_answered_alike_is_refused_by_name(
    answers: list[float], bootstrap: int
) -> None:
    (asked,) = read_survey(pd.DataFrame({"phrase": "maybe", "percent": answers}), name="s")
    with pytest.raises(SurveyError, match="'maybe': everybody gave the same answer"):
        fit_phrase(asked, bootstrap=bootstrap, rng=rng())


def test_resamples_in_which_all_answer_alike_widen_no_interval() -> None:
    survey = PhraseSurvey("unlikely", NONE, NONE, np.array([0.05, 0.1, 0.07]), 3)
    fitted = fit_phrase(survey, bootstrap=60, rng=rng())
    assert fitted.refused > 0
    assert fitted.alpha[1] < 1e6


def test_wide_ranges_in_per_cent_probability_and_scale_names_are_one_survey() -> None:
    cells = [["likely", 0, 1, 2, 3, 4, 5, 6]]
    heads = [
        ["0", "0-5", "5-25", "25-75", "75-90", "90-100", "100"],
        ["0%", "0 to 5 %", "5–25", "25 - 75%", "75-90", "90-100", "100 %"],
        ["absent", "very low", "low", "intermediate", "high", "very high", "present"],
    ]
    edges = [
        read_survey(pd.DataFrame(cells, columns=["phrase", *head]), name="s")[0].edges
        for head in heads
    ]
    assert np.array_equal(edges[0], edges[1])
    assert np.array_equal(edges[0], edges[2])
    assert edges[0].tolist() == [0, 1e-6, 0.05, 0.25, 0.75, 0.9, 1 - 1e-6, 1]
    thirds = pd.DataFrame([["likely", 1, 2]], columns=["phrase", "0-0.5", "0.5-1"])
    assert read_survey(thirds, name="s")[0].edges.tolist() == [0, 0.5, 1.0]


def test_long_ranges_answers_and_respondents_are_understood() -> None:
    long = pd.DataFrame(
        {"phrase": ["likely"] * 2, "low": [0, 50], "high": [50, 100], "count": [1, 3]}
    )
    (by_range,) = read_survey(long, name="s")
    assert by_range.counts.tolist() == [1.0, 3.0]
    assert by_range.respondents == 4
    answers = pd.DataFrame(
        {"Phrase": ["Likely", "maybe", "Likely"], "Percentage": ["70", "50", "80"]}
    )
    first, second = read_survey(answers, name="s")
    assert (first.phrase, first.answers.tolist(), second.respondents) == ("likely", [0.7, 0.8], 1)
    wide = pd.DataFrame({'"Likely"': [70, 80], "Maybe": [50, None], "Sex": ["f", "m"]})
    likely, maybe = read_survey(wide, name="s")
    assert likely.respondents == 2
    assert maybe.answers.tolist() == [0.5]
    assert columns_left_out(wide) == ("Sex",)


def test_a_column_that_tells_of_the_respondent_is_no_phrase_and_is_named() -> None:
    frame = pd.DataFrame(
        {
            "Number": range(1, 5),
            "Respondent ID": [1017, 1020, 1031, 1044],
            "Years of experience": [3, 8, 12, 30],
            "site": ["a", "a", "b", "b"],
            "likely": [0.66, 0.7, 0.68, 0.75],
            "unlikely": [0.02, 0.005, None, 0.0],
        }
    )
    likely, unlikely = read_survey(frame, name="s")
    assert likely.answers.tolist() == [0.66, 0.7, 0.68, 0.75]
    assert (unlikely.phrase, unlikely.answers.tolist()) == ("unlikely", [0.02, 0.005, 0.0])
    assert columns_left_out(frame) == ("Number", "Respondent ID", "Years of experience", "site")


@pytest.mark.parametrize(
    ("title", "values"),
    [
        ("cannot exclude age indeterminate fracture", [30, 40, 20]),
        ("up to date", [30, 40, 20]),
        ("unlikely", [0, 1, 2]),
    ],
)
def test_a_phrase_is_kept_though_its_words_or_answers_look_like_a_respondent_s(
    title: str, values: list[int]
) -> None:
    frame = pd.DataFrame({"likely": [70, 80, 60], title: values})
    assert [each.phrase for each in read_survey(frame, name="s")] == ["likely", title]


@pytest.mark.parametrize("title", ["Alter", "Experience", "age (years)", "Befunder-Nr.", "Jahre"])
def test_a_respondent_s_column_is_no_phrase(title: str) -> None:
    frame = pd.DataFrame({title: [30, 40, 50], "likely": [70, 80, 60]})
    assert columns_left_out(frame) == (title,)


def test_decimal_commas_are_refused_and_not_left_out() -> None:
    frame = pd.DataFrame({"likely": ["70,5", "80,1", "60,0"], "possibly": [30, 40, 20]})
    with pytest.raises(SurveyError, match="3 cells are not numbers"):
        read_survey(frame, name="s")


def test_a_phrase_that_few_answered_is_kept() -> None:
    frame = pd.DataFrame({"likely": [70, 75, 80, 60, 85], "rare": [None, "", 5, None, 7]})
    assert read_survey(frame, name="s")[1].answers.tolist() == [0.05, 0.07]
    assert columns_left_out(frame) == ()


def test_an_answer_in_per_cent_may_say_so() -> None:
    frame = pd.DataFrame({"likely": ["70%", " 75 %", "80"], "unlikely": ["0.5%", "", "1"]})
    likely, unlikely = read_survey(frame, name="s")
    assert likely.answers.tolist() == [0.7, 0.75, 0.8]
    assert unlikely.answers.tolist() == [0.005, 0.01]
    answers = pd.DataFrame({"phrase": ["likely"] * 2, "value": ["70%", "80%"]})
    assert read_survey(answers, name="s")[0].answers.tolist() == [0.7, 0.8]


def test_columns_of_a_table_by_phrase_that_are_not_read_are_named() -> None:
    wide = pd.DataFrame(
        [["likely", 1, 2, 3, "x"]], columns=["phrase", "0-50", "50-100", "n", "why"]
    )
    assert columns_left_out(wide) == ("why",)
    answers = pd.DataFrame({"Phrase": ["likely"], "percent": [70], "Reader": ["a"]})
    assert columns_left_out(answers) == ("Reader",)


@pytest.mark.parametrize("counted", ["wide", "long"])
def test_one_respondent_among_counts_is_one_not_all_who_were_asked(counted: str) -> None:
    wide = pd.DataFrame(
        [["likely", 0, 1], ["unlikely", 3, 10]], columns=["phrase", "0-50", "50-100"]
    )
    long = wide.melt("phrase", value_name="count")
    long["low"], long["high"] = [0, 0, 50, 50], [50, 50, 100, 100]
    frame = wide if counted == "wide" else long
    assert [each.respondents for each in read_survey(frame, name="s", respondents=100)] == [1, 13]


def test_a_blank_is_nobody_among_counts_and_no_answer_among_answers() -> None:
    answers = pd.DataFrame({"phrase": ["likely"] * 3, "percent": ["70", "", "80"]})
    (asked,) = read_survey(answers, name="s")
    assert (asked.answers.tolist(), asked.respondents) == ([0.7, 0.8], 2)
    wide = pd.DataFrame([["likely", 0.5, None, ""]], columns=["phrase", "0-50", "50-100", "n"])
    (counted,) = read_survey(wide, name="s")
    assert (counted.counts.tolist(), counted.respondents) == ([0.5, 0.0], None)


def test_proportions_become_people_only_when_their_number_is_known() -> None:
    frame = pd.DataFrame([["likely", 0.1, 0.25]], columns=["phrase", "0-50", "50-100"])
    assert read_survey(frame, name="s")[0].respondents is None
    assert read_survey(frame, name="s", respondents=142)[0].respondents == 50


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"phrase": ["a"], "colour": ["red"]}), "no probability ranges among"),
        (pd.DataFrame({"phrase": ["a"], "0-10": ["x"], "10-100": [1]}), "row 1, column 0-10"),
        (pd.DataFrame({"phrase": ["a"], "0-10": [1], "30-100": [1]}), "gap or overlap near 30"),
        (pd.DataFrame({"phrase": ["a"], "percent": [140]}), "outside 0 to 100"),
        (pd.DataFrame({"phrase": []}), "no rows"),
        (
            pd.DataFrame({"phrase": ["a", " "], "percent": [40, 50]}),
            "1 cells name no phrase.*row 2",
        ),
        (pd.DataFrame({"phrase": ["a", "b"], "percent": [40, None]}), "no answer is given for b"),
        (
            pd.DataFrame({"phrase": ["a"], "low": [""], "high": [50], "count": [3]}),
            "1 cells are blank where a range ends; first at row 1, column low",
        ),
        (pd.DataFrame({"name": ["a"], "city": ["b"]}), "no column named phrase"),
        (
            pd.DataFrame({"likely": [70, "often"], "maybe": [50, 40]}),
            "1 cells are not numbers of 0 or more; first at row 2, column likely",
        ),
        (
            pd.DataFrame({"likely": [0.7, 80, 0.6]}),
            "2 cells lie between 0 and 1 where others are per cent.*row 1, column likely",
        ),
    ],
)
def test_a_survey_that_cannot_be_read_says_why(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(SurveyError, match=message):
        read_survey(frame, name="s")


def test_absent_and_present_become_atoms() -> None:
    survey = PhraseSurvey("present", np.array([0.0, 0.9, 1.0]), np.array([1.0, 9.0]), NONE, 10)
    assert fit_phrase(survey, rng=rng()).distribution == Atom(1.0)


def test_likelihood_recovers_the_beta_that_made_many_answers() -> None:
    edges = np.array([0.0, 0.05, 0.25, 0.75, 0.9, 1.0])
    truth = Beta(4.0, 2.0)
    counts = np.round(1e6 * np.diff(truth.cdf(edges)))
    fitted = fit_likelihood(edges, counts)
    assert fitted.alpha == pytest.approx(4.0, rel=0.01)
    assert fitted.beta == pytest.approx(2.0, rel=0.01)


def test_likelihood_of_one_range_is_refused() -> None:
    with pytest.raises(SurveyError, match="same range"):
        fit_likelihood(np.array([0.0, 0.5, 1.0]), np.array([0.0, 7.0]), phrase="maybe")


def test_likelihood_of_raw_answers_centres_where_they_do() -> None:
    answers = rng().beta(6, 3, 400).round(2)
    survey = PhraseSurvey("likely", NONE, NONE, answers, 400)
    fitted = fit_phrase(survey, method="likelihood", rng=rng()).distribution
    assert fitted.mean == pytest.approx(answers.mean(), abs=0.01)
    assert fitted.variance == pytest.approx(answers.var(), rel=0.15)


def test_respondent_intervals_hold_the_fit_and_shrink_with_people() -> None:
    edges, shares = np.array([0.0, 0.25, 0.75, 0.9, 1.0]), np.array([0.1, 0.3, 0.4, 0.2])
    widths = []
    for people in (20, 2000):
        survey = PhraseSurvey("likely", edges, shares * people, NONE, people)
        fitted = fit_phrase(survey, bootstrap=300, rng=rng())
        assert fitted.mean[0] < fitted.distribution.mean < fitted.mean[1]
        widths.append(fitted.mean[1] - fitted.mean[0])
    assert widths[0] == pytest.approx(10 * widths[1], rel=0.25)


def test_resampling_unknown_respondents_is_refused() -> None:
    survey = PhraseSurvey("likely", np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.4]), NONE, None)
    with pytest.raises(SurveyError, match="respondents cannot be resampled"):
        fit_phrase(survey, bootstrap=10, rng=rng())
