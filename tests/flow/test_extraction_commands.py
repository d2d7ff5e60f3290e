"""Flow: the extraction commands on files, with their exit codes and messages."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from pipeline.errors import ConfigurationError, InputError

FIXTURES = Path(__file__).parent.parent / "fixtures" / "extraction"


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    pd.DataFrame(
        {
            "report_id": ["001", "002", "003"],
            "modality": ["XR", "ct", "XR"],
            "text": ["No effusion. Small left effusion.", "Likely pneumonia.", "Normal chest."],
            "extra": ["a", "b", "c"],
        }
    ).to_csv(path, index=False)
    return path


def run(app: typer.Typer, *arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_statements_are_written_with_their_sentences(app: typer.Typer, reports: Path) -> None:
    out = reports.with_name("findings.csv")
    summary = json.loads(run(app, "extract", reports, "--out", out, "--json"))
    table = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert table[["report_id", "sentence", "pathology", "phrase"]].to_numpy().tolist() == [
        ["001", "No effusion.", "pleural effusion", "absent"],
        ["001", "Small left effusion.", "pleural effusion", "present"],
        ["002", "Likely pneumonia.", "pneumonia", "likely"],
    ]
    assert (summary["reports"], summary["nothing_stated"], summary["failed"]) == (3, 1, 0)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_report_level_is_one_row_per_stated_pathology(
    app: typer.Typer, reports: Path, suffix: str
) -> None:
    out = reports.with_name("cells" + suffix)
    run(app, "extract", reports, "--out", out, "--level", "report", "--quiet")
    readers = {".csv": pd.read_csv, ".parquet": pd.read_parquet}
    table = readers[suffix](out) if suffix in readers else pd.read_json(out, lines=True)
    assert table[["pathology", "phrase", "outcome"]].to_numpy().tolist() == [
        ["pleural effusion", "present", "stated"],
        ["pneumonia", "likely", "stated"],
    ]


def test_every_state_keeps_the_four_apart(app: typer.Typer, reports: Path) -> None:
    out = reports.with_name("cells.csv")
    run(app, "extract", reports, "--out", out, "--level", "report", "--every-state", "--quiet")
    table = pd.read_csv(out)
    assert len(table) == 3 * 24
    assert table["outcome"].value_counts().to_dict() == {"not mentioned": 70, "stated": 2}


def test_failed_reports_are_rows_with_a_reason_and_exit_code_three(
    app: typer.Typer, tmp_path: Path
) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("report_id,modality,text\n1,XR,\n2,MR,No effusion.\n3,XR,No effusion.\n")
    out = tmp_path / "findings.csv"
    result = CliRunner().invoke(app, ["extract", str(path), "--out", str(out)])
    assert result.exit_code == 3
    assert "failed: 2" in result.output
    table = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert table["reason"].tolist() == ["empty text", "unknown modality", ""]


def test_a_missing_column_is_named(app: typer.Typer, tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("report_id,body\n1,x\n")
    with pytest.raises(InputError, match=r"2 needed column.*'modality'.*'text'"):
        run(app, "extract", path, "--out", tmp_path / "o.csv")


def test_a_report_id_twice_is_refused(app: typer.Typer, tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("report_id,modality,text\n1,XR,a\n1,XR,b\n")
    with pytest.raises(InputError, match="1 of 2 rows repeat"):
        run(app, "extract", path, "--out", tmp_path / "o.csv")


def test_an_unknown_engine_is_refused_with_the_known_ones(
    app: typer.Typer, reports: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="'oracle' is unknown; use one of rules"):
        run(app, "extract", reports, "--out", tmp_path / "o.csv", "--engine", "oracle")


def test_explain_shows_cue_scope_and_rule(app: typer.Typer, reports: Path) -> None:
    out = run(app, "extract", reports, "--out", reports.with_name("o.csv"), "--explain")
    assert "pneumonia: likely  <- 'pneumonia', cue 'Likely', scope 'Likely pneumonia'" in out


def test_audit_prints_figures_and_writes_them(app: typer.Typer, tmp_path: Path) -> None:
    gold = FIXTURES / "gold_xr.jsonl"
    out = tmp_path / "audit.json"
    text = run(app, "audit", "extraction", "--gold", gold, "--bootstrap", "20", "--out", out)
    data = json.loads(out.read_text())
    assert data["reports"] == 150
    assert f"{data['finding_f1']['value']:.3f}" in text
    for name, score in data["per_pathology"].items():
        assert (f"  {name} " in text) == bool(score["gold"] or score["predicted"])
    cells = sum(n for _, _, n in data["phrase_confusion"])
    assert cells == sum(n for triples in data["modality_confusion"].values() for *_, n in triples)


def test_vocabulary_check_shows_what_changes(
    app: typer.Typer, reports: Path, tmp_path: Path
) -> None:
    from extraction.vocabulary import load

    folder = tmp_path / "edited"
    folder.mkdir()
    shipped = Path(load.__globals__["_HERE"]) / "pathologies.toml"
    text = shipped.read_text().replace('"pneumonia", "pneumoniae"', '"lung fever"')
    (folder / "pathologies.toml").write_text(text)
    out = run(app, "vocabulary", "check", folder, "--sample", reports)
    assert "002: pneumonia: likely -> not mentioned" in out


def test_the_names_are_listed_and_an_unknown_one_says_where(
    app: typer.Typer, tmp_path: Path
) -> None:
    from extraction.audit.gold import GoldError, load_gold
    from extraction.vocabulary import load

    names = json.loads(run(app, "vocabulary", "list", "--json"))
    assert names["pathologies"] == list(load().pathologies)
    assert (names["phrases"][0], names["phrases"][-1]) == ("absent", "present")
    assert "pleural effusion" in run(app, "vocabulary", "list")
    gold = tmp_path / "gold.jsonl"
    label = {"pathology": "fluid", "phrase": "absent"}
    line = {"report_id": "1", "modality": "XR", "text": "No fluid.", "findings": [label]}
    gold.write_text(json.dumps(line))
    with pytest.raises(GoldError, match=r"'fluid' is not in the vocabulary.*vocabulary list"):
        load_gold(gold, vocabulary=load())


def test_a_sheet_goes_out_and_comes_back_as_gold(
    app: typer.Typer, reports: Path, tmp_path: Path
) -> None:
    paper, gold = tmp_path / "sheet.csv", tmp_path / "gold.jsonl"
    run(app, "annotate", reports, "--out", paper)
    table = pd.read_csv(paper, dtype=str, keep_default_na=False)
    table["verdict"] = ["ok" if name else "none" for name in table["pathology"]]
    table.to_csv(paper, index=False)
    run(app, "annotate", paper, "--read", "--out", gold)
    lines = [json.loads(line) for line in gold.read_text().splitlines()]
    assert [len(line["findings"]) for line in lines] == [1, 1, 0]


@pytest.fixture
def two_engines(app: typer.Typer, reports: Path) -> tuple[Path, Path]:
    """Give findings of the rules, and the same with a phrase changed and a report failed."""
    first, second = reports.with_name("first.csv"), reports.with_name("second.csv")
    run(app, "extract", reports, "--out", first, "--quiet")
    table = pd.read_csv(first, dtype=str, keep_default_na=False)
    table.loc[table["phrase"] == "likely", "phrase"] = "possibly"
    table.loc[table["report_id"] == "001", ["outcome", "reason"]] = ["failed", "timed out"]
    table.to_csv(second, index=False)
    return first, second


def test_pooled_findings_name_the_vote_and_queue_the_dispute(
    app: typer.Typer, two_engines: tuple[Path, Path], reports: Path
) -> None:
    out, queue = reports.with_name("voted.csv"), reports.with_name("queue.csv")
    asked = ("--out", out, "--queue", queue, "--reports", reports, "--json")
    counts = json.loads(run(app, "pool", *two_engines, *asked))
    voted = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert voted[["report_id", "pathology", "phrase", "decided"]].to_numpy().tolist() == [
        ["001", "pleural effusion", "present", "one vote"],
        ["002", "pneumonia", "likely", "tie: first engine"],
    ]
    assert (counts["queued"], counts["reports"], counts["reports_no_engine_read"]) == (2, 3, 0)
    first = pd.read_csv(queue, dtype=str, keep_default_na=False).iloc[0]
    assert (first["report_id"], first["why"]) == ("002", "pneumonia: likely 1, possibly 1")


def test_a_pooled_table_is_scored_like_an_engine(app: typer.Typer, tmp_path: Path) -> None:
    gold, reports, found = FIXTURES / "gold_xr.jsonl", tmp_path / "r.jsonl", tmp_path / "f.csv"
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    named = ("report_id", "modality", "text")
    reports.write_text("".join(json.dumps({n: r[n] for n in named}) + "\n" for r in rows))
    run(app, "extract", reports, "--out", found, "--quiet")
    voted = tmp_path / "voted.csv"
    run(app, "pool", found, found, "--out", voted, "--reports", reports, "--quiet")
    asked = ("audit", "extraction", "--gold", gold, "--bootstrap", "5", "--json")
    direct, pooled = (json.loads(run(app, *asked, *more)) for more in ((), ("--findings", voted)))
    assert direct["phrase_confusion"] == pooled["phrase_confusion"]
    assert pooled["engine"] == "voted"


def test_one_file_alone_is_no_pool(
    app: typer.Typer, two_engines: tuple[Path, Path], tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="at least two"):
        run(app, "pool", two_engines[0], "--out", tmp_path / "v.csv")


def test_findings_of_unlisted_reports_are_refused(
    app: typer.Typer, two_engines: tuple[Path, Path], tmp_path: Path
) -> None:
    few = tmp_path / "few.csv"
    few.write_text("report_id\n001\n")
    with pytest.raises(InputError, match="1 of 2 reports in the findings are not listed"):
        run(app, "pool", *two_engines, "--out", tmp_path / "v.csv", "--reports", few)
