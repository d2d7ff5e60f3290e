"""Flow: a small model that was really trained, through transformers and vLLM.

`make test-vllm` runs this. SmolLM2-135M is too weak to say anything about quality; it has a real
tokenizer, a real end mark, a chat template, and it talks back.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from extraction.engines.completer import Question, Reply
from extraction.engines.local import Backend, LocalSettings, has_chat_template
from extraction.engines.process import ModelProcess

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "extraction"
PYTHON = Path(os.environ.get("RADCAL_VLLM_PYTHON", ""))
HELLO = (("user", "Answer with the single word yes."),)

pytestmark = pytest.mark.skipif(
    "RADCAL_VLLM_PYTHON" not in os.environ, reason="`make test-vllm` runs this, with vLLM"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "smollm2"
    program = [PYTHON, "-I", FIXTURES / "smollm.py", folder]
    subprocess.run(program, check=True, capture_output=True)
    return folder


@pytest.fixture(autouse=True)
def small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")


def settings(model: Path, backend: Backend, **changes: object) -> LocalSettings:
    options: dict[str, object] = {
        "structured": backend == "vllm", "max_sequences": 8, "memory_share": 0.15,
        "context_tokens": 3072, "answer_tokens": 48,
    }  # fmt: skip
    return LocalSettings(backend=backend, model=model, python=PYTHON, **(options | changes))  # type: ignore[arg-type]


def test_folder_of_a_trained_chat_model_says_that_it_has_a_template(model: Path) -> None:
    assert has_chat_template(model)


def test_same_turns_give_the_same_words_and_end_by_themselves_both_ways(model: Path) -> None:
    said = []
    backends: tuple[Backend, ...] = ("transformers", "vllm")
    for backend in backends:
        with ModelProcess(settings(model, backend)) as process:
            (reply,) = process.complete([Question("", 24, turns=HELLO)])
            assert isinstance(reply, Reply)
            said.append((reply.text, reply.prompt_tokens, reply.cut))
    assert said[0] == said[1]
    assert "<|im_" not in said[0][0]
