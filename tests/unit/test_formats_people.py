"""Who signed a report, by its own signature."""

from __future__ import annotations

import pytest

from pipeline.formats.people import Person, named_reader, person_from_text
from pipeline.formats.readers import dictator, signer


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Electronically signed by: Chase B. Park, M.D. on 9/5", "Park^Chase B."),
        ("Dictated by: LUNG, AISHA MD\nTranscribed: KLM", "LUNG^AISHA"),
        ("Resident: Di Rodriguez, MD, PGY-3. Attending: Faith Bush, MD, PhD", "Bush^Faith"),
        ("Signed DAWN CASE D.O., FACR. Report Verified", "CASE^DAWN"),
        ("I, Robert Day, have personally reviewed the images.", "Day^Robert"),
        ("Dictated By: Cure MD, Christine J\nSigned By: Cure MD, Christine J", "Cure^Christine J"),
        ("TONY MAY, M.D.\n\n****FINAL REPORT****", "MAY^TONY"),
        ("Dictated by: Ann Low, MD\nElectronically signed by: Bea High, MD", "High^Bea"),
        ("Signed by: DR. ANN LOW\nSigned Date/Time: 01/02/2026 0930", "LOW^ANN"),
        ("Reading Radiologist- ANN B LOW M.D.\nReleasing Radiologist- ANN B LOW M.D.", "LOW^ANN B"),
        ("Clear lungs.\nANN O'LOW, MD (Electronic Signature)", "O'LOW^ANN"),
        ("Clear lungs.\nAnn Low MD\nElectronically signed 01/02/2026", "Low^Ann"),
        ("Dr Ann Low\nConsultant Radiologist\nGMC 1234567", "Low^Ann"),
        ("Signed (Electronic Signature): Ann Low, M.D. 1/2/2026", "Low^Ann"),
        ("Approving physician: Low, Ann B.", "Low^Ann B"),
        ("Authorised by Dr Ann Low (Consultant Radiologist)", "Low^Ann"),
        ("/es/ ANN Q LOW, MD", "LOW^ANN Q"),
    ],
)
def test_the_signer_is_found(text: str, name: str) -> None:
    found = signer(text)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "text",
    [
        "IMPRESSION: Clear lungs. Findings signed off by the team.",
        "Clear lungs.\nSigned Date/Time: 01/02/2026 0930",
        "Fall reported by Maria. Clear lungs.",
        "Position of the line verified: SVC",
        "Comparison reviewed: Chest radiograph",
        "No Change\nElectronically signed 01/02/2026",
        "Small Effusion\nElectronic signature",
    ],
)
def test_a_report_without_a_signature_has_no_signer(text: str) -> None:
    assert signer(text) is None


def test_a_resident_whom_the_text_names_wrote_the_draft() -> None:
    found = dictator("Resident: Ann Low, DO\nAttending: Bea High, MD")
    assert found == Person("", "Low", "Ann")


def test_a_person_without_a_number_has_a_key_made_of_the_name() -> None:
    assert Person("", "May", "Tony F").key == "name:MAY TONY"
    assert Person("D5", "May", "Tony").key == "D5"


def test_names_are_compared_by_family_and_first_letter() -> None:
    assert Person("D5", "MAY", "TONY").is_same(Person("", "May", "T"))
    assert not Person("D5", "MAY", "TONY").is_same(Person("", "May", "Ann"))
    assert not Person("D5", "MAY", "TONY").is_same(Person("", "Long", "Tony"))


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("lek. Jan Kowalski", "KOWALSKI JAN"),
        ("prof. dr hab. n. med. Jan Kowalski", "KOWALSKI JAN"),
        ("Uzm. Dr. Ayşe Yılmaz", "YILMAZ AYŞE"),
        ("Dott.ssa Anna Rossi", "ROSSI ANNA"),
        ("A/Prof Jane Low", "LOW JANE"),
        ("J. Low", "LOW J."),
        ("Wm. Low", "LOW WM."),
    ],
)
def test_a_title_makes_no_two_people_of_one_family_name_the_same(written: str, key: str) -> None:
    assert named_reader(written) == f"name:{key}"


def test_nothing_is_nobody() -> None:
    assert person_from_text(" , ") is None


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("J Smith MD", "name:SMITH J"),
        ("Tom O'Brien, M.D., Ph.D.", "name:O'BRIEN TOM"),
        ("Prof. Dr. med. Anna Vogel", "name:VOGEL ANNA"),
        ("Smith, April Q., MD", "name:SMITH APRIL"),
        ("SMITH^JO^^^DR^MD", "name:SMITH JO"),
        ("Jones, D.O.", "name:JONES"),
        ("Brandt DO, Carl J", "name:BRANDT CARL"),
        ("NGUYEN DO, Anh", "name:NGUYEN DO ANH"),
        ("Do, Kim", "name:DO KIM"),
        ("Kim Do", "name:DO KIM"),
        ("Md Rahman", "name:RAHMAN MD"),
        ("MD", ""),
    ],
)
def test_titles_are_no_part_of_a_name(written: str, key: str) -> None:
    assert named_reader(written) == key
