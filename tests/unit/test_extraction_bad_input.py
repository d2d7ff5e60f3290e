"""Unit: texts no reporting system should send, each a counted outcome."""

from __future__ import annotations

import pytest

from extraction.finding import Extracted, Failed, NothingStated
from extraction.report import MAX_CHARACTERS
from extraction.rules.engine import RuleEngine

ENGINE = RuleEngine()


def read(text: object) -> Extracted | NothingStated | Failed:
    return ENGINE.extract([text], modality="XR")[0]  # type: ignore[list-item]


@pytest.mark.parametrize(
    "text",
    [
        "No effusion. 😀",
        "\u200fNo effusion\u200f.",
        "\ufeffNo effusion.\r\n\r\n",
        "<p>No <b>effusion</b>.</p>",
        "No&nbsp;effusion.",
        "No\teffusion.",
        "No\x00 effusion.",
    ],
)
def test_marks_around_the_words_do_not_hide_them(text: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, Extracted)
    assert [(f.pathology, f.phrase) for f in outcome.findings] == [("pleural effusion", "absent")]


def test_a_text_that_is_no_text_fails_as_such() -> None:
    assert read(None) == Failed("not text")
    assert read(float("nan")) == Failed("not text")


def test_only_headers_is_no_readable_section() -> None:
    assert read("FINDINGS:\nIMPRESSION:\n") == Failed("no readable section")


def test_a_text_beyond_any_report_fails_instead_of_stalling() -> None:
    assert read("x " * MAX_CHARACTERS) == Failed("text too long")


def test_ten_thousand_findings_in_one_sentence_are_all_read() -> None:
    outcome = read("effusion, " * 10_000)
    assert isinstance(outcome, Extracted)
    assert len(outcome.findings) == 10_000


def test_a_megabyte_without_a_full_stop_is_read() -> None:
    outcome = read("the left base is hazy and " * 40_000 + "effusion")
    assert isinstance(outcome, Extracted)


def test_a_megabyte_without_a_space_is_read() -> None:
    assert read("." * 200_000) == NothingStated()
    assert read("x" * 1_000_000) == NothingStated()


def test_a_fault_in_one_text_is_a_reason_and_not_an_exception() -> None:
    assert read("No effusion \ud800") == Failed("engine error")


@pytest.mark.parametrize(
    "text",
    [
        "<div>" * 50_000 + "No effusion.",
        "FINDINGS" + " " * 250_000 + "\nNo effusion.",
        "No effusion." + "\n \t" * 80_000,
        "HISTORY: " + "a " * 120_000 + "\nNo effusion.",
        "No effusion.\nHISTORY: " + "a " * 120_000,
        "&nbsp;" * 40_000 + "No effusion.",
    ],
    ids=["tags", "spaces after a header", "blank lines", "long note", "endless note", "entities"],
)
def test_a_run_of_nothing_costs_its_length_and_not_its_square(text: str) -> None:
    """Squared, each of these takes minutes; the suite would not end."""
    outcome = read(text)
    assert isinstance(outcome, Extracted)
    assert [(f.pathology, f.phrase) for f in outcome.findings] == [("pleural effusion", "absent")]


def test_line_ends_of_three_kinds_part_the_sections() -> None:
    outcome = read("FINDINGS:\r\nNo effusion.\r\rIMPRESSION:\n\rLung mass.\r")
    assert isinstance(outcome, Extracted)
    assert [(f.section, f.pathology) for f in outcome.findings] == [
        ("findings", "pleural effusion"),
        ("impression", "lung mass"),
    ]


def test_a_mark_that_turns_the_writing_direction_hides_nothing() -> None:
    outcome = read("\u202eNo effusion\u202c. \u200fSmall mass.")
    assert isinstance(outcome, Extracted)
    assert len(outcome.findings) == 2
