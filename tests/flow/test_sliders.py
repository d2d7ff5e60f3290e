"""A slider beside the phrase: ``radcal calibrate --slider``, and a phrase table out of sliders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from calibration.neighbours.sliders import personal_phrases, slider_calibration
from calibration.survey import builtin
from pipeline.cli import calibrate
from pipeline.errors import InputError
from pipeline.neighbours import measures as neighbours

SCALE = builtin("diagnostic-certainty-scale")
_APP = typer.Typer()
calibrate.register(_APP)
neighbours.register(_APP)


@pytest.fixture
def observations(tmp_path: Path) -> Path:
    """Two readers say "likely" and "possibly"; A sets a slider, B never does, two rows are odd."""
    g = np.random.default_rng(3)
    rows = []
    for k in range(200):
        phrase = "Likely" if k % 2 else "possibly"
        slider = g.beta(8, 3) if k % 2 else g.beta(3, 6)
        rows.append(
            {
                "phrase": phrase,
                "label": int(g.random() < slider),
                "reader": "A" if k < 150 else "B",
                "slider": round(100 * slider) if k < 150 and k != 4 else None,
            }
        )
    rows.append({"phrase": "by the look of it", "label": 1, "reader": "A", "slider": 50})
    path = tmp_path / "observations.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def run(*arguments: object) -> int:
    result = CliRunner().invoke(_APP, [*map(str, arguments), "--quiet"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code


def test_group_with_sliders_gets_bin_free_calibration_and_one_without_says_so(
    observations: Path, tmp_path: Path
) -> None:
    out = tmp_path / "result.json"
    code = run(
        "calibrate", observations, "--out", out, "--by", "reader", "--slider", "slider",
        "--bootstrap", "20", "--holdout", "none",
    )  # fmt: skip
    assert code == 3
    first, second = json.loads(out.read_text())["groups"]
    assert (first["n"], first["slider"]["n"]) == (150, 149)
    assert second["slider"] == {"n": 0, "calibration": None, "phrases": []}

    frame = pd.read_csv(observations).dropna(subset="slider").query("reader == 'A'").iloc[:-1]
    direct = slider_calibration(slider=frame["slider"] / 100, label=frame["label"])
    found = first["slider"]["calibration"]
    assert found["brier"]["miscalibration"] == pytest.approx(direct.corp.miscalibration)
    assert found["smooth_ece"] == pytest.approx(direct.smooth_error)
    spoken = frame["phrase"].str.lower().tolist()
    personal = personal_phrases(phrase=spoken, slider=frame["slider"] / 100, table=SCALE)
    for given, expected in zip(first["slider"]["phrases"], personal, strict=True):
        assert given["phrase"] == expected.phrase
        assert given["mean"] == pytest.approx(expected.mean)
        assert given["distribution"]["kind"] == "beta"


def test_without_the_option_a_result_says_nothing_of_sliders(
    observations: Path, tmp_path: Path
) -> None:
    out = tmp_path / "result.json"
    run("calibrate", observations, "--out", out, "--bootstrap", "20", "--holdout", "none")
    assert "slider" not in json.loads(out.read_text())["groups"][0]


def test_slider_beyond_its_scale_is_refused(observations: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(observations)
    frame.loc[2, "slider"] = 101
    frame.to_csv(observations, index=False)
    with pytest.raises(InputError, match="slider: 1 of 201 values are no number from 0 to 100; fi"):
        run("calibrate", observations, "--out", tmp_path / "r.json", "--slider", "slider")


def test_sliders_make_a_phrase_table_that_calibrate_takes(
    observations: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(observations).dropna(subset="slider")
    frame["phrase"] = frame["phrase"].str.lower()
    sliders, table = tmp_path / "sliders.csv", tmp_path / "personal.csv"
    frame.to_csv(sliders, index=False)
    run("scalar", sliders, "--out", tmp_path / "s.json", "--phrases-out", table)
    made = pd.read_csv(table).set_index("phrase")
    assert made["kind"].to_dict() == {"likely": "beta", "possibly": "beta"}
    assert made["n"].tolist() == [75, 74]
    code = run(
        "calibrate", sliders, "--phrases", table, "--out", tmp_path / "r.json",
        "--bootstrap", "20", "--holdout", "none",
    )  # fmt: skip
    assert code == 3


def test_phrase_table_needs_phrases(observations: Path, tmp_path: Path) -> None:
    sliders = tmp_path / "sliders.csv"
    pd.read_csv(observations).dropna(subset="slider")[["slider"]].to_csv(sliders, index=False)
    with pytest.raises(InputError, match="--phrases-out needs a column phrase"):
        run("scalar", sliders, "--out", tmp_path / "s.json", "--phrases-out", tmp_path / "p.csv")
