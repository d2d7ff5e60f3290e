"""Unit: which stretches of a report state findings."""

from __future__ import annotations

import pytest

from extraction.finding import Extracted
from extraction.report import SectionReader
from extraction.resolution import resolve
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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("findings\n", "impression\n"),
        ("Findings. ", "Impression. "),
        ("=== FINDINGS ===\n", "=== IMPRESSION ===\n"),
        ("[FINDINGS]\n", "[IMPRESSION]\n"),
        ("FINDINGS ", "IMPRESSION "),
        ("Findings - ", "Impression - "),
        ("Findings and interpretation: ", "Impression/Plan: "),
    ],
)
def test_a_header_is_one_however_it_is_set_off(first: str, second: str) -> None:
    text = f"{first}No mass.\n{second}Edema."
    said = [(name, part.strip(" =[\n")) for name, part in sections(text)]
    assert [each for each in said if each[1]] == [
        ("findings", "No mass."),
        ("impression", "Edema."),
    ]


def test_headers_of_a_report_in_one_line_are_seen_in_small_letters_and_by_a_dash() -> None:
    for text in (
        "findings: no mass. impression: edema.",
        "Findings - No mass. Impression - Edema.",
    ):
        assert [name for name, _ in sections(text)] == ["findings", "impression"]


def test_a_differential_diagnosis_opens_no_section() -> None:
    for text in ("MASS. DIFFERENTIAL DIAGNOSIS: TB.", "Mass. Differential\ndiagnosis: TB."):
        assert [name for name, _ in sections(text)] == ["findings"]


def test_findings_behind_a_note_survive_a_signature_below_them() -> None:
    text = "Clinical: post pacemaker.\nNo pneumothorax. Cardiomegaly.\n\nDr A. Smith"
    assert sections(text)[0][1].startswith("No pneumothorax")


def test_findings_between_a_note_and_a_label_are_read() -> None:
    text = "TECHNIQUE: PA.\n\nThere is a left pneumothorax.\nHeart: Normal."
    assert sections(text) == [
        ("findings", "There is a left pneumothorax."),
        ("findings", "Heart: Normal."),
    ]


def test_speech_without_marks_keeps_its_sections_above_a_signature() -> None:
    text = (
        "findings heart size is normal there is an opacity at the left base which may be pneumonia "
        "no effusion no pneumothorax impression opacity at the left base\n\nDr A. Smith"
    )
    assert [name for name, _ in sections(text)] == ["findings", "impression"]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\u2028", "\x0b"])
def test_line_ends_of_other_machines_are_line_ends(end: str) -> None:
    text = f"History: TB.{end}Findings:{end}- No mass.{end}Impression:{end}Edema."
    opened = READER.opened(text)
    assert isinstance(opened, tuple)
    assert [part.section for part in opened[1]] == ["findings", "impression"]
    assert len(opened[0]) == len(text)


def test_headers_of_one_letter_are_seen_together_and_never_alone() -> None:
    assert sections("F: Small effusion.\nI: 1. Edema.") == [
        ("findings", "Small effusion."),
        ("impression", "1. Edema."),
    ]
    assert sections("F: 62 y\nSmall effusion.") == [("findings", "F: 62 y\nSmall effusion.")]


def test_key_findings_are_the_impression_only_behind_findings() -> None:
    assert sections("KEY FINDINGS: Edema.")[0][0] == "findings"
    assert sections("Findings: Clear.\nKEY FINDINGS: Edema.")[-1] == ("impression", "Edema.")


def test_a_title_that_says_why_the_scan_was_asked_for_states_nothing() -> None:
    assert sections("CT CHEST FOR PE\nClear.") == [("findings", "Clear.")]
    told = "CT chest for pain shows an effusion.\nClear."
    assert sections(told) == [("findings", told)]


def test_findings_on_the_line_of_their_request_are_read() -> None:
    text = "Indication: Cough. The heart is large.\nConclusion: Edema."
    assert sections(text)[0] == ("findings", "The heart is large.")


@pytest.mark.parametrize(
    ("by", "side", "last"),
    [
        ("", "", "absent"),
        (" (day reader, 0810)", "right ", "absent"),
        (", 09/05", "left ", "present"),
    ],
)
def test_an_addendum_amends_the_impression_unless_it_speaks_of_the_other_side(
    by: str, side: str, last: str
) -> None:
    text = f"IMPRESSION: Right pneumothorax.\nADDENDUM{by}: No {side}pneumothorax."
    engine = RuleEngine()
    (outcome,) = engine.extract([text], modality="CT")
    assert resolve(outcome, vocabulary=engine.vocabulary)["pneumothorax"].phrase == last
