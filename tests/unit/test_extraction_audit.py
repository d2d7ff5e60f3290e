"""Unit: the audit's arithmetic on reports small enough to count by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from extraction.audit.annotation import COLUMNS, gold_from_sheet, sheet
from extraction.audit.gold import GoldError, GoldFinding, GoldReport, load_gold
from extraction.audit.scores import Audit, audit
from extraction.audit.text import as_data, as_text
from extraction.finding import Extracted, Failed, Finding, NothingStated, Outcome
from extraction.rules.engine import RuleEngine
from extraction.vocabulary import load

VOCABULARY = load()
CELLS = len(VOCABULARY.pathologies)


def gold(**labels: str) -> GoldReport:
    findings = tuple(
        GoldFinding(pathology=name.replace("_", " "), phrase=phrase)
        for name, phrase in labels.items()
    )
    return GoldReport(report_id="1", modality="XR", text="x", findings=findings)


def said(**labels: str) -> Outcome:
    found = tuple(
        Finding("findings", 0, 1, name.replace("_", " "), "", phrase)
        for name, phrase in labels.items()
    )
    return Extracted(found) if found else NothingStated()


def score(reports: list[GoldReport], outcomes: list[Outcome], *, seed: int = 0) -> Audit:
    rng = np.random.default_rng(seed)
    return audit(reports, outcomes, vocabulary=VOCABULARY, bootstrap=50, rng=rng)


def test_right_wrong_missed_and_surplus_are_counted() -> None:
    # gold: pneumonia likely, effusion absent, mass present; read: pneumonia likely (right),
    # effusion present (wrong), nodule absent (surplus); mass missed.
    result = score(
        [gold(pneumonia="likely", pleural_effusion="absent", lung_mass="present")],
        [said(pneumonia="likely", pleural_effusion="present", lung_nodule="absent")],
    )
    assert (result.findings.right, result.findings.predicted, result.findings.gold) == (1, 3, 3)
    assert result.f1.value == pytest.approx(1 / 3)
    assert result.hedged_exact.value == 1.0
    assert result.cells_micro.value == pytest.approx((CELLS - 3) / CELLS)
    # states in the gold: likely 1/1, absent 0/1, present 0/1, not mentioned (CELLS-4)/(CELLS-3)
    expected = (1 + 0 + 0 + (CELLS - 4) / (CELLS - 3)) / 4
    assert result.cells_macro.value == pytest.approx(expected)
    assert result.phrase_confusion["absent", "present"] == 1


def test_a_failed_report_agrees_with_nothing() -> None:
    result = score([gold(pneumonia="absent")], [Failed("engine error")])
    assert result.failed == 1
    assert result.cells_micro.value == 0.0
    assert result.findings.right == 0


def test_perfect_reading_scores_one_with_a_closed_interval() -> None:
    result = score([gold(pneumonia="absent")] * 3, [said(pneumonia="absent")] * 3)
    assert (result.f1.value, result.f1.low, result.f1.high) == (1.0, 1.0, 1.0)
    assert math.isnan(result.hedged_exact.value)


def test_the_same_phrase_under_another_name_is_a_pathology_confusion() -> None:
    result = score([gold(lung_mass="likely")], [said(lung_nodule="likely")])
    assert result.pathology_confusion == {("lung mass", "lung nodule"): 1}


def test_impression_outranks_findings_in_the_gold_too() -> None:
    report = GoldReport(
        report_id="1",
        modality="CT",
        text="x",
        findings=(
            GoldFinding(section="findings", pathology="pneumonia", phrase="present"),
            GoldFinding(section="impression", pathology="pneumonia", phrase="possibly"),
        ),
    )
    strength = {phrase: rank for rank, phrase in enumerate(VOCABULARY.phrases)}
    assert report.cells(strength) == {"pneumonia": "possibly"}


def test_text_and_data_carry_the_same_figures() -> None:
    result = score([gold(pneumonia="likely")], [said(pneumonia="likely")])
    data = as_data(result, engine="rules", version="1")
    finding_f1: Mapping[str, float] = data["finding_f1"]  # type: ignore[assignment]
    assert finding_f1["value"] == 1.0
    assert any(
        "finding F1" in line and "1.000" in line
        for line in as_text(result, engine="rules", version="1")
    )


def test_bad_gold_lines_are_named_without_their_text(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text(
        '{"report_id": "1", "modality": "XR", "text": "secret", "findings": []}\n'
        '{"report_id": "1", "modality": "MR", "text": "secret"}\nnot json\n'
    )
    with pytest.raises(GoldError, match="2 problem") as caught:
        load_gold(file, vocabulary=VOCABULARY)
    assert "line 2: modality" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_gold_in_another_encoding_is_told_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    line = '{"report_id": "1", "modality": "XR", "text": "Herz groß.", "findings": []}'
    file.write_bytes(line.encode("cp1252"))
    with pytest.raises(GoldError, match=r"gold.jsonl: 1 problem\(s\): line 1: "):
        load_gold(file, vocabulary=VOCABULARY)


def test_a_reviewed_sheet_becomes_gold() -> None:
    text = "No effusion. Likely pneumonia."
    outcomes = RuleEngine().extract([text], modality="XR")
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in sheet(["a"], ["XR"], [text], outcomes)]
    rows[0]["verdict"] = "ok"
    rows[1] |= {"verdict": "change", "correct_phrase": "most likely"}
    (report,) = gold_from_sheet(rows, vocabulary=VOCABULARY)
    assert [(f.pathology, f.phrase) for f in report.findings] == [
        ("pleural effusion", "absent"),
        ("pneumonia", "most likely"),
    ]


def test_a_report_nobody_reviewed_is_not_gold() -> None:
    text = "No effusion."
    outcomes = RuleEngine().extract([text], modality="XR")
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in sheet(["a"], ["XR"], [text], outcomes)]
    with pytest.raises(GoldError, match="1 report\\(s\\) without any verdict"):
        gold_from_sheet(rows, vocabulary=VOCABULARY)


def reviewed(text: str, **row: str) -> list[dict[str, str]]:
    """Make a sheet of two reports, of which one row of the first carries a verdict."""
    outcomes = RuleEngine().extract([text, text], modality="XR")
    lines = sheet(["a", "b"], ["XR", "XR"], [text, text], outcomes)
    rows = [dict(zip(COLUMNS, line, strict=True)) for line in lines]
    rows[0] |= row
    return rows


def test_reports_not_yet_judged_may_be_left_out() -> None:
    rows = reviewed("No effusion.", verdict="ok")
    (report,) = gold_from_sheet(rows, vocabulary=VOCABULARY, partial=True)
    assert report.report_id == "a"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"verdict": "change"}, "'change' without a correct_pathology or correct_phrase"),
        ({"verdict": "ok", "section": "impresion"}, "section 'impresion' is none that is read"),
        ({"verdict": "fine"}, "verdict 'fine' is none of"),
    ],
)
def test_a_verdict_that_cannot_be_used_is_named(row: dict[str, str], said: str) -> None:
    with pytest.raises(GoldError, match=f"row 1: .*{said}"):
        gold_from_sheet(reviewed("No effusion.", **row), vocabulary=VOCABULARY, partial=True)


def test_a_label_added_to_a_report_that_is_not_in_the_sheet_is_not_lost_in_silence() -> None:
    rows = reviewed("No effusion.", verdict="ok")
    added = dict.fromkeys(COLUMNS, "")
    rows.append(
        added | {"report_id": "x", "verdict": "add", "pathology": "pneumonia", "phrase": "likely"}
    )
    with pytest.raises(GoldError, match="row 3: its report_id stands beside no text"):
        gold_from_sheet(rows, vocabulary=VOCABULARY, partial=True)
