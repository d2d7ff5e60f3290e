"""A pattern is stated as far as words show it; no advice reassures more than CT does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.profile import Interval, PhraseRate, ReaderProfile, profile
from calibration.profile.shown import as_shown, shows, stated
from calibration.profile.swaps import reassures
from calibration.survey import builtin
from reports import rounded
from tests.fixtures.reports import sample_profiles as samples


def too_sure(strong: tuple[float, ...], weak: tuple[float, ...]) -> ReaderProfile:
    """Make a reader told to be too sure, of whom rate and limits of each side are given."""
    made = next(
        each
        for seed in range(100)
        if (each := samples.profile_of(np.random.default_rng(seed))).pattern.direction == "too sure"
    )
    sides = tuple(
        PhraseRate(name, 200.0, rate[0], Interval(*rate), meaning)
        for name, rate, meaning in (("strong", strong, 0.78), ("weak", weak, 0.22))
    )
    verdict = replace(made.pattern.verdict, question=False)
    return replace(
        made, pattern=replace(made.pattern, verdict=verdict), phrases=(), sides=sides, exams=200
    )


def test_a_pattern_that_every_figure_leaves_open_is_too_early_to_tell() -> None:
    """A calibrated reader was told to be too sure beside "76 % (72-80)" for 78 and "28 (22-35)"."""
    reader = too_sure((0.76, 0.72, 0.80), (0.28, 0.22, 0.35))
    told = as_shown(reader).pattern.verdict
    assert reader.pattern.verdict.state == "pattern"
    assert (told.state, told.parts, told.question) == ("too few", (), False)
    assert np.isnan(told.sound)
    assert told.more_exams is not None
    assert told.more_exams >= 10
    level = as_shown(too_sure((0.78, 0.72, 0.80), (0.22, 0.18, 0.35))).pattern.verdict
    assert (level.state, level.more_exams) == ("too few", None)


@pytest.mark.parametrize(
    ("strong", "weak", "parts"),
    [
        ((0.70, 0.65, 0.75), (0.28, 0.22, 0.35), ("overcalls", "too sure")),
        ((0.76, 0.72, 0.80), (0.30, 0.25, 0.36), ("undercalls", "too sure")),
        ((0.70, 0.65, 0.75), (0.30, 0.25, 0.36), ("too sure",)),
    ],
)
def test_a_slope_is_stated_of_the_sides_that_are_shown(
    strong: tuple[float, ...], weak: tuple[float, ...], parts: tuple[str, ...]
) -> None:
    reader = too_sure(strong, weak)
    assert as_shown(reader) is reader
    assert stated(reader) == parts


def test_a_pattern_that_the_survey_leaves_open_of_every_figure_is_too_early_to_tell() -> None:
    """It was stated of words of which the sentences below said that none is proven off."""
    reader = too_sure((0.70, 0.65, 0.75), (0.23, 0.19, 0.27))
    word = PhraseRate("likely", 60.0, 0.69, Interval(0.69, 0.63, 0.755), 0.774, doubt=0.03)
    unsure = replace(reader, sides=tuple(replace(s, doubt=0.04) for s in reader.sides))
    assert as_shown(replace(reader, phrases=(word,))).pattern.verdict.state == "pattern"
    told = as_shown(replace(unsure, phrases=(word,))).pattern.verdict
    assert told.state == "too few"
    assert told.more_exams is not None
    known = replace(word, doubt=0.0)
    assert as_shown(replace(unsure, phrases=(known,))).pattern.verdict.state == "pattern"
    rare = replace(known, n=19.0)  # no page prints it
    assert as_shown(replace(unsure, phrases=(rare,))).pattern.verdict.state == "too few"


def test_what_a_survey_leaves_open_of_all_words_together_is_that_of_each_by_its_uses() -> None:
    """30 uses of one and 10 of another: √((30 · .06)² + (10 · .02)²) / 40."""
    rows = [("r", "likely", i % 4 > 0) for i in range(30)]
    rows += [("r", "most likely", i % 5 > 0) for i in range(10)]
    table = pd.DataFrame(rows, columns=["reader", "phrase", "label"])
    (reader,) = profile(table, phrases=builtin("diagnostic-certainty-scale")).readers
    doubts = {word.phrase: word.doubt for word in reader.phrases}
    (strong,) = reader.sides
    assert min(doubts.values()) > 0.0
    by_hand = np.hypot(30 * doubts["likely"], 10 * doubts["most likely"]) / 40
    assert strong.doubt == pytest.approx(by_hand)


def test_a_headline_is_of_the_rates_before_they_were_rounded() -> None:
    """Rounding moved the limit of all weak words past their meaning: half a headline was new."""
    exact = too_sure((0.70, 0.65, 0.75), (0.246, 0.2235, 0.27))
    assert stated(exact) == ("overcalls", "too sure")
    shown = rounded.profile(exact)
    assert shows(shown.sides[1], "more")
    assert stated(shown) == ("overcalls", "too sure")


def test_a_word_for_an_unlikely_finding_is_never_advised_past_what_ct_shows() -> None:
    """It was "unlikely" for 117 statements of which CT showed one in five."""
    words = np.array([0.03, 0.09, 0.29, 0.44, 0.77])
    assert reassures(words, 0.44, 0.18).tolist() == [True, True, False, False, False]
    assert reassures(words, 0.44, 0.10).tolist() == [True, False, False, False, False]
    assert not reassures(words, 0.03, 0.18)[1]  # higher than what is written reassures less
