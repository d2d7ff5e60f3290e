"""What a profile says of readers: the right direction, and a stated result in every poor case."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from calibration.distributions import Atom, Beta
from calibration.errors import CalibrationError, NotConvergedError
from calibration.profile import (
    STEPS,
    DepartmentProfile,
    Interval,
    Part,
    Pattern,
    ProfileSettings,
    ReaderProfile,
    profile,
    variances,
)
from calibration.profile import department as module
from calibration.profile.atoms import AtomCounts, judge_atoms
from calibration.profile.change import changes
from calibration.profile.habits import HabitFit
from calibration.profile.line import elsewhere, leaned, lines
from calibration.profile.pattern import Case, judge_pattern
from calibration.profile.rates import phrase_rates, posterior
from calibration.profile.readings import Reading, with_rest
from calibration.profile.results import Cell
from calibration.profile.shared import Common, Evidence
from calibration.profile.variances import refit
from calibration.survey import PhraseTable
from reports.single_words import by_finding
from reports.strings import Strings
from reports.verdict import message, short
from tests.fixtures.department import SCALE, department

WORDS = Strings.load()
LINES = [(0.0, 1.0), (0.8, 1.0), (-0.8, 1.0), (0.0, 0.55), (0.0, 1.6), (0.0, 1.0)]


@pytest.fixture(scope="module")
def found() -> DepartmentProfile:
    return profile(department(LINES, statements=2500, seed=11), phrases=SCALE)


def test_each_reader_far_off_is_told_how_and_the_calibrated_are_not(
    found: DepartmentProfile,
) -> None:
    assert [each.pattern.direction for each in found] == [
        "none", "undercalls", "overcalls", "too sure", "too cautious", "none",
    ]  # fmt: skip


def test_intervals_hold_the_lines_readers_were_drawn_with(found: DepartmentProfile) -> None:
    held = [
        part.low < true < part.high
        for each, line in zip(found, LINES, strict=True)
        for part, true in zip((each.pattern.shift, each.pattern.slope), line, strict=True)
    ]
    # Of twelve 95 % intervals three or more miss in 2 % of seeds.
    assert sum(held) >= 10


def test_words_of_a_side_together_have_the_rates_of_its_words_and_are_surer(
    found: DepartmentProfile,
) -> None:
    for each in found:
        assert [side.phrase for side in each.sides] == ["strong", "weak"]
        for side, strong in zip(each.sides, (True, False), strict=True):
            of = [p for p in each.phrases if (p.meaning > 0.5) == strong]
            n = np.array([p.n for p in of])
            assert side.n == n.sum()
            assert side.meaning == pytest.approx(n @ [p.meaning for p in of] / n.sum())
            assert side.observed == pytest.approx(n @ [p.observed for p in of] / n.sum())
            assert side.rate.value == pytest.approx(
                n @ [p.rate.value for p in of] / n.sum(), abs=0.01
            )
            most = max(of, key=lambda p: p.n)
            wide, alone = (np.ptp(logit([p.rate.low, p.rate.high])) for p in (side, most))
            assert wide < alone
        assert 0 <= each.judged <= len(found.phrases) * len(found.findings)


def test_no_swap_moves_a_word_away_from_its_line(found: DepartmentProfile) -> None:
    for each, (shift, slope) in zip(found, LINES, strict=True):
        for swap in each.advice:
            odds = math.log(swap.meaning / (1 - swap.meaning))
            true = 1 / (1 + math.exp(-(shift + slope * odds)))
            assert abs(true - swap.instead_meaning) < abs(true - swap.meaning)
            assert swap.phrase not in {"absent", "present"}


def test_no_swap_is_between_words_that_mean_nearly_the_same(found: DepartmentProfile) -> None:
    swaps = [swap for each in found for swap in each.advice]
    loose = ProfileSettings(least_step=0.001, least_gain=0.0)
    frame = department([(0.25, 1.0), *LINES[1:]], statements=2500, seed=11)
    free = profile(frame, phrases=SCALE, settings=loose)
    held = profile(frame, phrases=SCALE)
    steps = {
        name: [abs(s.instead_meaning - s.meaning) for each in those for s in each.advice]
        for name, those in (("free", free), ("held", held))
    }
    assert swaps
    assert min(steps["free"]) < 0.05 <= min(steps["held"])


def test_deviations_that_do_not_settle_give_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of which nobody says that they are of one patient settle slowly, but they do."""
    frame = department([(0.0, 1.0), (0.3, 1.0), (0.0, 0.7)], statements=400, seed=0)
    uneven = frame.assign(
        count=np.round(10.0 ** np.random.default_rng(0).uniform(0, 1, len(frame)))
    )
    alone = uneven.drop(columns="patient")
    found = profile(alone, phrases=SCALE).diagnostics
    assert found.converged
    assert found.rounds > 80
    monkeypatch.setattr(variances, "_ROUNDS", 3)
    with pytest.raises(NotConvergedError, match=r"no verdict.*without a column patient"):
        profile(alone, phrases=SCALE)
    with pytest.raises(NotConvergedError, match=r"no verdict is given.*counts in the table\.$"):
        profile(uneven, phrases=SCALE)


@pytest.mark.parametrize("patients", [True, False])
def test_a_count_is_as_many_rows_alike(*, patients: bool) -> None:
    """Every exam of some patients is given two or three times, as rows and as a count."""
    frame = department([(0.0, 1.0), (0.3, 1.0), (0.0, 0.7)], statements=150, seed=4)
    count = 1 + np.arange(len(frame)) % 3
    if not patients:
        frame = frame.drop(columns="patient")
    rows = profile(frame.loc[np.repeat(frame.index, count)], phrases=SCALE)
    counts = profile(frame.assign(count=count), phrases=SCALE)
    for one, other in zip(rows, counts, strict=True):
        assert one.pattern.shift.value == pytest.approx(other.pattern.shift.value, abs=1e-8)
        assert one.pattern.shift.low == pytest.approx(other.pattern.shift.low, abs=1e-8)
    assert rows.diagnostics.same_finding == pytest.approx(counts.diagnostics.same_finding)
    assert rows.diagnostics.other_finding == pytest.approx(counts.diagnostics.other_finding)


def test_tipping_point_brings_the_shift_to_its_margin(found: DepartmentProfile) -> None:
    pattern = found.reader("r01").pattern
    assert pattern.tipping == pytest.approx(math.exp(pattern.shift.value - 0.2))
    assert found.reader("r02").pattern.tipping < 1.0


def test_phrase_never_to_be_suggested_is_not(found: DepartmentProfile) -> None:
    given = {swap.instead for each in found for swap in each.advice}
    frame = department(LINES, statements=2500, seed=11)
    barred = profile(frame, phrases=SCALE, never=tuple(given))
    assert given
    assert not given & {swap.instead for each in barred for swap in each.advice}


def test_atom_off_stands_against_the_department_and_never_becomes_a_swap() -> None:
    frame = department([(0.0, 1.0)] * 5, statements=2000, seed=3)
    g = np.random.default_rng(5)
    his = (frame["reader"] == "r02") & (frame["phrase"] == "absent")
    frame.loc[his & (g.random(len(frame)) < 0.3), "label"] = 1.0
    each = profile(frame, phrases=SCALE)
    off = each.reader("r02").absent
    assert off.state == "more often"
    assert off.wrong > 3 * off.expected_wrong
    assert {r.absent.state for r in each if r.reader != "r02"} <= {"as others", "less often"}
    assert all(swap.phrase != "absent" for swap in each.reader("r02").advice)


def test_present_and_absent_name_only_the_phrases_that_the_reader_wrote() -> None:
    frame = department([(0.0, 1.0)] * 4, statements=600, seed=3)
    sure = np.where(frame["reader"] == "r02", "diagnostic of", "present")
    written = frame["phrase"].where(~frame["phrase"].isin(["present", "diagnostic of"]), sure)
    each = profile(frame.assign(phrase=written), phrases=SCALE)
    assert each.reader("r01").present.phrases == ("present",)
    assert each.reader("r02").present.phrases == ("diagnostic of",)


def test_one_reader_s_wrong_certainties_are_not_expected_of_the_others() -> None:
    frame = department([(0.0, 1.0)] * 5, statements=2000, seed=3)
    many = department([(0.0, 1.0)], statements=8000, seed=4).assign(reader="r02")
    frame = pd.concat([frame[frame["reader"] != "r02"], many], ignore_index=True)
    g = np.random.default_rng(5)
    his = (frame["reader"] == "r02") & (frame["phrase"] == "absent")
    frame.loc[his & (g.random(len(frame)) < 0.3), "label"] = 1.0
    found = profile(frame, phrases=SCALE)
    assert found.reader("r02").absent.state == "more often"
    others = [each.absent for each in found if each.reader != "r02"]
    # A plain sum over the others would expect one in five, and find all four far better.
    assert all(each.expected_wrong < 0.06 * each.n for each in others)
    assert [each.state for each in others].count("as others") >= 3


def test_one_phrase_far_off_in_one_finding_is_told_at_its_own_scope() -> None:
    frame = department([(0.0, 1.0)] * 5, statements=2500, seed=21)
    g = np.random.default_rng(2)
    here = (
        (frame["reader"] == "r03")
        & frame["phrase"].isin(["likely", "most likely"])
        & (frame["pathology"] == "finding 1")
    )
    frame.loc[here, "phrase"] = "likely"
    frame.loc[here, "label"] = (g.random(int(here.sum())) < 0.35).astype(float)
    found = profile(frame, phrases=SCALE)
    told = [(habit.phrase, habit.finding) for habit in found.reader("r03").habits]
    assert told[0] == ("likely", "finding 1")
    swaps = [(swap.phrase, swap.finding) for swap in found.reader("r03").advice]
    assert ("likely", "finding 1") in swaps
    assert ("likely", None) not in swaps
    reader = found.reader("r03")
    habit = reader.habits[0]
    (whole,) = (each for each in reader.phrases if each.phrase == "likely")
    (rest,) = (each for each in reader.rest if each.phrase == "likely")
    assert rest.besides == ("finding 1",)
    assert rest.n + habit.n == whole.n
    parts = (rest.n * rest.rate.value + habit.n * habit.rate.value) / whole.n
    assert parts == pytest.approx(whole.rate.value, abs=1e-3)
    assert rest.rate.low < rest.meaning < rest.rate.high
    assert habit.rate.high < habit.meaning


def test_word_off_in_every_finding_that_is_much_of_what_a_reader_writes_is_no_pattern() -> None:
    frame = department([(0.0, 1.0)] * 6, statements=1500, seed=5)
    likely = (frame["reader"] == "r03") & (frame["phrase"] == "likely")
    frame = pd.concat([frame, frame[likely].sample(500, replace=True, random_state=1)])
    own = ((frame["reader"] == "r03") & (frame["phrase"] == "likely")).to_numpy()
    labels = frame["label"].to_numpy(copy=True)
    labels[own] = np.random.default_rng(1).random(int(own.sum())) < 0.95
    each = profile(frame.assign(label=labels), phrases=SCALE).reader("r03")
    # His line is too steep, which "likely" alone makes.
    assert each.pattern.slope.probability > 0.9
    assert (each.pattern.direction, each.pattern.verdict.slight) == ("none", None)
    told = message(each, words=WORDS)
    assert told.startswith("Your “likely” says less than CT shows:")
    assert "In general" not in told
    assert [(habit.phrase, habit.finding) for habit in each.habits] == [("likely", None)]


def test_habit_of_a_word_used_in_one_finding_alone_is_told_there_and_is_no_pattern() -> None:
    frame = department([(0.0, 1.0)] * 6, statements=1200, seed=23)
    g = np.random.default_rng(4)
    his = (frame["reader"] == "r03") & (frame["phrase"] == "likely")
    frame = frame[~his].reset_index(drop=True)
    near = frame["phrase"].isin(["probably", "most likely", "suggestive of", "suspicious for"])
    here = (frame["reader"] == "r03") & near & (frame["pathology"] == "finding 1")
    assert 60 < here.sum() < 80
    frame.loc[here, "phrase"] = "likely"
    frame.loc[here, "label"] = (g.random(int(here.sum())) < 0.45).astype(float)
    each = profile(frame, phrases=SCALE).reader("r03")
    assert [(habit.phrase, habit.finding) for habit in each.habits] == [("likely", "finding 1")]
    assert each.pattern.verdict.parts == ()


def test_no_swap_rests_on_what_few_were_asked() -> None:
    frame = department([(0.0, 1.0)] * 4, statements=900, seed=8)
    his = (frame["reader"] == "r01") & (frame["phrase"] == "likely")
    frame.loc[his, "label"] = (np.random.default_rng(1).random(int(his.sum())) < 0.5).astype(float)
    asked = {
        n: profile(frame, phrases=replace(SCALE, respondents=(n,) * len(SCALE))).reader("r01")
        for n in (2000, 10)
    }
    words = {n: {swap.phrase for swap in each.advice} for n, each in asked.items()}
    assert "likely" in words[2000]
    assert "likely" not in words[10]


def test_what_all_share_is_asked_of_the_department_and_only_the_rest_told_of_readers() -> None:
    lines = [(0.4, 1.0)] * 7 + [(1.2, 1.0)]
    found = profile(department(lines, statements=2500, seed=31), phrases=SCALE)
    assert found.shared.seen == ("undercalls",)
    assert found.shared.shift.low < 0.4 < found.shared.shift.high
    assert [each.pattern.verdict.shared for each in found] == [("undercalls",)] * 7 + [()]
    assert [each.pattern.direction for each in found] == ["none"] * 7 + ["undercalls"]
    told = message(found.reader("r00"), words=WORDS)
    # Only his line was held against theirs: one whose "unlikely" was off alone was told "Nothing".
    assert told.startswith("As a whole, nothing shows that is yours alone to change.")
    assert "are weaker than CT bears out" in told


def test_calibration_in_the_large_says_how_many_more_and_how_far_off(
    found: DepartmentProfile,
) -> None:
    frame = department(LINES, statements=2500, seed=11)
    hedges = frame[frame["phrase"].isin(found.phrases)]
    means = dict(zip(SCALE.phrases, SCALE.means, strict=True))
    for each, (shift, slope) in zip(found, LINES, strict=True):
        own = hedges[hedges["reader"] == each.reader]
        meaning = own["phrase"].map(means).to_numpy()
        odds = np.log(meaning / (1 - meaning))
        rate = 1 / (1 + np.exp(-(shift + slope * odds)))
        large = each.large
        assert large.observed == own["label"].sum()
        assert large.expected == pytest.approx(meaning.sum())
        assert large.ratio.value == pytest.approx(rate.sum() / meaning.sum(), rel=0.06)
        assert large.ratio.low < large.observed / large.expected < large.ratio.high
        off = np.quantile(np.abs(rate - meaning), [0.5, 0.9])
        assert [large.e50, large.e90] == pytest.approx(off, abs=0.05)
    whole = found.large
    assert whole.n == sum(each.large.n for each in found)
    width = [each.large.ratio.high - each.large.ratio.low for each in found]
    assert whole.ratio.high - whole.ratio.low < min(width)


def alone(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["reader"] == "r00"]


POOR = {
    "one reader": alone(department([(0.0, 1.0)], statements=400, seed=1)),
    "one phrase": department([(0.0, 1.0)] * 3, statements=300, seed=2).assign(phrase="likely"),
    "no events": department([(0.0, 1.0)] * 3, statements=300, seed=3).assign(label=0.0),
    "events only": department([(0.0, 1.0)] * 3, statements=300, seed=4).assign(label=1.0),
    "labels all one half": department([(0.0, 1.0)] * 2, statements=300, seed=5).assign(label=0.5),
    "three statements": department([(0.0, 1.0)] * 2, statements=3, seed=6),
    "atoms only": department([(0.0, 1.0)] * 3, statements=200, seed=7).assign(phrase="absent"),
    "no phrase known": department([(0.0, 1.0)] * 2, statements=50, seed=8).assign(phrase="hmm"),
    "no pathology and no patient": department([(0.3, 1.0)] * 4, statements=300, seed=9).drop(
        columns=["pathology", "patient", "exam"]
    ),
    "one finding without an event": department([(0.0, 1.0)] * 3, statements=400, seed=10).assign(
        label=lambda f: f["label"].where(f["pathology"] != "finding 1", 0.0)
    ),
    "one patient": department([(0.0, 1.0)] * 2, statements=300, seed=12).assign(patient="p"),
}


@pytest.mark.parametrize("case", POOR, ids=str)
def test_poor_department_has_a_stated_result(case: str) -> None:
    found = profile(POOR[case], phrases=SCALE)
    assert len(found.readers) == POOR[case]["reader"].nunique()
    for each in found:
        pattern = each.pattern
        assert all(
            math.isfinite(v)
            for part in (pattern.shift, pattern.slope)
            for v in (part.value, part.low, part.high, part.probability)
        )
        assert pattern.shift.low < pattern.shift.value < pattern.shift.high
        assert message(each, words=WORDS)
        if each.hedges < ProfileSettings().least_statements:
            assert pattern.direction == "too few"
            assert not each.advice


@pytest.mark.parametrize("case", ["no events", "events only", "labels all one half"])
def test_where_every_label_is_the_same_nobody_is_told_anything(case: str) -> None:
    found = profile(POOR[case], phrases=SCALE)
    for each in found:
        assert each.pattern.direction == "too few"
        assert each.pattern.verdict.untold == "one label"
        assert (each.habits, each.advice, each.pattern.verdict.more_exams) == ((), (), None)
        assert message(each, words=WORDS).startswith("Nothing can be judged. The label column")
    assert found.shared.parts == ()


def test_one_label_that_differs_is_enough_to_judge() -> None:
    frame = POOR["no events"].copy()
    frame.loc[0, "label"] = 1.0
    found = profile(frame, phrases=SCALE)
    assert {each.pattern.direction for each in found} != {"too few"}
    assert all(each.pattern.verdict.untold is None for each in found)


def test_reader_of_one_phrase_is_promised_no_number_of_exams() -> None:
    frame = department([(0.0, 1.0)] * 3, statements=1500, seed=2)
    kept = (frame["reader"] != "r01") | (frame["phrase"] == "likely")
    found = profile(frame[kept], phrases=SCALE)
    verdict = found.reader("r01").pattern.verdict
    assert (verdict.state, verdict.untold, verdict.more_exams) == ("too few", "one phrase", None)
    told = message(found.reader("r01"), words=WORDS)
    assert "more of the same would not help" in told
    assert "“likely”" in told
    assert "About" not in told
    assert found.reader("r00").pattern.verdict.untold is None


def test_words_that_lie_together_tell_no_slope_but_where_they_stand() -> None:
    frame = department([(0.0, 1.0)] * 5, statements=2500, seed=6)
    kept = (frame["reader"] != "r02") | frame["phrase"].isin(["likely", "probably"])
    frame = frame[kept].reset_index(drop=True)
    own = (frame["reader"] == "r02").to_numpy()
    rate = np.where(frame["phrase"] == "likely", 0.7, 0.35)
    labels = np.random.default_rng(3).random(len(frame)) < rate
    frame["label"] = np.where(own, labels.astype(float), frame["label"])
    each = profile(frame, phrases=SCALE).reader("r02")
    assert each.pattern.direction == "overcalls"
    assert each.pattern.slope.low < 1.0 < each.pattern.slope.high
    assert each.pattern.slope.value < 1.5  # the two words alone would say 6


def _judged_at(
    shift: float, sd: float, *, slope: float = 0.0, done: float = 0.0, common: tuple[Part, ...] = ()
) -> Pattern:
    evidence = Evidence(np.array([shift, slope]), np.diag([sd**2, 0.04**2]))
    instrument = Common(np.array([[done, 0.0]]), np.ones(1))
    case = Case(evidence, 0.0, instrument, common, hedges=2600.0, exams=1200)
    return judge_pattern(case, settings=ProfileSettings())


def test_what_the_instrument_may_have_done_is_not_told_of_the_reader() -> None:
    own, far = _judged_at(0.4, 0.1), _judged_at(0.8, 0.1, done=0.3)
    assert own.direction == far.direction == "undercalls"
    left, shared = (_judged_at(0.4, 0.1, done=0.3, common=c) for c in ((), ("undercalls",)))
    assert (left.direction, left.verdict.untold) == ("too few", "instrument")
    assert left.verdict.explained == ("undercalls",)
    assert left.verdict.more_exams is None
    assert (shared.verdict.shared, shared.verdict.explained) == (("undercalls",), ())
    assert _judged_at(-0.4, 0.1, done=0.3).direction == "overcalls"


def test_no_pattern_rests_on_one_word_in_one_finding() -> None:
    evidence = Evidence(np.array([0.0, -0.3]), np.diag([0.1**2, 0.08**2]))
    case = Case(evidence, 0.0, Common(np.zeros((1, 2)), np.ones(1)), (), hedges=2600.0, exams=1200)
    cells = (Cell("likely", "finding 1"), Cell("possibly", "finding 2"))
    for move, told in ((0.2, "too few"), (0.02, "too sure")):
        moved = np.array([[0.0, 0.01], [0.0, move]])
        found = judge_pattern(replace(case, cells=cells, moved=moved), settings=ProfileSettings())
        assert found.direction == told
        assert found.verdict.carried == (cells[1] if told == "too few" else None)
        assert found.verdict.untold == ("one cell" if told == "too few" else None)
        assert found.verdict.more_exams is None


def test_no_pattern_rests_on_one_finding() -> None:
    spread = np.diag([0.1**2, 0.08**2])
    evidence, finding = Evidence(np.array([-0.4, 0.0]), spread), Cell("", "finding 1")
    case = Case(evidence, 0.0, Common(np.zeros((1, 2)), np.ones(1)), (), hedges=2600.0, exams=1200)
    for shift, told in ((-0.1, "too few"), (-0.3, "overcalls")):
        rest = Evidence(np.array([shift, 0.0]), spread)
        without = replace(case, cells=(finding,), elsewhere=(rest,))
        found = judge_pattern(without, settings=ProfileSettings())
        assert found.direction == told
        assert found.verdict.carried == (finding if told == "too few" else None)


def test_who_is_off_in_one_finding_is_told_no_pattern_of_all() -> None:
    """Of 180 readers off in one of eight findings 27 were told what falls without it."""
    frame = department([(0.0, 1.0)] * 5, statements=2000, seed=4)
    his = (frame["reader"] == "r01") & (frame["pathology"] == "finding 1")
    far = department([(-2.0, 1.0)], statements=2000, seed=5).assign(reader="r01")
    found = profile(
        pd.concat([frame[~his], far[far["pathology"] == "finding 1"]], ignore_index=True),
        phrases=SCALE,
    )
    one = found.reader("r01")
    assert one.pattern.direction == "too few"
    assert one.pattern.verdict.carried == Cell("", "finding 1")
    assert {p.phrase for p in by_finding(one)} == {"finding 1"}
    for language, first, alone in (
        ("en", "what shows rests on finding 1 alone", "rests on one finding"),
        ("de", "was sich zeigt, beruht allein auf finding 1", "auf einer Pathologie"),
    ):
        words = Strings.load(language=language)
        assert first.lower() in message(one, words=words).lower()
        assert alone in short(replace(one, advice=(), habits=()), words)


def test_a_swap_that_one_finding_carries_is_of_that_finding() -> None:
    """In all others CT bore 12 of 18 uses out, and the swap was said of all findings."""
    frame = department([(0.0, 1.0)] * 5, statements=900, seed=3)
    uses = {"finding 1": (60, 24), "finding 0": (6, 4), "finding 2": (6, 4), "finding 3": (6, 4)}
    own = [
        {"reader": "r01", "phrase": "likely", "label": float(i < y), "pathology": finding,
         "patient": f"{finding}-{i}", "exam": f"{finding}-{i}"}
        for finding, (n, y) in uses.items() for i in range(n)
    ]  # fmt: skip
    kept = (frame["reader"] != "r01") | (frame["phrase"] != "likely")
    found = profile(pd.concat([frame[kept], pd.DataFrame(own)], ignore_index=True), phrases=SCALE)
    (swap,) = (s for s in found.reader("r01").advice if s.phrase == "likely")
    assert swap.finding == "finding 1"


def test_what_all_but_one_finding_show_is_what_a_fit_without_it_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One Newton step beside the mode that is found anew: rates and lines of every reader."""
    given: list[HabitFit] = []
    monkeypatch.setattr(
        module, "leaned", lambda found, lean: given.append(found) or leaned(found, lean)
    )
    profile(department(LINES, statements=1200, seed=7), phrases=SCALE)
    (found,), settings = given, ProfileSettings()
    counts = found.counts
    (rates, doubts), besides = elsewhere(found, counts.n)
    for f, beside in enumerate(besides):
        kept = (np.arange(counts.n.shape[1]) != f)[:, None]
        left = replace(counts, n=counts.n * kept, mass=counts.mass * kept)
        fitted = refit(left, settings.priors, found.fitted.habits, found.fitted)
        again = lines(replace(found, fitted=fitted, posterior=posterior(fitted)))
        assert beside.value == pytest.approx(again.value, abs=0.08)
        assert beside.covariance == pytest.approx(again.covariance, rel=0.25, abs=0.002)
        rate, variance = phrase_rates(left, posterior(fitted), uses=left.n)
        assert rates[:, f] == pytest.approx(rate, abs=0.25)
        assert doubts[:, f] == pytest.approx(variance, rel=0.25)


def test_no_pattern_rests_on_a_word_that_most_probably_holds_a_habit() -> None:
    spread = np.diag([0.1**2, 0.08**2])
    word, line = Cell("likely", ""), Evidence(np.array([0.0, -0.4]), spread)
    alone = Case(line, 0.0, Common(np.zeros((1, 2)), np.ones(1)), (), hedges=2600.0, exams=1200)
    for slope, suspected, told in (
        (0.0, 0.5, "too few"), (0.0, 0.1, "too sure"), (0.0, 0.999, "none"),
        (-0.4, 0.999, "too sure"), (-0.9, 0.5, "too sure"),
    ):  # fmt: skip
        rest = Evidence(np.array([0.0, slope]), spread)
        case = replace(alone, cells=(word,), suspected=suspected, rest=rest)
        found = judge_pattern(case, settings=ProfileSettings())
        assert found.direction == told
        assert found.verdict.carried == (word if told == "too few" else None)
        # The printed line is that of all words, whatever is told.
        assert found.slope.value == pytest.approx(0.6)


def test_a_word_that_one_finding_carries_has_a_rate_in_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[tuple[Sequence[ReaderProfile], Reading]] = []
    monkeypatch.setattr(module, "with_rest", lambda *each: given.append(each) or each[0])
    profile(department([(0.0, 1.0)] * 5, statements=900, seed=21), phrases=SCALE)
    ((readers, reading),) = given
    first = replace(readers[0], habits=(), advice=())
    assert with_rest([first, *readers[1:]], reading)[0].rest == ()
    verdict = replace(first.pattern.verdict, carried=Cell("likely", "finding 1"))
    first = replace(first, pattern=replace(first.pattern, verdict=verdict))
    (rest,) = with_rest([first, *readers[1:]], reading)[0].rest
    assert (rest.phrase, rest.besides) == ("likely", ("finding 1",))
    (whole,) = (each for each in first.phrases if each.phrase == "likely")
    assert 0 < rest.n < whole.n


def test_slope_beside_a_shift_is_said_only_where_both_are_sound() -> None:
    assert _judged_at(0.4, 0.1).verdict.question
    assert _judged_at(0.15, 0.1, slope=-0.5).verdict.parts == ("too sure",)
    assert _judged_at(0.6, 0.1, slope=-0.5).verdict.parts == ("undercalls", "too sure")


def test_what_the_instrument_explains_is_said_to_be_open_and_single_words_are_named(
    found: DepartmentProfile,
) -> None:
    reader = found.reader("r00")
    off = replace(reader.phrases[0], phrase="likely", n=200.0, meaning=0.77)
    alone = replace(off, rate=Interval(0.4, 0.34, 0.46))
    for pattern, whole in (
        (_judged_at(0.4, 0.1, done=0.3), "We cannot tell whether it is your words."),
        (
            _judged_at(0.4, 0.1, done=0.35, common=("undercalls",)),
            "it is a question about the department",
        ),
        (_judged_at(0.0, 0.05), "show no pattern as a whole"),
    ):
        each = replace(reader, pattern=pattern, habits=(), advice=(), phrases=(alone,))
        told = message(each, words=WORDS)
        assert told.startswith(
            "Your “likely” says more than CT shows: CT shows it about 40 % of the time, peers "
            "take it as 77 %."
        )
        assert whole in told
        assert short(each, WORDS).startswith("“likely” too high; overall ")
        # A word where the reader's line puts it is no word by itself.
        line = replace(off, rate=Interval(0.84, 0.8, 0.88))
        assert "than CT shows: " not in message(replace(each, phrases=(line,)), words=WORDS)


def test_who_stands_off_but_surely_not_clearly_is_told_slightly_and_needs_no_more_exams() -> None:
    near, unsure, none = _judged_at(0.25, 0.1), _judged_at(0.3, 0.15), _judged_at(0.05, 0.1)
    assert near.clearly_off < 0.02 < unsure.clearly_off
    assert (near.verdict.state, near.verdict.slight) == ("none", "undercalls")
    assert near.verdict.more_exams is None
    assert (unsure.verdict.state, unsure.verdict.slight) == ("too few", None)
    assert (none.verdict.state, none.verdict.slight) == ("none", None)


def test_slightly_low_is_said_in_place_of_nothing_to_change(found: DepartmentProfile) -> None:
    each = replace(found.reader("r00"), pattern=_judged_at(0.25, 0.1), habits=(), advice=())
    told = message(each, words=WORDS)
    assert told.startswith(
        "Nothing to change as a whole; if anything your hedges are slightly too weak (chance 6 in"
    )
    assert each.pattern.verdict.chance < 0.7
    assert "more X-ray" not in told


@pytest.mark.parametrize("lines", [LINES, [(0.0, 1.0)] * 3])
def test_all_steps_are_told_of_whether_habits_are_found_or_not(
    lines: list[tuple[float, float]],
) -> None:
    done: list[int] = []
    profile(department(lines, statements=400, seed=6), phrases=SCALE, advance=done.append)
    assert sum(done) == STEPS
    assert len(done) > 2


def test_department_of_unknown_phrases_counts_them() -> None:
    found = profile(POOR["no phrase known"], phrases=SCALE)
    assert found.unmapped == {"hmm": 100}
    assert [each.n for each in found] == [0.0, 0.0]
    assert found.readers[0].absent.state == "too few"


def test_reader_alone_has_nobody_to_be_compared_with() -> None:
    found = profile(POOR["one reader"], phrases=SCALE)
    assert found.readers[0].absent.state == "no comparison"
    assert math.isnan(found.readers[0].absent.expected)


def test_table_without_hedges_leaves_the_line_open() -> None:
    table = PhraseTable("atoms", ("no", "yes"), (Atom(0.0), Atom(1.0)), (None, None))
    frame = pd.DataFrame({"reader": ["a", "b"] * 20, "phrase": "no", "label": 0.0})
    found = profile(frame, phrases=table)
    assert {each.pattern.direction for each in found} == {"too few"}
    assert [each.absent.n for each in found] == [20.0, 20.0]


def test_the_share_of_one_colleague_in_what_is_expected_is_known() -> None:
    """300 of the 320 absences of r01's and r02's others in a finding are r00's."""
    n = np.array([[300.0, 0.0], [20.0, 0.0], [20.0, 0.0]])
    phrases = (("absent",),) * 4
    counts = AtomCounts(phrases, positive_is_wrong=True, n=n, wrong=n / 10.0, effective=n)
    first, second, third = judge_atoms(counts, settings=ProfileSettings())
    assert first.most == pytest.approx(0.5)
    assert second.most == third.most == pytest.approx(300 / 320, abs=0.001)
    apart = np.array([[300.0, 0.0], [20.0, 20.0], [20.0, 20.0], [0.0, 400.0]])
    counts = AtomCounts(
        phrases, positive_is_wrong=True, n=apart, wrong=apart / 10.0, effective=apart
    )
    assert judge_atoms(counts, settings=ProfileSettings())[1].most < 0.6  # one in each finding


def test_who_never_hedges_is_told_so_and_is_promised_nothing_of_more_exams() -> None:
    frame = department([(0.0, 1.0)] * 4, statements=300, seed=21)
    rng = np.random.default_rng(21)
    sure = frame["reader"] == frame["reader"].unique()[0]
    word = pd.Series(rng.choice(["absent", "present"], len(frame)), frame.index)
    shown = (word == "present") ^ (rng.random(len(frame)) < 0.05)
    some = sure | (rng.random(len(frame)) < 0.3)
    frame = frame.assign(phrase=word.where(some, frame["phrase"]))
    frame["label"] = shown.astype(float).where(some, frame["label"])
    each = profile(frame, phrases=SCALE).readers[0]
    assert each.pattern.verdict.untold == "no hedge"
    said = message(each, words=WORDS)
    assert said.startswith("You wrote no hedge that can be judged.")
    assert "“absent”: CT showed the finding in" in said
    assert not re.search(r"\b0 hedges|far more|cannot tell|No swap", said)
    off = replace(each, absent=replace(each.absent, state="more often"))
    assert message(off, words=WORDS).startswith("“absent”: contradicted by CT more often than")


@pytest.mark.parametrize("language", ["en", "de"])
def test_who_hedges_in_words_of_no_survey_is_not_said_to_be_sure(language: str) -> None:
    """All that was written, 200 times "cannot exclude" too, was as sure as "present"."""
    frame = department([(0.0, 1.0)] * 2, statements=300, seed=21)
    own = frame["reader"] == "r00"
    word = pd.Series(np.where(frame.index % 3, "cannot exclude", "absent"), frame.index)
    found = profile(frame.assign(phrase=word.where(own, frame["phrase"])), phrases=SCALE)
    assert found.unmapped == {"cannot exclude": 200}
    said = message(found.reader("r00"), words=Strings.load(language=language))
    assert not re.search("Everything you wrote|Alles, worauf", said)
    assert re.search("whose meaning is known|bekannter Bedeutung", said)


def test_who_writes_one_word_alone_is_not_told_what_is_left_without_it() -> None:
    """All hedges were "likely", and "without it they do not" look off."""
    frame = department([(0.0, 1.0)] * 8, statements=150, seed=3)
    own = frame["reader"] == "r00"
    frame.loc[own, "label"] = (np.arange(150) % 20 < 9).astype(float)
    frame.loc[own, "phrase"] = "likely"
    reader = profile(frame[~own | (frame.index < 100)], phrases=SCALE).reader("r00")
    verdict = reader.pattern.verdict
    assert (verdict.carried, verdict.untold) == (Cell("likely", ""), "one phrase")
    said = message(reader, words=WORDS)
    assert "without it" not in said
    assert "more of the same would not help" in said


def chosen_by_doubt(slope: float, *, ratio: float, seed: int) -> pd.DataFrame:
    """Draw ten readers whose beliefs are right but for a slope, and CTs chosen by doubt alone."""
    g, parts = np.random.default_rng(seed), []
    words = [(p, d) for p, d in zip(SCALE.phrases, SCALE.distributions, strict=True)]
    for reader in range(10):
        for phrase, of in words:
            n = 120
            belief = g.beta(of.alpha, of.beta, n) if isinstance(of, Beta) else np.full(n, of.mean)
            rate = expit(slope * logit(belief.clip(1e-9, 1.0 - 1e-9)))
            doubt = (belief > 0.2) & (belief <= 0.8)
            taken = g.random(n) < np.where(doubt, 1.0, 1.0 / ratio)
            label = (g.random(n) < rate)[taken].astype(float)
            parts.append(pd.DataFrame({"reader": f"r{reader}", "phrase": phrase, "label": label}))
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(pathology=[f"finding {i}" for i in g.integers(0, 4, len(frame))])


def test_cts_ordered_in_doubt_make_no_department_too_sure() -> None:
    """Each word is right over all X-rays; it was more than who gets a CT could explain."""
    frame = chosen_by_doubt(1.0, ratio=4.0, seed=1)
    found = profile(frame, phrases=SCALE)
    assert found.shared.slope.value < 0.85
    assert (found.shared.parts, found.shared.explained) == ((), ("too sure",))
    unasked = profile(frame, phrases=SCALE, settings=ProfileSettings(plausible_doubt=1.0))
    assert unasked.shared.parts == ("too sure",)
    off = department([(0.0, 0.5)] * 10, statements=1200, seed=2)
    certain = off["phrase"].isin(["absent", "present"])
    off["label"] = (off["phrase"] == "present").astype(float).where(certain, off["label"])
    assert profile(off, phrases=SCALE).shared.parts == ("too sure",)


def test_hedges_off_in_one_finding_are_not_said_to_mean_what_peers_take_them_to_mean() -> None:
    """A shift of one finding up and of another down, in all hands, has none over all."""
    frame = department([(0.0, 1.0)] * 4, statements=1500, seed=22)
    rng, names = np.random.default_rng(22), sorted(frame["pathology"].unique())
    meaning = dict(zip(SCALE.phrases, SCALE.means, strict=True))
    odds = logit(np.clip(frame["phrase"].map(meaning), 0.01, 0.99))
    odds += frame["pathology"].map({names[0]: -1.0, names[1]: 1.0}).fillna(0.0)
    found = profile(frame.assign(label=(rng.random(len(odds)) < expit(odds)) * 1.0), phrases=SCALE)
    none = [each for each in found if each.pattern.verdict.state == "none"]
    assert none
    for each in none:
        off = {p.phrase: p.rate.value > p.meaning for p in by_finding(each)}
        assert off, each.findings
        assert off.items() <= {(names[0], False), (names[1], True)}
        said = message(each, words=WORDS)
        assert "Taken together they mean" not in said
        assert "Nothing to change" not in said
    for each in profile(department([(0.0, 1.0)] * 4, statements=1500, seed=22), phrases=SCALE):
        assert not by_finding(each)


def test_word_that_nearly_states_certainty_takes_no_part_in_the_line() -> None:
    table = PhraseTable(
        "three", ("maybe", "likely", "diagnostic of"), (Beta(2, 3), Beta(4, 1), Atom(0.999)),
        (40, 40, None),
    )  # fmt: skip
    frame = department([(0.0, 1.0)] * 2, statements=200, seed=1).assign(
        phrase=lambda f: np.resize(["maybe", "likely", "diagnostic of"], len(f))
    )
    found = profile(frame, phrases=table)
    assert found.phrases == ("maybe", "likely")
    assert found.readers[0].present.phrases == ("diagnostic of",)
    assert found.diagnostics.unsurveyed == ()


def test_misread_phrases_look_too_sure_unless_their_share_is_known() -> None:
    frame = department([(0.0, 1.0)] * 4, statements=3000, seed=31)
    g = np.random.default_rng(7)
    slipped = g.random(len(frame)) < 0.1
    frame.loc[slipped, "phrase"] = g.permutation(frame.loc[slipped, "phrase"].to_numpy())
    blind = profile(frame, phrases=SCALE)
    known = profile(frame, phrases=SCALE, settings=ProfileSettings(misread=0.1))
    slopes = [
        float(np.mean([each.pattern.slope.value for each in found])) for found in (blind, known)
    ]
    assert slopes[0] < 0.9
    assert abs(slopes[1] - 1.0) < 0.08


def test_empty_table_is_refused() -> None:
    with pytest.raises(CalibrationError, match="no rows"):
        profile(pd.DataFrame({"reader": [], "phrase": [], "label": []}), phrases=SCALE)


def test_a_reader_who_is_not_there_has_no_profile(found: DepartmentProfile) -> None:
    with pytest.raises(KeyError):
        found.reader("nobody")


def hedging_ct(share: float, *, there: float = 0.92, absent: float = 0.39) -> DepartmentProfile:
    """Profile readers who say what is there, of whom CT hedges of a share: never wrongly."""
    rows = department([(0.0, 1.0)] * 6, statements=2500, seed=5)
    hedges = np.random.default_rng(5).random(len(rows)) < share
    said = np.where(rows["label"] > 0.5, there, absent)
    return profile(rows.assign(label=np.where(hedges, said, rows["label"])), phrases=SCALE)


def test_where_ct_hedges_nearly_everywhere_no_word_is_right_or_wrong_by_it() -> None:
    """Label mass is .92 of what is there and .39 of what is not, which no word of theirs is."""
    for each in hedging_ct(0.95):
        verdict = each.pattern.verdict
        assert (verdict.state, verdict.untold, verdict.parts) == ("too few", "no standard", ())
        assert (each.habits, each.advice, each.considered) == ((), (), ())
        assert {each.absent.state, each.present.state} == {"no standard"}
        assert 0 < each.plain < 0.1 * each.hedges
        said = message(each, words=WORDS)
        assert "cannot be told: CT itself hedges" in said
        assert "→" not in said


def test_of_whom_ct_hedges_mostly_stands_in_no_figure_of_colleagues() -> None:
    """Two of seven: they lowered what readers share, and raised what is expected of "absent"."""
    rows = department([(0.0, 1.0)] * 7, statements=1500, seed=6)
    doubted = rows["reader"].isin(["r00", "r01"])
    softened = np.where(doubted, 0.2 + 0.5 * rows["label"], rows["label"])
    beside = profile(rows.assign(label=softened), phrases=SCALE)
    without = profile(rows[~doubted], phrases=SCALE)
    # The scales know that two more readers are there, and nothing else of them.
    assert beside.shared.readers == without.shared.readers == 5
    assert beside.shared.slope.value == pytest.approx(without.shared.slope.value, abs=0.01)
    assert (beside.large.n, beside.large.observed) == (without.large.n, without.large.observed)
    for reader in without:
        same = beside.reader(reader.reader)
        assert same.pattern.slope.value == pytest.approx(reader.pattern.slope.value, abs=0.03)
        assert same.absent.expected == pytest.approx(reader.absent.expected, rel=1e-3)
    for name in ("r00", "r01"):
        each = beside.reader(name)
        assert each.pattern.verdict.untold == "no standard"
        assert math.isnan(each.pattern.slope.value)
        own = rows[(rows["reader"] == name) & rows["phrase"].isin(beside.phrases)]
        assert (each.hedges, each.large.n) == (len(own), len(own))
        assert each.large.observed == pytest.approx(0.2 * len(own) + 0.5 * own["label"].sum())
        assert sum(p.n for p in each.phrases) == len(own)
    moved = {change.reader for change in changes(beside, beside)}
    assert moved == {reader.reader for reader in without}


def test_doubt_of_ct_alone_makes_no_reader_too_sure() -> None:
    """As it leans, CT is right; what its hedges take off every slope is no reader's."""
    for each in hedging_ct(0.4):
        assert each.pattern.slope.value < 0.85
        assert each.pattern.verdict.state != "pattern"
        assert each.pattern.verdict.untold != "no standard"
        assert not each.advice


def test_where_the_department_shows_what_ct_may_do_a_reader_stands_further_off() -> None:
    """Slope .75 ± .05 of a reader, .13 of it CT's: .12 is left, between half of .15 and .75 of it.

    P(.12 ± .05 > .075) = .82 and P(> .1125) = .56; sound takes .8.
    """
    done = Common(np.array([[0.0, -0.13]]), np.ones(1))
    evidence = Evidence(np.array([0.0, -0.25]), np.diag([0.05**2, 0.05**2]))
    case = Case(evidence, 0.0, done, ("too sure",), 300.0, 100)
    told, asked = (
        judge_pattern(replace(case, contested=contested), settings=ProfileSettings()).verdict
        for contested in (False, True)
    )
    assert (told.parts, told.beside) == (("too sure",), ("too sure",))
    assert (asked.parts, asked.beside, asked.shared) == ((), (), ("too sure",))


def test_plain_labels_lean_nowhere() -> None:
    """A table without soft labels is judged as if nobody had asked for what they lean to."""
    for each in hedging_ct(0.0):
        assert each.plain == each.hedges
