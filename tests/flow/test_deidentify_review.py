"""Doubtful decisions as a sheet, what its corrections teach, and decisions explained."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from pipeline.cli.deidentify import register
from pipeline.deidentify import Clean, Deidentifier, KnownIdentifiers, Options
from pipeline.deidentify.audit import GoldReport, GoldSpan
from pipeline.deidentify.review import doubtful, explained, learn
from pipeline.errors import InputError
from pipeline.names.lexicon import own_lexicon

TEXT = (
    "CHEST X-RAY\nPatient: Jane Doe   MRN 8812345\nHistory: cough since March 3, 2021.\n"
    "Findings: The lungs are clear. Likely old granuloma. Film seen with Lindgrove and the team, "
    "who agreed. Wickbury kindly asked for it. Shown to Ray, seen by stone.\n"
    "Impression: no acute disease.\nDr. Ruth Hall"
)


def corrected(*rows: tuple[str, float, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["category", "probability", "word", "is_identifier"])


def test_a_sheet_shows_doubtful_words_with_all_other_identifiers_masked() -> None:
    cleaner = Deidentifier()
    sheet = doubtful(["r1"], [TEXT], cleaner)
    assert len(sheet)
    assert sheet["probability"].between(0.01, 0.95).all()
    assert sheet["probability"].is_monotonic_decreasing
    for row in sheet.itertuples():
        assert row.word == TEXT[row.start : row.end]
        assert row.word in row.context
        assert "8812345" not in row.context
        assert "March 3, 2021" not in row.context


def test_a_sheet_masks_what_the_record_names() -> None:
    known = [KnownIdentifiers(names=("Wickbury, Ann", "Lindgrove, Bo"))]
    sheet = doubtful(["r1"], [TEXT], Deidentifier(), known)
    assert len(sheet)
    others = sheet[~sheet["word"].isin(["Wickbury", "Lindgrove"])]
    assert not others["context"].str.contains("Wickbury|Lindgrove").any()
    named = sheet[sheet["word"].isin(["Wickbury", "Lindgrove"])]
    assert named["removed"].all()


def test_corrections_lengthen_the_sites_lists_with_words_alone(tmp_path: Path) -> None:
    sheet = corrected(
        ("NAME", 0.3, "Wickbury", "yes"), ("HOSPITAL", 0.4, "Northmoor", "Y"),
        ("NAME", 0.2, "Zorbis", "no"), ("ID", 0.3, "4711", "yes"), ("NAME", 0.5, "Unsaid", ""),
    )  # fmt: skip
    lesson = learn(sheet, tmp_path / "own", caution=7.0, source="sheet.csv")
    assert lesson.corrected == 4
    assert lesson.added == {"surnames.txt": 1, "sites.txt": 1, "eponyms.txt": 1}
    assert (tmp_path / "own" / "surnames.txt").read_text() == "Wickbury\n"
    assert "Unsaid" not in "".join(p.read_text() for p in (tmp_path / "own").iterdir())
    again = learn(sheet, tmp_path / "own", caution=7.0, source="sheet.csv")
    assert set(again.added.values()) == {0}


def test_what_a_site_corrected_is_kept_the_next_time(tmp_path: Path) -> None:
    text = "Comparison with the film of Zorbis Kleine, unchanged."
    before = Deidentifier(Options(caution=0)).clean(text)
    assert isinstance(before, Clean)
    learn(corrected(("NAME", 0.2, "Zorbis", "no")), tmp_path, caution=7.0, source="s")
    own = Deidentifier(Options(caution=0), own_lexicon(tmp_path, option="--words")).clean(text)
    assert isinstance(own, Clean)
    assert "Zorbis" in own.text


def test_caution_rises_by_the_odds_that_a_site_found_too_low(tmp_path: Path) -> None:
    rows = [("ID", 0.2, "4711", "yes" if at < 50 else "no") for at in range(100)]
    lesson = learn(corrected(*rows), tmp_path, caution=7.0, source="s")
    # chances of .2 were right half of the time: odds 1/4 should have been 1, so caution times 4
    assert lesson.caution == pytest.approx(28.0, rel=1e-3)
    rows = [("ID", 0.2, "4711", "yes" if at < 20 else "no") for at in range(100)]
    assert learn(corrected(*rows), tmp_path, caution=7.0, source="s").caution == pytest.approx(7.0)


def test_a_sheet_nobody_corrected_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.csv: no row says yes or no in is_identifier"):
        learn(corrected(("NAME", 0.3, "Doe", "")), tmp_path, caution=7.0, source="s.csv")


def test_every_decision_on_annotated_reports_names_its_rule_and_no_text() -> None:
    at = TEXT.index("Jane Doe")
    missed = TEXT.index("who agreed")
    spans = (
        GoldSpan(start=at, end=at + 8, label="NAME"),
        GoldSpan(start=missed, end=missed + 3, label="NAME"),
    )
    table = explained([GoldReport(id="r1", text=TEXT, spans=spans)], Deidentifier())
    rows = {(row.start, row.end): row for row in table.itertuples()}
    assert rows[at, at + 8].verdict == "right"
    assert rows[at, at + 8].by.startswith("name-")
    assert rows[missed, missed + 3].verdict == "missed"
    assert "superfluous" in set(table["verdict"])
    assert "Jane" not in table.to_csv()


def test_review_and_learn_on_the_command_line(tmp_path: Path) -> None:
    reports, sheet, own = tmp_path / "r.csv", tmp_path / "sheet.csv", tmp_path / "own"
    pd.DataFrame({"report_id": ["r1"], "text": [TEXT]}).to_csv(reports, index=False)
    runner, app = CliRunner(), typer.Typer()
    register(app)
    app.command("other")(lambda: None)
    done = runner.invoke(app, ["deidentify", str(reports), "--review", str(sheet), "--quiet"])
    assert done.exit_code == 0
    table = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    assert len(table)
    table.assign(is_identifier="yes").to_csv(sheet, index=False)
    asked = ["deidentify", "--learn", str(sheet), "--words", str(own), "--json"]
    done = runner.invoke(app, asked)
    assert done.exit_code == 0
    assert f'"corrected": {len(table)}' in done.stdout
    assert any(own.iterdir())
