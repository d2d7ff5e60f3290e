"""Flow: servers as they are: they refuse, are busy, hang, drop connections."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter

import pytest

from extraction.engines import health, model
from extraction.engines.kinds import ServerEngine
from extraction.engines.settings import ServerSettings
from extraction.errors import ModelOutageError, ModelRefusedError
from extraction.finding import Failed, NothingStated, Outcome
from tests.fixtures.extraction.stage import Play, Serve, always

PLAIN = "FINDINGS: Endotracheal tube in place."
NONE = Play("- none\n")
REFUSED = Play(status=401, raw=b'{"error": {"message": "Incorrect API key provided."}}')


def engine(url: str, **changes: object) -> ServerEngine:
    options = {"timeout_seconds": 10.0, "backoff_seconds": 0.01, "concurrency": 4} | changes
    return ServerEngine(ServerSettings(url=url, model="small", **options))  # type: ignore[arg-type]


def read(engine: ServerEngine, number: int) -> list[Outcome]:
    return engine.extract([f"{PLAIN} Film {n}." for n in range(number)], modality="XR")


def listing(*names: str, owner: str = "vllm", **facts: int) -> Play:
    entries = [{"id": name, "owned_by": owner} | facts for name in names]
    return Play(raw=json.dumps({"object": "list", "data": entries}).encode())


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, b'{"error": {"message": "Incorrect API key provided."}}', "401 Incorrect API key"),
        (403, b'{"detail": "Not from this address."}', "403 Not from this address"),
        (404, b'{"message": "The model small does not exist."}', "404 The model small does not"),
        (404, b"<html>nothing here</html>", "404. Nothing more was asked"),
    ],
)
def test_server_that_lets_nobody_in_stops_the_run_at_its_first_answer_in_its_own_words(
    status: int, body: bytes, words: str, serve: Serve
) -> None:
    stage, url = serve(always(Play(status=status, raw=body)))
    with pytest.raises(ModelRefusedError, match=words):
        read(engine(url), 500)
    assert len(stage.asked) <= 4


def test_refusal_that_repeats_the_report_is_told_without_its_words(serve: Serve) -> None:
    echo = json.dumps({"error": {"message": f"cannot read: {PLAIN}"}}).encode()
    _, url = serve(always(Play(status=403, raw=echo)))
    with pytest.raises(ModelRefusedError, match=r": 403\. ") as caught:
        read(engine(url), 1)
    assert "tube" not in str(caught.value)


def test_key_that_is_wrong_is_known_before_any_report_is_sent(serve: Serve) -> None:
    stage, url = serve(always(NONE))
    stage.models = REFUSED
    with pytest.raises(ModelRefusedError, match="401 Incorrect API key provided"):
        read(engine(url), 5)
    assert stage.asked == []
    assert stage.looks == 1


def test_model_that_vllm_does_not_serve_is_known_before_any_report_is_sent(serve: Serve) -> None:
    stage, url = serve(always(NONE))
    stage.models = listing("large", "huge")
    with pytest.raises(ModelRefusedError, match="it serves large, huge, and not small"):
        read(engine(url), 5)
    assert stage.asked == []


def test_model_that_holds_less_than_configured_is_known_before_any_report_is_sent(
    serve: Serve,
) -> None:
    stage, url = serve(always(NONE))
    stage.models = listing("small", max_model_len=4096)
    with pytest.raises(ModelRefusedError, match="context_tokens is 8192, and the model holds 4096"):
        read(engine(url), 5)
    assert stage.asked == []


def test_server_that_answers_to_any_name_is_asked_though_it_lists_another(serve: Serve) -> None:
    stage, url = serve(always(NONE))
    stage.models = listing("/models/some.gguf", owner="llamacpp")
    assert read(engine(url), 3) == [NothingStated()] * 3


@pytest.mark.parametrize("status", [401, 404])
def test_passing_refusal_after_a_good_answer_is_tried_again(status: int, serve: Serve) -> None:
    _, url = serve(lambda _, number: Play(status=status) if number == 3 else NONE)
    assert read(engine(url, concurrency=1), 5) == [NothingStated()] * 5


def test_key_that_expires_in_the_middle_stops_the_run(serve: Serve) -> None:
    stage, url = serve(lambda _, number: NONE if number <= 10 else REFUSED)
    with pytest.raises(ModelRefusedError, match="401 Incorrect API key"):
        read(engine(url, attempts=2), 200)
    assert len(stage.asked) < 40


def test_busy_server_that_says_when_to_come_back_costs_no_attempt(serve: Serve) -> None:
    busy = Play(status=429, headers={"Retry-After": "0"})
    stage, url = serve(lambda _, number: busy if number <= 12 else NONE)
    assert read(engine(url, attempts=1), 4) == [NothingStated()] * 4
    assert len(stage.asked) > 12


def test_busy_server_may_say_when_to_come_back_by_date(serve: Serve) -> None:
    busy = Play(status=429, headers={"Retry-After": "Thu, 01 Jan 2026 00:00:00 GMT"})
    _, url = serve(lambda _, number: busy if number <= 6 else NONE)
    assert read(engine(url, attempts=1), 2) == [NothingStated()] * 2


def test_nobody_is_asked_while_a_busy_server_wants_to_be_left_alone(serve: Serve) -> None:
    times: list[float] = []

    def part(_question: dict[str, object], number: int) -> Play:
        times.append(time.monotonic())
        return Play(status=429, headers={"Retry-After": "1"}) if number == 1 else NONE

    _, url = serve(part)
    assert read(engine(url, concurrency=1), 6) == [NothingStated()] * 6
    assert times[1] - times[0] >= 1


def test_server_that_is_busy_for_too_long_costs_attempts_after_all(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert health.LONGEST_BUSY == 600
    monkeypatch.setattr(health, "LONGEST_BUSY", 0.4)
    stage, url = serve(always(Play(status=429, headers={"Retry-After": "0"})))
    began = time.monotonic()
    assert read(engine(url, attempts=2), 3) == [Failed("server error")] * 3
    assert time.monotonic() - began >= 0.4
    assert len(stage.asked) > 3 * 2


def test_busy_time_is_counted_anew_after_every_answer(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "LONGEST_BUSY", 0.5)
    busy = Play(status=429, headers={"Retry-After": "0"}, wait_seconds=0.1)
    _, url = serve(lambda _, number: NONE if number % 4 == 0 else busy)
    assert read(engine(url, attempts=1, concurrency=1), 4) == [NothingStated()] * 4


def test_last_refusal_of_a_report_is_told_in_the_servers_own_words(serve: Serve) -> None:
    too_long = json.dumps({"error": {"message": "Prompt exceeds the limit."}}).encode()
    _, url = serve(lambda _, number: Play(status=400, raw=too_long) if number == 2 else NONE)
    read_by = engine(url, concurrency=1)
    assert "server_said" not in read_by.counts()
    outcomes = read(read_by, 3)
    assert Counter(outcomes) == {NothingStated(): 2, Failed("request refused"): 1}
    assert read_by.counts()["server_said"] == "400 Prompt exceeds the limit."


@pytest.mark.parametrize("status", [400, 429, 500])
def test_errors_with_a_body_leave_their_connection_alive(status: int, serve: Serve) -> None:
    error = Play(status=status, raw=b"x" * 100_000)
    stage, url = serve(lambda _, number: error if number % 2 else NONE)
    read(engine(url, concurrency=2, attempts=4), 20)
    assert len(stage.asked) >= 20
    assert len(stage.connections) <= 2


def test_dropped_connections_lose_no_report(serve: Serve) -> None:
    puts: Counter[str] = Counter()

    def hang_up_but_at_the_last(asked: dict[str, object], _: int) -> Play:
        puts[json.dumps(asked)] += 1
        return Play(hang_up=True) if puts[json.dumps(asked)] < 4 else NONE

    _, url = serve(hang_up_but_at_the_last)
    assert read(engine(url, attempts=4), 30) == [NothingStated()] * 30
    assert set(puts.values()) == {4}


def test_server_that_hangs_from_the_start_is_given_up_in_seconds(serve: Serve) -> None:
    stage, url = serve(always(Play(wait_seconds=600)))
    stage.models = Play(wait_seconds=600)
    began = time.monotonic()
    with pytest.raises(ModelOutageError, match=r"none to 2 trials .*timed out"):
        read(engine(url, timeout_seconds=1.0, silence_seconds=0.5), 3_500)
    assert time.monotonic() - began < 20
    assert len(stage.asked) == 0


def test_server_whose_model_hangs_is_tried_once_and_then_given_up(serve: Serve) -> None:
    stage, url = serve(always(Play(wait_seconds=600)))
    stage.models = listing("small")
    read_by = engine(url, timeout_seconds=3.0, silence_seconds=0.5)
    assert read(read_by, 300) == [Failed("timed out")] * 300
    assert len(stage.asked) == 5
    assert read_by._completer.ill
    with pytest.raises(ModelOutageError, match="needs a longer server_silence_seconds"):
        read(read_by, 300)
    assert len(stage.asked) == 6


def test_server_that_hangs_for_a_while_and_comes_back_loses_no_report(serve: Serve) -> None:

    def part(_question: dict[str, object], number: int) -> Play:
        return Play("- none\n", wait_seconds=600) if 10 < number <= 14 else NONE

    stage, url = serve(part)
    stage.models = listing("small")
    assert read(engine(url, silence_seconds=0.5), 100) == [NothingStated()] * 100
    assert len(stage.asked) == 104


def test_slow_server_is_not_taken_for_a_hung_one(serve: Serve) -> None:
    stage, url = serve(always(Play("- none\n", wait_seconds=0.8)))
    stage.models = listing("small")
    assert read(engine(url, silence_seconds=0.4, concurrency=2), 6) == [NothingStated()] * 6


def test_slow_last_answers_of_a_block_do_not_leave_the_server_idle(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "BLOCK", 8)
    all_asked, waited_for_all = threading.Event(), []

    def part(question: dict[str, object], number: int) -> Play:
        if number == 24:
            all_asked.set()
        if str(question["prompt"]).rstrip().endswith("Film 7.\nStatements:"):
            waited_for_all.append(all_asked.wait(20))
        return NONE

    _, url = serve(part)
    assert read(engine(url, concurrency=2, timeout_seconds=60.0), 24) == [NothingStated()] * 24
    assert waited_for_all == [True]


def test_questions_at_once_grow_with_what_the_server_takes(serve: Serve) -> None:
    stage, url = serve(always(Play("- none\n", wait_seconds=0.15)))
    read_by = engine(url, concurrency=None)
    assert read(read_by, 400) == [NothingStated()] * 400
    assert stage.most_under_way > 16
    assert int(str(read_by.facts["questions_at_once"])) > 16


def test_number_that_was_set_is_kept(serve: Serve) -> None:
    five_asked = threading.Event()

    def part(question: dict[str, object], number: int) -> Play:
        del question
        if number >= 5:
            five_asked.set()
        five_asked.wait(20)
        return NONE

    stage, url = serve(part)
    read(engine(url, concurrency=5), 200)
    assert stage.most_under_way == 5


def test_list_of_models_is_asked_for_once(serve: Serve) -> None:
    stage, url = serve(always(NONE))
    stage.models = listing("small")
    read_by = engine(url)
    read(read_by, 3)
    read(read_by, 3)
    assert stage.looks == 1
