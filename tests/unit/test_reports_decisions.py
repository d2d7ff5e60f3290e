"""The committee's first page decides from what the rest of the review supports."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from calibration.estimate import Estimate
from calibration.profile import DepartmentProfile
from calibration.run_chart import process
from reports.content import Instrument, InstrumentFigure, SuppressedCell
from reports.disclosure import guard_committee
from reports.drawing.layout import Prose
from reports.drawing.tables import Table
from reports.pages.committee.decisions import decisions
from reports.pages.committee.months import over_time
from reports.pages.committee.profiles import apart
from reports.pages.committee.sections import maps
from reports.review_content import CommitteeContent, RunChart
from reports.strings import Strings
from reports.verdict import sides
from tests.fixtures.reports import sample_contents as samples

WORDS = Strings.load()


def said(content: CommitteeContent) -> list[str]:
    (section,) = decisions(guard_committee(content), WORDS)
    return [piece.text for piece in section.pieces if isinstance(piece, Prose)]


def taught(content: CommitteeContent) -> list[str]:
    return [text for text in said(content) if text.startswith("**Teach")]


def held_out(content: CommitteeContent, *, high: float) -> CommitteeContent:
    """Give the upper limit of the Brier difference on exams held out: above 0 is worse."""
    (part,) = content.maps or ()
    (swap,) = part.advice.suggestions
    assert swap.effect is not None
    brier = replace(swap.effect.brier_difference, high=high)
    moved = replace(swap, effect=replace(swap.effect, brier_difference=brier))
    return replace(
        content, maps=(replace(part, advice=replace(part.advice, suggestions=(moved,))),)
    )


@pytest.fixture(scope="module")
def usual() -> CommitteeContent:
    """Make a department whose "likely" stands at 56 %, inside its band of 53 to 96 %."""
    made = samples.committee()
    found = made.profiles
    assert isinstance(found, DepartmentProfile)
    readers = []
    for each in found.readers:
        phrases = tuple(
            replace(p, rate=replace(p.rate, value=0.5, low=0.4, high=0.6), n=90.0)
            if p.phrase == "likely"
            else p
            for p in each.phrases
        )
        readers.append(replace(each, phrases=phrases))
    return replace(made, profiles=replace(found, readers=tuple(readers)))


@pytest.fixture(scope="module")
def review(usual: CommitteeContent) -> CommitteeContent:
    """Make the same department with a band that its "likely" leaves."""
    department = usual.department
    assert not isinstance(department, SuppressedCell)
    table = department.phrases
    narrow = replace(table, expected_low=np.maximum(table.expected_low, table.expected - 0.15))
    return replace(usual, department=replace(department, phrases=narrow))


def test_the_word_to_teach_comes_with_its_replacement_its_effect_and_its_readers(
    review: CommitteeContent,
) -> None:
    (text,) = taught(review)
    (swap,) = (review.maps or ())[0].advice.suggestions
    assert text.startswith(f"**Teach “{swap.target}” in place of “{swap.source}”.**")
    before = 100 * abs(swap.observed - swap.expected)
    after = 100 * abs(swap.observed - swap.target_expected)
    assert f"would lie {after:.0f} points from CT instead of {before:.0f}." in text
    counted = re.search(r"Of the (\d+) readers .*?, (\d+) use it too high", text)
    assert counted is not None
    found = guard_committee(review).profiles
    assert isinstance(found, DepartmentProfile)
    able = [(r, p) for r in found.readers for p in r.phrases if p.phrase == "likely"]
    off = [p for r, p in able if sides(r).get("likely") == "less" and p.rate.high < p.meaning]
    assert list(map(int, counted.groups())) == [len(able), len(off)]
    assert len(off) >= 3
    assert not any(reader.reader in text for reader in found.readers)


def test_a_word_within_what_readers_usually_take_it_to_mean_is_not_taught(
    usual: CommitteeContent,
) -> None:
    assert taught(usual) == []
    assert any(text.startswith("**No word to teach now.**") for text in said(usual))


def test_a_word_that_readers_wrote_too_seldom_to_judge_is_proposed_by_nobody(
    review: CommitteeContent,
) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    seldom = review.minimum_n - 1.0
    readers = tuple(
        replace(reader, phrases=tuple(replace(p, n=seldom) for p in reader.phrases))
        for reader in found.readers
    )
    assert taught(review)
    assert taught(replace(review, profiles=replace(found, readers=readers))) == []


@pytest.mark.parametrize("high", [0.004, -0.00004])
def test_a_swap_whose_gain_on_exams_held_out_may_be_nothing_is_held_back_everywhere(
    review: CommitteeContent, high: float
) -> None:
    doubtful = held_out(review, high=high)
    assert taught(doubtful) == []
    tables = {p.id: p for p in maps(doubtful, WORDS).pieces if isinstance(p, Table)}
    assert tables["suggestions"].rows == ()
    why = [str(row.cells[3]) for row in tables["suppressed"].rows if row.cells[1] == "likely"]
    assert len(why) == 1
    assert "may be nothing" in why[0]


def test_a_word_to_teach_that_ct_does_not_bear_out_itself_is_said_to_be_so(
    review: CommitteeContent,
) -> None:
    (part,) = review.maps or ()
    (swap,) = part.advice.suggestions
    other = replace(
        swap, source=swap.target, target="unlikely", observed=0.31, n=1.0, expected=0.665
    )
    both = replace(part, advice=replace(part.advice, suggestions=(swap, other)))
    (text,) = taught(replace(review, maps=(both,)))
    assert f"“{swap.target}” itself comes true 31\u00a0% of the time here" in text
    assert "itself comes true" not in taught(review)[0]


def test_an_instrument_that_nobody_measured_is_the_first_thing_to_decide(
    review: CommitteeContent,
) -> None:
    accuracy = InstrumentFigure("extraction accuracy", Estimate(0.94, 0.92, 0.96, 600, "Wilson"))
    recall = InstrumentFigure("de-identification recall", None)
    half = replace(review, instrument=Instrument("rules", (accuracy, recall)))
    assert said(half)[0].startswith("**Measure how well reports are read")
    assert "de-identification recall." in said(half)[0]
    assert "extraction accuracy" not in said(half)[0]
    whole = replace(review, instrument=Instrument("rules", (accuracy,)))
    assert not any("Measure how well" in text for text in said(whole))


def test_a_pattern_that_most_readers_share_is_put_to_the_committee(
    review: CommitteeContent,
) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    shared = replace(found.shared, parts=("too sure",))
    texts = said(replace(review, profiles=replace(found, shared=shared)))
    assert any("Most readers share a pattern: their hedges are surer" in text for text in texts)
    assert not any("share a pattern" in text for text in said(review))


def test_absent_contradicted_in_several_hands_is_named(review: CommitteeContent) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    more = tuple(
        replace(r, absent=replace(r.absent, state="more often")) if i < 4 else r
        for i, r in enumerate(found.readers)
    )
    quiet = tuple(replace(r, absent=replace(r.absent, state="as others")) for r in found.readers)
    texts = said(replace(review, profiles=replace(found, readers=more)))
    assert any(text.startswith("**Look at what was missed.**") for text in texts)
    texts = said(replace(review, profiles=replace(found, readers=quiet)))
    assert not any("what was missed" in text for text in texts)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (range(1, 9), "no signal now; one upwards (seven months in a row on one side of the mean)"),
        (range(4, 12), "a signal upwards, to the last month: seven months in a row"),
    ],
)
def test_a_signal_that_has_ended_says_when_and_one_that_lasts_says_so(
    review: CommitteeContent, run: range, expected: str
) -> None:
    months = tuple(f"2026-{i + 1:02d}" for i in range(12))
    level = np.array([0.44 if i in run else 0.40 for i in range(12)])
    level += np.tile([0.0, 0.02], 6)
    chart = RunChart("scale_use", months, level, process(level))
    (section,) = over_time(replace(review, run_charts=(chart,)), WORDS)
    texts = [piece.text for piece in section.pieces if isinstance(piece, Prose)]
    (text,) = [text for text in texts if "signal" in text]
    assert expected in text
    assert ("ended in 2026-09" in text) == (run.stop < 12)


@pytest.mark.parametrize(
    ("expected", "words"), [(0.01, "fewer than 1 is"), (0.6, "about 1 are"), (2.6, "about 3 are")]
)
def test_signals_expected_to_be_false_are_counted_and_never_0(
    review: CommitteeContent, expected: float, words: str
) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    doubted = replace(review, profiles=replace(found, expected_false=expected))
    (section,) = apart(guard_committee(doubted), WORDS)
    text = next(piece.text for piece in section.pieces if isinstance(piece, Prose))
    assert f"{words} expected to be false, if reading and pairing are right" in text
    assert "readers were tested" in text
