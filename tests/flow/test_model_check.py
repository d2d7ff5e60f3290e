"""Flow: a model is tried before it is trusted."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import typer
from typer.testing import CliRunner

from extraction.audit.trial import known
from extraction.engines.weights import weight_digests
from extraction.finding import Extracted
from extraction.prompt.examples import Line, written
from extraction.rules.engine import RuleEngine
from pipeline.cli import model as group
from pipeline.errors import ConfigurationError, GateFailedError
from tests.fixtures.extraction.stage import Play, Serve, always

STAND_IN = Path(__file__).parents[1] / "fixtures" / "extraction" / "model_stand_in.py"
Checked: TypeAlias = Callable[[str | None], list[dict[str, Any]]]


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    group.register(made)
    return made


def knowing(question: dict[str, Any], _: int) -> Play:
    """Answer the ten as they are known, and bound questions in their grammar."""
    shown = str(question["prompt"]).rsplit("###", 1)[-1]
    for row in known():
        section, sentence = row.text.split(": ", 1)
        if f"{section}: {sentence}" in shown:
            (outcome,) = RuleEngine().extract([row.text], modality=row.modality)
            assert isinstance(outcome, Extracted)
            lines = [
                Line(row.text[f.start : f.end], f.pathology, str(f.phrase))
                for f in outcome.findings
            ]
            return Play("".join(f"{written(line)}\n" for line in lines))
    return Play('- "The lungs are clear.", "lung opacity", "absent"\n')


def command(url: str, *options: str) -> list[str]:
    given = ["model", "check", "--engine", "server", "--server", url, "--model", "small"]
    return [*given, "--reports", "6", "--json", *options]


def test_ten_known_statements_are_known_to_the_rules_too() -> None:
    assert len(known()) == 10
    for row in known():
        (outcome,) = RuleEngine().extract([row.text], modality=row.modality)
        assert isinstance(outcome, Extracted)
        assert (row.pathology, row.phrase) in {(f.pathology, f.phrase) for f in outcome.findings}


def test_model_that_knows_the_ten_is_a_go_with_a_page(
    app: typer.Typer, serve: Serve, tmp_path: Path
) -> None:
    _, url = serve(knowing)
    page = tmp_path / "check.pdf"
    asked = command(url, "--structured-output", "--pdf", str(page))
    result = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["go"] is True
    states = {each["name"]: each["passed"] for each in found["checks"]}
    assert states["ten statements with known answers"] is True
    assert states["answers bound to their grammar"] is True
    assert states["tokens of a prompt, CT"] is None
    assert page.read_bytes().startswith(b"%PDF")


def test_model_that_always_says_none_is_no_go(app: typer.Typer, serve: Serve) -> None:
    _, url = serve(always(Play("- none\n")))
    with pytest.raises(GateFailedError, match=r"ten statements .*0 right, 10 failed") as caught:
        CliRunner().invoke(app, command(url), catch_exceptions=False)
    assert caught.value.exit_code == 4


def test_server_that_does_not_bind_answers_is_found_out(app: typer.Typer, serve: Serve) -> None:
    def part(question: dict[str, Any], number: int) -> Play:
        free = question["prompt"] == "Say hello."
        return Play("Hello!") if free else knowing(question, number)

    _, url = serve(part)
    with pytest.raises(GateFailedError, match="answers bound to their grammar: not held"):
        CliRunner().invoke(app, command(url, "--structured-output"), catch_exceptions=False)


def test_a_server_that_is_gone_passes_nothing(app: typer.Typer) -> None:
    asked = command("http://127.0.0.1:9", "--json")
    told = json.loads(CliRunner().invoke(app, asked).stdout)
    assert told["go"] is False
    (twice,) = [each for each in told["checks"] if each["name"] == "the same question twice"]
    assert (twice["passed"], twice["found"]) == (False, "server unreachable")


def test_rules_have_no_model_to_check(app: typer.Typer) -> None:
    with pytest.raises(ConfigurationError, match="no model to check"):
        CliRunner().invoke(app, ["model", "check", "--engine", "rules"], catch_exceptions=False)


def test_weights_are_hashed_whole_and_nothing_else_is(tmp_path: Path) -> None:
    for name, content in (("a.safetensors", b"one"), ("b.safetensors", b"two"), ("c.json", b"{}")):
        (tmp_path / name).write_bytes(content)
    assert weight_digests(tmp_path) == {
        "a.safetensors": hashlib.sha256(b"one").hexdigest(),
        "b.safetensors": hashlib.sha256(b"two").hexdigest(),
    }


@pytest.fixture
def checked(app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checked:
    """Check a model that a program stands in for, on a machine whose driver answers as told."""
    model, driver = tmp_path / "small", tmp_path / "bin" / "nvidia-smi"
    model.mkdir()
    (model / "config.json").write_text('{"max_position_embeddings": 8192}')
    (model / "tokenizer.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"weights")
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\n{STAND_IN.read_text()}")
    python.chmod(0o700)
    (tmp_path / "plays.json").write_text(json.dumps({"answers": [["- none\n", False]]}))
    monkeypatch.setenv("PATH", str(driver.parent))

    def check(answer: str | None) -> list[dict[str, Any]]:
        if answer is not None:
            driver.parent.mkdir()
            driver.write_text(f"#!/bin/sh\n{answer}\n")
            driver.chmod(0o700)
        out = tmp_path / "check.json"
        asked = ["model", "check", "--model", str(model), "--vllm-python", str(python)]
        with pytest.raises(GateFailedError):  # the stand-in knows none of the ten
            CliRunner().invoke(app, [*asked, "--out", str(out)], catch_exceptions=False)
        lines = json.loads(out.read_text())["checks"]
        return [line for line in lines if line["name"] == "GPU and driver"]

    return check


def test_every_gpu_has_a_line_and_an_old_driver_fails(checked: Checked) -> None:
    new, old, odd = checked(
        "echo 'NVIDIA H200, 580.82.07, 143771'; echo 'Tesla T4, 535.1, 15360'; "
        "echo 'NVIDIA GB10, 580.95.05, [N/A]'"
    )
    assert new["passed"] is True
    assert new["found"] == "NVIDIA H200, driver 580.82.07, 143,771 MiB"
    assert old["passed"] is False
    assert old["required"] == "driver 580 for CUDA 13"
    assert odd["passed"] is True
    assert odd["found"] == "NVIDIA GB10, driver 580.95.05, memory not told"


def test_machine_without_a_driver_is_not_held_against_the_model(checked: Checked) -> None:
    (line,) = checked(None)
    assert line["passed"] is None
    assert (line["found"], line["note"]) == ("none seen", "reads on a processor")


def test_driver_that_does_not_answer_is_no_machine_without_one(checked: Checked) -> None:
    (line,) = checked("echo 'NVIDIA-SMI has failed because it could not communicate'; exit 9")
    assert line["passed"] is False
    assert line["found"] == "nvidia-smi gives no answer (exit code 9)"


def test_guided_reading_is_no_check_of_the_model(app: typer.Typer) -> None:
    asked = command("http://127.0.0.1:1", "--guided")
    with pytest.raises(ConfigurationError, match="--guided lets the rules read"):
        CliRunner().invoke(app, asked, catch_exceptions=False)
