"""Words that do not rise with CT are set aside, and nobody else is told so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from calibration.profile import profile
from calibration.profile.department import set_aside
from calibration.profile.order import Order, own_slopes
from calibration.profile.rows import read_rows
from calibration.profile.settings import ProfileSettings
from calibration.profile.tables import hedged, opposed
from calibration.profile.vocabulary import vocabulary
from calibration.survey import builtin
from reports.strings import Strings
from reports.verdict import message

TABLE = builtin("diagnostic-certainty-scale")
RULES = ProfileSettings()
WORDS = vocabulary(TABLE, settings=RULES)
FINDINGS = ("effusion", "nodule", "pneumonia")


def written(reader: str, hedges: int, *, slope: float, seed: int, sure: int = 0) -> pd.DataFrame:
    """Draw hedges that CT shows along a slope, and so many true certainties of each kind."""
    rng = np.random.default_rng(seed)
    phrase = rng.integers(len(WORDS.hedges), size=hedges)
    finding = rng.choice(FINDINGS, size=hedges)
    label = rng.random(hedges) < expit(slope * WORDS.log_odds[phrase])
    names = np.array(WORDS.hedges)[phrase]
    rows = pd.DataFrame({"phrase": names, "pathology": finding, "label": label.astype(float)})
    each = {"present": 0.95, "absent": 0.03}
    certain = pd.DataFrame({
        "phrase": np.repeat([*each], sure),
        "pathology": rng.choice(FINDINGS, size=2 * sure),
        "label": (rng.random(2 * sure) < np.repeat([*each.values()], sure)).astype(float),
    })  # fmt: skip
    return pd.concat([rows, certain], ignore_index=True).assign(reader=reader)


def turned(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(label=1.0 - rows["label"])


def dealt(rows: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    return rows.assign(label=np.random.default_rng(seed).permutation(rows["label"].to_numpy()))


def half_dealt(rows: pd.DataFrame) -> pd.DataFrame:
    """Give a half of the exams other exams' CTs."""
    half = rows.index % 2 == 0
    return pd.concat([rows[~half], dealt(rows[half])])


def asked(rows: pd.DataFrame) -> Order:
    read = read_rows(rows, table=TABLE)
    return set_aside(hedged(read, WORDS, misread=0.0), read, RULES)[1]


def department(*odd: pd.DataFrame) -> pd.DataFrame:
    """Six readers who say what CT shows, and odd ones."""
    usual = [written(f"r{i}", 200, slope=1.0, seed=i, sure=60) for i in range(6)]
    return pd.concat([*usual, *odd], ignore_index=True)


def test_slope_of_one_word_each_side_is_that_of_its_odds() -> None:
    """Two words of log-odds ±2, 1000 uses each, true 73.1 % and 26.9 %: log-odds ±1, slope ½.

    What a quirk of deviation .3 a word leaves open of it: .3 / √2 / 2 = .106, pulled in by a prior
    of 1: ½ / (1 + .106²) = .494.
    """
    n = np.full((1, 1, 2), 1000.0)
    mass = n * expit(np.array([-1.0, 1.0]))
    found = own_slopes(n, mass, np.array([-2.0, 2.0]))
    assert found.mean[0] == pytest.approx(0.494, abs=0.003)
    assert found.sd[0] == pytest.approx(0.11, abs=0.01)
    assert own_slopes(n, n - mass, np.array([-2.0, 2.0])).mean[0] == pytest.approx(-found.mean[0])


@pytest.mark.parametrize("hedges", [100, 400])
def test_reversed_words_fall_and_words_that_rise_do_not(hedges: int) -> None:
    every = [written(f"{i:02d}", hedges, slope=1.0, seed=i) for i in range(40)]
    assert not asked(pd.concat(every)).out.any()
    told = asked(turned(pd.concat(every)))
    assert told.whole.all()
    assert (told.every.below(0.0) >= RULES.falls_probability).mean() > 0.9


def test_overconfident_words_are_no_fault() -> None:
    every = [written(f"{i:03d}", 60, slope=0.6, seed=i) for i in range(300)]
    assert not asked(pd.concat(every)).out.any()


def test_too_few_hedges_are_not_judged_by_themselves() -> None:
    assert not asked(turned(written("r", 29, slope=1.4, seed=1))).out.any()
    assert asked(turned(written("r", 60, slope=1.4, seed=1))).whole.all()


def test_certainties_that_fail_as_well_tell_of_few_hedges() -> None:
    rows = written("r", 15, slope=1.0, seed=2, sure=80)
    assert asked(rows).certain == ("hold",)
    assert not asked(rows).out.any()
    found = asked(dealt(rows))
    assert found.certain == ("fail",)
    assert found.whole.all()


def test_reversed_reader_is_told_of_a_fault_and_of_no_word() -> None:
    found = profile(
        department(turned(written("x", 300, slope=1.0, seed=9, sure=80))), phrases=TABLE
    )
    reader = found.reader("x")
    (aside,) = reader.aside
    assert (reader.pattern.direction, aside.way, aside.certain) == ("no rise", "falls", "fail")
    assert (reader.advice, reader.habits, reader.considered) == ((), (), ())
    assert reader.hedges == aside.n == 300
    assert reader.absent.state == "no comparison"
    strong, weak = aside.sides
    assert strong.rate.high < 0.5 < weak.rate.low
    assert {p.phrase for p in reader.phrases} == {*WORDS.hedges}
    assert np.isnan(reader.pattern.shift.value)


def test_reader_set_aside_moves_no_other_figure() -> None:
    """All figures of others are those of a department without him, but for the count of readers."""
    odd = turned(written("x", 300, slope=1.0, seed=9, sure=80))
    without, beside = (profile(rows, phrases=TABLE) for rows in (department(), department(odd)))
    for reader in without:
        assert beside.reader(reader.reader).pattern.slope.value == pytest.approx(
            reader.pattern.slope.value, abs=0.03
        )
        assert beside.reader(reader.reader).absent.expected == pytest.approx(
            reader.absent.expected, rel=1e-6
        )


def test_one_reversed_finding_is_set_aside_alone() -> None:
    rows = written("x", 900, slope=1.0, seed=3, sure=60)
    odd = rows.assign(label=rows["label"].where(rows["pathology"] != "nodule", 1 - rows["label"]))
    reader = profile(department(odd), phrases=TABLE).reader("x")
    assert [(each.finding, each.way) for each in reader.aside] == [("nodule", "falls")]
    assert reader.pattern.verdict.state != "no rise"
    assert reader.pattern.slope.low < 1.0 < reader.pattern.slope.high
    assert reader.hedges + reader.aside[0].n == 900


def test_reversed_department_is_set_aside_whole_and_still_fitted() -> None:
    found = profile(turned(department()), phrases=TABLE)
    assert {reader.pattern.direction for reader in found} == {"no rise"}
    assert found.shared.parts == ()


def test_labels_of_one_value_are_no_fault_of_pairing() -> None:
    found = profile(department().assign(label=0.0), phrases=TABLE)
    assert {reader.pattern.verdict.untold for reader in found} == {"one label"}
    assert not any(reader.aside for reader in found)


def test_half_of_the_cts_dealt_anew_is_told_by_words_that_nobody_doubts() -> None:
    """Present .95, absent .03, all positive in about ½: π = ½ makes .72 and .27 of them."""
    found = profile(
        department(half_dealt(written("x", 300, slope=1.0, seed=9, sure=150))), phrases=TABLE
    )
    (aside,) = found.reader("x").aside
    assert (found.reader("x").pattern.direction, aside.way) == ("no rise", "mixed")
    assert aside.share.low < 0.5 < aside.share.high
    assert aside.share.low > 0.2
    assert not any(reader.aside for reader in found if reader.reader != "x")
    said = message(found.reader("x"), words=Strings.load())
    assert f"as if {aside.share.value:.0%}".replace("%", " %") in said
    assert "come true as they should" not in said


def exams(*, seed: int, n: int = 150, others: float = 0.0, at_once: bool = False) -> pd.DataFrame:
    """Give a hedge, a "present" and an "absent" of the findings to each of n patients.

    In a share of ``others`` all three labels are drawn at even odds, at once or each by itself.
    """
    rng = np.random.default_rng(seed)
    k = rng.integers(len(WORDS.hedges), size=n)
    chance = np.stack([expit(WORDS.log_odds[k]), np.full(n, 0.95), np.full(n, 0.05)])
    taken = rng.random((1 if at_once else 3, n)) < others
    label = rng.random((3, n)) < np.where(taken, 0.5, chance)
    names = np.stack([np.array(WORDS.hedges)[k], np.full(n, "present"), np.full(n, "absent")])
    finding = rng.permuted(np.tile(np.array(FINDINGS)[:, None], n), axis=0)
    return pd.DataFrame({
        "reader": f"e{seed:02d}", "phrase": names.ravel(), "pathology": finding.ravel(),
        "label": label.astype(float).ravel(), "patient": np.tile([f"p{i}" for i in range(n)], 3),
    })  # fmt: skip


def test_share_of_exams_is_read_off_what_goes_wrong_in_the_same_exams() -> None:
    """π = .3: π / (1 − π) = .43; the same labels wrong one by one leave 0, sicker patients less.

    Who is sick has all three: "absent" is wrong where "present" is right.
    """
    joined, single = (
        exams(seed=3, n=4000, others=0.3, at_once=at_once) for at_once in (True, False)
    )
    sick = single["patient"].str[-1].isin(["0", "1", "2"])
    sicker = single.assign(label=single["label"].where(~sick, 1.0))
    found = []
    for rows in (joined, single, sicker):
        (q,), (sd,) = opposed(read_rows(rows, table=TABLE), phrases=len(TABLE))
        found.append((q, sd))
    assert abs(found[0][0] - 0.43) < 0.05
    assert abs(found[1][0]) < 3.0 * found[1][1]
    assert found[2][0] < 0.0
    unknown = read_rows(joined.drop(columns="patient"), table=TABLE)
    assert opposed(unknown, phrases=len(TABLE))[1].tolist() == [np.inf]


def test_what_goes_wrong_in_the_same_exams_of_all_readers_is_no_sign_of_other_patients() -> None:
    """Where one finding is there or the other, who mistakes them is wrong of both at once."""
    usual = [exams(seed=i, n=400, others=0.15, at_once=True) for i in range(5)]
    odd = exams(seed=9, n=400, others=0.4, at_once=True)
    q, sd = opposed(read_rows(pd.concat([*usual, odd]), table=TABLE), phrases=len(TABLE))
    assert (q[:5] < 3.0 * sd[:5]).all()
    assert q[5] > 3.0 * sd[5]
    alone = opposed(read_rows(usual[0], table=TABLE), phrases=len(TABLE))
    assert alone[0] > 3.0 * alone[1]


def test_a_quarter_of_the_cts_of_other_patients_is_told_by_exams_that_go_wrong_as_a_whole() -> None:
    """150 exams say of π alone too little; the same labels wrong one by one are no fault of it."""
    usual = [exams(seed=10 + i) for i in range(6)]

    def told(*, at_once: bool) -> list[bool]:
        every = [exams(seed=i, others=0.25, at_once=at_once) for i in range(10)]
        return [bool(asked(pd.concat([*usual, odd])).mixed[0]) for odd in every]

    assert sum(told(at_once=True)) >= sum(told(at_once=False)) + 3


@pytest.mark.parametrize("slope", [0.5, 1.0])
def test_hedges_alone_that_are_too_sure_are_no_other_patients(slope: float) -> None:
    found = asked(department(written("x", 300, slope=slope, seed=9, sure=150)))
    assert not found.mixed.any()


def test_wrong_certainties_beside_hedges_that_rise_as_they_should_are_no_other_patients() -> None:
    rows, other = (written("x", 300, slope=1.2, seed=9, sure=150) for _ in range(2))
    sure = rows["phrase"].isin(["present", "absent"])
    odd = pd.concat([rows[~sure], half_dealt(other[sure].reset_index(drop=True))])
    assert not asked(department(odd)).mixed.any()


def test_without_colleagues_nothing_is_said_of_other_patients() -> None:
    assert not asked(half_dealt(written("x", 300, slope=1.0, seed=9, sure=150))).mixed.any()


@pytest.mark.parametrize("share", [0.25, 0.4, 0.48])
def test_whose_cts_hedge_more_than_others_is_not_contradicted_and_has_no_other_patients(
    share: float,
) -> None:
    """CT said "probably" of what is there, and "present" counted as contradicted, .26 each."""
    first = written("r0", 600, slope=1.0, seed=3, sure=400)
    hedges = np.random.default_rng(3).random(len(first)) < share
    said = np.where(first["label"] > 0.5, 0.74, 0.2)
    soft = first.assign(label=np.where(hedges, said, first["label"]))
    others = [written(f"r{i}", 600, slope=1.0, seed=3 + i, sure=400) for i in range(1, 7)]
    found = profile(pd.concat([soft, *others], ignore_index=True), phrases=TABLE).reader("r0")
    assert found.aside == ()
    assert {found.absent.state, found.present.state} == {"as others"}
    assert found.present.wrong > 1.5 * found.present.expected_wrong
