"""A phrase table out of sliders that a reader set beside the phrases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from pipeline.cli import calibrate
from pipeline.errors import InputError
from pipeline.neighbours import measures as neighbours

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
