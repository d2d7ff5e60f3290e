"""Departments of the simulated hospital: what they declare comes true, and the truth says so."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks import profile_hospital
from pipeline.cli.run import Simulate
from pipeline.errors import ConfigurationError
from pipeline.simulate import Simulation, load_department, simulate
from pipeline.simulate.department import DEFAULT
from pipeline.simulate.generator import write_simulation
from pipeline.simulate.lexicon import load


@pytest.fixture(scope="module")
def hard() -> Simulation:
    return simulate(pairs=3000, readers=4, seed=11, department="hard")


def stated(sim: Simulation) -> pd.DataFrame:
    """Return what X-rays state, with whether they got a CT."""
    rows = sim.truth.report_findings
    rows = rows[(rows["modality"] == "XR") & (rows["status"] == "final")]
    return rows.assign(paired=rows["exam_id"].isin(sim.truth.pairs["xr_exam_id"]))


def test_every_shipped_department_is_valid_and_says_what_it_is() -> None:
    assert DEFAULT in load("departments")
    for name in load("departments"):
        assert load_department(name).about.endswith(".")


def test_the_command_s_default_is_the_simulator_s() -> None:
    assert inspect.signature(Simulate).parameters["department"].default == DEFAULT


@pytest.mark.parametrize("seed", range(4))
def test_several_readers_of_the_default_department_overcall_together(seed: int) -> None:
    readers = simulate(pairs=1, readers=12, seed=seed).truth.readers
    assert readers["clearly"].str.contains("overcalls").sum() >= 3
    assert (readers["clearly"] == "").sum() >= 4
    for row in readers.itertuples():
        told = set(filter(None, row.clearly.split(", ")))
        assert told <= set(row.direction.split(", "))
        assert ("overcalls" in row.direction) == (row.shift < -0.2)
        assert ("too sure" in row.direction) == (row.slope < 0.85)


def test_rates_of_the_truth_are_those_that_labels_show(hard: Simulation) -> None:
    """Sum labels by reader and phrase, and compare with their rates within chance.

    A patient's findings go together, so squared scores may exceed their number by half.
    """
    rates = hard.truth.swaps
    outcomes = hard.truth.outcomes.merge(
        rates,
        left_on=["reader_id", "pathology", "meant"],
        right_on=["reader_id", "pathology", "phrase"],
    )
    outcomes = outcomes.assign(
        excess=outcomes["label"] - outcomes["rate"],
        spread=outcomes["rate"] * (1 - outcomes["rate"]),
    )
    groups = outcomes.groupby(["reader_id", "meant"])[["excess", "spread"]].sum()
    groups = groups[groups["spread"] > 2]
    assert len(groups) > 50
    assert (groups["excess"] ** 2 / groups["spread"]).sum() < 1.5 * len(groups)
    assert abs(groups["excess"].sum()) < 4 * np.sqrt(1.5 * groups["spread"].sum())


def test_pooled_rates_are_the_pathologies_by_use(hard: Simulation) -> None:
    swaps = hard.truth.swaps
    single = swaps[swaps["pathology"] != ""]
    mass = (single["rate"] * single["share"]).groupby([single["reader_id"], single["phrase"]]).sum()
    share = single.groupby(["reader_id", "phrase"])["share"].sum()
    pooled = swaps[swaps["pathology"] == ""].set_index(["reader_id", "phrase"])["rate"]
    np.testing.assert_allclose((mass / share)[pooled.index], pooled, atol=0.02)


def test_the_nearest_word_is_nearer_than_the_one_in_use(hard: Simulation) -> None:
    swaps = hard.truth.swaps
    now = (swaps["meaning"] - swaps["rate"]).abs()
    then = (swaps["nearest_meaning"] - swaps["rate"]).abs()
    assert (then <= now).all()
    assert (then < now).mean() > 0.5
    assert not set(swaps["nearest"]) & {"absent", "present"}


def test_sure_words_get_a_ct_less_often(hard: Simulation) -> None:
    rows = stated(hard)
    sure = rows["phrase"].isin(["absent", "present"])
    alone = rows["accession"].isin(hard.truth.excluded.query("reason == 'xr_only'")["accession"])
    assert sure[rows["paired"]].mean() < sure[alone].mean() - 0.02


def test_words_slip_as_often_as_declared_and_only_where_declared(hard: Simulation) -> None:
    slips = (hard.truth.outcomes["phrase"] != hard.truth.outcomes["meant"]).mean()
    assert 0.025 < slips < 0.05  # of 5 % shuffled, some get the word they had
    plain = simulate(pairs=50, readers=2, seed=0).truth.outcomes
    assert (plain["phrase"] == plain["meant"]).all()


def same_words(sim: Simulation) -> tuple[pd.DataFrame, float]:
    """Return pairs of patients with three, and how often their findings are worded one way."""
    pairs, outcomes = sim.truth.pairs, sim.truth.outcomes
    thrice = pairs[pairs.groupby("patient_id")["patient_id"].transform("size") >= 3]
    own = outcomes.merge(thrice[["xr_exam_id", "patient_id"]])
    words = own.groupby(["patient_id", "pathology"])["meant"].agg(["nunique", "size"])
    return thrice, float((words.loc[words["size"] > 1, "nunique"] < 2).mean())


def test_repeated_exams_are_one_reader_s_and_worded_alike(hard: Simulation) -> None:
    thrice, alike = same_words(hard)
    assert thrice.groupby("patient_id")["reader_id"].nunique().max() == 1
    assert alike > 0.7
    seldom, unlike = same_words(simulate(pairs=1500, readers=4, seed=3))
    assert unlike < 0.5
    assert len(thrice) / 3000 > 1.5 * len(seldom) / 1500


def test_a_department_of_one_s_own_is_simulated_and_told(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        'about = "One kind."\n[observation]\nmissed = 0.2\n'
        '[[kind]]\nname = "low"\ncurve = "every word too strong"\namount = 0.5\n'
    )
    sim = simulate(pairs=5, readers=3, seed=1, department=str(file))
    assert set(sim.truth.readers["curve"]) == {"every word too strong"}
    assert sim.truth.pathologies["ct_misses"].between(0, 0.4).all()
    assert sim.truth.pathologies["ct_misses"].max() > 0.2
    write_simulation([sim], tmp_path / "out")
    told = json.loads((tmp_path / "out" / "truth" / "department.json").read_text())
    assert told["observation"]["missed"] == 0.2


def test_all_faults_of_a_department_are_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        'about = "x"\n[observation]\nmissed = 7\n[[kind]]\nname = "a"\ncurve = "zigzag"\n'
        '[[habit]]\nreader = 0\npathology = "toothache"\nphrase = "likely"\nprobability = 0.5\n'
    )
    with pytest.raises(ConfigurationError, match=r"4? ?fault.*zigzag.*toothache.*missed"):
        load_department(str(file))


@pytest.mark.parametrize("name", ["sunny", "missing.toml"])
def test_an_unknown_department_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"neither one of clustered, hard, straight nor"):
        simulate(pairs=1, readers=1, seed=0, department=name)


@pytest.mark.parametrize(
    ("told", "agrees"),
    [
        ({"overcalls"}, True),
        ({"overcalls", "too sure"}, False),
        ({"too sure"}, False),
        (set(), False),
        ({"overcalls", "too cautious"}, False),
    ],
)
def test_a_headline_agrees_if_it_says_what_is_clear_and_nothing_that_is_not(
    told: set[str], agrees: bool
) -> None:
    """Clearly overcalls; "too sure" is what a habit alone makes, and is told as a habit."""
    truth = SimpleNamespace(
        clearly="overcalls", direction="overcalls", direction_with_habits="overcalls, too sure"
    )
    assert profile_hospital.agrees(frozenset(told), truth) is agrees


def test_labels_of_the_truth_become_a_table_that_the_profile_reads() -> None:
    truth = simulate(pairs=20, readers=3, seed=2).truth
    rows = profile_hospital.observations(truth)
    assert list(rows) == ["reader", "patient", "exam", "pathology", "phrase", "label"]
    assert len(rows) == len(truth.outcomes)
    assert set(rows["reader"]) <= set(truth.readers["reader_id"])
