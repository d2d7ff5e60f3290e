"""Too few exams or readers never reach a page, whatever the content says."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import fields, replace
from html import unescape

import numpy as np
import pytest

from calibration.estimate import Estimate
from calibration.profile import (
    Change,
    Coordinate,
    DepartmentProfile,
    Interval,
    PhraseRate,
    ReaderProfile,
)
from reports import content, review_content, rounded
from reports.disclosure import guard_committee, guard_radiologist, state_of
from reports.drawing.marks import Drawing, Text
from reports.drawing.style import Style, style_for
from reports.numbers import percent, percent_interval
from reports.pages import committee, radiologist
from reports.pages.radiologist import later
from reports.pages.radiologist.chart import PhraseChart
from reports.strings import Strings
from tests.fixtures.reports import sample_contents as samples

WORDS = Strings.load()


def strings(pages: list[Drawing]) -> str:
    return " | ".join(m.string for page in pages for m in page.marks if isinstance(m, Text))


def test_a_result_below_the_minimum_is_withheld_even_if_the_content_gives_it() -> None:
    filled = replace(samples.radiologist(n=60), minimum_n=500)
    assert not isinstance(filled.overall, content.SuppressedCell)
    guarded = guard_radiologist(filled)
    assert guarded.overall == content.SuppressedCell(500)
    assert guarded.profile is None
    assert guarded.action_cases == ()
    printed = strings(radiologist.pages(filled, style=Style()))
    assert "too few (n < 500)" in printed
    assert f"{filled.overall.n:,.0f}" not in printed.split(" | ")


def test_a_period_below_the_minimum_loses_its_count_too() -> None:
    filled = samples.radiologist()
    assert filled.trend is not None
    period = replace(filled.trend[0], n=7)
    guarded = guard_radiologist(replace(filled, trend=(period,)))
    assert guarded.trend == (replace(period, n=0, gap=content.SuppressedCell(20)),)


def test_what_a_withheld_department_would_give_away_is_taken_out_of_the_profile() -> None:
    filled = samples.radiologist(department=False)
    assert isinstance(filled.profile, ReaderProfile)
    guarded = guard_radiologist(filled)
    assert isinstance(guarded.profile, ReaderProfile)
    for atom in (guarded.profile.absent, guarded.profile.present):
        assert np.isnan(atom.expected)
        assert np.isnan(atom.expected_wrong)
        assert atom.state in ("no comparison", "too few")
    printed = strings(radiologist.pages(filled, style=Style()))
    assert "department's rates lead to expect" not in printed


@pytest.mark.parametrize(("most", "told"), [(0.7, True), (0.8, False)])
def test_what_is_expected_of_absent_is_not_told_where_it_is_mostly_one_colleague_s(
    most: float, *, told: bool
) -> None:
    content = samples.radiologist()
    profile = content.profile
    assert profile is not None
    atom = replace(profile.absent, n=60.0, state="more often", most=most)
    seen = guard_radiologist(replace(content, profile=replace(profile, absent=atom))).profile
    assert seen is not None
    assert np.isfinite(seen.absent.expected_wrong) == told
    assert (seen.absent.state == "no comparison") != told


@pytest.mark.parametrize(("wrong", "told"), [(39.0, True), (8.0, False)])
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_reader_with_nobody_to_compare_with_is_told_on_page_1_what_ct_contradicts(
    wrong: float, told: bool, language: str
) -> None:
    """Of a department of one "present" came true in 35 %, and only the appendix said so."""
    filled = samples.radiologist(department=False)
    profile = filled.profile
    assert isinstance(profile, ReaderProfile)
    atom = replace(profile.present, n=60.0, wrong=wrong, positive=60.0 - wrong)
    seen = replace(filled, profile=replace(profile, present=atom))
    style = style_for("A4", language=language)
    page = " ".join(strings(radiologist.pages(seen, style=style)[:1]).split(" | "))
    shown = style.strings("verdict.atom.present_alone", phrases="X", wrong="Y", n="Z")
    assert (shown.partition(". ")[2] in page) == told


def test_the_numbers_have_one_department_rate_of_absent_and_it_is_the_charts() -> None:
    """Chart and appendix printed two: what the others lead to expect, and a pooled rate."""
    filled = guard_radiologist(samples.radiologist())
    words = Strings.load()
    assert not isinstance(filled.overall, content.SuppressedCell)
    chart = PhraseChart.of(filled, words)
    table = later.number_table(chart, filled.overall)
    (row,) = [row for row in table.rows if row.cells[0] == "absent"]
    (tick,) = [each for each in chart.rows if "absent" in each.certain]
    assert row.cells[-1] == percent(tick.expected)


def test_nothing_of_a_profile_rests_on_fewer_uses_than_the_minimum() -> None:
    filled = replace(samples.radiologist(n=900), minimum_n=60)
    assert isinstance(filled.profile, ReaderProfile)
    assert any(p.n < 60 for p in filled.profile.phrases)
    guarded = guard_radiologist(filled).profile
    assert isinstance(guarded, ReaderProfile)
    assert all(part.n >= 60 for part in (*guarded.phrases, *guarded.advice, *guarded.habits))


def test_a_reader_who_was_not_judged_is_told_so_and_nothing_else() -> None:
    filled = samples.radiologist(n=600, profile=None)
    assert guard_radiologist(filled).profile is None
    printed = strings(radiologist.pages(filled, style=Style()))
    assert "could not be judged" in printed
    assert "Nothing to change" not in printed
    assert "What to try" not in printed


def test_profiles_of_a_department_of_four_are_withheld_and_of_a_hidden_reader_left_out() -> None:
    few = guard_committee(samples.committee(readers=4))
    assert few.profiles is None
    filled = samples.committee()
    hidden = next(row.code for row in filled.readers if row.n < filled.minimum_n)
    shown = guard_committee(filled).profiles
    assert isinstance(shown, DepartmentProfile)
    assert hidden not in {reader.reader for reader in shown}


def test_change_and_what_is_shared_are_told_but_not_of_a_hidden_reader() -> None:
    filled = samples.committee()
    assert isinstance(filled.profiles, DepartmentProfile)
    hidden = next(row.code for row in filled.readers if row.n < filled.minimum_n)
    shown = next(row.code for row in filled.readers if row.n >= filled.minimum_n)
    moved, still = Coordinate(0.6, 0.3, 0.9, 0.99), Coordinate(1.0, 0.9, 1.1, 0.1)
    common = Interval(0.33, 0.2, 0.5)
    told = replace(
        filled.profiles,
        changes=tuple(Change(code, moved, still) for code in (hidden, shown)),
        shared=replace(
            filled.profiles.shared, shift=common, parts=("undercalls",), tipping=1.39, question=True
        ),
    )
    guarded = guard_committee(replace(filled, profiles=told)).profiles
    assert isinstance(guarded, DepartmentProfile)
    assert guarded.changes is not None
    assert [change.reader for change in guarded.changes] == [shown]
    lines = strings(committee.pages(replace(filled, profiles=told), style=Style()))
    printed = lines.replace(" | ", " ").replace("\u2212", "-").replace("\u00a0", " ")
    assert f"moved by more than the margin: {shown} (shift +0.60)" in printed
    assert "are weaker than CT bears out" in printed
    assert "are weaker than CT bears out: shift +0.33 (0.20 to 0.50)." in printed
    assert "The line most readers cluster around: +0.33 and 1.00" in printed
    assert "A CT 1.39 times as likely given disease" in printed


def test_a_review_of_four_readers_shows_no_department_figure_in_pdf_or_html() -> None:
    filled = samples.committee(readers=4)
    assert not isinstance(filled.department, content.SuppressedCell)
    guarded = guard_committee(filled)
    assert guarded.department == content.SuppressedCell(5, "readers")
    printed = strings(committee.pages(filled, style=Style()))
    page = committee.build_both(filled, style=Style())[1].decode()
    for text in (printed.replace(" | ", " "), page):
        assert text.count("fewer than 5 readers contributed") == 1
        assert "Which exams this run read" in text  # no figure rests on them
        assert "readers' own pages say may be due to misreading" in unescape(text)
        assert "Phrase error" not in text
        assert "pleural effusion" not in text
        assert all(row.code not in text for row in filled.readers)
        assert "Run manifest" in text


def test_a_sensitivity_row_below_the_minimum_is_too_few_and_not_zero() -> None:
    filled = samples.committee()
    assert filled.sensitivity is not None
    guarded = guard_committee(filled)
    assert guarded.sensitivity is not None
    row = guarded.sensitivity[0].rows[0]
    assert row.phrase_error == content.SuppressedCell(20)


TELLS_OF_NOBODY = {
    "masthead", "minimum_n", "minimum_readers", "minimum_reliability",  # what the page is
    "gates", "manifest", "governance",  # of the run, not of what readers wrote
    "returned",  # what readers answered in the whole department
    "maps", "run_charts",  # computed from rounded tallies
}  # fmt: skip
"""Fields of the review that the last door lets through as they come."""


def test_every_field_of_the_review_is_known_at_the_last_door() -> None:
    source = ast.parse(inspect.getsource(guard_committee))
    guarded = {k.arg for call in ast.walk(source) if isinstance(call, ast.Call)
               for k in call.keywords}  # fmt: skip
    named = {field.name for field in fields(review_content.CommitteeContent)}
    assert named - guarded == TELLS_OF_NOBODY


def test_states_of_withholding_read_differently() -> None:
    kinds = ("exams", "readers", "complementary")
    texts = {state_of(content.SuppressedCell(5, kind), WORDS) for kind in kinds}
    assert len(texts) == 3


def test_counts_of_a_page_are_the_middle_of_their_five_and_withheld_ones_stay_withheld() -> None:
    filled = samples.radiologist()
    few = content.SuppressedCell(20)
    unscored = (content.Unscored("perhaps", 23), content.Unscored("may be", few))
    coverage = content.Coverage(xrays=1834, paired=410, window_hours=12)
    guarded = guard_radiologist(replace(filled, unscored=unscored, coverage=coverage))
    assert guarded.unscored == (content.Unscored("perhaps", 22), content.Unscored("may be", few))
    assert guarded.coverage == replace(coverage, xrays=1832, paired=412)


def test_counts_of_what_was_not_used_are_rounded_in_the_review_as_it_says() -> None:
    counts = (("rows set aside", 136), ("reports withheld", 0), ("cases", 1))
    measured = content.Instrument("rules", (), counts)
    shown = guard_committee(replace(samples.committee(), instrument=measured)).instrument
    assert shown is not None
    assert [n for _, n in shown.counts] == [137, 0, 2]


def test_a_rounded_rate_stays_on_its_side_of_what_the_phrase_means() -> None:
    # Counted among 22, shares stand at multiples of 3/22 = .136. Estimated with σ = .25 they stand
    # at multiples of .05: .42 is next to .40, below the meaning, and goes up.
    rate = PhraseRate("may represent", 22.0, 0.40, Interval(0.42, 0.30, 0.53), 0.415)
    found = samples.radiologist().profile
    shown = rounded.profile(replace(found, phrases=(rate,))).phrases[0]
    assert shown.observed == pytest.approx(9 / 22)
    assert shown.rate.value == pytest.approx(0.45)
    assert shown.rate.low <= shown.rate.value <= shown.rate.high


def test_a_share_of_terms_does_not_give_the_count_of_a_withheld_term() -> None:
    # 1, 2, 3 or 4 discouraged terms of 100 read alike; none does not.
    filled = samples.committee()
    shares = np.array([0.0, 0.01, 0.03, 0.04])
    use = replace(
        filled.scale_use, periods=("a", "b", "c", "d"), n=np.full(4, 100), recommended=shares,
        discouraged=shares,
    )  # fmt: skip
    shown = guard_committee(replace(filled, scale_use=use)).scale_use
    assert shown is not None
    assert shown.discouraged.tolist() == pytest.approx([0.0, 2 / 102, 2 / 102, 2 / 102])
    assert shown.n.tolist() == [102] * 4


def test_a_page_that_went_through_the_door_passes_it_unchanged() -> None:
    once = guard_radiologist(samples.radiologist())
    again = guard_radiologist(once)
    assert again.profile == once.profile
    assert (again.coverage, again.unscored) == (once.coverage, once.unscored)
    review = guard_committee(samples.committee())
    twice = guard_committee(review)
    assert [row.n for row in twice.readers] == [row.n for row in review.readers]
    assert twice.flow == review.flow
    assert review.case_mix is not None
    assert twice.case_mix is not None
    shares = [[row.share for row in found.case_mix.rows] for found in (twice, review)]
    assert shares[0] == pytest.approx(shares[1], nan_ok=True)


@pytest.mark.parametrize("n", [20, 33, 87, 400, 5000])
def test_a_printed_estimate_lies_inside_its_printed_interval(n: int) -> None:
    rng = np.random.default_rng(5)
    values = rng.uniform(0.02, 0.98, 300)
    wide = rng.uniform(0.004, 0.1, (2, 300))
    for value, below, above in zip(values, *wide, strict=True):
        exact = Estimate(value, max(value - below, 0.0), min(value + above, 1.0), n, "test")
        row = review_content.ReaderRow("R-1", n, exact)
        shown = rounded.reader_row(row).gap
        assert isinstance(shown, Estimate)
        if not 0.0 < shown.value < 1.0:
            continue
        assert 0.0 <= shown.low < shown.value < shown.high <= 1.0
        low, high = map(
            int, re.findall(r"\d+", percent_interval(shown.low, shown.high, shown.value))
        )
        assert low < round(100 * shown.value) < high


def test_an_estimate_that_is_its_own_limit_stays_so() -> None:
    exact = Estimate(0.0, 0.0, 0.2, 40, "test")
    shown = rounded.reader_row(review_content.ReaderRow("R-1", 40, exact)).gap
    assert isinstance(shown, Estimate)
    assert (shown.value, shown.low) == (0.0, 0.0)
    assert percent_interval(shown.low, shown.high, shown.value).startswith("0–")


def test_a_reader_and_the_review_keep_the_same_words_and_swaps_of_a_profile() -> None:
    """A word of too few uses took part in the review's choice of swaps and not in the reader's."""
    review = samples.committee()
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    compared = 0
    for reader in found.readers:
        few = tuple(replace(p, n=5.0) if i % 3 == 0 else p for i, p in enumerate(reader.phrases))
        own = replace(reader, phrases=few)
        theirs = guard_radiologist(replace(samples.radiologist(), profile=own)).profile
        judged = guard_committee(replace(review, profiles=replace(found, readers=(own,)))).profiles
        assert isinstance(theirs, ReaderProfile)
        if judged is None or not judged.readers:
            continue
        (ours,) = judged.readers
        assert (ours.phrases, ours.advice, ours.habits) == (
            theirs.phrases,
            theirs.advice,
            theirs.habits,
        )
        assert len(ours.phrases) < len(reader.phrases)
        compared += 1
    assert compared > 5
