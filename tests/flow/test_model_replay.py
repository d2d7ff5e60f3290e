"""Flow: answers recorded from a server are read again without it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from extraction.engines.kinds import ReplayEngine, ServerEngine
from extraction.engines.ledger import read_heading
from extraction.engines.model import Terms
from extraction.engines.settings import ServerSettings
from extraction.errors import ModelOutageError, ModelSettingsError
from extraction.finding import Failed
from extraction.prompt.examples import load
from extraction.prompt.forms import AnswerForm
from extraction.prompt.template import Manner
from pipeline.cli import extract as group
from tests.fixtures.extraction.answers import ANSWER, REPORT
from tests.fixtures.extraction.stage import Play, Serve, always

TEXTS = [f"{REPORT} Film {n}." for n in range(5)]
MANNERS = [Manner(), Manner(chat=True, form=AnswerForm("number", "json"))]


def recorded(serve: Serve, path: Path, *, manner: Manner = MANNERS[0]) -> ServerEngine:
    _, url = serve(always(Play(ANSWER)))
    engine = ServerEngine(ServerSettings(url=url, model="small", manner=manner))
    engine.record(path)
    return engine


@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner.name)
def test_recorded_answers_read_the_same_without_the_server(
    manner: Manner, serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    engine = recorded(serve, path, manner=manner)
    first = engine.answers(TEXTS, modality="XR")
    replay = ReplayEngine(path)
    assert replay.answers(TEXTS, modality="XR") == first
    assert (replay.name, replay.version) == ("replay", engine.version)
    assert read_heading(path).manner == manner


def test_question_that_was_never_put_is_not_recorded_and_no_negative(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    recorded(serve, path).extract(TEXTS[:1], modality="XR")
    assert ReplayEngine(path).extract(["No effusion."], modality="XR") == [Failed("not recorded")]
    with pytest.raises(ModelOutageError, match="not recorded: 1"):
        ReplayEngine(path, Terms(tolerated_outage=0.05)).extract(["No effusion."], modality="XR")


def test_other_examples_find_nothing_in_a_recording(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    recorded(serve, path).extract(TEXTS[:1], modality="XR")
    shipped = load()
    fewer = {name: examples[:2] for name, examples in shipped.examples.items()}
    other = type(shipped)(fewer, "other")
    found = ReplayEngine(path, Terms(prompts=other)).extract(TEXTS[:1], modality="XR")
    assert found == [Failed("not recorded")]


def test_line_left_half_written_is_passed_over_and_recording_goes_on(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    engine = recorded(serve, path)
    engine.extract(TEXTS[:2], modality="XR")
    path.write_text(path.read_text()[:-40])
    recorded(serve, path).extract(TEXTS[1:], modality="XR")
    assert ReplayEngine(path).extract(TEXTS, modality="XR") == engine.extract(TEXTS, modality="XR")


def test_recording_is_its_owner_s_alone_and_begins_with_how_it_was_made(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "answers.jsonl"
    recorded(serve, path).extract(TEXTS[:1], modality="XR")
    assert path.stat().st_mode & 0o077 == 0
    heading = json.loads(path.read_text().splitlines()[0])
    assert (heading["engine"], heading["model"], heading["bound"]) == ("server", "small", "no")


@pytest.mark.parametrize("content", ["", "{}", "no JSON"])
def test_file_that_is_no_recording_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(content)
    with pytest.raises(ModelSettingsError, match=r"x\.jsonl is no recording"):
        ReplayEngine(tmp_path / "x.jsonl")


def test_command_records_and_replays(serve: Serve, tmp_path: Path) -> None:
    app = typer.Typer()
    group.register(app)
    _, url = serve(always(Play(ANSWER)))
    pd.DataFrame({"report_id": ["a"], "modality": "XR", "text": REPORT}).to_csv(
        tmp_path / "reports.csv", index=False
    )
    tables = []
    for name, options in (
        ("server", ["--server", url, "--model", "small", "--record", str(tmp_path / "kept.jsonl")]),
        ("replay", ["--model", str(tmp_path / "kept.jsonl")]),
    ):
        out = tmp_path / f"{name}.csv"
        command = ["extract", str(tmp_path / "reports.csv"), "--out", str(out), "--engine", name]
        result = CliRunner().invoke(app, [*command, *options], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        tables.append(pd.read_csv(out).drop(columns="engine"))
    pd.testing.assert_frame_equal(*tables)


def test_a_file_that_is_no_recording_is_never_recorded_over(serve: Serve, tmp_path: Path) -> None:
    """A slip in `[extraction] record` must not cost a hospital its export."""
    (export := tmp_path / "ris.csv").write_text("accession,text\n1,Likely normal.\n")
    for taken in (export, tmp_path):
        with pytest.raises(ModelSettingsError, match="is left as it is; name another file"):
            recorded(serve, taken)
    assert export.read_text() == "accession,text\n1,Likely normal.\n"
    recorded(serve, tmp_path / "new" / "answers.jsonl")
    assert not (tmp_path / "new").exists()  # a rehearsal makes the engine and writes nothing
