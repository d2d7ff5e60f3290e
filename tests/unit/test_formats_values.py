"""Words of sources for a report's status and an exam's modality."""

from __future__ import annotations

import pytest

from pipeline.formats.values import modality_of, status_of


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        ("Auth (Verified)", "final"),
        ("Authorised", "final"),
        ("FINAL-CORRECTED", "corrected"),
        ("Edited Result - FINAL", "corrected"),
        ("Final w/ Addendum", "addendum"),
        ("Unauth", "prelim"),
        ("Not Final", "prelim"),
        ("Unfinalized", "prelim"),
        ("In Progress", "prelim"),
        ("Unsigned transcript", "prelim"),
        ("In Error", ""),
        ("Complete", ""),
        ("Cancelled", "retracted"),
    ],
)
def test_a_status_is_what_all_of_its_words_say(words: str, ours: str) -> None:
    assert status_of(words) == ours


@pytest.mark.parametrize(
    ("name", "modality"),
    [
        ("HRCT THORAX", "CT"),
        ("CTPA", "CT"),
        ("CTCHEST WC", "CT"),
        ("XRCHEST2V", "XR"),
        ("Portable AP chest", "XR"),
        ("CHEST PORT", "XR"),
        ("PCXR", "XR"),
        ("Thorax p.a.", "XR"),
        ("CHEST PORT PLACEMENT US", "US"),
        ("CTCAE FORM", ""),
        ("RAD CHEST", ""),
    ],
)
def test_a_modality_is_read_off_the_name(name: str, modality: str) -> None:
    assert modality_of(name) == modality
