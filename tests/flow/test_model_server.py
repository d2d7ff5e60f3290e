"""Flow: the server engine against a real HTTP server on loopback that plays every part."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from extraction.audit.gold import GoldReport, load_gold
from extraction.engines.kinds import ServerEngine
from extraction.engines.model import Terms
from extraction.engines.prompted import Asked, PromptedReader
from extraction.engines.settings import ServerSettings
from extraction.errors import ModelOutageError
from extraction.finding import OTHER, Extracted, Failed, NothingStated, Outcome
from extraction.prompt.examples import NONE, Line, written
from extraction.prompt.examples import load as load_prompts
from extraction.rules.engine import RuleEngine
from extraction.tables import read_reports
from extraction.vocabulary import load
from pipeline.errors import ConfigurationError
from pipeline.site.site import Site
from tests.fixtures.extraction.answers import ANSWER, FAILING, REPORT, STATED
from tests.fixtures.extraction.stage import Play, Serve, always, in_turn

FIXTURES = Path(__file__).parent.parent / "fixtures" / "extraction"


def engine(url: str, **changes: object) -> ServerEngine:
    options = {"timeout_seconds": 10.0, "backoff_seconds": 0.01, "concurrency": 4} | changes
    return ServerEngine(ServerSettings(url=url, model="small", **options))  # type: ignore[arg-type]


def one(found: list[Outcome]) -> Outcome:
    (outcome,) = found
    return outcome


def stated(outcome: Outcome) -> list[tuple[str, str | None]]:
    assert isinstance(outcome, Extracted), outcome
    return [(f.pathology, f.phrase) for f in outcome.findings]


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
def test_right_answers_give_exactly_what_they_say(modality: str, serve: Serve) -> None:
    texts = [report.text for report in gold(modality)]
    rules = RuleEngine().extract(texts, modality=modality)  # type: ignore[arg-type]
    reader = PromptedReader(context_tokens=8192, answer_tokens=1536)
    answers = {}
    for text, outcome in zip(texts, rules, strict=True):
        asked = reader.ask(text, modality=modality)  # type: ignore[arg-type]
        assert isinstance(asked, Asked)
        answers[asked.question.prompt] = lines_of(outcome, text)
    stage, url = serve(lambda question, _: Play(answers[str(question["prompt"])]))
    read = engine(url, concurrency=8)
    found = read.extract(texts, modality=modality)  # type: ignore[arg-type]
    assert [places(outcome) for outcome in found] == [places(outcome) for outcome in rules]
    assert len(stage.asked) == len(texts)
    assert stage.most_under_way <= 8
    assert len(stage.connections) <= 8
    assert set(read.ledger.rejected) <= {"repeated line"}


def test_question_is_greedy_stops_at_the_mark_and_carries_the_key(
    serve: Serve,
) -> None:
    stage, url = serve(always(Play(ANSWER)))
    outcome = one(engine(f"{url}/v1/", key="secret").extract([REPORT], modality="XR"))
    assert stated(outcome) == STATED
    (question,) = stage.asked
    assert (question["model"], question["temperature"], question["stop"]) == ("small", 0, ["###"])
    assert "structured_outputs" not in question
    assert stage.headers[0]["Authorization"] == "Bearer secret"


def test_structured_output_is_sent_only_when_asked_for(
    serve: Serve,
) -> None:
    stage, url = serve(always(Play(ANSWER)))
    free, bound = engine(url), engine(url, bound="regex")
    bound.extract([REPORT], modality="XR")
    assert "pleural effusion" in str(stage.asked[0]["structured_outputs"])
    assert free.version != bound.version


def test_prompts_of_one_modality_share_the_worked_examples(
    serve: Serve,
) -> None:
    stage, url = serve(always(Play(NONE)))
    engine(url).extract(["Endotracheal tube.", "IMPRESSION: A line."], modality="CT")
    one_prompt, other = (str(question["prompt"]) for question in stage.asked)
    shared = one_prompt[: one_prompt.rindex("###")]
    assert other.startswith(shared)
    assert shared.count("Statements:") == len(load_prompts().examples["CT"])


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408, 425])
def test_passing_error_is_tried_again(status: int, serve: Serve) -> None:
    stage, url = serve(in_turn(Play(status=status), Play(status=status), Play(ANSWER)))
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED
    assert len(stage.asked) == 3


def test_server_that_asks_for_a_pause_gets_it(
    serve: Serve,
) -> None:
    _, url = serve(in_turn(Play(status=429, headers={"Retry-After": "1"}), Play(ANSWER)))
    begun = time.monotonic()
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED
    assert time.monotonic() - begun >= 1


def test_lasting_error_fails_after_the_allowed_attempts(
    serve: Serve,
) -> None:
    stage, url = serve(always(Play(status=500)))
    assert engine(url, attempts=3).extract([REPORT], modality="XR") == [Failed("server error")]
    assert len(stage.asked) == 3


@pytest.mark.parametrize("status", [301, 400, 413, 422])
def test_refusal_is_not_tried_again(status: int, serve: Serve) -> None:
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
def test_reply_that_is_not_the_promised_json_is_a_server_error(play: Play, serve: Serve) -> None:
    _, url = serve(always(play))
    read = engine(url, attempts=2)
    assert read.extract([REPORT], modality="XR") == [Failed("server error")]


def test_cut_json_then_a_whole_reply_is_read(serve: Serve) -> None:
    _, url = serve(in_turn(Play(raw=b'{"choices": [{"te'), Play(ANSWER)))
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED


@pytest.mark.parametrize(
    "play",
    [Play(ANSWER, wait_seconds=30), Play(ANSWER, trickle_seconds=0.05)],
    ids=["silent", "trickling"],
)
def test_slow_server_times_out(play: Play, serve: Serve) -> None:
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


@pytest.mark.parametrize("case", FAILING)
def test_failed_answer_is_asked_once_more_then_counted(case: str, serve: Serve) -> None:
    text, cut, reason = FAILING[case]
    stage, url = serve(always(Play(text, finish="length" if cut else "stop")))
    assert engine(url).extract([REPORT], modality="XR") == [Failed(reason)]
    first, second = stage.asked
    assert first["prompt"] != second["prompt"]
    assert int(str(second["max_tokens"])) > int(str(first["max_tokens"]))


@pytest.mark.parametrize("finish", ["content_filter", "abort", "error"])
def test_answer_that_the_server_broke_off_is_no_whole_one(finish: str, serve: Serve) -> None:
    _, url = serve(always(Play(ANSWER, finish=finish)))
    assert engine(url).extract([REPORT], modality="XR") == [Failed("truncated answer")]


@pytest.mark.parametrize("case", FAILING)
def test_second_answer_counts_when_it_is_right(case: str, serve: Serve) -> None:
    text, cut, _ = FAILING[case]
    stage, url = serve(in_turn(Play(text, finish="length" if cut else "stop"), Play(ANSWER)))
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED
    assert len(stage.asked) == 2


def test_one_bad_report_never_fails_the_others(
    serve: Serve,
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
    serve: Serve,
) -> None:
    _, url = serve(always(Play(status=400)))
    read = ServerEngine(ServerSettings(url=url, model="small"), Terms(tolerated_outage=0.05))
    with pytest.raises(ModelOutageError, match=r"2 of 2 reports .*request refused: 2") as caught:
        read.extract([REPORT, REPORT], modality="XR")
    assert "effusion" not in str(caught.value)


def test_two_lost_reports_are_failures_of_their_own_and_no_outage(
    serve: Serve,
) -> None:
    _, url = serve(in_turn(Play(status=400), Play(status=400), Play(ANSWER)))
    settings = ServerSettings(url=url, model="small", concurrency=1)
    found = ServerEngine(settings, Terms(tolerated_outage=0.05)).extract(
        [REPORT] * 3, modality="XR"
    )
    assert found[:2] == [Failed("request refused")] * 2
    assert stated(found[2]) == STATED


def test_proxy_of_the_environment_never_sees_a_report(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, url = serve(always(Play(ANSWER)))
    spy, proxy = serve(always(Play(ANSWER)))
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("ALL_PROXY", proxy)
    assert stated(one(engine(url).extract([REPORT], modality="XR"))) == STATED
    assert spy.asked == []


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    rows = {"report_id": ["a", "b"], "modality": ["XR", "CT"], "text": [REPORT, "Clear."]}
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_extract_command_asks_the_server_and_counts_what_it_left_out(
    app: typer.Typer,
    reports: Path,
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    extra = '- "No pleural effusion.", "ascites", "absent"\n'
    stage, url = serve(
        lambda question, _: Play(NONE if "Clear." in str(question["prompt"]) else ANSWER + extra)
    )
    monkeypatch.setenv("RADCAL_SERVER_KEY", "secret")
    out = reports.with_name("findings.csv")
    command = ["extract", reports, "--out", out, "--json", "--engine", "server"]
    asked = [*command, "--server", url, "--model", "small"]
    result = CliRunner().invoke(app, [str(part) for part in asked], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    summary = json.loads(result.output)
    assert summary["answer_lines_left_out"] == {"unlisted pathology": 1}
    assert (summary["with_findings"], summary["nothing_stated"]) == (1, 1)
    table = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert list(zip(table["pathology"], table["phrase"], strict=True)) == STATED
    assert set(table["engine"]) == {"server"}
    assert all(version.startswith("small+") for version in table["engine_version"])
    assert stage.headers[0]["Authorization"] == "Bearer secret"


def test_extract_command_without_a_server_ends_with_counted_failures(
    app: typer.Typer, reports: Path
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        command = ["extract", reports, "--out", reports.with_name("f.csv"), "--json"]
        asked = [*command, "--engine", "server", "--server", url, "--model", "small"]
        result = CliRunner().invoke(app, [str(part) for part in asked], catch_exceptions=False)
    assert result.exit_code == 3
    assert json.loads(result.output)["failed_by_reason"] == {"server unreachable": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "server"], "needs --server URL and --model NAME"),
        (["--engine", "server", "--server", "x", "--model", "m"], "must start with http"),
        (["--server", "http://host"], "need --engine server"),
        (["--engine", "oracle"], "use one of rules, server, vllm, transformers"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(
    app: typer.Typer, reports: Path, options: list[str], message: str
) -> None:
    command = ["extract", str(reports), "--out", str(reports.with_name("f.csv")), *options]
    with pytest.raises(ConfigurationError, match=message):
        CliRunner().invoke(app, command, catch_exceptions=False)


def test_audit_scores_the_server_as_it_scores_the_rules(
    app: typer.Typer, tmp_path: Path, serve: Serve
) -> None:
    texts = [report.text for report in gold("XR")]
    reader = PromptedReader(context_tokens=8192, answer_tokens=1536)
    answers = {}
    for text, outcome in zip(texts, RuleEngine().extract(texts, modality="XR"), strict=True):
        asked = reader.ask(text, modality="XR")
        assert isinstance(asked, Asked)
        answers[asked.question.prompt] = lines_of(outcome, text)
    _, url = serve(lambda question, _: Play(answers[str(question["prompt"])]))
    command = ["audit", "extraction", "--gold", str(FIXTURES / "gold_xr.jsonl"), "--json",
               "--bootstrap", "0"]  # fmt: skip
    scored = []
    for options in ([], ["--engine", "server", "--server", url, "--model", "small"]):
        result = CliRunner().invoke(app, [*command, *options], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        scored.append(json.loads(result.output))
    rules, server = scored
    assert {
        k: v for k, v in server.items() if k not in ("engine", "engine_version", "version")
    } == {k: v for k, v in rules.items() if k not in ("engine", "engine_version", "version")}


def site(folder: Path, url: str) -> Site:
    path = folder / "radcal.toml"
    path.write_text(
        '[input]\npaths = ["a.csv"]\n'
        f'[extraction]\nengine = "server"\nserver_url = "{url}"\nmodel = "small"\n'
    )
    return Site(path)


def exams(number: int) -> pd.DataFrame:
    keys = [f"e{n}" for n in range(number)]
    return pd.DataFrame(
        {"exam_key": keys, "modality": ["XR", "CT"] * (number // 2), "text": REPORT}
    )


def test_whole_job_reads_through_the_configured_server(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, url = serve(always(Play(ANSWER)))
    monkeypatch.setenv("RADCAL_SERVER_KEY", "secret")
    place = site(tmp_path, url)
    tables = read_reports(exams(4), engine=place.engine, vocabulary=place.vocabulary)
    assert tables.readings["outcome"].tolist() == ["read"] * 4
    assert len(tables.report_findings) == 4 * len(STATED)
    assert stage.headers[0]["Authorization"] == "Bearer secret"
    assert "secret" not in place.config.model_dump_json()


def test_whole_job_keeps_nothing_of_a_night_without_a_server(tmp_path: Path, serve: Serve) -> None:
    _, url = serve(always(Play(status=404)))
    place = site(tmp_path, url)
    with pytest.raises(ModelOutageError, match="run again"):
        read_reports(exams(4), engine=place.engine, vocabulary=place.vocabulary)


def test_server_engine_without_an_address_is_a_configuration_error(tmp_path: Path) -> None:
    path = tmp_path / "radcal.toml"
    path.write_text('[input]\npaths = ["a.csv"]\n[extraction]\nengine = "server"\n')
    with pytest.raises(ConfigurationError, match=r"no model is named.*must start with http"):
        Site(path)
