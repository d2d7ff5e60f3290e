"""Unit: which stretches of a report state findings."""

from __future__ import annotations

import pytest

from extraction.finding import Extracted
from extraction.report import SectionReader
from extraction.rules.engine import RuleEngine
from extraction.vocabulary import load

READER = SectionReader(load())


def sections(text: str) -> list[tuple[str, str]]:
    return [(part.section, text[part.start : part.end].strip()) for part in READER.read(text)]


def test_indication_history_technique_and_comparison_are_skipped() -> None:
    text = (
        "INDICATION: rule out pneumonia\nTECHNIQUE: PA and lateral\nCOMPARISON: None.\n"
        "FINDINGS: Clear.\nIMPRESSION: Normal."
    )
    assert sections(text) == [("findings", "Clear."), ("impression", "Normal.")]


@pytest.mark.parametrize("header", ["IMPRESSION", "Impression", "Conclusion", "OPINION", "Summary"])
@pytest.mark.parametrize("mark", [": ", ":\n", "\n"])
def test_impression_has_many_headers(header: str, mark: str) -> None:
    assert sections(f"Findings: Clear.\n{header}{mark}Edema.")[-1] == ("impression", "Edema.")


def test_headers_on_one_line_are_seen() -> None:
    text = "FINDINGS: Clear. IMPRESSION: Edema."
    assert sections(text) == [("findings", "Clear."), ("impression", "Edema.")]


def test_text_without_headers_is_findings() -> None:
    assert sections("Small effusion.") == [("findings", "Small effusion.")]


def test_closing_list_of_a_translated_report_is_its_impression() -> None:
    text = 'Effusion is observed. Nodules are seen. " Effusion " Nodules'
    assert [name for name, _ in sections(text)] == ["findings", "impression"]


def test_anatomy_inside_the_findings_stays_text() -> None:
    assert sections("FINDINGS:\nLungs: Clear.\nHeart: Normal.") == [
        ("findings", "Lungs: Clear.\nHeart: Normal.")
    ]


def test_anatomy_brings_the_findings_back_after_a_skipped_section() -> None:
    assert sections("HISTORY: cough\nLUNGS: Clear.") == [("findings", "LUNGS: Clear.")]


@pytest.mark.parametrize(
    "text",
    [
        "INDICATION: cough.\n\nClear.\n\nIMPRESSION: Normal.",
        "EXAM: Chest\nINDICATION: cough\nCOMPARISON: none\nClear.\nIMPRESSION: Normal.",
        "Reported by: registrar, not yet verified\nClear.\nSummary: Normal.",
    ],
)
def test_findings_without_a_header_stand_between_a_note_and_the_impression(text: str) -> None:
    assert sections(text) == [("findings", "Clear."), ("impression", "Normal.")]


def test_note_that_a_line_break_parts_is_no_finding() -> None:
    text = "INDICATION: 61M with cough,\nrule out pneumonia.\nIMPRESSION: Clear."
    assert sections(text) == [("impression", "Clear.")]


def test_history_without_a_later_header_ends_with_its_line() -> None:
    assert sections("History: cough.\nSmall effusion.") == [("findings", "Small effusion.")]


def test_a_word_inside_a_sentence_is_no_header() -> None:
    text = "The impression: of the diaphragm is normal."
    assert sections(text) == [("findings", text)]


def test_full_stop_behind_a_single_letter_ends_a_long_line_too() -> None:
    long = "Fibrocavitary lesion in the right upper lobe, likely from old Koch's."
    (outcome,) = RuleEngine().extract([f"{long}\r\nThe heart size is normal."], modality="XR")
    assert isinstance(outcome, Extracted)
    assert [(f.pathology, f.phrase) for f in outcome.findings] == [
        ("fibrosis", "present"), ("tuberculosis", "likely"), ("cardiomegaly", "absent"),
    ]  # fmt: skip
