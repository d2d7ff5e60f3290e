"""``radcal calibrate`` and ``radcal survey fit`` with real files: results, counts, refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from calibration.survey import builtin
from pipeline.cli import calibrate, survey
from tests.fixtures.commands import Done, run

SCALE = builtin("diagnostic-certainty-scale")


_APP = typer.Typer()
calibrate.register(_APP)
survey.register(_APP)


def radcal(*arguments: str | Path) -> Done:
    return run(_APP, *arguments)


def test_the_installed_command_explains_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "observations.csv"
    path.write_text("phrase,label\nlikely,1.4\n", encoding="utf-8")
    code = "from pipeline.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "calibrate", str(path), "--out", str(tmp_path / "o.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("radcal: observations.csv: label: 1 of 1 values are outside")
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def observations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    g = np.random.default_rng(7)
    k = g.integers(0, len(SCALE), 900)
    rate = SCALE.means.copy()
    rate[SCALE.index("likely")] -= 0.35
    frame = pd.DataFrame(
        {
            "phrase": np.array(SCALE.phrases)[k],
            "label": (g.random(900) < rate[k]).astype(int),
            "reader": g.choice(["A", "B"], 900),
            "pathology": g.choice(["pneumonia", "edema"], 900),
        }
    )
    path = tmp_path_factory.mktemp("calibrate") / "observations.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def result(observations: Path) -> dict[str, object]:
    out = observations.with_name("result.json")
    phrases = observations.with_name("phrases.csv")
    fitted = radcal("survey", "fit", "--builtin", SCALE.name, "--out", phrases)
    assert fitted.returncode == 0, fitted.stderr
    done = radcal(
        "calibrate",
        observations,
        "--phrases",
        phrases,
        "--out",
        out,
        "--by",
        "reader",
        "--bootstrap",
        "200",
        "--quiet",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return json.loads(out.read_text("utf-8"), parse_constant=_refuse)  # type: ignore[no-any-return]


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def test_result_has_every_field_of_the_contract_in_phrase_order(result: dict) -> None:
    assert result["phrases"] == list(SCALE.phrases)
    assert [g["group"] for g in result["groups"]] == [{"reader": "A"}, {"reader": "B"}]
    for group in result["groups"]:
        assert len(group["counts"]) == len(group["label_mass"]) == len(SCALE)
        assert sum(group["counts"]) == group["n"]
        for name in ("ece", "ece_star", "phrase_error", "brier", "accuracy"):
            assert {"value", "low", "high", "reference_level"} <= set(group[name])
        curve = group["curve"]
        assert len(curve["bin_edges"]) == 101
        assert all(len(curve[c]) == 100 for c in ("observed", "confidence", "density", "low"))
        assert {
            "weights",
            "cost",
            "plan",
            "objective",
            "converged",
            "ece_after",
            "brier_after",
            "held_out",
        } <= set(group["map"])
        assert np.array(group["map"]["plan"]).sum() == pytest.approx(1.0)
        assert group["map"]["held_out"]["ece_difference"]["low"] is not None


def test_the_whole_table_is_one_group_without_by(observations: Path) -> None:
    out = observations.with_name("one.json")
    done = radcal(
        "calibrate", observations, "--out", out, "--bootstrap", "50", "--holdout", "none", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["groups"] == 1
    (group,) = json.loads(out.read_text("utf-8"))["groups"]
    assert group["group"] == {}
    assert group["map"]["held_out"] is None
    assert group["advice"][0]["source"] == "likely"
    assert {s["reason"] for s in group["suppressed"]} >= {"protected"}


def test_results_of_a_group_do_not_depend_on_other_groups(observations: Path, result: dict) -> None:
    alone = observations.with_name("alone.csv")
    frame = pd.read_csv(observations)
    frame[frame["reader"] == "B"].to_csv(alone, index=False)
    out = observations.with_name("alone.json")
    done = radcal("calibrate", alone, "--out", out, "--by", "reader", "--bootstrap", "200")
    assert done.returncode == 0, done.stderr
    again = json.loads(out.read_text("utf-8"))["groups"][0]
    assert again["ece"] == result["groups"][1]["ece"]
    assert again["advice"] == result["groups"][1]["advice"]


def test_unmapped_phrases_are_counted_and_exit_says_so(observations: Path) -> None:
    strange = observations.with_name("strange.csv")
    frame = pd.read_csv(observations)
    frame.loc[:4, "phrase"] = ["other", "perhaps", "perhaps", "Likely!", "other"]
    frame.to_csv(strange, index=False)
    out = observations.with_name("strange.json")
    done = radcal("calibrate", strange, "--out", out, "--bootstrap", "20")
    assert done.returncode == 3
    written = json.loads(out.read_text("utf-8"))
    assert written["unmapped"] == {"other": 2, "perhaps": 2, "Likely!": 1}
    assert written["groups"][0]["n"] == 895
    assert "unmapped observations: 5" in done.stdout


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        ("phrase,label\nlikely,1.4\nlikely,0\n", [], "1 of 2 values are outside [0, 1]"),
        ("phrase,label\nwhat,1\nlikely,0\nlikely,-1\n", [], "outside [0, 1]; first at row 3."),
        (
            "phrase,label,w\nwhat,1,1\nlikely,0,-2\n",
            ["--weight", "w"],
            "w: 1 of 2 values are negative or not finite; first at row 2.",
        ),
        ("phrase,label\nlikely,\nlikely,0\n", [], "1 of 2 values are missing or not numbers"),
        ("phrase,label\nlikely,yes\n", [], "missing or not numbers; first at row 1"),
        ("phrase,label\n", [], "no observations"),
        ("phrase,outcome\nlikely,1\n", [], "'label' (the outcome, 0 to 1)"),
        ("phrase,label\nlikely,1\n", ["--by", "reader"], "'reader' (named by --by)"),
        ("phrase,label\nperhaps,1\n", [], "none of 1 phrases is in"),
        ("phrase,label\nlikely,1\n", ["--holdout", "2"], "--holdout 2: give the share"),
        ("phrase,label\nlikely,1\n", ["--bin-rule", "fine"], "bin rule 'fine': use one of"),
        ("phrase,label\nlikely,1\n", ["--epsilon", "0"], "must be from 1e-300 to 1e300"),
        ("phrase,label\nlikely,1\n", ["--regulariser", "l2"], "use one of kl, entropy"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_bad_input_ends_with_code_2_and_a_message(
    tmp_path: Path, table: str, arguments: list[str], message: str
) -> None:
    path = tmp_path / "observations.csv"
    path.write_text(table, encoding="utf-8")
    done = radcal("calibrate", path, "--out", tmp_path / "out.json", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    "table",
    [
        "phrase,label\nlikely,1\n",
        "phrase,label\nabsent,0\nabsent,0\n",
        "phrase,label\npresent,1\nlikely,1\n",
    ],
    ids=["one observation", "atoms only", "all labels equal"],
)
def test_degenerate_groups_are_stated_in_strict_json(tmp_path: Path, table: str) -> None:
    path = tmp_path / "observations.csv"
    path.write_text(table, encoding="utf-8")
    done = radcal("calibrate", path, "--out", tmp_path / "out.json", "--bootstrap", "20")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.json").read_text("utf-8")
    (group,) = json.loads(text, parse_constant=_refuse)["groups"]
    assert group["n"] > 0
    assert group["advice"] == []
    if "likely" not in table:
        assert group["ece_star"]["value"] is None
        assert group["ece_star"]["n"] == 0


def test_a_hospitals_own_survey_becomes_a_phrase_table(tmp_path: Path) -> None:
    answers = tmp_path / "survey.csv"
    answers.write_text(
        "phrase,0,0-5,5-25,25-75,75-90,90-100,100\n"
        "absent,10,0,0,0,0,0,0\nlikely,0,0,0,11,31,8,0\nmaybe,0,0,5,30,4,0,0\n",
        encoding="utf-8",
    )
    out = tmp_path / "phrases.csv"
    done = radcal("survey", "fit", answers, "--out", out, "--bootstrap", "50")
    assert done.returncode == 0, done.stderr
    frame = pd.read_csv(out)
    assert frame.columns[:8].tolist() == [
        "phrase",
        "kind",
        "alpha",
        "beta",
        "at",
        "mean",
        "sd",
        "n",
    ]
    assert frame["kind"].tolist() == ["atom", "beta", "beta"]
    assert frame.loc[1, "n"] == 50
    assert frame.loc[1, "mean_low"] < frame.loc[1, "mean"] < frame.loc[1, "mean_high"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("phrase,percent\nmaybe,50\nmaybe,50\n", "'maybe': everybody gave the same answer"),
        ("phrase,0-50,50-100\nmaybe,0,0\nlikely,1,4\n", "'maybe': no answer is given; leave it"),
        ("phrase,colour\nmaybe,red\n", "no probability ranges among the columns"),
    ],
)
def test_a_survey_that_cannot_be_fitted_is_refused(
    tmp_path: Path, table: str, message: str
) -> None:
    path = tmp_path / "survey.csv"
    path.write_text(table, encoding="utf-8")
    done = radcal("survey", "fit", path, "--out", tmp_path / "phrases.csv")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "phrases.csv").exists()


def test_too_many_groups_are_refused_before_any_work(observations: Path) -> None:
    done = radcal(
        "calibrate",
        observations,
        "--out",
        observations.with_name("many.json"),
        "--by",
        "reader,pathology",
        "--most-groups",
        "3",
    )
    assert done.returncode == 2
    assert "--by reader,pathology makes 4 groups, more than --most-groups 3" in done.stderr


def test_patients_are_resampled_whole_when_named(observations: Path) -> None:
    table = observations.with_name("patients.csv")
    frame = pd.read_csv(observations)
    frame["patient"] = np.arange(len(frame)) // 9
    frame.to_csv(table, index=False)
    out = observations.with_name("patients.json")
    done = radcal(
        "calibrate",
        table,
        "--out",
        out,
        "--by",
        "reader",
        "--patient",
        "patient",
        "--bootstrap",
        "100",
        "--holdout",
        "none",
    )
    assert done.returncode == 0, done.stderr
    for group in json.loads(out.read_text("utf-8"))["groups"]:
        assert "patients" in group["ece"]["method"]
        assert group["ece"]["low"] < group["ece"]["value"] < group["ece"]["high"]


def test_capitals_do_not_make_another_phrase(tmp_path: Path) -> None:
    path = tmp_path / "observations.csv"
    path.write_text("phrase,label\nLikely,1\n likely ,0\n", encoding="utf-8")
    done = radcal("calibrate", path, "--out", tmp_path / "out.json", "--bootstrap", "10")
    assert done.returncode == 0
    group = json.loads((tmp_path / "out.json").read_text("utf-8"))["groups"][0]
    assert group["counts"][SCALE.index("likely")] == 2
