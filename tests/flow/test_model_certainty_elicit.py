"""``radcal lm elicit | calibrate`` with a real HTTP server on loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from extraction.errors import ModelOutageError
from pipeline.errors import ConfigurationError
from pipeline.neighbours import measures

PYTHON = os.environ.get("RADCAL_VLLM_PYTHON", "")
MAKER = Path(__file__).parent.parent / "fixtures" / "extraction" / "tiny_llama.py"
_APP = typer.Typer()
measures.register(_APP)

CONFIDENT = {"probability": "0.9", "phrase": "Almost certain", "beta": "Beta(9, 1)"}
DOUBTFUL = {"probability": "0.3", "phrase": "unlikely.", "beta": "Beta(3, 7)"}
OWN = ' "no way", 1, 20\n- "perhaps", 4, 6\n- "I am sure", 18, 2\n'

Model = Callable[[str], str | int]


def question_of(prompt: str) -> str:
    return prompt.rsplit("Question: ", 1)[1].split("\n")[0]


def form_of(prompt: str) -> str:
    if "Beta(<" in prompt:
        return "beta"
    return "phrase" if "exactly one of these expressions" in prompt else "probability"


def number_of(prompt: str) -> int:
    return int(re.findall(r"\d+", question_of(prompt))[0])


def student(prompt: str) -> str | int:
    """Knows the even questions and is sure of them; guesses the others; odd tenths go wrong."""
    if prompt.endswith("\n-"):
        return OWN
    number, form = number_of(prompt), form_of(prompt)
    if number == 7:
        return " 14\n" if form != "beta" else " 14\nConfidence: Gaussian(3, 1)"
    said = (CONFIDENT if number % 2 == 0 else DOUBTFUL)[form]
    if "perhaps" in prompt:
        said = "I am sure" if number % 2 == 0 else "Perhaps"
    label = "Probability" if form == "probability" else "Confidence"
    guess = number if number % 2 == 0 or number % 3 == 0 else "elephant"
    return f" {guess}.\n{label}: {said}\n\nQuestion: What is"


@pytest.fixture
def serve() -> Iterator[Callable[[Model], tuple[str, list[str]]]]:
    running: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(model: Model) -> tuple[str, list[str]]:
        prompts: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompts.append(asked["prompt"])
                text = model(asked["prompt"])
                self.send_response(text if isinstance(text, int) else 200)
                self.end_headers()
                if isinstance(text, str):
                    for mark in asked["stop"]:
                        text = text.split(mark)[0]
                    choice = {"text": text, "finish_reason": "stop"}
                    self.wfile.write(json.dumps({"choices": [choice]}).encode())

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}", prompts

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Sixty questions whose answer is their number, in turn in the layouts of both data sets."""
    rows = []
    for n in range(60):
        question = f"Which number is {n}?"
        if n % 2:
            wrong = {f"distractor{k}": f"{n + k}" for k in (1, 2, 3)}
            rows.append({"question": question, "correct_answer": str(n), **wrong, "support": ""})
        else:
            answers = {"best_answer": str(n), "correct_answers": [str(n), f"It is {n}"]}
            rows.append({"question": question, **answers, "incorrect_answers": [f"{n + 1}"]})
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments: object) -> tuple[int, dict[str, object]]:
    result = CliRunner().invoke(_APP, ["lm", *map(str, arguments), "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout.splitlines()[-1])


def test_all_four_forms_are_asked_judged_and_calibrated(
    serve: Callable[[Model], tuple[str, list[str]]], questions: Path, tmp_path: Path
) -> None:
    url, prompts = serve(student)
    out = tmp_path / "answers.jsonl"
    code, summary = run("elicit", questions, "--out", out, "--server", url, "--model", "student")
    assert code == 3
    assert summary["questions"] == 60
    assert len(prompts) == summary["put_to_the_model"] == 4 * 60 + 1
    table = pd.read_json(out, lines=True, precise_float=True)
    assert table.groupby("form")["item"].count().eq(60).all()
    lost = table[table["outcome"] != "answered"].set_index("form")
    assert lost["reason"].to_dict() == {
        "probability": "no confidence",
        "phrase": "no confidence",
        "beta": "not a Beta distribution",
        "own-phrase": "no confidence",
    }
    assert lost["correct"].isna().all()
    kept = table[table["outcome"] == "answered"]
    number = kept["item"].str.extract(r"(\d+)")[0].astype(int) - 1
    assert (kept["correct"] == ((number % 2 == 0) | (number % 3 == 0))).all()
    assert set(kept["probability"].dropna()) == {0.3, 0.9}
    assert set(kept.loc[kept["form"] == "own-phrase", "alpha"]) == {4, 18}

    result = tmp_path / "result.json"
    code, _ = run("calibrate", out, "--out", result, "--splits", "2", "--bootstrap", "50")
    assert code == 3
    found = json.loads(result.read_text())
    assert found["settings"]["phrases"] == "probability-words"
    for form, methods in (("probability", 5), ("phrase", 7), ("beta", 5), ("own_phrase", 7)):
        assert found[form]["n"] == 59
        assert len(found[form]["methods"]) == methods
        assert found[form]["distributions"]["ece"]["low"] is not None
    assert found["beta"]["set_aside"] == {"not a Beta distribution": 1}


def test_run_that_stopped_goes_on_and_gives_the_same_bytes(
    serve: Callable[[Model], tuple[str, list[str]]], questions: Path, tmp_path: Path
) -> None:
    whole, _ = serve(student)
    arguments = ["--model", "student", "--form", "probability"]
    run("elicit", questions, "--out", tmp_path / "whole.jsonl", "--server", whole, *arguments)
    half, _ = serve(lambda prompt: 400 if number_of(prompt) >= 20 else student(prompt))
    out = tmp_path / "answers.jsonl"
    code, summary = run("elicit", questions, "--out", out, "--server", half, *arguments)
    assert code == 3
    assert (
        summary["probability"]
        == "19 answered, 13 right; set aside: 40 request refused, 1 no confidence"
    )
    with (tmp_path / "answers.jsonl.replies").open("a") as file:
        file.write('{"key": "half a li')
    full, prompts = serve(student)
    run("elicit", questions, "--out", out, "--server", full, *arguments)
    assert len(prompts) == 40
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_judge_decides_what_words_do_not_and_may_leave_it_open(
    serve: Callable[[Model], tuple[str, list[str]]], tmp_path: Path
) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [{"question": f"Who is {n}?", "answers": [f"man {n}"]} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def model(prompt: str) -> str:
        if prompt.endswith("Reason:"):
            return [" Same.\nYes.", " Another one.\nNo", " Hard to say."][number_of(prompt)]
        return " nobody\nProbability: 0.5"

    url, prompts = serve(model)
    out = tmp_path / "answers.csv"
    run(
        "elicit", path, "--out", out, "--server", url, "--model", "m", "--judge", "model",
        "--form", "probability",
    )  # fmt: skip
    table = pd.read_csv(out)
    assert table["correct"].tolist()[:2] == [1, 0]
    assert pd.isna(table["correct"][2])
    assert table["reason"][2] == "no verdict"
    assert len(prompts) == 6


def test_unusable_lines_are_named_and_left_out(
    serve: Callable[[Model], tuple[str, list[str]]], questions: Path, tmp_path: Path
) -> None:
    bad = ['{"question": "x"}', "no json", '{"question": "", "answers": ["y"]}', "[]"]
    questions.write_text(questions.read_text() + "\n".join(bad) + "\n")
    url, _ = serve(student)
    result = CliRunner().invoke(
        _APP,
        ["lm", "elicit", str(questions), "--out", str(tmp_path / "a.csv"), "--server", url,
         "--model", "m", "--form", "probability"],
    )  # fmt: skip
    assert result.exit_code == 3
    for words in ("line 61: no known layout", "line 62: not a JSON object", "line 63: question:"):
        assert words in result.stderr
    assert "unusable lines: 4" in result.stdout


def test_model_that_was_never_heard_is_an_outage_and_nothing_is_written(
    serve: Callable[[Model], tuple[str, list[str]]], questions: Path, tmp_path: Path
) -> None:
    url, _ = serve(lambda _: 400)
    out = tmp_path / "a.csv"
    with pytest.raises(ModelOutageError, match="none of 60 questions got a reply"):
        run("elicit", questions, "--out", out, "--server", url, "--model", "m", "--form", "beta")
    assert not out.exists()


@pytest.mark.skipif(not PYTHON, reason="RADCAL_VLLM_PYTHON names no Python with torch")
def test_model_on_this_machine_answers_through_the_same_reading(
    questions: Path, tmp_path: Path
) -> None:
    model, out = tmp_path / "model", tmp_path / "answers.csv"
    questions.write_text("".join(f"{line}\n" for line in questions.read_text().splitlines()[:3]))
    subprocess.run([PYTHON, "-I", MAKER, "tiny", model, questions], check=True, capture_output=True)
    arguments = [
        "elicit", questions, "--out", out, "--engine", "transformers", "--model", model,
        "--vllm-python", PYTHON, "--form", "probability",
    ]  # fmt: skip
    code, first = run(*arguments)
    table = pd.read_csv(out)
    assert (code, first["put_to_the_model"], len(table)) == (3, 3, 3)
    assert set(table["outcome"]) <= {"answered", "unreadable"}
    assert table["model"].str.fullmatch(r"model\+[0-9a-f]{12}").all()
    assert run(*arguments)[1]["put_to_the_model"] == 0


def test_server_and_model_must_be_named(questions: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="needs --server URL and --model NAME"):
        run("elicit", questions, "--out", tmp_path / "a.csv")
