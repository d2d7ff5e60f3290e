"""Flow: what is sent to a server in each manner, over real sockets."""

from __future__ import annotations

import json

import pytest

from extraction.engines.completer import Question, Reply
from extraction.engines.kinds import ServerCompleter, ServerEngine
from extraction.engines.settings import ServerSettings
from extraction.finding import Extracted
from extraction.prompt.forms import AnswerForm
from extraction.prompt.template import Manner
from pipeline.config.sections import Extraction
from tests.fixtures.extraction.answers import ANSWER, REPORT, STATED
from tests.fixtures.extraction.stage import Play, Serve, always

CHAT = Manner(chat=True)
JSON = Manner(chat=True, form=AnswerForm(shape="json"))
SAMPLING = {
    "temperature": 0.0, "seed": 0, "n": 1, "top_p": 1.0, "top_k": -1, "min_p": 0.0,
    "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
}  # fmt: skip


def engine(url: str, **options: object) -> ServerEngine:
    return ServerEngine(ServerSettings(url=url, model="small", **options))  # type: ignore[arg-type]


def test_chat_sends_the_examples_as_turns_and_reads_the_message(serve: Serve) -> None:
    stage, url = serve(always(Play(ANSWER)))
    (outcome,) = engine(url, manner=CHAT).extract([REPORT], modality="XR")
    assert isinstance(outcome, Extracted)
    assert [(f.pathology, f.phrase) for f in outcome.findings] == STATED
    assert stage.paths == ["/v1/chat/completions"]
    (asked,) = stage.asked
    assert "prompt" not in asked
    assert [turn["role"] for turn in asked["messages"][:2]] == ["user", "assistant"]
    assert REPORT in asked["messages"][-1]["content"]


@pytest.mark.parametrize("manner", [Manner(), CHAT], ids=["raw", "chat"])
def test_every_parameter_of_sampling_is_sent_with_every_question(
    manner: Manner, serve: Serve
) -> None:
    stage, url = serve(always(Play(ANSWER)))
    engine(url, manner=manner).extract([REPORT], modality="XR")
    (asked,) = stage.asked
    assert {name: asked.get(name) for name in SAMPLING} == SAMPLING


def test_server_that_knows_only_openai_s_parameters_gets_no_others(serve: Serve) -> None:
    stage, url = serve(always(Play(ANSWER)))
    engine(url, plain=True).extract([REPORT], modality="XR")
    assert not {"top_k", "min_p", "repetition_penalty"} & set(stage.asked[0])
    assert {"top_p", "presence_penalty", "frequency_penalty"} <= set(stage.asked[0])


def test_schema_is_sent_as_response_format_and_the_json_answer_read(serve: Serve) -> None:
    rows = [("No pleural effusion.", *STATED[0])]
    rows += [("Left base opacity may represent pneumonia.", *cells) for cells in STATED[1:]]
    names = ("sentence", "pathology", "certainty")
    said = json.dumps({"statements": [dict(zip(names, row, strict=True)) for row in rows]})
    stage, url = serve(always(Play(said)))
    (outcome,) = engine(url, manner=JSON, bound="schema").extract([REPORT], modality="XR")
    assert isinstance(outcome, Extracted)
    assert [(f.pathology, f.phrase) for f in outcome.findings] == STATED
    sent = stage.asked[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"]["required"] == ["statements"]


def test_likeliest_tokens_of_a_chat_answer_are_read(serve: Serve) -> None:
    place = {"token": "a", "logprob": -0.1, "top_logprobs": [
        {"token": "a", "logprob": -0.1}, {"token": "b", "logprob": -2.5},
    ]}  # fmt: skip
    choice = {"message": {"content": "a"}, "logprobs": {"content": [place]}}
    stage, url = serve(always(Play(raw=json.dumps({"choices": [choice]}).encode())))
    completer = ServerCompleter(ServerSettings(url=url, model="small"))
    (reply,) = completer.complete([Question("", 1, logprobs=2, turns=(("user", "?"),))])
    assert isinstance(reply, Reply)
    assert reply.logprobs == ({"a": -0.1, "b": -2.5},)
    assert (stage.asked[0]["logprobs"], stage.asked[0]["top_logprobs"]) == (True, 2)


@pytest.mark.parametrize(
    ("name", "chat"),
    [
        ("meta-llama/Meta-Llama-3-8B", False),
        ("meta-llama/Meta-Llama-3-8B-Instruct", True),
        ("google/medgemma-4b-it", True),
        ("Qwen2.5-7B-Instruct-AWQ", True),
        ("Qwen2.5-7B", False),
        ("permit-base", False),
        ("mistral_7b_chat", True),
    ],
)
def test_template_left_open_goes_by_the_served_model_s_name(name: str, chat: bool) -> None:
    asked = {"engine": "server", "server_url": "http://h", "model": name}
    assert Extraction.model_validate(asked).server().manner.chat is chat
    raw = Extraction.model_validate(asked | {"template": "raw"})
    assert raw.server().manner.chat is False
