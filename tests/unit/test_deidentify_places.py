"""Names by a person's part in the sentence, towns, hospitals, and texts without a capital."""

from __future__ import annotations

import pytest

from pipeline.deidentify import Clean, Deidentifier

CLEANER = Deidentifier()


def clean(text: str) -> str:
    outcome = CLEANER.clean(text)
    assert isinstance(outcome, Clean)
    return outcome.text


PARTS = [
    ("Paged Marsh 4471.", "Paged [NAME] [PHONE]."),
    ("On call: Frost, bleep 2991.", "On call: [NAME], bleep [PHONE]."),
    ("Informed the registrar, Bird, at 1708.", "Informed the registrar, [NAME], at [TIME]."),
    ("Supplementary report (Lamb, 10 Sept 2018)", "Supplementary report ([NAME], [DATE])"),
    ("via pager 85685", "via pager [PHONE]"),
    ("HISTORY: Pain, severe.", "HISTORY: Pain, severe."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PARTS, ids=[text for text, _ in PARTS])
def test_a_persons_part_gives_the_name_away(text: str, expected: str) -> None:
    assert clean(text) == expected


PLACES = [
    ("Ysbyty Glan Afon", "[HOSPITAL]"),
    ("films from Zorblaxspital", "films from [HOSPITAL]"),
    ("THE SURGERY CLINIC IS CLOSED", "THE SURGERY CLINIC IS CLOSED"),
]  # fmt: skip


@pytest.mark.parametrize(
    "place", ["Weston-super-Mare", "Kettle Creek", "Barwani", "Our Lady of Mercy"]
)
def test_a_place_goes_from_a_piece_of_a_report(place: str) -> None:
    assert not set(place.split()) & set(clean(f"Referred from {place} for a chest film").split())


@pytest.mark.parametrize(("text", "expected"), PLACES, ids=[text for text, _ in PLACES])
def test_a_place_goes(text: str, expected: str) -> None:
    assert clean(text) == expected


SMALL = [
    ("d/w dr okonkwo at 1400. lungs clear.", "d/w dr [NAME] at [TIME]. lungs clear."),
    ("paged marsh 4471. no effusion.", "paged [NAME] [PHONE]. no effusion."),
    ("secretary: june (x3721)", "secretary: [NAME] ([PHONE])"),
    ("no focal consolidation. heart size is normal.",) * 2,
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SMALL, ids=[text for text, _ in SMALL])
def test_a_report_without_capitals_is_read_as_one_in_capitals(text: str, expected: str) -> None:
    assert clean(text) == expected
