"""The departments that judge profiles: their truth is what they generate, their judge is fair."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from benchmarks.departments.exams import CONDITIONS, draw_statements
from benchmarks.departments.judge import NO_VERDICT, judge, told_of
from benchmarks.departments.staff import (
    HABIT_USES,
    draw_mixed_staff,
    draw_staff,
    meanings,
    scale,
)
from benchmarks.departments.table import WANTED, acceptance, shares
from benchmarks.departments.truth import Department, ReaderTruth, draw_department, line_at
from benchmarks.profile_habits import kind, others, said_first
from benchmarks.profile_truth import collect
from calibration.profile import profile
from pipeline.errors import InputError
from pipeline.simulate.department import Observation
from pipeline.simulate.rates import ct_statement, expected_parts, hedged, label_of
from pipeline.simulate.truth import line_of


@cache
def departments(condition: str, count: int) -> tuple[Department, ...]:
    seeds = [np.random.default_rng([77, number]) for number in range(count)]
    return tuple(draw_department(CONDITIONS[condition], rng=rng) for rng in seeds)


def residuals(department: Department) -> pd.DataFrame:
    """Label minus true rate of every statement."""
    frame, truths = department.observations, department.truths
    places = ([t.reader.name for t in truths], truths[0].findings, scale().phrases)
    columns = ("reader", "pathology", "phrase")
    r, f, k = (pd.Index(p).get_indexer(frame[c]) for p, c in zip(places, columns, strict=True))
    return frame.assign(residual=frame["label"] - np.stack([t.rates for t in truths])[r, f, k])


@pytest.mark.parametrize("condition", ["plain", "repeats", "hedged CT", "CT misses", "ordering"])
def test_labels_come_out_at_the_true_rates(condition: str) -> None:
    """Patients are independent, so the sum of their residuals over its spread is a normal score."""
    rows = pd.concat(
        [residuals(d).assign(department=n) for n, d in enumerate(departments(condition, 6))]
    )
    strong = meanings()[[scale().index(p) for p in rows["phrase"]]] > 0.5
    for part in (rows, rows[strong], rows[~strong]):
        sums = part.groupby(["department", "patient"])["residual"].sum()
        assert abs(sums.sum() / np.sqrt((sums**2).sum())) < 3.5


def test_misread_statements_are_the_share_declared() -> None:
    rng = np.random.default_rng(5)
    staff = draw_staff(rng)
    misread = Observation(misworded=0.2)
    statements = draw_statements(staff, misread, np.zeros(len(staff.findings)), rng)
    moved = (statements.meant != statements.read).mean()
    assert 0.1 < moved < 0.2  # a fifth is shuffled; some get the phrase they had


def test_a_third_of_the_exams_comes_in_threes_that_are_all_but_the_same() -> None:
    rows = departments("repeats", 1)[0].observations
    cells = rows.groupby(["patient", "pathology"])
    thrice = cells["phrase"].transform("size") == 3
    same = cells["phrase"].transform("nunique") == 1
    assert thrice.mean() == pytest.approx(1 / 3, abs=0.05)
    assert same[thrice].mean() > 0.75  # .9 each time, and some are reworded as they were
    assert (cells["label"].transform("nunique")[thrice & same] == 1).mean() > 0.8


def test_a_ct_ordered_for_disease_moves_the_log_odds_by_the_log_of_its_ratio() -> None:
    """P(there | CT) = λp / (λp + 1 − p), so its log odds are those of p plus log λ."""
    p, times = np.array([0.1, 0.5, 0.9]), 1.6
    there, absent = expected_parts(p, p, hedged=0.0)
    selected = (times * there + absent) / (1 + (times - 1) * p)
    np.testing.assert_allclose(logit(selected), logit(p) + np.log(times))


def test_ct_labels_have_the_mean_that_ct_shows_with_and_without_hedges() -> None:
    u = (np.arange(20_000) + 0.5) / 20_000
    for shown in (0.0, 0.07, 0.4, 0.93, 1.0):
        for most in (0.0, 0.22):
            labels = label_of(ct_statement(u, np.full(u.size, shown), hedged=most))
            assert labels.mean() == pytest.approx(shown, abs=2e-4)
            there, absent = expected_parts(np.array(shown), np.array(shown), hedged=most)
            assert there + absent == pytest.approx(shown)
            assert labels[u < shown].sum() / u.size == pytest.approx(float(there), abs=2e-4)


def test_a_habit_is_used_seventy_times_and_is_a_quarter_off() -> None:
    found = [(d, t) for d in departments("plain", 8) for t in d.truths if t.reader.habit]
    assert len(found) >= 5
    uses = []
    for department, truth in found:
        habit = truth.reader.habit
        assert habit is not None
        assert abs(habit.rate - meanings()[habit.phrase]) == pytest.approx(0.25)
        assert truth.rates[habit.finding, habit.phrase] == pytest.approx(habit.rate)
        rows = department.observations
        uses.append(
            (
                (rows["reader"] == truth.reader.name)
                & (rows["phrase"] == scale().phrases[habit.phrase])
                & (rows["pathology"] == truth.findings[habit.finding])
            ).sum()
        )
    assert np.mean(uses) == pytest.approx(HABIT_USES, rel=0.1)


def test_a_favoured_habit_is_of_a_word_written_elsewhere_too_and_all_else_is_calibrated() -> None:
    rng = np.random.default_rng(31)
    department = draw_department(CONDITIONS["plain"], rng=rng, staffed=draw_mixed_staff)
    habits = [t for t in department.truths if t.reader.habit is not None]
    assert [t.reader.exams for t in habits] == [100, 185, 300, 1000]
    assert sum(kind(t) == "calibrated" for t in department.truths) == 2
    for truth in habits:
        habit = truth.reader.habit
        assert habit is not None
        assert truth.rates[habit.finding, habit.phrase] == pytest.approx(habit.rate)
        stated = truth.use.sum(axis=1)
        share = truth.use[stated > 0, habit.phrase] / stated[stated > 0]
        own = truth.use[habit.finding, habit.phrase] / stated[habit.finding]
        assert own > 2 * np.median(share)
        assert share.min() > 0.01
        assert not others(truth).clear()


def test_a_first_sentence_is_held_against_the_words_that_hold_no_habit() -> None:
    rng = np.random.default_rng(31)
    department = draw_department(CONDITIONS["plain"], rng=rng, staffed=draw_mixed_staff)
    truth = next(t for t in department.truths if t.reader.habit is not None)
    found = profile(department.observations, phrases=scale()).reader(truth.reader.name)
    told = replace(found, habits=(), advice=(), phrases=())
    for parts, said in ((("undercalls", "too sure"), "false pattern"), ((), "silent")):
        state = "pattern" if parts else "too few"
        verdict = replace(found.pattern.verdict, state=state, parts=parts, carried=None)
        each = replace(told, pattern=replace(found.pattern, verdict=verdict))
        assert said_first(each, truth, others(truth)) == said


def pattern(truth: ReaderTruth, words: frozenset[str]) -> dict[str, Any]:
    shift, slope = line_at(truth.standing, 0.7), truth.standing.slope
    return {
        "direction": ", ".join(sorted(words)) or "none",
        "at": 0.7,
        "shift": {"value": shift, "low": shift - 0.1, "high": shift + 0.1},
        "slope": {"value": slope, "low": slope + 1, "high": slope + 2},
    }


def oracle(department: Department) -> dict[str, Any]:
    """Profile from the truth itself: the right words, the best swap, the habit."""
    readers = []
    for truth in department.truths:
        reader: dict[str, Any] = {
            "reader": truth.reader.name,
            "pattern": pattern(truth, truth.standing.clear()),
            "advice": [],
            "habits": [],
        }
        if habit := truth.reader.habit:
            word, finding = scale().phrases[habit.phrase], truth.findings[habit.finding]
            best = int(np.argmin(np.abs(meanings() - habit.rate)))
            swap = {"phrase": word, "finding": finding, "instead": scale().phrases[best]}
            reader |= {"advice": [swap], "habits": [{"phrase": word, "finding": finding}]}
        readers.append(reader)
    return {"readers": readers}


def as_frame(department: Department, profile: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame([asdict(a) for a in judge(profile, department)])


def share(answers: pd.DataFrame, question: str) -> float:
    return float(answers.loc[answers["question"] == question, "yes"].mean())


def test_the_truth_itself_is_right_about_everybody() -> None:
    answers = pd.concat([as_frame(d, oracle(d)) for d in departments("plain", 6)])
    assert share(answers, "clearly off: told so, and nothing false") == 1
    assert share(answers, "calibrated: told of a pattern") == 0
    assert share(answers, "told to move away from the truth") == 0
    assert share(answers, "first swap is worse in truth") == 0
    assert share(answers, "habit found at its own scope") == 1
    assert share(answers, "interval of shift covers") == 1
    assert share(answers, "interval of slope covers") == 0  # all put above the truth


OPPOSITE = {
    "overcalls": "undercalls", "undercalls": "overcalls", "too sure": "too cautious",
    "too cautious": "too sure",
}  # fmt: skip


def test_a_profile_turned_upside_down_is_wrong_about_everybody() -> None:
    frames = []
    for department in departments("plain", 6):
        profile = copy.deepcopy(oracle(department))
        for reader in profile["readers"]:
            words = {OPPOSITE[w] for w in told_of(reader)} or {"overcalls"}
            reader["pattern"]["direction"] = ", ".join(sorted(words))
            for swap in reader["advice"]:
                swap["instead"] = swap["phrase"]
                worst = int(
                    np.argmax(np.abs(meanings() - meanings()[scale().index(swap["phrase"])]))
                )
                swap["instead"] = scale().phrases[worst]
            reader["habits"] = []
        frames.append(as_frame(department, profile))
    answers = pd.concat(frames)
    assert share(answers, "clearly off: told so, and nothing false") == 0
    assert share(answers, "clearly off: told something false") == 1
    assert share(answers, "calibrated: told of a pattern") == 1
    assert share(answers, "first swap is worse in truth") > 0.9
    assert share(answers, "habit found at its own scope") == 0


def test_a_profile_that_leaves_a_reader_out_is_refused() -> None:
    (department,) = departments("plain", 1)
    profile = oracle(department)
    profile["readers"].pop()
    with pytest.raises(KeyError):
        judge(profile, department)


def plain_line(observations: pd.DataFrame) -> dict[str, Any]:
    """Guess with a line through each reader's hedges and no thought of chance."""
    readers = []
    for name, rows in observations.groupby("reader"):
        word = np.array([scale().index(p) for p in rows["phrase"]])
        count = np.bincount(word, minlength=len(scale())) * hedged(meanings())
        mass = np.bincount(word, weights=rows["label"], minlength=len(scale()))
        rate = np.clip(mass / np.maximum(count, 1), 1e-6, 1 - 1e-6)
        intercept, slope = line_of(rate, count.astype(float), logit(meanings()))
        words = {
            "overcalls": intercept < -0.35, "undercalls": intercept > 0.35,
            "too sure": slope < 0.8, "too cautious": slope > 1.25,
        }  # fmt: skip
        told = ", ".join(w for w, yes in words.items() if yes) or "none"
        readers.append({"reader": name, "pattern": {"direction": told}})
    return {"readers": readers}


def test_a_plain_line_is_better_with_more_exams_and_the_table_says_so() -> None:
    answers = collect(["plain"], 12, 3, plain_line)
    right = answers[answers["question"] == "clearly off: told so, and nothing false"]
    by_volume = shares(right, ["exams"]).set_index("exams")["share"]
    assert by_volume[1000] > 0.75
    assert by_volume[100] < by_volume[1000]
    assert share(answers, "calibrated: told of a pattern") > 0.05  # a line alone is fooled
    table = acceptance(answers)
    assert table.count("\n") + 1 == len(WANTED)
    assert "habit found at its own scope" in table
    assert "interval of shift covers" in table
    assert "not asked" in table


def test_the_same_seed_gives_the_same_department() -> None:
    one, two = (
        draw_department(CONDITIONS["all at once"], rng=np.random.default_rng(9)) for _ in range(2)
    )
    pd.testing.assert_frame_equal(one.observations, two.observations)
    assert one.truths[0].standing == two.truths[0].standing


def test_a_line_through_rates_on_a_line_is_that_line() -> None:
    words = logit(meanings())
    rates = np.tile(expit(-0.4 + 0.7 * words), (3, 1))
    assert line_of(rates, np.ones_like(rates), words) == pytest.approx((-0.4, 0.7), abs=1e-9)


def test_a_department_without_a_verdict_is_counted_and_silent_on_its_readers() -> None:
    def refuses(_: pd.DataFrame) -> dict[str, Any]:
        raise InputError("o.csv: no verdict is given.")

    answers = collect(["plain"], 2, 0, refuses)
    assert answers["question"].tolist() == [NO_VERDICT] * 2
    assert answers["yes"].all()
    assert f"{NO_VERDICT:58s} 100.0%" in acceptance(answers)
