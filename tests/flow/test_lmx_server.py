"""Flow: the server engine against a real HTTP server on loopback that plays every part."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from extraction.engines.prompted import Asked, PromptedReader
from extraction.engines.server import ServerEngine, ServerOutageError
from extraction.engines.settings import ServerSettings
from extraction.finding import Extracted, Failed, NothingStated, Outcome
from extraction.gold import GoldReport, load_gold
from extraction.prompt import NONE, OTHER, Line, written
from extraction.rules import RuleEngine
from extraction.vocabulary import load

FIXTURES = Path(__file__).parent.parent / "fixtures" / "extraction"
REPORT = "FINDINGS: No pleural effusion. Left base opacity may represent pneumonia."
ANSWER = (
    '- "No pleural effusion.", "pleural effusion", "absent"\n'
    '- "Left base opacity may represent pneumonia.", "lung opacity", "present"\n'
    '- "Left base opacity may represent pneumonia.", "pneumonia", "may represent"\n'
)
STATED = [
    ("pleural effusion", "absent"), ("lung opacity", "present"), ("pneumonia", "may represent"),
]  # fmt: skip


@dataclass(frozen=True)
class Play:
    """What the server does with one request."""

    text: str = ""
    status: int = 200
    finish: str = "stop"
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    wait_seconds: float = 0.0
    trickle_seconds: float = 0.0
    promise_more: bool = False

    @property
    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            return b'{"error": "no"}'
        choice = {"index": 0, "text": self.text, "finish_reason": self.finish}
        return json.dumps({"object": "text_completion", "choices": [choice]}).encode()


Part = Callable[[dict[str, object], int], Play]


class Stage:
    """A server and what it has been asked; `part` decides each reply by request and number."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.asked: list[dict[str, object]] = []
        self.headers: list[dict[str, str]] = []
        self.connections: set[tuple[str, int]] = set()
        self.under_way = self.most_under_way = 0
        self.lock = threading.Lock()
        self.ended = threading.Event()

    def next_play(self, handler: BaseHTTPRequestHandler) -> Play:
        content = handler.rfile.read(int(handler.headers["Content-Length"]))
        question = json.loads(content)
        with self.lock:
            self.asked.append(question)
            self.headers.append(dict(handler.headers))
            self.connections.add(handler.client_address)
            number = len(self.asked)
        assert handler.path == "/v1/completions"
        return self.part(question, number)


def perform(handler: BaseHTTPRequestHandler, play: Play, ended: threading.Event) -> None:
    ended.wait(play.wait_seconds)
    handler.send_response(play.status)
    for name, value in play.headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(play.body) + 9 * play.promise_more))
    handler.end_headers()
    if not play.trickle_seconds:
        handler.wfile.write(play.body)
    else:
        for byte in play.body:
            if ended.wait(play.trickle_seconds):
                return
            handler.wfile.write(bytes([byte]))
    if play.promise_more:
        handler.close_connection = True


@pytest.fixture
def serve() -> Iterator[Callable[[Part], tuple[Stage, str]]]:
    running: list[tuple[ThreadingHTTPServer, threading.Thread, Stage]] = []

    def start(part: Part) -> tuple[Stage, str]:
        stage = Stage(part)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                with stage.lock:
                    stage.under_way += 1
                    stage.most_under_way = max(stage.most_under_way, stage.under_way)
                try:
                    perform(self, stage.next_play(self), stage.ended)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True
                finally:
                    with stage.lock:
                        stage.under_way -= 1

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        running.append((server, thread, stage))
        return stage, f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server, thread, stage in running:
        stage.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def engine(url: str, **changes: object) -> ServerEngine:
    options = {"timeout_seconds": 10.0, "backoff_seconds": 0.01, "concurrency": 4} | changes
    return ServerEngine(ServerSettings(url=url, model="small", **options))  # type: ignore[arg-type]


def one(found: list[Outcome]) -> Outcome:
    (outcome,) = found
    return outcome


def stated(outcome: Outcome) -> list[tuple[str, str | None]]:
    assert isinstance(outcome, Extracted), outcome
    return [(f.pathology, f.phrase) for f in outcome.findings]


def always(play: Play) -> Part:
    return lambda _question, _number: play


def in_turn(*plays: Play) -> Part:
    return lambda _question, number: plays[min(number, len(plays)) - 1]


def lines_of(outcome: Outcome, text: str) -> str:
    """Write a rule engine's findings as a model would."""
    if not isinstance(outcome, Extracted):
        return NONE + "\n"
    lines = (Line(text[f.start : f.end], f.pathology, f.phrase or OTHER) for f in outcome.findings)
    return "".join(f"{written(line)}\n" for line in lines)


def places(outcome: Outcome) -> set[tuple[object, ...]]:
    if isinstance(outcome, Failed):
        return {("failed", outcome.reason)}
    findings = outcome.findings if isinstance(outcome, Extracted) else ()
    return {(f.section, f.start, f.end, f.pathology, f.phrase) for f in findings}


def gold(modality: str) -> list[GoldReport]:
    return load_gold(FIXTURES / f"gold_{modality.lower()}.jsonl", vocabulary=load())


@pytest.mark.parametrize("modality", ["XR", "CT"])
def test_right_answers_give_exactly_what_they_say(
    modality: str, serve: Callable[[Part], tuple[Stage, str]]
) -> None:
    texts = [report.text for report in gold(modality)]
    rules = RuleEngine().extract(texts, modality=modality)  # type: ignore[arg-type]
    reader = PromptedReader(context_tokens=8192, answer_tokens=1536)
    answers = {}
    for text, outcome in zip(texts, rules, strict=True):
        asked = reader.ask(text, modality=modality)  # type: ignore[arg-type]
        assert isinstance(asked, Asked)
        answers[asked.prompt] = lines_of(outcome, text)
    stage, url = serve(lambda question, _: Play(answers[str(question["prompt"])]))
    read = engine(url, concurrency=8)
    found = read.extract(texts, modality=modality)  # type: ignore[arg-type]
    assert [places(outcome) for outcome in found] == [places(outcome) for outcome in rules]
    assert len(stage.asked) == len(texts)
    assert stage.most_under_way <= 8
    assert len(stage.connections) <= 8
    assert set(read.rejected) <= {"repeated line"}


def test_question_is_greedy_stops_at_the_mark_and_carries_the_key(
    serve: Callable[[Part], tuple[Stage, str]],
) -> None:
    stage, url = serve(always(Play(ANSWER)))
    outcome = one(engine(f"{url}/v1/", key="secret").extract([REPORT], modality="XR"))
    assert stated(outcome) == STATED
    (question,) = stage.asked
    assert (question["model"], question["temperature"], question["stop"]) == ("small", 0, ["###"])
    assert "structured_outputs" not in question
    assert stage.headers[0]["Authorization"] == "Bearer secret"


def test_structured_output_is_sent_only_when_asked_for(
    serve: Callable[[Part], tuple[Stage, str]],
) -> None:
    stage, url = serve(always(Play(ANSWER)))
    free, bound = engine(url), engine(url, structured=True)
    bound.extract([REPORT], modality="XR")
    assert "pleural effusion" in str(stage.asked[0]["structured_outputs"])
    assert free.version != bound.version


def test_prompts_of_one_modality_share_the_worked_examples(
    serve: Callable[[Part], tuple[Stage, str]],
) -> None:
    stage, url = serve(always(Play(NONE)))
    engine(url).extract([REPORT, "IMPRESSION: Clear lungs."], modality="CT")
    one_prompt, other = (str(question["prompt"]) for question in stage.asked)
    shared = one_prompt[: one_prompt.rindex("###")]
    assert other.startswith(shared)
    assert shared.count("Statements:") == 6


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408])
def test_passing_error_is_tried_again(
    status: int, serve: Callable[[Part], tuple[Stage, str]]
) -> None:
    stage, url = serve(in_turn(Play(status=status), Play(status=status), Play(ANSWER)))
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED
    assert len(stage.asked) == 3


def test_server_that_asks_for_a_pause_gets_it(
    serve: Callable[[Part], tuple[Stage, str]],
) -> None:
    _, url = serve(in_turn(Play(status=429, headers={"Retry-After": "1"}), Play(ANSWER)))
    begun = time.monotonic()
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED
    assert time.monotonic() - begun >= 1


def test_lasting_error_fails_after_the_allowed_attempts(
    serve: Callable[[Part], tuple[Stage, str]],
) -> None:
    stage, url = serve(always(Play(status=500)))
    assert engine(url, attempts=3).extract([REPORT], modality="XR") == [Failed("server error")]
    assert len(stage.asked) == 3


@pytest.mark.parametrize("status", [301, 400, 401, 404])
def test_refusal_is_not_tried_again(
    status: int, serve: Callable[[Part], tuple[Stage, str]]
) -> None:
    stage, url = serve(always(Play(status=status)))
    assert engine(url).extract([REPORT], modality="XR") == [Failed("request refused")]
    assert len(stage.asked) == 1


@pytest.mark.parametrize(
    "play",
    [
        Play(raw=b'{"choices": [{"text": "- no'),
        Play(raw=b'{"choices": []}'),
        Play(raw=b"<html>busy</html>"),
        Play(raw=b"\xff\xfe\x00"),
        Play(raw=b""),
        Play(raw=b"[]"),
        Play(raw=b'{"choices": [{"text": null}]}'),
        Play(text=ANSWER, promise_more=True),
        Play(text="x" * 5_000_000),
    ],
    ids=["cut", "no choice", "html", "bytes", "nothing", "list", "null", "closed early", "huge"],
)
def test_reply_that_is_not_the_promised_json_is_a_server_error(
    play: Play, serve: Callable[[Part], tuple[Stage, str]]
) -> None:
    _, url = serve(always(play))
    read = engine(url, attempts=2)
    assert read.extract([REPORT], modality="XR") == [Failed("server error")]


def test_cut_json_then_a_whole_reply_is_read(serve: Callable[[Part], tuple[Stage, str]]) -> None:
    _, url = serve(in_turn(Play(raw=b'{"choices": [{"te'), Play(ANSWER)))
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED


@pytest.mark.parametrize(
    "play",
    [Play(ANSWER, wait_seconds=30), Play(ANSWER, trickle_seconds=0.05)],
    ids=["silent", "trickling"],
)
def test_slow_server_times_out(play: Play, serve: Callable[[Part], tuple[Stage, str]]) -> None:
    stage, url = serve(always(play))
    read = engine(url, timeout_seconds=0.3)
    assert read.extract([REPORT], modality="XR") == [Failed("timed out")]
    assert len(stage.asked) == 2


def test_closed_port_fails_every_report_and_soon() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        read = engine(url, backoff_seconds=0.05)
        found = read.extract([REPORT] * 200, modality="XR")
    assert found == [Failed("server unreachable")] * 200


FAILING = {
    "rubbish": (Play("The patient is well.\nThank you!\n"), "unreadable answer"),
    "nothing": (Play(""), "empty answer"),
    "blank": (Play(" \n\n"), "empty answer"),
    "loop": (Play(ANSWER * 40), "repeated answer"),
    "loop cut": (Play(ANSWER * 40, finish="length"), "repeated answer"),
    "stops mid-line": (Play(ANSWER + '- "Left base opa'), "truncated answer"),
    "stopped by length": (Play(ANSWER, finish="length"), "truncated answer"),
    "invents": (
        Play('- "Large right pneumothorax with shift.", "pneumothorax", "present"\n'),
        "ungrounded answer",
    ),
    "invents a negation": (
        Play('- "Left base opacity does not represent pneumonia.", "pneumonia", "absent"\n'),
        "ungrounded answer",
    ),
    "other words": (Play('- "No pleural effusion.", "tachycardia", "sure"\n'), "unreadable answer"),
}


@pytest.mark.parametrize("case", FAILING)
def test_failed_answer_is_asked_once_more_then_counted(
    case: str, serve: Callable[[Part], tuple[Stage, str]]
) -> None:
    play, reason = FAILING[case]
    stage, url = serve(always(play))
    assert engine(url).extract([REPORT], modality="XR") == [Failed(reason)]  # type: ignore[arg-type]
    first, second = stage.asked
    assert first["prompt"] != second["prompt"]
    assert int(str(second["max_tokens"])) > int(str(first["max_tokens"]))


@pytest.mark.parametrize("case", FAILING)
def test_second_answer_counts_when_it_is_right(
    case: str, serve: Callable[[Part], tuple[Stage, str]]
) -> None:
    stage, url = serve(in_turn(FAILING[case][0], Play(ANSWER)))
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED
    assert len(stage.asked) == 2


def test_one_bad_report_never_fails_the_others(
    serve: Callable[[Part], tuple[Stage, str]],
) -> None:
    def part(question: dict[str, object], _: int) -> Play:
        prompt = str(question["prompt"]).rsplit("###", 1)[1]
        if "mirror" in prompt:
            return Play(status=500)
        return Play(NONE if "tube" in prompt else ANSWER)

    _, url = serve(part)
    texts = [
        REPORT,
        "",
        None,
        "FINDINGS: mirror image.",
        "Endotracheal tube.",
        "x" * 60_000,
        REPORT,
    ]
    found = engine(url, attempts=2).extract(texts, modality="XR")  # type: ignore[arg-type]
    assert stated(found[0]) == stated(found[6]) == STATED
    assert found[1:6] == [
        Failed("empty text"), Failed("not text"), Failed("server error"), NothingStated(),
        Failed("text too long"),
    ]  # fmt: skip


def test_outage_beyond_what_is_tolerated_is_an_error_that_quotes_no_report(
    serve: Callable[[Part], tuple[Stage, str]],
) -> None:
    _, url = serve(always(Play(status=404)))
    read = ServerEngine(ServerSettings(url=url, model="small"), tolerated_outage=0.05)
    with pytest.raises(ServerOutageError, match=r"2 of 2 reports .*request refused: 2") as caught:
        read.extract([REPORT, REPORT], modality="XR")
    assert "effusion" not in str(caught.value)


def test_proxy_of_the_environment_never_sees_a_report(
    serve: Callable[[Part], tuple[Stage, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, url = serve(always(Play(ANSWER)))
    spy, proxy = serve(always(Play(ANSWER)))
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("ALL_PROXY", proxy)
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED
    assert spy.asked == []
