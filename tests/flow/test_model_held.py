"""Flow: what a run does with a model whose answers the report's own words do not bear out."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from extraction.engines.kinds import ServerEngine
from extraction.engines.settings import ServerSettings
from extraction.finding import Extracted, Failed, NothingStated
from extraction.tables import read_reports
from pipeline.errors import GateFailedError
from pipeline.site.site import Site
from tests.fixtures.extraction.answers import ANSWER, REPORT
from tests.fixtures.extraction.stage import Play, Serve, always

SILENT = "FINDINGS: Endotracheal tube in place."
OPPOSITE = ANSWER.replace('"absent"', '"present"').replace('"may represent"', '"absent"')
HALF = ANSWER.split("\n", maxsplit=1)[0] + "\n"
TEXTS = [REPORT, f"{REPORT} No pneumothorax.", SILENT]


def engine(url: str) -> ServerEngine:
    return ServerEngine(ServerSettings(url=url, model="small", backoff_seconds=0.01))


def command(app: typer.Typer, folder: Path, url: str, *options: str) -> dict[str, object]:
    rows = {"report_id": ["a", "b", "c"], "modality": "XR", "text": TEXTS}
    pd.DataFrame(rows).to_csv(folder / "reports.csv", index=False)
    asked = ["extract", str(folder / "reports.csv"), "--out", str(folder / "findings.csv"),
             "--engine", "server", "--server", url, "--model", "small", "--json"]  # fmt: skip
    result = CliRunner().invoke(app, [*asked, *options], catch_exceptions=False)
    return {"code": result.exit_code} | json.loads(result.output or "{}")


def test_server_that_always_says_none_fails_reports_and_no_report_reads_as_negative(
    serve: Serve,
) -> None:
    _, url = serve(always(Play("- none\n")))
    read = engine(url)
    found = read.extract(TEXTS, modality="XR")
    assert found == [Failed("incomplete answer")] * 2 + [NothingStated()]
    assert read.ledger.disagreement.share == 1.0
    read.close()


def test_server_that_always_says_none_does_not_pass_the_command_s_gate(
    app: typer.Typer, tmp_path: Path, serve: Serve
) -> None:
    _, url = serve(always(Play("- none\n")))
    queue, answers = tmp_path / "queue.csv", tmp_path / "answers.csv"
    with pytest.raises(GateFailedError, match=r"part over 5 of 5 .*5 sentences that state") as bad:
        command(app, tmp_path, url, "--queue", str(queue), "--answers", str(answers))
    assert bad.value.exit_code == 4
    assert not (tmp_path / "findings.csv").exists()
    assert set(pd.read_csv(queue)["report_id"]) == {"a", "b"}
    assert set(pd.read_csv(answers)["became"]) == {"none"}


def test_true_sentence_under_a_wrong_label_is_not_accepted(serve: Serve) -> None:
    wrong = '- "No pleural effusion.", "tuberculosis", "diagnostic of"\n'
    _, url = serve(always(Play(wrong)))
    assert engine(url).extract([REPORT], modality="XR") == [Failed("unsupported answer")]


def test_server_that_says_the_opposite_of_every_sentence_fails_the_gate(
    app: typer.Typer, tmp_path: Path, serve: Serve
) -> None:
    _, url = serve(always(Play(OPPOSITE)))
    with pytest.raises(GateFailedError, match="contradicted by them"):
        command(app, tmp_path, url)


def test_allowed_disagreement_lets_the_findings_pass_and_is_counted(
    app: typer.Typer, tmp_path: Path, serve: Serve
) -> None:
    _, url = serve(
        lambda asked, _: Play("- none" if "tube in" in asked["prompt"][-80:] else ANSWER)
    )
    done = command(app, tmp_path, url, "--max-disagreement", "0.2")
    assert done["code"] == 0
    assert done["held_against_the_vocabulary"] == {
        "statements": 6, "unsupported": 0, "contradicted": 0, "uncovered": 1,
    }  # fmt: skip


def test_half_an_answer_is_asked_for_once_more_and_the_whole_one_is_taken(serve: Serve) -> None:
    three = f"{REPORT} No pneumothorax. Small hiatal hernia."
    whole = (
        ANSWER
        + '- "No pneumothorax.", "pneumothorax", "absent"\n'
        + '- "Small hiatal hernia.", "hiatal hernia", "present"\n'
    )
    stage, url = serve(lambda _asked, number: Play(HALF if number == 1 else whole))
    read = engine(url)
    (answer,) = read.answers([three], modality="XR")
    assert isinstance(answer.outcome, Extracted)
    assert len(answer.outcome.findings) == 5
    assert answer.earlier == "incomplete answer"
    assert [line.attempt for line in answer.lines] == [1, 2, 2, 2, 2, 2]
    assert len(stage.asked) == 2


def test_whole_job_keeps_answers_in_the_analysis_zone_without_the_report_s_words(
    tmp_path: Path, serve: Serve
) -> None:
    text = "FINDINGS: No pleural effusion in Zanzibar."
    answer = '- "No pleural effusion in Zanzibar.", "pleural effusion", "absent"\n'
    _, url = serve(always(Play(answer)))
    path = tmp_path / "radcal.toml"
    path.write_text(
        '[input]\npaths = ["a.csv"]\n'
        f'[extraction]\nengine = "server"\nserver_url = "{url}"\nmodel = "small"\n'
    )
    site = Site(path)
    exams = pd.DataFrame({"exam_key": ["e1"], "modality": ["XR"], "text": [text]})
    tables = read_reports(exams, engine=site.engine, vocabulary=site.vocabulary)
    assert tables.answers["became"].tolist() == ["supported"]
    assert tables.answers["exam_key"].tolist() == ["e1"]
    assert "Zanzibar" not in tables.answers.to_csv()
    assert tables.disagreement.statements == 1
