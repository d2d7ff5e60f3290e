"""Flow: a small model that was really trained, through transformers and vLLM.

`make test-vllm` runs this. SmolLM2-135M is too weak to say anything about quality; it has a real
tokenizer, a real end mark, a chat template, and it talks back.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from extraction.engines.completer import Question, Reply
from extraction.engines.process import ModelProcess
from extraction.engines.settings import Backend, LocalSettings
from extraction.engines.weights import has_chat_template
from extraction.engines.witness import margins
from extraction.prompt.forms import AnswerForm
from extraction.vocabulary import load

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "extraction"
PYTHON = Path(os.environ.get("RADCAL_VLLM_PYTHON", ""))
HELLO = (("user", "Answer with the single word yes."),)
TALK = (("user", "Tell me a story about a cat."),)

pytestmark = [
    pytest.mark.skipif(
        "RADCAL_VLLM_PYTHON" not in os.environ, reason="`make test-vllm` runs this, with vLLM"
    ),
    pytest.mark.usefixtures("small_cache"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "smollm2"
    program = [PYTHON, "-I", FIXTURES / "smollm.py", folder]
    subprocess.run(program, check=True, capture_output=True)
    return folder


def settings(model: Path, backend: Backend) -> LocalSettings:
    return LocalSettings(
        backend=backend, model=model, python=PYTHON, structured=backend == "vllm",
        max_sequences=4, memory_share=0.15, context_tokens=512, answer_tokens=48,
    )  # fmt: skip


@pytest.fixture(scope="module")
def vllm(model: Path) -> Iterator[ModelProcess]:
    with closing(ModelProcess(settings(model, "vllm"))) as process:
        yield process


def test_folder_of_a_trained_chat_model_says_that_it_has_a_template(model: Path) -> None:
    assert has_chat_template(model)


def test_same_turns_give_the_same_words_and_end_by_themselves_both_ways(
    model: Path, vllm: ModelProcess
) -> None:
    said = []
    with closing(ModelProcess(settings(model, "transformers"))) as other:
        for process in (vllm, other):
            (reply,) = process.complete([Question("", 24, turns=HELLO)])
            assert isinstance(reply, Reply)
            said.append((reply.text, reply.prompt_tokens, reply.cut))
    assert said[0] == said[1]
    text, _, cut = said[0]
    assert not cut
    assert text
    assert "<|im_" not in text


def test_model_that_would_rather_talk_is_held_to_the_grammar(vllm: ModelProcess) -> None:
    form, known = AnswerForm("number"), load()
    bound = form.regex(known, sentences=2, mark="")
    free, held = vllm.complete(
        [Question("", 16, turns=TALK), Question("", 40, turns=TALK, regex=bound, logprobs=2)]
    )
    assert isinstance(free, Reply)
    assert isinstance(held, Reply)
    assert not any(line for _, line in form.parsed(free.text, most=9).lines)
    whole = held.text[: held.text.rindex("\n") + 1]
    assert re.fullmatch(bound, whole)
    sure = margins(whole, form, held.logprobs, most=9)
    assert len(sure) == len(form.parsed(whole, most=9).lines)
    assert None not in sure
