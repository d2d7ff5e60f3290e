"""Flow: real vLLM and real transformers, on a tiny Llama with random weights made here.

`make test-vllm` runs this under the environment that `make install-vllm` made. What a random model
says means nothing; proved are the machinery, the grammar and the shared prefix, the latter two by
the engine's own counters.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from extraction.engines.completer import Question, Reply
from extraction.engines.kinds import OfflineEngine, ServerCompleter, ServerEngine
from extraction.engines.ledger import Named
from extraction.engines.model import ModelEngine
from extraction.engines.process import ModelProcess
from extraction.engines.prompted import PromptedReader
from extraction.engines.settings import Backend, LocalSettings, ServerSettings
from extraction.finding import Failed
from extraction.prompt.examples import NONE, parse
from extraction.prompt.forms import BY_WORDS
from extraction.prompt.template import MARK
from extraction.vocabulary import load

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "extraction"
PYTHON = Path(os.environ.get("RADCAL_VLLM_PYTHON", ""))
ON_GPU = shutil.which("nvidia-smi") is not None
HABITS = {
    "bos_token_id": 0, "eos_token_id": 1, "do_sample": True, "temperature": 0.7, "top_p": 0.8,
    "top_k": 20, "repetition_penalty": 1.9,
}  # fmt: skip
"""What a model's makers may have set, and no question of ours may feel."""

UNANSWERED = {"server unreachable", "server error", "request refused", "timed out", "model stopped"}

pytestmark = [
    pytest.mark.skipif(
        "RADCAL_VLLM_PYTHON" not in os.environ, reason="`make test-vllm` runs this, with vLLM"
    ),
    pytest.mark.usefixtures("small_cache"),
]


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> Path:
    (tiny_llama / "generation_config.json").write_text(json.dumps(HABITS))
    return tiny_llama


def settings(model: Path, backend: Backend, **changes: object) -> LocalSettings:
    options: dict[str, object] = {
        "structured": backend == "vllm", "max_sequences": 32, "memory_share": 0.15,
    }  # fmt: skip
    return LocalSettings(backend=backend, model=model, python=PYTHON, **(options | changes))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def offline(model: Path) -> Iterator[OfflineEngine]:
    with closing(OfflineEngine(settings(model, "vllm"))) as engine:
        yield engine


@pytest.fixture(scope="module")
def transformers(model: Path) -> Iterator[OfflineEngine]:
    with closing(OfflineEngine(settings(model, "transformers", answer_tokens=24))) as engine:
        yield engine


@pytest.fixture(scope="module")
def server(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run vLLM's own OpenAI-compatible server."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    alone = {
        "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1",
        "TORCH_COMPILE_DISABLE": "" if ON_GPU else "1",
    }  # fmt: skip
    command = [
        PYTHON, "-I", "-m", "vllm.entrypoints.openai.api_server", "--model", model,
        "--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port),
        "--max-model-len", "8192", "--gpu-memory-utilization", "0.15" if ON_GPU else "0.05",
        "--enforce-eager", "--dtype", "bfloat16" if ON_GPU else "float32", "--max-num-seqs", "32",
        "--enable-prefix-caching", "--enable-prompt-tokens-details",
    ]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as printed:
        running = subprocess.Popen(
            command, stdout=printed, stderr=printed, env=os.environ | alone, start_new_session=True
        )
    try:
        while not _answers(url):
            assert running.poll() is None, log.read_text(errors="replace")[-3000:]
            time.sleep(0.5)
        yield url
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", trust_env=False).is_success
    except httpx.HTTPError:
        return False


def texts(modality: str, number: int) -> list[str]:
    lines = (FIXTURES / f"gold_{modality.lower()}.jsonl").read_text().splitlines()[:number]
    return [json.loads(line)["text"] for line in lines]


def bound_lines() -> str:
    """Give the line grammar without ``- none`` and with short sentences, so that answers end."""
    grammar = BY_WORDS.regex(load(), sentences=1, mark=MARK)
    assert grammar.count('[^"\\n]+') == 1
    return grammar.replace(rf"{NONE}\n|", "").replace('[^"\\n]+', '[^"\\n]{3,30}')


def check_bound(completer: ModelProcess | ServerCompleter) -> None:
    grammar, known = bound_lines(), load()
    questions = [
        Question("-", 400, stop=(MARK,), regex=grammar, temperature=1.0, seed=n) for n in range(8)
    ]
    before = completer.usage.structured
    replies = completer.complete(questions)
    assert completer.usage.structured - before == len(questions)
    assert len({str(reply) for reply in replies}) > 1
    for reply in replies:
        assert isinstance(reply, Reply)
        lines = [parse(line) for line in reply.text.split("\n")[:-1]]
        assert lines
        assert all(
            line and line.pathology in known.pathologies
            and line.certainty in {*known.phrases, "other", "not evaluable"}
            for line in lines
        )  # fmt: skip
        assert reply.cut or re.fullmatch(grammar, reply.text + MARK)


def check_read(engine: ModelEngine, modality: str, number: int) -> None:
    outcomes = engine.extract(texts(modality, number), modality=modality)  # type: ignore[arg-type]
    assert len(outcomes) == number
    reasons = {outcome.reason for outcome in outcomes if isinstance(outcome, Failed)}
    assert not reasons & UNANSWERED


def test_offline_engine_binds_answers_to_our_lines(offline: OfflineEngine) -> None:
    check_bound(offline._process)


def test_offline_engine_reads_the_worked_examples_once(offline: OfflineEngine) -> None:
    check_read(offline, "XR", 1)
    before = dict(offline.usage.counters)
    check_read(offline, "XR", 40)
    after = offline.usage.counters
    grown = {name: after[name] - before[name] for name in before}
    assert grown["prefix_cache_hits"] / grown["prefix_cache_queries"] > 0.8
    assert after["prefix_cache_hits"] == offline.usage.cached_tokens
    assert after["prompt_tokens"] == offline.usage.prompt_tokens
    assert after["generation_tokens"] == offline.usage.answer_tokens
    assert after["request_success"] == offline.usage.answered == offline.usage.questions


def test_offline_engine_refuses_what_does_not_fit_and_answers_the_rest(
    offline: OfflineEngine,
) -> None:
    asked = [Question("chest " * 9000, 5), Question("chest", 5), Question("x", 5, regex="(")]
    long, fits, unsound = offline._process.complete(asked)
    assert (long, unsound) == ("request refused", "request refused")
    assert isinstance(fits, Reply)
    assert fits.cut
    assert fits.answer_tokens == 5


def test_unbound_random_model_is_counted_rubbish_and_the_batch_goes_on(
    offline: OfflineEngine,
) -> None:
    reader = PromptedReader(context_tokens=8192, answer_tokens=40)
    named = Named(engine="vllm", model="tiny", place="here")
    engine = ModelEngine(offline._process, reader, named)
    before = engine.usage.questions
    outcomes = engine.extract([*texts("CT", 6), ""], modality="CT")
    assert {type(outcome) for outcome in outcomes} == {Failed}
    reasons = {outcome.reason for outcome in outcomes if isinstance(outcome, Failed)}
    assert not reasons & UNANSWERED
    assert outcomes[-1] == Failed("empty text")
    assert engine.usage.questions - before == 2 * 6


def test_server_binds_answers_and_reads_the_worked_examples_once(server: str) -> None:
    def counter(name: str) -> float:
        lines = httpx.get(f"{server}/metrics", trust_env=False).text.splitlines()
        return sum(float(x.rsplit(" ", 1)[1]) for x in lines if x.startswith(f"vllm:{name}"))

    asked = ServerSettings(url=server, model="tiny", bound="regex", answer_tokens=192)
    check_bound(ServerCompleter(asked))
    engine = ServerEngine(asked)
    check_read(engine, "CT", 1)
    names = ("prefix_cache_hits_total", "prefix_cache_queries_total")
    before = [counter(name) for name in names]
    check_read(engine, "CT", 40)
    hits, queries = (counter(name) - b for name, b in zip(names, before, strict=True))
    assert hits / queries > 0.8
    assert engine.usage.cached_tokens > 0


def test_transformers_reads_reports_and_the_worked_examples_once(
    transformers: OfflineEngine,
) -> None:
    check_read(transformers, "XR", 3)
    usage = transformers.usage
    assert usage.answered == usage.questions == 6
    assert usage.cached_tokens / usage.prompt_tokens > 0.5


def whole(text: str) -> str:
    """Leave away a character of which the limit let only some bytes through."""
    return text.rstrip("\ufffd")


@pytest.mark.skipif(ON_GPU, reason="half precision rounds differently from way to way")
def test_three_ways_of_running_one_model_say_the_same(
    offline: OfflineEngine, transformers: OfflineEngine, server: str
) -> None:
    asked = [
        Question(f"{text}\nStatements:\n", 24, stop=("right",), logprobs=2)
        for text in texts("XR", 5)
    ]
    ways = [
        offline._process.complete(asked),
        transformers._process.complete(asked),
        ServerCompleter(ServerSettings(url=server, model="tiny")).complete(asked),
    ]
    for replies in zip(*ways, strict=True):
        first, *others = (reply for reply in replies if isinstance(reply, Reply))
        assert len(others) == 2
        for other in others:
            assert whole(other.text) == whole(first.text)
            assert other.cut == first.cut
            assert other.prompt_tokens == first.prompt_tokens
            best = [max(place.values()) for place in first.logprobs]
            assert [max(p.values()) for p in other.logprobs] == pytest.approx(best, abs=1e-3)


def test_engine_killed_in_the_middle_is_started_again(offline: OfflineEngine) -> None:
    process = offline._process
    questions = [Question(f"report {n}", 200, temperature=1.0, seed=n) for n in range(40)]
    first = process._state.child
    assert first is not None
    killer = threading.Timer(0.1, first.kill)
    killer.start()
    replies = process.complete(questions)
    killer.join()
    assert all(isinstance(reply, Reply) for reply in replies)
    assert process._state.child is not first
