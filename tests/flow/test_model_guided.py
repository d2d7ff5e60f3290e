"""Flow: the rules read, and a model is asked only where they are in doubt."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from extraction.engines.kinds import ReplayEngine, ServerEngine
from extraction.engines.model import Terms
from extraction.engines.settings import ServerSettings
from extraction.errors import ModelOutageError
from extraction.finding import Extracted, Failed, NothingStated, Outcome
from extraction.prompt.forms import AnswerForm
from extraction.prompt.template import Manner
from extraction.rules.engine import RuleEngine
from extraction.tables import queue_table, read_reports
from pipeline.errors import ConfigurationError
from pipeline.site.engines import OutcomeMemory
from pipeline.site.site import Site
from tests.fixtures.extraction.stage import Play, Serve, always

SURE = "FINDINGS: No pleural effusion. Small hiatal hernia."
HEDGED = "FINDINGS: No pleural effusion. Left base opacity may represent pneumonia."
TORN = "FINDINGS: No pneumothorax. Heart size normal.\nIMPRESSION: Small right pneumothorax."
SILENT = "FINDINGS: Endotracheal tube in place."
SENTENCE = "Left base opacity may represent pneumonia."
DIFFERS = f'- "{SENTENCE}", "lung opacity", "present"\n- "{SENTENCE}", "pneumonia", "likely"\n'
AGREES = DIFFERS.replace('"likely"', '"may represent"')


def engine(url: str, *, form: AnswerForm | None = None, **options: Any) -> ServerEngine:
    manner = Manner(form=form or AnswerForm(), guided=True)
    settings = ServerSettings(url=url, model="small", backoff_seconds=0.01, manner=manner)
    return ServerEngine(settings, Terms(**options))


def shown(question: dict[str, Any]) -> str:
    return str(question["prompt"]).rsplit("###", 1)[-1]


def said(outcome: Outcome) -> list[tuple[str, str | None, str]]:
    assert isinstance(outcome, Extracted)
    return [(f.pathology, f.phrase, f.read_by) for f in outcome.findings]


def tokens(text: str, **margins: float) -> tuple[dict[str, float], ...]:
    """Cut a text into words and marks; a word named has that margin, all others 5."""
    pieces = re.findall(r"\s*\w+|\s*[^\w\s]", text)
    return tuple({p: -0.1, "~": -0.1 - margins.get(p.strip(), 5.0)} for p in pieces)


def test_model_is_shown_the_doubtful_sentence_and_no_other(serve: Serve) -> None:
    stage, url = serve(always(Play(DIFFERS)))
    engine(url).extract([HEDGED], modality="XR")
    (question,) = stage.asked
    assert SENTENCE in shown(question)
    assert "pleural effusion" not in shown(question)


def test_each_finding_says_whether_the_rules_or_the_model_read_it(serve: Serve) -> None:
    _, url = serve(always(Play(DIFFERS)))
    (outcome,) = engine(url).extract([HEDGED], modality="XR")
    assert said(outcome) == [
        ("pleural effusion", "absent", "rules"),
        ("lung opacity", "present", "server"),
        ("pneumonia", "likely", "server"),
    ]


def test_report_without_a_doubt_is_the_rules_and_nobody_is_asked(serve: Serve) -> None:
    stage, url = serve(always(Play(DIFFERS)))
    read = engine(url)
    found = read.extract([SURE, SILENT, "  "], modality="XR")
    assert said(found[0]) == [
        ("pleural effusion", "absent", "rules"), ("hiatal hernia", "present", "rules"),
    ]  # fmt: skip
    assert found[1:] == [NothingStated(), Failed("empty text")]
    assert found[1:] == RuleEngine().extract([SILENT, "  "], modality="XR")
    assert stage.asked == []
    assert read.counts()["reports_by_rules_alone"] == 3


def test_sentences_that_contradict_each_other_are_both_asked_about(serve: Serve) -> None:
    answer = (
        '- "No pneumothorax.", "pneumothorax", "absent"\n'
        '- "Small right pneumothorax.", "pneumothorax", "present"\n'
    )
    stage, url = serve(always(Play(answer)))
    read = engine(url)
    (outcome,) = read.extract([TORN], modality="XR")
    assert "FINDINGS: No pneumothorax.\nIMPRESSION: Small right pneumothorax." in shown(
        stage.asked[0]
    )
    assert {name: by for name, _, by in said(outcome)} == {
        "pneumothorax": "server", "cardiomegaly": "rules",
    }  # fmt: skip
    assert read.counts()["sentences_in_doubt"] == {"conflicting": 2}


@pytest.mark.parametrize("failing", [Play(""), Play("- none\n"), Play(DIFFERS, finish="length")])
def test_model_that_fails_fails_the_doubtful_report_whole_and_no_other(
    serve: Serve, failing: Play
) -> None:
    _, url = serve(always(failing))
    doubted, sure, silent = engine(url).extract([HEDGED, SURE, SILENT], modality="XR")
    assert isinstance(doubted, Failed)
    assert len(said(sure)) == 2
    assert silent == NothingStated()


def test_server_that_is_away_is_an_outage_though_most_reports_need_no_model(serve: Serve) -> None:
    _, url = serve(always(Play(status=500)))
    texts = [f"{SURE} Film {n}." for n in range(97)] + [f"{HEDGED} Film {n}." for n in range(3)]
    with pytest.raises(ModelOutageError, match="3 of 3 reports got no answer"):
        engine(url, tolerated_outage=0.05).extract(texts, modality="XR")


def test_sentences_are_numbered_among_the_doubtful(serve: Serve) -> None:
    stage, url = serve(always(Play("- 1, pneumonia, likely\n- 1, lung opacity, present\n")))
    read = engine(url, form=AnswerForm("number"))
    (outcome,) = read.extract([HEDGED], modality="XR")
    assert f"1. {SENTENCE}" in shown(stage.asked[0])
    assert ("pneumonia", "likely", "server") in said(outcome)


def test_smallest_margin_on_a_certainty_ranks_the_queue(serve: Serve) -> None:
    sure, unsure = (f"{HEDGED} Film {n}." for n in ("one", "two"))
    plays = iter(
        [Play(AGREES, tokens=tokens(AGREES, represent=0.75)),
         Play(AGREES, tokens=tokens(AGREES, represent=0.25))]
    )  # fmt: skip
    stage, url = serve(lambda _question, _number: next(plays))
    read = engine(url)
    answers = [read.answers([text], modality="XR")[0] for text in (sure, unsure)]
    assert [question["logprobs"] for question in stage.asked] == [2, 2]
    assert [line.margin for line in answers[1].lines] == pytest.approx([5.0, 0.25])
    queue = queue_table(["sure", "unsure"], answers)
    assert queue["report_id"].tolist() == ["unsure", "sure"]
    assert queue["margin"].tolist() == pytest.approx([0.25, 0.75])


def test_margin_is_read_from_a_chat_answer_and_from_a_number_s_line(serve: Serve) -> None:
    answer = "- 1, pneumonia, may represent\n- 1, lung opacity, present\n"
    play = Play(answer, tokens=tokens(answer, may=1.5, present=-0.5))
    _, url = serve(always(play))
    manner = Manner(chat=True, form=AnswerForm("number"), guided=True)
    read = ServerEngine(ServerSettings(url=url, model="small", manner=manner))
    (found,) = read.answers([HEDGED], modality="XR")
    assert [line.margin for line in found.lines] == pytest.approx([1.5, -0.5])


def test_server_that_gives_no_probabilities_leaves_the_margin_unknown(serve: Serve) -> None:
    _, url = serve(always(Play(AGREES)))
    (answer,) = engine(url).answers([HEDGED], modality="XR")
    assert answer.margin is None
    assert queue_table(["a"], [answer]).empty


def test_remembered_answer_is_joined_to_the_rules_anew(serve: Serve, tmp_path: Path) -> None:
    stage, url = serve(always(Play(DIFFERS)))
    memory = OutcomeMemory(tmp_path / "outcomes.sqlite")
    first, second = (
        engine(url, memory=memory).extract([HEDGED, SURE], modality="XR") for _ in range(2)
    )
    assert first == second
    assert len(stage.asked) == 1


def test_recording_of_a_guided_run_is_replayed_as_it_was_guided(
    serve: Serve, tmp_path: Path
) -> None:
    _, url = serve(always(Play(DIFFERS)))
    read = engine(url)
    read.record(tmp_path / "kept.jsonl")
    (lived,) = read.extract([HEDGED], modality="XR")
    again = ReplayEngine(tmp_path / "kept.jsonl")
    (replayed,) = again.extract([HEDGED], modality="XR")
    assert again.name == "rules+replay"
    assert [row[:2] for row in said(replayed)] == [row[:2] for row in said(lived)]


def test_whole_job_s_findings_name_the_engine_of_each(serve: Serve, tmp_path: Path) -> None:
    _, url = serve(always(Play(DIFFERS)))
    path = tmp_path / "radcal.toml"
    path.write_text(
        '[input]\npaths = ["a.csv"]\n[extraction]\nengine = "server"\nguided = true\n'
        f'server_url = "{url}"\nmodel = "small"\n'
    )
    site = Site(path)
    exams = pd.DataFrame({"exam_key": ["a", "b"], "modality": "XR", "text": [HEDGED, SURE]})
    tables = read_reports(exams, engine=site.engine, vocabulary=site.vocabulary)
    by = tables.findings.groupby("exam_key")["engine"].apply(list).to_dict()
    assert by == {"a": ["rules", "server", "server"], "b": ["rules", "rules"]}
    assert tables.readings["outcome"].tolist() == ["read", "read"]
    assert tables.answers["exam_key"].unique().tolist() == ["a"]


def command(app: typer.Typer, folder: Path, *options: str) -> dict[str, Any]:
    rows = {"report_id": ["a", "b", "c"], "modality": "XR", "text": [HEDGED, SURE, SILENT]}
    pd.DataFrame(rows).to_csv(folder / "reports.csv", index=False)
    asked = ["extract", str(folder / "reports.csv"), "--out", str(folder / "f.csv"), "--json"]
    done = CliRunner().invoke(app, [*asked, *options], catch_exceptions=False)
    return dict(json.loads(done.output))


def test_command_writes_which_engine_read_each_finding(
    app: typer.Typer, tmp_path: Path, serve: Serve
) -> None:
    _, url = serve(always(Play(AGREES)))
    options = ["--engine", "server", "--server", url, "--model", "small", "--guided"]
    counts = command(app, tmp_path, *options)
    assert counts["reports_by_rules_alone"] == 2
    assert counts["sentences_in_doubt"] == {"hedged": 1}
    table = pd.read_csv(tmp_path / "f.csv")
    assert table["engine"].tolist() == ["rules", "server", "server", "rules", "rules"]


def test_command_says_what_a_model_would_be_asked_without_one(
    app: typer.Typer, tmp_path: Path
) -> None:
    counts = command(app, tmp_path, "--doubts", str(tmp_path / "doubts.csv"))
    assert (counts["reports_in_doubt"], counts["reports_in_doubt_share"]) == (1, 0.3333)
    assert counts["sentences_in_doubt"] == {"hedged": 1}
    assert counts["sentences_that_name_a_pathology"] == 4
    doubts = pd.read_csv(tmp_path / "doubts.csv")
    (row,) = doubts.to_dict("records")
    assert HEDGED[row["start"] : row["end"]] == SENTENCE
    assert row["doubt"] == "hedged"


def test_guided_without_a_model_is_refused(app: typer.Typer, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="need --engine"):
        command(app, tmp_path, "--guided")


def test_doubts_of_a_model_are_refused(app: typer.Typer, tmp_path: Path, serve: Serve) -> None:
    _, url = serve(always(Play(AGREES)))
    options = ["--engine", "server", "--server", url, "--model", "small", "--doubts", "d.csv"]
    with pytest.raises(ConfigurationError, match="belongs to --engine rules"):
        command(app, tmp_path, *options)
