"""Flow: engines and sets of examples side by side on one gold."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from extraction import prompt
from extraction.audit.gold import GoldReport, load_gold
from extraction.audit.text import differences
from extraction.finding import Failed
from extraction.rules.engine import RuleEngine
from extraction.vocabulary import load
from pipeline.errors import ConfigurationError
from tests.fixtures.extraction.stage import Play, Serve, always

GOLD = Path(__file__).parent.parent / "fixtures" / "extraction" / "gold_xr.jsonl"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(GOLD.read_text().splitlines(keepends=True)[:20]))
    return path


def test_engine_that_fails_everything_loses_by_what_the_other_scores(gold: Path) -> None:
    reports: list[GoldReport] = load_gold(gold, vocabulary=load())
    rules = RuleEngine().extract([report.text for report in reports], modality="XR")
    failed = [Failed("engine error")] * len(reports)
    found = differences(
        reports, {"failed": failed, "rules": rules}, vocabulary=load(), bootstrap=50,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    by_measure = {each.measure: each for each in found}
    hedged = by_measure["hedged statements, exact phrase"]
    assert (hedged.first, hedged.second, hedged.decided) == ("failed", "rules", True)
    assert 0.9 < hedged.gain.value <= 1.0


def test_engine_against_itself_gains_nothing_in_any_resample(gold: Path) -> None:
    reports = load_gold(gold, vocabulary=load())
    rules = RuleEngine().extract([report.text for report in reports], modality="XR")
    found = differences(
        reports, {"a": rules, "b": rules}, vocabulary=load(), bootstrap=50,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert {(each.gain.value, each.gain.low, each.gain.high) for each in found} == {(0.0, 0.0, 0.0)}
    assert not any(each.decided for each in found)


def test_command_sets_rules_beside_a_model_with_two_sets_of_examples(
    app: typer.Typer, gold: Path, tmp_path: Path, serve: Serve
) -> None:
    stage, url = serve(always(Play("- none\n")))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shutil.copy(Path(str(prompt.__file__)).parent / "xr.toml", tmp_path / name)
    command = [
        "audit", "extraction", "--gold", str(gold), "--engine", "rules", "--engine", "server:small",
        "--server", url, "--examples", str(tmp_path / "one"), "--examples", str(tmp_path / "two"),
        "--bootstrap", "20", "--json",
    ]  # fmt: skip
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    labels = [each["label"] for each in found["engines"]]
    assert labels == ["rules", "server:small one", "server:small two"]
    assert found["engines"][1]["asked"]["questions"] > 0
    pairs = {(each["first"], each["second"]) for each in found["differences"]}
    assert pairs == {(labels[0], labels[1]), (labels[0], labels[2]), (labels[1], labels[2])}
    assert {each["model"] for each in stage.asked} == {"small"}


def test_extraction_itself_takes_one_set_of_examples(app: typer.Typer, tmp_path: Path) -> None:
    command = [
        "extract", "reports.csv", "--out", "f.csv", "--engine", "server", "--server", "http://h",
        "--model", "m", "--examples", "a", "--examples", "b",
    ]  # fmt: skip
    with pytest.raises(ConfigurationError, match="one folder at a time"):
        CliRunner().invoke(app, command, catch_exceptions=False)
