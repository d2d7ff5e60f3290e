"""Numbers by the field before them, and the forms of other languages."""

from __future__ import annotations

import pytest

from pipeline.deidentify import Clean, Deidentifier, Options

CLEANER = Deidentifier(Options(caution=0))


def clean(text: str) -> str:
    outcome = CLEANER.clean(text)
    assert isinstance(outcome, Clean)
    return outcome.text


FIELDS = [
    ("Fall-Nr.: 2021-4711", "Fall-Nr.: [ID]"),
    ("Auftragsnummer A-4711-22", "Auftragsnummer [ID]"),
    ("X-ray no 4711", "X-ray no [ID]"),
    ("AHV 756.1234.5678.97", "AHV [ID]"),
    ("StudyID=KX4711", "StudyID=[ID]"),
    ("NIR 1 85 05 78 006 084 36", "NIR [ID]"),
    ("reg no. 47/2021", "reg no. [ID]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FIELDS, ids=[text for text, _ in FIELDS])
def test_a_code_in_a_field_goes(text: str, expected: str) -> None:
    assert clean(text) == expected


MEASURES = [
    "Dose = 350 mGy. kVp: 120. SUV: 12.34. BP: 120/80.",
    "Level: T10-T11. Stage: T2N1M0. CPT 71046. ICD: V42.7.",
    "ABG 7.31/48/62. WBC: 123456. In serial 201 image 11.",
    "Omnipaque: 350. Class: III. CA 125: 35. Tc-99m. COVID-19.",
    "Mass at 7 o'clock. Measures 3.2. Stable.",
]


@pytest.mark.parametrize("text", MEASURES)
def test_a_measurement_in_a_field_stays(text: str) -> None:
    assert clean(text) == text


OTHER_LANGUAGES = [
    ("Untersuchung vom 17.4. liegt vor", "Untersuchung vom [DATE] liegt vor"),
    ("le 3 mars 2021 à 14h30", "le [DATE]"),
    ("el 3 de marzo de 2021", "el [DATE]"),
    ("am 12. Mai 2019", "am [DATE]"),
    ("17/IV/2021", "[DATE]"),
    ("seen 141030ZAPR21", "seen [DATE]"),
    ("at 14.30 Uhr", "at [TIME]"),
    ("at 0830L", "at [TIME]"),
    ("Tel. 01/23 45 67 89", "Tel. [PHONE]"),
    ("Durchwahl -4711", "Durchwahl [PHONE]"),
    ("Alter: 94 J.", "Alter: [AGE]"),
    ("PatientAge=094Y", "PatientAge=[AGE]"),
    ("F/93 with cough", "F/[AGE] with cough"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), OTHER_LANGUAGES, ids=[text for text, _ in OTHER_LANGUAGES]
)
def test_forms_of_other_languages_go(text: str, expected: str) -> None:
    assert clean(text) == expected


SHORTEST_CODES = ["deadbeefcafe5badfacefeed", "RmFycmVsbCwgTmlhbWg1"]


@pytest.mark.parametrize("code", SHORTEST_CODES)
def test_the_shortest_encoded_bytes_go_where_no_word_is_longer(code: str) -> None:
    assert clean(f"hash {code} stored") == "hash [ID] stored"


def test_a_score_named_for_somebody_stays() -> None:
    assert clean("Short segment, Wells score.") == "Short segment, Wells score."
