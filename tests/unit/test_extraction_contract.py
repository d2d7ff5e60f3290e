"""Unit: the types, the resolution rule and the spans other parts build on."""

from __future__ import annotations

import pytest

from extraction.certainty import certainty_spans
from extraction.finding import Extracted, Failed, Finding, NothingStated
from extraction.resolution import resolve
from extraction.rules.engine import RuleEngine
from extraction.vocabulary import load

ENGINE = RuleEngine()


def states(text: str) -> dict[str, tuple[str | None, str]]:
    (outcome,) = ENGINE.extract([text], modality="XR")
    rows = resolve(outcome, vocabulary=ENGINE.vocabulary)
    return {name: (row.phrase, row.outcome) for name, row in rows.items()}


def test_impression_outranks_a_stronger_statement_in_the_findings() -> None:
    rows = states("FINDINGS: Right basilar pneumonia.\nIMPRESSION: Possible pneumonia.")
    assert rows["pneumonia"] == ("possibly", "stated")


def test_strongest_certainty_wins_within_a_section() -> None:
    assert states("No right effusion. Small left effusion.")["pleural effusion"] == (
        "present",
        "stated",
    )


def test_four_states_stay_apart() -> None:
    rows = states("No pneumothorax. Limited evaluation for effusion.")
    assert rows["pneumothorax"] == ("absent", "stated")
    assert rows["pleural effusion"] == (None, "not evaluable")
    assert rows["fracture"] == (None, "not mentioned")
    assert states("  ")["fracture"] == (None, "failed")


def test_unmapped_cue_is_neither_stated_nor_absent() -> None:
    finding = Finding("findings", 0, 9, "pneumonia", "XXXX", None)
    row = resolve(Extracted((finding,)), vocabulary=load())["pneumonia"]
    assert (row.phrase, row.outcome, row.reason) == (None, "unmapped", "XXXX")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "empty text"), (" \n ", "empty text"), ("INDICATION: cough", "no readable section")],
)
def test_unreadable_text_fails_with_its_reason(text: str, reason: str) -> None:
    assert ENGINE.extract([text], modality="XR") == [Failed(reason)]  # type: ignore[arg-type]


def test_report_without_pathologies_states_nothing_and_does_not_fail() -> None:
    assert ENGINE.extract(["Normal chest."], modality="XR") == [NothingStated()]


def test_certainty_spans_are_the_cue_words() -> None:
    text = "In May 2024: likely edema, may represent infection. No evidence of effusion."
    assert [text[a:b] for a, b in certainty_spans(text)] == [
        "likely",
        "may represent",
        "No evidence of",
    ]
