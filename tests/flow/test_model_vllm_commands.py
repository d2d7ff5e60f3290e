"""Flow: what starts a model of its own, where the tests of `test_model_vllm.py` share engines.

`make test-vllm` runs this.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from extraction.engines.completer import Question
from extraction.engines.process import ModelProcess
from extraction.engines.settings import LocalSettings
from extraction.errors import ModelOutageError
from tests.e2e.commands import here, radcal

PYTHON = Path(os.environ.get("RADCAL_VLLM_PYTHON", ""))

pytestmark = [
    pytest.mark.skipif(
        "RADCAL_VLLM_PYTHON" not in os.environ, reason="`make test-vllm` runs this, with vLLM"
    ),
    pytest.mark.usefixtures("small_cache"),
]


def test_weights_that_are_cut_short_are_an_error_that_says_so(
    tiny_llama: Path, tmp_path: Path
) -> None:
    for file in tiny_llama.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes()[:100_000])
    broken = LocalSettings(backend="transformers", model=tmp_path, python=PYTHON, structured=False)
    failed = pytest.raises(ModelOutageError, match="SafetensorError")
    with closing(ModelProcess(broken)) as process, failed:
        process.complete([Question("chest", 5)])


def test_command_reads_a_table_with_the_model(tiny_llama: Path, tmp_path: Path) -> None:
    texts = ["Clear lungs.", "Effusion."]
    rows = {"report_id": ["a", "b"], "modality": ["XR", "CT"], "text": texts}
    pd.DataFrame(rows).to_csv(tmp_path / "reports.csv", index=False)
    command = ["extract", "reports.csv", "--json", "--quote-by", "number", "--max-disagreement"]
    model_here = ["--engine", "vllm", "--model", tiny_llama, "--vllm-python", PYTHON]
    kept = ["--memory-share", "0.15", "--record", "kept.jsonl", "--out", "f.csv"]
    done = radcal(*command, "1", *model_here, *kept, cwd=tmp_path)
    assert done.code in (0, 3), done.err
    assert str(done.summary["model_engine"]).startswith("vllm ")
    assert done.summary["structured"] == done.summary["questions"]
    assert set(pd.read_csv(tmp_path / "f.csv")["engine"]) <= {"vllm"}
    again = ["--engine", "replay", "--model", "kept.jsonl", "--out", "g.csv"]
    refused = radcal(*command, "0.2", *again, cwd=tmp_path)
    assert refused.code == 4, refused.err
    assert not (tmp_path / "g.csv").exists()


def test_whole_job_reads_with_the_model_and_its_manifest_says_so(
    tiny_llama: Path, tmp_path: Path
) -> None:
    made = here("simulate", "--out", "hospital", "--pairs", "16", "--readers", "6", cwd=tmp_path)
    assert made.code == 0, made.err
    config = tmp_path / "radcal.toml"
    config.write_text(
        '[input]\npaths = ["hospital/exams.csv"]\n[extraction]\nengine = "vllm"\n'
        f'model = "{tiny_llama}"\nvllm_python = "{PYTHON}"\nmax_sequences = 32\n'
        "memory_share = 0.15\nanswer_tokens = 160\n"
    )
    key = secrets.token_urlsafe(48)
    run = radcal("run", config, cwd=tmp_path, RADCAL_VAULT_KEY=key)
    assert run.code == 4, run.err
    (manifest,) = (tmp_path / "workspace" / "runs").glob("*/manifest.json")
    said = json.loads(manifest.read_text())["extraction"]
    assert said["engine"] == "vllm"
    assert said["engine_version"].startswith("tiny-llama@")
    assert said["model"]["questions"] >= said["model"]["answered"] > 0
    assert said["model"]["engine_counters"]["prefix_cache_hits"] > 0
