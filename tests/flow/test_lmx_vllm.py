"""Flow: the server engine against a real vLLM server, where RADCAL_VLLM_URL names one.

Any model will do, also a tiny one with random weights: what is proved is that the server takes the
grammar, that every line of a bound answer parses, and that prompts share their prefix.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from extraction.engines.server import ServerEngine
from extraction.engines.settings import ServerSettings
from extraction.engines.transport import Completions, Reply
from extraction.finding import Failed
from extraction.prompt import MARK, NONE, parse, regex
from extraction.vocabulary import load

URL = os.environ.get("RADCAL_VLLM_URL", "")
FIXTURES = Path(__file__).parent.parent / "fixtures" / "extraction"

pytestmark = pytest.mark.skipif(not URL, reason="RADCAL_VLLM_URL names no server")


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(base_url=URL, trust_env=False) as made:
        yield made


@pytest.fixture(scope="module")
def settings(client: httpx.Client) -> ServerSettings:
    model = client.get("/v1/models").json()["data"][0]["id"]
    return ServerSettings(url=URL, model=model, structured=True, answer_tokens=400)


def counter(client: httpx.Client, name: str) -> float:
    lines = client.get("/metrics").text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"vllm:{name}"))


def test_bound_answers_hold_only_whole_lines_of_our_words(settings: ServerSettings) -> None:
    grammar = regex(load(), mark=MARK)
    assert grammar.count('[^"\\n]+') == 1
    lines_only = grammar.replace(rf"{NONE}\n|", "").replace('[^"\\n]+', '[^"\\n]{3,30}')
    bound = {"structured_outputs": {"regex": lines_only}, "stop": [MARK], "max_tokens": 400}
    known = load()
    with Completions(settings) as server:
        for seed in range(8):
            reply = server.ask({"prompt": "-", "temperature": 1, "seed": seed, **bound})
            assert isinstance(reply, Reply)
            lines = [parse(line) for line in reply.text.split("\n")[:-1]]
            assert lines
            assert all(line and line.pathology in known.pathologies for line in lines)
            assert reply.cut or re.fullmatch(lines_only, reply.text + MARK)


def test_reports_are_answered_and_the_examples_are_read_once(
    settings: ServerSettings, client: httpx.Client
) -> None:
    lines = (FIXTURES / "gold_xr.jsonl").read_text().splitlines()[:20]
    texts = [json.loads(line)["text"] for line in lines]
    names = ("prefix_cache_hits_total", "prefix_cache_queries_total")
    engine = ServerEngine(settings)
    engine.extract(texts[:1], modality="XR")
    before = [counter(client, name) for name in names]
    outcomes = engine.extract(texts, modality="XR")
    hits, queries = (counter(client, name) - b for name, b in zip(names, before, strict=True))
    reasons = {outcome.reason for outcome in outcomes if isinstance(outcome, Failed)}
    assert not reasons & {"server unreachable", "server error", "request refused", "timed out"}
    assert hits / queries > 0.8
