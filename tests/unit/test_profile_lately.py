"""What a reader has mended in the period is not asked again; pages say what is so of late."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.errors import CalibrationError
from calibration.profile import DepartmentProfile, Part, ProfileSettings, ReaderProfile, profile
from calibration.profile.lately import _of_reader
from calibration.profile.rates import Rate
from calibration.profile.shared import Evidence
from calibration.profile.swaps import Choices, _apart, _Move
from pipeline.tables.profiles import compact, joined
from reports.disclosure import _of_reader as disclosed
from reports.drawing.marks import Text
from reports.drawing.style import style_for
from reports.pages import committee
from reports.strings import Strings
from reports.verdict import in_words, message, of_all, short
from tests.fixtures.department import SCALE, department
from tests.fixtures.reports import sample_contents as samples

WORDS = {name: Strings.load(language=name) for name in ("en", "de")}
FIT = [(0.0, 1.0)] * 4
MONTHS = [f"{year}-{month:02d}" for year in (2024, 2025) for month in range(1, 13)]


def over_time(
    before: float, since: float, *, at: int = 12, statements: int = 1400, slopes: float = 1.0
) -> pd.DataFrame:
    """Draw r00, who stands so before a month of two years and since, and four who fit."""
    parts = []
    for number, (shift, months) in enumerate(((before, MONTHS[:at]), (since, MONTHS[at:]))):
        size = round(statements * len(months) / len(MONTHS))
        slope = slopes if number == 0 else 1.0
        rows = department([(shift, slope), *FIT], statements=size, seed=5 + number)
        exam = pd.factorize(rows["exam"])[0]
        named = np.array(months)[exam % len(months)]
        parts.append(rows.assign(month=named, patient=f"{number}" + rows["patient"],
                                 exam=f"{number}" + rows["exam"]))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def of_r00(rows: pd.DataFrame, **more: dict[str, tuple[Part, ...]]) -> ReaderProfile:
    return profile(rows, phrases=SCALE, **more).reader("r00")  # type: ignore[arg-type]


def said(found: ReaderProfile) -> tuple[str, str | None, str | None]:
    verdict = found.pattern.verdict
    return found.pattern.direction, verdict.untold, verdict.lately


@pytest.mark.parametrize(("at", "before"), [(8, -1.6), (12, -1.2), (16, -1.2)])
def test_who_has_mended_is_not_asked_again(at: int, before: float) -> None:
    rows = over_time(before, 0.0, at=at)
    assert said(of_r00(rows.drop(columns="month"))) == ("overcalls", None, None)
    for told in ({}, {"r00": ("overcalls",)}):
        found = of_r00(rows, before=told)
        assert said(found) == ("too few", "mended", None)
        assert (found.advice, found.habits, found.considered) == ((), (), ())
    assert abs(MONTHS.index(found.since) - at) <= 3


def test_who_has_mended_a_slope_is_not_asked_again() -> None:
    rows = over_time(0.0, 0.0, slopes=0.4)
    assert said(of_r00(rows.drop(columns="month")))[0] == "too sure"
    assert said(of_r00(rows)) == ("too few", "mended", None)


def test_who_overcalls_throughout_is_told_as_without_months_and_that_it_holds_of_late() -> None:
    rows = over_time(-0.8, -0.8)
    found, plain = of_r00(rows), of_r00(rows.drop(columns="month"))
    assert said(found) == ("overcalls", None, "hold")
    assert [(s.phrase, s.instead) for s in found.advice] == [
        (s.phrase, s.instead) for s in plain.advice
    ]
    behind = in_words(found, words=WORDS["en"]).behind
    assert WORDS["en"]("verdict.lately.hold") in behind


def test_who_got_worse_is_not_told_that_nothing_is_to_be_changed() -> None:
    rows = over_time(0.3, -1.0, at=17, statements=1200)
    assert said(of_r00(rows.drop(columns="month")))[0] != "overcalls"
    assert said(of_r00(rows)) == ("too few", "moved", None)


def test_of_few_latest_x_rays_nothing_is_known_and_one_is_asked_as_before() -> None:
    rows = over_time(-0.8, -0.8)
    few = rows.groupby("reader").cumcount() < 25
    found = of_r00(rows.assign(month=np.where(few, MONTHS[23], MONTHS[0])))
    assert (said(found), found.since, found.lately) == (("overcalls", None, "open"), "", ())
    assert WORDS["en"]("verdict.lately.open") in in_words(found, words=WORDS["en"]).behind
    assert said(of_r00(rows.assign(month=MONTHS[0]))) == ("overcalls", None, None)


def test_readers_who_do_not_change_are_judged_as_without_months() -> None:
    for seed in range(4):
        frame = department([(0.0, 1.0), (0.7, 1.0), (0.0, 0.6)] * 2, statements=700, seed=seed)
        exam = pd.factorize(frame["exam"])[0]
        dated = frame.assign(month=np.array(MONTHS)[exam % 24])
        for each, plain in zip(profile(dated, phrases=SCALE), profile(frame, phrases=SCALE),
                               strict=True):  # fmt: skip
            assert said(each)[:2] == said(plain)[:2]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_credits_in_plain_words_with_figures_before_and_since(language: str) -> None:
    words, found = WORDS[language], disclosed(of_r00(over_time(-1.2, 0.0)), 20)
    assert of_all(found) == "mended"
    told = in_words(found, words=words)
    month = words.month(found.since, "long")
    assert told.first == words("verdict.mended.first", month=month)
    assert (told.actions, told.rule, told.stay) == ((), "", "")
    for each in found.lately:
        assert f"{100 * each.rate.value:.0f}" in told.lead
    assert told.lead.endswith(words("verdict.mended.so"))
    assert short(found, words) == words("verdict.short.mended")
    assert told.first.replace("\u00a0", " ") in message(found, words=words)


def test_figures_of_a_side_are_shown_only_where_both_parts_have_enough() -> None:
    found = of_r00(over_time(-1.2, 0.0))
    names = [f"{side}_{when}" for side in ("strong", "weak") for when in ("before", "since")]
    assert [each.phrase for each in found.lately] == names
    few = replace(found, lately=(replace(found.lately[0], n=12.0), *found.lately[1:]))
    assert [each.phrase for each in disclosed(few, 20).lately] == names[2:]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_review_counts_who_changed_and_draws_no_line_of_them(language: str) -> None:
    content, found = samples.committee(readers=8), of_r00(over_time(-1.2, 0.0))
    assert content.profiles is not None
    first, *others = content.profiles.readers
    changed = replace(found, reader=first.reader)
    whole = replace(content.profiles, readers=(changed, *others))
    pages = committee.pages(
        replace(content, profiles=whole), style=style_for("A4", language=language)
    )
    text = " ".join(m.string for page in pages for m in page.marks if isinstance(m, Text))
    text = " ".join(text.replace("\u00a0", " ").split())
    assert WORDS[language]("committee.apart_changed", n="1").split(",")[0][:40] in text
    assert WORDS[language]("verdict.short.mended").partition(":")[0] in text


def test_two_parts_compared_by_hand() -> None:
    """Two words, log-odds ± 1, of w = 10 each: D = (.8, 0) of variance 2/20, and S = (.25, .09).

    Half of what is known lies before the cut, so the line since is moved by half of δ.
    """
    of = np.zeros((1, 2, 8, 2))
    of[0, :, 0] = 40.0
    of[0, :, 5] = [[10.0, 10.0]] * 2
    of[0, 0, 7], of[0, 1, 7] = [-4.0, -4.0], [4.0, 4.0]
    found = _of_reader(of, ["2025-01"], np.array([1.0, -1.0]), ProfileSettings())

    ratio = 0.35 / 0.1 * 0.19 / 0.1  # of the slope only the spread counts
    odds = 0.3 / 0.7 * math.exp(0.8**2 / 2 * (1 / 0.1 - 1 / 0.35)) / math.sqrt(ratio)
    assert found.changed == pytest.approx(odds / (1 + odds), rel=1e-4)
    assert found.moved[0] == pytest.approx([0.5 * 0.25 / 0.35 * 0.8, 0.0], abs=1e-6)
    left = 0.25 * (0.25 - 0.25**2 / 0.35)
    assert found.variance[0, 0, 0] == pytest.approx(left, rel=1e-4)
    line = Evidence(np.array([-0.5, 0.0]), np.diag([0.01, 0.01]))
    (since,) = found.lines(line)
    assert since.mean == pytest.approx([-0.5 + found.moved[0, 0], 0.0])
    lower = found.lower(np.array([1.0, -1.0]))
    assert lower[:, 0] == pytest.approx([-found.moved[0, 0]] * 2)
    assert lower[0, 1] == pytest.approx(found.variance[0, 0, 0] + found.variance[0, 1, 1])


@pytest.mark.parametrize(("changed", "held"), [(0.24, ""), (0.26, "later")])
def test_a_swap_that_is_not_nearer_now_is_held_back_by_hand(changed: float, held: str) -> None:
    """True in .60 over all and in .75 now: there .77 is nearer than .66, so P(no longer) = p."""
    nothing, later = np.zeros(2), np.array([[-0.69, 1e-9]] * 2)
    choices = Choices(
        names=("likely", "suspicious for"), findings=("",), meaning=np.array([0.77, 0.66]),
        corrected=np.array([0.77, 0.66]), variance=nothing, shared=nothing,
        allowed=np.ones((2, 2), dtype=bool), doubt=nothing, lean=nothing,
        sites=np.zeros((2, 2, 0, 2)), differ=np.zeros((2, 2)), changed=changed, later=later,
    )  # fmt: skip
    rate = Rate(math.log(0.6 / 0.4), 1e-9, math.log(0.6 / 0.4), 1e-9, 1.0)
    assert _apart(_Move(0, None, 1, probability=1.0, gain=0.01), rate, choices) == held


@pytest.mark.parametrize("language", ["en", "de"])
def test_who_mended_in_part_hears_which_swaps_are_no_longer_surely_nearer(language: str) -> None:
    rows, words = over_time(-1.4, -0.4), WORDS[language]
    found = of_r00(rows)
    assert said(found) == ("overcalls", None, "hold")
    held = {each.phrase for each in found.considered if each.apart and each.probability >= 0.9}
    assert held
    steps = [each for each in found.advice if each.phrase in held]
    assert {each.apart for each in steps} == {"later"}
    scale = {name: mean for name, mean in zip(SCALE.phrases, SCALE.means, strict=True)
             if 0.01 < mean < 0.99}  # fmt: skip
    told = in_words(found, words=words, scale=scale)
    card = next(each for each in told.actions if each.swap == steps[0])
    assert words.sentences["verdict.swap.step_later"].rpartition("}")[2] in card.evidence
    others = words.sentences["verdict.held.later"].partition("{")[0]
    assert [text.startswith(others) for text in told.left].count(True) == 1


def test_months_are_written_as_years_and_months() -> None:
    rows = over_time(0.0, 0.0, statements=100)
    for wrong in ("2025-1", "January", ""):
        rows.loc[3, "month"] = wrong
        with pytest.raises(CalibrationError, match=r"month: 1 of .* not as 2026-03"):
            profile(rows, phrases=SCALE)


def test_months_reach_the_profile_from_the_tables_of_a_run() -> None:
    rows = pd.DataFrame({
        "pair_id": ["a", "b"], "patient_code": ["P1", "P2"], "reader_code": "R-1",
        "pathology": "pneumonia", "phrase": "likely", "label": 1.0, "site_code": "T-1",
        "performed_month": ["2025-01", "2025-02"], "weight": 1.0,
    })  # fmt: skip
    whole = joined([compact(rows), compact(rows.assign(performed_month="2025-03"))])
    assert sorted(whole["month"].astype(str)) == ["2025-01", "2025-02", "2025-03", "2025-03"]


def test_order_of_rows_changes_nothing() -> None:
    rows = over_time(-1.2, 0.0, statements=700)
    one, two = of_r00(rows), of_r00(rows.sample(frac=1.0, random_state=1))
    assert (said(one), one.since) == (said(two), two.since)
    assert isinstance(profile(rows, phrases=SCALE), DepartmentProfile)
