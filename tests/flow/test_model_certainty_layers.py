"""``radcal lm layers`` on tiny real models: layers equal the model cut after each of them.

Needs a Python with torch and transformers: this one, or the one that RADCAL_VLLM_PYTHON
names.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from extraction.neighbours.layers import Cases, LayerwiseError, cases_of_questions, layerwise
from extraction.neighbours.questions import load_questions
from pipeline.neighbours import measures as neighbours

_APP = typer.Typer()
neighbours.register(_APP)
MAKER = Path(__file__).parent.parent / "fixtures" / "layerwise" / "tiny_models.py"
NOTHING = Cases("classify", ("one",), (("text",),), ())


def python_with_torch() -> Path | None:
    named = os.environ.get("RADCAL_VLLM_PYTHON")
    if named:
        return Path(named)
    known = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
    return Path(sys.executable) if known else None


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Models, inputs and oracle; and the Python that made them."""
    python = python_with_torch()
    if python is None:
        pytest.skip("no Python with torch and transformers; name one by RADCAL_VLLM_PYTHON")
    folder = tmp_path_factory.mktemp("models")
    rows = [
        {"question": f"what is {n} ?", "correct_answer": f"{n}",
         **{f"distractor{k}": f"{n + k}" for k in (1, 2, 3)}}
        for n in range(24)
    ]  # fmt: skip
    questions = folder / "questions.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    g = np.random.default_rng(0)
    words = np.array(["clear", "lungs", "no", "effusion", "mass", "seen", "left", "right"])
    texts = [[" ".join(g.choice(words, 6)), " ".join(g.choice(words, 4))] for _ in range(20)]
    frame = pd.DataFrame(texts, columns=["text", "text_pair"])
    frame.insert(0, "item", [f"case {k}" for k in range(20)])
    frame.assign(reference=g.choice(["no", "unsure", "yes"], 20)).to_csv(
        folder / "texts.csv", index=False
    )
    cases, _ = cases_of_questions(load_questions(questions)[0], options=4)
    shown = {"choose": [text for (text,) in cases.texts], "classify": texts}
    (folder / "cases.json").write_text(json.dumps(shown))
    subprocess.run([python, MAKER, folder, folder / "cases.json"], check=True, capture_output=True)
    return folder, python


def arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as held:
        return dict(held)


def run(*arguments: object) -> tuple[int, dict[str, object]]:
    result = CliRunner().invoke(_APP, [*map(str, arguments), "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout.splitlines()[-1])


def test_layers_of_causal_models_equal_the_models_cut_short(made: tuple[Path, Path]) -> None:
    folder, python = made
    code, summary = run(
        "lm", "layers", folder / "questions.jsonl", "--model", folder / "llama", "--model",
        folder / "gpt", "--python", python, "--out", folder / "pool.npz",
    )  # fmt: skip
    assert (code, summary["items"], summary["layers"]) == (0, 24, "4, 3")
    oracle, found = arrays(folder / "oracle.npz"), arrays(folder / "pool.npz")
    for k, name in enumerate(("llama", "gpt")):
        np.testing.assert_array_equal(found[f"layers_{k}"], oracle[name].argmax(-1))
        np.testing.assert_allclose(found["probs"][k], oracle[name][-1], atol=1e-5)
        assert len(np.unique(found[f"layers_{k}"])) > 1

    code, _ = run("difficulty", folder / "pool.npz", "--out", folder / "d.json", "--items-out",
                  folder / "items.csv")  # fmt: skip
    assert code == 0
    assert "M_first_layer" in json.loads((folder / "d.json").read_text())["indicators"]
    assert pd.read_csv(folder / "items.csv")["item"][3] == "line 4"


def test_layers_and_checkpoints_of_a_classifier_of_pairs(made: tuple[Path, Path]) -> None:
    folder, python = made
    code, summary = run(
        "lm", "layers", folder / "texts.csv", "--model", folder / "bert", "--checkpoint",
        folder / "bert", "--checkpoint", folder / "bert", "--python", python, "--out",
        folder / "bert.npz",
    )  # fmt: skip
    assert (code, summary["classes"]) == (0, "no, unsure, yes")
    oracle, found = arrays(folder / "oracle.npz")["bert"], arrays(folder / "bert.npz")
    np.testing.assert_array_equal(found["layers_0"], oracle.argmax(-1))
    np.testing.assert_allclose(found["checkpoints_0"], np.stack([oracle[-1]] * 2), atol=1e-5)
    truth = pd.read_csv(folder / "texts.csv")["reference"]
    assert [("no", "unsure", "yes")[k] for k in found["reference"]] == truth.tolist()


def test_model_that_can_not_be_loaded_says_why(made: tuple[Path, Path]) -> None:
    folder, python = made
    with pytest.raises(LayerwiseError, match="llama: "):
        layerwise(NOTHING, model=folder / "llama", python=python, device="nowhere")


def test_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match=r"holds no config\.json"):
        layerwise(NOTHING, model=tmp_path, python=Path(sys.executable))


def test_python_that_can_not_be_started_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(LayerwiseError, match="no-python: cannot be started"):
        layerwise(NOTHING, model=tmp_path, python=tmp_path / "no-python")


def test_python_without_torch_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("this Python has torch")
    with pytest.raises(LayerwiseError, match="ModuleNotFoundError: No module named 'torch'"):
        layerwise(NOTHING, model=tmp_path, python=Path(sys.executable))
