"""``radcal lm calibrate`` with real files: both forms, what is set aside, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from calibration.survey import builtin
from pipeline.errors import InputError
from pipeline.neighbours import measures

SCALE = builtin("diagnostic-certainty-scale")
_APP = typer.Typer()
measures.register(_APP)


def run(table: pd.DataFrame, folder: Path, *more: str) -> tuple[int, dict[str, object]]:
    path = folder / "answers.csv"
    table.to_csv(path, index=False)
    out = folder / "lm.json"
    result = CliRunner().invoke(
        _APP, ["lm", "calibrate", str(path), "--out", str(out), "--splits", "2", *more]
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(out.read_text()) if out.exists() else {}


@pytest.fixture
def answers() -> pd.DataFrame:
    g = np.random.default_rng(0)
    k = g.integers(0, len(SCALE), 600)
    right = g.random(600) < 0.3 + 0.4 * SCALE.means[k]
    stated = (0.5 + 0.5 * SCALE.means[k]).round(1)
    words = [SCALE.phrases[i].capitalize() for i in k]
    return pd.DataFrame({"correct": right.astype(int), "probability": stated, "phrase": words})


def test_both_forms_are_compared_and_nothing_is_set_aside(
    answers: pd.DataFrame, tmp_path: Path
) -> None:
    code, found = run(answers, tmp_path)
    assert code == 0
    for form, methods in (("probability", 5), ("phrase", 7)):
        assert found[form]["n"] == 600
        assert found[form]["accuracy"] == pytest.approx(answers["correct"].mean())
        assert len(found[form]["methods"]) == methods
        assert sum(found[form]["bins"]["count"]) == 600
    names = [m["method"] for m in found["phrase"]["methods"]]
    assert names[-2:] == ["transport", "monotone"]
    assert found["probability"]["maps"] == {}
    for weights in found["phrase"]["maps"].values():
        assert np.array(weights).shape == (len(SCALE), len(SCALE))
        np.testing.assert_allclose(np.sum(weights, axis=1), 1.0)


def test_what_can_not_be_read_is_counted_and_never_repaired(
    answers: pd.DataFrame, tmp_path: Path
) -> None:
    table = answers.astype(object)
    table.loc[0, "correct"] = ""
    table.loc[1, "probability"] = "quite sure"
    table.loc[2, "probability"] = "85"
    table.loc[3, "phrase"] = ""
    table.loc[4, "phrase"] = "beyond the shadow of a doubt"
    code, found = run(table, tmp_path)
    assert code == 3
    assert found["probability"]["set_aside"] == {"unjudged": 1, "unparseable": 2}
    assert found["phrase"]["set_aside"] == {"unjudged": 1, "unmapped": 1, "unparseable": 1}
    assert (found["probability"]["n"], found["phrase"]["n"]) == (597, 597)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct": 2}, "correct: 600 of 600 values are neither 0 nor 1 nor blank; first at row"),
        (
            {"probability": "x", "phrase": ""},
            "probability: 0 judged answers with a readable",
        ),
    ],
)
def test_unusable_tables_are_refused(
    answers: pd.DataFrame, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run(answers.assign(**change), tmp_path)


def test_own_phrases_of_several_models_are_not_taken_for_one_models(
    answers: pd.DataFrame, tmp_path: Path
) -> None:
    own = answers.assign(form="own-phrase", alpha=4.0, beta=2.0)
    own.loc[0, "alpha"] = np.inf
    code, found = run(own, tmp_path)
    assert code == 3
    assert found["own_phrase"]["set_aside"] == {"unparseable": 1}
    own.loc[1, "alpha"] = 9.0
    with pytest.raises(InputError, match="stands with several pairs of alpha and beta"):
        run(own, tmp_path)


def test_form_with_nothing_to_read_is_named_beside_those_that_can_be(
    answers: pd.DataFrame, tmp_path: Path
) -> None:
    lost = pd.DataFrame({"form": ["beta"] * 3, "correct": [None] * 3, "reason": ["no guess"] * 3})
    table = pd.concat([answers.assign(form="probability"), lost])
    code, found = run(table, tmp_path)
    assert code == 3
    assert found["probability"]["n"] == 600
    assert found["beta"] is None
    assert found["not_calibrated"] == {
        "beta": "0 judged answers with a readable confidence (no guess: 3)"
    }


def test_answers_that_are_all_right_have_scores_but_no_platt(
    answers: pd.DataFrame, tmp_path: Path
) -> None:
    code, found = run(answers.assign(correct=1), tmp_path)
    assert code == 0
    scores = {m["method"]: m for m in found["phrase"]["methods"]}
    assert found["phrase"]["accuracy"] == 1.0
    assert scores["uncalibrated"]["ece"] > 0
    assert scores["platt"]["ece"] is None
    assert scores["platt"]["failure"]


def test_table_without_a_confidence_is_refused(answers: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no answers with a column probability, phrase"):
        run(answers[["correct"]], tmp_path)
